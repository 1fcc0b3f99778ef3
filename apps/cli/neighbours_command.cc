// `lamina neighbours`: exact nearest neighbors over .npy files of any size.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/layer/file_neighbours.h"
#include "lamina/platform/process.h"
#include "print.h"
#include "progress.h"

namespace lamina::cli {
namespace {

constexpr const char* kNeighboursFooter =
    "Examples:\n"
    "  lamina neighbours --x x.npy --y centres.npy --k 10 --metric l1 --out neighbours.npy\n"
    "  lamina neighbours --x x.npy --y x.npy --k 2 --out itself-and-next.npy --distances d.npy";

struct NeighboursCommand {
  FileNeighboursSettings settings;
  bool quiet = false;
  JsonOutput json_output;
};

int RunNeighbours(const NeighboursCommand& command) {
  const FileNeighboursSettings& settings = command.settings;
  command.json_output.Check(FilesOf(settings));
  const bool text = !command.quiet && !command.json_output.to_stdout();
  FileNeighbours neighbours(settings);
  PrintWarning(neighbours.tuning_warning());
  if (text) {
    Print("{} rows, {} nearest of {} by {}, {} columns, {}; {}\n", WithThousands(neighbours.x_rows()), settings.k,
          WithThousands(neighbours.y_rows()), settings.metric, WithThousands(neighbours.columns()),
          DTypeName(neighbours.dtype()), neighbours.backend().Describe());
    std::fflush(stdout);
  }
  const bool bar = text && platform::IsTerminal(platform::kStandardOutput);
  SliceCallbacks callbacks;
  callbacks.stop_requested = Interrupted;
  callbacks.progress = [&](const SliceProgress& progress) {
    if (bar) {
      PrintBar("neighbours", progress.share, DurationText(progress.seconds_left) + " left");
    }
  };
  CatchInterrupts();
  const FileNeighboursResult result = neighbours.Run(callbacks);
  if (bar) {
    ClearBar();
  }
  if (!result.complete) {
    PrintToStderr("lamina: interrupted; nothing was written\n");
    return kExitInterrupted;
  }
  if (text) {
    Print("{}, {:.4g} synapses/s; wrote {}{}\n", DurationText(result.seconds), result.synapses_per_second, settings.out,
          settings.distances.empty() ? "" : " and " + settings.distances);
  }
  command.json_output.Write("neighbours", {{"x", settings.x},
                                           {"y", settings.y},
                                           {"out", settings.out},
                                           {"distances", settings.distances},
                                           {"k", settings.k},
                                           {"metric", settings.metric},
                                           {"dtype", DTypeName(neighbours.dtype())},
                                           {"x_rows", neighbours.x_rows()},
                                           {"y_rows", neighbours.y_rows()},
                                           {"columns", neighbours.columns()},
                                           {"seconds", result.seconds},
                                           {"synapses_per_second", result.synapses_per_second},
                                           {"peak_memory_bytes", PeakMemory_bytes()},
                                           {"hardware", QueryHardware().OneLine()},
                                           {"backend", neighbours.backend().name()},
                                           {"threads", neighbours.backend().threads()}});
  return kExitOk;
}

}  // namespace

Command AddNeighbours(CLI::App& app) {
  auto command = std::make_shared<NeighboursCommand>();
  CLI::App* neighbours =
      app.add_subcommand("neighbours", "Find the nearest rows of one .npy file for every row of another");
  AddSettingFlags(*neighbours, command->settings);
  neighbours->add_flag("-q,--quiet", command->quiet, "Print errors only");
  command->json_output.AddTo(*neighbours);
  neighbours->footer(kNeighboursFooter);
  return {neighbours, [command] { return RunNeighbours(*command); }};
}

}  // namespace lamina::cli
