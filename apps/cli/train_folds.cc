// Folds as text.
#include "train_folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "interrupt.h"
#include "lamina/base/text.h"
#include "lamina/platform/process.h"
#include "lamina/run/portfolio.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"
#include "print.h"
#include "progress.h"
#include "tables.h"

namespace lamina::cli {
namespace {

std::string RowsText(int64_t rows) { return Counted(rows, "row{s}"); }

// Before the first fold: what all of them have.
void PrintFoldsStart(const TrainSettings& settings, const TrainSession& session) {
  Print("{}: {} folds; {} inputs, {}\n", settings.data, settings.folds, session.model().network.inputs(),
        TargetText(session.model()));
  PrintDecisions(session.decisions());
}

void PrintFold(const TrainSettings& settings, const FoldResult& fold) {
  std::string metrics;
  for (const MetricValue& value : fold.metrics) {
    metrics += fmt::format("{}{}{} {}", metrics.empty() ? "" : ", ", value.target.empty() ? "" : value.target + " ",
                           value.metric.Title(), value.reason.empty() ? value.metric.ValueText(value.value) : "-");
  }
  const std::string epochs =
      LearnsByGradient(settings) ? fmt::format(", best epoch {} of {}", fold.best_epoch, fold.epochs) : "";
  Print("fold {}/{}: {} of {}{}, {}\n", fold.fold, settings.folds, metrics, RowsText(fold.test_rows), epochs,
        DurationText(fold.train_seconds));
  std::fflush(stdout);
}

void PrintPortfolioStart(const TrainSettings& settings, const Preprocessor& encoding) {
  const auto classes = std::ssize(encoding.targets().class_names());
  Print("{}: effort best, {} within {}; {}, {}\n", settings.data, Counted(std::ssize(Portfolio()), "model{s}"),
        DurationText(ParseTimeLimit_seconds(settings.time_limit).value_or(kLimitOfBest_seconds)),
        Counted(encoding.inputs().count(), "input{s}"),
        classes > 0 ? fmt::format("{} classes", classes) : Counted(encoding.targets().count(), "target{s}"));
  std::fflush(stdout);
}

// What a model brought.
void PrintPart(const PortfolioPart& part, int64_t number, int64_t count, double seconds_left) {
  const std::string place = fmt::format("{}/{} {}", number, count, part.name);
  if (part.left_out.empty()) {
    Print("{}: loss {:.4g} of rows left out, with those before {:.4g}; {}, {} left\n", place, part.loss, part.mixed,
          DurationText(part.seconds), DurationText(seconds_left));
  } else {
    Print("{}: {}\n", place, part.left_out);
  }
  std::fflush(stdout);
}

void PrintShares(const std::vector<PortfolioPart>& parts) {
  std::string text;
  for (const PortfolioPart& part : parts) {
    if (part.share > 0) {
      text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * part.share, part.name);
    }
  }
  Print("answer: {}\n", text);
}

}  // namespace

CrossValidation CrossValidateWithProgress(const TrainSettings& settings, const RawData& raw, bool text) {
  std::optional<ProgressPrinter> printer;
  CrossValidationCallbacks callbacks;
  callbacks.train.stop_requested = Interrupted;
  callbacks.train.abandon_requested = Interrupted;
  if (text) {
    callbacks.started = [&](int64_t fold, const TrainSession& session) {
      if (fold == 1) {
        PrintFoldsStart(settings, session);
      }
      printer.emplace(session.options().epochs, platform::IsTerminal(platform::kStandardOutput));
    };
    callbacks.planned = [&](const Preprocessor& encoding) { PrintPortfolioStart(settings, encoding); };
    callbacks.part_done = &PrintPart;
    callbacks.train.progress = [&](const TrainProgress& progress) { printer->Update(progress); };
    callbacks.done = [&](const FoldResult& fold) {
      printer->Finish();
      PrintFold(settings, fold);
    };
  }
  return CrossValidate(settings, raw, callbacks);
}

void PrintCrossValidation(const TrainSettings& settings, const CrossValidation& result) {
  if (!result.portfolio.empty()) {
    PrintShares(result.portfolio);
  }
  size_t name = 0;
  const std::string header = "mean ± spread of the folds";
  size_t mean = header.size() - 1;  // in characters
  for (const MetricSpread& spread : result.metrics) {
    name = std::max(name, MetricName(spread.all.target, spread.all.metric).size());
    mean = std::max(mean, spread.Text().size());
  }
  Print("\n{:<{}}  {:<{}}  {}\n", "", name, header, mean, "all out-of-fold answers (95 % interval)");
  for (const MetricSpread& spread : result.metrics) {
    Print("{:<{}}  {:<{}}  {}\n", MetricName(spread.all.target, spread.all.metric), name, spread.Text(), mean,
          spread.all.Text());
  }
  if (result.found.temperature) {
    Print("temperature {:.4g}, the mean of the folds'\n", *result.found.temperature);
  }
  if (const std::optional<AnswerIntervals>& intervals = result.found.intervals) {
    for (size_t j = 0; j < intervals->half_widths.size(); ++j) {
      Print("{:g} % intervals: {} ± {}\n", 100 * intervals->level, result.out_of_fold.targets[j],
            FigureText(intervals->half_widths[j]));
    }
  }
  for (const std::string& remark : result.remarks) {
    PrintNote(remark);
  }
  if (!settings.out_of_fold.empty()) {
    Print("wrote {}\n", settings.out_of_fold);
  }
  std::fflush(stdout);
}

}  // namespace lamina::cli
