// lamina layer: one layer over .npy files of any size.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/layer/file_layer.h"
#include "lamina/platform/process.h"
#include "print.h"
#include "progress.h"
#include "ranks.h"

namespace lamina::cli {
namespace {

constexpr const char* kLayerFooter =
    "Examples:\n"
    "  lamina layer --x x.npy --w centres.npy --neuron rbf --radius 12 --out h.npy\n"
    "  lamina layer --x x.npy --neurons 4096 --w-out centres.npy --radius 12 --memory 1G --out h.npy\n"
    "  lamina layer --x x.npy --w w.npy --bias b.npy --neuron dot-sigmoid --out h.npy";

struct LayerCommand {
  FileLayerSettings settings;
  std::string config;
  SaidByFiles said;
  const CLI::App* app = nullptr;  // which flags were given
  bool print_config = false;
  bool quiet = false;
  RankFlags ranks;
  JsonOutput json_output;
};

void PrintStart(const FileLayer& layer) {
  const SlicePlan& plan = layer.plan();
  Print("{} samples x {} inputs, {} neurons {}, {}; {}\n", WithThousands(layer.batch()),
        WithThousands(layer.layer().inputs), WithThousands(layer.layer().outputs), NeuronText(layer.layer()),
        DTypeName(layer.dtype()), layer.backend().Describe());
  Print("{} slice{} ({} x {}) of up to {} samples x {} neurons, {} each, budget {}\n", plan.count(),
        plan.count() == 1 ? "" : "s", plan.sample_slices(), plan.neuron_slices(), WithThousands(plan.samples),
        WithThousands(plan.neurons), BytesText(plan.slice_bytes), BytesText(layer.budget_bytes()));
  if (const nlohmann::json ranks = RanksJson(); !ranks.is_null()) {
    Print("{} ranks on {} host{} by {}, {} samples each\n", ranks["ranks"].get<int>(), ranks["hosts"].size(),
          ranks["hosts"].size() == 1 ? "" : "s", ranks["by"].get<std::string>(), WithThousands(layer.own_batch()));
  }
  std::fflush(stdout);
}

void PrintResult(const FileLayerSettings& settings, const FileLayerResult& result) {
  Print("{} computing, {} more until it was on the disk\n", DurationText(result.seconds),
        DurationText(result.flush_seconds));
  Print("{:.4g} synapses/s, t_syn {:.5f} ns; peak resident memory {}\n", result.synapses_per_second, result.t_syn_ns,
        BytesText(PeakMemory_bytes()));
  for (const std::string* path : {&settings.out, &settings.w_out}) {
    if (!path->empty()) {
      Print("wrote {}\n", *path);
    }
  }
}

nlohmann::json ResultJson(const LayerCommand& command, const FileLayer& layer, const FileLayerResult& result) {
  const FileLayerSettings& settings = command.settings;
  const SlicePlan& plan = layer.plan();
  return {{"ranks", RanksJson()},
          {"x", settings.x},
          {"w", settings.w},
          {"out", settings.out},
          {"w_out", settings.w_out},
          {"neuron", NeuronText(layer.layer())},
          {"precision", settings.precision},
          {"dtype", DTypeName(layer.dtype())},
          {"output_dtype", DTypeName(OutputType(layer.dtype()))},
          {"samples", layer.batch()},
          {"inputs", layer.layer().inputs},
          {"neurons", layer.layer().outputs},
          {"slices", plan.count()},
          {"slice_samples", plan.samples},
          {"slice_neurons", plan.neurons},
          {"slice_bytes", plan.slice_bytes},
          {"budget_bytes", layer.budget_bytes()},
          {"seconds", result.seconds},
          {"flush_seconds", result.flush_seconds},
          {"synapses_per_second", result.synapses_per_second},
          {"t_syn_ns", result.t_syn_ns},
          {"peak_memory_bytes", PeakMemory_bytes()},
          {"hardware", QueryHardware().OneLine()},
          {"backend", layer.backend().name()},
          {"threads", layer.backend().threads()}};
}

// The bar while the layer runs, on a terminal.
struct Bar {
  bool wanted = false;
  bool shown = false;

  void Update(const SliceProgress& progress) {
    if (wanted) {
      PrintBar("layer", progress.share,
               fmt::format("{:.0f} %  {:.4g} synapses/s  {} left", 100 * progress.share, progress.synapses_per_second,
                           DurationText(progress.seconds_left)));
      shown = true;
    }
  }
  void Clear() {
    if (shown) {
      ClearBar();
      shown = false;
    }
  }
};

int RunLayer(const LayerCommand& command) {
  if (command.print_config) {
    PrintData(WriteConfig(command.settings));
    return kExitOk;
  }
  command.said.RequireGiven(*command.app);
  const FileLayerSettings& settings = command.settings;
  FileUse files = FilesOf(settings);
  files.AddRead("--config", {command.config});
  command.json_output.Check(std::move(files));
  Communicator* ranks = JoinRanks(command.ranks);
  const bool text = !command.quiet && !command.json_output.to_stdout() && SpeaksForAll();
  FileLayer layer(settings, ranks);
  if (SpeaksForAll()) {
    PrintWarning(layer.tuning_warning());
  }
  if (text) {
    PrintStart(layer);
  }
  Bar bar{text && platform::IsTerminal(platform::kStandardOutput)};
  SliceCallbacks callbacks;
  callbacks.stop_requested = Interrupted;
  callbacks.progress = [&](const SliceProgress& progress) { bar.Update(progress); };
  CatchInterrupts();
  FileLayerResult result;
  try {
    result = layer.Run(callbacks);
  } catch (...) {
    bar.Clear();
    throw;
  }
  bar.Clear();
  if (!result.complete) {
    if (SpeaksForAll()) {
      PrintToStderr("lamina: interrupted; nothing was written\n");
    }
    return kExitInterrupted;
  }
  if (text) {
    PrintResult(settings, result);
  }
  if (SpeaksForAll()) {
    command.json_output.Write("layer", ResultJson(command, layer, result));
  }
  return kExitOk;
}

}  // namespace

Command AddLayer(CLI::App& app, int argc, const char* const* argv) {
  auto command = std::make_shared<LayerCommand>();
  CLI::App* layer = app.add_subcommand("layer", "Compute one layer over .npy files of any size, slice by slice");
  if (argc > 1 && std::string_view(argv[1]) == "layer") {
    if (const std::string path = ValueInArguments(argc, argv, "--config"); !path.empty()) {
      ReadConfigFile(path, command->settings, command->said);
    }
  }
  command->app = layer;
  AddSettingFlags(*layer, command->settings);
  command->ranks.AddTo(*layer);
  layer
      ->add_option("--config", command->config,
                   "Take settings from this TOML file; flags win, and say where files are written")
      ->type_name("FILE");
  layer->add_flag("--print-config", command->print_config, "Print a complete configuration file and stop");
  layer->add_flag("-q,--quiet", command->quiet, "Print errors only");
  command->json_output.AddTo(*layer);
  layer->footer(kLayerFooter);
  return {layer, [command] { return RunLayer(*command); }};
}

}  // namespace lamina::cli
