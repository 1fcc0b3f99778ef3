// lamina bench paper-2016: the study of the 2016 paper on this machine, as text, tables and pictures.
#include "bench_paper_2016.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "command.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/other_load.h"
#include "lamina/study/paper_2016.h"
#include "print.h"
#include "progress.h"
#include "study_output.h"

namespace lamina::cli {
namespace {

constexpr int64_t kRows = 60'000;
constexpr int64_t kQuickAccuracyRows = 3'000;

struct BenchPaper2016Command {
  std::string folder;
  std::string data;
  bool quick = false;
  bool with_peers = false;
  std::string peer_script;
  std::vector<int64_t> batches;
  std::vector<std::string> backends;
  int threads = 0;
  int rounds = 0;
  double seconds = 0;
  int64_t epochs = 1;
};

Paper2016Options OptionsOf(const BenchPaper2016Command& command) {
  Paper2016Options options;
  if (command.quick) {
    options.batches = {16, 128, 1024};
    options.rounds = 2;
    options.round_seconds = 0.15;
    options.accuracy.rows = kQuickAccuracyRows;
  }
  options.batches = command.batches.empty() ? options.batches : command.batches;
  options.rounds = command.rounds > 0 ? command.rounds : options.rounds;
  options.round_seconds = command.seconds > 0 ? command.seconds : options.round_seconds;
  options.backends = command.backends;
  options.threads = command.threads;
  options.accuracy.epochs = command.epochs;
  return options;
}

// --data, else MNIST of LAMINA_DATA, else random numbers.
Paper2016Data DataOf(const BenchPaper2016Command& command) {
  if (!command.data.empty()) {
    return LoadPaper2016Data(command.data, kRows);
  }
  const char* folder = std::getenv("LAMINA_DATA");
  std::error_code ignored;
  if (const auto mnist = std::filesystem::path(folder == nullptr ? "" : folder) / "mnist";
      folder != nullptr && std::filesystem::is_directory(mnist, ignored)) {
    return LoadPaper2016Data(mnist.string(), kRows);
  }
  return RandomPaper2016Data(kRows);
}

void PrintTimed(const TimedTraining& timed, double elapsed_seconds) {
  const std::string result =
      !timed.done()
          ? "not measured: " + timed.reason
          : fmt::format("{:.4g} s an epoch, {:.1f} GFLOP/s ({} step{} timed){}", timed.seconds, timed.gflops,
                        timed.steps, timed.steps == 1 ? "" : "s", timed.is_peer || timed.verified ? "" : ", WRONG");
  Print("{:>7}  {}  batch {:>4}  {:<21} {}{}\n", DurationText(elapsed_seconds), timed.network, timed.batch, timed.who,
        timed.threads > 0 ? fmt::format("{} thread{}: ", timed.threads, timed.threads == 1 ? "" : "s") : "", result);
  std::fflush(stdout);
}

// Where the script is not there, every column of a peer says so.
std::function<std::vector<PeerResult>(const PeerRequest&)> PeersOf(const BenchPaper2016Command& command,
                                                                   const Paper2016Data& data) {
  const std::string script = command.peer_script.empty() ? FindPeerScript() : command.peer_script;
  if (script.empty()) {
    return [](const PeerRequest&) {
      PeerResult missing;
      missing.library = "peers";
      missing.settings = "none";
      missing.reason = "bench/peers/train_cpu is not beside this program; name it with --peer-script";
      return std::vector<PeerResult>{missing};
    };
  }
  const auto files = std::make_shared<PeerData>(data.train, data.test ? &*data.test : nullptr);
  return [script, files](const PeerRequest& request) { return MeasurePeers(script, request, *files, Interrupted); };
}

int RunBenchPaper2016(const BenchPaper2016Command& command) {
  RequireReportFolder(command.folder);
  if (!command.peer_script.empty() && !command.with_peers) {
    throw Error(ErrorCode::kInvalidArgument, "--peer-script belongs to --peers");
  }
  Paper2016Options options = OptionsOf(command);
  CatchInterrupts();
  const Stopwatch watch;
  const Paper2016Data data = DataOf(command);
  Print("{} rows of {}{}\n", WithThousands(data.train.size()), data.name,
        data.test ? "" : ": speed only; for accuracies give --data FOLDER (lamina data fetch mnist)");
  options.load = OtherLoad();
  if (const std::string remark = LoadRemark(options.load, QueryHardware().logical_cores); !remark.empty()) {
    PrintNote(stdout, "{}\n", remark);
  }
  options.timed = [&](const TimedTraining& timed) { PrintTimed(timed, watch.Elapsed_seconds()); };
  options.trained = [&](const std::string& network, const std::string& who, double accuracy, double seconds) {
    Print("{:>7}  {}  {:<21} accuracy {:.2f} % after {:.3g} s of training\n", DurationText(watch.Elapsed_seconds()),
          network, who, 100 * accuracy, seconds);
    std::fflush(stdout);
  };
  options.stop_requested = Interrupted;
  if (command.with_peers) {
    options.peers = PeersOf(command, data);
  }
  const Paper2016Result result = RunPaper2016(data, options);
  return FinishStudy({result.report, result.interrupted, result.all_verified}, command.folder, watch.Elapsed_seconds());
}

}  // namespace

std::function<int()> AddBenchPaper2016(CLI::App& bench) {
  auto command = std::make_shared<BenchPaper2016Command>();
  CLI::App* paper = bench.add_subcommand(
      "paper-2016", "Redo the study of the 2016 paper: Figures 7-10, speed-ups, threads, accuracy, peers");
  paper
      ->add_option("--out", command->folder,
                   "Folder for report.md, report.json, tables as CSV, pictures as SVG and PNG")
      ->type_name("FOLDER")
      ->required();
  paper
      ->add_option(
          "--data", command->data,
          "Folder of MNIST (or of other IDX images); default: mnist in LAMINA_DATA, else random numbers, which "
          "have no accuracy")
      ->type_name("FOLDER");
  paper->add_flag("--quick", command->quick, "Three batch sizes, shorter measurements: about a minute");
  paper->add_flag("--peers", command->with_peers,
                  "Race PyTorch, scikit-learn, NumPy and libxsmm-dnn, as far as they are installed, on the same rows");
  paper->add_option("--peer-script", command->peer_script, "What runs them; default: bench/peers/train_cpu")
      ->type_name("FILE");
  paper->add_option("--batch", command->batches, "Rows in a step; default: 16,32,64,128,256,512,1024")
      ->delimiter(',')
      ->check(CLI::Range(1, 60000));
  AddBackendsFlag(*paper, command->backends);
  AddThreadsFlag(*paper, command->threads);
  paper->add_option("--rounds", command->rounds, "Measurements of which the median counts; default: 3, with --quick 2")
      ->check(CLI::Range(1, 1000));
  paper
      ->add_option("--seconds", command->seconds,
                   "Least length of one measurement; slower backends do one step; default: 1, with --quick 0.15")
      ->check(CheckFinite)
      ->check(CLI::Range(0.001, 600.0));
  paper->add_option("--epochs", command->epochs, "Epochs of the training whose accuracy is compared")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  paper->footer("Example: lamina bench paper-2016 --out study --data mnist --peers");
  return [command] { return RunBenchPaper2016(*command); };
}

}  // namespace lamina::cli
