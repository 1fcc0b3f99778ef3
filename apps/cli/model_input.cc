// The flags and the reading that evaluate and predict share.
#include "model_input.h"

#include "command.h"

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/data/split.h"
#include "lamina/train/settings.h"
#include "lamina/tune/profile.h"

namespace lamina::cli {

void ModelInput::AddTo(CLI::App& app) {
  app.add_option("--model", model, "Model file written by lamina train")->required()->type_name("FILE");
  app.add_option("--data", data, "Raw rows: CSV, .npy, IDX or a folder of IDX files")->required()->type_name("FILE");
  app.add_option("--part", part, "Of a folder of IDX files: test or train")->capture_default_str();
  app.add_option("--header", header, "CSV: is the first line names? auto, yes or no")->capture_default_str();
  app.add_option("--separator", separator, "CSV: auto, comma, semicolon, tab, pipe or one character")
      ->capture_default_str();
  app.add_option("--samples", samples, "Use only the first rows; 0: all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--backend", backend, BackendNamesText())->capture_default_str();
  app.add_option("--threads", threads, "Threads to use; 0: all cores")
      ->capture_default_str()
      ->check(CLI::Range(0, 4096));
}

FileUse ModelInput::Files() const {
  FileUse files;
  files.AddRead("--model", {model});
  files.AddRead("--data", DataFiles(data));
  return files;
}

std::unique_ptr<Backend> ModelInput::MakeBackend() const {
  std::string warning;
  auto made = MakeTunedBackend(backend, {.threads = threads}, &warning);
  PrintWarning(warning);
  return made;
}

Table ModelInput::ReadTableFor(const Model& model) const {
  IndexOfName(part, std::vector<std::string>{"test", "train"}, "--part: unknown choice");
  if (model.preprocessor.input_count() == 0) {
    throw Error(
        ErrorCode::kBadModel, "the model holds a bare network, without the encoding of raw rows",
        {.file = this->model, .remedy = "Use it through the library (Executor), or train it with lamina train."});
  }
  TrainSettings settings;
  settings.header = header;
  settings.separator = separator;
  ReadOptions options = ReadOptionsFrom(settings);
  options.text_columns_if_present = model.preprocessor.TextColumns();
  ReadResult result = ReadData(data, options);
  Table& table = part == "test" && result.test ? *result.test : result.train;
  model.preprocessor.Prepare(table);
  return std::move(table);
}

std::vector<int64_t> ModelInput::RowsOf(const Table& table) const {
  return SelectRows(table.rows, samples, /*random=*/false, /*seed=*/0);
}

}  // namespace lamina::cli
