// From raw columns to the numbers a network sees: encoding, scaling and missing values. All is fitted on training rows
// only and stored in the model file, so prediction takes raw rows. BoundTable encodes with it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lamina/data/encode/input_encoder.h"
#include "lamina/data/encode/target_encoder.h"
#include "lamina/data/encode/useless_columns.h"
#include "lamina/data/files/reader.h"

namespace lamina {

class Preprocessor {
 public:
  /// Learns columns, categories and statistics from the given rows of `table`, which has the derived columns. Throws
  /// Error for unknown columns, missing values, one class only, ...
  static Preprocessor Fit(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options);

  /// Adds the derived columns that fitting was told of. Those that the table has already are left as they are.
  void Prepare(Table& table) const;

  const InputEncoder& inputs() const { return inputs_; }
  const TargetEncoder& targets() const { return targets_; }
  /// Throws as TargetEncoder::For().
  void set_form(const TargetForm& form) { targets_ = targets_.For(form); }
  const DeriveOptions& derive() const { return derive_; }
  /// Columns that fitting left out by itself, and why.
  const std::vector<LeftOutColumn>& left_out() const { return left_out_; }
  int64_t column_count() const { return column_count_; }  // of the table fitted on
  const EncodePolicies& policies() const { return policies_; }
  /// Sets policies other than those of fitting. A model keeps the means of its columns or their medians; asking for the
  /// other throws Error(kInvalidArgument). Fitting measures no mean of unscaled numbers unless the model fills gaps.
  /// Such a mean cannot be filled in: encoding then throws for the row that needs it.
  void set_missing(MissingPolicy policy);
  void set_unseen(UnseenPolicy policy) { policies_.unseen = policy; }
  /// Names of the columns, targets included, that were text: a reader must not take their values for numbers.
  std::vector<std::string> TextColumns() const;
  /// Adds to `options` how the columns of a file, targets included, are to be read.
  void AddTo(ReadOptions& options) const;

  nlohmann::json ToJson() const;
  /// Throws Error(kBadModel) naming the missing or wrong field.
  static Preprocessor FromJson(const nlohmann::json& json);

 private:
  InputEncoder inputs_;
  TargetEncoder targets_;
  DeriveOptions derive_;
  EncodePolicies policies_;
  std::vector<std::string> missing_values_;
  bool keeps_medians_ = false;  // else means, to fill gaps with
  std::vector<LeftOutColumn> left_out_;
  int64_t column_count_ = 0;
};

}  // namespace lamina
