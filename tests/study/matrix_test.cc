// The matrix on tiny work: every row is there, verified, with what the threads gain; stopping leaves gaps and says so.
#include "lamina/study/matrix.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/base/error.h"
#include "lamina/measure/train_benchmark.h"
#include "tests/source_folder.h"

namespace lamina {
namespace {

MatrixOptions Tiny() {
  MatrixOptions options = MatrixOptions::Quick();
  options.nets = {{64, 16, 10}};
  options.rows = {{64, 16, 10}};
  options.batches = {16};
  options.data = SourceFolder() + "/data/digits.csv.gz";
  options.threads = 2;
  options.rounds = 1;
  options.round_seconds = 1e-3;
  return options;
}

nlohmann::json RowsOf(const MatrixResult& result, const char* table) {
  return ToJson(result.report)["tables"][table]["rows"];
}

TEST(Matrix, EveryKindOfWork) {
  const MatrixOptions options = Tiny();
  std::vector<std::string> said;
  MatrixOptions heard = options;
  heard.measured = [&](const std::string& line) { said.push_back(line); };
  const MatrixResult result = MeasureMatrix(heard);
  EXPECT_TRUE(result.all_verified);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(RowsOf(result, "layers").size(), options.layers.size());
  const nlohmann::json training = RowsOf(result, "training");
  ASSERT_EQ(training.size(), 2U);  // random inputs, and those of the data
  EXPECT_EQ(training[0]["inputs"], "random");
  EXPECT_EQ(training[1]["inputs"], "digits.csv.gz");
  EXPECT_EQ(RowsOf(result, "answers").size(), 2 * options.weights.size());
  const nlohmann::json steps = RowsOf(result, "steps");
  ASSERT_EQ(steps.size(), options.steps.size());
  EXPECT_EQ(steps[0]["network"], "4-32-16-4");
  EXPECT_EQ(said.size(), options.layers.size() + 2 + options.steps.size() + 2 * options.weights.size());
  for (const char* table : {"layers", "training", "steps", "answers"}) {
    for (const auto& row : RowsOf(result, table)) {
      EXPECT_EQ(row["verified"], "yes") << table << row;
    }
  }
  for (const auto& row : training) {
    EXPECT_NEAR(row["gain"].get<double>(), row["s_one"].get<double>() / row["s_all"].get<double>(), 1e-9);
  }
  EXPECT_FALSE(RowsOf(result, "limits").empty());
}

// One step of each by sgd against plain loops: what the benchmark does before it times Adam.
TEST(Matrix, EveryNamedStepIsVerified) {
  for (const MatrixStep& step : MatrixSteps(/*quick=*/false)) {
    TrainBenchmarkCase work = step.work;
    work.batch = std::min<int64_t>(work.batch, 300);
    TrainBenchmarkResult result;
    VerifyTraining(work, TrainReference(work), result);
    EXPECT_TRUE(result.verified) << step.name << ": " << result.largest_error << " of " << result.error_bound;
  }
}

TEST(Matrix, AProgramThatIsNotThereHasNoStart) {
  MatrixOptions options = Tiny();
  options.program = "/nowhere/lamina";
  EXPECT_THROW(MeasureMatrix(options), Error);
}

TEST(Matrix, DataOfAnotherWidthIsLeftOut) {
  MatrixOptions options = Tiny();
  options.nets = {{32, 16, 10}};
  EXPECT_EQ(RowsOf(MeasureMatrix(options), "training").size(), 1U);
}

TEST(Matrix, Stops) {
  MatrixOptions options = Tiny();
  int asked = 0;
  options.stop_requested = [&] { return ++asked > 1; };
  const MatrixResult result = MeasureMatrix(options);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(RowsOf(result, "layers").size(), 1U);
  EXPECT_TRUE(RowsOf(result, "training").empty());
}

}  // namespace
}  // namespace lamina
