// Looks after a program that runs beside this one.
#include "lamina/base/child_process.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "lamina/platform/file.h"

namespace lamina {
namespace {

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr int kNotFound = 127;  // what a child that finds no program exits with, by convention

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words, const ChildOptions& options)
    : program_(words.at(0)), options_(options) {
  bool no_pipe = false;
  const platform::ChildPlan plan{.output_path = options_.output_path,
                                 .converses = options_.converses,
                                 .keep_errors = options_.keep_errors,
                                 .own_group = options_.own_group};
  start_error_ = platform::StartChild(words, plan, child_, no_pipe);
  if (no_pipe) {
    throw Error(ErrorCode::kResource, fmt::format("cannot run {}: {}", program_, platform::ReasonOf(start_error_)));
  }
}

ChildProcess::~ChildProcess() {
  if (child_.number > 0) {
    platform::AskToEnd(child_);
    Reap(/*wait=*/true);
  }
  for (const int end : {child_.errors, child_.speech}) {
    if (end >= 0) {
      platform::Close(end);
    }
  }
}

Verdict ChildProcess::started() const {
  if (start_error_ == 0 && exit_status_ != kNotFound) {
    return Verdict::Yes();
  }
  const std::string remedy = options_.remedy.empty() ? "" : fmt::format(" ({})", options_.remedy);
  const bool by_name = program_.find('/') == std::string::npos;
  if (by_name && (start_error_ == ENOENT || start_error_ == 0)) {
    return Verdict::No(fmt::format("{} is missing{}", program_, remedy));
  }
  const std::string reason = start_error_ == 0 ? "" : fmt::format(": {}", platform::ReasonOf(start_error_));
  return Verdict::No(fmt::format("{} does not start{}{}", program_, reason, remedy));
}

bool ChildProcess::Poll() {
  ReadErrors();
  if (child_.number > 0 && !Reap(/*wait=*/false)) {
    return false;
  }
  ReadErrors();  // what it wrote last
  return true;
}

void ChildProcess::Wait(const std::function<bool()>& stop) {
  if (!stop && child_.errors < 0 && child_.number > 0) {  // nothing to look after meanwhile
    Reap(/*wait=*/true);
  }
  bool stopped = false;
  while (!Poll()) {
    if (!stopped && stop && stop()) {
      platform::AskToEnd(child_);
      stopped = true;
    }
    std::this_thread::sleep_for(kLook);
  }
}

bool ChildProcess::Say(const std::string& line) {
  const std::string text = line + '\n';
  for (size_t done = 0; done < text.size();) {
    const ptrdiff_t n = platform::Send(child_.speech, text.data() + done, text.size() - done);
    if (n < 0) {
      return false;
    }
    done += static_cast<size_t>(n);
  }
  return true;
}

std::optional<std::string> ChildProcess::Hear(const std::function<bool()>& stop) {
  std::array<char, 4096> piece{};
  size_t end = 0;
  while ((end = heard_.find('\n')) == std::string::npos) {
    if (stop && stop()) {
      return std::nullopt;
    }
    const ptrdiff_t n = platform::Receive(child_.speech, piece.data(), piece.size(), kLook);
    if (n < 0) {
      return std::nullopt;
    }
    heard_.append(piece.data(), static_cast<size_t>(n));
  }
  std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

void ChildProcess::ReadErrors() {
  std::array<char, 1024> piece{};
  for (ptrdiff_t n = 0; child_.errors >= 0 && (n = platform::Read(child_.errors, piece.data(), piece.size())) > 0;) {
    error_text_.append(piece.data(), static_cast<size_t>(n));
  }
}

bool ChildProcess::Reap(bool wait) {
  const std::optional<int> ended = platform::EndOf(child_, wait);
  if (!ended) {
    return false;
  }
  exit_status_ = *ended;
  child_.number = -1;
  return true;
}

bool ChildProcess::WaitUntilIdle(double most_seconds) const {
  constexpr auto kLookForWork = std::chrono::milliseconds(10);
  constexpr auto kIdle = std::chrono::microseconds(500);  // of processor time between two looks
  constexpr int kLooks = 3;                               // threads that wait for each other rest for moments
  std::optional<std::chrono::nanoseconds> before = platform::ProcessorTime(child_);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_seconds);
  for (int idle = 0; before && idle < kLooks;) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(kLookForWork);
    const auto now = platform::ProcessorTime(child_);
    idle = now && *now - *before < kIdle && !platform::Computes(child_) ? idle + 1 : 0;
    before = now;
  }
  return before.has_value();
}

}  // namespace lamina
