// Counting the rows of a run before it starts.
#include "run_preview.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/meanings.h"

#include <QObject>
#include <algorithm>
#include <utility>

#include "labels.h"
#include "lamina/backend/backends.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/settings/method.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"
#include "number_text.h"
#include "problem.h"

namespace lamina::gui {
namespace {

constexpr size_t kRowsAPiece = 8192;
constexpr double kRareShare = 0.05;         // of the training rows: a class that is easily overlooked
constexpr double kRareTimes = 5;            // so many times rarer than the most frequent one
constexpr int64_t kParametersARow = 100;    // a network with more learns rows by heart
constexpr int64_t kOfRecipeTabular = 1000;  // whose steps are made for large networks

void AddReport(const EncodeReport& piece, EncodeReport& all) {
  const auto add = [](int64_t count, const std::vector<std::string>& columns, int64_t& all_count,
                      std::vector<std::string>& all_columns) {
    all_count += count;
    for (const std::string& column : columns) {
      if (std::find(all_columns.begin(), all_columns.end(), column) == all_columns.end()) {
        all_columns.push_back(column);
      }
    }
  };
  add(piece.unseen_values, piece.unseen_columns, all.unseen_values, all.unseen_columns);
  add(piece.filled_values, piece.filled_columns, all.filled_values, all.filled_columns);
  for (const EncodeReport::NewLabel& label : piece.new_labels) {
    const auto same = std::find_if(all.new_labels.begin(), all.new_labels.end(),
                                   [&](const auto& known) { return known.name == label.name; });
    if (same == all.new_labels.end()) {
      all.new_labels.push_back(label);
    } else {
      same->rows += label.rows;
    }
  }
}

// Encodes rows as the run will, for what is found on the way.
void TryEncoding(const BoundTable& table, std::span<const int64_t> rows, EncodeReport& report) {
  for (size_t first = 0; first < rows.size(); first += kRowsAPiece) {
    EncodeReport piece;
    table.Encode(rows.subspan(first, std::min(kRowsAPiece, rows.size() - first)), DType::kF32, &piece);
    AddReport(piece, report);
  }
}

RowCounts CountRows(const DataPlan& plan, const RawData& raw) {
  RowCounts counts;
  const BoundTable main(plan.preprocessor, raw.main.train);
  const auto count = [&](const std::optional<Table>& other, const std::vector<int64_t>& chosen) {
    if (other) {
      TryEncoding(BoundTable(plan.preprocessor, *other), AllRowsOf(*other), counts.report);
    } else {
      TryEncoding(main, chosen, counts.report);
    }
  };
  count(raw.validation, plan.split.validation);
  count(raw.main.test, plan.split.test);
  if (plan.preprocessor.targets().task() == Task::kClassification) {
    counts.rows_of_classes.resize(plan.preprocessor.targets().class_names().size());
    const std::vector<int64_t> train = main.UsableRows(plan.split.train, true);
    for (const int32_t label : main.EncodeTargets(train, DType::kF32).labels) {
      counts.rows_of_classes[static_cast<size_t>(std::max(label, 0))] += label < 0 ? 0 : 1;
    }
  }
  return counts;
}

// What the library takes where the settings leave it the choice.
std::map<std::string, std::string> ChosenFor(const TrainSettings& given, const RunPlan& plan) {
  TrainSettings settings = given;
  settings.method = plan.method;
  settings.recipe = plan.recipe;
  const ResolvedSettings resolved = ResolveFor(settings, plan.rows());
  const TrainOptions options = TrainOptionsFrom(resolved, plan.network.output.loss, plan.rows());
  const bool classes = plan.data.preprocessor.targets().task() == Task::kClassification;
  const std::vector<LayerSpec>& layers = plan.network.layers;
  std::map<std::string, std::string> chosen = {
      {"task", classes ? "classification" : "regression"},
      {"loss", plan.network.output.loss.Text()},
      {"output-activation", layers.back().activation.Text()},
      {"learning-rate", NumberName(options.rule.learning_rate)},
      {"weight-decay", NumberName(options.rule.weight_decay)},
      {"patience", options.patience > 0 ? std::to_string(options.patience) : "never"},
      {"patience-waves", options.patience_waves > 0 ? std::to_string(options.patience_waves) : "never"},
      {"epochs", std::to_string(options.epochs)},
      {"batch", std::to_string(options.batch)},
      {"keep", std::string(KeepName(options.KeepsBest(plan.validation_rows > 0) ? Keep::kBest : Keep::kLast))}};
  Attempt([&] {
    const std::string_view backend = BackendForTraining(settings.backend, layers, options.batch,
                                                        ParseDType(settings.dtype), options.rule.StateCount());
    chosen["backend"] = FindBackend(backend).name;
  });
  if (!classes && settings.target_scale == kAutoText) {
    chosen["target-scale"] = "standardize";
  }
  chosen["method"] = LearnsByGradient(settings) ? std::string(kBackpropagation) : plan.method;
  if (MethodReads(settings, "recipe")) {
    chosen["recipe"] = plan.recipe;
    for (auto& [name, text] : RecipeChoices(resolved)) {
      chosen[name] = std::move(text);
    }
  }
  std::erase_if(chosen, [&](const auto& each) {
    const std::string text = SettingText(given, each.first);
    return !text.empty() && text != kAutoText;
  });
  return chosen;
}

QString Count(int64_t count) { return FromText(WithThousands(count)); }

}  // namespace

RunPreview PreviewRun(const TrainSettings& given, const RawData& raw, const std::shared_ptr<const RowCounts>& known) {
  TrainSettings settings = given;
  if (settings.folds > 0 && settings.fold == 0) {
    settings.fold = 1;
  }
  RunPreview preview{PlanRun(settings, raw), nullptr, {}};
  const DataOptions options = DataOptionsFrom(settings, raw);
  if (known != nullptr && known->options == options) {
    preview.rows = known;
  } else {
    auto counts = std::make_shared<RowCounts>(CountRows(preview.data, raw));
    counts->options = options;
    preview.rows = counts;
  }
  preview.chosen = ChosenFor(settings, preview);
  preview.folds = EffortFrom(given) == Effort::kBest ? kFoldsOfBest : given.fold == 0 ? given.folds : 0;
  return preview;
}

QString RunPreview::Text() const {
  const TargetEncoder& targets = data.preprocessor.targets();
  QStringList names;
  for (const std::string& name : targets.names()) {
    names << FromText(name);
  }
  const QString target =
      names.size() > 3 ? QObject::tr("%1 columns").arg(names.size()) : names.join(QStringLiteral(", "));
  QString text = targets.class_names().empty()
                     ? QObject::tr("Ready: the number %1").arg(target)
                     : QObject::tr("Ready: %1 classes of %2").arg(Count(std::ssize(targets.class_names())), target);
  text += folds > 0 ? QObject::tr("; %1 folds of %2 rows, then all of them")
                          .arg(Count(folds), Count(train_rows + validation_rows + test_rows))
                    : QObject::tr("; %1 training, %2 validation and %3 test rows")
                          .arg(Count(train_rows), Count(validation_rows), Count(test_rows));
  if (left_out_rows > 0) {
    text += QObject::tr(" (%1 left out for missing values)").arg(Count(left_out_rows));
  }
  return text + QStringLiteral("; ") +
         QStringList{CountText(data.preprocessor.inputs().count(), QObject::tr("input"), QObject::tr("inputs")),
                     CountText(targets.count(), QObject::tr("output"), QObject::tr("outputs")),
                     CountText(network.parameter_count(), QObject::tr("parameter"), QObject::tr("parameters"))}
             .join(QStringLiteral(", "));
}

QStringList RunPreview::Notes() const {
  QStringList notes;
  for (const ColumnDecision& decision : data.decisions) {
    notes << QObject::tr("%1: %2 (otherwise: %3).")
                 .arg(FromText(decision.column), FromText(decision.what), WithLabels(FromText(decision.otherwise)));
  }
  const EncodeReport& report = rows->report;
  if (report.filled_values > 0) {
    notes << QObject::tr("%1 missing in validation and test rows are filled in, in %2.")
                 .arg(CountText(report.filled_values, QObject::tr("value"), QObject::tr("values")),
                      FromText(ChoiceText(report.filled_columns)));
  }
  if (report.unseen_values > 0) {
    notes << QObject::tr("%1 in validation and test rows that training rows do not have, in %2: they become zeros.")
                 .arg(CountText(report.unseen_values, QObject::tr("value"), QObject::tr("values")),
                      FromText(ChoiceText(report.unseen_columns)));
  }
  for (const EncodeReport::NewLabel& label : report.new_labels) {
    if (label.class_name.empty()) {
      notes << QObject::tr("“%1” (%2) is not among the training rows: it can only be answered wrongly.")
                   .arg(FromText(label.name), CountText(label.rows, QObject::tr("row"), QObject::tr("rows")));
    }
  }
  const TargetEncoder& targets = data.preprocessor.targets();
  const std::vector<int64_t>& classes = rows->rows_of_classes;
  if (!classes.empty()) {
    const auto [rare, frequent] = std::minmax_element(classes.begin(), classes.end());
    const double share = static_cast<double>(*rare) / static_cast<double>(std::max<int64_t>(1, train_rows));
    if (share<kRareShare&& static_cast<double>(*frequent)> kRareTimes * static_cast<double>(*rare)) {
      notes << QObject::tr("Class “%1” has %2 % of the training rows: “%3” balanced makes it count.")
                   .arg(FromText(targets.class_names()[static_cast<size_t>(rare - classes.begin())]),
                        QString::number(100 * share, 'f', 1), PlainLabelOf("class-weights"));
    }
  }
  const bool tabular = recipe != kPlainRecipe;
  const int64_t most = (tabular ? kOfRecipeTabular : kParametersARow) * std::max<int64_t>(1, train_rows);
  if (network.parameter_count() > most) {
    notes << QObject::tr("%1 parameters for %2 are very many: %3.")
                 .arg(Count(network.parameter_count()),
                      CountText(train_rows, QObject::tr("training row"), QObject::tr("training rows")),
                      tabular ? QObject::tr("recipe plain has fewer, and more rows help most")
                              : QObject::tr("a smaller network will do"));
  }
  if (!recipe_remark.empty()) {
    notes << RemarkOnRecipe() + QLatin1Char('.');
  }
  if (train_rows > 0 && test_rows == 0 && folds == 0) {
    notes << QObject::tr("No test rows: the result will be that of rows that training looks at.");
  }
  return notes;
}

}  // namespace lamina::gui
