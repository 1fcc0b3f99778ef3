// A data set where a backend can reach it: in place for host backends, copied once for devices.
#pragma once

#include <cstdint>
#include <memory>

#include "lamina/backend/backend.h"
#include "lamina/data/encode/dataset.h"

namespace lamina {

/// The sample weights as rows × 1 of the features' type; empty if all are 1.
Matrix WeightColumnOf(const Dataset& dataset);

/// Views stay valid as long as this object and the data set live.
class ResidentDataset {
 public:
  ResidentDataset(const Dataset& dataset, const Backend& backend);

  int64_t rows() const { return features_.rows; }
  bool is_classification() const { return is_classification_; }
  ConstMatrixView features() const { return features_; }
  ConstMatrixView targets() const { return targets_; }
  /// Sample weights from row `begin` on, in the type of the features; null if all are 1.
  const void* WeightsAt(int64_t begin) const;

 private:
  ConstMatrixView Place(const Matrix& matrix, const Backend& backend, std::unique_ptr<Buffer>& buffer) const;

  std::unique_ptr<Buffer> feature_buffer_;  // before the views that fill them
  std::unique_ptr<Buffer> target_buffer_;
  std::unique_ptr<Buffer> weight_buffer_;
  ConstMatrixView features_;
  ConstMatrixView targets_;
  bool is_classification_;
};

}  // namespace lamina
