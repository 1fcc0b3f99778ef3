// Names of the values of an enumeration, kept in one table: NameOf, NamesIn and ParseName between them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/check.h"

namespace lamina {

/// A row of a table of names: `constexpr Named<Keep> kKeeps[] = {{"auto", Keep::kAuto}, ...}`. Two rows may name the
/// same value; the first is what it is called.
template <class E>
struct Named {
  std::string_view name;
  E value;
};

/// Throws Error(kInvalidArgument): `message` ("unknown loss") with `text` as the value; the remedy offers the nearest
/// of `known` and lists them all.
[[noreturn]] void ThrowUnknownName(std::string_view text, std::span<const std::string> known, std::string message);

/// Where `text` stands in `known`. Throws as ThrowUnknownName.
size_t IndexOfName(std::string_view text, std::span<const std::string> known, std::string message);

template <class E, size_t N>
std::string_view NameOf(E value, const Named<E> (&table)[N]) {
  for (const Named<E>& row : table) {
    if (row.value == value) {
      return row.name;
    }
  }
  Check(false, "a value without a name");
  return {};
}

/// In the order of the table.
template <class E, size_t N>
std::vector<std::string> NamesIn(const Named<E> (&table)[N]) {
  std::vector<std::string> names;
  names.reserve(N);
  for (const Named<E>& row : table) {
    names.emplace_back(row.name);
  }
  return names;
}

/// The value called `text`. Throws as ThrowUnknownName.
template <class E, size_t N>
E ParseName(std::string_view text, const Named<E> (&table)[N], std::string message) {
  return table[IndexOfName(text, NamesIn(table), std::move(message))].value;
}

}  // namespace lamina
