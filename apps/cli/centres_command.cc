// `lamina centres`: k-means and k-medians of the rows of a .npy file.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "config.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/stop.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/rbf/file_centres.h"
#include "print.h"
#include "ranks.h"

namespace lamina::cli {
namespace {

constexpr const char* kCentresFooter =
    "Examples:\n"
    "  lamina centres --x x.npy --method k-medians --count 512 --out centres.npy\n"
    "  lamina centres --x x.npy --count 4096 --batch 8192 --iterations 100 --out centres.npy\n"
    "  lamina layer --x x.npy --w centres.npy --neuron rbf --radius 12 --out h.npy";

struct CentresCommand {
  FileCentresSettings settings;
  bool quiet = false;
  RankFlags ranks;
  JsonOutput json_output;
};

void PrintStart(const FileCentresSettings& settings, const FileCentres& centres) {
  Print("{} rows x {} columns, {}, {} centers by {}; {}\n", WithThousands(centres.rows()),
        WithThousands(centres.columns()), DTypeName(centres.dtype()), WithThousands(settings.count), settings.method,
        centres.backend().Describe());
  if (const nlohmann::json of = RanksJson(); !of.is_null()) {
    Print("{} ranks on {} host{} by {}, {} shards of the rows\n", of["ranks"].get<int>(), of["hosts"].size(),
          of["hosts"].size() == 1 ? "" : "s", of["by"].get<std::string>(), centres.shards());
  }
  std::fflush(stdout);
}

// Iterations until nothing changes or somebody asks to stop; `complete` says which.
Clusters RunCentres(FileCentres& centres, bool text) {
  const auto told = [&](int64_t iteration, double mean_distance) {
    if (text) {
      Print("iteration {}  mean distance {:.6g}\n", iteration, mean_distance);
      std::fflush(stdout);
    }
  };
  Clusters clusters;
  try {
    const StopScope scope(Interrupted);  // one iteration over many rows takes long, too
    clusters = centres.Run(Interrupted, told);
  } catch (const Stopped&) {
    clusters.complete = false;
  }
  return clusters;
}

int RunCentres(const CentresCommand& command) {
  const FileCentresSettings& settings = command.settings;
  command.json_output.Check(FilesOf(settings));
  Communicator* ranks = JoinRanks(command.ranks);
  const bool text = !command.quiet && !command.json_output.to_stdout() && SpeaksForAll();
  FileCentres centres(settings, ranks);
  if (SpeaksForAll()) {
    PrintWarning(centres.tuning_warning());
  }
  if (text) {
    PrintStart(settings, centres);
  }
  CatchInterrupts();
  const Stopwatch watch;
  const Clusters clusters = RunCentres(centres, text);
  if (!clusters.complete) {
    if (SpeaksForAll()) {
      PrintToStderr("lamina: interrupted; nothing was written\n");
    }
    return kExitInterrupted;
  }
  const double seconds = watch.Elapsed_seconds();
  if (text) {
    Print("{} iterations in {}, mean distance {:.6g}; wrote {}\n", clusters.iterations, DurationText(seconds),
          clusters.mean_distance, settings.out);
  }
  if (!SpeaksForAll()) {
    return kExitOk;
  }
  command.json_output.Write("centres", {{"ranks", RanksJson()},
                                        {"x", settings.x},
                                        {"out", settings.out},
                                        {"method", settings.method},
                                        {"count", settings.count},
                                        {"iterations", clusters.iterations},
                                        {"mean_distance", clusters.mean_distance},
                                        {"dtype", DTypeName(centres.dtype())},
                                        {"rows", centres.rows()},
                                        {"columns", centres.columns()},
                                        {"seconds", seconds},
                                        {"peak_memory_bytes", PeakMemory_bytes()},
                                        {"hardware", QueryHardware().OneLine()},
                                        {"backend", centres.backend().name()},
                                        {"threads", centres.backend().threads()}});
  return kExitOk;
}

}  // namespace

Command AddCentres(CLI::App& app) {
  auto command = std::make_shared<CentresCommand>();
  CLI::App* centres = app.add_subcommand("centres", "Find centers for RBF layers: k-means or k-medians of a .npy file");
  AddSettingFlags(*centres, command->settings);
  command->ranks.AddTo(*centres);
  centres->add_flag("-q,--quiet", command->quiet, "Print errors only");
  command->json_output.AddTo(*centres);
  centres->footer(kCentresFooter);
  return {centres, [command] { return RunCentres(*command); }};
}

}  // namespace lamina::cli
