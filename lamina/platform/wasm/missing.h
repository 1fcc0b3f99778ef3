// What emscripten's standard library lacks of C++20 and lamina uses. Included before every source of that build
// (lamina/CMakeLists.txt), never by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <version>

namespace std {  // NOLINT(cert-dcl58-cpp): in the place of what the library should have

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> && is_trivially_copyable_v<From>);
  return __builtin_bit_cast(To, from);
}
#endif

#ifndef __cpp_lib_atomic_ref
// There is one thread.
template <class T>
class atomic_ref {
 public:
  explicit atomic_ref(T& value) : value_(value) {}
  T operator+=(T more) const noexcept { return value_ += more; }

 private:
  T& value_;
};
#endif

// It has 64 bits as on all other machines: what lamina counts is int64_t.
template <class Range>
constexpr int64_t ssize_of_64_bits(const Range& range) noexcept {
  return static_cast<int64_t>(size(range));
}

}  // namespace std
#define ssize ssize_of_64_bits

#if !defined(__cpp_lib_ranges) || __cpp_lib_ranges < 201911L
namespace std::ranges {  // NOLINT(cert-dcl58-cpp): in the place of what the library should have

template <class Range, class Test, class Part = std::identity>
constexpr auto find_if(Range&& range, Test test, Part part = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& value) -> bool { return std::invoke(test, std::invoke(part, value)); });
}
template <class Range, class Value, class Part = std::identity>
constexpr auto find(Range&& range, const Value& wanted, Part part = {}) {
  return ranges::find_if(
      range, [&](auto&& value) { return value == wanted; }, part);
}
template <class Range, class Test>
constexpr bool any_of(Range&& range, Test test) {
  return ranges::find_if(range, test) != std::end(range);
}
template <class Range, class Test>
constexpr bool none_of(Range&& range, Test test) {
  return !ranges::any_of(range, test);
}
template <class Range, class Value, class Less = std::less<>, class Part = std::identity>
constexpr auto upper_bound(Range&& range, const Value& wanted, Less less = {}, Part part = {}) {
  return std::upper_bound(std::begin(range), std::end(range), wanted, [&](const Value& value, auto&& element) {
    return std::invoke(less, value, std::invoke(part, element));
  });
}
template <class Range, class Less = std::less<>, class Part = std::identity>
void stable_sort(Range&& range, Less less = {}, Part part = {}) {
  std::stable_sort(std::begin(range), std::end(range), [&](auto&& a, auto&& b) -> bool {
    return std::invoke(less, std::invoke(part, a), std::invoke(part, b));
  });
}
template <class Range, class Less = std::less<>, class Part = std::identity>
constexpr auto max_element(Range&& range, Less less = {}, Part part = {}) {
  return std::max_element(std::begin(range), std::end(range), [&](auto&& a, auto&& b) -> bool {
    return std::invoke(less, std::invoke(part, a), std::invoke(part, b));
  });
}
template <class Range, class Out, class Fn>
constexpr auto transform(Range&& range, Out out, Fn fn) {
  return std::transform(std::begin(range), std::end(range), out, [&](auto&& value) { return std::invoke(fn, value); });
}
template <class Range, class Out>
constexpr auto copy(Range&& range, Out out) {
  return std::copy(std::begin(range), std::end(range), out);
}

}  // namespace std::ranges
#endif
