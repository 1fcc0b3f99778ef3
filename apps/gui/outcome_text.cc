// Runs in words.
#include "outcome_text.h"

#include "lamina/base/text.h"
#include "lamina/settings/settings.h"
#include "number_text.h"
#include "problem.h"
#include "results_page.h"

namespace lamina::gui {
namespace {

bool IsBag(const TrainOutcome& outcome) { return outcome.history.stop_reason == "folds"; }

QString TogetherText(const TrainOutcome& outcome) {
  return CountText(outcome.networks, QObject::tr("network"), QObject::tr("networks"));
}

}  // namespace

QString RunText(const TrainOutcome& outcome) {
  if (outcome.search) {
    return QObject::tr("%1 of the search answer together").arg(TogetherText(outcome));
  }
  if (!LearnsByGradient(outcome.settings) && !IsBag(outcome)) {
    return QObject::tr("Trained by method %1 in %2")
        .arg(FromText(outcome.settings.method), FromText(DurationText(outcome.train_seconds)));
  }
  QString text = outcome.stopped ? QObject::tr("Stopped after %1") : QObject::tr("Trained for %1");
  text = text.arg(CountText(std::ssize(outcome.history.epochs), QObject::tr("epoch"), QObject::tr("epochs"))) +
         QObject::tr(" in %1").arg(FromText(DurationText(outcome.train_seconds)));
  if (outcome.history.stop_reason == "early_stopping") {
    text += QObject::tr(", stopped early");
  } else if (outcome.history.stop_reason == "converged") {
    text += QObject::tr(", converged");
  } else if (IsBag(outcome)) {
    text = QObject::tr("The networks of %1 folds answer together").arg(outcome.fold_count);
  }
  if (outcome.history.best_epoch > 0) {
    text += QObject::tr("; best epoch %1").arg(outcome.history.best_epoch);
  }
  return text;
}

QString ResultsTitle(const TrainOutcome& outcome) {
  if (outcome.search) {
    return QObject::tr("%1 of the search together, on the %2 rows").arg(TogetherText(outcome), outcome.evaluated_on);
  }
  if (!outcome.out_of_fold) {
    return QObject::tr("On the %1 rows").arg(outcome.evaluated_on);
  }
  return QObject::tr("%1 folds: every row as answered by a model that has not seen it").arg(outcome.fold_count);
}

QString ResultText(const TrainOutcome& outcome) {
  if (outcome.out_of_fold) {
    return FoldsText(outcome);
  }
  return QObject::tr("On the %1 rows: %2").arg(outcome.evaluated_on, EvaluationText(*outcome.evaluation));
}

}  // namespace lamina::gui
