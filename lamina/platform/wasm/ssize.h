// std::ssize with 64 bits, as on all other machines: what lamina counts is int64_t. Included before every source of
// that build (lamina/CMakeLists.txt), never by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>

namespace std {  // NOLINT(cert-dcl58-cpp): in the place of the library's

template <class Range>
constexpr int64_t ssize_of_64_bits(const Range& range) noexcept {
  return static_cast<int64_t>(size(range));
}

}  // namespace std
#define ssize ssize_of_64_bits
