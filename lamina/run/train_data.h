// The data of a training run: read and split once, encoded for a network; what runs on the same data can share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lamina/model/model.h"
#include "lamina/run/rank_share.h"
#include "lamina/run/run_plan.h"
#include "lamina/settings/settings.h"

namespace lamina {

class BoundTable;  // data/encode/bound_table.h

/// Encoded rows. Immutable once made, so that several trainings may read it at once.
struct TrainData {
  Preprocessor preprocessor;
  Dataset train;
  Dataset validation;
  Dataset test;
  EncodeReport report;
  std::vector<ColumnDecision> decisions;
  int64_t left_out_rows = 0;  // for missing values
  bool after_line = false;    // targets are what a line leaves (line_first.h)
  double seconds = 0;         // splitting and encoding
  // With settings.shard_data:
  int64_t sharded_rows = 0;             // training rows of all ranks, `train` has this rank's; 0: `train` has all
  std::vector<int64_t> all_rows;        // the table rows of those; of encoded files empty
  std::optional<uint64_t> fingerprint;  // of the training and validation rows of all ranks
};

/// BoundTable::Encode(), or what takes its place: asked for the training, the validation and the test rows in turn.
using EncodeRows = std::function<Dataset(const BoundTable&, std::span<const int64_t> rows, DType, EncodeReport*)>;

/// For whom rows are encoded.
struct EncodeTarget {
  EncodeRows encode_rows;  // empty: rows are kept in memory, of settings.shard_data those of the share
  RankShare share;
};

/// What encoded rows take in memory.
struct EncodedSize {
  int64_t rows = 0;
  int64_t input_bytes = 0;
  int64_t target_bytes = 0;
  int64_t bytes() const { return input_bytes + target_bytes; }
};
EncodedSize SizeOf(const Preprocessor& preprocessor, int64_t rows, DType dtype);
/// Throws Error(kResource) where that is more than the memory that is free, with what would make it less.
void RequireMemoryFor(const EncodedSize& size, const Preprocessor& preprocessor, const std::string& source);
/// "100,000 rows take 20 GB of memory, ..." for what takes a GB or more; else empty.
std::string MemoryNote(const EncodedSize& size, const Preprocessor& preprocessor);

/// Plans (PlanData) and encodes. Throws Error, also where the rows do not fit into this machine's memory.
TrainData EncodeData(const RawData& raw, const TrainSettings& settings, std::span<const Activation> custom = {},
                     const Preprocessor* fitted = nullptr, const EncodeTarget& target = {});

/// `data` with targets in another form: nothing is encoded, inputs are shared.
TrainData InForm(const TrainData& data, const TargetForm& form);

inline TrainRows RowsOf(const TrainData& data) {
  return {data.sharded_rows > 0 ? data.sharded_rows : data.train.size(), data.validation.size(),
          !data.preprocessor.targets().class_names().empty(), data.preprocessor.inputs().count()};
}

/// The network for the data, with first weights and without training: a model that answers at random. Throws Error.
Model BuildModel(const ResolvedSettings& settings, const TrainData& data, std::span<const Activation> custom = {});

/// Makes `model` answer by networks on its encoding, by their shares (empty: equal ones). Throws Error(kUnsupported)
/// where they cannot be added.
void AnswerTogether(const std::vector<Network>& networks, const std::vector<double>& shares, Model& model);

/// Encoded data for many trainings: what they have in common is read and encoded once. Those that differ in what their
/// networks answer with (loss, activations) share inputs and have targets of their own. Files stay in memory; encoded
/// data only while somebody holds it, and the last one. Safe for several threads, which wait for one another.
class DataCache {
 public:
  /// Throws Error.
  std::shared_ptr<const TrainData> Get(const TrainSettings& settings);
  /// Whether the rows of settings.data are images. Throws Error.
  bool HasImages(const TrainSettings& settings);
  /// The files as read, which stay. Throws Error.
  const RawData& Raw(const TrainSettings& settings);
  /// What the training rows of that are like.
  DataProfile ProfileOf(const TrainSettings& settings, const Preprocessor& preprocessor);

 private:
  struct Encoded {
    const RawData* raw;
    DataOptions options;
    std::weak_ptr<const TrainData> data;
  };
  const RawData& Read(const DataSources& sources);

  std::mutex mutex_;
  std::vector<std::pair<DataSources, std::unique_ptr<const RawData>>> files_;
  std::vector<Encoded> encoded_;
  std::shared_ptr<const TrainData> last_;
};

}  // namespace lamina
