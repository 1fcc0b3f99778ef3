// Tests of targets in the forms that networks ask for.
#include "lamina/data/encode/target_encoder.h"

#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

TEST(TargetEncoder, AnotherFormHasTheBitsOfEncodingAnewAndSharesTheInputs) {
  const Table classes = Csv("x,y\n1,no\n2,yes\n3,no\n4,yes\n");
  const Table numbers = Csv("x,a,b\n1,0.5,7\n2,1.5,8\n4,9.5,1\n", {.header = Header::kYes});
  struct Case {
    const Table& table;
    PreprocessOptions options;
    TargetForm form;
  };
  for (const auto& [table, options, form] :
       {Case{classes, {}, {.negative = -1}},
        Case{classes, {}, {.positive = 0.9, .negative = 0.1, .single_output = true}},
        Case{numbers, {.targets = {"b", "a"}, .target_scaling = Scaling::kStandardize}, {.negative = -1}}}) {
    const Preprocessor fitted = FitAll(table, options);
    const Dataset before = EncodeAll(fitted, table);
    const TargetEncoder targets = fitted.targets().For(form);
    const Dataset after = targets.InForm(before);
    const Dataset anew = EncodeAll(FitAll(table, options, form), table);
    EXPECT_EQ(Rows(after.targets), Rows(anew.targets));
    EXPECT_EQ(after.targets.cols(), targets.count());
    EXPECT_EQ(after.labels, anew.labels);
    EXPECT_EQ(after.rows, anew.rows);
    EXPECT_EQ(after.features.data(), before.features.data());
  }
}

TEST(TargetEncoder, SharedInputsOutliveTheirFirstOwner) {
  const Table table = Csv("x,y\n1,no\n3,yes\n");
  const Preprocessor fitted = FitAll(table);
  Dataset formed;
  {
    const Dataset first = EncodeAll(fitted, table);
    formed = fitted.targets().For({.negative = -1}).InForm(first);
  }
  EXPECT_EQ(Rows(formed.features), (std::vector<std::vector<double>>{{-1}, {1}}));
  EXPECT_EQ(Rows(formed.targets), (std::vector<std::vector<double>>{{1, -1}, {-1, 1}}));
}

}  // namespace
}  // namespace lamina
