// A table answered: rows in their places, what is left out, and the comparison with the truth.
#include "lamina/model/answer.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lamina/data/files/csv.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"

namespace lamina {
namespace {

constexpr const char* kTrain = "a,b,y\n1,2,1.5\n2,1,2.5\n3,5,3.25\n4,3,4.5\n5,1,5.75\n6,2,6.5\n";
constexpr const char* kGaps = "a,b,y\n1,2,1.5\n,1,2.5\n3,5,\n4,3,4.25\n";

Model ModelOf(const std::string& csv, PreprocessOptions options) {
  const Table table = ReadCsv(csv, "train.csv", {});
  Model model = SmallModel(table, DType::kF64, "tanh", options.task);
  model.preprocessor = Preprocessor::Fit(table, RowsOf(table), options);
  return model;
}

Model Values(MissingPolicy missing) {
  return ModelOf(kTrain, {.target_scaling = Scaling::kAuto, .missing = missing, .task = Task::kRegression});
}

Answers Ask(const Model& model, const std::string& csv, const AnswerOptions& options = {}) {
  Table table = ReadCsv(csv, "asked.csv", {});
  return AnswerTable(model, *MakeBackend("serial"), table, RowsOf(table), options);
}

// What single rows of numbers are told.
double Alone(const Model& model, double a, double b) {
  Table table = NumberTable({"a", "b"}, {{a}, {b}});
  const Dataset data = BoundTable(model.preprocessor, table).EncodeInputs(RowsOf(table), model.network.dtype());
  return PredictRows(model, *MakeBackend("serial"), data.features).Row<double>(0)[0];
}

TEST(AnswerTable, RowsKeepTheirPlaces) {
  const Model model = Values(MissingPolicy::kDropRow);
  const Answers answers = Ask(model, kGaps);
  ASSERT_EQ(answers.outputs.rows(), 4);
  EXPECT_NEAR(answers.outputs.Row<double>(0)[0], Alone(model, 1, 2), 1e-12);
  EXPECT_FALSE(answers.has_answer(1));
  EXPECT_NEAR(answers.outputs.Row<double>(2)[0], Alone(model, 3, 5), 1e-12);
  EXPECT_NEAR(answers.outputs.Row<double>(3)[0], Alone(model, 4, 3), 1e-12);
  EXPECT_EQ(answers.without_answer.rows, 1);
  EXPECT_EQ(answers.without_answer.Where(), "line 3, column 'a'");
  EXPECT_FALSE(answers.evaluation) << "nobody asked";
}

TEST(AnswerTable, TruthIsComparedWhereItIs) {
  const Model model = Values(MissingPolicy::kDropRow);
  for (const Truth truth : {Truth::kWherePresent, Truth::kRequired}) {
    const Answers answers = Ask(model, kGaps, {truth, {}});
    ASSERT_TRUE(answers.evaluation);
    EXPECT_EQ(answers.evaluation->samples, 2);
    EXPECT_EQ(answers.not_evaluated.rows, 2);
    EXPECT_EQ(answers.not_evaluated.Where(), "line 3, column 'a'");
    EXPECT_NEAR(answers.evaluation->regression[0].mae,
                (std::abs(Alone(model, 1, 2) - 1.5) + std::abs(Alone(model, 4, 3) - 4.25)) / 2, 1e-12);
    ASSERT_EQ(answers.evaluation->points.at(0).size(), 2U);
    EXPECT_NEAR(answers.evaluation->points[0][1].first, 4.25, 1e-12);
    EXPECT_NEAR(answers.evaluation->points[0][1].second, Alone(model, 4, 3), 1e-12);
    EXPECT_NEAR(answers.truth.Row<double>(3)[0], 4.25, 1e-12);
    EXPECT_TRUE(std::isnan(answers.truth.Row<double>(2)[0]));
  }
}

TEST(AnswerTable, AStrictModelRefusesGapsAndAnswersWithoutTruth) {
  const Model model = Values(MissingPolicy::kError);
  EXPECT_EQ(CaughtError([&] { Ask(model, kGaps); }).context().line, 3);
  const std::string no_truth = "a,b,y\n1,2,\n3,5,3.5\n";
  const Answers answers = Ask(model, no_truth, {Truth::kWherePresent, {}});
  EXPECT_TRUE(answers.has_answer(0));
  EXPECT_EQ(answers.without_answer.rows, 0);
  EXPECT_EQ(answers.not_evaluated.Where(), "line 2, column 'y'");
  EXPECT_EQ(answers.evaluation->samples, 1);
  EXPECT_EQ(CaughtError([&] { Ask(model, no_truth, {Truth::kRequired, {}}); }).context().column, "y");
  EXPECT_FALSE(Ask(model, "a,b\n1,2\n", {Truth::kWherePresent, {}}).evaluation);
  const Error error = CaughtError([&] { Ask(model, "a,b\n1,2\n", {Truth::kRequired, {}}); });
  EXPECT_TRUE(Mentions(error.what(), "no target column"));
}

TEST(AnswerTable, ClassesAndTheirTruth) {
  PreprocessOptions options{.missing = MissingPolicy::kDropRow, .unseen = UnseenPolicy::kZero};
  options.task = Task::kClassification;
  const Model model = ModelOf("a,b,y\n1,2,no\n2,1,yes\n3,5,no\n4,3,yes\n", options);
  const Answers answers = Ask(model, "a,b,y\n1,2,no\n,1,no\n3,5,maybe\n4,3,\n2,1,yes\n", {Truth::kWherePresent, {}});
  EXPECT_EQ(answers.classes[1], -1);
  EXPECT_TRUE(answers.classes[0] >= 0 && answers.classes[2] >= 0 && answers.classes[3] >= 0);
  EXPECT_EQ(answers.labels, (std::vector<int32_t>{0, -1, -1, -1, 1}));
  EXPECT_EQ(answers.evaluation->samples, 3);
  EXPECT_EQ(answers.evaluation->classification->unknown_labels, 1);
  EXPECT_EQ(answers.not_evaluated.rows, 2);
}

TEST(AnswerTable, DerivesColumnsOnce) {
  Table train = ReadCsv(kTrain, "train.csv", {});
  PreprocessOptions options{.missing = MissingPolicy::kDropRow, .task = Task::kRegression};
  options.derive.columns = {"before=previous:a"};
  options.targets = {"y"};
  DeriveColumns(train, options.derive);
  Model model;
  model.preprocessor = Preprocessor::Fit(train, RowsOf(train), options);
  model.network = Network({{3, 1, Synapse::kDot, "identity", true}}, DType::kF64);
  model.network.Initialize(Initialization::kGlorotUniform, 7);
  Table table = ReadCsv(kTrain, "asked.csv", {});
  const auto backend = MakeBackend("serial");
  const std::vector<int64_t> rows{0, 3};  // the row before is there although it is not asked for
  const Answers answers = AnswerTable(model, *backend, table, rows);
  EXPECT_FALSE(answers.has_answer(0));
  EXPECT_TRUE(answers.has_answer(1));
  const Answers again = AnswerTable(model, *backend, table, rows);
  EXPECT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(again.outputs.Row<double>(1)[0], answers.outputs.Row<double>(1)[0]);
}

TEST(AnswerTable, ABareNetworkHasNoRawRows) {
  Model model;
  model.network = Network({{2, 1, Synapse::kDot, "identity", true}}, DType::kF64);
  EXPECT_EQ(CaughtError([&] { Ask(model, kGaps); }).code(), ErrorCode::kBadModel);
}

TEST(AnswerTable, AnAnswerThatIsNoNumberNamesItsLine) {
  Model model = Values(MissingPolicy::kError);
  model.network.Weights(1).Row<double>(0)[0] = std::nan("");
  const Error error = CaughtError([&] { Ask(model, "a,b\n1,2\n"); });
  EXPECT_EQ(error.context().line, 2);
  EXPECT_TRUE(Mentions(error.what(), "not a finite number"));
}

}  // namespace
}  // namespace lamina
