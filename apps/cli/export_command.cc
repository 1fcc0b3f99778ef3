// lamina export.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/output_folder.h"
#include "lamina/layer/weight_files.h"
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
  std::string weights;  // empty: as the file keeps them
  JsonOutput json_output;
};

int RunExport(const ExportCommand& command) {
  const int others = command.onnx + command.csv + command.npy;
  const bool model_file = others == 0 && !command.weights.empty();
  if (others != 1 && !model_file) {
    throw Error(ErrorCode::kInvalidArgument,
                "say what to write: --onnx, --csv or --npy, or --weights for a model file of other weights");
  }
  FileUse files;
  files.AddRead("MODEL", {command.model});
  files.written.push_back({"--out", command.onnx || model_file ? command.out : ""});
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
      "export", "Write a model for other programs (ONNX, or its weights as arrays), or with weights in fewer bits");
  sub->add_option("--model,model", command->model, "Model file written by lamina train")->required()->type_name("FILE");
  sub->add_option("-o,--out", command->out, "The ONNX or model file; the folder for --csv and --npy")
      ->required()
      ->type_name("PATH");
  sub->add_flag("--onnx", command->onnx, "Network, preprocessing and class names as one ONNX file");
  sub->add_flag("--csv", command->csv, "Weights, biases and radii as CSV, a file each");
  sub->add_flag("--npy", command->npy, "The same as .npy");
  AddWeightsTo(*sub, command->weights, "as the file keeps them. Alone: write a model file of such weights");
  command->json_output.AddTo(*sub);
  sub->footer(
      "Examples:\n"
      "  lamina export --onnx digits.safetensors -o digits.onnx\n"
      "  lamina export --npy digits.safetensors -o weights\n"
      "  lamina export --weights i8 digits.safetensors -o digits.i8.safetensors");
  return {sub, [command] { return RunExport(*command); }};
}

}  // namespace lamina::cli
