// FNV-1a hashes of words.
#include "lamina/data/encode/text_hash.h"

#include <cmath>
#include <cstdint>

namespace lamina {
namespace {

constexpr uint64_t kStart = 14695981039346656037U;
constexpr uint64_t kPrime = 1099511628211U;
constexpr char kBetween = ' ';  // of the words of a pair

uint64_t HashOn(uint64_t hash, char byte) { return (hash ^ static_cast<unsigned char>(byte)) * kPrime; }

// -1: between words.
int LowerLetter(char byte) {
  const bool upper = byte >= 'A' && byte <= 'Z';
  const bool part = upper || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || (byte & 0x80) != 0;
  return part ? static_cast<unsigned char>(upper ? byte - 'A' + 'a' : byte) : -1;
}

void Count(uint64_t hash, std::span<double> buckets) {
  hash ^= hash >> 32;  // the low bits of FNV-1a depend on the low bits of the bytes only
  buckets[(hash >> 1) % buckets.size()] += (hash & 1) != 0 ? 1 : -1;
}

}  // namespace

void HashText(std::string_view text, std::span<double> buckets) {
  uint64_t word = kStart;
  uint64_t pair = kStart;  // of the previous word and this one
  bool in_word = false;
  bool has_previous = false;
  const auto end_word = [&] {
    if (in_word) {
      Count(word, buckets);
      if (has_previous) {
        Count(pair, buckets);
      }
      pair = HashOn(word, kBetween);
      has_previous = true;
    }
    word = kStart;
    in_word = false;
  };
  for (const char byte : text) {
    const int letter = LowerLetter(byte);
    if (letter < 0) {
      end_word();
      continue;
    }
    word = HashOn(word, static_cast<char>(letter));
    pair = HashOn(pair, static_cast<char>(letter));
    in_word = true;
  }
  end_word();
  double squares = 0;
  for (const double count : buckets) {
    squares += count * count;
  }
  for (double& count : buckets) {
    count = squares > 0 ? count / std::sqrt(squares) : 0;
  }
}

int64_t CountWords(std::string_view text) {
  int64_t words = 0;
  bool in_word = false;
  for (const char byte : text) {
    const bool is_part = LowerLetter(byte) >= 0;
    words += is_part && !in_word ? 1 : 0;
    in_word = is_part;
  }
  return words;
}

}  // namespace lamina
