// The flags and the reading that evaluate and predict share.
#include "model_input.h"
#include "lamina/settings/meanings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "command.h"
#include "config.h"

#include "lamina/base/text.h"
#include "lamina/model/answer.h"
#include "lamina/model/c_source/int8_rows.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/split.h"
#include "lamina/tune/profile.h"

namespace lamina::cli {

namespace {

constexpr const char* kMadeUp = "made-up";  // rows for --int8

// Columns that encoding or deriving reads.
std::vector<std::string> NeededNames(const Preprocessor& preprocessor) {
  std::vector<std::string> names = preprocessor.targets().names();
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    names.push_back(column.name);
  }
  for (const std::string& derived : preprocessor.derive().columns) {
    for (const std::string_view part : SplitText(std::string_view(derived).substr(derived.find(':') + 1), ':')) {
      names.emplace_back(part);
    }
  }
  names.push_back(preprocessor.derive().series_by);
  names.push_back(preprocessor.derive().order_by);
  return names;
}

}  // namespace

void AddWeightsTo(CLI::App& app, std::string& weights, const std::string& by_default) {
  app.add_option("--weights", weights,
                 "Round the weights of products to " + fmt::format("{}", fmt::join(WeightStorageNames(), ", ")) +
                     " (8 bits with a scale a neuron); default: " + by_default)
      ->type_name("TEXT");
}

void ModelInput::AddTo(CLI::App& app) {
  plain.AddTo(app, "The model file and the raw rows, where --model and --data are not given");
  app.add_option("--model", model, "Model file written by lamina train")->type_name("FILE");
  AddDataTo(app);
  app.add_option("--int8", int8,
                 "Compute in 8-bit integers, as export --c --int8 --data FILE writes them; made-up: without --data")
      ->type_name("FILE");
}

void ModelInput::AddDataTo(CLI::App& app) {
  app.add_option("--data", data, "Raw rows: CSV, .xlsx, .ods, .npy, IDX or a folder of IDX files; -: standard input")
      ->type_name("FILE");
  app.add_option("--part", part, "Part of a folder of IDX files: test or train")->capture_default_str();
  AddSettingFlags(app, reading, &SaysHowRowsAreRead);
  app.add_flag("--by-position", by_position,
               "Take the columns in the order of the training data, whatever their names");
  app.add_option("--samples", samples, "Use only the first rows; 0: all")->capture_default_str()->check(CheckCount);
  app.add_option("--missing", missing,
                 "Missing values: error, drop (no answer to the row) or mean (of the training rows); default: as the "
                 "model was trained")
      ->type_name("TEXT");
  app.add_option("--unseen", unseen,
                 "Categories that training did not see: error, or zero (all zeros, counted; such classes count as "
                 "wrong); default: as the model was trained")
      ->type_name("TEXT");
  AddWeightsTo(app, weights, "as the file keeps them");
  AddBackendFlag(app, backend);
  AddThreadsFlag(app, threads);
}

FileUse ModelInput::Files() const {
  FileUse files;
  files.AddRead("--model", {model});
  if (!int8.empty() && int8 != kMadeUp) {
    files.AddRead("--int8", {int8});
  }
  files.AddRead("--data", data == "-" ? std::vector<std::string>() : DataFiles(data));
  return files;
}

std::unique_ptr<Backend> ModelInput::MakeBackend() const {
  std::string warning;
  auto made = MakeTunedBackend(backend, {.threads = threads}, &warning);
  PrintWarning(warning);
  return made;
}

Model ModelInput::ReadModel() const {
  Model read = ReadModelOfFile();
  if (!weights.empty()) {
    read = WithWeights(std::move(read), ParseWeightStorage(weights));
  }
  if (int8.empty()) {
    return read;
  }
  if (int8 == kMadeUp) {
    return WithInt8(std::move(read), nullptr);
  }
  Table rows = ReadTableFor(read, int8);
  read.preprocessor.Prepare(rows);
  return WithInt8(std::move(read), &rows);
}

Model ModelInput::ReadModelOfFile() const {
  Model read = LoadModel(model);
  if (!missing.empty()) {
    read.preprocessor.set_missing(ParseMissing(missing));
  }
  if (!unseen.empty() && unseen != "auto") {  // the name that train has for leaving it open
    read.preprocessor.set_unseen(ParseUnseen(unseen));
  }
  return read;
}

Table ModelInput::ReadTable(const Model& for_model, const std::vector<std::string>& kept) const {
  ReadOptions options = ReadOptionsFrom(reading);
  options.by_position = by_position;
  const std::vector<std::string> needed = NeededNames(for_model.preprocessor);
  for (const std::string& name : kept) {
    if (std::find(needed.begin(), needed.end(), name) == needed.end()) {
      options.known_columns.push_back({name, ColumnKind::kText});
    }
  }
  return ReadTableFor(for_model, data == "-" ? "/dev/stdin" : data, options, part);
}

std::vector<int64_t> ModelInput::RowsOf(const Table& table) const {
  return SelectRows(table.rows, samples, /*random=*/false, /*seed=*/0);
}

}  // namespace lamina::cli
