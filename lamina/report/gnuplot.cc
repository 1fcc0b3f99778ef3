// gnuplot as a child process; output folders.
#include "lamina/report/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "lamina/base/file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every <unistd.h>

namespace lamina {
namespace {

constexpr const char* kNoGnuplot = "gnuplot is missing (apt-get install gnuplot-nox)";

}  // namespace

Verdict RunGnuplot(const std::string& folder, const std::string& script) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.empty() ? "." : folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);  // warnings about empty ranges
  char program[] = "gnuplot";
  std::string name = script;
  char* const arguments[] = {program, name.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return Verdict::No(failed == ENOENT ? kNoGnuplot
                                        : "gnuplot does not start: " + std::generic_category().message(failed));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {  // some systems learn only in the child that there is none
    return Verdict::No(kNoGnuplot);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Verdict::Yes() : Verdict::No("gnuplot failed on " + script);
}

void RequireOutputFolder(const std::string& folder) {
  if (folder.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the name of the output folder is empty");
  }
  std::error_code failed;
  std::filesystem::path nearest = std::filesystem::absolute(folder, failed).lexically_normal();
  while (!nearest.has_filename() && nearest.has_relative_path()) {
    nearest = nearest.parent_path();  // "a/b/" ends in an empty name
  }
  while (!std::filesystem::exists(nearest, failed) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (!std::filesystem::is_directory(nearest, failed)) {
    throw Error(ErrorCode::kIo, "is not a folder", {.file = nearest.string(), .remedy = "Name another output folder."});
  }
  try {
    RequireWritableTarget((nearest / "report").string());
  } catch (const Error& error) {
    throw Error(
        error.code(), "no files can be made in this folder",
        {.file = nearest.string(), .value = folder, .remedy = "Check its permissions, or name another output folder."});
  }
}

void MakeFolder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(ErrorCode::kIo, "cannot make the folder: " + failed.message(), {.file = folder});
  }
}

}  // namespace lamina
