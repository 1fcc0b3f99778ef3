// lamina bench network: latency and bandwidth between the ranks that mpirun started.
#include "bench_network.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/cluster/performance_model.h"
#include "print.h"
#include "ranks.h"

namespace lamina::cli {
namespace {

struct BenchNetworkCommand {
  RankFlags ranks;
  JsonOutput json_output;
};

int RunBenchNetwork(const BenchNetworkCommand& command) {
  command.json_output.Check();
  Communicator* ranks = JoinRanks(command.ranks);
  if (ranks == nullptr || ranks->size() == 1) {
    throw Error(ErrorCode::kInvalidArgument, "there is one process, and a network is between several",
                {.remedy = "For example: mpirun -n 2 lamina bench network."});
  }
  const NetworkCost cost = MeasureNetwork(*ranks);
  if (!SpeaksForAll()) {
    return kExitOk;
  }
  nlohmann::json node = RanksJson();
  node["latency_seconds"] = cost.latency_seconds;
  node["bytes_per_second"] = cost.bytes_per_second;
  if (!command.json_output.to_stdout()) {
    Print("{} ranks on {} host{} by {}: latency {:.1f} us a message, {:.2f} Gbit/s each way\n", ranks->size(),
          node["hosts"].size(), node["hosts"].size() == 1 ? "" : "s", ranks->Describe(), 1e6 * cost.latency_seconds,
          8e-9 * cost.bytes_per_second);
  }
  command.json_output.Write("bench network", std::move(node));
  return kExitOk;
}

}  // namespace

std::function<int()> AddBenchNetwork(CLI::App& bench) {
  auto command = std::make_shared<BenchNetworkCommand>();
  CLI::App* network = bench.add_subcommand("network", "Measure what lies between the ranks of an MPI job");
  command->ranks.AddTo(*network);
  command->json_output.AddTo(*network);
  network->footer("Example:\n  mpirun -n 2 lamina bench network");
  return [command] { return RunBenchNetwork(*command); };
}

}  // namespace lamina::cli
