// What the commands of the program share.
#include "command.h"
#include "print.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/backend/backends.h"
#include "lamina/base/file.h"
#include "lamina/base/nan.h"
#include "lamina/base/setting.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/platform/process.h"

namespace lamina::cli {

void JsonOutput::AddTo(CLI::App& app) {
  app.add_option("--json", path, "Write the result for programs to this file; -: to standard output, instead of text")
      ->type_name("FILE");
}

void JsonOutput::Check(FileUse others) const {
  others.written.push_back({"--json", to_stdout() ? "" : path});
  CheckFiles(others);
}

void JsonOutput::Write(const std::string& command, nlohmann::json result) const {
  if (path.empty()) {
    return;
  }
  result["command"] = command;
  result["lamina_version"] = Version();
  const std::string text = result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (to_stdout()) {
    PrintData(text);
  } else {
    WriteFileAtomically(path, text);
  }
}

void PlainFiles::AddTo(CLI::App& app, const std::string& help) {
  app.add_option("files", given_, help)->type_name("FILE");
}

void PlainFiles::Fill(std::initializer_list<std::pair<const char*, std::string*>> files) const {
  size_t next = 0;
  for (const auto& [flag, value] : files) {
    if (value->empty() && next < given_.size()) {
      *value = given_[next++];
    }
    if (value->empty()) {
      throw CLI::RequiredError(flag);
    }
  }
  if (next < given_.size()) {
    throw CLI::ExtrasError({given_.rbegin(), given_.rend() - static_cast<ptrdiff_t>(next)});  // it turns them round
  }
}

void AddThreadsFlag(CLI::App& app, int& threads, const std::string& help) {
  app.add_option("--threads", threads, help)
      ->capture_default_str()
      ->check(CLI::Range(static_cast<int>(kThreadCounts.low), static_cast<int>(kThreadCounts.high)));
}

void AddBackendFlag(CLI::App& app, std::string& backend, const std::string& help) {
  app.add_option("--backend", backend, help + BackendNamesText())->capture_default_str();
}

void AddBackendsFlag(CLI::App& app, std::vector<std::string>& backends) {
  app.add_option("--backend", backends, BackendNamesText() + "; default: all that are available")->delimiter(',');
}

std::string CheckFinite(const std::string& text) {
  return std::isfinite(ParseNumber(text)) ? "" : fmt::format("'{}' is not a finite number", text);
}

double NumberOrNan(const nlohmann::json& node, const char* name) {
  const auto at = node.find(name);
  return at != node.end() && at->is_number() ? at->get<double>() : kNaN;
}

int ExitOfBenchmark(bool all_verified, std::string_view where) {
  if (!all_verified) {
    PrintToStderr("lamina: error: a result differs from the plain loops in double precision by more than rounding{}\n",
                  where);
  }
  return all_verified ? kExitOk : kExitFailure;
}

void PrintWarning(const std::string& warning) {
  if (!warning.empty()) {
    PrintToStderr("lamina: warning: {}\n", warning);
  }
}

int64_t PeakMemory_bytes() { return platform::PeakMemory_bytes(); }

}  // namespace lamina::cli
