// Raw rows of numbers, one at a time.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "lamina/base/error.h"
#include "lamina/model/model.h"
#include "lamina/model/predictor.h"
#include "python/src/arrays.h"

namespace lamina::python {

/// Raw rows of numbers, one at a time.
class ModelRows {
 public:
  explicit ModelRows(const Model& model) : predictor_(model) {}

  void Call(const InArray& x, const OutArray& y) {
    const auto* row = static_cast<const double*>(VectorOf(x, DType::kF64, predictor_.columns(), "x"));
    if (y.ndim() != 1 || static_cast<int64_t>(y.shape(0)) != predictor_.outputs() || y.itemsize() != sizeof(double)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("out must have {} elements of f64", predictor_.outputs()));
    }
    thread_local PredictorScratch scratch;
    if (scratch.size_bytes() < predictor_.scratch_bytes()) {
      scratch = predictor_.MakeScratch();
    }
    const int64_t wrong = predictor_.Predict(row, static_cast<double*>(y.data()), scratch);
    if (wrong == RowPredictor::kNotFinite) {
      throw Error(ErrorCode::kBadData, "the answer is not a finite number", {.remedy = kNotFiniteRemedy});
    }
    if (wrong >= 0) {
      throw Error(ErrorCode::kBadData, fmt::format("the number in column {} is missing or too large", wrong));
    }
  }
  const RowPredictor& predictor() const { return predictor_; }

 private:
  RowPredictor predictor_;
};

}  // namespace lamina::python
