// What a search tries: settings with lists or ranges of values, all combinations of them or random ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

/// One varied setting: a list of values, or a range.
struct SearchParameter {
  std::string name;
  std::vector<std::string> values;  // as text; of a range with points: those, evenly spaced on its scale
  bool is_range = false;
  bool logarithmic = false;
  bool whole = false;  // whole numbers
  double low = 0;
  double high = 0;
};

class SearchSpace {
 public:
  /// Entries NAME=VALUES as SearchSettings::vary describes them; none: kDefaultVary. Throws Error(kInvalidArgument) for
  /// unknown names and settings that trials cannot differ in, empty or reversed ranges, and values of a wrong kind.
  explicit SearchSpace(const std::vector<std::string>& vary);

  const std::vector<SearchParameter>& parameters() const { return parameters_; }
  bool Varies(std::string_view name) const;

  /// How many combinations the grid has, at most INT64_MAX. Throws Error for a range without points.
  int64_t GridSize() const;
  /// The values of grid point `index`, one a parameter; the last parameter changes fastest.
  std::vector<std::string> GridPoint(int64_t index) const;
  /// At most `count` different points drawn with `seed`; fewer where the space has no more.
  std::vector<std::vector<std::string>> RandomPoints(int64_t count, uint64_t seed) const;

  /// The point that leaves `base` as it is: its own values, "auto" where it has none.
  std::vector<std::string> OwnPoint(const TrainSettings& base) const;
  /// `base` with these values; its own values change nothing. Throws Error(kInvalidArgument).
  TrainSettings Apply(const TrainSettings& base, const std::vector<std::string>& values) const;

 private:
  std::vector<SearchParameter> parameters_;
};

}  // namespace lamina
