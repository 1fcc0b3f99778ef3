// lamina bench predict: how long one answer takes.
#include "bench_predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "interrupt.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/measure/predict_benchmark.h"

namespace lamina::cli {
namespace {

struct BenchPredictCommand {
  std::vector<std::string> nets{"784-1024-10"};
  std::vector<int> threads{1};
  std::string dtype = "f32";
  std::string activation = "sigmoid";
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
          {"activation", work.activation.Text()},
          {"threads", work.threads},
          {"verified", result.verified},
          {"largest_error", std::isfinite(result.largest_error) ? nlohmann::json(result.largest_error) : nullptr},
          {"error_bound", result.error_bound},
          {"calls", result.calls},
          {"median_seconds", result.median_seconds},
          {"p99_seconds", result.p99_seconds},
          {"min_seconds", result.least_seconds},
          {"rows_per_second", result.rows_per_second}};
}

int RunBenchPredict(const BenchPredictCommand& command) {
  command.json_output.Check();
  const bool text = !command.json_output.to_stdout();
  const std::string hardware = QueryHardware().OneLine();
  std::vector<PredictBenchmarkCase> cases;
  for (const std::string& net : command.nets) {
    for (const int threads : command.threads) {
      cases.push_back({ShapeOf(net), ParseDType(command.dtype), Activation(command.activation), threads});
    }
  }
  if (text) {
    fmt::print("{}\nOne row of random data a call, {}, {} in every layer; every call is timed.\n\n", hardware,
               command.dtype, command.activation);
    fmt::print("{:<18} {:>7} {:>10} {:>10} {:>10} {:>11} {:>10} {:>9}\n", "network", "threads", "median us", "p99 us",
               "least us", "rows/s", "calls", "verified");
  }
  CatchInterrupts();
  nlohmann::json rows = nlohmann::json::array();
  bool all_verified = true;
  for (const PredictBenchmarkCase& work : cases) {
    if (Interrupted()) {
      fmt::print(stderr, "lamina: interrupted\n");
      return kExitInterrupted;
    }
    const PredictBenchmarkResult result = BenchmarkPrediction(work, command.options);
    all_verified = all_verified && result.verified;
    rows.push_back(ToJson(work, result));
    if (text) {
      fmt::print("{:<18} {:>7} {:>10.2f} {:>10.2f} {:>10.2f} {:>11} {:>10} {:>9}\n", work.ShapeText(), work.threads,
                 1e6 * result.median_seconds, 1e6 * result.p99_seconds, 1e6 * result.least_seconds,
                 WithThousands(static_cast<int64_t>(result.rows_per_second)), WithThousands(result.calls),
                 result.verified ? "yes" : "WRONG");
      std::fflush(stdout);
    }
  }
  command.json_output.Write("bench predict", {{"hardware", hardware}, {"results", std::move(rows)}});
  if (!all_verified) {
    fmt::print(stderr,
               "lamina: error: a result differs from the plain loops in double precision by more than rounding\n");
    return kExitFailure;
  }
  return kExitOk;
}

}  // namespace

std::function<int()> AddBenchPredict(CLI::App& bench) {
  auto command = std::make_shared<BenchPredictCommand>();
  CLI::App* predict = bench.add_subcommand("predict", "Time single answers: one row through a network");
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
  predict->add_option("--activation", command->activation, "Of every layer")->capture_default_str();
  predict->add_option("--seconds", command->options.seconds, "Length of a measurement")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 3600.0));
  command->json_output.AddTo(*predict);
  predict->footer("Example: lamina bench predict --net 784-1024-10,8-4-2-1 --threads 1,2");
  return [command] { return RunBenchPredict(*command); };
}

}  // namespace lamina::cli
