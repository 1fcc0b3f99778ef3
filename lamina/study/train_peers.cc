// Peers as child processes.
#include "lamina/study/train_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "lamina/base/child_process.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/platform/process.h"

namespace lamina {
namespace {

using nlohmann::json;

json RequestJson(const PeerRequest& request, const PeerData& data) {
  json node = {{"net", request.shape},       {"batch", request.batch},     {"rounds", request.rounds},
               {"seconds", request.seconds}, {"threads", request.threads}, {"folder", data.folder()},
               {"rows", data.rows()},        {"accuracy", nullptr},        {"test_rows", data.test_rows()}};
  if (request.accuracy && data.test_rows() > 0) {
    node["accuracy"] = {{"rows", std::min(request.accuracy->rows, data.rows())},
                        {"epochs", request.accuracy->epochs},
                        {"batch", request.accuracy->batch},
                        {"learning_rate", request.accuracy->learning_rate}};
  }
  return node;
}

std::vector<PeerResult> ParseResults(const std::string& text) {
  std::vector<PeerResult> results;
  const json node = json::parse(text);
  for (const json& entry : node.at("peers")) {
    PeerResult result;
    result.library = entry.at("library").get<std::string>();
    result.settings = entry.at("settings").get<std::string>();
    result.description = entry.at("description").get<std::string>();
    result.reason = entry.at("reason").get<std::string>();
    if (result.reason.empty()) {
      result.seconds = entry.at("seconds").get<double>();
      result.steps = entry.at("steps").get<int64_t>();
      if (entry.at("accuracy").is_number()) {
        result.accuracy = entry["accuracy"].get<double>();
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace

PeerData::PeerData(const Dataset& train, const Dataset* test)
    : folder_("peers"), rows_(train.size()), test_rows_(test == nullptr ? 0 : test->size()) {
  Write("train", train);
  if (test != nullptr) {
    Write("test", *test);
  }
}

void PeerData::Write(const std::string& name, const Dataset& dataset) const {
  const ConstMatrixView x = dataset.features.view();
  AtomicFile inputs(folder_.Path(name + ".x"));
  inputs.Write(x.Row<float>(0), static_cast<size_t>(x.rows * x.cols) * sizeof(float));
  inputs.Commit();
  AtomicFile labels(folder_.Path(name + ".y"));
  labels.Write(dataset.labels.data(), dataset.labels.size() * sizeof(int32_t));
  labels.Commit();
}

std::vector<PeerResult> MeasurePeers(const std::string& script, const PeerRequest& request, const PeerData& data,
                                     const std::function<bool()>& stop_requested) {
  PeerResult failure;
  failure.library = "peers";
  failure.settings = "none";
  const std::string path = data.folder() + "/request.json";
  const std::string out = data.folder() + "/results.json";
  WriteFileAtomically(path, RequestJson(request, data).dump());
  ChildProcess peers({script, "--request", path},
                     {.output_path = out, .own_group = true, .remedy = "it needs Python 3"});
  peers.Wait(stop_requested);
  try {
    if (peers.exit_status() == 0) {
      return ParseResults(ReadFile(out));
    }
    const Verdict started = peers.started();
    failure.reason = started ? fmt::format("{} ended with exit code {}", script, peers.exit_status()) : started.reason;
  } catch (const std::exception&) {
    failure.reason = fmt::format("{} printed something else than results", script);
  }
  return {failure};
}

std::string FindPeerScript() {
  const std::filesystem::path program = platform::ProgramFile();
  std::error_code failed;
  for (std::filesystem::path above = program.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    for (const char* place : {"bench/peers/train_cpu", "share/lamina/peers/train_cpu"}) {
      if (const std::filesystem::path script = above / place; std::filesystem::exists(script, failed)) {
        return script.string();
      }
    }
  }
  return "";
}

}  // namespace lamina
