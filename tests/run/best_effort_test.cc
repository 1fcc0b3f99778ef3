// The portfolio of --effort best on small tables: what is put together, by hand and by the program.
#include "lamina/run/best_effort.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <thread>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "lamina/run/cross_validation.h"
#include "lamina/run/portfolio_cost.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/validation.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr PortfolioEntry kThree[] = {
    {"network", "recipe=plain hidden=8 epochs=20 learning-rate=0.05"},
    {"kernels", "method=rfm", /*refit=*/true, 1},
    {"learning machine", "method=elm hidden=20", true},
};

constexpr double kLimit_seconds = 600;

// Three noisy clouds, or a curve and noise.
std::string EffortCsv(int rows, bool values) {
  Random random(5);
  std::string text = "a,b,answer\n";
  for (int i = 0; i < rows; ++i) {
    const double a = 1.5 * random.Normal() + (i % 3) * 2;
    const double b = 1.5 * random.Normal() - (i % 2) * 2;
    text += values ? fmt::format("{},{},{}\n", a, b, a * a - 2 * b + random.Normal())
                   : fmt::format("{},{},c{}\n", a, b, i % 3);
  }
  return text;
}

class BestEffort : public testing::TestWithParam<bool> {
 protected:
  bool values() const { return GetParam(); }

  TrainSettings Given() const {
    TrainSettings settings;
    settings.data = folder_.Write("x.csv", EffortCsv(rows_, values()));
    settings.threads = 1;
    return settings;
  }

  // As CrossValidate() makes them.
  TrainSettings Folds(int64_t threads) const {
    TrainSettings settings = Given();
    settings.folds = 3;
    settings.bag = true;
    settings.split = {1, 0, 0};
    settings.task = values() ? "regression" : "classification";
    settings.threads = threads;
    return settings;
  }

  static void ExpectSame(const PortfolioResult& a, const PortfolioResult& b) {
    EXPECT_EQ(a.shares, b.shares);
    ASSERT_EQ(a.networks.size(), b.networks.size());
    for (size_t k = 0; k < a.networks.size(); ++k) {
      ASSERT_EQ(a.networks[k].parameter_bytes(), b.networks[k].parameter_bytes());
      EXPECT_EQ(std::memcmp(a.networks[k].parameters(), b.networks[k].parameters(),
                            static_cast<size_t>(a.networks[k].parameter_bytes())),
                0);
    }
  }

  static int64_t CountFiles(const std::string& folder, std::string_view ending) {
    int64_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += entry.path().string().ends_with(ending) ? 1 : 0;
    }
    return count;
  }

  static std::map<std::string, std::filesystem::file_time_type> TimesIn(const std::string& folder) {
    std::map<std::string, std::filesystem::file_time_type> times;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      times[entry.path().string()] = entry.last_write_time();
    }
    return times;
  }

  PortfolioResult Train(int64_t threads, const PortfolioCallbacks& callbacks = {}) {
    settings_ = Folds(threads);
    settings_.state = state_;
    settings_.seed = seed_;
    raw_ = ReadRawData(settings_);
    TrainSettings all = settings_;
    all.folds = 0;
    encoding_ = PlanData(all, raw_).preprocessor;
    return TrainPortfolio(entries_, {settings_, raw_, encoding_, {}}, kLimit_seconds, callbacks);
  }

  TemporaryFolder folder_;
  int rows_ = 90;
  std::vector<PortfolioEntry> entries_{std::begin(kThree), std::end(kThree)};
  TrainSettings settings_;
  RawData raw_;
  Preprocessor encoding_;
  std::string state_;
  uint64_t seed_ = 1;
};

TEST_P(BestEffort, TheMixIsJudgedByAnswersToRowsLeftOut) {
  const PortfolioResult result = Train(1);
  ASSERT_FALSE(result.interrupted);
  EXPECT_EQ(result.repeats, 3);
  ASSERT_EQ(result.parts.size(), 3U);
  double least = 1e9;
  for (const PortfolioPart& part : result.parts) {
    EXPECT_EQ(part.left_out, "");
    least = std::min(least, part.loss);
    EXPECT_LE(part.mixed, least + 1e-12);
  }
  // The loss once more, from the answers to each fold.
  double sum = 0;
  double count = 0;
  std::vector<int64_t> rows;
  for (size_t f = 0; f < result.tests.size(); ++f) {
    const Dataset& test = result.tests[f];
    rows.insert(rows.end(), test.rows.begin(), test.rows.end());
    for (int64_t i = 0; i < std::ssize(test.rows); ++i) {
      const float* const answer = result.answers[f].Row<float>(i);
      count += 1;
      if (values()) {
        sum += std::pow(answer[0] - test.targets.Row<float>(i)[0], 2);
      } else {
        EXPECT_NEAR(std::accumulate(answer, answer + 3, 0.0), 1, 1e-5);
        sum -= std::log(answer[test.labels[static_cast<size_t>(i)]]);
      }
    }
  }
  std::ranges::sort(rows);
  std::vector<int64_t> every(90);
  std::iota(every.begin(), every.end(), 0);
  EXPECT_EQ(rows, every);
  if (values()) {
    EXPECT_NEAR(sum / count, result.parts.back().mixed, 1e-4 * result.parts.back().mixed);
  } else {  // LeftOutRows::SurenessOf() costs 100 * 0.1^2 at most
    EXPECT_NE(sum / count, result.parts.back().mixed);
    EXPECT_LE(sum / count, result.parts.back().mixed * (1 + 1e-4) + 1 / count);
  }
  EXPECT_NEAR(std::accumulate(result.shares.begin(), result.shares.end(), 0.0), 1, 1e-12);
  ASSERT_EQ(result.shares.size(), result.networks.size());
}

TEST_P(BestEffort, ThreadsChangeNothing) {
  const PortfolioResult one = Train(1);
  const PortfolioResult three = Train(3);
  ExpectSame(one, three);
}

TEST_P(BestEffort, WhatIsStoppedKeepsTheBestSoFar) {
  EXPECT_TRUE(Train(1, {.stop_requested = [] { return true; }}).interrupted);
  std::atomic<int64_t> done{0};
  const PortfolioResult result = Train(2, {.part_done = [&](const PortfolioPart&, int64_t, int64_t, double) { ++done; },
                                           .stop_requested = [&] { return done > 0; }});
  ASSERT_FALSE(result.interrupted);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(done, 3) << "parts that are left out are told, too";
  EXPECT_EQ(result.parts[0].left_out, "");
  EXPECT_NE(result.parts[2].left_out, "");
  EXPECT_FALSE(result.networks.empty());
}

TEST_P(BestEffort, TheModelAnswersByItsShares) {
  const PortfolioResult result = Train(2);
  TrainSettings best = Given();
  best.effort = "best";
  FoundByFolds found;
  found.encoding = encoding_;
  found.networks = result.networks;
  found.shares = result.shares;
  TrainSession session(best, raw_, found);
  EXPECT_EQ(session.Run({}).history.stop_reason, "folds");
  const Matrix& x = session.train().features;
  ASSERT_EQ(x.rows(), 90);
  const Matrix answers = NetworkOutputs(session.model(), session.backend(), x);
  Matrix sums(x.rows(), answers.cols(), DType::kF64);
  std::memset(sums.data(), 0, static_cast<size_t>(x.rows() * answers.cols()) * sizeof(double));
  for (size_t k = 0; k < result.networks.size(); ++k) {
    Model one;
    one.network = result.networks[k];
    const Matrix outputs = NetworkOutputs(one, session.backend(), x);
    for (int64_t i = 0; i < x.rows(); ++i) {
      for (int64_t c = 0; c < answers.cols(); ++c) {
        sums.Row<double>(i)[c] += result.shares[k] * static_cast<double>(outputs.Row<float>(i)[c]);
      }
    }
  }
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t c = 0; c < answers.cols(); ++c) {
      EXPECT_NEAR(answers.Row<float>(i)[c], sums.Row<double>(i)[c], 1e-5);
    }
  }
}

TEST_P(BestEffort, AFolderGoesOnWhereARunEnded) {
  const PortfolioResult whole = Train(1);
  state_ = folder_.Path("state");
  std::atomic<int64_t> done{0};
  const PortfolioCallbacks stops = {.part_done = [&](const PortfolioPart&, int64_t, int64_t, double) { ++done; },
                                    .stop_requested = [&] { return done > 0; }};
  EXPECT_TRUE(Train(1, stops).stopped);
  const auto kept = CountFiles(state_, ".safetensors");
  EXPECT_GE(kept, 9) << "of the first model: folds and repeats";
  EXPECT_LT(kept, 27);
  ExpectSame(Train(1), whole);
  EXPECT_EQ(CountFiles(state_, ".safetensors"), 27);
  EXPECT_EQ(CountFiles(state_, ".lamina-lock"), 0);
  const auto times = TimesIn(state_);
  ExpectSame(Train(2), whole);
  EXPECT_EQ(TimesIn(state_), times) << "nothing is trained again";
  seed_ = 2;
  const std::string said = CaughtError([&] { Train(1); }).what();
  EXPECT_TRUE(Mentions(said, "other settings")) << said;
}

TEST_P(BestEffort, RunsOfOneFolderShareTheModels) {
  const PortfolioResult whole = Train(1);
  state_ = folder_.Path("state");
  PortfolioResult results[2];
  Train(1, {.stop_requested = [] { return true; }});  // settings_, raw_ and encoding_, which both read
  std::thread other([&] { results[0] = TrainPortfolio(kThree, {settings_, raw_, encoding_, {}}, 600, {}); });
  results[1] = TrainPortfolio(kThree, {settings_, raw_, encoding_, {}}, 600, {});
  other.join();
  ExpectSame(results[0], whole);
  ExpectSame(results[1], whole);
  EXPECT_EQ(CountFiles(state_, ".safetensors"), 27);
}

TEST_P(BestEffort, NestedFoldsJudgeWithoutAChoice) {
  TrainSettings best = Given();
  best.effort = "best";
  best.time_limit = "0.2s";
  best.nested = 2;
  const RawData raw = ReadRawData(best);
  const CrossValidation result = CrossValidate(best, raw, {});
  ASSERT_EQ(result.nested.size(), result.metrics.size());
  EXPECT_FALSE(std::isnan(result.nested[0].mean));
  const auto says = [&](const std::string& text) {
    return std::ranges::any_of(result.remarks, [&](const std::string& remark) { return Mentions(remark, text); });
  };
  EXPECT_TRUE(says("on 2 folds that nothing was chosen by"));
  EXPECT_FALSE(says("these rows also chose"));
  EXPECT_EQ(result.found.cross_validation["nested"].size(), result.nested.size());
}

TEST(BestEffortCategories, OfTwoRowsHaveInputsOfTheirOwn) {
  constexpr int kNames = 30;
  std::string text = "name,answer\n";
  for (int i = 0; i < 2 * kNames; ++i) {
    text += fmt::format("n{},{}\n", i % kNames, i % kNames % 7 + 0.1 * (i % 3));
  }
  const TemporaryFolder folder;
  TrainSettings best;
  best.data = folder.Write("x.csv", text);
  best.effort = "best";
  best.time_limit = "0.2s";
  const RawData raw = ReadRawData(best);
  EXPECT_EQ(CrossValidate(best, raw, {}).found.encoding->inputs().count(), kNames);
  best.min_count = 5;
  EXPECT_LT(CrossValidate(best, raw, {}).found.encoding->inputs().count(), kNames);
}

// The estimate knows the system that is solved, and not how often the kind of kernel is looked for.
TEST_P(BestEffort, MachinesThatTakeLongerThanTheirShareAreGivenUp) {
  rows_ = 900;
  PortfolioEntry slow = kThree[1];
  slow.most_time = 1.1 * CostOf({rows_, 2, 3}, slow, {3, 6, 1, kLimit_seconds}).folds_seconds / kLimit_seconds;
  entries_ = {kThree[0], slow, kThree[2]};
  const PortfolioResult result = Train(1);
  EXPECT_EQ(result.parts[1].left_out, "it took longer than its share of the time");
  EXPECT_EQ(result.parts[0].left_out + result.parts[2].left_out, "");
}

// The whole list, as far as the time goes.
TEST_P(BestEffort, CrossValidateTrainsIt) {
  TrainSettings best = Given();
  best.effort = "best";
  best.time_limit = "0.5s";
  best.threads = 0;
  best.out_of_fold = folder_.Path("oof.csv");
  best.model = folder_.Path("m");
  const RawData raw = ReadRawData(best);
  const CrossValidation result = CrossValidate(best, raw, {});
  EXPECT_EQ(result.portfolio.size(), Portfolio().size());
  EXPECT_EQ(std::ssize(result.folds), kFoldsOfBest);
  EXPECT_EQ(result.out_of_fold.rows.size(), 90U);
  TrainSession session(result.final_settings, raw, result.found);
  session.Run({});
  const Model model = LoadModel(best.model);
  EXPECT_EQ(model.networks(), std::ssize(result.found.networks));
  EXPECT_EQ(model.training["settings"]["effort"], "best");
  const nlohmann::json& parts = model.training["cross_validation"]["portfolio"];
  EXPECT_EQ(parts.size(), Portfolio().size());
  EXPECT_EQ(parts[0].contains("temperature"), !values());
}

INSTANTIATE_TEST_SUITE_P(Tasks, BestEffort, testing::Bool());

TEST(Portfolio, NamesSettingsOfModelsAlone) {
  TrainSettings first = WithEntry(TrainSettings(), Portfolio().front());
  EXPECT_TRUE(LearnsByGradient(first)) << "it may be cut off, and keeps what it has learnt";
  for (const PortfolioEntry& entry : Portfolio()) {
    SCOPED_TRACE(entry.name);
    TrainSettings settings;
    settings.data = "x.csv";
    const TrainSettings with = WithEntry(settings, entry);
    ValidateSettings(with);
    for (const auto& row : SettingRows<TrainSettings>()) {
      if (SettingText(with, row.name) != SettingText(settings, row.name)) {
        EXPECT_TRUE(row.group == kNetworkGroup || row.group == kMethodGroup || row.group == kTrainingGroup) << row.name;
        EXPECT_NE(row.name, "members") << "a temperature of a mean of probabilities is none of its logits";
      }
    }
  }
}

}  // namespace
}  // namespace lamina
