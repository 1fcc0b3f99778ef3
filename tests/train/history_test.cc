// History as CSV and JSON; learning-rate schedules against their documentation.
#include "lamina/train/history.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/train/schedule.h"
#include "lamina/train/train_options.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

History TwoEpochs() {
  History history;
  history.epochs.push_back({1, 0.1, 2.0 / 3, 0.5, 1e-17, 0.25, 0.125, 0.0625, 12345.678});
  history.epochs.push_back({2, 0.01, 0.5, NAN, NAN, NAN, 2, 0, 1e300});
  history.best_epoch = 1;
  history.stop_reason = "interrupted";
  return history;
}

TEST(History, Csv) {
  EXPECT_EQ(TwoEpochs().ToCsv(),
            "epoch,learning_rate,train_loss,train_accuracy,validation_loss,validation_accuracy,train_seconds,"
            "validation_seconds,samples_per_second\n"
            "1,0.1,0.6666666666666666,0.5,1e-17,0.25,0.125,0.0625,12345.678\n"
            "2,0.01,0.5,,,,2,0,1e+300\n");
}

TEST(History, JsonRoundTripKeepsEveryBit) {
  const History history = TwoEpochs();
  const History again = History::FromJson(nlohmann::json::parse(history.ToJson().dump()));
  EXPECT_EQ(again.ToCsv(), history.ToCsv());
  EXPECT_EQ(again.best_epoch, 1);
  EXPECT_EQ(again.stop_reason, "interrupted");
  EXPECT_EQ(again.epochs[0].train_loss, 2.0 / 3);
  EXPECT_TRUE(std::isnan(again.epochs[1].validation_loss));
  EXPECT_EQ(History::FromJson(History().ToJson()).epochs.size(), 0U);
}

TEST(History, BadJson) {
  const nlohmann::json good = TwoEpochs().ToJson();
  for (const char* key : {"epochs", "best_epoch", "stop_reason"}) {
    nlohmann::json node = good;
    node.erase(key);
    EXPECT_EQ(CaughtError([&] { History::FromJson(node); }).code(), ErrorCode::kBadModel);
    node[key] = nlohmann::json::object({{"a", 1}});
    EXPECT_EQ(CaughtError([&] { History::FromJson(node); }).code(), ErrorCode::kBadModel);
  }
  for (const char* key : {"epoch", "learning_rate", "train_loss", "samples_per_second"}) {
    nlohmann::json node = good;
    node["epochs"][1].erase(key);
    EXPECT_TRUE(Mentions(CaughtError([&] { History::FromJson(node); }).what(), key));
    node["epochs"][1][key] = "x";
    EXPECT_EQ(CaughtError([&] { History::FromJson(node); }).code(), ErrorCode::kBadModel);
  }
  for (const int64_t epoch : {-1, 3}) {
    nlohmann::json node = good;
    node["best_epoch"] = epoch;
    EXPECT_TRUE(Mentions(CaughtError([&] { History::FromJson(node); }).what(), "best epoch"));
  }
  EXPECT_THROW(History::FromJson(nlohmann::json(3)), Error);
}

TEST(Schedule, NamesRoundTrip) {
  for (const std::string& name : ScheduleKindNames()) {
    EXPECT_EQ(ScheduleKindName(ParseScheduleKind(name)), name);
  }
  EXPECT_TRUE(Mentions(CaughtError([] { ParseScheduleKind("cosinus"); }).what(), "Did you mean 'cosine'?"));
}

TEST(Schedule, RatesAsDocumented) {
  const double eta = 0.3;
  EXPECT_EQ(LearningRateAt({ScheduleKind::kConstant, 0.1, 1, 1}, eta, 7, 9, 3), eta);
  const Schedule step{ScheduleKind::kStep, 0.5, 3, 1};
  const double steps[] = {eta, eta, eta, eta / 2, eta / 2, eta / 2, eta / 4};
  for (int64_t e = 0; e < 7; ++e) {
    EXPECT_DOUBLE_EQ(LearningRateAt(step, eta, e, 7, 0), steps[e]);
  }
  const Schedule cosine{ScheduleKind::kCosine, 0.2, 1, 1};
  for (int64_t e = 0; e < 11; ++e) {
    const double share = 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(e) / 10);
    EXPECT_NEAR(LearningRateAt(cosine, eta, e, 11, 0), 0.06 + (eta - 0.06) * share, 1e-15);
  }
  EXPECT_EQ(LearningRateAt(cosine, eta, 0, 1, 0), eta);
  EXPECT_DOUBLE_EQ(LearningRateAt({ScheduleKind::kPlateau, 0.5, 1, 1}, eta, 9, 11, 0), eta);
  EXPECT_DOUBLE_EQ(LearningRateAt({ScheduleKind::kPlateau, 0.5, 1, 1}, eta, 9, 11, 3), eta / 8);
}

TEST(Schedule, RatesOfSteps) {
  constexpr double kEta = 0.4;
  const auto at = [](ScheduleKind kind, double done, double warmup = 0) {
    return StepRateAt({.kind = kind, .warmup = warmup}, kEta, kEta, done);
  };
  for (const double end : {0.0, 1.0 / 15, 3.0 / 15, 7.0 / 15, 1.0}) {  // waves begin and end at 0
    EXPECT_NEAR(at(ScheduleKind::kCosLog4, end), 0, 1e-12) << end;
  }
  for (int wave = 0; wave < 4; ++wave) {
    EXPECT_NEAR(at(ScheduleKind::kCosLog4, (std::exp2(wave + 0.5) - 1) / 15), kEta, 1e-12) << wave;
  }
  EXPECT_NEAR(at(ScheduleKind::kFlatCos, 0), kEta, 1e-15);
  EXPECT_NEAR(at(ScheduleKind::kFlatCos, 0.5), kEta, 1e-15);
  EXPECT_NEAR(at(ScheduleKind::kFlatCos, 0.75), kEta / 2, 1e-12);
  EXPECT_NEAR(at(ScheduleKind::kFlatCos, 1), 0, 1e-15);
  EXPECT_NEAR(at(ScheduleKind::kOneCycle, 0), kEta / 25, 1e-15);
  EXPECT_NEAR(at(ScheduleKind::kOneCycle, 0.15), (kEta + kEta / 25) / 2, 1e-12);
  EXPECT_NEAR(at(ScheduleKind::kOneCycle, 0.3), kEta, 1e-15);
  EXPECT_NEAR(at(ScheduleKind::kOneCycle, 1), kEta / 250'000, 1e-15);
  EXPECT_NEAR(at(ScheduleKind::kConstant, 0.05, 0.2), kEta / 4, 1e-15) << "warm-up of any kind";
  EXPECT_EQ(at(ScheduleKind::kConstant, 0.2, 0.2), kEta);
  EXPECT_FALSE(ChangesBySteps({.kind = ScheduleKind::kCosine}));
  EXPECT_TRUE(ChangesBySteps({.kind = ScheduleKind::kCosine, .warmup = 0.1}));
  for (const ScheduleKind kind : {ScheduleKind::kCosLog4, ScheduleKind::kFlatCos, ScheduleKind::kOneCycle}) {
    EXPECT_TRUE(ChangesBySteps({.kind = kind}));
  }
}

// Waves of 1, 2, 4 and 8 fifteenths.
TEST(Schedule, TrainingStopsWhereAWaveEnds) {
  const Schedule waves{.kind = ScheduleKind::kCosLog4};
  std::vector<std::array<int64_t, 3>> ends;
  for (int64_t epoch = 0; epoch <= 30; ++epoch) {
    if (const int64_t last = EpochsOfEndedWaves(waves, epoch, 30, 1); last > 0) {
      ends.push_back({epoch, last, EpochsOfEndedWaves(waves, epoch, 30, 2)});
    }
    EXPECT_EQ(EpochsOfEndedWaves({.kind = ScheduleKind::kFlatCos}, epoch, 30, 1), 0);
  }
  EXPECT_EQ(ends, (std::vector<std::array<int64_t, 3>>{{2, 2, 0}, {6, 4, 6}, {14, 8, 12}, {30, 16, 24}}));
  TrainOptions options;
  options.epochs = 30;
  options.schedule = waves;
  options.keep = Keep::kBestWave;
  EXPECT_TRUE(options.IsBetter(1, 0.9, 1));
  EXPECT_FALSE(options.IsBetter(1, 1.1, 1));
  EXPECT_TRUE(options.IsBetter(2, 1.1, 1)) << "the first end, whatever came before";
  EXPECT_FALSE(options.IsBetter(3, 0.5, 1)) << "at a high rate";
  EXPECT_TRUE(options.IsBetter(6, 1, 1)) << "as good, and later";
  EXPECT_FALSE(options.IsBetter(6, 1.1, 1));
  options.schedule.kind = ScheduleKind::kFlatCos;  // no waves
  EXPECT_TRUE(options.IsBetter(3, 1, 1));
  options.schedule = waves;
  options.patience_waves = 1;
  EXPECT_TRUE(options.StopsEarly(6, 4));    // the best is the last of the wave before
  EXPECT_FALSE(options.StopsEarly(6, 3));   // of this one
  EXPECT_FALSE(options.StopsEarly(13, 9));  // none ends
  EXPECT_FALSE(options.StopsEarly(2, 1));
  options.patience_waves = 2;
  EXPECT_FALSE(options.StopsEarly(14, 11));
  EXPECT_TRUE(options.StopsEarly(14, 12));
  options.patience_waves = 0;
  EXPECT_FALSE(options.StopsEarly(14, 14));
}

}  // namespace
}  // namespace lamina
