// lamina bench predict: how long one answer takes, or a few together.
#include "bench_predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/measure/predict_benchmark.h"
#include "lamina/model/predictor.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct BenchPredictCommand {
  std::vector<std::string> nets{"784-1024-10"};
  std::vector<int> threads{1};
  std::string dtype = "f32";
  std::string activation = "sigmoid";
  std::vector<std::string> weights{"exact"};
  double zeros = 0;
  std::string rows;
  int64_t together = 1;
  PredictBenchmarkOptions options;
  JsonOutput json_output;
};

std::vector<int64_t> ShapeOf(const std::string& net) {
  std::vector<int64_t> shape;
  for (const std::string_view part : SplitText(net, '-')) {
    shape.push_back(ParseInteger(part).value_or(0));
  }
  if (shape.size() < 2 || *std::min_element(shape.begin(), shape.end()) < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a network is written inputs-hidden-outputs, for example 784-1024-10",
                {.value = net});
  }
  return shape;
}

nlohmann::json ToJson(const PredictBenchmarkCase& work, const PredictBenchmarkResult& result) {
  return {{"network", work.ShapeText()},
          {"dtype", DTypeName(work.dtype)},
          {"weights", WeightStorageName(work.weights)},
          {"zeros", work.zeros},
          {"activation", work.activation.Text()},
          {"threads", work.threads},
          {"together", work.together},
          {"verified", result.verified},
          {"largest_error", std::isfinite(result.largest_error) ? nlohmann::json(result.largest_error) : nullptr},
          {"error_bound", result.error_bound},
          {"calls", result.calls},
          {"median_seconds", result.median_seconds},
          {"p99_seconds", result.p99_seconds},
          {"min_seconds", result.least_seconds},
          {"rows_per_second", result.rows_per_second}};
}

// The rows of a call.
std::string RowsText(const BenchPredictCommand& command) {
  const std::string rows = command.together == 1 ? "One row" : fmt::format("{} rows", command.together);
  if (!command.rows.empty()) {
    return rows + " of " + command.rows;
  }
  return rows +
         (command.zeros > 0 ? fmt::format(" of random data, {:.0f} % zeros,", 100 * command.zeros) : " of random data");
}

int RunBenchPredict(const BenchPredictCommand& command) {
  FileUse files;
  files.AddRead("--rows", {command.rows});
  command.json_output.Check(std::move(files));
  PredictBenchmarkOptions options = command.options;
  options.stop_requested = Interrupted;
  std::optional<NpyMatrix> asked;
  if (!command.rows.empty()) {
    asked.emplace(command.rows);
    options.rows = asked->Rows(0, asked->rows());
  }
  const bool text = !command.json_output.to_stdout();
  const std::string hardware = QueryHardware().OneLine();
  std::vector<PredictBenchmarkCase> cases;
  for (const std::string& net : command.nets) {
    for (const std::string& weights : command.weights) {
      for (const int threads : command.threads) {
        cases.push_back({ShapeOf(net), ParseDType(command.dtype), Activation(command.activation), threads,
                         ParseWeightStorage(weights), command.zeros, command.together});
      }
    }
  }
  if (text) {
    Print("{}\n{} a call, {}, {} in every layer; every call is timed.\n\n", hardware, RowsText(command), command.dtype,
          command.activation);
    Print("{:<18} {:>7} {:>7} {:>10} {:>10} {:>10} {:>11} {:>10} {:>9}\n", "network", "weights", "threads", "median us",
          "p99 us", "least us", "rows/s", "calls", "verified");
  }
  CatchInterrupts();
  nlohmann::json rows = nlohmann::json::array();
  bool all_verified = true;
  for (const PredictBenchmarkCase& work : cases) {
    const PredictBenchmarkResult result = BenchmarkPrediction(work, options);
    if (Interrupted()) {
      PrintToStderr("lamina: interrupted\n");
      return kExitInterrupted;
    }
    all_verified = all_verified && result.verified;
    rows.push_back(ToJson(work, result));
    if (text) {
      Print("{:<18} {:>7} {:>7} {:>10.2f} {:>10.2f} {:>10.2f} {:>11} {:>10} {:>9}\n", work.ShapeText(),
            WeightStorageName(work.weights), work.threads, 1e6 * result.median_seconds, 1e6 * result.p99_seconds,
            1e6 * result.least_seconds, WithThousands(static_cast<int64_t>(result.rows_per_second)),
            WithThousands(result.calls), result.verified ? "yes" : "WRONG");
      std::fflush(stdout);
    }
  }
  command.json_output.Write("bench predict", {{"hardware", hardware}, {"results", std::move(rows)}});
  return ExitOfBenchmark(all_verified);
}

}  // namespace

std::function<int()> AddBenchPredict(CLI::App& bench) {
  auto command = std::make_shared<BenchPredictCommand>();
  CLI::App* predict = bench.add_subcommand("predict", "Time answers: one row through a network, or a few together");
  predict->add_option("--net", command->nets, "Networks, inputs-hidden-outputs")
      ->delimiter(',')
      ->default_str("784-1024-10");
  predict->add_option("--threads", command->threads, "Threads that ask at the same time; several counts in turn")
      ->delimiter(',')
      ->default_str("1")
      ->check(CLI::Range(1, 4096));
  predict->add_option("--dtype", command->dtype, "f32 or f64")
      ->capture_default_str()
      ->check(CLI::IsMember({"f32", "f64"}));
  predict
      ->add_option(
          "--weights", command->weights,
          "How weights are kept: " + fmt::format("{}", fmt::join(WeightStorageNames(), ", ")) + "; several in turn")
      ->delimiter(',')
      ->default_str("exact");
  predict->add_option("--zeros", command->zeros, "Share of the random inputs that are zero")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 1.0));
  predict->add_option("--rows", command->rows, "Ask these rows (.npy, rows x inputs) instead of random ones")
      ->type_name("FILE")
      ->excludes("--zeros");
  predict->add_option("--together", command->together, "Rows of a call")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, kMostRowsTogether));
  predict->add_option("--activation", command->activation, "Activation of every layer")->capture_default_str();
  predict->add_option("--seconds", command->options.seconds, "Length of a measurement")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(0.001, 3600.0));
  command->json_output.AddTo(*predict);
  predict->footer(
      "Example: lamina bench predict --net 784-1024-10,8-4-2-1 --threads 1,2\n"
      "         lamina bench predict --weights exact,bf16,i8 --zeros 0.8\n"
      "         lamina bench predict --together 64");
  return [command] { return RunBenchPredict(*command); };
}

}  // namespace lamina::cli
