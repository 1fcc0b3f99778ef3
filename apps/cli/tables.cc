// Text for people: descriptions of models and tables of metrics.
#include "tables.h"
#include "print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/text.h"

namespace lamina::cli {
namespace {

constexpr size_t kMaxConfusionClasses = 30;
constexpr size_t kShownDecisions = 20;

void PrintClasses(const ClassificationMetrics& metrics) {
  size_t width = 5;
  for (const ClassMetrics& row : metrics.classes) {
    width = std::max(width, Cell(row.name).size());
  }
  Print("\n{:<{}}  {:>9}  {:>11}  {:>8}  {:>8}\n", "class", width, "rows", "precision %", "recall %", "F1 %");
  for (const ClassMetrics& row : metrics.classes) {
    Print("{:<{}}  {:>9}  {:>11}  {:>8}  {:>8}\n", Cell(row.name), width, WithThousands(row.support),
          PercentText(row.precision), PercentText(row.recall), PercentText(row.f1));
  }
}

void PrintConfusion(const ClassificationMetrics& metrics) {
  const size_t classes = metrics.classes.size();
  if (classes > kMaxConfusionClasses) {
    Print("\nThe confusion matrix has {} classes: see --json.\n", classes);
    return;
  }
  size_t width = 4;
  for (size_t c = 0; c < classes; ++c) {
    width = std::max(width, std::min<size_t>(12, Cell(metrics.classes[c].name).size()));
    for (const int64_t count : metrics.confusion[c]) {
      width = std::max(width, fmt::formatted_size("{}", count));
    }
  }
  Print("\nconfusion matrix: a row is the true class, a column the predicted one\n{:>{}}", "", width);
  for (const ClassMetrics& row : metrics.classes) {
    Print(" {:>{}.{}}", row.name, width, width);
  }
  Print("\n");
  for (size_t c = 0; c < classes; ++c) {
    Print("{:>{}.{}}", metrics.classes[c].name, width, width);
    for (const int64_t count : metrics.confusion[c]) {
      Print(" {:>{}}", count, width);
    }
    Print("\n");
  }
}

}  // namespace

std::string TargetText(const Model& model) {
  const Preprocessor& preprocessor = model.preprocessor;
  const std::string names = fmt::format("{}", fmt::join(preprocessor.targets().names(), ", "));
  return preprocessor.targets().task() == Task::kClassification
             ? fmt::format("{} classes of {}", preprocessor.targets().class_names().size(), names)
             : fmt::format("to predict: {}", names);
}

std::string ActivationsText(const Network& network) {
  std::string text;
  for (const LayerSpec& layer : network.layers()) {
    text += (text.empty() ? "" : ", ") + layer.activation.Text() + (layer.trained_radius ? "-radius" : "") +
            (layer.residual > 0 ? " + input" : "");
  }
  return text;
}

void PrintNote(const std::string& note, std::FILE* to) {
  if (!note.empty()) {
    PrintNote(to, "{}\n", note);
  }
}

void PrintNotes(const std::vector<std::string>& notes, std::FILE* to) {
  std::for_each(notes.begin(), notes.end(), [to](const std::string& note) { PrintNote(note, to); });
}

void PrintDecisions(const std::vector<ColumnDecision>& decisions) {
  size_t name = 0;
  size_t what = 0;
  const size_t shown = std::min(kShownDecisions, decisions.size());
  for (size_t i = 0; i < shown; ++i) {
    name = std::max(name, Cell(decisions[i].column).size());
    what = std::max(what, WithoutControls(decisions[i].what).size());
  }
  for (size_t i = 0; i < shown; ++i) {
    Print("  {:<{}}  {:<{}}  (else {})\n", Cell(decisions[i].column), name, decisions[i].what, what,
          decisions[i].otherwise);
  }
  if (decisions.size() > shown) {
    Print("  ... and {} more (--json has all)\n", decisions.size() - shown);
  }
}

std::string MetricName(const std::string& target, const Metric& metric) {
  return (target.empty() ? "" : Cell(target) + ": ") + metric.Title();
}

void PrintMetrics(const std::vector<MetricValue>& metrics) {
  size_t width = 0;
  const auto name = [](const MetricValue& value) { return MetricName(value.target, value.metric); };
  for (const MetricValue& value : metrics) {
    width = std::max(width, name(value).size());
  }
  for (const MetricValue& value : metrics) {
    Print("  {:<{}}  {}\n", name(value), width, value.Text());
  }
}

void PrintEvaluation(const std::string& what, const Evaluation& evaluation, bool details) {
  const std::string rows = Counted(evaluation.samples, "row{s}");
  if (evaluation.classification) {
    const ClassificationMetrics& metrics = *evaluation.classification;
    const bool known = std::isfinite(evaluation.loss);
    Print("{}: accuracy {} %, macro F1 {} %, {}{}\n", what, PercentText(metrics.accuracy),
          PercentText(metrics.macro_f1), known ? fmt::format("loss {:.5g}, ", evaluation.loss) : "", rows);
    if (metrics.unknown_labels > 0) {
      PrintNote(stdout, "{} {} that training did not see, counted as wrong\n", WithThousands(metrics.unknown_labels),
                metrics.unknown_labels == 1 ? "row is of a class" : "rows are of classes");
    }
    if (!std::isnan(metrics.mean_cost)) {
      Print("{}: mean cost {:.4f} a row\n", what, metrics.mean_cost);
    }
    if (details) {
      PrintClasses(metrics);
      PrintConfusion(metrics);
    }
    return;
  }
  for (const RegressionMetrics& metrics : evaluation.regression) {
    if (metrics.level > 0) {
      Print("{}: {}: pinball loss {}, {:.2f} % of rows at or below (should be {:g} %), {}\n", what, metrics.name,
            FigureText(metrics.pinball), 100 * metrics.below, 100 * metrics.level, rows);
      continue;
    }
    Print("{}: {}: MSE {}, RMSE {}, MAE {}, R² {:.5f}, {}\n", what, metrics.name, FigureText(metrics.mse),
          FigureText(metrics.rmse), FigureText(metrics.mae), metrics.r2, rows);
    if (!metrics.baseline.empty()) {
      Print("{}: naive guess ({}): MAE {}, RMSE {}; skill {:+.2f} % of its MAE\n", what, metrics.baseline,
            FigureText(metrics.baseline_mae), FigureText(metrics.baseline_rmse), 100 * metrics.skill);
    }
  }
}

}  // namespace lamina::cli
