// What the words of a text say of the target, as learnt from other texts (docs/decisions/0132).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// Lines through the words of texts, one for each tenth of them. A text belongs to a tenth by its words. Its scores are
/// those of the line that this tenth has not taught. So training rows are scored as rows to come are, and no row is
/// scored by its own target.
struct TextScores {
  static constexpr int64_t kFolds = 10;

  int64_t buckets = 0;          // hashes of HashWords() fall into so many
  std::vector<double> offsets;  // of each score
  std::vector<double> steps;    // of each score
  std::string weights;          // bytes from -128 to 127: buckets × folds × scores

  int64_t count() const { return std::ssize(steps); }
  /// Adds the weights that places have in the line of a fold, for one score.
  int32_t SumOf(std::span<const int32_t> places, int64_t fold, int64_t score) const;
  /// count() numbers, each: offset + step * sum of the weights of the text's buckets / square root of their number.
  /// A bucket counts once. A text without words has the offsets.
  void Score(std::string_view text, double* scores) const;
};

/// The different buckets that a text has words in, and its fold.
struct TextBuckets {
  std::vector<int32_t> places;
  int64_t fold = 0;
};
TextBuckets BucketsOf(std::string_view text, int64_t buckets);

}  // namespace lamina
