// Classes made of values, and the attacks of KDD Cup 1999.
#include "lamina/data/encode/class_map.h"

#include <map>

#include "lamina/data/encode/bound_table.h"
#include "lamina/data/files/kddcup99.h"
#include "tests/data/data_test_util.h"

namespace lamina {
namespace {

TEST(ClassMap, MapsValuesAndKeepsTheOrderOfTheMap) {
  const ClassMap map = ClassMap::Parse({"w=good", "a=b=bad", "*=other"});
  EXPECT_EQ(map.Of("w"), "good");
  EXPECT_EQ(map.Of("a=b"), "bad");
  EXPECT_EQ(map.Of("z"), "other");
  EXPECT_EQ(map.InOrder({"bad", "good", "other", "x"}), (std::vector<std::string>{"good", "bad", "other", "x"}));
  EXPECT_EQ(ClassMap::Parse(map.Text()).Text(), map.Text());
  EXPECT_EQ(ClassMap::Parse({"a=b"}).Of("z"), "z");
}

TEST(ClassMap, BadEntriesAreNamed) {
  for (const char* entry : {"a", "=b", "a=", ""}) {
    ExpectError([&] { ClassMap::Parse({entry}); }, ErrorCode::kInvalidArgument, {"VALUE=CLASS"});
  }
  ExpectError([] { ClassMap::Parse({"kddcup99-binry"}); }, ErrorCode::kInvalidArgument, {"'kddcup99-binary'"});
  ExpectError([] { ClassMap::Parse({"a=b", "a=c"}); }, ErrorCode::kInvalidArgument, {"twice", "'a'"});
}

TEST(KddCup99, CategoriesHaveThePublishedCounts) {
  EXPECT_EQ(KddAttacks().size(), 40U);  // 38 of the test and spy and warezclient, which only training has
  std::map<std::string_view, int> of_training;
  int only_test = 0;
  for (const KddAttack& attack : KddAttacks()) {
    of_training[attack.category] += attack.in_training ? 1 : 0;
    only_test += attack.in_training ? 0 : 1;
  }
  EXPECT_EQ(only_test, 17);
  EXPECT_EQ(of_training,
            (std::map<std::string_view, int>{{"normal", 1}, {"probe", 4}, {"dos", 6}, {"u2r", 4}, {"r2l", 8}}));
  EXPECT_EQ(KddCost(4, 0), 4);  // r2l taken for normal: the dearest
  EXPECT_EQ(KddCost(0, 4), 2);
}

TEST(KddCup99, RealFiles) {
  LAMINA_DATA_OR_SKIP(folder, "kddcup99");
  const ReadResult data = ReadData("kddcup99:" + folder);
  ASSERT_TRUE(data.test.has_value());
  EXPECT_EQ(data.target, "label");
  EXPECT_EQ(data.train.columns[1].name, "protocol_type");
  EXPECT_EQ(data.train.columns[40].name, "dst_host_srv_rerror_rate");
  EXPECT_EQ(data.train.columns[41].categories[0], "normal");
  PreprocessOptions options;
  options.targets = {"label"};
  options.class_map = ClassMap::Parse({"kddcup99-categories"});
  options.unseen = UnseenPolicy::kZero;
  const Preprocessor fitted = Preprocessor::Fit(data.train, AllRows(data.train), options);
  EXPECT_EQ(fitted.targets().class_names(), (std::vector<std::string>{"normal", "probe", "dos", "u2r", "r2l"}));
  EXPECT_EQ(fitted.inputs().count(), 38 + 3 + 66 + 11);
  EncodeReport report;
  const Dataset test = BoundTable(fitted, *data.test).Encode(AllRows(*data.test), DType::kF32, &report);
  std::vector<int64_t> counts(5);
  for (const int32_t label : test.labels) {
    ++counts.at(static_cast<size_t>(label));
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{60593, 4166, 229853, 228, 16189}));  // the contest's report
  EXPECT_EQ(report.new_labels.size(), 17U);
  int64_t new_rows = 0;
  for (const EncodeReport::NewLabel& label : report.new_labels) {
    new_rows += label.rows;
  }
  EXPECT_EQ(new_rows, 18729);
  EXPECT_EQ(report.new_labels[0].name, "snmpgetattack");
  EXPECT_EQ(report.new_labels[0].class_name, "r2l");
  EXPECT_EQ(report.unseen_values, 2);  // service icmp
}

TEST(KddCup99, MissingFilesAreNamed) {
  ExpectError([] { ReadData("kddcup99:/no/such/folder"); }, ErrorCode::kNotFound,
              {"kddcup.data_10_percent", "lamina data fetch kddcup99"});
}

}  // namespace
}  // namespace lamina
