// lamina export. The kind of file is checked first, then the model is read, rounded where that is asked, and written.
// Formats are left to the library: ONNX, C, page, arrays, model files.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/output_folder.h"
#include "lamina/layer/weight_files.h"
#include "lamina/model/answer.h"
#include "lamina/model/c_source/c_source.h"
#include "lamina/model/c_source/int8_rows.h"
#include "lamina/model/html_page/html_page.h"
#include "lamina/model/model.h"
#include "lamina/model/onnx_export.h"
#include "model_input.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct ExportCommand {
  std::string model;
  std::string out;
  bool onnx = false;
  bool csv = false;
  bool npy = false;
  bool html = false;
  std::string title;   // of the page; empty: the targets
  std::string c_name;  // empty: no C source
  std::string data;    // rows for the self-test; empty: rows that are made up
  bool int8 = false;
  std::string weights;  // empty: as the file keeps them
  JsonOutput json_output;
};

// The rows of --data; none: they are made up.
std::optional<Table> RowsOfTest(const ExportCommand& command, const Model& model) {
  if (command.data.empty()) {
    return std::nullopt;
  }
  Table table = ReadTableFor(model, command.data);
  model.preprocessor.Prepare(table);
  return table;
}

std::vector<std::string> WriteSource(const ExportCommand& command, const Model& model) {
  const std::optional<Table> rows = RowsOfTest(command, model);
  const CSourceOptions options{.name = command.c_name, .rows = rows ? &*rows : nullptr};
  return WriteCSource(command.int8 ? WithInt8(model, options.rows) : model, options, command.out);
}

void WritePage(const ExportCommand& command, const Model& model) {
  const std::optional<Table> rows = RowsOfTest(command, model);
  const PageOptions options{.title = command.title, .rows = rows ? &*rows : nullptr};
  WriteFileAtomically(command.out, ToHtml(command.int8 ? WithInt8(model, options.rows) : model, options));
}

// What the flags say together. Whether a model file is written.
bool CheckKinds(const ExportCommand& command) {
  const bool c_source = !command.c_name.empty();
  const int others = command.onnx + command.csv + command.npy + command.html + c_source;
  const bool model_file = others == 0 && !command.weights.empty();
  if (others != 1 && !model_file) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "say what to write: --onnx, --c, --html, --csv or --npy, or --weights for a model file of other weights");
  }
  if (!c_source && !command.html && command.int8) {
    throw Error(ErrorCode::kInvalidArgument, "--int8 is for C source and for a page",
                {.remedy = "Add --c NAME or --html, or leave it out."});
  }
  if (!c_source && !command.html && !command.data.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--data gives the rows of the self-test of C source and of a page",
                {.remedy = "Add --c NAME or --html, or leave it out."});
  }
  if (!command.html && !command.title.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--title is for a page", {.remedy = "Add --html, or leave it out."});
  }
  return model_file;
}

int RunExport(const ExportCommand& command) {
  const bool c_source = !command.c_name.empty();
  const bool model_file = CheckKinds(command);
  FileUse files;
  files.AddRead("MODEL", {command.model});
  if (!command.data.empty()) {
    files.AddRead("--data", {command.data});
  }
  files.written.push_back({"--out", command.onnx || command.html || model_file ? command.out : ""});
  command.json_output.Check(std::move(files));
  std::vector<std::string> paths{command.out};
  Model model = LoadModel(command.model);
  if (!command.weights.empty()) {
    model = WithWeights(std::move(model), ParseWeightStorage(command.weights));
  }
  if (model_file) {
    SaveModel(command.out, model);
  } else if (command.onnx) {
    WriteFileAtomically(command.out, ToOnnx(model));
  } else if (command.html) {
    WritePage(command, model);
  } else if (c_source) {
    paths = WriteSource(command, model);
  } else {
    RefuseEnsemble(model, "files of its weights");
    RequireOutputFolder(command.out);
    paths = WriteWeightFiles(model.network, command.csv ? WeightFormat::kCsv : WeightFormat::kNpy, command.out);
  }
  if (!command.json_output.to_stdout()) {
    Print("wrote {}\n", fmt::join(paths, ", "));
  }
  command.json_output.Write(
      "export", {{"model", command.model}, {"files", paths}, {"weights", WeightStorageName(model.weights)}});
  return kExitOk;
}

}  // namespace

Command AddExport(CLI::App& app) {
  auto command = std::make_shared<ExportCommand>();
  CLI::App* sub = app.add_subcommand(
      "export",
      "Write a model for other people (a page) or programs (ONNX, C source, its weights as arrays), or with weights in "
      "fewer bits");
  sub->add_option("--model,model", command->model, "Model file written by lamina train")->required()->type_name("FILE");
  sub->add_option("-o,--out", command->out, "The ONNX, HTML or model file; the folder for --c, --csv and --npy")
      ->required()
      ->type_name("PATH");
  sub->add_flag("--onnx", command->onnx, "Network, preprocessing and class names as one ONNX file");
  sub->add_option("--c", command->c_name,
                  "Raw rows to answers as C99, NAME.c and NAME.h: no memory from the system, no library but libm")
      ->type_name("NAME");
  sub->add_flag("--html", command->html,
                "One page that any browser opens without a network: a form of the columns (or a place to draw in), "
                "answers, what they depend on, and files of rows");
  sub->add_option("--title", command->title, "Title of the page; default: the names of the targets")->type_name("TEXT");
  sub->add_flag("--int8", command->int8,
                "With --c or --html: weights and activations in 8-bit integers alone, measured on the rows of "
                "--data (or on rows made up between the bounds of the training rows)");
  sub->add_option("--data", command->data,
                  "Rows whose answers the C source tests itself with (-DNAME_SELF_TEST), and a page when it opens")
      ->type_name("FILE");
  sub->add_flag("--csv", command->csv, "Weights, biases and radii as CSV, a file each");
  sub->add_flag("--npy", command->npy, "The same as .npy");
  AddWeightsTo(*sub, command->weights, "as the file keeps them. Alone: write a model file of such weights");
  command->json_output.AddTo(*sub);
  sub->footer(
      "Examples:\n"
      "  lamina export --onnx digits.safetensors -o digits.onnx\n"
      "  lamina export --html digits.safetensors -o digits.html\n"
      "  lamina export --c digits digits.safetensors -o source\n"
      "  lamina export --weights i8 digits.safetensors -o digits.i8.safetensors\n"
      "  lamina export --c digits --int8 --data digits.csv.gz network.safetensors -o source\n"
      "  lamina export --npy network.safetensors -o weights\n"
      "8-bit integers and files of weights are of one network, as lamina train --recipe tabular makes it.");
  return {sub, [command] { return RunExport(*command); }};
}

}  // namespace lamina::cli
