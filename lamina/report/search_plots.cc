// Pictures of a search.
#include "lamina/report/search_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr size_t kMaxCurves = 7;  // colors that can be told apart

constexpr const char* kCurves = "curves";

std::string IdOfSetting(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');  // a name of gnuplot, too
  return "setting_" + name;
}

std::string LabelOf(const Trial& trial) {
  std::string text;
  for (size_t p = 0; p < trial.values.size(); ++p) {
    text += (p == 0 ? "" : ", ") + trial.values[p];
  }
  return text;
}

double MetricOf(const Search& search, double accuracy, double loss) {
  return search.by_accuracy() ? 100 * accuracy : loss;
}

Plot Curves(const Search& search, const SearchResult& result, const std::string& metric, const std::string& subtitle) {
  LineChart chart;
  chart.id = kCurves;
  std::vector<std::string> names;
  for (const SearchParameter& parameter : search.space().parameters()) {
    names.push_back(parameter.name);
  }
  chart.title = fmt::format("The best trials by epoch ({})", fmt::join(names, ", "));
  chart.subtitle = subtitle;
  chart.x_label = "epoch";
  chart.y_label = metric;
  for (const size_t i : result.ranking) {
    const Trial& trial = result.trials[i];
    if (trial.history.epochs.empty() || trial.state == TrialState::kFailed) {
      continue;
    }
    PlotSeries series;
    series.name = LabelOf(trial);
    for (const EpochRecord& record : trial.history.epochs) {
      series.points.emplace_back(static_cast<double>(record.epoch),
                                 MetricOf(search, record.validation_accuracy, record.validation_loss));
    }
    chart.series.push_back(std::move(series));
    if (chart.series.size() == kMaxCurves) {
      break;
    }
  }
  return PlotLines(chart);
}

// The best metric by value of one setting, of all trials and of those that were not stopped early.
Plot BySetting(const Search& search, const SearchResult& result, size_t p, const std::string& metric,
               const std::string& subtitle) {
  const std::string& name = search.space().parameters()[p].name;
  std::map<double, double> ended;
  std::map<double, double> all;
  bool positive = true;
  for (const Trial& trial : result.trials) {
    const TrialScore score = ScoreOf(trial, search.keeps_best());
    const double x = ParseNumber(trial.values[p]);
    if (score.epoch == 0 || trial.state == TrialState::kFailed || !std::isfinite(x)) {
      continue;
    }
    positive = positive && x > 0;
    const double y = MetricOf(search, score.accuracy, score.loss);
    const auto keep_better = [&](std::map<double, double>& points) {
      const auto [entry, added] = points.try_emplace(x, y);
      entry->second = added ? y : (search.by_accuracy() ? std::max(entry->second, y) : std::min(entry->second, y));
    };
    keep_better(all);
    if (trial.stage == search.stages()) {
      keep_better(ended);
    }
  }
  LineChart chart;
  chart.id = IdOfSetting(name);
  chart.title = "The best trial by " + name;
  chart.subtitle = subtitle;
  chart.x_label = name;
  chart.y_label = metric;
  double least = 0;
  double most = 0;
  for (const auto& [series, points] :
       {std::pair("best trial of each value", &all), std::pair("trained to the end", &ended)}) {
    if (!points->empty()) {
      chart.series.push_back({series, {points->begin(), points->end()}, false});
      least = least == 0 ? points->begin()->first : std::min(least, points->begin()->first);
      most = std::max(most, points->rbegin()->first);
    }
  }
  chart.log_x = positive && most >= 20 * least;
  return PlotLines(chart);
}

}  // namespace

std::vector<std::string> SearchPlotIds(const SearchSpace& space) {
  std::vector<std::string> ids{kCurves};
  for (const SearchParameter& parameter : space.parameters()) {
    ids.push_back(IdOfSetting(parameter.name));
  }
  return ids;
}

std::vector<Plot> SearchPlots(const Search& search, const SearchResult& result) {
  const std::string metric = search.by_accuracy() ? "accuracy on validation rows, %" : "loss on validation rows";
  const std::string subtitle = fmt::format(
      "{}, {} trials", std::filesystem::path(search.settings().train.data).filename().string(), result.trials.size());
  std::vector<Plot> plots{Curves(search, result, metric, subtitle)};
  for (size_t p = 0; p < search.space().parameters().size(); ++p) {
    const auto is_number = [&](const Trial& trial) { return std::isfinite(ParseNumber(trial.values[p])); };
    // The default, the first trial, may have no number of its own.
    if (result.trials.size() > 1 && std::all_of(result.trials.begin() + 1, result.trials.end(), is_number)) {
      plots.push_back(BySetting(search, result, p, metric, subtitle));
    }
  }
  return plots;
}

}  // namespace lamina
