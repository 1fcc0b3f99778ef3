// Signs of a training that went wrong or ended too early.
#include "lamina/run/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lamina/base/text.h"
#include "lamina/data/encode/report_text.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/run/train_data.h"
#include "lamina/run/tune_for_int8.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"

namespace lamina {
namespace {

constexpr double kStillFalling = 0.01;  // of the loss, over the last quarter of the epochs
constexpr double kChanceMargin = 0.005;
constexpr size_t kMostNamed = 5;
constexpr double kBalancedMargin = 0.05;  // of the mean recall of the classes above chance
constexpr int64_t kFewTestRows = 30;
constexpr double kLearntByHeart = 0.98;  // of the training rows
constexpr double kOverfittingGap = 0.2;

// Whether settings of the training are the user's: a remedy must not name one that the effort decides.
bool LeavesTrainingOpen(const TrainSession& session) { return EffortFrom(session.settings()) == Effort::kNormal; }

std::string StillFalling(const TrainSession& session, const TrainResult& result) {
  const History& history = result.history;
  const auto count = std::ssize(history.epochs);
  if (session.validation().size() == 0 || history.stop_reason != "epochs" || count < 2 ||
      history.best_epoch <= count - std::max<int64_t>(1, count / 10)) {
    return "";
  }
  const EpochRecord& before = history.epochs[static_cast<size_t>((count - 1) * 3 / 4)];
  const EpochRecord& best = history.epochs[static_cast<size_t>(history.best_epoch - 1)];
  if (!(best.validation_loss < (1 - kStillFalling) * before.validation_loss)) {
    return "";
  }
  return fmt::format(
      "the validation loss was still falling at the end ({:.4g} in epoch {}, {:.4g} in epoch {}): train longer, {}",
      before.validation_loss, before.epoch, best.validation_loss, best.epoch,
      LeavesTrainingOpen(session) ? fmt::format("for example with --epochs {}", 2 * count) : "with --effort normal");
}

// Rows that were learnt by heart say nothing about others.
std::string SharedRows(std::string_view part, int64_t shared, int64_t rows) {
  return shared == 0 ? ""
                     : fmt::format(
                           "{} of the {} {} also {} among the training rows, answer included: that part looks better "
                           "than new rows will",
                           WithThousands(shared), WithThousands(rows), Plural(rows, std::string(part) + " row{s}"),
                           shared == 1 ? "stands" : "stand");
}

// The most frequent class of `data` and its share.
std::pair<size_t, double> MostFrequent(const Dataset& data, size_t classes) {
  std::vector<int64_t> counts(classes);
  for (const int32_t label : data.labels) {
    if (label >= 0) {
      ++counts[static_cast<size_t>(label)];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return {static_cast<size_t>(most - counts.begin()),
          static_cast<double>(*most) / static_cast<double>(std::max<int64_t>(1, data.size()))};
}

std::string SharedTestRows(const TrainSession& session, const TrainResult& /*result*/) {
  return SharedRows("test", session.encode_report().test_rows_in_training, session.test().size());
}

std::string SharedValidationRows(const TrainSession& session, const TrainResult& /*result*/) {
  return SharedRows("validation", session.encode_report().validation_rows_in_training, session.validation().size());
}

std::string FewTestRows(const TrainSession& session, const TrainResult& /*result*/) {
  const int64_t rows = session.test().size();
  return rows == 0 || rows >= kFewTestRows
             ? ""
             : fmt::format("the test result is of {} alone, and chance decides much of it: --folds 5 tests every row",
                           Counted(rows, "row{s}"));
}

std::string Overfits(const TrainSession& session, const TrainResult& result) {
  const History& history = result.history;
  if (!LearnsByGradient(session.settings()) || session.model().preprocessor.targets().class_names().empty() ||
      session.validation().size() == 0 || history.best_epoch < 1) {
    return "";
  }
  const EpochRecord& best = history.epochs[static_cast<size_t>(history.best_epoch - 1)];
  const double learnt = history.epochs.back().train_accuracy;
  if (!(learnt >= kLearntByHeart && learnt - best.validation_accuracy >= kOverfittingGap)) {
    return "";
  }
  return fmt::format(
      "the network learned the training rows by heart ({:.2f} % of them right, {:.2f} % of the validation rows): more "
      "rows, fewer columns (--drop) or {} help",
      100 * learnt, 100 * best.validation_accuracy, LeavesTrainingOpen(session) ? "--weight-decay" : "--effort normal");
}

// Judged by rows that did not train, where there are any.
bool TellsClassesApart(const TrainSession& session, const TrainResult& result) {
  const Evaluation judged = result.test
                                ? *result.test
                                : Evaluate(session.model(), session.backend(),
                                           session.validation().size() > 0 ? session.validation() : session.train());
  return judged.classification && TellsClassesApart(*judged.classification);
}

std::string NeverLeftChance(const TrainSession& session, const TrainResult& result) {
  const History& history = result.history;
  const std::vector<std::string>& classes = session.model().preprocessor.targets().class_names();
  if (classes.empty() || history.epochs.empty()) {
    return "";
  }
  const bool validated = session.validation().size() > 0;
  double best = 0;
  for (const EpochRecord& record : history.epochs) {
    best = std::max(best, validated ? record.validation_accuracy : record.train_accuracy);
  }
  const auto [name, share] = MostFrequent(validated ? session.validation() : session.train(), classes.size());
  if (best > share + kChanceMargin || share >= 1 || TellsClassesApart(session, result)) {
    return "";
  }
  const bool steps = MethodFrom(session.settings()) == Method::kBackpropagation;
  return fmt::format("the accuracy never left that of always answering '{}' ({:.2f} %): try {}other inputs",
                     classes[name], 100 * share,
                     !steps                        ? ""
                     : LeavesTrainingOpen(session) ? "another --learning-rate (a tenth, ten times), more neurons or "
                                                   : "--effort normal or ");
}

std::string SomeNeverPredicted(const TrainSession& session, const TrainResult& result) {
  if (!result.test || !result.test->classification) {
    return "";
  }
  const std::vector<std::string> never = NeverPredicted(*result.test->classification);
  const bool weighted = !session.settings().class_weights.empty();
  return never.empty() ? ""
                       : fmt::format("{}{}", fmt::join(never, "; "),
                                     weighted ? "" : ": --class-weights balanced makes rare classes count");
}

std::string InIntegers(const TrainSession& /*session*/, const TrainResult& result) {
  return result.int8 ? OutcomeText(*result.int8) : "";
}

constexpr RemarkRow kRemarks[] = {{"8-bit integers", &InIntegers},
                                  {"test rows in training", &SharedTestRows},
                                  {"validation rows in training", &SharedValidationRows},
                                  {"few test rows", &FewTestRows},
                                  {"loss still falling", &StillFalling},
                                  {"overfitting", &Overfits},
                                  {"no better than chance", &NeverLeftChance},
                                  {"class never predicted", &SomeNeverPredicted}};

}  // namespace

bool TellsClassesApart(const ClassificationMetrics& metrics) {
  const auto present = std::count_if(metrics.classes.begin(), metrics.classes.end(),
                                     [](const ClassMetrics& each) { return each.support > 0; });
  return metrics.macro_recall > 1.0 / static_cast<double>(std::max<ptrdiff_t>(1, present)) + kBalancedMargin;
}

std::vector<std::string> NeverPredicted(const ClassificationMetrics& metrics) {
  std::vector<std::string> texts;
  for (size_t c = 0; c < metrics.classes.size(); ++c) {
    int64_t predicted = 0;
    for (const std::vector<int64_t>& row : metrics.confusion) {
      predicted += row[c];
    }
    const int64_t rows = metrics.classes[c].support;
    if (predicted == 0 && rows > 0) {
      texts.push_back(fmt::format("class '{}' is never predicted ({} of it)", metrics.classes[c].name,
                                  Counted(rows, "row{s}") + (rows == 1 ? " is" : " are")));
    }
  }
  if (texts.size() > kMostNamed) {
    texts.resize(kMostNamed);
    texts.emplace_back("and so are other classes");
  }
  return texts;
}

std::vector<std::string> NotesOn(const TrainSession& session) {
  std::vector<std::string> notes = NotesOn(session.encode_report(), /*asked=*/false);
  if (const int64_t rows = session.left_out_rows(); rows > 0) {
    notes.push_back(fmt::format("{} left out: a value is missing", Counted(rows, "row{s}")));
  }
  const Dataset& train = session.train();
  const EncodedSize size = SizeOf(
      session.model().preprocessor,
      train.files.empty() ? train.size() + session.validation().size() + session.test().size() : 0, train.dtype());
  const bool kernels = MethodFrom(session.settings()) == Method::kKernelMachine;
  for (const std::string& note :
       {MemoryNote(size, session.model().preprocessor),
        kernels ? KernelCostNote(train.size(), train.inputs(), train.targets.cols(), session.settings().prune)
                : std::string(),
        NewLabelsNote(session.encode_report()), session.recipe_remark()}) {
    if (!note.empty()) {
      notes.push_back(note);
    }
  }
  return notes;
}

std::span<const RemarkRow> RemarkTable() { return kRemarks; }

std::vector<std::string> RemarksOn(const TrainSession& session, const TrainResult& result) {
  std::vector<std::string> remarks;
  for (const RemarkRow& row : RemarkTable()) {
    if (std::string text = row.text(session, result); !text.empty()) {
      remarks.push_back(std::move(text));
    }
  }
  return remarks;
}

}  // namespace lamina
