// Model: a network with everything needed to use it on raw rows, and its file.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/encode/preprocessor.h"
#include "lamina/model/data_profile.h"
#include "lamina/model/int8_ranges.h"
#include "lamina/model/safetensors.h"
#include "lamina/neuron/loss.h"
#include "lamina/neuron/weight_storage.h"
#include "lamina/nn/network.h"

namespace lamina {

struct Int8Network;  // model/int8_network.h

/// Newest version of the model file. Files of a newer one are refused by name; others have the least that they need. 2
/// has trained radii, which a reader of version 1 would leave out of the computation. 3 has weights in few bits. 4
/// answers by the nearest of its rows, 5 has encodings of columns that came with it. 6 has members, 7 more than one
/// network, 8 residual blocks, 9 gates, 10 scores of words, 11 weights without their zeros.
inline constexpr int kModelFormatVersion = 11;

/// How far from an answer of a regression the true value lies. It is within half_widths[target] (in its units) for this
/// share of rows like those of the measurement.
struct AnswerIntervals {
  double level = 0;
  int64_t rows = 0;  // measured on
  std::vector<double> half_widths;
};

struct Model {
  Network network;
  /// An ensemble has more networks on the same encoded rows. The answer is the sum of all answers, each times its share
  /// (`network` first; together 1). Both empty: `network` answers alone.
  std::vector<Network> others;
  std::vector<double> shares;
  /// Set: shares go by the row, and `shares` is empty. This network has an output for each of the others, 0 or more, of
  /// which the row's share is that over their sum. A network of share 0 is not asked (docs/decisions/0072).
  std::optional<Network> gates;
  Preprocessor preprocessor;  // left as it is made for a network that is not fed from raw rows
  Loss loss = Loss::kMse;
  /// How its file keeps the weights of products, and single answers read them. The network has them as numbers of its
  /// own type again, rounded (RoundWeights in nn/rounded_network.h).
  WeightStorage weights = WeightStorage::kExact;
  /// k > 0: nearest neighbors. The first of two layers, of identity activation, gives the distances to the rows kept
  /// (dot: products). The second has their targets as weights (outputs × rows). The answer is the mean of the targets
  /// of the k nearest rows, of equally near ones those of lower index (docs/decisions/0018).
  int64_t nearest = 0;
  /// Where set, the network computes in 8-bit integers (WithInt8() of model/c_source/int8_rows.h). No file keeps it,
  /// and single rows of numbers (RowPredictor) do not look at it.
  std::shared_ptr<const Int8Network> int8;
  /// Those that the network was trained for (--quantize-aware), in the place of measured ones.
  std::optional<Int8Ranges> int8_ranges;
  std::optional<AnswerIntervals> intervals;
  DataProfile profile;  // of the training rows; no columns: not known
  /// How it was trained: the settings by their names, and what came out. Not needed to use the model.
  nlohmann::json training;

  int64_t networks() const { return 1 + std::ssize(others); }
  const Network& network_at(int64_t i) const { return i == 0 ? network : others[static_cast<size_t>(i - 1)]; }
  Network& network_at(int64_t i) { return i == 0 ? network : others[static_cast<size_t>(i - 1)]; }
  double share_of(int64_t i) const { return shares.empty() ? 1.0 : shares[static_cast<size_t>(i)]; }
  /// "784-1024-10"; "784-1024-10 and 3 more".
  std::string ShapeText() const;
  int64_t parameter_count() const;
  /// Bytes of all parameters, as `weights` keeps them.
  int64_t stored_bytes() const;
};

/// Whether the networks of an ensemble can be added. They have as many inputs, outputs and shares, one number type, one
/// last activation, no nearest neighbors; the shares are together 1.
Verdict CheckEnsemble(const Model& model);

/// The remedy of the errors about an answer that is not a finite number.
inline constexpr const char* kNotFiniteRemedy = "The row lies far outside of what the model was trained on.";

/// What a checkpoint adds to a model file.
struct ModelExtras {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorView> tensors;
};

/// A safetensors file. Tensors are "layer.1.weight" (outputs × inputs), "layer.1.bias" and "layer.1.radius". Networks
/// with members have "member_scale" (members × inputs), and members × outputs rows in the last layer. Those of an
/// ensemble's second network begin with "network.2.", those of its gates with "gates.". Metadata "lamina" is JSON:
/// network, preprocessing, class names, training settings, kinds by name. Model::weights says how weights are written;
/// 8 bits have "layer.1.weight_scale" (outputs). Weights that are most often 0 are two tensors (AddMatrix in
/// model/matrix_file.h). All or nothing.
void SaveModel(const std::string& path, const Model& model, const ModelExtras& extras = {});

/// Throws Error(kUnsupported), saying that `what` cannot be done, for a model of nearest neighbors; for an ensemble.
void RefuseNearest(const Model& model, std::string_view what);
void RefuseEnsemble(const Model& model, std::string_view what);

/// The weights of `model` rounded to `storage`, its file to be. kExact takes a model as it is, also one of weights that
/// were rounded. Throws Error(kUnsupported) as RoundWeights().
Model WithWeights(Model model, WeightStorage storage);

/// Throws Error(kNotFound | kIo | kBadModel). `custom`: the user's own activations that the network may name.
Model LoadModel(const std::string& path, std::span<const Activation> custom = {});
Model ModelFrom(const SafetensorsFile& file, const std::string& source, std::span<const Activation> custom = {});

}  // namespace lamina
