// lamina bench data: from a file to a standardized matrix.
#include "bench_data.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/data/files/reader.h"
#include "lamina/measure/data_benchmark.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct BenchDataCommand {
  std::string path;
  int rounds = 5;
  JsonOutput json_output;
};

int RunBenchData(const BenchDataCommand& command) {
  FileUse files;
  files.AddRead("FILE", DataFiles(command.path));
  command.json_output.Check(std::move(files));
  const DataBenchmarkResult result = BenchmarkData(command.path, command.rounds);
  const std::string hardware = QueryHardware().OneLine();
  const double rate = static_cast<double>(result.rows) / result.median_seconds;
  if (!command.json_output.to_stdout()) {
    Print(
        "{}\n{}: {} rows of {} columns to {} standardized inputs in f32\nmedian of {} rounds {:.3f} s ({:.3f}-{:.3f}), "
        "{:.3f} s of it reading; {} rows/s; verified: {}\n",
        hardware, command.path, WithThousands(result.rows), result.columns, result.inputs, result.rounds,
        result.median_seconds, result.least_seconds, result.most_seconds, result.read_seconds,
        WithThousands(static_cast<int64_t>(rate)), result.verified ? "yes" : "WRONG");
    if (result.dropped_rows > 0) {
      PrintNote(stdout, "rows with missing values were left out: {}\n", WithThousands(result.dropped_rows));
    }
  }
  command.json_output.Write("bench data", {{"hardware", hardware},
                                           {"data", command.path},
                                           {"rows", result.rows},
                                           {"dropped_rows", result.dropped_rows},
                                           {"columns", result.columns},
                                           {"inputs", result.inputs},
                                           {"file_bytes", result.file_bytes},
                                           {"rounds", result.rounds},
                                           {"seconds", result.median_seconds},
                                           {"seconds_min", result.least_seconds},
                                           {"seconds_max", result.most_seconds},
                                           {"read_seconds", result.read_seconds},
                                           {"rows_per_second", rate},
                                           {"largest_error", result.largest_error},
                                           {"verified", result.verified}});
  if (!result.verified) {
    PrintToStderr("lamina: error: an input has another mean than 0 or another deviation than 1 (by {:.3g})\n",
                  result.largest_error);
    return kExitFailure;
  }
  return kExitOk;
}

}  // namespace

std::function<int()> AddBenchData(CLI::App& bench) {
  auto command = std::make_shared<BenchDataCommand>();
  CLI::App* data = bench.add_subcommand("data", "Time the way from a file to a standardized matrix");
  data->add_option("FILE", command->path,
                   "CSV, .xlsx, .ods, .npy or IDX file, a folder of IDX files or kddcup99:FOLDER")
      ->required();
  data->add_option("--rounds", command->rounds, "Measurements of which the median counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->json_output.AddTo(*data);
  data->footer("Example: lamina bench data data/digits.csv.gz");
  return [command] { return RunBenchData(*command); };
}

}  // namespace lamina::cli
