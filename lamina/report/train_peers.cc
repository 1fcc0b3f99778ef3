// Peers as child processes.
#include "lamina/report/train_peers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill
#include <spawn.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "lamina/base/error.h"
#include "lamina/base/file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every <unistd.h>

namespace lamina {
namespace {

using nlohmann::json;

constexpr auto kLook = std::chrono::milliseconds(20);

// Exit code of `script --request path` with its standard output in `out`; -1: it did not start or was killed. It has a
// process group of its own, so that its children end with it when `stop` says so.
int RunScript(const std::string& script, const std::string& request, const std::string& out,
              const std::function<bool()>& stop) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string program = script;
  std::string flag = "--request";
  std::string value = request;
  char* const arguments[] = {program.data(), flag.data(), value.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return -1;
  }
  int status = 0;
  bool stopped = false;
  for (pid_t ended = 0; ended == 0 || (ended < 0 && errno == EINTR);) {
    ended = waitpid(child, &status, stopped ? 0 : WNOHANG);
    if (ended == 0 && !stopped && stop && stop()) {
      stopped = kill(-child, SIGTERM) == 0;
    } else if (ended == 0) {
      std::this_thread::sleep_for(kLook);
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

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
    : rows_(train.size()), test_rows_(test == nullptr ? 0 : test->size()) {
  std::error_code failed;
  folder_ = (std::filesystem::temp_directory_path(failed) / "lamina-peers-XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr) {
    ThrowFileError(folder_, "make the folder", errno);
  }
  try {
    Write("train", train);
    if (test != nullptr) {
      Write("test", *test);
    }
  } catch (...) {
    std::filesystem::remove_all(folder_, failed);
    throw;
  }
}

PeerData::~PeerData() {
  std::error_code failed;
  std::filesystem::remove_all(folder_, failed);
}

void PeerData::Write(const std::string& name, const Dataset& dataset) const {
  const ConstMatrixView x = dataset.features.view();
  AtomicFile inputs(folder_ + "/" + name + ".x");
  inputs.Write(x.Row<float>(0), static_cast<size_t>(x.rows * x.cols) * sizeof(float));
  inputs.Commit();
  AtomicFile labels(folder_ + "/" + name + ".y");
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
  const int code = RunScript(script, path, out, stop_requested);
  try {
    if (code == 0) {
      return ParseResults(ReadFile(out));
    }
    failure.reason = code < 0 ? fmt::format("{} does not start; it needs Python 3", script)
                              : fmt::format("{} ended with exit code {}", script, code);
  } catch (const std::exception&) {
    failure.reason = fmt::format("{} printed something else than results", script);
  }
  return {failure};
}

std::string FindPeerScript() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
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
