// gnuplot as a child process; output folders.
#include "lamina/report/gnuplot.h"

#include <filesystem>
#include <system_error>

#include "lamina/base/child_process.h"
#include "lamina/base/file.h"

namespace lamina {
Verdict RunGnuplot(const std::string& folder, const std::string& script) {
  // Its warnings about empty ranges go nowhere.
  ChildProcess gnuplot({"gnuplot", script}, {.folder = folder, .remedy = "apt-get install gnuplot-nox"});
  gnuplot.Wait();
  if (const Verdict started = gnuplot.started(); !started) {
    return started;
  }
  return gnuplot.exit_status() == 0 ? Verdict::Yes() : Verdict::No("gnuplot failed on " + script);
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
