// The parts of a model's C source, in their order.
#include "lamina/model/c_source/c_source.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "lamina/base/file_set.h"
#include "lamina/base/output_folder.h"
#include "lamina/base/version.h"
#include "lamina/model/c_source/c_answer.h"
#include "lamina/model/c_source/c_columns.h"
#include "lamina/model/c_source/c_header.h"
#include "lamina/model/c_source/c_inputs.h"
#include "lamina/model/c_source/c_int8.h"
#include "lamina/model/c_source/c_rows.h"
#include "lamina/model/int8_network.h"

namespace lamina {
namespace {

constexpr int64_t kTestRows = 12;

std::string AboutText(const Model& model, const std::string& name, const std::string& sizes) {
  const TargetEncoder& targets = model.preprocessor.targets();
  std::string what = model.preprocessor.inputs().count() == 0 ? "" : ": " + CComment(targets.names()[0]);
  for (size_t i = 1; what.size() < 60 && i < targets.names().size(); ++i) {
    what += ", " + CComment(targets.names()[i]);
  }
  return fmt::format("/* {}{}, by a model {}{} of lamina {}.\n{} */\n", name, what, CComment(model.ShapeText()),
                     model.int8 ? " in 8-bit integers" : "", lamina::Version(), sizes);
}

std::string FunctionsText(const Model& model, const CColumns& columns, const std::string& name) {
  const std::string upper = UpperCName(name);
  const TargetEncoder& targets = model.preprocessor.targets();
  const bool classes = !targets.class_names().empty();
  const std::string gaps = std::string(columns.numbers > 0 ? "NAN is a missing number" : "") +
                           (columns.numbers > 0 && columns.texts > 0 ? ", " : "") +
                           (columns.texts > 0 ? "NULL and \"\" are missing texts" : "");
  std::string text = fmt::format(
      "/* Answers a row; {}. `outputs`: {}.\n * Returns 0; 1 + the column whose value is missing, unknown or too "
      "large; "
      "-1 where the answer is no finite number.\n * Then `outputs` is left alone. Any number of threads may ask. */\n"
      "int @_predict({}, double outputs[{}_OUTPUTS]);\n\n",
      gaps,
      !classes                       ? "values in units of the targets"
      : targets.form().single_output ? "one number, which speaks for the second class"
                                     : "one a class",
      RowParameters(columns, upper), upper);
  if (classes) {
    text += fmt::format(
        "/* The class that outputs mean, -1 where one of them is a NaN. */\nint @_class_of(const double "
        "outputs[{}_OUTPUTS]);\n\n",
        upper);
  }
  if (model.intervals) {
    text += fmt::format(
        "/* Bounds between which the true value lies for {0:.6g} of 100 rows. */\n"
        "void @_interval(const double outputs[{1}_OUTPUTS], double lower[{1}_OUTPUTS], double above[{1}_OUTPUTS]);\n\n",
        100 * model.intervals->level, upper);
  }
  return text + DaysDeclaration(columns);
}

// One an output.
std::vector<std::string> BoundsOf(const Model& model) {
  const double bound = model.network.dtype() == DType::kF64 ? kCSourceBoundF64 : kCSourceBoundF32;
  const TargetEncoder& targets = model.preprocessor.targets();
  const bool scaled = model.preprocessor.inputs().count() > 0 && targets.task() == Task::kRegression;
  std::vector<std::string> bounds;
  for (int64_t j = 0; j < model.network.outputs(); ++j) {
    bounds.push_back(CDouble(bound * (scaled ? std::max(1.0, targets.ScalingOf(j).scale) : 1.0)));
  }
  return bounds;
}

// The whole numbers of each row.
std::vector<std::vector<std::string>> IntegersOf(const Int8Network& network, const Matrix& features) {
  std::vector<std::vector<std::string>> texts;
  std::vector<int8_t> numbers(network.input_steps.size());
  std::vector<int32_t> outputs(static_cast<size_t>(network.layers.back().outputs));
  DispatchFloat(features.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < features.rows(); ++i) {
      network.Round(features.Row<T>(i), numbers.data());
      network.Answer(numbers, outputs);
      std::transform(outputs.begin(), outputs.end(), std::back_inserter(texts.emplace_back()),
                     [](int32_t output) { return std::to_string(output); });
    }
  });
  return texts;
}

// Those of `rows` that have an answer, and their answers.
std::vector<std::vector<std::string>> NumbersOf(const Model& model, const Matrix& features, std::vector<CRow>& rows) {
  const Matrix outputs = OutputsOfRows(model, features);
  std::vector<CRow> answered;
  std::vector<std::vector<std::string>> texts;
  for (int64_t i = 0; i < outputs.rows(); ++i) {
    const double* row = outputs.Row<double>(i);
    if (std::all_of(row, row + outputs.cols(), [](double y) { return std::isfinite(y); })) {
      answered.push_back(rows[static_cast<size_t>(i)]);
      std::transform(row, row + outputs.cols(), std::back_inserter(texts.emplace_back()), &CDouble);
    }
  }
  rows = std::move(answered);
  return texts;
}

void AddRowsOfTest(CWriter& out, const Model& model, const CColumns& columns, const Table* table) {
  std::vector<CRow> rows =
      table == nullptr ? TypicalRows(model, columns, kTestRows) : RowsOfTable(columns, *table, kTestRows);
  const Matrix features = EncodedRows(model, columns, rows);
  const auto texts = model.int8 ? IntegersOf(*model.int8, features) : NumbersOf(model, features, rows);
  if (rows.empty()) {
    throw Error(ErrorCode::kBadData, "no row for the self-test has an answer", {.remedy = "Give other rows (--data)."});
  }
  const std::vector<std::string> exact(static_cast<size_t>(model.network.outputs()), "0.0");
  AddSelfTest(out, columns, rows, texts, model.int8 ? exact : BoundsOf(model), model.int8 ? "int32_t" : "double");
}

}  // namespace

CSource ToCSource(const Model& model, const CSourceOptions& options) {
  RequireCName(options.name);
  const CColumns columns = CColumnsOf(model, options.name);
  CWriter out(options.name, model.network.dtype());
  AddNames(out, model, columns);
  AddDays(out, columns);
  if (model.int8) {
    AddInputSteps(out, *model.int8);
    AddEncoder(out, model, columns, {.type = "int8_t", .in_steps = true});
    AddInt8Answers(out, model, columns, *model.int8);
  } else {
    AddEncoder(out, model, columns, {.type = out.real()});
    AddOutputs(out, model);
    AddAnswers(out, model, columns);
  }
  const std::string about = AboutText(model, options.name, SizesText(out));
  CSource made;
  made.header = HeaderOf(model, columns, options.name,
                         {about, model.int8 ? Int8Declarations(model, columns, options.name) + DaysDeclaration(columns)
                                            : FunctionsText(model, columns, options.name)});
  AddRowsOfTest(out, model, columns, options.rows);
  made.source =
      about +
      fmt::format("#include \"{}.h\"\n\n#include <float.h>\n#include <math.h>\n#include <stddef.h>\n\n", options.name) +
      out.text();
  return made;
}

std::vector<std::string> WriteCSource(const Model& model, const CSourceOptions& options, const std::string& folder) {
  const CSource made = ToCSource(model, options);
  const std::vector<std::string> names{options.name + ".h", options.name + ".c"};
  RequireOutputFolder(folder, names);
  FileSet files;
  ClaimNames(folder, names, files);
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    paths.push_back((std::filesystem::path(folder) / name).string());
    files.Add(paths.back(), name.ends_with(".h") ? made.header : made.source);
  }
  files.Commit();
  return paths;
}

}  // namespace lamina
