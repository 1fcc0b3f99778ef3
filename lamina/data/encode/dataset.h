// The rows that a network is trained on and asked about, and what was met while they were encoded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/base/row_source.h"

namespace lamina {

class SparseRows;  // data/encode/sparse_rows.h

/// Encoded rows. Matrices are dense, rows × features.
struct Dataset {
  Matrix features;                     // rows × inputs
  Matrix targets;                      // rows × outputs
  std::vector<int32_t> labels;         // class index per row; classification only
  Matrix soft;                         // f64, rows × classes: probabilities that `targets` are made of; empty: labels
  std::vector<int64_t> rows;           // the table row each came from
  std::vector<double> sample_weights;  // empty: all 1
  std::vector<int64_t> groups;         // rows of one are left out together (rbf/kernel_network.h); empty: none
  std::vector<double> times;           // a row is answered by rows of earlier ones; empty: none
  std::vector<double> baseline;        // the naive guess per row in units of the target; empty: none
  /// Files that features and targets are mapped from, row by row; empty: both are in memory.
  std::vector<std::shared_ptr<RowSource>> files;
  /// In the place of `features`, which are empty then: rows that become dense batch by batch (Trainer). Null: there
  /// are features.
  std::shared_ptr<const SparseRows> sparse;
  int64_t size() const;
  int64_t inputs() const;
  DType dtype() const;  // of the inputs
  /// Rows in files leave the resident memory; they are read again where they are needed.
  void Release(int64_t begin, int64_t count) const;
  void Release() const { Release(0, size()); }
};

/// Counted while encoding, for the caller to report.
struct EncodeReport {
  int64_t unseen_values = 0;  // categories not seen in training, encoded as zeros
  std::vector<std::string> unseen_columns;
  int64_t filled_values = 0;  // missing ones of the inputs, filled in with the mean or the most frequent category
  std::vector<std::string> filled_columns;
  int64_t odd_values = 0;  // cells of inputs that are no numbers (Column::odd), which count as missing
  std::vector<std::string> odd_columns;
  std::vector<std::string> odd_words;  // what stands there, the first few different ones
  /// Numbers outside of the training rows', by so much that the model says little about them.
  int64_t far_values = 0;
  std::vector<std::string> far_columns;
  /// Values of a classification target that training did not have. `class_name` is empty where the model has no class
  /// for it: such rows can only be answered wrongly.
  struct NewLabel {
    std::string name;
    std::string class_name;
    int64_t rows = 0;
  };
  std::vector<NewLabel> new_labels;  // most rows first
  /// Rows of the validation and of the test part that training has, too, target included.
  int64_t validation_rows_in_training = 0;
  int64_t test_rows_in_training = 0;
};

}  // namespace lamina
