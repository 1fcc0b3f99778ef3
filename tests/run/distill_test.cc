// Distilled networks of small teachers; soft targets in a run; the rows that are made up.
#include "lamina/run/distill.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "lamina/base/random.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/evaluate.h"
#include "lamina/run/made_up_rows.h"
#include "lamina/run/session.h"
#include "lamina/run/train_data.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// A number and a color tell a value, or two classes with their probabilities.
std::string TeachingCsv(int rows, bool values) {
  Random random(3);
  std::string text = values ? "a,colour,answer\n" : "a,colour,p_no,p_yes,answer\n";
  for (int i = 0; i < rows; ++i) {
    const double a = random.Uniform(-2, 2);
    const char* const colour = i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue";
    const double value = std::sin(a) + (i % 3) * 0.5;
    text += values ? fmt::format("{},{},{}\n", a, colour, value)
                   : fmt::format("{},{},{},{},{}\n", a, colour, value > 0.5 ? 0 : 1, value > 0.5 ? 1 : 0,
                                 value > 0.5 ? "yes" : "no");
  }
  return text;
}

class DistillTest : public testing::Test {
 protected:
  TrainSettings Settings(bool values) const {
    TrainSettings settings;
    settings.data = folder_.Write("t.csv", TeachingCsv(150, values));
    settings.recipe = "plain";
    settings.hidden = {16};
    settings.epochs = 60;
    settings.learning_rate = 0.02;
    settings.threads = 1;
    settings.split = {0.8, 0.2, 0};
    if (!values) {
      settings.drop = {"p_no", "p_yes"};
    }
    return settings;
  }

  // Two networks that answer together.
  Model Teacher(bool values) const {
    TrainSettings settings = Settings(values);
    TrainSession first(settings);
    first.Run({});
    settings.seed = 2;
    TrainSession second(settings);
    second.Run({});
    Model teacher = first.model();
    AnswerTogether({first.model().network, second.model().network}, {0.25, 0.75}, teacher);
    return teacher;
  }

  static DistillOptions Options() { return {.hidden = {24}, .epochs = 60, .made_up = 300, .threads = 1}; }

  TemporaryFolder folder_;
};

TEST_F(DistillTest, AnswersValuesAsItsTeacher) {
  const Model teacher = Teacher(true);
  const Table table = Csv(TeachingCsv(150, true));
  const Distilled distilled = Distill(teacher, table, AllRows(table), Options());
  EXPECT_EQ(distilled.rows, 150);
  EXPECT_EQ(distilled.made_up, 300);
  EXPECT_GT(distilled.agreement, 0.97);
  EXPECT_EQ(distilled.model.networks(), 1);
  // Beside its own figure: the mean square of the difference on rows that neither has seen.
  Random random(9);
  std::string text = "a,colour\n";
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("{},{}\n", random.Uniform(-2, 2), i % 2 == 0 ? "red" : "blue");
  }
  const Table other = Csv(text);
  const auto answers = [&](const Model& model) {
    const Dataset rows = BoundTable(model.preprocessor, other).EncodeInputs(AllRows(other), DType::kF32);
    return PredictRows(model, *MakeBackend("serial"), rows.features);
  };
  const Matrix of_teacher = answers(teacher);
  const Matrix of_student = answers(distilled.model);
  double sum = 0;
  for (int64_t i = 0; i < 200; ++i) {
    sum += std::pow(of_teacher.Row<double>(i)[0] - of_student.Row<double>(i)[0], 2);
  }
  EXPECT_LT(sum / 200, 0.02) << "of values with a variance of 0.7";
}

TEST_F(DistillTest, AnswersClassesAsItsTeacherAndNeedsNoTarget) {
  const Model teacher = Teacher(false);
  const Table table =
      Csv("a,colour\n-1,red\n-2,blue\n0,green\n1,red\n2,blue\n1.5,green\n-1.5,red\n0.5,blue\n-0.5,red\n1,green\n");
  DistillOptions options = Options();
  options.made_up = 200;
  const Distilled distilled = Distill(teacher, table, AllRows(table), options);
  EXPECT_GE(distilled.agreement, 0.9);
  EXPECT_TRUE(AnswersProbabilities(distilled.model));
  EXPECT_EQ(distilled.model.preprocessor.targets().class_names(), teacher.preprocessor.targets().class_names());
  const std::string path = folder_.Path("s");
  SaveModel(path, distilled.model);
  EXPECT_EQ(LoadModel(path).training["distilled"]["networks"], 2);
}

TEST_F(DistillTest, TheSameSeedGivesTheSameNetwork) {
  const Model teacher = Teacher(true);
  const Table table = Csv(TeachingCsv(150, true));
  DistillOptions options = Options();
  options.epochs = 2;
  const Network first = Distill(teacher, table, AllRows(table), options).model.network;
  const Network second = Distill(teacher, table, AllRows(table), options).model.network;
  ASSERT_EQ(first.parameter_bytes(), second.parameter_bytes());
  EXPECT_EQ(std::memcmp(first.parameters(), second.parameters(), static_cast<size_t>(first.parameter_bytes())), 0);
}

TEST_F(DistillTest, RefusesWhatCannotTeachAndStops) {
  const Model teacher = Teacher(true);
  const Table few = Csv("a,colour\n1,red\n2,blue\n");
  ExpectError([&] { Distill(teacher, few, AllRows(few), Options()); }, ErrorCode::kBadData, {"2 rows", "t.csv"});
  const Table table = Csv(TeachingCsv(150, true));
  Model bare;
  bare.network = teacher.network;
  ExpectError([&] { Distill(bare, table, AllRows(table), Options()); }, ErrorCode::kUnsupported, {"no columns"});
  EXPECT_TRUE(Distill(teacher, table, AllRows(table), Options(), {.stop_requested = [] { return true; }}).interrupted);
}

// Probabilities of 0 and 1 are the labels: every bit of the training is the same.
TEST_F(DistillTest, SureSoftTargetsTrainAsLabels) {
  TrainSettings settings = Settings(false);
  TrainSession labels(settings);
  labels.Run({});
  settings.soft_target = {"p_yes", "p_no"};
  settings.drop = {};
  TrainSession soft(settings);
  soft.Run({});
  const Network& a = labels.model().network;
  const Network& b = soft.model().network;
  ASSERT_EQ(a.parameter_bytes(), b.parameter_bytes());
  EXPECT_EQ(std::memcmp(a.parameters(), b.parameters(), static_cast<size_t>(a.parameter_bytes())), 0);
}

TEST(MadeUpRowsTest, TakeWholeColumnsOfRowsThatThereAre) {
  const Table table = Csv("a,colour,b\n1,red,7\n2,green,8\n3,blue,9\n4,red,10\n");
  const Preprocessor preprocessor = Preprocessor::Fit(table, AllRows(table), {.targets = {"b"}});
  const Matrix features = BoundTable(preprocessor, table).EncodeInputs(AllRows(table), DType::kF64).features;
  const InputEncoder& inputs = preprocessor.inputs();
  const MadeUpOptions options{.rows = 500, .among = 4, .exchanged = 0.5, .seed = 4};
  const Matrix made = MakeUpRows(features, inputs, options);
  std::set<std::vector<double>> seen;
  for (int64_t i = 0; i < made.rows(); ++i) {
    const double* const row = made.Row<double>(i);
    seen.insert({row, row + made.cols()});
    for (const FittedColumn& column : inputs.columns()) {
      bool known = false;
      for (int64_t k = 0; k < features.rows(); ++k) {
        known |=
            std::equal(row + column.place, row + column.place + column.width(), features.Row<double>(k) + column.place);
      }
      ASSERT_TRUE(known) << column.name << " of row " << i;
    }
  }
  EXPECT_GT(seen.size(), 4U) << "rows that are new";
  const Matrix again = MakeUpRows(features, inputs, options);
  EXPECT_EQ(std::memcmp(made.data(), again.data(), static_cast<size_t>(made.rows() * made.cols()) * sizeof(double)), 0);
}

}  // namespace
}  // namespace lamina
