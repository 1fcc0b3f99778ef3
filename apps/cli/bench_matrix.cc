// lamina bench matrix: layers, training and single answers on this machine in one report.
#include "bench_matrix.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "command.h"
#include "interrupt.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/platform/process.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/matrix.h"
#include "print.h"
#include "progress.h"
#include "study_output.h"

namespace lamina::cli {
namespace {

struct BenchMatrixCommand {
  std::string folder;
  std::string data;
  bool quick = false;
  bool peers = false;
  std::string python = "python3";
  int threads = 0;
  int rounds = 0;
};

int RunBenchMatrix(const BenchMatrixCommand& command) {
  MatrixOptions options = command.quick ? MatrixOptions::Quick() : MatrixOptions::Usual();
  options.data = command.data;
  options.peer_python = command.peers ? command.python : "";
  options.threads = command.threads;
  options.rounds = command.rounds > 0 ? command.rounds : options.rounds;
  options.program = platform::ProgramFile();
  RequireReportFolder(command.folder);
  CatchInterrupts();
  const Stopwatch watch;
  options.measured = [&](const std::string& line) {
    Print("{:>7}  {}\n", DurationText(watch.Elapsed_seconds()), line);
    std::fflush(stdout);
  };
  options.stop_requested = Interrupted;
  const MatrixResult result = MeasureMatrix(options);
  return FinishStudy({result.report, result.interrupted, result.all_verified}, command.folder, watch.Elapsed_seconds());
}

}  // namespace

std::function<int()> AddBenchMatrix(CLI::App& bench) {
  auto command = std::make_shared<BenchMatrixCommand>();
  CLI::App* matrix =
      bench.add_subcommand("matrix", "Layers, training and single answers on this machine in one report");
  matrix->add_option("--out", command->folder, "Folder for report.md, report.json and the tables as CSV")
      ->type_name("FOLDER")
      ->required();
  matrix
      ->add_option("--data", command->data,
                   "Train on the inputs of this data set, too, as train encodes them (mnist: 81 % of them are zero)")
      ->type_name("FILE");
  CLI::Option* peers = matrix->add_flag(
      "--peers", command->peers,
      "Race PyTorch, JAX, onnxruntime, scikit-learn, faiss, SciPy and NumPy, as far as installed, in the same turns");
  matrix->add_option("--python", command->python, "The Python that has them, of a virtual environment for instance")
      ->type_name("PROGRAM")
      ->capture_default_str()
      ->needs(peers);
  matrix->add_flag("--quick", command->quick, "Small layers and networks: a few seconds");
  AddThreadsFlag(*matrix, command->threads);
  matrix->add_option("--rounds", command->rounds, "Measurements of which the median counts; default: 5, with --quick 3")
      ->check(CLI::Range(1, 1000));
  matrix->footer("Example: lamina bench matrix --out matrix --quick");
  return [command] { return RunBenchMatrix(*command); };
}

}  // namespace lamina::cli
