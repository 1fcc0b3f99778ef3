// posix_spawn with its clean-up.
#include "lamina/platform/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "lamina/platform/posix.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every <unistd.h>

namespace lamina::platform {
namespace {

// Attributes and file actions of one posix_spawn.
struct SpawnPlan {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnPlan(const ChildPlan& plan, int errors, int speech) {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    const bool output = !plan.output_path.empty();
    if (speech >= 0) {
      posix_spawn_file_actions_adddup2(&actions, speech, STDIN_FILENO);
      posix_spawn_file_actions_adddup2(&actions, speech, STDOUT_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output ? plan.output_path.c_str() : "/dev/null",
                                       O_WRONLY | (output ? O_CREAT | O_TRUNC : 0), 0600);
    }
    if (errors >= 0) {
      posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    } else {
      posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (plan.own_group) {
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

std::string InstallCommand(std::string_view debian, std::string_view) {
  return "apt-get install " + std::string(debian);
}

int StartChild(const std::vector<std::string>& words, const ChildPlan& plan, Child& child, bool& no_pipe) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  no_pipe = true;
  std::array<int, 2> ends{-1, -1};
  if (plan.keep_errors && !OpenPipe(ends)) {
    return errno;
  }
  // A pair of sockets, as writing to them need not raise SIGPIPE.
  std::array<int, 2> speakers{-1, -1};
  if (plan.converses && !OpenSocketPair(speakers)) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return error;
  }
  no_pipe = false;
  child = {.errors = ends[0], .speech = speakers[0], .own_group = plan.own_group};
  pid_t number = -1;
  int error = 0;
  {
    const SpawnPlan spawn(plan, ends[1], speakers[1]);
    error = posix_spawnp(&number, words.at(0).c_str(), &spawn.actions, &spawn.attributes, arguments.data(), environ);
  }
  if (child.errors >= 0) {
    close(ends[1]);
    fcntl(child.errors, F_SETFL, O_NONBLOCK);
  }
  if (child.speech >= 0) {
    close(speakers[1]);
  }
  child.number = error == 0 ? number : -1;
  return error;
}

std::optional<int> EndOf(const Child& child, bool wait) noexcept {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(static_cast<pid_t>(child.number), &status, wait ? 0 : WNOHANG)) < 0 && errno == EINTR) {
  }
  if (ended == 0) {
    return std::nullopt;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void AskToEnd(const Child& child) noexcept {
  kill(static_cast<pid_t>(child.own_group ? -child.number : child.number), SIGTERM);
}

ptrdiff_t Send(int speech, const void* data, size_t size_bytes) noexcept {
  const ssize_t n = send(speech, data, size_bytes, MSG_NOSIGNAL);
  return n < 0 && errno == EINTR ? 0 : n;
}

ptrdiff_t Receive(int speech, void* data, size_t size_bytes, std::chrono::milliseconds most) noexcept {
  pollfd there{speech, POLLIN, 0};
  if (poll(&there, 1, static_cast<int>(most.count())) <= 0) {
    return 0;
  }
  const ssize_t n = recv(speech, data, size_bytes, 0);
  if (n == 0 || (n < 0 && errno != EINTR)) {
    return -1;
  }
  return n > 0 ? n : 0;
}

}  // namespace lamina::platform
