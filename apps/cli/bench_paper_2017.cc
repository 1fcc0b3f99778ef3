// lamina bench paper-2017: the study of the 2017 paper on this machine, as text, tables and pictures.
#include "bench_paper_2017.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "command.h"
#include "interrupt.h"
#include "lamina/backend/backends.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/paper_2017.h"
#include "print.h"
#include "progress.h"
#include "study_output.h"

namespace lamina::cli {
namespace {

constexpr double kFullSeconds = 0.3;
constexpr double kQuickSeconds = 0.04;

struct BenchPaper2017Command {
  std::string folder;
  std::string backend = "auto";
  bool quick = false;
  int threads = 0;
  double seconds = 0;
};

void PrintTimed(const TimedLayer& layer, double elapsed_seconds) {
  const std::string result =
      !layer.done() ? "not measured: " + layer.reason
                    : fmt::format("{:.5g} s, {:.4g} ns a synapse{}{}", layer.seconds, layer.t_syn_ns,
                                  layer.estimated() ? fmt::format(" (from {} samples)", layer.timed_samples) : "",
                                  layer.verified ? "" : ", WRONG");
  Print("{:>7}  {:<7} {:<58} {}\n", DurationText(elapsed_seconds), layer.backend, layer.problem.Text(), result);
  std::fflush(stdout);
}

int RunBenchPaper2017(const BenchPaper2017Command& command) {
  Paper2017Options options;
  options.sizes = command.quick ? Paper2017Sizes::Quick() : Paper2017Sizes::Full();
  options.backend = command.backend;
  options.timer.threads = command.threads;
  options.timer.seconds = command.seconds > 0 ? command.seconds : command.quick ? kQuickSeconds : kFullSeconds;
  RequireReportFolder(command.folder);
  CatchInterrupts();
  const Stopwatch watch;
  options.timer.timed = [&](const TimedLayer& layer) { PrintTimed(layer, watch.Elapsed_seconds()); };
  options.timer.stop_requested = Interrupted;
  const Paper2017Result result = RunPaper2017(options);
  return FinishStudy({result.report, result.interrupted, result.all_verified}, command.folder, watch.Elapsed_seconds());
}

}  // namespace

std::function<int()> AddBenchPaper2017(CLI::App& bench) {
  auto command = std::make_shared<BenchPaper2017Command>();
  CLI::App* paper =
      bench.add_subcommand("paper-2017", "Redo the study of the 2017 paper: Fig. 4, Tables I-V, Figures 5-7");
  paper
      ->add_option("--out", command->folder,
                   "Folder for report.md, report.json, tables as CSV, pictures as SVG and PNG")
      ->type_name("FOLDER")
      ->required();
  paper->add_flag("--quick", command->quick, "Smaller layers and shorter measurements: under a minute");
  AddBackendFlag(*paper, command->backend, "In the place of the paper's GPU: ");
  AddThreadsFlag(*paper, command->threads);
  paper
      ->add_option(
          "--seconds", command->seconds,
          fmt::format("Length of one measurement; slower layers are timed on a slice of the samples; default: {}, with "
                      "--quick {}",
                      kFullSeconds, kQuickSeconds))
      ->check(CheckFinite)
      ->check(CLI::Range(0.001, 60.0));
  paper->footer("Example: lamina bench paper-2017 --out study --quick");
  return [command] { return RunBenchPaper2017(*command); };
}

}  // namespace lamina::cli
