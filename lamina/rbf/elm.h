// Extreme learning machines: a hidden layer that is drawn, and output weights that a ridge regression solves for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/names.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"

namespace lamina {

class Communicator;  // cluster/communicator.h

/// How hidden weights of dot neurons are drawn: uniform in [-1, 1], as they are, as signs alone, or rounded to that
/// many bits. The latter has an odd number of levels from -1 to 1. Distances have centers instead: rows, all different
/// while there are enough of them.
enum class HiddenWeights { kUniform, kSigns, kTwoBits, kEightBits };

inline constexpr Named<HiddenWeights> kHiddenWeights[] = {{"uniform", HiddenWeights::kUniform},
                                                          {"signs", HiddenWeights::kSigns},
                                                          {"2bit", HiddenWeights::kTwoBits},
                                                          {"8bit", HiddenWeights::kEightBits}};

/// The network HIDDEN,dot-identity-nobias:outputs with hidden weights (seeded) and no output weights yet. `hidden` has
/// all sizes; the bias of dot neurons, where they have one, is drawn like their weights.
Network DrawElm(const LayerSpec& hidden, int64_t outputs, HiddenWeights weights, ConstMatrixView rows, uint64_t seed);

/// Sums over rows from which the output weights follow: H'H and H'T of the hidden activations H and the targets T, in
/// f64. Rows come in blocks and need not be in memory at once. Later rows are added like the first (sequential ELM).
/// Takes 8 bytes for every pair of hidden neurons.
class ElmSums {
 public:
  /// The hidden layer is that of `network`, which and `backend` must outlive it. `precision`: of the products of H.
  ElmSums(const Network& network, const Backend& backend, Precision precision = Precision::kExact);
  ~ElmSums();

  /// Rows and their targets, of the network's type and sizes; `weights`, one a row, may be empty.
  void Add(ConstMatrixView rows, ConstMatrixView targets, std::span<const double> weights = {});

  /// The sums themselves, f64, (neurons + outputs) squared: of H'H the lower triangle, below it T'H; what is above the
  /// diagonal is not read. Sums over other rows for the same hidden layer, wherever they were made, may be added to
  /// them.
  MatrixView sums();

  /// Solves (I/C + H'H) W = H'T and puts W into `network`. Throws Error(kInvalidArgument) where the matrix is singular
  /// to working precision, with about its condition and the C.
  void Solve(double c, Network& network) const;

  /// The C whose answers to the given rows are best where each is left out of what taught them; the rows are among
  /// those added. Candidates are powers of the square root of 10 around the mean of H'H's diagonal.
  double ChooseC(ConstMatrixView rows, ConstMatrixView targets, std::span<const double> weights = {}) const;

 private:
  class Products;
  const Network& network_;
  const Backend& backend_;
  std::unique_ptr<Products> products_;
};

struct ElmOptions {
  std::optional<double> c;  // none: by leave-one-out
  Precision precision = Precision::kExact;
  /// Parts of the rows whose sums are added by a tree, so that any number of ranks gives the same bits; 0: one sum.
  int64_t shards = 0;
  Communicator* ranks = nullptr;  // that share them; null: this process alone. All then call it
  std::function<bool()> stop_requested;
  std::function<void(int64_t rows)> progress;
};

/// Solves the output weights of `network` (DrawElm) for all rows of `train`, by the smaller of two systems: I/C + H'H,
/// or I/C + HH' where rows are fewer than hidden neurons. The C it took; none where it was stopped, and the network
/// then has no output weights. Throws as ElmSums.
std::optional<double> TrainElm(Network& network, const Dataset& train, const ElmOptions& options,
                               const Backend& backend);

}  // namespace lamina
