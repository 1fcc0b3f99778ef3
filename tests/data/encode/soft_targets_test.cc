// Tests of a teacher's numbers in the place of targets.
#include "lamina/data/encode/soft_targets.h"

#include <cmath>

#include "lamina/data/encode/bound_table.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

using SoftNames = std::vector<std::string>;

struct SoftRows {
  explicit SoftRows(const char* text, const SoftNames& soft)
      : table(Csv(text)), preprocessor(Preprocessor::Fit(table, AllRows(table), {.drop_columns = soft})) {
    dataset = BoundTable(preprocessor, table).Encode(AllRows(table), DType::kF64);
  }
  void Learn(const SoftNames& names) { LearnSoftTargets(table, preprocessor.targets(), names, dataset); }
  double Target(int64_t row, int64_t output) const { return dataset.targets.Row<double>(row)[output]; }

  Table table;
  Preprocessor preprocessor;
  Dataset dataset;
};

const SoftNames kSoftColumns = {"p_b", "p_a"};
const char* const kSoftClasses = "x,p_b,p_a,y\n1,0.25,0.75,a\n2,1,0,b\n3,0.597,0.398,b\n";

TEST(SoftTargetsTest, ProbabilitiesAreTargetsInTheOrderOfTheClasses) {
  SoftRows rows(kSoftClasses, kSoftColumns);
  rows.Learn(kSoftColumns);
  EXPECT_EQ(rows.Target(0, 0), 0.75);
  EXPECT_EQ(rows.Target(0, 1), 0.25);
  EXPECT_EQ(rows.Target(1, 0), 0);
  EXPECT_DOUBLE_EQ(rows.Target(2, 0), 0.4) << "sums that are a little off are divided by";
  EXPECT_EQ(rows.dataset.labels, (std::vector<int32_t>{0, 1, 1})) << "labels stay";
}

TEST(SoftTargetsTest, OtherFormsKeepThem) {
  SoftRows rows(kSoftClasses, kSoftColumns);
  rows.Learn(kSoftColumns);
  const TargetEncoder bipolar = rows.preprocessor.targets().For({.positive = 1, .negative = -1});
  EXPECT_EQ(bipolar.InForm(rows.dataset).targets.Row<double>(0)[0], 0.5);
  const TargetEncoder single = rows.preprocessor.targets().For({.single_output = true});
  const Dataset one = single.InForm(rows.dataset);
  ASSERT_EQ(one.targets.cols(), 1);
  EXPECT_EQ(one.targets.Row<double>(0)[0], 0.25) << "of the second class";
}

TEST(SoftTargetsTest, TheLongestClassNameTellsTheColumn) {
  const SoftNames names = {"p_not a", "p_a"};
  SoftRows rows("x,p_not a,p_a,y\n1,0.1,0.9,a\n2,0.8,0.2,not a\n", names);
  rows.Learn(names);
  EXPECT_EQ(rows.Target(0, 0), 0.9);
  EXPECT_EQ(rows.Target(1, 1), 0.8);
}

TEST(SoftTargetsTest, ValuesAreScaledAsTheTarget) {
  SoftRows rows("x,t,y\n1,5.5,5\n2,6.5,7\n3,8,9.5\n", {"t"});
  const ColumnScaling& scaling = rows.preprocessor.targets().ScalingOf(0);
  rows.Learn({"t"});
  EXPECT_DOUBLE_EQ(rows.Target(0, 0), scaling.Encode(5.5));
  EXPECT_DOUBLE_EQ(rows.Target(2, 0), scaling.Encode(8));
}

TEST(SoftTargetsTest, RefusesColumnsThatDoNotFit) {
  const SoftNames all = {"p_b", "p_a", "q_a", "z", "t"};
  SoftRows rows("x,p_b,p_a,q_a,z,t,y\n1,0.25,0.75,0.5,1,u,a\n2,1,0,0.5,1,v,b\n", all);
  const auto refuse = [&](const SoftNames& names, std::initializer_list<std::string_view> parts) {
    const ErrorContext context = ExpectError([&] { rows.Learn(names); }, ErrorCode::kInvalidArgument, parts);
    EXPECT_EQ(context.setting, kSoftTargetSetting);
  };
  refuse({"p_a"}, {"no column of class 'b'", "p_b"});
  refuse({"p_a", "p_b", "z"}, {"belongs to no class", "'z'"});
  refuse({"p_a", "p_b", "q_a"}, {"two columns of class 'a'", "q_a", "p_a"});
  refuse({"p_a", "t"}, {"holds text", "'t'"});
  ExpectError([&] { rows.Learn({"p_a", "p_c"}); }, ErrorCode::kNotFound, {"p_c"});
  SoftRows values("x,t,u,y\n1,5.5,1,5\n2,6.5,1,7\n3,8,1,9.5\n", {"t", "u"});
  ExpectError([&] { values.Learn({"t", "u"}); }, ErrorCode::kInvalidArgument, {"2 columns", "the targets are 1"});
}

TEST(SoftTargetsTest, RefusesValuesThatAreNone) {
  const auto refuse = [](const char* text, std::initializer_list<std::string_view> parts) {
    SoftRows rows(text, kSoftColumns);
    ExpectError([&] { rows.Learn(kSoftColumns); }, ErrorCode::kBadData, parts);
  };
  refuse("x,p_b,p_a,y\n1,0.25,0.75,a\n2,1,0.2,b\n", {"t.csv:3", "sum to 1.2, not 1"});
  refuse("x,p_b,p_a,y\n1,0.25,0.75,a\n2,1.5,-0.5,b\n", {"t.csv:3", "'p_a'", "below 0"});
  refuse("x,p_b,p_a,y\n1,0.25,0.75,a\n2,1,,b\n", {"t.csv:3", "'p_a'", "missing soft target"});
}

TEST(SoftTargetsTest, RefusesMatricesThatDoNotFit) {
  SoftRows rows(kSoftClasses, kSoftColumns);
  Matrix soft(3, 2, DType::kF64);
  std::fill_n(soft.Row<double>(0), 6, 0.5);
  LearnSoftTargets(soft, rows.preprocessor.targets(), rows.dataset);
  EXPECT_EQ(rows.Target(2, 1), 0.5);
  soft.Row<double>(1)[0] = std::nan("");
  const auto learn = [&] { LearnSoftTargets(soft, rows.preprocessor.targets(), rows.dataset); };
  ExpectError(learn, ErrorCode::kBadData, {"row 1", "missing"});
  soft.Row<double>(1)[0] = 0.7;
  ExpectError(learn, ErrorCode::kBadData, {"row 1", "sum to 1.2"});
  soft = Matrix(2, 2, DType::kF64);
  ExpectError(learn, ErrorCode::kInvalidArgument, {"2 x 2", "3 x 2"});
}

}  // namespace
}  // namespace lamina
