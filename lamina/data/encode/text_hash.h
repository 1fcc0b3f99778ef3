// Free text as numbers without a vocabulary: words and pairs of neighboring words, hashed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lamina {

/// The words of a text. A word is a run of letters, digits and bytes beyond ASCII; A to Z count as a to z. The same on
/// every machine.
struct WordHashes {
  std::vector<uint64_t> hashes;  // of every word and every pair of neighbors
  uint64_t all = 0;              // of all words in their order
};
/// `pieces`: there are hashes of every three letters in a row, too. A blank before and behind a word is a letter then.
WordHashes HashWords(std::string_view text, bool pieces = false);

/// Adds 1 or -1 to one of `buckets`, zero before, for every hash of HashWords(). The hash decides bucket and sign
/// (Weinberger et al. 2009). Then scales them to length 1; text without words stays zero.
void HashText(std::string_view text, std::span<double> buckets);

/// Its words, as HashWords() finds them.
int64_t CountWords(std::string_view text);

}  // namespace lamina
