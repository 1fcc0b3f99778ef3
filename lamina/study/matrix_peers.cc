// The conversation with the peers' processes.
#include "lamina/study/matrix_peers.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/study/train_peers.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kLibraries[] = {"PyTorch", "JAX", "onnxruntime", "scikit-learn", "faiss", "SciPy", "NumPy"};
// Peers' threads spin after their work, those of OpenBLAS for 2^26 cycles of a clock that need not be the processor's.
// The next one would share a core with them.
constexpr double kLongestSpin_seconds = 1;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

MatrixPeers::MatrixPeers(const std::string& python, const std::string& script, int threads,
                         std::function<bool()> stop_requested)
    : stop_requested_(std::move(stop_requested)) {
  for (const char* name : kLibraries) {
    libraries_.emplace_back(name, std::vector<std::string>{python, script, name, std::to_string(threads)});
  }
}

std::string MatrixPeers::Layer(const Problem& problem) {
  const LayerSpec& layer = problem.layer;
  if (problem.dtype != DType::kF32 || problem.precision != Precision::kExact) {
    return "";
  }
  return json{{"layer",
               {{"synapse", SynapseName(layer.synapse)},
                {"pass", PassName(problem.pass)},
                {"batch", problem.batch},
                {"outputs", layer.outputs},
                {"inputs", layer.inputs}}}}
      .dump();
}

std::string MatrixPeers::Training(const std::vector<int64_t>& net, int64_t batch) {
  return json{{"train", {{"net", net}, {"batch", batch}}}}.dump();
}

std::string MatrixPeers::Row(const std::vector<int64_t>& net) { return json{{"row", {{"net", net}}}}.dump(); }

std::vector<PeerTimes> MatrixPeers::Race(const std::string& work, const std::function<double()>& lamina, int rounds,
                                         double round_seconds) {
  struct Runner {
    Library* library;
    std::string request;
    size_t at;  // in the results
    std::vector<double> seconds, ratios;
  };
  std::vector<PeerTimes> results;
  std::vector<Runner> runners;
  const auto ask = [&](Library& library, const std::string& request) -> json {
    const auto answer = library.process.Say(request) ? library.process.Hear(stop_requested_) : std::nullopt;
    library.process.WaitUntilIdle(kLongestSpin_seconds);
    return answer ? json::parse(*answer, nullptr, false) : json();
  };
  for (Library& library : libraries_) {
    if (work.empty() || library.gone) {
      continue;
    }
    const json answer = ask(library, work);
    if (!answer.is_object()) {
      library.gone = true;
      const Verdict started = library.process.started();
      results.push_back({.peer = library.name, .reason = started ? "its process ended" : started.reason});
      continue;
    }
    for (size_t i = 0; i < answer.at("peers").size(); ++i) {
      const json& peer = answer["peers"][i];
      results.push_back({.peer = peer.at("name"), .reason = peer.at("reason")});
      if (results.back().reason.empty()) {
        const json request = {{"time", i}, {"seconds", round_seconds}};
        runners.push_back({&library, request.dump(), results.size() - 1, {}, {}});
      }
    }
  }
  std::vector<double> own;
  for (int round = 0; round < rounds && !runners.empty(); ++round) {
    own.push_back(lamina());
    for (Runner& runner : runners) {
      const json answer = runner.library->gone ? json() : ask(*runner.library, runner.request);
      if (!answer.is_object()) {
        runner.library->gone = true;
        results[runner.at].reason = "its process ended";
        continue;
      }
      runner.seconds.push_back(answer.at("seconds"));
      runner.ratios.push_back(runner.seconds.back() / own.back());
    }
  }
  for (const Runner& runner : runners) {
    PeerTimes& result = results[runner.at];
    if (result.reason.empty()) {
      result.seconds = Median(runner.seconds);
      result.lamina_seconds = Median(own);
      result.times_as_long = Median(runner.ratios);
    }
  }
  return results;
}

std::string FindMatrixPeers() {
  const std::string beside = FindPeerScript();
  const std::filesystem::path script = std::filesystem::path(beside).parent_path() / "matrix_peers";
  std::error_code failed;
  if (beside.empty() || !std::filesystem::exists(script, failed)) {
    throw Error(ErrorCode::kNotFound,
                "bench/peers/matrix_peers, which runs the other libraries, is not with this program",
                {.remedy = "Run the program in the build folder of lamina's sources, or leave out --peers."});
  }
  return script.string();
}

}  // namespace lamina
