// lamina bench layer: one pass of one layer, written as a problem.
#include "bench_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "command.h"
#include "interrupt.h"
#include "lamina/backend/backends.h"
#include "lamina/backend/product_kernels.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/measure/layer_benchmark.h"
#include "lamina/tune/profile.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct BenchLayerCommand {
  std::vector<std::string> problems;
  LayerBenchmarkOptions options;
  JsonOutput json_output;
};

constexpr std::string_view kEachKernel = "each";

// The kernels of backend cuda, without the papers'.
std::vector<std::string> CudaKernelNames() {
  std::vector<std::string> names{"cublaslt"};
  for (const ProductKernelRow& row : kProductKernels) {
    if (row.family != ProductFamily::kPapers) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

// Those that `tune` tries for a problem, each once.
std::vector<std::string> KernelsOf(const Problem& problem, const LayerBenchmarkOptions& options) {
  if (options.kernel != kEachKernel) {
    return {options.kernel};
  }
  if (FindBackend(options.backend).name != "cuda") {
    throw Error(ErrorCode::kInvalidArgument, "--kernel each is for backend cuda, whose kernels it lists",
                {.value = options.backend, .remedy = "Use --backend cuda."});
  }
  std::vector<std::string> kernels;
  for (const Plan& plan : MakeBackend(options.backend)->Candidates(problem)) {
    const bool is_new = std::find(kernels.begin(), kernels.end(), plan.kernel) == kernels.end();
    if (is_new && MakeBackend(options.backend, {.kernel = plan.kernel})->Supports(problem)) {  // by name, too
      kernels.push_back(plan.kernel);
    }
  }
  return kernels;
}

nlohmann::json ToJson(const Problem& problem, const LayerBenchmarkResult& result, double limit) {
  return {{"problem", problem.Text()},
          {"backend", result.backend},
          {"plan", result.plan},
          {"threads", result.threads},
          {"verified", result.verified},
          {"largest_error", std::isfinite(result.largest_error) ? nlohmann::json(result.largest_error) : nullptr},
          {"error_bound", result.error_bound},
          {"rounds", result.rounds},
          {"seconds", result.median_seconds},
          {"seconds_min", result.least_seconds},
          {"seconds_max", result.most_seconds},
          {"synapses_per_second", result.synapses_per_second},
          {"t_syn_ns", result.t_syn_ns},
          {"limit_synapses_per_second", limit > 0 ? nlohmann::json(limit) : nlohmann::json()},
          {"share_of_limit", limit > 0 ? nlohmann::json(result.synapses_per_second / limit) : nlohmann::json()}};
}

// `limit`, `bare_seconds`: 0 where they are not known.
void PrintRow(const Problem& problem, size_t width, const LayerBenchmarkResult& result, double limit,
              double bare_seconds) {
  Print("{:<{}} {:<8} {:>7} {:>11.4f} {:>19} {:>10.5f} {:>12.4g} {:>7} {:>8}\n", problem.Text(), width, result.backend,
        result.threads, 1e3 * result.median_seconds,
        fmt::format("({:.3f}-{:.3f})", 1e3 * result.least_seconds, 1e3 * result.most_seconds), result.t_syn_ns,
        result.synapses_per_second, limit > 0 ? fmt::format("{:.1f}", 100 * result.synapses_per_second / limit) : "-",
        result.verified ? "yes" : "WRONG");
  if (bare_seconds > 0) {
    Print("{:<{}} the bare product by cuBLASLt: {:.4f} ms; the layer {:+.1f} %\n", "", width, 1e3 * bare_seconds,
          100 * (result.least_seconds / bare_seconds - 1));
  }
  std::fflush(stdout);
}

// Rows of results as they come, to text and JSON.
class LayerRows {
 public:
  LayerRows(const LayerBenchmarkOptions& options, size_t width, bool text)
      : options_(options), width_(width), text_(text) {}

  void Add(const Problem& problem, const std::string& kernel) {
    LayerBenchmarkOptions options = options_;
    options.kernel = kernel;
    const LayerBenchmarkResult result = BenchmarkLayer(problem, options);
    const SynapseKind kind{problem.layer.synapse, problem.dtype, problem.precision};
    double& limit = limits_[{kind, result.threads}];
    limit = std::max(
        limit, result.backend == "cuda" ? MeasureDeviceSynapseLimit(kind) : MeasureSynapseLimit(kind, result.threads));
    all_verified_ = all_verified_ && result.verified;
    rows_.push_back(ToJson(problem, result, limit));
    double bare_seconds = 0;  // what the layer adds to the product of the library
    if (result.backend == "cuda" && problem.pass == Pass::kForward && problem.layer.synapse == Synapse::kDot) {
      bare_seconds = MeasureDeviceLibraryProduct_seconds(problem.dtype, problem.precision, problem.batch,
                                                         problem.layer.outputs, problem.layer.inputs);
      rows_.back()["bare_product_seconds"] = bare_seconds > 0 ? nlohmann::json(bare_seconds) : nlohmann::json();
    }
    if (text_) {
      PrintRow(problem, width_, result, limit, bare_seconds);
      if (options_.kernel == kEachKernel) {
        Print("{:<{}} {}\n", "", width_, result.plan);
      }
    }
  }

  bool all_verified() const { return all_verified_; }
  nlohmann::json Take() { return std::move(rows_); }

 private:
  LayerBenchmarkOptions options_;
  size_t width_;
  bool text_;
  bool all_verified_ = true;
  nlohmann::json rows_ = nlohmann::json::array();
  std::map<std::pair<SynapseKind, int>, double> limits_;
};

int RunBenchLayer(const BenchLayerCommand& command) {
  command.json_output.Check();
  std::vector<Problem> problems;
  size_t width = 7;
  for (const std::string& text : command.problems) {
    problems.push_back(Problem::Parse(text));
    width = std::max(width, problems.back().Text().size());
  }
  LayerBenchmarkOptions options = command.options;
  const std::string kernel = options.kernel == kEachKernel ? "auto" : options.kernel;
  const StoredProfile stored =
      LoadStoredProfile(*MakeBackend(options.backend, {.threads = options.threads, .kernel = kernel}));
  PrintWarning(stored.warning);
  options.plans = stored.profile;
  std::vector<std::pair<Problem, std::string>> work;  // what is refused is refused before the table begins
  for (const Problem& problem : problems) {
    for (const std::string& each : KernelsOf(problem, options)) {
      work.emplace_back(problem, each);
    }
  }
  const bool text = !command.json_output.to_stdout();
  const std::string hardware = QueryHardware().OneLine();
  if (text) {
    Print("{}\nMedian of {} rounds. The limit is what the threads issue of the synapse's arithmetic in registers.\n\n",
          hardware, command.options.rounds);
    Print("{:<{}} {:<8} {:>7} {:>11} {:>19} {:>10} {:>12} {:>7} {:>8}\n", "problem", width, "backend", "threads",
          "ms a call", "(min-max)", "t_syn ns", "synapses/s", "limit %", "verified");
  }
  CatchInterrupts();
  LayerRows rows(options, width, text);
  for (const auto& [problem, each] : work) {
    if (Interrupted()) {
      PrintToStderr("lamina: interrupted\n");
      return kExitInterrupted;
    }
    rows.Add(problem, each);
  }
  const bool all_verified = rows.all_verified();
  command.json_output.Write("bench layer", {{"hardware", hardware}, {"results", rows.Take()}});
  return ExitOfBenchmark(all_verified);
}

}  // namespace

void AddKernelFlag(CLI::App& app, std::string& kernel) {
  app.add_option("--kernel", kernel,
                 fmt::format("One kernel for every pass, layer by layer (cpu: own; of whole training steps: small, "
                             "rows; cuda: {}; of bench layer with cuda: each, one after another)",
                             fmt::join(CudaKernelNames(), ", ")))
      ->capture_default_str();
}

std::function<int()> AddBenchLayer(CLI::App& bench) {
  auto command = std::make_shared<BenchLayerCommand>();
  CLI::App* layer = bench.add_subcommand("layer", "Time one pass of one layer");
  layer
      ->add_option("problem", command->problems, "Written neuron:type:pass:batch x outputs x inputs, as in the example")
      ->required();
  AddBackendFlag(*layer, command->options.backend);
  AddThreadsFlag(*layer, command->options.threads);
  AddKernelFlag(*layer, command->options.kernel);
  layer->add_option("--rounds", command->options.rounds, "Measurements of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  layer->add_option("--round-seconds", command->options.round_seconds, "Least length of one measurement")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 3600.0));
  command->json_output.AddTo(*layer);
  layer->footer(
      "Passes: forward, input_gradient, weight_gradient. Synapses: dot, l1, l2, l2sq.\n"
      "Example: lamina bench layer l1-triangle:f32:forward:1024x1024x784 dot-tanh:f32:forward:1024x1024x784");
  return [command] { return RunBenchLayer(*command); };
}

}  // namespace lamina::cli
