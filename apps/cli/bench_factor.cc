// lamina bench factor: Cholesky factors of kernel machines.
#include "bench_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "interrupt.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/measure/factor_benchmark.h"
#include "lamina/measure/issue_limit.h"
#include "print.h"

namespace lamina::cli {
namespace {

constexpr int64_t kMostRowsOfFactor = 50'000;

struct BenchFactorCommand {
  std::vector<int64_t> rows{500, 1400, 4000};
  std::vector<std::string> dtypes{"f32", "f64"};
  bool inverse = false;
  int threads = 0;
  int rounds = 5;
  JsonOutput json_output;
};

int RunBenchFactor(const BenchFactorCommand& command) {
  command.json_output.Check();
  const HardwareInfo info = QueryHardware();
  const int threads = command.threads > 0 ? command.threads : info.logical_cores;
  const bool text = !command.json_output.to_stdout();
  if (text) {
    Print("{}\nL of a kernel matrix{}, {}, least of {} rounds.\n\n{:>7} {:<5} {:>11} {:>9} {:>7} {:>9}\n",
          info.OneLine(), command.inverse ? " and its inverse" : "", Counted(threads, "thread{s}"), command.rounds,
          "rows", "type", "seconds", "GFLOP/s", "peak %", "verified");
  }
  CatchInterrupts();
  nlohmann::json rows = nlohmann::json::array();
  std::map<std::string, double> peaks;
  bool verified = true;
  for (const int64_t count : command.rows) {
    for (const std::string& dtype : command.dtypes) {
      const FactorBenchmarkCase work{count, ParseDType(dtype), command.inverse, threads};
      const FactorBenchmarkResult result = BenchmarkFactor(work, command.rounds, Interrupted);
      if (Interrupted()) {
        PrintToStderr("lamina: interrupted\n");
        return kExitInterrupted;
      }
      // Beside every row, the best kept: what the machine can do when nobody disturbs it.
      double& peak = peaks[dtype];
      peak = std::max(peak, MeasureFmaPeak_gflops(work.dtype, threads));
      verified = verified && result.verified;
      rows.push_back({{"rows", count},
                      {"dtype", dtype},
                      {"inverse", work.inverse},
                      {"threads", threads},
                      {"rounds", result.rounds},
                      {"seconds_min", result.least_seconds},
                      {"seconds", result.median_seconds},
                      {"gflops", result.gflops},
                      {"fma_peak_gflops", peak},
                      {"share_of_peak", result.gflops / peak},
                      {"largest_error", result.largest_error},
                      {"verified", result.verified}});
      if (text) {
        Print("{:>7} {:<5} {:>11.6f} {:>9.1f} {:>7.1f} {:>9}\n", WithThousands(count), dtype, result.least_seconds,
              result.gflops, 100 * result.gflops / peak, result.verified ? "yes" : "WRONG");
        std::fflush(stdout);
      }
    }
  }
  command.json_output.Write("bench factor", {{"hardware", info.OneLine()}, {"results", std::move(rows)}});
  return ExitOfBenchmark(verified);
}

}  // namespace

std::function<int()> AddBenchFactor(CLI::App& bench) {
  auto command = std::make_shared<BenchFactorCommand>();
  CLI::App* factor = bench.add_subcommand("factor", "Time Cholesky factors, of which kernel machines are made");
  factor->add_option("--rows", command->rows, "Rows of the matrices")
      ->delimiter(',')
      ->default_str("500,1400,4000")
      ->check(CLI::Range(int64_t{1}, kMostRowsOfFactor));
  factor->add_option("--dtype", command->dtypes, "f32 and f64, or one of them")
      ->delimiter(',')
      ->default_str("f32,f64")
      ->check(CLI::IsMember({"f32", "f64"}));
  factor->add_flag("--inverse", command->inverse, "The factor's inverse, too, as rows that are left out need it");
  AddThreadsFlag(*factor, command->threads);
  factor->add_option("--rounds", command->rounds, "Measurements of which the least counts")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->json_output.AddTo(*factor);
  factor->footer("Example: lamina bench factor --rows 500,4000 --dtype f64 --threads 1");
  return [command] { return RunBenchFactor(*command); };
}

}  // namespace lamina::cli
