// Blocks of encoded columns moved between rows: what a column is encoded to does not matter.
#include "lamina/model/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/base/nan.h"
#include "lamina/base/random.h"
#include "lamina/base/text.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/predictions.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr uint64_t kShuffleStream = 0x5A0FF1E;
constexpr uint64_t kShapleyStream = 0x54A91E7;
constexpr int64_t kBatchElements = 1 << 22;  // of rows made for one pass of the network

const std::vector<FittedColumn>& ColumnsOf(const ExplainedRows& rows) {
  return rows.model.preprocessor.inputs().columns();
}

int64_t Bytes(const ExplainedRows& rows, int64_t elements) {
  return elements * DTypeSize_bytes(rows.data.features.dtype());
}

char* CellAt(Matrix& matrix, int64_t row, int64_t place) {
  return static_cast<char*>(matrix.data()) + (row * matrix.cols() + place) * DTypeSize_bytes(matrix.dtype());
}

const char* CellAt(const Matrix& matrix, int64_t row, int64_t place) {
  return static_cast<const char*>(matrix.data()) + (row * matrix.cols() + place) * DTypeSize_bytes(matrix.dtype());
}

// The numbers that a column is encoded to, from one row to another.
void CopyBlock(const ExplainedRows& rows, const FittedColumn& column, const Matrix& from, int64_t from_row, Matrix& to,
               int64_t to_row) {
  std::memcpy(CellAt(to, to_row, column.place), CellAt(from, from_row, column.place),
              static_cast<size_t>(Bytes(rows, column.width())));
}

void CopyRow(const ExplainedRows& rows, const Matrix& from, int64_t from_row, Matrix& to, int64_t to_row) {
  std::memcpy(CellAt(to, to_row, 0), CellAt(from, from_row, 0), static_cast<size_t>(Bytes(rows, from.cols())));
}

// A number a class, or a target in its units.
std::vector<std::vector<double>> AnswersTo(const ExplainedRows& rows, const Matrix& features) {
  const Matrix outputs = PredictRows(rows.model, rows.backend, features);
  const bool classes = rows.model.preprocessor.targets().task() == Task::kClassification;
  std::vector<std::vector<double>> answers;
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    answers.push_back(classes ? ClassOutputs(rows.model, row) : std::vector<double>(row, row + outputs.cols()));
  }
  return answers;
}

double MetricOn(const ExplainedRows& rows, const Matrix& features, const Metric& metric) {
  return MeanOverTargets(metric,
                         ScoreDataset(rows.model, NetworkOutputs(rows.model, rows.backend, features), rows.data));
}

Matrix CopyOf(const Matrix& matrix) {
  Matrix copy(matrix.rows(), matrix.cols(), matrix.dtype());
  std::memcpy(copy.data(), matrix.data(),
              static_cast<size_t>(matrix.rows() * matrix.cols() * DTypeSize_bytes(matrix.dtype())));
  return copy;
}

void RequireDefined(const ExplainedRows& rows, const Metric& metric) {
  const Matrix outputs = NetworkOutputs(rows.model, rows.backend, rows.data.features);
  if (const std::string why = WhyMeanUndefined(metric, ScoreDataset(rows.model, outputs, rows.data)); !why.empty()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is undefined here: {}", metric.Text(), why),
                {.remedy = "Choose another metric, or other rows.", .setting = "metric"});
  }
}

// Rows of the data, by places, that have the values to try in a column.
std::vector<int64_t> ValuesToTry(const Column& column, const std::vector<int64_t>& rows) {
  std::vector<int64_t> tried;
  std::vector<int64_t> present;
  for (int64_t i = 0; i < std::ssize(rows); ++i) {
    if (!column.IsMissing(rows[static_cast<size_t>(i)])) {
      present.push_back(i);
    }
  }
  const auto row_of = [&](int64_t i) { return rows[static_cast<size_t>(i)]; };
  if (column.kind == ColumnKind::kNumber) {
    std::stable_sort(present.begin(), present.end(),
                     [&](int64_t a, int64_t b) { return column.Number(row_of(a)) < column.Number(row_of(b)); });
    for (int64_t k = 0; k < kDependencePoints && !present.empty(); ++k) {
      const int64_t i = present[static_cast<size_t>(k * (std::ssize(present) - 1) / (kDependencePoints - 1))];
      if (tried.empty() || column.Number(row_of(i)) != column.Number(row_of(tried.back()))) {
        tried.push_back(i);
      }
    }
    return tried;
  }
  std::map<int32_t, std::pair<int64_t, int64_t>> categories;  // code: rows, the first of them
  for (const int64_t i : present) {
    auto& [count, first] = categories.try_emplace(column.codes[static_cast<size_t>(row_of(i))], 0, i).first->second;
    ++count;
  }
  std::vector<std::pair<int64_t, int64_t>> by_count;
  by_count.reserve(categories.size());
  for (const auto& [code, entry] : categories) {
    by_count.push_back(entry);
  }
  std::stable_sort(by_count.begin(), by_count.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t k = 0; k < by_count.size() && k < kDependencePoints; ++k) {
    tried.push_back(by_count[k].second);
  }
  return tried;
}

}  // namespace

std::vector<double> LearnedWeights(const Model& model) {
  const auto method = model.training.find("method");
  const InputEncoder& inputs = model.preprocessor.inputs();
  if (method == model.training.end() || !method->is_object() || !method->contains("feature_weights")) {
    return {};
  }
  const json& weights = (*method)["feature_weights"];
  const auto known = [](const json& weight) { return weight.is_number(); };
  if (!weights.is_array() || std::ssize(weights) != inputs.count() ||
      !std::all_of(weights.begin(), weights.end(), known)) {
    return {};
  }
  std::vector<double> of_columns;
  for (const FittedColumn& column : inputs.columns()) {
    double largest = 0;
    for (int64_t j = column.place; j < column.place + column.width(); ++j) {
      largest = std::max(largest, weights[static_cast<size_t>(j)].get<double>());
    }
    of_columns.push_back(largest);
  }
  return of_columns;
}

Metric MetricForImportance(const Model& model) {
  const bool classes = model.preprocessor.targets().task() == Task::kClassification;
  return Metric::Parse(!classes ? "rmse" : AnswersProbabilities(model) ? "log_loss" : "accuracy");
}

Importance PermutationImportance(const ExplainedRows& rows, const Metric& metric, int64_t repeats, uint64_t seed) {
  RequireDefined(rows, metric);
  Importance importance{metric, MetricOn(rows, rows.data.features, metric), {}};
  Matrix features = CopyOf(rows.data.features);
  std::vector<int64_t> order(static_cast<size_t>(rows.data.size()));
  uint64_t stream = kShuffleStream;
  const std::vector<double> learned = LearnedWeights(rows.model);
  for (const FittedColumn& column : ColumnsOf(rows)) {
    std::vector<double> losses;
    for (int64_t r = 0; r < repeats; ++r) {
      std::iota(order.begin(), order.end(), int64_t{0});
      Random(seed, stream++).Shuffle(std::span(order));
      for (int64_t i = 0; i < features.rows(); ++i) {
        CopyBlock(rows, column, rows.data.features, order[static_cast<size_t>(i)], features, i);
      }
      const double shuffled = MetricOn(rows, features, metric);
      losses.push_back(metric.row().higher_is_better ? importance.value - shuffled : shuffled - importance.value);
    }
    for (int64_t i = 0; i < features.rows(); ++i) {
      CopyBlock(rows, column, rows.data.features, i, features, i);
    }
    const double mean = std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(repeats);
    double squares = 0;
    for (const double loss : losses) {
      squares += (loss - mean) * (loss - mean);
    }
    importance.columns.push_back({column.name, mean,
                                  repeats < 2 ? kNaN : std::sqrt(squares / static_cast<double>(repeats - 1)),
                                  learned.empty() ? kNaN : learned[importance.columns.size()]});
  }
  std::stable_sort(importance.columns.begin(), importance.columns.end(),
                   [](const auto& a, const auto& b) { return a.mean > b.mean; });
  return importance;
}

std::optional<Importance> QuickImportance(const Model& model, const Backend& backend, const Table& table,
                                          std::span<const int64_t> rows) {
  constexpr int64_t kRepeats = 3;
  constexpr int64_t kMostRows = 2000;
  constexpr int64_t kLeastRows = 30;
  constexpr int64_t kMostProducts = 20'000'000'000;
  const InputEncoder& inputs = model.preprocessor.inputs();
  const int64_t of_a_row = kRepeats * std::ssize(inputs.columns()) * model.parameter_count();
  const int64_t count =
      std::min<int64_t>({std::ssize(rows), kMostRows, kMostProducts / std::max<int64_t>(1, of_a_row)});
  if (inputs.is_image() || inputs.columns().empty() || count < kLeastRows) {
    return std::nullopt;
  }
  try {
    const BoundTable bound(model.preprocessor, table);
    const Dataset data = bound.Encode(bound.RowsWithTargets(SpreadOut(rows, count)), model.network.dtype());
    return PermutationImportance({model, backend, bound, data}, MetricForImportance(model), kRepeats, /*seed=*/1);
  } catch (const Error&) {  // the metric is undefined for these rows
    return std::nullopt;
  }
}

Dependence PartialDependence(const ExplainedRows& rows, const std::string& name) {
  std::vector<std::string> names;
  for (const FittedColumn& column : ColumnsOf(rows)) {
    names.push_back(column.name);
  }
  const size_t index = IndexOfName(name, names, "--dependence: the model has no such column");
  const FittedColumn& fitted = ColumnsOf(rows)[index];
  const Column& column = rows.table.InputColumn(index);
  Dependence dependence;
  dependence.column = name;
  dependence.is_number = column.kind == ColumnKind::kNumber;
  const Matrix& data = rows.data.features;
  const int64_t count = std::min(kDependenceRows, data.rows());
  Matrix features(count, data.cols(), data.dtype());
  for (int64_t i = 0; i < count; ++i) {
    CopyRow(rows, data, i * data.rows() / count, features, i);
  }
  for (const int64_t tried : ValuesToTry(column, rows.data.rows)) {
    const int64_t row = rows.data.rows[static_cast<size_t>(tried)];
    Dependence::Point point{CellName(column, row), dependence.is_number ? column.Number(row) : kNaN, {}};
    for (int64_t i = 0; i < count; ++i) {
      CopyBlock(rows, fitted, data, tried, features, i);
    }
    point.outputs.assign(OutputNames(rows.model).size(), 0.0);
    for (const std::vector<double>& answer : AnswersTo(rows, features)) {
      for (size_t k = 0; k < answer.size(); ++k) {
        point.outputs[k] += answer[k] / static_cast<double>(count);
      }
    }
    dependence.points.push_back(std::move(point));
  }
  return dependence;
}

namespace {

// Random orders of the columns. Each is walked from its background row, and reversed from the same row; each step sets
// one column's features to the explained row's.
struct Walks {
  Walks(size_t columns, int64_t pairs, const Matrix& data)
      : length(static_cast<int64_t>(columns) + 1),
        order(columns),
        orders(static_cast<size_t>(2 * pairs)),
        features(2 * pairs * length, data.cols(), data.dtype()) {
    std::iota(order.begin(), order.end(), size_t{0});
  }

  void Draw(const ExplainedRows& rows, int64_t index, Random& random) {
    const Matrix& data = rows.data.features;
    for (int64_t w = 0; w < std::ssize(orders); ++w) {
      const int64_t start = w * length;
      if (w % 2 == 0) {
        random.Shuffle(std::span(order));
        const auto background = static_cast<int64_t>(random.Below(static_cast<uint64_t>(data.rows())));
        CopyRow(rows, data, background, features, start);
      } else {
        std::reverse(order.begin(), order.end());
        CopyRow(rows, features, start - length, features, start);
      }
      orders[static_cast<size_t>(w)] = order;
      for (int64_t step = 0; step + 1 < length; ++step) {
        CopyRow(rows, features, start + step, features, start + step + 1);
        CopyBlock(rows, ColumnsOf(rows)[order[static_cast<size_t>(step)]], data, index, features, start + step + 1);
      }
    }
  }

  int64_t length;
  std::vector<size_t> order;
  std::vector<std::vector<size_t>> orders;  // a walk each
  Matrix features;                          // `length` rows a walk
};

}  // namespace

Explanation ShapleyValues(const ExplainedRows& rows, int64_t index, const ShapleyOptions& options) {
  const std::vector<FittedColumn>& columns = ColumnsOf(rows);
  const Matrix& data = rows.data.features;
  Matrix one(1, data.cols(), data.dtype());
  CopyRow(rows, data, index, one, 0);
  const std::vector<double> answer = AnswersTo(rows, one)[0];
  const bool classes = rows.model.preprocessor.targets().task() == Task::kClassification;
  const auto output =
      classes ? static_cast<size_t>(ClassesOf(rows.model, PredictRows(rows.model, rows.backend, one))[0]) : size_t{0};
  Explanation explanation;
  explanation.row = rows.data.rows[static_cast<size_t>(index)];
  explanation.output = OutputNames(rows.model)[output];
  explanation.answer = answer[output];

  Random random(options.seed, kShapleyStream + static_cast<uint64_t>(index));
  std::vector<double> sums(columns.size());
  std::vector<double> squares(columns.size());
  std::vector<double> of_pair(columns.size());
  const int64_t pair_elements = std::max<int64_t>(1, 2 * (std::ssize(columns) + 1) * data.cols());
  const int64_t together = std::clamp<int64_t>(kBatchElements / pair_elements, 1, options.samples);
  Walks walks(columns.size(), together, data);
  for (int64_t begin = 0; begin < options.samples; begin += together) {
    walks.Draw(rows, index, random);  // those beyond `samples` are walks that nobody looks at
    const std::vector<std::vector<double>> answers = AnswersTo(rows, walks.features);
    for (int64_t pair = 0; pair < std::min(together, options.samples - begin); ++pair) {
      std::fill(of_pair.begin(), of_pair.end(), 0.0);
      for (int64_t w = 2 * pair; w < 2 * pair + 2; ++w) {
        for (size_t step = 0; step < columns.size(); ++step) {
          const size_t at = static_cast<size_t>(w * walks.length) + step;
          of_pair[walks.orders[static_cast<size_t>(w)][step]] += (answers[at + 1][output] - answers[at][output]) / 2;
        }
      }
      explanation.base +=
          answers[static_cast<size_t>(2 * pair * walks.length)][output] / static_cast<double>(options.samples);
      for (size_t c = 0; c < columns.size(); ++c) {
        sums[c] += of_pair[c];
        squares[c] += of_pair[c] * of_pair[c];
      }
    }
  }
  const auto n = static_cast<double>(options.samples);
  for (size_t c = 0; c < columns.size(); ++c) {
    const double mean = sums[c] / n;
    explanation.shares.push_back({columns[c].name, CellName(rows.table.InputColumn(c), explanation.row), mean,
                                  n < 2 ? kNaN : std::sqrt(std::max(0.0, squares[c] / n - mean * mean) / (n - 1))});
  }
  std::stable_sort(explanation.shares.begin(), explanation.shares.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.share) > std::abs(b.share); });
  return explanation;
}

std::vector<std::string> OutputNames(const Model& model) {
  const TargetEncoder& targets = model.preprocessor.targets();
  return targets.task() == Task::kClassification ? targets.class_names() : targets.answer_names();
}

json ToJson(const Importance& importance) {
  json columns = json::array();
  for (const ColumnImportance& column : importance.columns) {
    columns.push_back({{"column", column.column},
                       {"importance", column.mean},
                       {"deviation", std::isfinite(column.deviation) ? json(column.deviation) : json(nullptr)}});
    if (std::isfinite(column.weight)) {
      columns.back()["learned_weight"] = column.weight;
    }
  }
  return {{"metric", importance.metric.Text()}, {"value", importance.value}, {"columns", std::move(columns)}};
}

json ToJson(const Dependence& dependence, const std::vector<std::string>& outputs) {
  json points = json::array();
  for (const Dependence::Point& point : dependence.points) {
    json answers = json::object();
    for (size_t k = 0; k < outputs.size(); ++k) {
      answers[outputs[k]] = point.outputs[k];
    }
    points.push_back(
        {{"value", dependence.is_number ? json(point.number) : json(point.text)}, {"answers", std::move(answers)}});
  }
  return {{"column", dependence.column}, {"points", std::move(points)}};
}

json ToJson(const Explanation& explanation) {
  json shares = json::array();
  for (const Explanation::Share& share : explanation.shares) {
    shares.push_back({{"column", share.column},
                      {"value", share.value},
                      {"share", share.share},
                      {"error", std::isfinite(share.error) ? json(share.error) : json(nullptr)}});
  }
  return {{"row", explanation.row},
          {"output", explanation.output},
          {"answer", explanation.answer},
          {"base", explanation.base},
          {"shares", std::move(shares)}};
}

}  // namespace lamina
