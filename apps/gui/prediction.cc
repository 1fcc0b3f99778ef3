// Files and typed values to answers, answers to words.
#include "prediction.h"

#include <QStringList>

#include <cmath>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/base/text.h"
#include "lamina/data/files/csv.h"
#include "lamina/tune/profile.h"
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

std::shared_ptr<FilePrediction> Predict(const std::shared_ptr<const Model>& model, Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  const std::unique_ptr<Backend> backend = MakeTunedBackend("auto", {}, nullptr);
  auto prediction = std::make_shared<FilePrediction>();
  prediction->model = model;
  prediction->answers = AnswerTable(*model, *backend, table, rows, {Truth::kWherePresent, {}});
  return prediction;
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

double FilePrediction::Confidence(int64_t row) const {
  if (answers.classes.empty() || !answers.has_answer(row)) {
    return std::nan("");
  }
  const auto predicted = static_cast<size_t>(answers.classes[static_cast<size_t>(row)]);
  return ClassOutputs(*model, answers.outputs.Row<double>(row))[predicted];
}

std::shared_ptr<const FilePrediction> PredictFile(const std::shared_ptr<const Model>& model, const QString& path) {
  Table table = ReadTableFor(*model, path.toStdString());
  auto prediction = Predict(model, table);
  prediction->path = path;
  return prediction;
}

std::shared_ptr<const FilePrediction> PredictValues(const std::shared_ptr<const Model>& model,
                                                    const std::vector<std::string>& values) {
  std::string names;
  std::string line;
  for (size_t i = 0; i < values.size(); ++i) {
    names += (i == 0 ? "" : ",") + CsvField(model->preprocessor.inputs().columns()[i].name);
    line += (i == 0 ? "" : ",") + CsvField(values[i]);
  }
  ReadOptions options;
  options.header = Header::kYes;
  options.separator = ',';
  options.text_columns_if_present = model->preprocessor.TextColumns();
  Table table = ReadCsv(names + "\n" + (line.empty() ? "\"\"" : line) + "\n", "", options);
  table.lines.clear();  // of a file that is none
  return Predict(model, table);
}

}  // namespace lamina::gui
