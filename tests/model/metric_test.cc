// Metrics by name against scikit-learn 1.9.1 (numbers typed in) and cases computed by hand; bootstrap intervals.
#include "lamina/model/metric.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

ScoredRows ThreeClasses() {
  ScoredRows rows;
  rows.target = "kind";
  rows.classes = 3;
  rows.probabilities = true;
  rows.labels = {0, 0, 1, 1, 2, 2, 2, 0, 1, 2};
  rows.scores = {.7, .2, .1, .4, .5,  .1,  .2, .6, .2, .3, .3, .4, .1,  .2,  .7,
                 .2, .2, .6, .5, .25, .25, .6, .3, .1, .1, .8, .1, .25, .25, .5};
  rows.predicted = {0, 1, 1, 2, 2, 2, 0, 0, 1, 2};
  return rows;
}

ScoredRows TwoClasses() {
  ScoredRows rows;
  rows.classes = 2;
  rows.probabilities = true;
  rows.labels = {0, 1, 1, 0, 1, 0, 0, 1};
  for (const double p : {.1, .9, .4, .4, .65, .3, .7, .65}) {
    rows.scores.push_back(1 - p);
    rows.scores.push_back(p);
    rows.predicted.push_back(p >= 0.5 ? 1 : 0);
  }
  return rows;
}

ScoredRows Values() {
  ScoredRows rows;
  rows.target = "y";
  rows.truth = {3, -0.5, 2, 7};
  rows.answers = {2.5, 0.1, 2, 8};
  return rows;
}

// sklearn.metrics: roc_auc_score(multi_class="ovr"), average_precision_score averaged over the classes, log_loss,
// brier_score_loss (of three classes the sum over them), matthews_corrcoef, f1_score(average="macro"), ...
// calibration_error by hand: the rows' certainties .7 .5 .6 .4 .8 are bins of their own, 0.29 = (.6+.5+1.2+.4+.2)/10.
TEST(MetricTest, EveryMetricOfClassesAsScikitLearn) {
  const std::map<std::string, double> expected{{"accuracy", 0.7},
                                               {"balanced_accuracy", 0.6944444444444443},
                                               {"f1_macro", 0.6944444444444443},
                                               {"mcc", 0.5454545454545454},
                                               {"auc", 0.9464285714285715},
                                               {"average_precision", 0.9111111111111111},
                                               {"log_loss", 0.6668675388369574},
                                               {"brier", 0.369},
                                               {"calibration_error", 0.29}};
  const std::vector<Metric> all = MetricsFor(std::vector<std::string>{kAllMetrics}, true, {});
  EXPECT_EQ(all.size(), expected.size());
  for (const Metric& metric : all) {
    EXPECT_NEAR(metric.Measure(ThreeClasses()), expected.at(metric.Text()), 1e-12) << metric.Text();
  }
  const std::map<std::string, double> of_two{{"auc", 0.78125},
                                             {"average_precision", 0.7916666666666666},
                                             {"log_loss", 0.5075063709256719},
                                             {"brier", 0.170625},
                                             {"mcc", 0.5}};
  for (const auto& [name, value] : of_two) {
    EXPECT_NEAR(Metric::Parse(name).Measure(TwoClasses()), value, 1e-12) << name;
  }
}

TEST(MetricTest, EveryMetricOfValuesAsScikitLearn) {
  const std::map<std::string, double> expected{
      {"rmse", 0.634428877022476}, {"mse", 0.4025},    {"mae", 0.525}, {"mape", 0.3773809523809524},
      {"r2", 0.9448394004282655},  {"pinball", 0.2625}};
  const std::vector<Metric> all = MetricsFor(std::vector<std::string>{kAllMetrics}, false, {});
  EXPECT_EQ(all.size(), expected.size());
  for (const Metric& metric : all) {
    EXPECT_NEAR(metric.Measure(Values()), expected.at(metric.Text()), 1e-12) << metric.Text();
  }
  EXPECT_NEAR(Metric::Parse("pinball:0.9").Measure(Values()), 0.1525, 1e-12);
  EXPECT_EQ(Metric::Parse("pinball:0.9").Text(), "pinball:0.9");
}

// By hand: a row above the answer costs the level of the distance, one below the rest of it.
TEST(MetricTest, PinballIsOfTheQuantileThatTheAnswersAre) {
  const auto by_hand = [](const ScoredRows& rows, double level) {
    double sum = 0;
    for (size_t i = 0; i < rows.truth.size(); ++i) {
      sum += std::max(level * (rows.truth[i] - rows.answers[i]), (1 - level) * (rows.answers[i] - rows.truth[i]));
    }
    return sum / static_cast<double>(rows.truth.size());
  };
  std::vector<ScoredRows> quantiles(3, Values());
  const std::vector<double> levels{0.1, 0.5, 0.9};
  for (size_t j = 0; j < levels.size(); ++j) {
    quantiles[j].target = "price " + std::to_string(j);
    quantiles[j].level = levels[j];
  }
  EXPECT_EQ(LevelsOf(quantiles), levels);
  const auto measure = [&](const std::string& name) {
    return MeasureMetrics(MetricsFor(std::vector<std::string>{name}, false, levels), quantiles, {.resamples = 20});
  };
  const std::vector<MetricValue> own = measure("pinball");
  ASSERT_EQ(own.size(), 3U);
  double sum = 0;
  for (size_t j = 0; j < levels.size(); ++j) {
    EXPECT_NEAR(own[j].value, by_hand(quantiles[j], levels[j]), 1e-12);
    EXPECT_LE(own[j].interval.low, own[j].value);
    EXPECT_GE(own[j].interval.high, own[j].value);
    sum += own[j].value;
  }
  EXPECT_NE(own[0].value, own[2].value);
  EXPECT_NEAR(MeanOverTargets(Metric::Parse("pinball"), quantiles), sum / 3, 1e-12);
  const std::vector<MetricValue> given = measure("pinball:0.9");
  ASSERT_EQ(given.size(), 1U) << "the other answers are other quantiles";
  EXPECT_EQ(given[0].target, "price 2");
  EXPECT_NEAR(given[0].value, by_hand(quantiles[2], 0.9), 1e-12);
  EXPECT_NEAR(MeanOverTargets(Metric::Parse("pinball:0.9"), quantiles), given[0].value, 1e-12);
  const Error error = CaughtError([&] { measure("pinball:0.75"); });
  EXPECT_TRUE(Mentions(error.what(), "0.1, 0.5, 0.9"));
  EXPECT_EQ(error.context().setting, "metrics");
  EXPECT_NEAR(Metric::Parse("pinball").Measure(Values()), by_hand(Values(), 0.5), 1e-12) << "of numbers the median";
}

// A row that counts twice is a row that is there twice.
TEST(MetricTest, WeightsAreRowsRepeated) {
  const ScoredRows once = ThreeClasses();
  ScoredRows twice = once;
  std::vector<double> weights(10, 1.0);
  for (const size_t i : {size_t{1}, size_t{4}, size_t{9}}) {
    weights[i] = 2;
    twice.labels.push_back(once.labels[i]);
    twice.predicted.push_back(once.predicted[i]);
    twice.scores.insert(twice.scores.end(), once.scores.begin() + static_cast<ptrdiff_t>(3 * i),
                        once.scores.begin() + static_cast<ptrdiff_t>(3 * i + 3));
  }
  for (const Metric& metric : MetricsFor(std::vector<std::string>{kAllMetrics}, true, {})) {
    EXPECT_NEAR(metric.Measure(once, weights), metric.Measure(twice), 1e-12) << metric.Text();
  }
}

TEST(MetricTest, SaysWhyThereIsNoValue) {
  const auto reason = [](const char* name, const ScoredRows& rows) {
    const Metric metric = Metric::Parse(name);
    EXPECT_TRUE(std::isnan(metric.Measure(rows))) << name;
    const std::vector<MetricValue> values = MeasureMetrics(std::vector{metric}, std::vector{rows}, {.resamples = 5});
    EXPECT_TRUE(ToJson(values[0])["value"].is_null());
    EXPECT_EQ(ToJson(values[0])["undefined"], values[0].reason);
    return values[0].Text();
  };
  ScoredRows one_class = TwoClasses();
  one_class.labels.assign(8, 1);
  EXPECT_EQ(reason("auc", one_class), "undefined: all rows have the same class");
  EXPECT_EQ(reason("mcc", one_class), "undefined: all rows have the same class");
  ScoredRows new_class = TwoClasses();
  new_class.labels[3] = -1;
  EXPECT_TRUE(Mentions(reason("log_loss", new_class), "does not know"));
  EXPECT_LT(Metric::Parse("accuracy").Measure(new_class), Metric::Parse("accuracy").Measure(TwoClasses()));
  ScoredRows scores = TwoClasses();
  scores.probabilities = false;
  EXPECT_TRUE(Mentions(reason("brier", scores), "no probabilities"));
  EXPECT_DOUBLE_EQ(Metric::Parse("auc").Measure(scores), 0.78125) << "needs an order only";
  ScoredRows zero = Values();
  zero.truth[2] = 0;
  EXPECT_TRUE(Mentions(reason("mape", zero), "0"));
  ScoredRows constant = Values();
  constant.truth.assign(4, 1e6 + 0.1);
  EXPECT_TRUE(Mentions(reason("r2", constant), "equal"));
  EXPECT_TRUE(Mentions(reason("rmse", ScoredRows()), "no rows"));
}

TEST(MetricTest, BadNames) {
  const auto message = [](std::vector<std::string> names, bool classes) {
    return std::string(CaughtError([&] { MetricsFor(names, classes, {}); }).what());
  };
  EXPECT_TRUE(Mentions(message({"acuracy"}, true), "Did you mean 'accuracy'?"));
  EXPECT_TRUE(Mentions(message({"rmse"}, true), "--metrics: rmse is a metric of values"));
  EXPECT_TRUE(Mentions(message({"auc"}, false), "--metrics: auc is a metric of classes"));
  EXPECT_TRUE(Mentions(message({"rmse:0.5"}, false), "takes no number"));
  for (const char* bad : {"pinball:0", "pinball:1", "pinball:x", "pinball:"}) {
    EXPECT_TRUE(Mentions(message({bad}, false), "between 0 and 1")) << bad;
  }
}

// The interval of a mean is known: 1.96 standard errors to each side.
TEST(MetricTest, BootstrapOfAMean) {
  Random random(7);
  ScoredRows rows;
  double sum = 0;
  double squares = 0;
  constexpr int kRows = 2000;
  for (int i = 0; i < kRows; ++i) {
    const double error = std::abs(random.Normal());
    rows.truth.push_back(10);
    rows.answers.push_back(10 + error);
    sum += error;
    squares += error * error;
  }
  const double mean = sum / kRows;
  const double standard_error = std::sqrt((squares / kRows - mean * mean) / kRows);
  const std::vector<Metric> metrics{Metric::Parse("mae")};
  const MetricValue value = MeasureMetrics(metrics, std::vector{rows}, {.resamples = 4000, .seed = 3})[0];
  EXPECT_NEAR(value.value, mean, 1e-12);
  EXPECT_NEAR(value.interval.low, mean - 1.96 * standard_error, 0.15 * standard_error);
  EXPECT_NEAR(value.interval.high, mean + 1.96 * standard_error, 0.15 * standard_error);
  const auto low = [&](uint64_t seed) {
    return MeasureMetrics(metrics, std::vector{rows}, {.resamples = 50, .seed = seed})[0].interval.low;
  };
  EXPECT_EQ(low(1), low(1));
  EXPECT_NE(low(1), low(2));
  EXPECT_TRUE(std::isnan(MeasureMetrics(metrics, std::vector{rows}, {.resamples = 0})[0].interval.low));
}

TEST(MetricTest, PercentilesAsNumpy) {  // numpy.percentile([1, 2, 3, 4], [12.5, 87.5]) = [1.375, 3.625]
  const Interval interval = PercentileInterval({4, NAN, 2, 1, 3}, 0.75);
  EXPECT_DOUBLE_EQ(interval.low, 1.375);
  EXPECT_DOUBLE_EQ(interval.high, 3.625);
  EXPECT_TRUE(std::isnan(PercentileInterval({NAN, 1}, 0.9).low));
}

}  // namespace
}  // namespace lamina
