// The study on tiny layers: every table and figure is there, wrong results are seen, refusals keep their reasons; the
// timer's slices; the sweep.
#include "lamina/study/paper_2017.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "gtest/gtest.h"
#include "lamina/study/layer_sweep.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

Paper2017Options Tiny2017() {
  Paper2017Options options;
  options.sizes.layer = 32;
  options.sizes.figure4_inputs = 24;
  options.sizes.sweep_sizes = {int64_t{1} << 30, 32, 16};
  options.sizes.sweep_blocks = {32, 16};
  options.sizes.inputs = {1, 20};
  options.sizes.square = 20;
  options.sizes.classifier_rows = 400;
  options.backend = "cpu";
  options.timer.threads = 2;
  options.timer.seconds = 1e-4;
  options.timer.rounds = 1;
  return options;
}

// A measurement that takes no time: `t_syn_ns` a synapse.
LayerBenchmarkResult Pretended(const Problem& problem, double t_syn_ns) {
  LayerBenchmarkResult result;
  result.verified = true;
  result.t_syn_ns = t_syn_ns;
  result.median_seconds = 1e-9 * t_syn_ns * static_cast<double>(problem.batch) *
                          static_cast<double>(problem.layer.outputs) * static_cast<double>(problem.layer.inputs);
  return result;
}

const nlohmann::json& Table(const nlohmann::json& node, const char* id) { return node["tables"][id]["rows"]; }

TEST(Paper2017, EveryTableAndFigure) {
  const Paper2017Result result = RunPaper2017(Tiny2017());
  EXPECT_TRUE(result.all_verified);
  EXPECT_FALSE(result.interrupted);
  const nlohmann::json node = nlohmann::json::parse(ToJson(result.report).dump());
  EXPECT_TRUE(Mentions(result.report.hardware, "lamina"));
  EXPECT_EQ(Table(node, "figure-4").size(), 14U);
  EXPECT_EQ(Table(node, "figure-4")[1]["paper_f64"], 2.34);
  EXPECT_GT(Table(node, "figure-4")[1]["f64"].get<double>(), 0);
  EXPECT_EQ(Table(node, "table-1").size(), 3U);
  EXPECT_TRUE(Mentions(Table(node, "table-1")[0]["b_32"].get<std::string>(), "memory"));
  EXPECT_TRUE(Mentions(Table(node, "table-2")[2]["b_32"].get<std::string>(), "block larger"));
  EXPECT_EQ(Table(node, "sweep").size(), 6U);
  EXPECT_EQ(Table(node, "table-3").size(), 8U);
  EXPECT_EQ(Table(node, "table-3")[7]["n"], 65536);
  EXPECT_EQ(Table(node, "table-3")[7]["m"], 4);
  EXPECT_EQ(Table(node, "table-3")[7]["paper_t_syn_ns"], 0.134);
  EXPECT_EQ(Table(node, "table-4").size(), 18U);
  EXPECT_GE(Table(node, "table-5").size(), 8U);
  for (const char* id : {"figure-5", "figure-6", "figure-7"}) {
    const nlohmann::json& series = node["figures"][id]["series"];
    EXPECT_GE(series.size(), 3U) << id;
    // A backend that this build lacks has no points.
    const auto measured = std::find_if(series.begin(), series.end(),
                                       [](const nlohmann::json& each) { return each["points"].size() > 1; });
    ASSERT_NE(measured, series.end()) << id;
    EXPECT_EQ((*measured)["points"][1][0], 20) << id;
    EXPECT_GT((*measured)["points"][1][1].get<double>(), 0) << id;
  }
  ASSERT_EQ(Table(node, "classifiers").size(), 3U);
  for (const nlohmann::json& row : Table(node, "classifiers")) {
    EXPECT_GT(row["accuracy"].get<double>(), 0.8) << row.dump();
    EXPECT_LT(row["units"].get<double>(), 400) << row.dump();
    EXPECT_NEAR(row["train_t_syn_ns"].get<double>(),
                1e9 * row["train_seconds"].get<double>() / (400 * 784 * row["units"].get<double>()), 1e-3);
  }
  for (const nlohmann::json& row : Table(node, "measurements")) {
    EXPECT_TRUE(row["verified"] == "yes" || row["reason"].is_string()) << row.dump();
  }
}

TEST(Paper2017, TypesThatABackendCannotDoSayWhy) {
  const nlohmann::json node = ToJson(RunPaper2017(Tiny2017()).report);
  for (const nlohmann::json& row : Table(node, "table-4")) {
    for (const char* backend : {"cpu_t_syn_ns", "serial_t_syn_ns"}) {
      EXPECT_TRUE(row[backend].is_number() || row[backend].is_string()) << row.dump();
    }
    EXPECT_TRUE(row["synapse"] == "dot" || row["blas_t_syn_ns"].is_string()) << row.dump();
  }
}

TEST(Paper2017, APlantedWrongResultIsSeen) {
  Paper2017Options options = Tiny2017();
  options.timer.measure = [](const Problem& problem, const LayerBenchmarkOptions&) {
    LayerBenchmarkResult result = Pretended(problem, 1);
    result.verified = problem.dtype != DType::kF32 || problem.layer.synapse != Synapse::kL1;
    result.largest_error = result.verified ? 0 : std::nan("");
    return result;
  };
  const Paper2017Result result = RunPaper2017(options);
  EXPECT_FALSE(result.all_verified);
  EXPECT_TRUE(Mentions(ToMarkdown(result.report), "WRONG"));
}

TEST(Paper2017, StopsWhenAsked) {
  Paper2017Options options = Tiny2017();
  int asked = 0;
  options.timer.stop_requested = [&] { return ++asked > 5; };
  int timed = 0;
  options.timer.timed = [&](const TimedLayer&) { ++timed; };
  EXPECT_TRUE(RunPaper2017(options).interrupted);
  EXPECT_EQ(timed, 5);
}

TEST(Paper2017, UnknownBackend) {
  Paper2017Options options = Tiny2017();
  options.backend = "cqu";
  EXPECT_EQ(CaughtError([&] { RunPaper2017(options); }).code(), ErrorCode::kInvalidArgument);
}

TEST(Paper2017, LayersAreHalvedAsInTable3) {
  const Paper2017Sizes sizes = Paper2017Sizes::Full();
  EXPECT_EQ(sizes.LayerFor(1), 4096);
  EXPECT_EQ(sizes.LayerFor(1024), 4096);
  EXPECT_EQ(sizes.LayerFor(4096), 2048);
  EXPECT_EQ(sizes.LayerFor(16384), 1024);
  EXPECT_EQ(sizes.LayerFor(65536), 512);
}

TEST(LayerMemory, IsEquation4) {
  EXPECT_EQ(LayerMemory_bytes(RbfProblem(4096, 4096, 1024, DType::kF64)), 201326592.0) << "0.201327 GB in Fig. 4";
}

TEST(LayerTimer, SlowLayersAreEstimatedFromASlice) {
  std::vector<int64_t> batches;
  LayerTimerOptions options;
  options.seconds = 0.1;
  options.measure = [&](const Problem& problem, const LayerBenchmarkOptions&) {
    batches.push_back(problem.batch);
    return Pretended(problem, 10);
  };
  LayerTimer timer(options);
  const Problem large = MulProblem(1000, 1000, 1000, DType::kF64);  // 10 s
  const TimedLayer& layer = timer.Time(large, "serial");
  EXPECT_TRUE(layer.estimated());
  EXPECT_EQ(layer.timed_samples, 16) << "the least";
  EXPECT_NEAR(layer.seconds, 10, 1e-9);
  EXPECT_NEAR(layer.t_syn_ns, 10, 1e-9);
  EXPECT_EQ(batches, (std::vector<int64_t>{64, 16})) << "a pilot, then the slice";
  timer.Time(large, "serial");
  EXPECT_EQ(batches.size(), 2U) << "measured once";
  EXPECT_FALSE(timer.Time(MulProblem(100, 100, 100, DType::kF64), "serial").estimated());
}

TEST(LayerTimer, ASliceGrowsWhereThePilotWasSlow) {
  LayerTimerOptions options;
  options.seconds = 0.1;
  options.measure = [&](const Problem& problem, const LayerBenchmarkOptions&) {
    return Pretended(problem, problem.batch <= 64 ? 10 : 0.01);
  };
  LayerTimer timer(options);
  EXPECT_TRUE(timer.Time(MulProblem(100, 1000, 1000, DType::kF64), "cpu").estimated());
  EXPECT_FALSE(timer.Time(MulProblem(1000, 100, 100, DType::kF64), "cpu").estimated());
  EXPECT_FALSE(timer.Time(MulProblem(1000, 1000, 1000, DType::kF64), "cpu").estimated()) << "10 ms at the best speed";
}

TEST(LayerSweep, CellsAndTheirReasons) {
  LayerTimerOptions options;
  options.measure = [](const Problem& problem, const LayerBenchmarkOptions& given) {
    return Pretended(problem, given.backend == "serial" ? 4 : problem.layer.synapse == Synapse::kL1 ? 0.2 : 0.1);
  };
  LayerTimer timer(options);
  const std::vector<SweepCell> cells = SweepLayers({{int64_t{1} << 30, 64}, {128, 32}, 100, DType::kF64, "cpu"}, timer);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_TRUE(Mentions(cells[0].reason, "eq. (4)"));
  EXPECT_TRUE(Mentions(cells[2].reason, "block larger than the 64 samples"));
  EXPECT_EQ(cells[3].m, 64);
  EXPECT_EQ(cells[3].block, 32);
  EXPECT_NEAR(cells[3].rbf_seconds, 64.0 * 64 * 100 * 0.2e-9, 1e-15);
  EXPECT_NEAR(cells[3].mul_seconds, 64.0 * 64 * 100 * 0.1e-9, 1e-15);
  EXPECT_NEAR(cells[3].speedup, 20, 1e-9);
  const ReportTable table = SweepTable(cells, /*speedup=*/true);
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns[1].key, "b_128");
  EXPECT_EQ(table.rows[1][2].text, "20");
  EXPECT_EQ(table.rows[1][3].text, "1.28 (B 16)");
  EXPECT_EQ(SweepTable(cells, /*speedup=*/false).rows[1][2].text, "8.19e-05, 4.1e-05");
  EXPECT_EQ(SweepList(cells).rows.size(), 4U);
}

}  // namespace
}  // namespace lamina
