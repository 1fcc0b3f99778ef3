// Whole numbers are summed: every machine has the same scores.
#include "lamina/data/encode/text_scores.h"

#include <algorithm>
#include <cmath>

#include "lamina/data/encode/text_hash.h"

namespace lamina {

TextBuckets BucketsOf(std::string_view text, int64_t buckets) {
  const WordHashes words = HashWords(text, /*pieces=*/true);
  TextBuckets found;
  found.fold = static_cast<int64_t>(words.all % TextScores::kFolds);
  std::vector<char> seen(static_cast<size_t>(buckets));
  for (const uint64_t hash : words.hashes) {
    const auto place = static_cast<size_t>(hash % static_cast<uint64_t>(buckets));
    if (seen[place] == 0) {
      found.places.push_back(static_cast<int32_t>(place));
      seen[place] = 1;
    }
  }
  return found;
}

int32_t TextScores::SumOf(std::span<const int32_t> places, int64_t fold, int64_t score) const {
  int32_t sum = 0;
  for (const int32_t place : places) {
    sum += static_cast<int8_t>(weights[static_cast<size_t>((place * kFolds + fold) * count() + score)]);
  }
  return sum;
}

void TextScores::Score(std::string_view text, double* scores) const {
  const TextBuckets words = BucketsOf(text, buckets);
  const double size = std::sqrt(std::max(1.0, static_cast<double>(words.places.size())));
  for (int64_t k = 0; k < count(); ++k) {
    const auto i = static_cast<size_t>(k);
    scores[k] = offsets[i] + steps[i] * (SumOf(words.places, words.fold, k) / size);
  }
}

}  // namespace lamina
