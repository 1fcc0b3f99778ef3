// Rows for tests.
#include "lamina/model/c_source/c_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "lamina/backend/backends.h"
#include "lamina/base/nan.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/evaluate.h"

namespace lamina {
namespace {

constexpr double kFirstDay = 19783;  // 2024-03-01, where no span of dates is known

// From 0 to 1, spread evenly over the rows and differently in each column.
double Spot(int64_t row, int64_t column) {
  const double golden = 0.6180339887498949;
  const double x = golden * static_cast<double>(row + 1) + 0.3719 * static_cast<double>(column * column + column);
  return x - std::floor(x);
}

double TypicalNumber(const CColumn& column, int64_t row, int64_t place) {
  const double spot = Spot(row, place);
  if (column.fitted == nullptr) {
    return std::round(1000 * (2 * spot - 1)) / 1000;
  }
  const FittedColumn& fitted = *column.fitted;
  NumberSpan span{fitted.scaling.offset - 2 * fitted.scaling.scale, fitted.scaling.offset + 2 * fitted.scaling.scale};
  span = column.is_date ? NumberSpan{kFirstDay, kFirstDay + 400} : span;
  span = fitted.span.value_or(span);
  const double value = span.low + spot * (span.high - span.low);
  if (column.is_date || fitted.IsFlag()) {
    return std::round(value);
  }
  const double digits = std::pow(10, 3 - std::ceil(std::log10(std::max(1e-6, span.high - span.low))));
  const double rounded = std::round(value * digits) / digits;
  return std::isfinite(rounded) ? rounded : value;
}

std::optional<std::string> TypicalText(const FittedColumn& fitted, int64_t row, int64_t place) {
  if (fitted.IsWords()) {
    return row % 2 == 0 ? "the quick brown fox" : "Jumps over 2 lazy dogs, twice";
  }
  return fitted.categories[static_cast<size_t>(row + place) % fitted.categories.size()];
}

void AddColumn(const CColumn& column, const std::vector<CRow>& rows, Table& table) {
  Column& made = table.columns.emplace_back();
  made.name = column.name;
  const auto place = static_cast<size_t>(column.place);
  if (!column.is_text) {
    const auto numbers = std::make_shared<std::vector<double>>();
    std::transform(rows.begin(), rows.end(), std::back_inserter(*numbers),
                   [&](const CRow& row) { return row.numbers[place]; });
    made.is_date = column.is_date;
    made.numbers = numbers->data();
    made.owner = numbers;
    return;
  }
  made.kind = ColumnKind::kText;
  std::map<std::string, int32_t> code_of;
  for (const CRow& row : rows) {
    if (!row.texts[place]) {
      made.codes.push_back(-1);
      continue;
    }
    const auto [entry, added] = code_of.try_emplace(*row.texts[place], static_cast<int32_t>(made.categories.size()));
    if (added) {
      made.categories.push_back(*row.texts[place]);
    }
    made.codes.push_back(entry->second);
  }
}

}  // namespace

std::vector<CRow> RowsOfTable(const CColumns& columns, const Table& table, int64_t most) {
  std::vector<const Column*> found;
  for (const CColumn& column : columns.columns) {
    found.push_back(&table.columns[static_cast<size_t>(table.FindColumn(column.name))]);
  }
  std::vector<CRow> rows;
  const int64_t count = std::min(most, table.rows);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = i * table.rows / count;
    CRow& made = rows.emplace_back();
    for (size_t c = 0; c < found.size(); ++c) {
      const Column& column = *found[c];
      const bool missing = column.IsMissing(row);
      if (!columns.columns[c].is_text) {
        made.numbers.push_back(missing || column.kind == ColumnKind::kText ? kNaN : column.Number(row));
      } else if (missing || column.kind == ColumnKind::kNumber) {
        made.texts.emplace_back(missing ? std::nullopt : std::optional(NumberName(column.Number(row))));
      } else {
        made.texts.emplace_back(column.categories[static_cast<size_t>(column.codes[static_cast<size_t>(row)])]);
      }
    }
  }
  return rows;
}

std::vector<CRow> TypicalRows(const Model& model, const CColumns& columns, int64_t count) {
  constexpr int64_t kEveryGap = 5;
  const bool fills = Fills(model.preprocessor.policies().missing);
  std::vector<CRow> rows(static_cast<size_t>(count));
  for (int64_t r = 0; r < count; ++r) {
    int64_t place = 0;
    for (const CColumn& column : columns.columns) {
      ++place;
      CRow& row = rows[static_cast<size_t>(r)];
      const bool gap = fills && column.fitted != nullptr && column.fitted->keeps_mean && (r + place) % kEveryGap == 4;
      if (column.is_text) {
        row.texts.push_back(gap ? std::nullopt : TypicalText(*column.fitted, r, place));
      } else {
        row.numbers.push_back(gap ? kNaN : TypicalNumber(column, r, place));
      }
    }
  }
  return rows;
}

Table TableOf(const CColumns& columns, const std::vector<CRow>& rows) {
  Table table;
  table.source = "rows of the self-test";
  table.rows = std::ssize(rows);
  for (const CColumn& column : columns.columns) {
    AddColumn(column, rows, table);
  }
  return table;
}

Matrix EncodedRows(const Model& model, const CColumns& columns, std::vector<CRow>& rows) {
  const DType dtype = model.network.dtype();
  if (model.preprocessor.inputs().count() == 0) {
    Matrix features(std::ssize(rows), model.network.inputs(), dtype);
    DispatchFloat(dtype, [&]<class T>(T) {
      for (size_t i = 0; i < rows.size(); ++i) {
        std::transform(rows[i].numbers.begin(), rows[i].numbers.end(), features.Row<T>(static_cast<int64_t>(i)),
                       [](double x) { return static_cast<T>(x); });
      }
    });
    return features;
  }
  Table table = TableOf(columns, rows);
  model.preprocessor.Prepare(table);
  Preprocessor lenient = model.preprocessor;  // leaves rows out, where the model would refuse all of them
  if (lenient.policies().missing == MissingPolicy::kError) {
    lenient.set_missing(MissingPolicy::kDropRow);
  }
  const BoundTable bound(lenient, table);
  Dataset inputs = bound.EncodeInputs(AllRowsOf(table), dtype);
  std::vector<CRow> kept;
  for (const int64_t row : inputs.rows) {
    kept.push_back(std::move(rows[static_cast<size_t>(row)]));
  }
  rows = std::move(kept);
  return std::move(inputs.features);
}

Matrix OutputsOfRows(const Model& model, const Matrix& features) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  const Matrix raw = NetworkOutputs(model, *backend, features);
  return InTargetUnits(model, raw);
}

namespace {

std::string RowText(const std::vector<std::string>& values, const char* indent) {
  std::string text;
  std::string line = indent;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string piece = values[i] + (i + 1 < values.size() ? ", " : "");
    if (line.size() + piece.size() > 99) {
      text += line + "\n";
      line = indent;
    }
    line += piece;
  }
  return text + line;
}

void AddRows(CWriter& out, const std::string& declaration, const std::vector<std::vector<std::string>>& rows) {
  std::string text = fmt::format("static const {} = {{\n", declaration);
  for (size_t i = 0; i < rows.size(); ++i) {
    text += "    {" + RowText(rows[i], "     ").substr(5) + (i + 1 < rows.size() ? "},\n" : "}};\n");
  }
  out.AddText(text);
}

}  // namespace

void AddSelfTest(CWriter& out, const CColumns& columns, const std::vector<CRow>& rows,
                 const std::vector<std::vector<std::string>>& outputs, const std::vector<std::string>& tolerances,
                 const std::string& type) {
  const std::string upper = UpperCName(out.name());
  out.Add("#ifdef {}_SELF_TEST\n#include <stdio.h>\n\n/* Rows and what the program answers to them. */\n", upper);
  std::vector<std::vector<std::string>> numbers, texts;
  for (const CRow& row : rows) {
    std::transform(row.numbers.begin(), row.numbers.end(), std::back_inserter(numbers.emplace_back()), &CDouble);
    std::vector<std::string>& text = texts.emplace_back();
    std::transform(row.texts.begin(), row.texts.end(), std::back_inserter(text),
                   [](const auto& cell) { return cell ? CString(*cell) : "NULL"; });
  }
  if (columns.numbers > 0) {
    AddRows(out, fmt::format("double @_test_numbers[{}][{}]", rows.size(), columns.numbers), numbers);
  }
  if (columns.texts > 0) {
    AddRows(out, fmt::format("char *const @_test_texts[{}][{}]", rows.size(), columns.texts), texts);
  }
  AddRows(out, fmt::format("{} @_test_outputs[{}][{}]", type, rows.size(), tolerances.size()), outputs);
  const std::string arguments = std::string(columns.numbers > 0 ? "@_test_numbers[row], " : "") +
                                (columns.texts > 0 ? "@_test_texts[row], " : "");
  out.AddText("/* How far answers may be from them: {a share of the answer, and a number}. */\n");
  std::vector<std::string> bounds;
  out.AddArray("double", "@_test_bounds", tolerances, 0, 0);
  out.AddText(
      fmt::format("\nint main(void) {{\n  int wrong = 0, row, j;\n  for (row = 0; row < {0}; ++row) {{\n"
                  "    {1} outputs[{2}_OUTPUTS];\n    const int code = @_predict({3}outputs);\n    if (code != 0) {{\n"
                  "      printf(\"row %d: code %d\\n\", row, code);\n      ++wrong;\n      continue;\n    }}\n"
                  "    for (j = 0; j < {2}_OUTPUTS; ++j) {{\n"
                  "      const double expected = (double)@_test_outputs[row][j], got = (double)outputs[j];\n"
                  "      if (!(fabs(got - expected) <= @_test_bounds[j] * (1.0 + {4}))) {{\n"
                  "        printf(\"row %d, output %d: %.9g, not %.9g\\n\", row, j, got, expected);\n        ++wrong;\n"
                  "      }}\n    }}\n  }}\n"
                  "  printf(\"@: {0} rows, %d wrong answers\\n\", wrong);\n  return wrong == 0 ? 0 : 1;\n}}\n#endif\n",
                  rows.size(), type, upper, arguments, "fabs(expected)"));
}

}  // namespace lamina
