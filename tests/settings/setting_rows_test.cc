// The rows of all structs of settings: defaults, ranges, choices and effects, and the errors that come from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lamina/backend/backends.h"
#include "lamina/layer/file_layer.h"
#include "lamina/layer/file_neighbours.h"
#include "lamina/rbf/file_centres.h"
#include "lamina/search/search_settings.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/validation.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

template <class S>
class SettingRowsOf : public testing::Test {};
using AllSettings =
    testing::Types<TrainSettings, FileLayerSettings, FileNeighboursSettings, FileCentresSettings, SearchSettings>;
TYPED_TEST_SUITE(SettingRowsOf, AllSettings, );

// Sets a number, or the one number of a list; false for other fields and for numbers that the field cannot hold.
template <class S>
bool SetNumber(S& settings, const Setting<S>& row, double x) {
  bool set = false;
  WithField(settings, row, [&]<class T>(T& field) {
    if constexpr (std::is_same_v<T, std::vector<double>>) {
      field = {x};
      set = true;
    } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>>) {
      field = x;
      set = true;
    } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, std::optional<int64_t>> ||
                         std::is_same_v<T, std::vector<int64_t>>) {
      if (x == std::trunc(x) && std::abs(x) < 1e15) {
        const auto whole = static_cast<int64_t>(x);
        field = {whole};
        set = true;
      }
    }
  });
  return set;
}

TYPED_TEST(SettingRowsOf, NamesHelpAndGroupsAreGiven) {
  std::set<std::string_view> names;
  for (const auto& row : SettingRows<TypeParam>()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty() || row.group.empty()) << row.name;
    EXPECT_FALSE(row.IsFile() && row.kind() != SettingKind::kText) << row.name;
  }
  EXPECT_GE(names.size(), 8U);
}

TYPED_TEST(SettingRowsOf, DefaultsAreInRangeAndAmongTheChoices) {
  const TypeParam defaults;
  EXPECT_NO_THROW(CheckSettingRows(defaults));
  for (const auto& row : SettingRows<TypeParam>()) {
    if (row.choices != nullptr) {
      const std::vector<std::string> choices = row.choices();
      const std::string text = defaults.*std::get<std::string TypeParam::*>(row.field);
      EXPECT_NE(std::find(choices.begin(), choices.end(), text), choices.end()) << row.name;
    }
  }
}

TYPED_TEST(SettingRowsOf, ANumberOutOfRangeNamesItsSetting) {
  for (const auto& row : SettingRows<TypeParam>()) {
    if (!row.range) {
      continue;
    }
    int refused = 0;
    for (const double x : {-1e9, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 1e9, double{INFINITY}, double{NAN}}) {
      TypeParam settings;
      if (!SetNumber(settings, row, x)) {
        continue;
      }
      if (row.range->Contains(x)) {
        EXPECT_NO_THROW(CheckSettingRows(settings)) << row.name << " " << x;
        continue;
      }
      ++refused;
      const Error error = CaughtError([&] { CheckSettingRows(settings); });
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(error.context().setting, row.name);
      EXPECT_TRUE(Mentions(error.what(), "--" + std::string(row.name) + " must be " + row.range->Text()));
      WithField(settings, row, [&](const auto& field) { EXPECT_EQ(error.context().value, FieldText(&field)); });
    }
    EXPECT_GT(refused, 0) << row.name;
  }
}

// By whatever door a text comes in: flags, configurations, Python, the fields of the window.
TYPED_TEST(SettingRowsOf, ATextOfNoFiniteNumberIsRefusedByName) {
  int refused = 0;
  for (const auto& row : SettingRows<TypeParam>()) {
    for (const char* text : {"nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "-1e999"}) {
      TypeParam settings;
      if (!SetNumber(settings, row, 1)) {
        continue;
      }
      const Error error =
          CaughtError([&] { WithField(settings, row, [&](auto& field) { ParseField(row.name, text, &field); }); });
      EXPECT_EQ(error.context().setting, row.name) << text;
      EXPECT_TRUE(Mentions(error.what(), "--" + std::string(row.name))) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TYPED_TEST(SettingRowsOf, AnUnknownChoiceOffersTheNearest) {
  for (const auto& row : SettingRows<TypeParam>()) {
    if (row.choices == nullptr || row.more_choices) {
      continue;
    }
    const std::string nearest = row.choices().back();
    TypeParam settings;
    settings.*std::get<std::string TypeParam::*>(row.field) = nearest + "x";
    const Error error = CaughtError([&] { CheckSettingRows(settings); });
    EXPECT_EQ(error.context().setting, row.name);
    EXPECT_TRUE(Mentions(error.what(), "--" + std::string(row.name)));
    EXPECT_TRUE(Mentions(error.what(), "Did you mean '" + nearest + "'?"));
  }
}

// Nothing says that it never matters, or needs saying where it always does.
TYPED_TEST(SettingRowsOf, EveryEffectComesAndGoes) {
  std::vector<TypeParam> configurations(1);
  for (const auto& row : SettingRows<TypeParam>()) {
    for (const double x : {0.0, 1.0, 2.0}) {
      TypeParam settings;
      if (SetNumber(settings, row, x)) {
        configurations.push_back(settings);
      }
    }
    WithField(configurations[0], row, [&]<class T>(const T&) {
      if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<std::string>>) {
        for (const std::string& text : row.choices == nullptr ? std::vector<std::string>{"x"} : row.choices()) {
          configurations.emplace_back();
          WithField(configurations.back(), row, [&](auto& field) { ParseField(row.name, text, &field); });
        }
      }
    });
  }
  for (const auto& row : SettingRows<TypeParam>()) {
    const auto has_effect = [&](const TypeParam& settings) { return row.HasEffect(settings); };
    EXPECT_TRUE(std::any_of(configurations.begin(), configurations.end(), has_effect)) << row.name;
    EXPECT_TRUE(row.effect == nullptr || !std::all_of(configurations.begin(), configurations.end(), has_effect))
        << row.name;
  }
}

TEST(SettingRows, NumbersOfAStepAreGivenByTheirSettings) {
  for (const StepNumber& number : kStepNumbers) {
    TrainSettings settings;
    SetSetting(settings, number.setting, "0.25");
    const TrainOptions options = TrainOptionsFrom(Resolve(settings, /*classes=*/true), Loss::kCrossEntropy, {});
    EXPECT_EQ(options.step.*number.field, 0.25) << number.setting;
    EXPECT_EQ(TrainSettingRow(number.setting).range->Text(), number.range.Text()) << number.setting;
  }
}

TEST(SettingRows, TrialsOfASearchShareNoFiles) {
  for (const auto& row : SettingRows<TrainSettings>()) {
    EXPECT_TRUE(!row.IsFile() || row.trials == (row.writes ? InTrials::kOutside : InTrials::kSame)) << row.name;
  }
}

// As typed, or given on the command line: read as text, then validated.
TEST(SettingRows, WrongTextsBelongToTheirSetting) {
  for (const auto& row : SettingRows<TrainSettings>()) {
    std::vector<std::string> wrong;
    if (row.range) {
      wrong = {"word"};
      for (const char* text : {"-1", "2"}) {
        if (!row.range->Contains(std::stod(text))) {
          wrong.emplace_back(text);
        }
      }
    } else if (row.choices != nullptr) {
      wrong = {row.choices().back() + "x"};
    }
    for (const std::string& text : wrong) {
      TrainSettings settings;
      settings.data = "-";
      const Error error = CaughtError([&] {
        SetSetting(settings, row.name, text);
        ValidateSettings(settings);
      });
      EXPECT_EQ(error.context().setting, row.name) << error.what();
    }
  }
}

TEST(SettingRows, RangesSayWhatTheyTake) {
  const std::pair<NumberRange, const char*> rows[] = {{kAnyNumber, "a finite number"},
                                                      {kNotZero, "a finite number other than 0"},
                                                      {kPositive, "a positive number"},
                                                      {kNotNegative, "0 or a positive number"},
                                                      {kAtLeastOne, "at least 1"},
                                                      {kShare, "from 0 to 1"},
                                                      {kShareBelowOne, "at least 0 and below 1"},
                                                      {kThreadCounts, "from 0 to 4096"},
                                                      {{.low = 1, .above_low = true, .zero = true}, "0 or above 1"}};
  for (const auto& [range, text] : rows) {
    EXPECT_EQ(range.Text(), text);
    EXPECT_FALSE(range.Contains(NAN) || range.Contains(INFINITY) || range.Contains(-INFINITY)) << text;
  }
  EXPECT_TRUE(kShare.Contains(1) && !kShareBelowOne.Contains(1) && !kPositive.Contains(0) && !kNotZero.Contains(0));
  EXPECT_TRUE(rows[8].first.Contains(0) && !rows[8].first.Contains(1) && rows[8].first.Contains(1.5));
}

// Validation asks the table; the backend itself must say the same.
TEST(SettingRows, BackendsTrainAsTheirRowsSay) {
  for (const BackendRow& row : BackendTable()) {
    if (!row.available()) {
      continue;
    }
    const std::unique_ptr<Backend> backend = MakeBackend(row.name, {.threads = 1});
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      for (const Named<Precision>& precision : kPrecisions) {
        const Verdict asked = row.TrainsIn(dtype, precision.value);
        const Verdict answer = backend->Supports({{1, 1}, Pass::kForward, 1, dtype, precision.value});
        EXPECT_EQ(asked.ok, answer.ok) << row.name << " " << precision.name;
        EXPECT_EQ(asked.ok ? "" : asked.reason, answer.ok ? "" : answer.reason);
      }
    }
  }
}

}  // namespace
}  // namespace lamina
