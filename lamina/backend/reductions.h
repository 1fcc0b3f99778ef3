// Products whose results are reduced while they are computed: what would be a large matrix is never stored.
#pragma once

#include <cstdint>
#include <memory>

#include "lamina/backend/backend.h"

namespace lamina {

/// Rows of one matrix against rows of another: sums as they are, without bias and activation.
struct NearArgs {
  ConstMatrixView x;        // rows × inputs
  ConstMatrixView weights;  // outputs × inputs
  /// One for each row of x, of its type. Told is what is less, of products what is greater. found() may tighten the
  /// limit of its row.
  const void* limits = nullptr;
  /// For one row the outputs come in ascending order.
  void (*found)(void* context, int64_t row, int64_t output, double sum) = nullptr;
  void* context = nullptr;
};

/// Distances compared with limits: what is near is told. Prepared for sizes as PreparedLayer is. Runs on the thread
/// that calls it, one call at a time.
class NearSearch {
 public:
  virtual ~NearSearch() = default;
  virtual void Search(const NearArgs& args) noexcept = 0;
};

/// gram += h'h of blocks of rows h, on all threads of the backend. One caller at a time.
class GramSum {
 public:
  virtual ~GramSum() = default;
  /// `gram`: f64, columns of h × columns of h, of which the lower triangle with the diagonal is added to.
  virtual void Add(ConstMatrixView h, MatrixView gram) noexcept = 0;
};

/// Blocks of h: at most so many rows, so many columns.
struct GramRequest {
  int64_t rows = 0;
  int64_t columns = 0;
  DType dtype = DType::kF32;
  Precision precision = Precision::kExact;  // kBFloat16: of the products, as in a layer
};

/// What a backend is, too, if it can do these.
class Reduces {
 public:
  virtual ~Reduces() = default;
  /// Reads the sizes, the synapse and the type of the request's layer. Sums have the bits of one prepared with
  /// any_slicing. Null for types that it does not do.
  virtual std::unique_ptr<NearSearch> PrepareNear(const LayerPlanRequest& request) const = 0;
  virtual std::unique_ptr<GramSum> PrepareGram(const GramRequest& request) const = 0;
};

}  // namespace lamina
