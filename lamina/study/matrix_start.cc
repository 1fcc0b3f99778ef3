// Programs in turns, each with its output in a file.
#include "lamina/study/matrix_start.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/child_process.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/scratch_folder.h"
#include "lamina/base/timing.h"

namespace lamina {
namespace {

struct TimedProgram {
  std::string what;
  std::vector<std::string> words;
  std::string says;  // is in its output
  std::vector<double> seconds = {};
  bool verified = true;
  bool there = true;
};

// Two classes that the first column tells apart.
std::string TableText(int rows) {
  std::string text = "a,b,c,d,class\n";
  for (int i = 0; i < rows; ++i) {
    text +=
        fmt::format("{},{},{},{},{}\n", i % 2 == 0 ? 1 + i : -1 - i, i % 7, i % 5, i % 3, i % 2 == 0 ? "up" : "down");
  }
  return text;
}

void RunTimed(TimedProgram& program, const std::string& output) {
  const Stopwatch watch;
  ChildProcess child(program.words, {.output_path = output});
  child.Wait();
  program.seconds.push_back(watch.Elapsed_seconds());
  program.there = bool{child.started()};
  program.verified = program.verified && child.started() && child.exit_status() == 0 &&
                     ReadFile(output).find(program.says) != std::string::npos;
}

}  // namespace

std::vector<ProgramStart> MeasureStarts(const std::string& program, int rounds, const std::function<bool()>& stop) {
  const ScratchFolder folder("start");
  const std::string rows = folder.Path("rows.csv");
  const std::string model = folder.Path("model.safetensors");
  const std::string output = folder.Path("output");
  WriteFileAtomically(rows, TableText(60));
  TimedProgram train{"",
                     {program, "train", "--data", rows, "--model", model, "--method", "backpropagation", "--hidden",
                      "8", "--epochs", "40", "--seed", "1"},
                     ""};
  RunTimed(train, output);
  if (!train.verified) {
    throw Error(ErrorCode::kIo, "the model whose start is measured could not be trained", {.value = program});
  }
  WriteFileAtomically(rows, "a,b,c,d\n31,2,0,0\n");
  std::vector<TimedProgram> programs = {
      {"a program that does nothing (true)", {"true"}, ""},
      {"lamina --version", {program, "--version"}, "lamina"},
      {"lamina predict, one row", {program, "predict", "--model", model, "--data", rows}, "up"}};
  for (int round = 0; round < rounds && !(stop && stop()); ++round) {
    for (TimedProgram& each : programs) {
      RunTimed(each, output);
    }
  }
  std::vector<ProgramStart> starts;
  for (TimedProgram& each : programs) {
    if (!each.seconds.empty() && each.there) {  // Windows has no program that does nothing
      std::sort(each.seconds.begin(), each.seconds.end());
      starts.push_back({each.what, each.seconds[each.seconds.size() / 2], each.seconds.front(), each.verified});
    }
  }
  return starts;
}

}  // namespace lamina
