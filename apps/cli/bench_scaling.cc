// lamina bench scaling: what networks and searches would take on many nodes, by the performance model.
#include "bench_scaling.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/cluster/performance_model.h"
#include "lamina/nn/gradient_parts.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct BenchScalingCommand {
  std::vector<std::string> nets{"784-1024-10", "122-100-5", "2000-2000-2000", "4096-8192-8192-4096"};
  std::vector<int> nodes{8, 64, 256, 1000};
  std::vector<double> gbits{10, 25, 100, 400};
  int64_t batch = 16000;
  double gflops = 1000;
  double latency_us = 5;
  int trials = 1000;
  JsonOutput json_output;
};

// Fully connected, with biases.
std::vector<LayerSpec> LayersOf(const std::string& net) {
  std::vector<LayerSpec> layers;
  int64_t before = 0;
  for (const std::string_view text : SplitText(net, '-')) {
    const int64_t width = ParseInteger(text).value_or(0);
    if (width < 1) {
      throw Error(ErrorCode::kInvalidArgument, "a network is its widths",
                  {.value = net, .remedy = "Such as 784-1024-10."});
    }
    if (before > 0) {
      layers.push_back({before, width});
    }
    before = width;
  }
  return layers;
}

// A step of a network whose gradient is computed by one node; how long it takes on several.
class ScaledStep {
 public:
  ScaledStep(const BenchScalingCommand& command, const std::string& net)
      : command_(command),
        layers_(LayersOf(net)),
        parameters_(std::accumulate(layers_.begin(), layers_.end(), int64_t{0},
                                    [](int64_t sum, const LayerSpec& layer) { return sum + layer.parameter_count(); })),
        parts_(GradientPartsOf(layers_, std::vector<LayerOffsets>(layers_.size()), {})) {}

  int64_t parameters() const { return parameters_; }
  double Seconds() const { return Updating_seconds() + Computing_seconds(); }
  double Seconds(const NetworkCost& network, int nodes) const {
    constexpr double kShareOfParts = 1 / 3.0;  // the last of three products of a weight is for its gradient
    StepCost step;
    step.shard_seconds = Computing_seconds() / nodes;
    step.fixed_seconds = Updating_seconds();
    step.gradient_bytes = 4 * parameters_;
    step.part_bytes = SizesOf_bytes(parts_, DType::kF32);
    step.parts_seconds = kShareOfParts * step.shard_seconds;
    return PredictStep(step, network, nodes, nodes).seconds();
  }

 private:
  double Computing_seconds() const {
    constexpr double kFlopsOfWeight = 6;  // it is multiplied three times for a sample
    return kFlopsOfWeight * static_cast<double>(parameters_) / (command_.gflops * 1e9) *
           static_cast<double>(command_.batch);
  }
  double Updating_seconds() const {
    constexpr double kUpdateBytes = 20;  // a parameter, its gradient and two states, read and written, by Adam
    constexpr double kMemoryBytesPerSecond = 1e11;
    return kUpdateBytes * static_cast<double>(parameters_) / kMemoryBytesPerSecond;
  }

  const BenchScalingCommand& command_;
  std::vector<LayerSpec> layers_;
  int64_t parameters_;
  std::vector<GradientPart> parts_;
};

void PrintHeading(const BenchScalingCommand& command) {
  Print("a step of {} samples; nodes of {:g} Gflop/s; {:g} us a message\n", WithThousands(command.batch),
        command.gflops, command.latency_us);
  std::string heads = "| network | parameters | Gbit/s |";
  std::string line = "| --- | ---: | ---: |";
  for (const int nodes : command.nodes) {
    heads += fmt::format(" {} nodes |", WithThousands(nodes));
    line += " ---: |";
  }
  Print("{}\n{}\n", heads, line);
}

int RunBenchScaling(const BenchScalingCommand& command) {
  command.json_output.Check();
  const bool text = !command.json_output.to_stdout();
  nlohmann::json rows = nlohmann::json::array();
  if (text) {
    PrintHeading(command);
  }
  for (const std::string& net : command.nets) {
    const ScaledStep step(command, net);
    for (const double gbits : command.gbits) {
      const NetworkCost network{.latency_seconds = 1e-6 * command.latency_us, .bytes_per_second = gbits * 1e9 / 8};
      std::string line = fmt::format("| {} | {} | {:g} |", net, WithThousands(step.parameters()), gbits);
      for (const int nodes : command.nodes) {
        const double seconds = step.Seconds(network, nodes);
        const double speedup = step.Seconds() / seconds;
        line += fmt::format(" {:.1f} |", speedup);
        rows.push_back({{"network", net},
                        {"parameters", step.parameters()},
                        {"gbits", gbits},
                        {"nodes", nodes},
                        {"step_seconds", seconds},
                        {"speedup", speedup}});
      }
      if (text) {
        Print("{}\n", line);
      }
    }
  }
  std::string line = fmt::format("| search of {} trials | | any |", WithThousands(command.trials));
  for (const int nodes : command.nodes) {
    const int rounds = (command.trials + nodes - 1) / nodes;
    line += fmt::format(" {:.1f} |", static_cast<double>(command.trials) / rounds);
  }
  if (text) {
    Print("{}\n", line);
  }
  command.json_output.Write("bench scaling", {{"batch", command.batch},
                                              {"gflops", command.gflops},
                                              {"latency_us", command.latency_us},
                                              {"results", std::move(rows)}});
  return kExitOk;
}

}  // namespace

std::function<int()> AddBenchScaling(CLI::App& bench) {
  auto command = std::make_shared<BenchScalingCommand>();
  CLI::App* scaling = bench.add_subcommand(
      "scaling", "Estimate how many times faster than one node many nodes would train, by the performance model");
  scaling->add_option("--net", command->nets, "Networks, inputs-hidden-outputs")->delimiter(',')->capture_default_str();
  scaling->add_option("--nodes", command->nodes, "How many nodes")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1, 5000));
  scaling->add_option("--gbits", command->gbits, "Bandwidth of a node, Gbit/s")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::PositiveNumber);
  scaling->add_option("--batch", command->batch, "Rows in a step, of all nodes together")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  scaling
      ->add_option("--gflops", command->gflops,
                   "What a node computes, GFLOP/s (lamina bench train tells that of this one)")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::PositiveNumber);
  scaling->add_option("--latency-us", command->latency_us, "Latency of a message, microseconds")
      ->capture_default_str()
      ->check(CheckFinite)
      ->check(CLI::NonNegativeNumber);
  scaling->add_option("--trials", command->trials, "Trials of the search")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->json_output.AddTo(*scaling);
  scaling->footer("Example:\n  lamina bench scaling --net 784-1024-10 --nodes 8,64 --gbits 10,100 --batch 8192");
  return [command] { return RunBenchScaling(*command); };
}

}  // namespace lamina::cli
