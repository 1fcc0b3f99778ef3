// How the values that were asked about are distributed, in the bins of a model's training data.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lamina/data/encode/bound_table.h"
#include "lamina/model/data_profile.h"
#include "lamina/model/drift.h"

namespace lamina::serve {

/// A count that one thread adds to and any may read.
class Count {
 public:
  void Add(int64_t more = 1) { value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// The counts of one model, by one thread.
class DriftCounts {
 public:
  explicit DriftCounts(const DataProfile& profile);

  /// Rows of the profile's columns, row after row.
  void CountNumbers(const DataProfile& profile, const double* numbers, int64_t rows);
  void CountTable(const DataProfile& profile, const BoundTable& table, std::span<const int64_t> rows);

  /// Adds the counts of column `index`, a bin each and those that miss the value last.
  void AddTo(size_t index, std::vector<double>& counts) const;

 private:
  std::vector<size_t> begins_;  // of each column, and the end
  std::unique_ptr<Count[]> counts_;
};

}  // namespace lamina::serve
