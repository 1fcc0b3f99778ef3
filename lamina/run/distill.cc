// Distillation: the teacher answers the rows, and rows made up near them. One network is trained on these answers, then
// compared with the teacher on other rows. Training is left to the Trainer, making rows up to made_up_rows.cc, reading
// and writing files to the caller.
#include "lamina/run/distill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/encode/soft_targets.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/predictions.h"
#include "lamina/run/made_up_rows.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/validation.h"
#include "lamina/train/trainer.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

constexpr uint64_t kSeedOfValidation = 0xC4EC;
constexpr uint64_t kSeedOfCheck = 0x0DD5;
constexpr int64_t kRowsChecked = 1000;
constexpr int64_t kLeastTaught = 10;

bool IsOfClasses(const Model& model) { return model.preprocessor.targets().task() == Task::kClassification; }

TrainSettings SettingsOfStudent(const Model& teacher, const std::string& data, const DistillOptions& options) {
  TrainSettings settings;
  settings.data = data;
  settings.target = teacher.preprocessor.targets().names();
  settings.task = IsOfClasses(teacher) ? "classification" : "regression";
  settings.recipe = kTabularRecipe;
  settings.method = kBackpropagation;
  settings.split = {1, 0, 0};
  settings.label_smoothing = IsOfClasses(teacher) ? std::optional(0.0) : std::nullopt;
  settings.monitor = kMonitorLoss;
  settings.hidden = options.hidden;
  settings.epochs = options.epochs;
  settings.seed = options.seed;
  settings.backend = options.backend;
  settings.threads = options.threads;
  return settings;
}

// What the teacher says: probabilities of the classes, or values in units of the targets. One that has no
// probabilities is sure of its class.
Matrix AnswersOf(const Model& teacher, const Backend& backend, const Matrix& features) {
  Matrix outputs = PredictRows(teacher, backend, features);
  if (!IsOfClasses(teacher)) {
    return outputs;
  }
  const int64_t classes = std::ssize(teacher.preprocessor.targets().class_names());
  const bool probabilities = AnswersProbabilities(teacher);
  const std::vector<int32_t> chosen = ClassesOf(teacher, outputs);
  Matrix answers(outputs.rows(), classes, DType::kF64);
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    double* const row = answers.Row<double>(i);
    std::fill_n(row, classes, 0.0);
    row[chosen[static_cast<size_t>(i)]] = 1;
    if (probabilities) {
      std::ranges::copy(ClassOutputs(teacher, outputs.Row<double>(i)), row);
    }
  }
  return answers;
}

int32_t LikeliestClass(const Matrix& answers, int64_t i) {
  const double* const row = answers.Row<double>(i);
  return static_cast<int32_t>(std::max_element(row, row + answers.cols()) - row);
}

// Rows with their answers as the network learns them; values that are outputs of their own, as quantiles are, too.
Dataset Taught(Matrix features, const Matrix& answers, const TargetEncoder& targets) {
  Dataset rows;
  rows.targets = Matrix(features.rows(), targets.count(), features.dtype());
  rows.features = std::move(features);
  if (targets.task() == Task::kClassification) {
    LearnSoftTargets(answers, targets, rows);
    for (int64_t i = 0; i < answers.rows(); ++i) {
      rows.labels.push_back(LikeliestClass(answers, i));
    }
    return rows;
  }
  DispatchFloat(rows.targets.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < answers.rows(); ++i) {
      for (int64_t j = 0; j < answers.cols(); ++j) {
        rows.targets.Row<T>(i)[j] = static_cast<T>(targets.ScalingOf(j).Encode(answers.Row<double>(i)[j]));
      }
    }
  });
  return rows;
}

Matrix Above(const Matrix& first, const Matrix& second) {
  Matrix both(first.rows() + second.rows(), first.cols(), first.dtype());
  const auto row_bytes = static_cast<size_t>(first.cols() * DTypeSize_bytes(first.dtype()));
  DispatchFloat(first.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < both.rows(); ++i) {
      const T* const row = i < first.rows() ? first.Row<T>(i) : second.Row<T>(i - first.rows());
      std::memcpy(both.Row<T>(i), row, row_bytes);
    }
  });
  return both;
}

// R² of `answers` to `truth`, the mean over the columns; a constant column counts where it is met.
double MeanRSquared(const Matrix& answers, const Matrix& truth) {
  double sum = 0;
  for (int64_t j = 0; j < truth.cols(); ++j) {
    double mean = 0;
    for (int64_t i = 0; i < truth.rows(); ++i) {
      mean += truth.Row<double>(i)[j] / static_cast<double>(truth.rows());
    }
    double apart = 0;
    double spread = 0;
    for (int64_t i = 0; i < truth.rows(); ++i) {
      const double value = truth.Row<double>(i)[j];
      apart += (answers.Row<double>(i)[j] - value) * (answers.Row<double>(i)[j] - value);
      spread += (value - mean) * (value - mean);
    }
    sum += spread > 0 ? 1 - apart / spread : apart > 0 ? 0 : 1;
  }
  return sum / static_cast<double>(truth.cols());
}

double ShareOfSameClass(const Model& student, const Matrix& outputs, const Matrix& answers) {
  const std::vector<int32_t> chosen = ClassesOf(student, outputs);
  int64_t same = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    same += chosen[i] == LikeliestClass(answers, static_cast<int64_t>(i)) ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(answers.rows());
}

// The encoding stays the teacher's; the form of the targets is that of the network's output.
Preprocessor EncodingOfStudent(const Model& teacher, const TrainSettings& settings) {
  Preprocessor encoding = teacher.preprocessor;
  TargetForm form = FormFor(ResolveFor(settings, encoding.targets()), encoding.targets());
  form.quantiles = encoding.targets().form().quantiles;
  encoding.set_form(form);
  return encoding;
}

class Distillation {
 public:
  Distillation(const Model& teacher, const DistillOptions& options, std::string data)
      : teacher_(teacher),
        options_(options),
        settings_(SettingsOfStudent(teacher, data, options)),
        data_name_(std::move(data)) {
    if (teacher.preprocessor.inputs().count() == 0) {
      throw Error(ErrorCode::kUnsupported, "the model has no columns: it is a network alone, which no table teaches",
                  {.remedy = "Use a model of lamina train."});
    }
    ValidateSettings(settings_);
    data_.preprocessor = EncodingOfStudent(teacher, settings_);
  }

  Distilled Run(const Table& table, std::span<const int64_t> rows, const TrainCallbacks& callbacks) {
    const Stopwatch watch;
    Encode(table, rows);
    const ResolvedSettings resolved = ResolveFor(settings_, RowsOf(data_));
    Model& student = result_.model;
    student = BuildModel(resolved, data_);
    student.profile = teacher_.profile;
    TrainOptions options = TrainOptionsFrom(resolved, student.loss, RowsOf(data_));
    options.step.class_threshold = student.preprocessor.targets().class_threshold();
    const std::string_view name = BackendForTraining(options_.backend, student.network.layers(), options.batch,
                                                     student.network.dtype(), options.StateCount());
    const auto backend = MakeTunedBackend(name, {.threads = options_.threads}, nullptr);
    Trainer trainer(student.network, *backend, options);
    const History& history = trainer.Run(data_.train, &data_.validation, callbacks);
    result_.epochs = std::ssize(history.epochs);
    result_.interrupted = history.stop_reason == "interrupted";
    Check(*backend);
    result_.seconds = watch.Elapsed_seconds();
    student.training["distilled"] = ToJson(result_);
    student.training["distilled"]["networks"] = teacher_.networks();
    student.training["epochs"] = result_.epochs;
    student.training["best_epoch"] = history.best_epoch;
    student.training["batch"] = options.batch;
    student.training["rows"] = {{"train", data_.train.size()}, {"validation", data_.validation.size()}, {"test", 0}};
    return std::move(result_);
  }

 private:
  void Encode(const Table& table, std::span<const int64_t> rows) {
    const InputEncoder& inputs = teacher_.preprocessor.inputs();
    const Dataset given = BoundTable(teacher_.preprocessor, table).EncodeInputs(rows, teacher_.network.dtype());
    result_.rows = given.size();
    if (result_.rows < kLeastTaught) {
      throw Error(ErrorCode::kBadData,
                  fmt::format("{} without missing values, and distilling needs {}", Counted(result_.rows, "row{s}"),
                              kLeastTaught),
                  {.file = table.source, .remedy = "Give more rows: they need no target."});
    }
    const auto backend = MakeTunedBackend(options_.backend, {.threads = options_.threads}, nullptr);
    result_.made_up = options_.made_up.value_or(MadeUpRowsFor(result_.rows, inputs));
    Matrix features =
        Above(given.features, MakeUpRows(given.features, inputs, {.rows = result_.made_up, .seed = options_.seed}));
    const TargetEncoder& targets = data_.preprocessor.targets();
    const Matrix answers = AnswersOf(teacher_, *backend, features);
    data_.train = Taught(std::move(features), answers, targets);
    Matrix validation = RowsNear(given.features, kSeedOfValidation);
    const Matrix validation_answers = AnswersOf(teacher_, *backend, validation);
    data_.validation = Taught(std::move(validation), validation_answers, targets);
    checked_ = RowsNear(given.features, kSeedOfCheck);
    check_answers_ = AnswersOf(teacher_, *backend, checked_);
    result_.checked = checked_.rows();
    result_.checks_learned = inputs.is_image();
  }

  // Rows that are not learned; of pictures, which are not made up, those that are.
  Matrix RowsNear(const Matrix& given, uint64_t seed) const {
    const InputEncoder& inputs = teacher_.preprocessor.inputs();
    return inputs.is_image() ? Above(given, Matrix(0, given.cols(), given.dtype()))
                             : MakeUpRows(given, inputs,
                                          {.rows = std::min(kRowsChecked, given.rows()), .seed = options_.seed ^ seed});
  }

  void Check(const Backend& backend) {
    const Matrix outputs = PredictRows(result_.model, backend, checked_);
    result_.agreement = IsOfClasses(teacher_) ? ShareOfSameClass(result_.model, outputs, check_answers_)
                                              : MeanRSquared(outputs, check_answers_);
  }

  const Model& teacher_;
  const DistillOptions& options_;
  const TrainSettings settings_;
  const std::string data_name_;
  TrainData data_;
  Matrix checked_;  // rows that neither teach nor choose the epoch
  Matrix check_answers_;
  Distilled result_;
};

}  // namespace

int64_t MadeUpRowsFor(int64_t rows, const InputEncoder& inputs) {
  constexpr int64_t kMostOfARow = 4;
  constexpr int64_t kRowsTaught = 20'000;
  return inputs.is_image() ? 0 : std::clamp(kRowsTaught - rows, int64_t{0}, kMostOfARow * rows);
}

Distilled Distill(const Model& teacher, const Table& table, std::span<const int64_t> rows,
                  const DistillOptions& options, const TrainCallbacks& callbacks) {
  return Distillation(teacher, options, table.source).Run(table, rows, callbacks);
}

nlohmann::json ToJson(const Distilled& distilled) {
  return {{"rows", distilled.rows},           {"made_up_rows", distilled.made_up},
          {"agreement", distilled.agreement}, {"checked_rows", distilled.checked},
          {"epochs", distilled.epochs},       {"seconds", distilled.seconds}};
}

}  // namespace lamina
