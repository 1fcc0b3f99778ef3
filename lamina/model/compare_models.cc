// Paired differences.
#include "lamina/model/compare_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/nan.h"
#include "lamina/base/team.h"
#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

using nlohmann::json;

template <class T>
std::vector<T> Some(const std::vector<T>& values, std::span<const size_t> places, int64_t width = 1) {
  std::vector<T> some;
  for (const size_t place : places) {
    const auto begin = values.begin() + static_cast<ptrdiff_t>(place) * width;
    some.insert(some.end(), begin, begin + width);
  }
  return some;
}

ScoredRows TakeRows(const ScoredRows& rows, std::span<const size_t> places) {
  ScoredRows some;
  some.target = rows.target;
  some.classes = rows.classes;
  some.probabilities = rows.probabilities;
  some.level = rows.level;
  if (rows.classes > 0) {
    some.labels = Some(rows.labels, places);
    some.predicted = Some(rows.predicted, places);
    some.scores = Some(rows.scores, places, rows.classes);
  } else {
    some.truth = Some(rows.truth, places);
    some.answers = Some(rows.answers, places);
  }
  return some;
}

std::vector<ScoredRows> OnRows(const Contestant& contestant, const std::vector<int64_t>& rows) {
  std::map<int64_t, size_t> place_of;
  for (size_t i = 0; i < contestant.rows.size(); ++i) {
    place_of[contestant.rows[i]] = i;
  }
  std::vector<size_t> places;
  places.reserve(rows.size());
  for (const int64_t row : rows) {
    places.push_back(place_of.at(row));
  }
  std::vector<ScoredRows> targets;
  for (const ScoredRows& target : contestant.targets) {
    targets.push_back(TakeRows(target, places));
  }
  return targets;
}

MetricDifference DifferenceOf(const Metric& metric, const ScoredRows& first, const ScoredRows& second,
                              const BootstrapOptions& bootstrap) {
  MetricDifference found;
  found.metric = metric;
  found.target = first.classes > 0 ? "" : first.target;
  found.interval = {kNaN, kNaN};
  found.p_value = kNaN;
  found.reason = metric.WhyUndefined(first);
  found.reason = found.reason.empty() ? metric.WhyUndefined(second) : found.reason;
  found.first = metric.Measure(first);
  found.second = metric.Measure(second);
  found.difference = found.second - found.first;
  if (!found.reason.empty() || bootstrap.resamples == 0) {
    return found;
  }
  std::vector<double> differences(static_cast<size_t>(bootstrap.resamples));
  RunEach(UsualThreads(), bootstrap.resamples, [&](int64_t b) {
    std::vector<double> weights(static_cast<size_t>(first.size()));
    DrawResample(bootstrap.seed, b, weights);
    differences[static_cast<size_t>(b)] = metric.Measure(second, weights) - metric.Measure(first, weights);
  });
  const auto count = [&](auto&& is) {
    return static_cast<double>(std::count_if(differences.begin(), differences.end(), is) + 1);
  };
  const double total = static_cast<double>(bootstrap.resamples) + 1;
  found.p_value = std::min(1.0, 2 * std::min(count([](double d) { return d <= 0; }) / total,
                                             count([](double d) { return d >= 0; }) / total));
  found.interval = PercentileInterval(std::move(differences), bootstrap.level);
  return found;
}

McNemar McNemarOf(const ScoredRows& first, const ScoredRows& second) {
  McNemar found;
  for (size_t i = 0; i < first.labels.size(); ++i) {
    const bool first_right = first.labels[i] >= 0 && first.labels[i] == first.predicted[i];
    const bool second_right = second.labels[i] >= 0 && second.labels[i] == second.predicted[i];
    found.only_first += first_right && !second_right ? 1 : 0;
    found.only_second += second_right && !first_right ? 1 : 0;
  }
  found.p_value = McNemarP(found.only_first, found.only_second);
  return found;
}

// The column of a file of predictions.
const Column& PredictedColumn(const Table& table, const std::string& target, bool only) {
  for (const std::string& name : {only ? std::string("predicted") : "predicted_" + target, target}) {
    for (const Column& column : table.columns) {
      if (column.name == name) {
        return column;
      }
    }
  }
  throw Error(ErrorCode::kBadData, "no column of predictions",
              {.file = table.source, .value = target, .remedy = "It is called as the target, or 'predicted'."});
}

double NumberIn(const Column& column, const Table& table, int64_t row) {
  if (column.kind == ColumnKind::kText) {
    ThrowCell(table, row, column, "a number is needed here", "Compare as classes where the target is one.");
  }
  return column.Number(row);
}

int32_t IndexIn(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int32_t>(found - names.begin());
}

// Labels, predictions and scores; -1 where one is missing.
ScoredRows ClassesFrom(const Table& predictions, const Column& predicted, const Table& truth, const Column& target) {
  const std::vector<int64_t> all = AllRowsOf(truth);
  const CategoryView labels(target, all);
  const CategoryView answers(predicted, all);
  std::vector<std::string> names = SortedNames(labels, all);
  for (const std::string& name : SortedNames(answers, all)) {
    if (MatchNames(answers,
                   names)[static_cast<size_t>(IndexIn({answers.names().begin(), answers.names().end()}, name))] < 0) {
      names.push_back(name);
    }
  }
  std::vector<const Column*> scores;
  for (const std::string& name : names) {
    const auto column = std::find_if(predictions.columns.begin(), predictions.columns.end(),
                                     [&](const Column& each) { return each.name == "p_" + name; });
    scores.push_back(column == predictions.columns.end() ? nullptr : &*column);
  }
  const bool scored = std::any_of(scores.begin(), scores.end(), [](const Column* column) { return column != nullptr; });
  const std::vector<int32_t> label_index = MatchNames(labels, names);
  const std::vector<int32_t> answer_index = MatchNames(answers, names);
  ScoredRows rows;
  rows.target = target.name;
  rows.classes = std::ssize(names);
  rows.probabilities = scored;
  for (const int64_t row : all) {
    const int32_t label = labels.Code(row);
    const int32_t answer = answers.Code(row);
    rows.labels.push_back(label < 0 ? -1 : label_index[static_cast<size_t>(label)]);
    rows.predicted.push_back(answer < 0 ? -1 : answer_index[static_cast<size_t>(answer)]);
    double sum = 0;
    for (size_t c = 0; c < names.size(); ++c) {
      const double score =
          scored ? (scores[c] == nullptr || scores[c]->IsMissing(row) ? 0 : NumberIn(*scores[c], predictions, row))
                 : (rows.predicted.back() == static_cast<int32_t>(c) ? 1 : 0);
      rows.scores.push_back(score);
      sum += score;
    }
    constexpr double kRounding = 1e-3;
    rows.probabilities = rows.probabilities && (rows.predicted.back() < 0 || std::abs(sum - 1) < kRounding);
  }
  return rows;
}

}  // namespace

double McNemarP(int64_t only_first, int64_t only_second) {
  const int64_t n = only_first + only_second;
  const int64_t least = std::min(only_first, only_second);
  double tail = 0;  // P(at most `least` heads of n)
  for (int64_t k = 0; k <= least; ++k) {
    const auto x = static_cast<double>(k);
    const auto total = static_cast<double>(n);
    tail += std::exp(std::lgamma(total + 1) - std::lgamma(x + 1) - std::lgamma(total - x + 1) - total * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

Comparison Compare(const Contestant& first, const Contestant& second, std::span<const Metric> metrics,
                   const BootstrapOptions& bootstrap) {
  const bool same = first.targets.size() == second.targets.size() &&
                    std::equal(first.targets.begin(), first.targets.end(), second.targets.begin(),
                               [](const ScoredRows& a, const ScoredRows& b) {
                                 return a.target == b.target && (a.classes > 0) == (b.classes > 0);
                               });
  if (!same) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} and {} do not answer the same question", first.name, second.name),
                {.value = fmt::format("{}, {}", first.targets[0].target, second.targets[0].target)});
  }
  const std::set<int64_t> of_first(first.rows.begin(), first.rows.end());
  const std::set<int64_t> of_second(second.rows.begin(), second.rows.end());
  std::vector<int64_t> rows;
  std::set_intersection(of_first.begin(), of_first.end(), of_second.begin(), of_second.end(), std::back_inserter(rows));
  if (rows.empty()) {
    throw Error(ErrorCode::kBadData,
                fmt::format("there is no row that {} and {} both answer", first.name, second.name));
  }
  const std::vector<ScoredRows> a = OnRows(first, rows);
  const std::vector<ScoredRows> b = OnRows(second, rows);
  Comparison comparison;
  comparison.rows = std::ssize(rows);
  for (size_t j = 0; j < a.size(); ++j) {
    for (const Metric& metric : metrics) {
      if (metric.IsOf(a[j])) {
        comparison.metrics.push_back(DifferenceOf(metric, a[j], b[j], bootstrap));
      }
    }
  }
  if (a[0].classes > 0) {
    comparison.mcnemar = McNemarOf(a[0], b[0]);
  }
  return comparison;
}

Contestant ContestantFrom(const Table& predictions, const Table& truth, const std::vector<std::string>& targets,
                          bool classes) {
  if (predictions.rows != truth.rows) {
    throw Error(ErrorCode::kBadData,
                fmt::format("{} predictions for {} rows of {}", predictions.rows, truth.rows, truth.source),
                {.file = predictions.source, .remedy = "Give the answers to exactly these rows, in their order."});
  }
  Contestant contestant;
  contestant.name = predictions.source;
  std::vector<bool> complete(static_cast<size_t>(truth.rows), true);
  for (const std::string& name : targets) {
    const Column& target = truth.columns[static_cast<size_t>(truth.FindColumn(name))];
    const Column& predicted = PredictedColumn(predictions, target.name, targets.size() == 1);
    ScoredRows rows;
    if (classes) {
      rows = ClassesFrom(predictions, predicted, truth, target);
    } else {
      rows.target = target.name;
      for (int64_t i = 0; i < truth.rows; ++i) {
        rows.truth.push_back(target.IsMissing(i) ? kNaN : NumberIn(target, truth, i));
        rows.answers.push_back(predicted.IsMissing(i) ? kNaN : NumberIn(predicted, predictions, i));
      }
    }
    for (int64_t i = 0; i < truth.rows; ++i) {
      if (target.IsMissing(i) || predicted.IsMissing(i)) {
        complete[static_cast<size_t>(i)] = false;
      }
    }
    contestant.targets.push_back(std::move(rows));
  }
  std::vector<size_t> places;
  for (size_t i = 0; i < complete.size(); ++i) {
    if (complete[i]) {
      places.push_back(i);
      contestant.rows.push_back(static_cast<int64_t>(i));
    }
  }
  for (ScoredRows& rows : contestant.targets) {
    rows = TakeRows(rows, places);
  }
  return contestant;
}

json ToJson(const Comparison& comparison) {
  const auto number = [](double x) { return std::isfinite(x) ? json(x) : json(nullptr); };
  json metrics = json::array();
  for (const MetricDifference& each : comparison.metrics) {
    json node = {{"name", each.metric.Text()},       {"first", number(each.first)},
                 {"second", number(each.second)},    {"difference", number(each.difference)},
                 {"low", number(each.interval.low)}, {"high", number(each.interval.high)},
                 {"p_value", number(each.p_value)}};
    if (!each.target.empty()) {
      node["target"] = each.target;
    }
    if (!each.reason.empty()) {
      node["undefined"] = each.reason;
    }
    metrics.push_back(std::move(node));
  }
  json node = {{"rows", comparison.rows}, {"metrics", std::move(metrics)}};
  if (comparison.mcnemar) {
    node["mcnemar"] = {{"only_first", comparison.mcnemar->only_first},
                       {"only_second", comparison.mcnemar->only_second},
                       {"p_value", comparison.mcnemar->p_value}};
  }
  return node;
}

}  // namespace lamina
