// Answers a table: derives its columns, encodes the rows, runs the network, and compares with targets where they are.
#include "lamina/model/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/encode/report_text.h"

namespace lamina {
namespace {

// Where each of `some` stands in `all`; both ascend alike.
std::vector<int64_t> PlacesOf(std::span<const int64_t> some, std::span<const int64_t> all) {
  std::vector<int64_t> places;
  size_t place = 0;
  for (const int64_t row : some) {
    while (all[place] != row) {
      ++place;
    }
    places.push_back(static_cast<int64_t>(place++));
  }
  return places;
}

// Rows of `from` to the rows `places` of a matrix of `rows` rows, NaN elsewhere.
Matrix Spread(const Matrix& from, std::span<const int64_t> places, int64_t rows) {
  Matrix all(rows, from.cols(), DType::kF64);
  std::fill_n(static_cast<double*>(all.data()), rows * from.cols(), kNaN);
  for (int64_t i = 0; i < from.rows(); ++i) {
    std::copy_n(from.Row<double>(i), from.cols(), all.Row<double>(places[static_cast<size_t>(i)]));
  }
  return all;
}

Matrix Gather(const Matrix& from, std::span<const int64_t> rows) {
  Matrix some(std::ssize(rows), from.cols(), from.dtype());
  DispatchFloat(from.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < some.rows(); ++i) {
      std::copy_n(from.Row<T>(rows[static_cast<size_t>(i)]), from.cols(), some.Row<T>(i));
    }
  });
  return some;
}

void RequireFinite(const Table& table, std::span<const int64_t> rows, const Matrix& outputs) {
  const int64_t bad = FirstNotFinite(outputs);
  if (bad < 0) {
    return;
  }
  const int64_t row = rows[static_cast<size_t>(bad)];
  const int64_t line = table.LineOf(row);
  throw Error(ErrorCode::kBadModel,
              fmt::format("the network's answer{} is not a finite number",
                          line > 0 ? "" : fmt::format(" to row {} (counted from 0)", row)),
              {.file = table.source, .line = line, .remedy = kNotFiniteRemedy});
}

// Which of `rows` are evaluated.
std::vector<int64_t> EvaluatedRows(const BoundTable& bound, std::span<const int64_t> rows, Truth truth) {
  if (truth == Truth::kRequired) {
    return bound.UsableRows(rows, /*with_targets=*/true);
  }
  return bound.UsableRows(bound.RowsWithTargets(rows), /*with_targets=*/true);
}

// `raw`: of the rows `answered`.
void Compare(const Model& model, const BoundTable& bound, const Matrix& raw, std::span<const int64_t> answered,
             const AnswerOptions& options, Answers& answers) {
  const std::vector<int64_t> evaluated = EvaluatedRows(bound, answers.rows, options.truth);
  answers.not_evaluated = LeftOutOf(bound, answers.rows, evaluated, /*with_targets=*/true);
  if (evaluated.empty()) {
    if (options.truth == Truth::kRequired) {
      throw Error(ErrorCode::kBadData, "there are no rows to evaluate", {.file = bound.table().source});
    }
    return;
  }
  const Dataset known = bound.EncodeTargets(evaluated, model.network.dtype(), &answers.report);
  const bool all = evaluated.size() == answered.size();
  const Matrix some = all ? Matrix() : Gather(raw, PlacesOf(evaluated, answered));
  answers.evaluation = EvaluateOutputs(model, all ? raw : some, known, options.costs);
  answers.evaluation->seconds = answers.seconds;
  if (options.scored) {
    answers.scored = ScoreDataset(model, all ? raw : some, known);
    answers.scored_rows = evaluated;
  }
  const std::vector<int64_t> places = PlacesOf(evaluated, answers.rows);
  if (model.preprocessor.targets().task() == Task::kRegression) {
    answers.truth = Spread(InTargetUnits(model, known.targets), places, std::ssize(answers.rows));
    return;
  }
  answers.labels.assign(answers.rows.size(), -1);
  for (size_t i = 0; i < places.size(); ++i) {
    answers.labels[static_cast<size_t>(places[i])] = known.labels[i];
  }
}

}  // namespace

LeftOut LeftOutOf(const BoundTable& bound, std::span<const int64_t> rows, std::span<const int64_t> kept,
                  bool with_targets) {
  LeftOut left_out;
  left_out.rows = std::ssize(rows) - std::ssize(kept);
  if (left_out.rows > 0) {
    left_out.row = *std::mismatch(kept.begin(), kept.end(), rows.begin()).second;
    left_out.at = bound.table().RowText(left_out.row);
    left_out.column = bound.MissingColumn(left_out.row, with_targets);
  }
  return left_out;
}

void RequireRawRows(const Model& model) {
  if (model.preprocessor.inputs().count() == 0) {
    throw Error(ErrorCode::kBadModel, "the model holds a bare network, without the encoding of raw rows",
                {.remedy = "Use it through the library (Executor), or train it with lamina train."});
  }
}

std::string LeftOut::Where() const { return fmt::format("{}, column '{}'", at, column); }

std::string LeftOut::Note(int64_t all_rows, const std::string& what) const {
  return rows == 0 ? ""
                   : fmt::format("{} of {} rows {}: a value is missing, the first in {}", WithThousands(rows),
                                 WithThousands(all_rows), what, Where());
}

std::vector<std::string> Answers::Notes() const {
  std::vector<std::string> notes;
  std::transform(file.begin(), file.end(), std::back_inserter(notes),
                 [](const ColumnDecision& decision) { return decision.Text(); });
  const std::vector<std::string> met = NotesOn(report, /*asked=*/true);
  notes.insert(notes.end(), met.begin(), met.end());
  if (without_answer.rows > 0) {
    notes.push_back(without_answer.Note(std::ssize(rows), "have no answer"));
  }
  return notes;
}

bool Answers::has_answer(int64_t row) const { return !std::isnan(outputs.Row<double>(row)[0]); }

Table ReadTableFor(const Model& model, const std::string& path, ReadOptions options, const std::string& part) {
  RequireRawRows(model);
  IndexOfName(part, std::vector<std::string>{"test", "train"}, "--part: unknown choice");
  if (!options.by_position) {
    model.preprocessor.AddTo(options);
  }
  ReadResult result = ReadData(path, options);
  Table table = std::move(part == "test" && result.test ? *result.test : result.train);
  table.has_names = table.has_names && !options.by_position;
  return table;
}

Answers AnswerTable(const Model& model, const Backend& backend, Table& table, std::span<const int64_t> rows,
                    const AnswerOptions& options) {
  RequireRawRows(model);
  const Preprocessor& preprocessor = model.preprocessor;
  preprocessor.Prepare(table);
  const BoundTable bound(preprocessor, table);
  if (options.truth == Truth::kRequired && !bound.has_targets()) {
    throw Error(ErrorCode::kBadData, "the data has no target column to compare with",
                {.file = table.source,
                 .value = fmt::format("{}", fmt::join(preprocessor.targets().names(), ", ")),
                 .remedy = "Use lamina predict for rows without an answer."});
  }
  Answers answers;
  answers.rows.assign(rows.begin(), rows.end());
  answers.file = DecisionsOnFile(table);
  const Dataset inputs = bound.EncodeInputs(rows, model.network.dtype(), &answers.report);
  answers.without_answer = LeftOutOf(bound, rows, inputs.rows, /*with_targets=*/false);
  const Stopwatch watch;
  const Matrix raw = NetworkOutputs(model, backend, inputs.features);
  answers.seconds = watch.Elapsed_seconds();
  const Matrix outputs = InTargetUnits(model, raw);
  RequireFinite(table, inputs.rows, outputs);
  answers.outputs = Spread(outputs, PlacesOf(inputs.rows, rows), std::ssize(rows));
  if (preprocessor.targets().task() == Task::kClassification) {
    answers.classes = ClassesOf(model, answers.outputs);
  }
  if (options.truth != Truth::kIgnored && bound.has_targets()) {
    Compare(model, bound, raw, inputs.rows, options, answers);
  }
  return answers;
}

}  // namespace lamina
