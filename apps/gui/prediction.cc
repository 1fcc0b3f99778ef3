// Reading, encoding, predicting.
#include "prediction.h"

#include <QStringList>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/data/csv.h"
#include "lamina/tune/profile.h"
#include "problem.h"

namespace lamina::gui {
namespace {

constexpr int64_t kScatterPoints = 2000;

std::vector<int64_t> AllRows(const Table& table) {
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

void RequireRawRows(const Model& model) {
  if (model.preprocessor.input_count() == 0) {
    throw Error(ErrorCode::kBadModel, "the model holds a bare network, without the encoding of raw rows",
                {.remedy = "Train one here or with lamina train."});
  }
}

std::string CsvField(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return text.find_first_of(",\"\r\n") == std::string::npos ? text : quoted + '"';
}

QString NumbersText(const Matrix& values, int64_t row) {
  QStringList numbers;
  for (int64_t j = 0; j < values.cols(); ++j) {
    numbers << QString::number(values.Row<double>(row)[j], 'g', 7);
  }
  return numbers.join(QStringLiteral(", "));
}

QString ClassText(const Model& model, int32_t index) {
  return FromText(model.preprocessor.class_names()[static_cast<size_t>(index)]);
}

// Targets in their own units.
Matrix UnscaledTargets(const Model& model, const Dataset& rows) {
  Matrix truth(rows.size(), rows.targets.cols(), DType::kF64);
  ConvertMatrix(rows.targets.view(), truth.view());
  model.preprocessor.UnscaleTargets(truth.view());
  return truth;
}

std::vector<QString> TruthOf(const Model& model, const Dataset& known, int64_t rows) {
  std::vector<QString> texts(static_cast<size_t>(rows));
  const Matrix numbers = known.labels.empty() ? UnscaledTargets(model, known) : Matrix();
  for (int64_t i = 0; i < known.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    texts[static_cast<size_t>(known.rows[at])] =
        known.labels.empty() ? NumbersText(numbers, i) : ClassText(model, known.labels[at]);
  }
  return texts;
}

// Everything after reading.
std::shared_ptr<FilePrediction> Predict(const std::shared_ptr<const Model>& model, const Table& table) {
  auto prediction = std::make_shared<FilePrediction>();
  prediction->model = model;
  const Preprocessor& preprocessor = model->preprocessor;
  EncodeReport report;
  const std::vector<int64_t> rows = AllRows(table);
  const Dataset inputs = preprocessor.EncodeInputs(table, rows, model->network.dtype(), &report);
  RequireAllRows(table, rows, inputs);
  const std::unique_ptr<Backend> backend = MakeTunedBackend("auto", {}, nullptr);
  prediction->outputs = PredictRows(*model, *backend, inputs.features);
  if (preprocessor.task() == Task::kClassification) {
    prediction->classes = ClassesOf(*model, prediction->outputs);
  }
  prediction->unseen_values = report.unseen_values;
  if (preprocessor.HasTargets(table)) {
    const Dataset known =
        preprocessor.Encode(table, preprocessor.UsableRows(table, rows, true), model->network.dtype());
    if (known.size() > 0) {
      prediction->evaluation = Evaluate(*model, *backend, known);
      prediction->truth = TruthOf(*model, known, table.rows);
      if (!prediction->evaluation->classification) {
        prediction->scatter = ScatterOf(*model, PredictRows(*model, *backend, known.features), known);
      }
    }
  }
  return prediction;
}

}  // namespace

std::vector<std::pair<double, double>> ScatterOf(const Model& model, const Matrix& predicted, const Dataset& rows) {
  const Matrix truth = UnscaledTargets(model, rows);
  std::vector<std::pair<double, double>> points;
  const int64_t count = std::min(kScatterPoints, rows.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i * rows.size() / count;
    points.emplace_back(truth.Row<double>(row)[0], predicted.Row<double>(row)[0]);
  }
  return points;
}

QString FilePrediction::Text(int64_t row) const {
  if (!classes.empty()) {
    return ClassText(*model, classes[static_cast<size_t>(row)]);
  }
  return NumbersText(outputs, row);
}

double FilePrediction::Confidence(int64_t row) const {
  if (classes.empty()) {
    return std::nan("");
  }
  return ClassOutputs(*model, outputs.Row<double>(row))[static_cast<size_t>(classes[static_cast<size_t>(row)])];
}

std::shared_ptr<const FilePrediction> PredictFile(const std::shared_ptr<const Model>& model, const QString& path) {
  RequireRawRows(*model);
  ReadOptions options;
  options.text_columns_if_present = model->preprocessor.TextColumns();
  const ReadResult read = ReadData(path.toStdString(), options);
  auto prediction = Predict(model, read.test ? *read.test : read.train);
  prediction->path = path;
  return prediction;
}

std::shared_ptr<const FilePrediction> PredictValues(const std::shared_ptr<const Model>& model,
                                                    const std::vector<std::string>& values) {
  RequireRawRows(*model);
  std::string names;
  std::string line;
  for (size_t i = 0; i < values.size(); ++i) {
    names += (i == 0 ? "" : ",") + CsvField(model->preprocessor.inputs()[i].name);
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
