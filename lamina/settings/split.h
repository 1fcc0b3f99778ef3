// Choosing rows: how many, and which go to training, validation and test.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/data/files/table.h"

namespace lamina {

struct SplitOptions {
  double train = 0.8;  // the three must be in [0, 1] and sum to 1 (within 1e-6)
  double validation = 0.2;
  double test = 0.0;
  bool shuffle = true;
  bool stratify = false;
  uint64_t seed = 0;

  bool operator==(const SplitOptions&) const = default;
};

struct Split {
  std::vector<int64_t> train;
  std::vector<int64_t> validation;
  std::vector<int64_t> test;
};

/// Splits `rows`. `strata`: a class per element of `rows`, or empty; used when options.stratify. Every part
/// with a positive ratio gets at least one row or Error(kInvalidArgument) says how many rows are needed.
Split SplitRows(std::span<const int64_t> rows, std::span<const int32_t> strata, const SplitOptions& options);

/// Splits `rows` by a column, so that no value of it is in two parts. Numbers and dates ascend: the lowest are trained
/// on, the highest are the test. Text goes with whole categories, at random. The shares are met as nearly as that
/// allows; rows within a part ascend by the column. Throws Error where a value is missing or there are too few.
Split SplitRowsBy(const Table& table, const std::string& column, std::span<const int64_t> rows,
                  const SplitOptions& options);

/// Likewise, but numbers and dates are values as categories are: rows of equal ones stay together, and where they go is
/// random. Rows within a part are shuffled if options.shuffle, else ascending.
Split SplitGroups(const Table& table, const std::string& column, std::span<const int64_t> rows,
                  const SplitOptions& options);

/// What rows are ordered by in a column: the number, or the place of its category in a random order. Throws Error,
/// naming `flag`, where a value is missing.
std::vector<double> SplitKeys(const Table& table, const std::string& column, std::span<const int64_t> rows,
                              uint64_t seed, const std::string& flag);

/// `count` of 0..total-1: the first ones, or a seeded random choice in ascending order. count <= 0: all.
std::vector<int64_t> SelectRows(int64_t total, int64_t count, bool random, uint64_t seed);

}  // namespace lamina
