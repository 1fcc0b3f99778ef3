// Numbers at the ends of their ranges: every run with one ends, well or with an error.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/run/session.h"
#include "lamina/settings/settings_text.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using ExtremeValues = std::vector<std::pair<std::string, std::string>>;

std::vector<double> EndsOf(const NumberRange& range) {
  constexpr double kLarge = 1e300;
  constexpr double kSmall = 1e-300;
  std::vector<double> ends;
  for (const double x : {range.low, std::nextafter(range.low, range.high), range.low + kSmall, -kLarge, kSmall, kLarge,
                         std::nextafter(range.high, range.low), range.high}) {
    if (range.Contains(x)) {
      ends.push_back(x);
    }
  }
  return ends;
}

// What a number may need to matter.
const std::vector<ExtremeValues> kRunsAtEnds = {{},
                                                {{"optimizer", "adam"}},
                                                {{"schedule", "step"}},
                                                {{"number-embedding", "pbld"}, {"waves", "2"}},
                                                {{"output-activation", "bipolar_sigmoid"}, {"loss", "mse"}},
                                                {{"task", "regression"}, {"target", "b"}, {"loss", "quantile"}},
                                                {{"task", "regression"}, {"target", "b"}},
                                                {{"method", "elm"}},
                                                {{"method", "rfm"}},
                                                {{"method", "fsvc"}}};

TEST(ExtremeSettings, EveryRunEnds) {
  const TemporaryFolder folder;
  std::string csv = "a,b,y\n";
  for (int i = 0; i < 40; ++i) {
    csv += fmt::format("{},{},{}\n", i % 7 - 3, 0.25 * (i % 11), i % 3 == 0 ? "yes" : "no");
  }
  TrainSettings direct;  // what methods without epochs read
  direct.data = folder.Write("d.csv", csv);
  direct.threads = 1;
  TrainSettings base = direct;
  base.recipe = "plain";
  base.hidden = {5, 5};
  base.epochs = 2;
  base.batch = 8;
  std::set<std::string_view> tried;
  int numbers = 0;
  for (const auto& row : SettingRows<TrainSettings>()) {
    const bool whole = row.kind() != SettingKind::kNumber && row.kind() != SettingKind::kMaybeNumber;
    if (!row.range || whole) {
      continue;
    }
    ++numbers;
    for (const ExtremeValues& run : kRunsAtEnds) {
      TrainSettings settings = !run.empty() && run.front().first == "method" ? direct : base;
      for (const auto& [name, text] : run) {
        SetSetting(settings, name, text);
      }
      if (!row.HasEffect(settings)) {
        continue;
      }
      for (const double end : EndsOf(*row.range)) {
        SetSetting(settings, row.name, fmt::format("{}", end));
        try {
          TrainSession(settings).Run({});
          tried.insert(row.name);
        } catch (const Error&) {  // of most it is no use to train with them
        }
      }
    }
  }
  EXPECT_GT(numbers, 20);
  EXPECT_GT(std::ssize(tried), numbers * 3 / 4) << "most numbers have an end with which a network is trained";
}

}  // namespace
}  // namespace lamina
