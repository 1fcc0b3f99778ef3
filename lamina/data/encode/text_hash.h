// Free text as numbers without a vocabulary: words and pairs of neighboring words, hashed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lamina {

/// Adds 1 or -1 to one of `buckets`, zero before, for every word of `text` and every pair of neighbors. The hash
/// decides bucket and sign (Weinberger et al. 2009). Then scales them to length 1; text without words stays zero. A
/// word is a run of letters, digits and bytes beyond ASCII; A to Z count as a to z. The same on every machine.
void HashText(std::string_view text, std::span<double> buckets);

/// Its words, as HashText() finds them.
int64_t CountWords(std::string_view text);

}  // namespace lamina
