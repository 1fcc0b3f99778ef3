// What a run begins from. Rows come as a table or encoded in files; encoding and network come from nothing, a
// checkpoint, another model or the folds of a run.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/model/data_profile.h"
#include "lamina/run/checkpoint.h"
#include "lamina/run/run_plan.h"
#include "lamina/run/train_data.h"

namespace lamina {

/// The rows of a run, with what is known of all of them.
struct RunRows {
  std::shared_ptr<const TrainData> data;
  DataProfile profile;
  std::string recipe_remark;  // MethodChoice::remark, or RecipeRemark() where no method is chosen
};

/// Reads, splits and encodes what the settings name: tables, or a folder of encoded data (OpenEncodedData). `raw`: what
/// has been read before, or null. `fitted`: the encoding that they get, or null. The settings get what rows decide: the
/// recipe, and of encoded data how they were made. Throws Error.
RunRows OpenRunRows(TrainSettings& settings, const RawData* raw, std::span<const Activation> custom,
                    const Preprocessor* fitted, const RankShare& share);

/// As it is, a run that begins from nothing but its settings.
class RunOrigin {
 public:
  virtual ~RunOrigin() = default;
  /// Whether networks of one encoding are trained elsewhere, for this run to answer by all of them.
  virtual bool is_bag() const { return false; }
  /// Before rows are read: settings that they leave to it. Throws Error where it cannot be gone on from.
  virtual void Complete(TrainSettings& settings, std::span<const Activation> custom);
  /// The encoding that rows get; null: one is fitted to them.
  virtual const Preprocessor* encoding() const { return nullptr; }
  /// Before a network is made. Throws Error where it would not be that of the origin.
  virtual void RequireNetwork(const ResolvedSettings& settings, const Preprocessor& data,
                              std::span<const Activation> custom) const;
  /// Gives the network parameters, and the model notes on where they are from.
  virtual void Begin(const TrainSettings& settings, Model& model) const;
  /// What training goes on from, once; null: nothing.
  virtual Checkpoint* saved() { return nullptr; }
};

class CheckpointOrigin : public RunOrigin {
 public:
  /// Throws Error(kNotFound | kIo | kBadModel), and kInvalidArgument where settings are not those that it fixes.
  CheckpointOrigin(const TrainSettings& settings, const std::string& path, std::span<const Activation> custom);
  const Preprocessor* encoding() const override { return &saved_.model.preprocessor; }
  void RequireNetwork(const ResolvedSettings& settings, const Preprocessor& data,
                      std::span<const Activation> custom) const override;
  void Begin(const TrainSettings& settings, Model& model) const override;
  Checkpoint* saved() override { return &saved_; }

 private:
  Checkpoint saved_;
  nlohmann::json resumed_;
};

/// settings.start_from.
class ModelOrigin : public RunOrigin {
 public:
  void Complete(TrainSettings& settings, std::span<const Activation> custom) override;
  const Preprocessor* encoding() const override { return &start_.preprocessor; }
  void Begin(const TrainSettings& settings, Model& model) const override;

 private:
  Model start_;
};

/// The encoding that folds share, or none. It outlives the origin.
class FoldsOrigin : public RunOrigin {
 public:
  explicit FoldsOrigin(const std::optional<Preprocessor>& encoding) : encoding_(encoding) {}
  bool is_bag() const override { return encoding_.has_value(); }
  const Preprocessor* encoding() const override { return encoding_ ? &*encoding_ : nullptr; }

 private:
  const std::optional<Preprocessor>& encoding_;
};

/// Where a run without checkpoint and folds begins: a ModelOrigin where the settings name a model.
std::unique_ptr<RunOrigin> OriginFrom(const TrainSettings& settings);

}  // namespace lamina
