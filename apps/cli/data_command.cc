// lamina data: download public data sets, look into files.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/data/files/fetch.h"
#include "lamina/data/files/reader.h"
#include "lamina/platform/process.h"
#include "lamina/run/encoded_data.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/settings.h"
#include "lamina/settings/settings_text.h"
#include "print.h"

namespace lamina::cli {
namespace {

constexpr size_t kShownColumns = 60;

struct FetchCommand {
  std::string name;
  std::string folder;
  std::string base_url;
  JsonOutput json_output;
};

int RunFetch(const FetchCommand& command) {
  command.json_output.Check();
  const FetchSpec& spec = FindFetchSpec(command.name);
  FetchOptions options;
  options.folder = command.folder.empty() ? command.name : command.folder;
  options.base_url = command.base_url;
  const bool text = !command.json_output.to_stdout();
  const bool terminal = text && platform::IsTerminal(platform::kStandardOutput);
  if (text) {
    Print("{}: {} ({})\n", spec.name, spec.title, spec.licence);
  }
  CatchInterrupts();
  options.progress = [&](const FetchProgress& progress) {
    if (Interrupted()) {
      throw Error(ErrorCode::kNetwork, "interrupted", {.remedy = "The same command goes on from here."});
    }
    if (text && progress.state != FetchProgress::State::kDownloading) {
      Print("{}{}: {}\n", OwnText{terminal ? "\r\033[K" : ""}, progress.file->name,
            progress.state == FetchProgress::State::kPresent ? "already there" : "done");
    } else if (terminal) {
      Print("\r\033[K{}: {} of {} bytes", progress.file->name, WithThousands(progress.done_bytes),
            WithThousands(progress.file->size_bytes));
      std::fflush(stdout);
    }
  };
  FetchResult result;
  try {
    result = Fetch(spec, options);
  } catch (const Error&) {
    if (terminal) {
      Print("\n");
    }
    if (Interrupted()) {
      PrintToStderr("lamina: interrupted; the same command goes on from here\n");
      return kExitInterrupted;
    }
    throw;
  }
  if (text) {
    // A folder of IDX files is read as one data set.
    const bool folder = result.paths.front().find("-idx") != std::string::npos;
    Print("next: lamina {} {}\n", folder ? "train --data" : "data show",
          folder ? options.folder : result.paths.front());
  }
  command.json_output.Write("data fetch", {{"name", spec.name},
                                           {"folder", options.folder},
                                           {"paths", result.paths},
                                           {"downloaded_files", result.downloaded_files}});
  return kExitOk;
}

struct ShowCommand {
  std::string path;
  TrainSettings settings;
  JsonOutput json_output;
};

nlohmann::json ColumnFacts(const Column& column, const ColumnSummary& summary) {
  nlohmann::json node = {{"name", column.name},
                         {"kind", column.kind == ColumnKind::kText ? "text"
                                  : column.is_date                 ? "date"
                                                                   : "number"},
                         {"missing", summary.missing}};
  if (!column.format.Text().empty()) {
    node["format"] = column.format.Text();
  }
  if (!column.odd.cells.empty()) {
    node["odd"] = column.odd.Text();
  }
  if (column.kind == ColumnKind::kText) {
    node["categories"] = summary.categories;
  } else if (summary.numbers.count > 0) {
    node["minimum"] = summary.numbers.min;
    node["mean"] = summary.numbers.mean;
    node["maximum"] = summary.numbers.max;
  }
  return node;
}

void PrintColumns(const nlohmann::json& columns) {
  size_t width = 6;
  for (const nlohmann::json& column : columns) {
    width = std::max(width, Cell(column["name"].get_ref<const std::string&>()).size());
  }
  Print("{:>4}  {:<{}}  {:<6}  {:>8}  {}\n", "no.", "column", width, "kind", "missing", "values");
  for (size_t i = 0; i < std::min(kShownColumns, columns.size()); ++i) {
    const nlohmann::json& column = columns[i];
    std::string values = "none";
    if (column.contains("categories")) {
      values = fmt::format("{} different", column["categories"].get<int64_t>());
    } else if (column.contains("minimum")) {
      const auto least = column["minimum"].get<double>();
      const auto most = column["maximum"].get<double>();
      values = column["kind"] == "date" ? fmt::format("{} to {}", DateText(least), DateText(most))
                                        : fmt::format("{} to {}, mean {}", FigureText(least), FigureText(most),
                                                      FigureText(column["mean"].get<double>()));
    }
    if (column.contains("format")) {
      values += fmt::format(" ({})", column["format"].get<std::string>());
    }
    if (column.contains("odd")) {
      values += fmt::format("; {} read as missing", column["odd"].get<std::string>());
    }
    Print("{:>4}  {:<{}}  {:<6}  {:>8}  {}\n", i, Cell(column["name"].get_ref<const std::string&>()), width,
          column["kind"].get<std::string>(), column["missing"].get<int64_t>(), values);
  }
  if (columns.size() > kShownColumns) {
    Print("... and {} more columns\n", columns.size() - kShownColumns);
  }
}

int RunShow(const ShowCommand& command) {
  FileUse files;
  files.AddRead("file", DataFiles(command.path));
  command.json_output.Check(std::move(files));
  const ReadResult result = ReadData(command.path, ReadOptionsFrom(command.settings));
  nlohmann::json columns = nlohmann::json::array();
  const std::vector<ColumnSummary> summaries = SummarizeColumns(result.train);
  for (size_t i = 0; i < summaries.size(); ++i) {
    columns.push_back(ColumnFacts(result.train.columns[i], summaries[i]));
  }
  if (!command.json_output.to_stdout()) {
    Print("{}: {}, {}{}\n", command.path, Counted(result.train.rows, "row{s}"),
          Counted(std::ssize(columns), "column{s}"),
          result.test ? "; and " + Counted(result.test->rows, "test row{s}") : "");
    if (result.train.sheet && !result.train.sheet->assumed()) {
      Print("{}\n", result.train.sheet->Text());
    }
    for (const ColumnDecision& decision : DecisionsOnFile(result.train)) {
      Print("{}\n", decision.Text());
    }
    PrintColumns(columns);
  }
  const nlohmann::json sheet = result.train.sheet ? nlohmann::json(result.train.sheet->name) : nlohmann::json(nullptr);
  command.json_output.Write(
      "data show",
      {{"data", command.path}, {"sheet", sheet}, {"rows", result.train.rows}, {"columns", std::move(columns)}});
  return kExitOk;
}

struct EncodeCommand {
  TrainSettings settings;
  std::string output;
  JsonOutput json_output;
};

int RunEncode(const EncodeCommand& command) {
  FileUse files;
  for (const std::string* data : {&command.settings.data, &command.settings.test, &command.settings.validation}) {
    if (!data->empty()) {
      files.AddRead("data", DataFiles(*data));
    }
  }
  command.json_output.Check(std::move(files));
  CatchInterrupts();
  EncodedDataInfo info;
  try {
    info = WriteEncodedData(command.settings, command.output, Interrupted);
  } catch (const Stopped&) {
    PrintToStderr("lamina: interrupted; nothing was kept\n");
    return kExitInterrupted;
  }
  if (!command.json_output.to_stdout()) {
    Print("{}: {} training, {} validation and {} of {}, {}, in {}\n", command.output, WithThousands(info.train_rows),
          WithThousands(info.validation_rows), Counted(info.test_rows, "test row{s}"), Counted(info.inputs, "input{s}"),
          BytesText(info.size_bytes), DurationText(info.seconds));
    if (info.left_out_rows > 0) {
      PrintNote(stdout, "{} left out: a value is missing\n", Counted(info.left_out_rows, "row{s}"));
    }
    Print("next: lamina train {}\n", command.output);
  }
  command.json_output.Write("data encode", {{"data", command.settings.data},
                                            {"output", command.output},
                                            {"train_rows", info.train_rows},
                                            {"validation_rows", info.validation_rows},
                                            {"test_rows", info.test_rows},
                                            {"left_out_rows", info.left_out_rows},
                                            {"inputs", info.inputs},
                                            {"size_bytes", info.size_bytes},
                                            {"seconds", info.seconds},
                                            {"peak_memory_bytes", PeakMemory_bytes()}});
  return kExitOk;
}

}  // namespace

Command AddData(CLI::App& app) {
  CLI::App* data =
      app.add_subcommand("data", "Download public data sets, look into a data file, encode it for training");
  data->require_subcommand(1);
  auto fetch = std::make_shared<FetchCommand>();
  CLI::App* fetch_app = data->add_subcommand("fetch", "Download a public data set and check it");
  std::string known;
  for (const FetchSpec& spec : FetchTable()) {
    known += (known.empty() ? "" : ", ") + spec.name;
  }
  fetch_app->add_option("name", fetch->name, "Which one: " + known)->required();
  fetch_app->add_option("--folder", fetch->folder, "Where to put it; default: a folder of its name")
      ->type_name("FOLDER");
  fetch_app->add_option("--base-url", fetch->base_url, "Take the files from here instead of the usual places");
  fetch->json_output.AddTo(*fetch_app);
  auto show = std::make_shared<ShowCommand>();
  CLI::App* show_app = data->add_subcommand("show", "Columns, types, missing values and ranges of a data file");
  show_app->add_option("--data,file", show->path, "CSV, .xlsx, .ods, .npy, IDX or a folder of IDX files")
      ->required()
      ->type_name("FILE");
  AddSettingFlags(*show_app, show->settings, [](const Setting<TrainSettings>& row) { return row.reads_file; });
  show->json_output.AddTo(*show_app);
  auto encode = std::make_shared<EncodeCommand>();
  CLI::App* encode_app = data->add_subcommand(
      "encode", "Encode a data file into a folder once, to train on it in less time and in less memory than it has");
  AddSettingFlags(*encode_app, encode->settings, &DecidesEncoding);
  encode_app->add_option("--output", encode->output, "The folder; one of encoded data is replaced")
      ->required()
      ->type_name("FOLDER");
  encode->json_output.AddTo(*encode_app);
  encode_app->footer(
      "Examples:\n"
      "  lamina data encode data/digits.csv.gz --output digits.encoded --memory 300M\n"
      "  lamina train digits.encoded --hidden 64 --memory 300M --model encoded.safetensors");
  return {data, [fetch, show, encode, fetch_app, encode_app] {
            return fetch_app->parsed() ? RunFetch(*fetch) : encode_app->parsed() ? RunEncode(*encode) : RunShow(*show);
          }};
}

}  // namespace lamina::cli
