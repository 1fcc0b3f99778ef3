// FNV-1a hashes of words.
#include "lamina/data/encode/text_hash.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace lamina {
namespace {

constexpr uint64_t kStart = 14695981039346656037U;
constexpr uint64_t kPrime = 1099511628211U;
constexpr char kBetween = ' ';  // of the words of a pair

constexpr uint64_t HashOn(uint64_t hash, char byte) { return (hash ^ static_cast<unsigned char>(byte)) * kPrime; }

constexpr uint64_t kStartOfPiece = HashOn(kStart, '\1');  // "the" is no word then

// -1: between words.
int LowerLetter(char byte) {
  const bool upper = byte >= 'A' && byte <= 'Z';
  const bool part = upper || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || (byte & 0x80) != 0;
  return part ? static_cast<unsigned char>(upper ? byte - 'A' + 'a' : byte) : -1;
}

// The low bits of FNV-1a depend on the low bits of the bytes only.
uint64_t Mixed(uint64_t hash) { return hash ^ hash >> 32; }

bool BeginsLetter(char byte) { return (byte & 0xC0) != 0x80; }

// `word` stands between blanks.
void AddPieces(std::string_view word, std::vector<uint64_t>& hashes) {
  constexpr int kLetters = 3;
  for (size_t begin = 0; begin < word.size(); ++begin) {
    if (!BeginsLetter(word[begin])) {
      continue;
    }
    uint64_t hash = kStartOfPiece;
    int letters = 0;
    for (size_t i = begin; i < word.size() && letters < kLetters; ++i) {
      hash = HashOn(hash, word[i]);
      letters += i + 1 == word.size() || BeginsLetter(word[i + 1]) ? 1 : 0;
    }
    if (letters == kLetters) {
      hashes.push_back(Mixed(hash));
    }
  }
}

}  // namespace

WordHashes HashWords(std::string_view text, bool pieces) {
  WordHashes words;
  uint64_t word = kStart;
  uint64_t pair = kStart;  // of the previous word and this one
  uint64_t all = kStart;
  std::string letters = {kBetween};
  const auto end_word = [&] {
    if (letters.size() > 1) {
      const bool has_previous = !words.hashes.empty();
      words.hashes.push_back(Mixed(word));
      if (has_previous) {
        words.hashes.push_back(Mixed(pair));
      }
      pair = HashOn(word, kBetween);
      all = HashOn(all, kBetween);
      if (pieces) {
        letters += kBetween;
        AddPieces(letters, words.hashes);
      }
      letters.resize(1);
    }
    word = kStart;
  };
  for (const char byte : text) {
    const int letter = LowerLetter(byte);
    if (letter < 0) {
      end_word();
      continue;
    }
    word = HashOn(word, static_cast<char>(letter));
    pair = HashOn(pair, static_cast<char>(letter));
    all = HashOn(all, static_cast<char>(letter));
    letters += static_cast<char>(letter);
  }
  end_word();
  words.all = Mixed(all);
  return words;
}

void HashText(std::string_view text, std::span<double> buckets) {
  for (const uint64_t hash : HashWords(text).hashes) {
    buckets[(hash >> 1) % buckets.size()] += (hash & 1) != 0 ? 1 : -1;
  }
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
