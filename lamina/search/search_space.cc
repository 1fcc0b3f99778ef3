// Lists, ranges, grids and random points of settings.
#include "lamina/search/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/text.h"
#include "lamina/search/search_settings.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

constexpr uint64_t kSearchStream = 0x5EA2C4;
constexpr int64_t kMaxPoints = 100'000;
constexpr int kTriesForNewPoint = 100;

[[noreturn]] void RefuseEntry(const std::string& entry, const std::string& message, std::string remedy = "") {
  RefuseSetting("vary", "--vary: " + message, entry, std::move(remedy));
}

std::string NumberText(double value, bool whole) {
  return whole ? fmt::format("{}", std::llround(value)) : fmt::format("{:.6g}", value);
}

// The value at `share` (0 to 1) of a range.
double At(const SearchParameter& parameter, double share) {
  if (parameter.logarithmic) {
    return parameter.low * std::pow(parameter.high / parameter.low, share);
  }
  return parameter.low + (parameter.high - parameter.low) * share;
}

void AddPoints(const std::string& entry, int64_t points, SearchParameter& parameter) {
  if (points < 1 || points > kMaxPoints) {
    RefuseEntry(entry, fmt::format("the points of a range must be from 1 to {}", kMaxPoints));
  }
  for (int64_t i = 0; i < points; ++i) {
    const double share = points == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(points - 1);
    const std::string text = NumberText(At(parameter, share), parameter.whole);
    if (parameter.values.empty() || parameter.values.back() != text) {  // whole numbers may fall together
      parameter.values.push_back(text);
    }
  }
}

void ParseRange(const std::string& entry, std::string_view text, const Setting<TrainSettings>& row,
                SearchParameter& parameter) {
  const SettingKind kind = row.kind();
  parameter.is_range = true;
  parameter.whole = kind == SettingKind::kInteger || kind == SettingKind::kMaybeInteger ||
                    kind == SettingKind::kCount || kind == SettingKind::kIntegerList;
  if (!parameter.whole && kind != SettingKind::kNumber && kind != SettingKind::kMaybeNumber) {
    RefuseEntry(entry, fmt::format("{} is not a number, so that it has no ranges", parameter.name),
                "Give a list of values.");
  }
  const std::vector<std::string_view> parts = SplitText(text, ':');
  const size_t dots = parts[0].find("..");
  parameter.low = ParseNumber(Trim(parts[0].substr(0, dots)));
  parameter.high = ParseNumber(Trim(parts[0].substr(dots + 2)));
  if (!std::isfinite(parameter.low) || !std::isfinite(parameter.high)) {
    RefuseEntry(entry, "a range is LOW..HIGH", "For example learning-rate=0.001..1:log:10.");
  }
  if (!(parameter.low < parameter.high)) {
    RefuseEntry(entry, "the range is empty: its first number must be below its second");
  }
  parameter.logarithmic = row.logarithmic && parameter.low > 0;
  std::optional<int64_t> points;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string_view word = Trim(parts[i]);
    if (word == "log" || word == "linear") {
      parameter.logarithmic = word == "log";
    } else if (const std::optional<int64_t> number = ParseInteger(word); number && !points) {
      points = number;
    } else {
      RefuseEntry(entry, fmt::format("'{}' is not a part of a range", word), "Write LOW..HIGH[:log|:linear][:POINTS].");
    }
  }
  if (parameter.logarithmic && !(parameter.low > 0)) {
    RefuseEntry(entry, "a logarithmic range must begin above 0", "Use :linear, or a first number above 0.");
  }
  if (points) {
    AddPoints(entry, *points, parameter);
  }
}

SearchParameter ParseParameter(const std::string& entry) {
  const size_t equals = entry.find('=');
  if (equals == std::string::npos || equals == 0) {
    RefuseEntry(entry, "not NAME=VALUES", "For example --vary learning-rate=0.01,0.1,1.");
  }
  SearchParameter parameter;
  parameter.name = Trim(std::string_view(entry).substr(0, equals));
  const Setting<TrainSettings>& row = TrainSettingRow(parameter.name);
  const SettingKind kind = row.kind();
  if (row.trials != InTrials::kMayDiffer) {
    RefuseEntry(entry, fmt::format("trials cannot differ in {}", parameter.name),
                "Trials answer the same question on the same rows; give it once, as a flag of its own.");
  }
  const std::string_view text = Trim(std::string_view(entry).substr(equals + 1));
  if (text.empty()) {
    RefuseEntry(entry, "no values");
  }
  const std::string_view first = SplitText(text, ':')[0];
  if (kind != SettingKind::kText && kind != SettingKind::kTextList && first.find("..") != std::string_view::npos) {
    ParseRange(entry, text, row, parameter);
    return parameter;
  }
  const char separator = text.find('|') == std::string_view::npos ? ',' : '|';
  for (const std::string_view part : SplitText(text, separator)) {
    const std::string value(Trim(part));
    TrainSettings probe;
    if (value.empty() && kind != SettingKind::kText) {
      RefuseEntry(entry, "an empty value");
    }
    SetSetting(probe, parameter.name, value);
    if (std::find(parameter.values.begin(), parameter.values.end(), value) != parameter.values.end()) {
      RefuseEntry(entry, fmt::format("the value '{}' stands there twice", value));
    }
    parameter.values.push_back(value);
  }
  return parameter;
}

}  // namespace

SearchSpace::SearchSpace(const std::vector<std::string>& vary) {
  for (const std::string& entry : vary.empty() ? std::vector<std::string>{kDefaultVary} : vary) {
    SearchParameter parameter = ParseParameter(entry);
    if (Varies(parameter.name)) {
      RefuseEntry(entry, fmt::format("{} is given twice", parameter.name), "Give all its values at once.");
    }
    parameters_.push_back(std::move(parameter));
  }
}

bool SearchSpace::Varies(std::string_view name) const {
  return std::any_of(parameters_.begin(), parameters_.end(),
                     [&](const SearchParameter& parameter) { return parameter.name == name; });
}

int64_t SearchSpace::GridSize() const {
  int64_t size = 1;
  for (const SearchParameter& parameter : parameters_) {
    if (parameter.values.empty()) {
      RefuseEntry(fmt::format("{}={:g}..{:g}", parameter.name, parameter.low, parameter.high),
                  "a grid needs the number of points of a range",
                  "Write it behind the range, such as :10, or draw trials with --random COUNT.");
    }
    const auto count = std::ssize(parameter.values);
    size = size > std::numeric_limits<int64_t>::max() / count ? std::numeric_limits<int64_t>::max() : size * count;
  }
  return size;
}

std::vector<std::string> SearchSpace::GridPoint(int64_t index) const {
  std::vector<std::string> point(parameters_.size());
  for (size_t p = parameters_.size(); p-- > 0;) {
    const auto count = std::ssize(parameters_[p].values);
    point[p] = parameters_[p].values[static_cast<size_t>(index % count)];
    index /= count;
  }
  return point;
}

std::vector<std::vector<std::string>> SearchSpace::RandomPoints(int64_t count, uint64_t seed) const {
  Random random(seed, kSearchStream);
  std::vector<std::vector<std::string>> points;
  std::set<std::vector<std::string>> seen;
  for (int tries = 0; std::ssize(points) < count && tries < kTriesForNewPoint; ++tries) {
    std::vector<std::string> point;
    for (const SearchParameter& parameter : parameters_) {
      if (parameter.is_range && parameter.values.empty()) {
        point.push_back(NumberText(At(parameter, random.Uniform()), parameter.whole));
      } else {
        point.push_back(parameter.values[random.Below(parameter.values.size())]);
      }
    }
    if (seen.insert(point).second) {
      points.push_back(std::move(point));
      tries = 0;
    }
  }
  return points;
}

std::vector<std::string> SearchSpace::OwnPoint(const TrainSettings& base) const {
  std::vector<std::string> point;
  for (const SearchParameter& parameter : parameters_) {
    const std::string text = SettingText(base, parameter.name);
    point.push_back(text.empty() ? std::string(kAutoText) : text);
  }
  return point;
}

TrainSettings SearchSpace::Apply(const TrainSettings& base, const std::vector<std::string>& values) const {
  TrainSettings settings = base;
  const std::vector<std::string> own = OwnPoint(base);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (values[i] != own[i]) {
      SetSetting(settings, parameters_[i].name, values[i]);
    }
  }
  return settings;
}

}  // namespace lamina
