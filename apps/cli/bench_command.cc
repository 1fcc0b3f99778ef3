// lamina bench: verified measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "bench_data.h"
#include "bench_factor.h"
#include "bench_layer.h"
#include "bench_matrix.h"
#include "bench_network.h"
#include "bench_paper_2016.h"
#include "bench_paper_2017.h"
#include "bench_peak.h"
#include "bench_predict.h"
#include "bench_scaling.h"
#include "command.h"
#include "interrupt.h"
#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/hardware.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"
#include "lamina/data/files/reader.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/measure/train_benchmark.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct BenchTrainCommand {
  std::vector<std::string> nets{"784-1024-10"};
  std::vector<int64_t> batches{16, 64, 128, 256, 1024};
  std::vector<std::string> backends;
  std::string problems;
  std::string data;
  int threads = 0;
  std::string dtype = "f32";
  std::string activation = "sigmoid";
  std::string precision = "exact";
  std::string kernel = "auto";
  double momentum = 0;
  TrainBenchmarkOptions options;
  JsonOutput json_output;
};

struct NetAndBatch {
  std::string net;
  std::vector<int64_t> shape;
  int64_t batch;
};

std::optional<std::vector<int64_t>> ParseShape(const std::string& net) {
  std::vector<int64_t> shape;
  for (const std::string_view part : SplitText(net, '-')) {
    shape.push_back(ParseInteger(part).value_or(0));
  }
  if (shape.size() < 2 || *std::min_element(shape.begin(), shape.end()) < 1) {
    return std::nullopt;
  }
  return shape;
}

// A problem list has a network and a batch size a line; # starts a comment.
std::vector<NetAndBatch> ReadProblems(const std::string& path) {
  const std::string content = ReadFile(path);
  std::vector<NetAndBatch> problems;
  int64_t number = 0;
  for (const std::string_view raw : SplitText(content, '\n')) {
    ++number;
    const std::string_view line = Trim(raw.substr(0, raw.find('#')));
    if (line.empty()) {
      continue;
    }
    const size_t space = line.find(' ');
    const int64_t batch = space == std::string_view::npos ? 0 : ParseInteger(Trim(line.substr(space))).value_or(0);
    const std::string net(line.substr(0, space));
    const std::optional<std::vector<int64_t>> shape = ParseShape(net);
    if (!shape || batch < 1) {
      throw Error(ErrorCode::kInvalidArgument, "a line is a network and a batch size, for example 784-1024-10 128",
                  {.file = path, .line = number, .value = std::string(line)});
    }
    problems.push_back({net, *shape, batch});
  }
  if (problems.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "holds no problems",
                {.file = path, .remedy = "A line is a network and a batch size, for example 784-1024-10 128."});
  }
  return problems;
}

std::vector<NetAndBatch> ProblemsOf(const BenchTrainCommand& command) {
  if (!command.problems.empty()) {
    return ReadProblems(command.problems);
  }
  std::vector<NetAndBatch> problems;
  for (const std::string& net : command.nets) {
    const std::optional<std::vector<int64_t>> shape = ParseShape(net);
    if (!shape) {
      throw Error(ErrorCode::kInvalidArgument, "a network is written inputs-hidden-outputs, for example 784-1024-10",
                  {.value = net});
    }
    for (const int64_t batch : command.batches) {
      problems.push_back({net, *shape, batch});
    }
  }
  return problems;
}

// All that are available, slowest first, or those asked for.
std::vector<std::string> BackendsOf(const BenchTrainCommand& command) {
  if (!command.backends.empty()) {
    return command.backends;
  }
  std::vector<std::string> names;
  for (const BackendRow& row : BackendTable()) {
    if (row.available()) {
      names.insert(names.begin(), std::string(row.name));
    }
  }
  return names;
}

nlohmann::json ToJson(const TrainBenchmarkCase& work, const TrainBenchmarkResult& result, double peak) {
  return {{"network", work.ShapeText()},
          {"batch", work.batch},
          {"dtype", DTypeName(work.dtype)},
          {"activation", work.activation.Text()},
          {"momentum", work.momentum},
          {"precision", NameOf(work.precision, kPrecisions)},
          {"backend", work.backend},
          {"backend_description", result.backend},
          {"threads", result.threads},
          {"verified", result.verified},
          {"largest_error", std::isfinite(result.largest_error) ? nlohmann::json(result.largest_error) : nullptr},
          {"error_bound", result.error_bound},
          {"rounds", result.rounds},
          {"seconds_per_60000_samples", result.median_seconds},
          {"seconds_per_60000_samples_min", result.least_seconds},
          {"seconds_per_60000_samples_max", result.most_seconds},
          {"samples_per_second", result.samples_per_second},
          {"gflops", result.gflops},
          {"fma_peak_gflops", peak > 0 ? nlohmann::json(peak) : nullptr},
          {"share_of_peak", peak > 0 ? nlohmann::json(result.gflops / peak) : nullptr}};
}

// GFLOP/s of the type in multiply-adds that the threads, or the GPU, can do. 0 where it is not known: a GPU has other
// units for what is rounded.
double PeakOf(const TrainBenchmarkCase& work, const TrainBenchmarkResult& result) {
  if (!result.on_device) {
    return MeasureFmaPeak_gflops(work.dtype, result.threads);
  }
  return 2e-9 * MeasureDeviceSynapseLimit({Synapse::kDot, work.dtype, work.precision});
}

// Every network on every backend; throws where one of them cannot be measured, before any work.
std::vector<TrainBenchmarkCase> CasesOf(const BenchTrainCommand& command) {
  TrainBenchmarkCase work;
  work.threads = command.threads;
  work.dtype = ParseDType(command.dtype);
  work.precision = ParseName(command.precision, kPrecisions, "--precision: unknown choice");
  work.activation = Activation(command.activation);
  work.momentum = command.momentum;
  work.kernel = command.kernel;
  const std::vector<NetAndBatch> problems = ProblemsOf(command);
  const std::vector<std::string> backends = BackendsOf(command);
  for (const std::string& backend : backends) {
    MakeBackend(backend, {.threads = command.threads});
  }
  work.inputs = command.data.empty() ? nullptr : BenchmarkInputs(command.data);
  std::vector<TrainBenchmarkCase> cases;
  for (const NetAndBatch& problem : problems) {
    work.shape = problem.shape;
    work.batch = problem.batch;
    WholeSteps(work, kBenchmarkRows);
    CheckInputs(work);
    for (const std::string& backend : backends) {
      work.backend = backend;
      cases.push_back(work);
    }
  }
  return cases;
}

void PrintHeading(const BenchTrainCommand& command, const std::string& hardware) {
  Print(
      "{}\nTraining step on {}, {}, {} in every layer, sgd{}; seconds are the median of {} rounds.\n"
      "GFLOP/s count 4 w for the first layer and 6 w for the others per sample (w: its weights).\n\n",
      hardware, command.data.empty() ? "random data" : command.data,
      command.dtype + (command.precision == "exact" ? "" : ", precision " + command.precision), command.activation,
      command.momentum > 0 ? fmt::format(" with momentum {}", command.momentum) : "", command.options.rounds);
  Print("{:<18} {:>6} {:<8} {:>7} {:>14} {:>17} {:>11} {:>9} {:>7} {:>9}\n", "network", "batch", "backend", "threads",
        "s per 60,000", "(min-max)", "samples/s", "GFLOP/s", "peak %", "verified");
}

void PrintRow(const TrainBenchmarkCase& work, const TrainBenchmarkResult& result, double peak) {
  Print("{:<18} {:>6} {:<8} {:>7} {:>14.4f} {:>17} {:>11} {:>9.1f} {:>7} {:>9}\n", work.ShapeText(), work.batch,
        work.backend, result.threads, result.median_seconds,
        fmt::format("({:.3f}-{:.3f})", result.least_seconds, result.most_seconds),
        WithThousands(static_cast<int64_t>(result.samples_per_second)), result.gflops,
        peak > 0 ? fmt::format("{:.1f}", 100 * result.gflops / peak) : "-", result.verified ? "yes" : "WRONG");
  std::fflush(stdout);
}

int RunBenchTrain(const BenchTrainCommand& command) {
  FileUse files{{{"--problems", command.problems}}, {}};
  if (!command.data.empty()) {
    files.AddRead("--data", DataFiles(command.data));
  }
  command.json_output.Check(std::move(files));
  const bool text = !command.json_output.to_stdout();
  const std::vector<TrainBenchmarkCase> cases = CasesOf(command);
  const std::string hardware = QueryHardware().OneLine();
  if (text) {
    PrintHeading(command, hardware);
  }
  CatchInterrupts();
  TrainBenchmarkOptions options = command.options;
  options.stop_requested = Interrupted;
  nlohmann::json rows = nlohmann::json::array();
  std::map<std::tuple<bool, int, Precision>, double> peaks;
  bool all_verified = true;
  for (const TrainBenchmarkCase& work : cases) {
    const TrainBenchmarkResult result = BenchmarkTraining(work, options);
    if (Interrupted()) {
      PrintToStderr("lamina: interrupted\n");
      return kExitInterrupted;
    }
    // Measured beside every row and the best kept: a limit is what the machine can do when nobody disturbs it.
    double& peak = peaks[{result.on_device, result.threads, work.precision}];
    peak = std::max(peak, PeakOf(work, result));
    all_verified = all_verified && result.verified;
    rows.push_back(ToJson(work, result, peak));
    if (text) {
      PrintRow(work, result, peak);
    }
  }
  command.json_output.Write("bench train",
                            {{"hardware", hardware},
                             {"data", command.data.empty() ? nlohmann::json() : nlohmann::json(command.data)},
                             {"results", std::move(rows)}});
  return ExitOfBenchmark(all_verified);
}

std::function<int()> AddBenchTrain(CLI::App& bench) {
  auto train = std::make_shared<BenchTrainCommand>();
  CLI::App* train_app = bench.add_subcommand("train", "Time the training step of a network");
  train_app->add_option("--net", train->nets, "Networks, inputs-hidden-outputs")
      ->delimiter(',')
      ->default_str("784-1024-10");
  train_app->add_option("--batch", train->batches, "Samples a step")
      ->delimiter(',')
      ->default_str("16,64,128,256,1024")
      ->check(CLI::PositiveNumber);
  AddBackendsFlag(*train_app, train->backends);
  train_app->add_option("--problems", train->problems, "Take networks and batch sizes from this file")
      ->type_name("FILE");
  train_app
      ->add_option("--data", train->data,
                   "Inputs of this data set, as train encodes them, instead of random ones (none of which is zero)")
      ->type_name("FILE");
  AddThreadsFlag(*train_app, train->threads);
  train_app->add_option("--dtype", train->dtype, "f32 or f64")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "f64"}));
  train_app->add_option("--activation", train->activation, "Activation of every layer")->capture_default_str();
  train_app->add_option("--precision", train->precision, "Precision of the operands of products, as in train")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesIn(kPrecisions)));
  AddKernelFlag(*train_app, train->kernel);
  train_app->add_option("--momentum", train->momentum, "Momentum of the updates")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 0.999));
  train_app->add_option("--rounds", train->options.rounds, "Measurements of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  train_app->add_option("--round-seconds", train->options.round_seconds, "Least length of one measurement")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 3600.0));
  train->json_output.AddTo(*train_app);
  train_app->footer(
      "Example: lamina bench train --net 784-1024-10 --batch 16,128,1024 --backend serial,threads,blas,cpu");
  return [=] { return RunBenchTrain(*train); };
}

}  // namespace

Command AddBench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure on this machine, results verified first");
  bench->require_subcommand(1);
  const std::map<std::string, std::function<int()>> runs = {
      {"train", AddBenchTrain(*bench)},         {"data", AddBenchData(*bench)},
      {"layer", AddBenchLayer(*bench)},         {"matrix", AddBenchMatrix(*bench)},
      {"network", AddBenchNetwork(*bench)},     {"peak", AddBenchPeak(*bench)},
      {"predict", AddBenchPredict(*bench)},     {"factor", AddBenchFactor(*bench)},
      {"scaling", AddBenchScaling(*bench)},     {"paper-2016", AddBenchPaper2016(*bench)},
      {"paper-2017", AddBenchPaper2017(*bench)}};
  return {bench, [=] { return runs.at(bench->get_subcommands().front()->get_name())(); }};
}

}  // namespace lamina::cli
