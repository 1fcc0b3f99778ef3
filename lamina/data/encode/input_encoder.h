// Input columns to the numbers that a network is fed with, fitted on training rows; the network does not matter.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/fitted_column.h"
#include "lamina/data/encode/preprocess_options.h"

namespace lamina {

class InputEncoder {
 public:
  /// From the columns at `positions`, which have no missing value in `rows` unless options.missing fills them in.
  /// `taught`: as for FitInputs(). Throws Error for columns without values, and values too large to scale.
  static InputEncoder Fit(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                          const PreprocessOptions& options, const Matrix& taught = {});

  /// In the order of the network's inputs.
  const std::vector<FittedColumn>& columns() const { return columns_; }
  int64_t count() const { return count_; }                // network inputs: the sum of the columns' widths
  std::vector<std::string> Names() const;                 // one per network input: "age", "protocol=tcp"
  bool is_image() const;                                  // the inputs are all pixels of an image
  int64_t image_height() const { return image_height_; }  // of the table fitted on; 0: not images
  int64_t image_width() const { return image_width_; }

  void AddTo(nlohmann::json& object) const;
  /// `measured_means`: those of all columns that can be missing were taken. Throws Error(kBadModel) naming the field.
  static InputEncoder FromJson(const nlohmann::json& object, bool measured_means);

 private:
  void Finish(bool measured_means);

  int64_t image_height_ = 0;
  int64_t image_width_ = 0;
  std::vector<FittedColumn> columns_;
  int64_t count_ = 0;
};

/// The encoding of `rows` (f64, rows × inputs) that they make themselves. Throws Error as Fit() does.
Matrix FitAndEncode(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                    const PreprocessOptions& options);

}  // namespace lamina
