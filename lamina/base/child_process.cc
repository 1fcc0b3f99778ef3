// posix_spawn with its clean-up.
#include "lamina/base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every <unistd.h>

namespace lamina {
namespace {

constexpr auto kLook = std::chrono::milliseconds(20);
constexpr int kNotFound = 127;  // what a child that finds no program exits with, by convention

// Attributes and file actions of one posix_spawn.
struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnPlan(const ChildOptions& options, int errors, int speech) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    const bool output = !options.output_path.empty();
    if (speech >= 0) {
      posix_spawn_file_actions_adddup2(&actions, speech, STDIN_FILENO);
      posix_spawn_file_actions_adddup2(&actions, speech, STDOUT_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output ? options.output_path.c_str() : "/dev/null",
                                       O_WRONLY | (output ? O_CREAT | O_TRUNC : 0), 0600);
    }
    if (errors >= 0) {
      posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (!options.folder.empty()) {  // last: output_path is as this process sees it
      posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
    }
    if (options.own_group) {
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
      posix_spawnattr_setpgroup(&attributes, 0);
    }
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
};

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words, const ChildOptions& options)
    : program_(words.at(0)), options_(options) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (options_.keep_errors && pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ErrorCode::kResource, fmt::format("cannot run {}: {}", program_, std::strerror(errno)));
  }
  errors_ = ends[0];
  // A pair of sockets, as writing to them need not raise SIGPIPE.
  std::array<int, 2> speakers{-1, -1};
  if (options_.converses && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, speakers.data()) != 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw Error(ErrorCode::kResource, fmt::format("cannot run {}: {}", program_, std::strerror(error)));
  }
  speech_ = speakers[0];
  {
    const SpawnPlan plan(options_, ends[1], speakers[1]);
    start_error_ = posix_spawnp(&pid_, program_.c_str(), &plan.actions, &plan.attributes, arguments.data(), environ);
  }
  if (errors_ >= 0) {
    close(ends[1]);
    fcntl(errors_, F_SETFL, O_NONBLOCK);
  }
  if (speech_ >= 0) {
    close(speakers[1]);
  }
  if (start_error_ != 0) {
    pid_ = -1;
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    Terminate();
    Reap(0);
  }
  for (const int end : {errors_, speech_}) {
    if (end >= 0) {
      close(end);
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
  const std::string reason = start_error_ == 0 ? "" : fmt::format(": {}", std::strerror(start_error_));
  return Verdict::No(fmt::format("{} does not start{}{}", program_, reason, remedy));
}

bool ChildProcess::Poll() {
  ReadErrors();
  if (pid_ > 0 && !Reap(WNOHANG)) {
    return false;
  }
  ReadErrors();  // what it wrote last
  return true;
}

void ChildProcess::Wait(const std::function<bool()>& stop) {
  if (!stop && errors_ < 0 && pid_ > 0) {  // nothing to look after meanwhile
    Reap(0);
  }
  bool stopped = false;
  while (!Poll()) {
    if (!stopped && stop && stop()) {
      Terminate();
      stopped = true;
    }
    std::this_thread::sleep_for(kLook);
  }
}

bool ChildProcess::Say(const std::string& line) {
  const std::string text = line + '\n';
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = send(speech_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) {
      return false;
    }
    done += n > 0 ? static_cast<size_t>(n) : 0;
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
    pollfd there{speech_, POLLIN, 0};
    if (poll(&there, 1, static_cast<int>(kLook.count())) <= 0) {
      continue;
    }
    const ssize_t n = recv(speech_, piece.data(), piece.size(), 0);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      return std::nullopt;
    }
    heard_.append(piece.data(), n > 0 ? static_cast<size_t>(n) : 0);
  }
  std::string line = heard_.substr(0, end);
  heard_.erase(0, end + 1);
  return line;
}

void ChildProcess::ReadErrors() {
  std::array<char, 1024> piece{};
  for (ssize_t n = 0; errors_ >= 0 && (n = read(errors_, piece.data(), piece.size())) > 0;) {
    error_text_.append(piece.data(), static_cast<size_t>(n));
  }
}

bool ChildProcess::Reap(int flags) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status, flags)) < 0 && errno == EINTR) {
  }
  if (ended == 0) {
    return false;
  }
  exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pid_ = -1;
  return true;
}

// A thread that computes stands as R in /proc, also while another program has its processor.
bool ChildProcess::Computes() const {
  std::error_code failed;
  std::filesystem::directory_iterator threads(fmt::format("/proc/{}/task", pid_), failed);
  for (; !failed && threads != std::filesystem::directory_iterator(); threads.increment(failed)) {
    std::ifstream file(threads->path() / "stat");
    const std::string stat((std::istreambuf_iterator<char>(file)), {});
    const size_t name_end = stat.rfind(')');  // names of programs have brackets and blanks
    if (name_end != std::string::npos && stat.compare(name_end, 3, ") R") == 0) {
      return true;
    }
  }
  return false;
}

bool ChildProcess::WaitUntilIdle(double most_seconds) const {
  constexpr auto kLookForWork = std::chrono::milliseconds(10);
  constexpr auto kIdle = std::chrono::microseconds(500);  // of processor time between two looks
  constexpr int kLooks = 3;                               // threads that wait for each other rest for moments
  const auto processor_time = [this]() -> std::optional<std::chrono::nanoseconds> {
    clockid_t clock{};
    timespec time{};
    if (pid_ <= 0 || clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
      return std::nullopt;
    }
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  std::optional<std::chrono::nanoseconds> before = processor_time();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_seconds);
  for (int idle = 0; before && idle < kLooks;) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(kLookForWork);
    const auto now = processor_time();
    idle = now && *now - *before < kIdle && !Computes() ? idle + 1 : 0;
    before = now;
  }
  return before.has_value();
}

void ChildProcess::Terminate() const { kill(options_.own_group ? -pid_ : pid_, SIGTERM); }

}  // namespace lamina
