// Files and typed values to answers, answers to words.
#include "prediction.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/tune/profile.h"
#include "number_text.h"
#include "problem.h"

namespace lamina::gui {
namespace {

// A row of numbers; nothing where they are NaN.
QString NumbersText(const Matrix& values, int64_t row) {
  QStringList numbers;
  for (int64_t j = 0; j < values.cols() && !std::isnan(values.Row<double>(row)[j]); ++j) {
    numbers << QString::number(values.Row<double>(row)[j], 'g', 7);
  }
  return numbers.join(QStringLiteral(", "));
}

QString ClassText(const Model& model, int32_t index) {
  return index < 0 ? QString() : FromText(model.preprocessor.targets().class_names()[static_cast<size_t>(index)]);
}

// The columns of the table that are inputs of the model, by name.
void FindInputs(FilePrediction& prediction) {
  const Table& table = prediction.table;
  const std::vector<std::string> names = table.ColumnNames();
  for (const FittedColumn& input : prediction.model->preprocessor.inputs().columns()) {
    const auto found = std::find(names.begin(), names.end(), input.name);
    if (found == names.end()) {
      prediction.input_columns.clear();
      return;
    }
    prediction.input_columns.push_back(found - names.begin());
  }
  std::vector<int64_t> others;
  for (int64_t i = 0; i < std::ssize(names); ++i) {
    if (std::find(prediction.input_columns.begin(), prediction.input_columns.end(), i) ==
        prediction.input_columns.end()) {
      others.push_back(i);
    }
  }
  prediction.pictures = PicturesIn(table, others);
}

std::shared_ptr<FilePrediction> Predict(const std::shared_ptr<const Model>& model, Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const std::unique_ptr<Backend> backend = MakeTunedBackend("auto", {}, nullptr);
  auto prediction = std::make_shared<FilePrediction>();
  prediction->model = model;
  prediction->answers = AnswerTable(*model, *backend, table, rows, {Truth::kWherePresent, {}});
  prediction->table = std::move(table);
  FindInputs(*prediction);
  return prediction;
}

// Beyond the numbers of the training by more than half their span; older models do not know it.
bool IsFar(const FittedColumn& fitted, double value) {
  if (!fitted.span || std::isnan(value)) {
    return false;
  }
  const double margin = (fitted.span->high - fitted.span->low) / 2;
  return value < fitted.span->low - margin || value > fitted.span->high + margin;
}

}  // namespace

QString FilePrediction::Text(int64_t row) const {
  return answers.classes.empty() ? NumbersText(answers.outputs, row)
                                 : ClassText(*model, answers.classes[static_cast<size_t>(row)]);
}

QString FilePrediction::Truth(int64_t row) const {
  if (!answers.labels.empty()) {
    return ClassText(*model, answers.labels[static_cast<size_t>(row)]);
  }
  return answers.truth.empty() ? QString() : NumbersText(answers.truth, row);
}

bool FilePrediction::IsWrong(int64_t row) const {
  const auto at = static_cast<size_t>(row);
  return !answers.classes.empty() && !answers.labels.empty() && answers.has_answer(row) && !Truth(row).isEmpty() &&
         answers.labels[at] != answers.classes[at];
}

QStringList FilePrediction::FarInputs(int64_t row) const {
  QStringList far;
  for (size_t i = 0; i < input_columns.size() && !pictures; ++i) {  // the edges of pictures are seldom lit
    const FittedColumn& fitted = model->preprocessor.inputs().columns()[i];
    const Column& column = table.columns[static_cast<size_t>(input_columns[i])];
    if (column.kind == ColumnKind::kNumber && IsFar(fitted, column.Number(row))) {
      const auto text = [&](double value) { return fitted.is_date ? FromText(DateText(value)) : NumberText(value); };
      far << QObject::tr("%1 = %2 is far outside the values of the training, %3 to %4")
                 .arg(FromText(fitted.name), text(column.Number(row)), text(fitted.span->low), text(fitted.span->high));
    }
  }
  return far;
}

FilePrediction::Far FilePrediction::FarRows() const {
  Far far;
  for (int64_t row = 0; row < table.rows; ++row) {
    for (size_t i = 0; i < input_columns.size() && !pictures; ++i) {
      const Column& column = table.columns[static_cast<size_t>(input_columns[i])];
      if (column.kind == ColumnKind::kNumber && IsFar(model->preprocessor.inputs().columns()[i], column.Number(row))) {
        far.first = far.rows++ == 0 ? row : far.first;
        break;
      }
    }
  }
  return far;
}

QString OutputName(const Model& model) {
  const Activation& last = model.network.layers().back().activation;
  const bool probability =
      last.is_softmax() || (last.name() == "sigmoid" && model.preprocessor.targets().form().single_output);
  return probability ? QObject::tr("probability") : QObject::tr("output of that class");
}

double FilePrediction::Confidence(int64_t row) const {
  if (answers.classes.empty() || !answers.has_answer(row)) {
    return std::nan("");
  }
  const auto predicted = static_cast<size_t>(answers.classes[static_cast<size_t>(row)]);
  return ClassOutputs(*model, answers.outputs.Row<double>(row))[predicted];
}

std::shared_ptr<const FilePrediction> PredictFile(const std::shared_ptr<const Model>& model, const QString& path,
                                                  const ReadOptions& options) {
  Table table = ReadTableFor(*model, path.toStdString(), options);
  auto prediction = Predict(model, table);
  prediction->path = path;
  return prediction;
}

std::shared_ptr<const FilePrediction> PredictValues(const std::shared_ptr<const Model>& model,
                                                    const std::vector<std::string>& values) {
  const std::vector<std::string_view> cells(values.begin(), values.end());
  try {
    Table table = TableOfCells(*model, cells, {.strict = true});  // who types can correct
    return Predict(model, table);
  } catch (const Error& error) {  // there is but one row
    std::string message = error.message();
    if (const size_t at = message.find(" in row 0 (counted from 0)"); at != std::string::npos) {
      message.resize(at);
    }
    throw Error(error.code(), message, error.context());
  }
}

}  // namespace lamina::gui
