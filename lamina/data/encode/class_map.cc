// Classes made of the values of a target column.
#include "lamina/data/encode/class_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/kddcup99.h"

namespace lamina {
namespace {

constexpr std::string_view kKddBinary = "kddcup99-binary";
constexpr std::string_view kKddCategories = "kddcup99-categories";

// With and without the full stop that the data set's files have.
void AddKdd(std::vector<std::string>& entries, bool binary) {
  for (const std::string_view category : KddCategories()) {
    for (const KddAttack& attack : KddAttacks()) {
      if (attack.category == category) {
        const std::string_view to = !binary || category == "normal" ? category : "attack";
        entries.push_back(fmt::format("{}={}", attack.name, to));
        entries.push_back(fmt::format("{}.={}", attack.name, to));
      }
    }
  }
}

}  // namespace

std::vector<std::string> ClassMapNames() { return {std::string(kKddBinary), std::string(kKddCategories)}; }

ClassMap ClassMap::Parse(const std::vector<std::string>& entries) {
  std::vector<std::string> pairs;
  for (const std::string& entry : entries) {
    if (entry == kKddBinary || entry == kKddCategories) {
      AddKdd(pairs, entry == kKddBinary);
    } else {
      pairs.push_back(entry);
    }
  }
  ClassMap map;
  for (const std::string& pair : pairs) {
    const size_t equals = pair.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size()) {
      const std::vector<std::string> names = ClassMapNames();
      throw Error(
          ErrorCode::kInvalidArgument, "--class-map takes VALUE=CLASS, *=CLASS or the name of a map",
          {.value = pair,
           .remedy = fmt::format("{}Maps known by name: {}.", DidYouMean(pair, names), fmt::join(names, ", "))});
    }
    std::string value = pair.substr(0, equals);
    if (std::any_of(map.entries_.begin(), map.entries_.end(),
                    [&](const auto& known) { return known.first == value; })) {
      throw Error(ErrorCode::kInvalidArgument, "--class-map names a value twice", {.value = value});
    }
    map.entries_.emplace_back(std::move(value), pair.substr(equals + 1));
  }
  return map;
}

const std::string& ClassMap::Of(const std::string& value) const {
  const std::string* others = &value;
  for (const auto& [known, to] : entries_) {
    if (known == value) {
      return to;
    }
    if (known == "*") {
      others = &to;
    }
  }
  return *others;
}

std::vector<std::string> ClassMap::InOrder(std::vector<std::string> names) const {
  std::vector<std::string> ordered;
  const auto move_over = [&](const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) {
      ordered.push_back(name);
      names.erase(found);
    }
  };
  for (const auto& [value, to] : entries_) {
    move_over(to);
  }
  ordered.insert(ordered.end(), names.begin(), names.end());
  return ordered;
}

std::vector<std::string> ClassMap::Text() const {
  std::vector<std::string> text;
  for (const auto& [value, to] : entries_) {
    text.push_back(value + "=" + to);
  }
  return text;
}

}  // namespace lamina
