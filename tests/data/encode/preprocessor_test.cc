// Tests of encoding, scaling, missing values and targets.
#include "lamina/data/encode/preprocessor.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/random.h"
#include "lamina/data/files/idx.h"
#include "lamina/data/files/npy.h"
#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

using Names = std::vector<std::string>;

using Values = std::vector<std::vector<double>>;

TEST(PreprocessorTest, EncodesNumbersTextAndClasses) {
  const Table table = Csv("x,k,u,y\n1,b,5,no\n3,a,5,yes\n5,b,5,no\n7,c,5,maybe\n");
  const Preprocessor fitted = FitAll(table);
  EXPECT_EQ(fitted.targets().task(), Task::kClassification);
  EXPECT_EQ(fitted.inputs().Names(), (Names{"x", "k=a", "k=b", "k=c", "u"}));
  EXPECT_EQ(fitted.targets().class_names(), (Names{"maybe", "no", "yes"}));
  EXPECT_EQ(fitted.targets().names(), Names{"y"});
  EXPECT_EQ(fitted.inputs().count(), 5);
  EXPECT_EQ(fitted.targets().count(), 3);
  const Dataset data = EncodeAll(fitted, table);
  const double s = std::sqrt(5.0);
  EXPECT_EQ(Rows(data.features),
            (Values{{-3 / s, 0, 1, 0, 0}, {-1 / s, 1, 0, 0, 0}, {1 / s, 0, 1, 0, 0}, {3 / s, 0, 0, 1, 0}}));
  EXPECT_EQ(Rows(data.targets), (Values{{0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}}));
  EXPECT_EQ(data.labels, (std::vector<int32_t>{1, 2, 1, 0}));
  EXPECT_EQ(data.rows, AllRows(table));
}

TEST(PreprocessorTest, FitsOnTheGivenRowsOnly) {
  const Table table = Csv("x,y\n1,0.5\n3,1.5\n1000,2.5\n");
  const int64_t rows[] = {0, 1};
  const Preprocessor fitted = Preprocessor::Fit(table, rows, {});
  EXPECT_EQ(Rows(EncodeAll(fitted, table).features), (Values{{-1}, {1}, {998}}));
}

TEST(PreprocessorTest, RefusesTwoColumnsOfOneName) {
  Table table = Csv("x,z,y\n1,2,0.5\n3,4,1.5\n");
  table.columns[1].name = "x";
  ExpectError([&] { FitAll(table); }, ErrorCode::kBadData, {"'x'", "two columns have the same name"});
}

TEST(PreprocessorTest, ScalesAsAsked) {
  const Table table = Csv("x,c,y\n2,9,0.5\n4,9,1.5\n6,9,4.5\n");
  EXPECT_EQ(Rows(EncodeAll(FitAll(table, {.scaling = Scaling::kMinMax}), table).features),
            (Values{{0, 0}, {0.5, 0}, {1, 0}}));
  EXPECT_EQ(Rows(EncodeAll(FitAll(table, {.scaling = Scaling::kNone}), table).features),
            (Values{{2, 9}, {4, 9}, {6, 9}}));
  const Preprocessor none = FitAll(table);
  EXPECT_EQ(none.targets().task(), Task::kRegression);
  EXPECT_EQ(Rows(EncodeAll(none, table).targets), (Values{{0.5}, {1.5}, {4.5}}));
  for (const Scaling scaling : {Scaling::kMinMax, Scaling::kStandardize, Scaling::kAuto}) {
    const Preprocessor fitted = FitAll(table, {.target_scaling = scaling});
    Dataset data = EncodeAll(fitted, table);
    EXPECT_LE(std::abs(data.targets.Row<double>(2)[0]), 1.5);
    fitted.targets().Unscale(data.targets.view());
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_DOUBLE_EQ(data.targets.Row<double>(i)[0], table.columns[2].Number(i));
    }
  }
}

TEST(PreprocessorTest, KeepsPrecisionFarFromZero) {
  std::string text = "x,y\n";
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format("{},{}\n", 1000000000.0 + i % 2, i + 0.5);
  }
  const Table table = Csv(text);
  const Preprocessor fitted = FitAll(table);
  const Dataset data = BoundTable(fitted, table).Encode(AllRows(table), DType::kF32);
  EXPECT_EQ(data.features.Row<float>(0)[0], -1);
  EXPECT_EQ(data.features.Row<float>(1)[0], 1);
}

TEST(PreprocessorTest, ConstantColumnsAreExactlyZero) {
  std::string text = "x,y\n";
  for (int i = 0; i < 77; ++i) {
    text += fmt::format("0.1,{}\n", i + 0.5);
  }
  const Table table = Csv(text);
  const Dataset data = EncodeAll(FitAll(table), table);
  for (int64_t i = 0; i < data.size(); ++i) {
    EXPECT_EQ(data.features.Row<double>(i)[0], 0);
  }
}

TEST(PreprocessorTest, EncodesOrdinals) {
  const Table table = Csv("k,y\nlow,0.5\nhigh,1.5\nmid,2.5\nhigh,9.5\n", {.header = Header::kYes});
  EXPECT_EQ(Rows(EncodeAll(FitAll(table, {.encoding = Encoding::kOrdinal, .scaling = Scaling::kNone}), table).features),
            (Values{{1}, {0}, {2}, {0}}));
  EXPECT_EQ(
      Rows(EncodeAll(FitAll(table, {.encoding = Encoding::kOrdinal, .scaling = Scaling::kMinMax}), table).features),
      (Values{{0.5}, {0}, {1}, {0}}));
  const Dataset data = EncodeAll(FitAll(table, {.encoding = Encoding::kOrdinal}), table);
  EXPECT_NEAR(data.features.Row<double>(2)[0], (2 - 0.75) / std::sqrt(0.6875), 1e-15);
}

TEST(PreprocessorTest, ChoosesTheTask) {
  const auto task = [](const std::string& text) { return FitAll(Csv(text)).targets().task(); };
  EXPECT_EQ(task("x,y\n1,0\n2,1\n"), Task::kClassification);
  EXPECT_EQ(task("x,y\n1,1\n2,2\n3,3\n4,1\n5,2\n6,3\n"), Task::kClassification);
  EXPECT_EQ(task("x,y\n1,10\n2,20\n3,31\n"), Task::kRegression);  // as many values as rows
  EXPECT_EQ(task("x,y\n1,0.5\n2,1\n"), Task::kRegression);
  std::string many = "x,y\n";
  for (int i = 0; i < 404; ++i) {
    many += fmt::format("{},{}\n", i, i % 101);
  }
  EXPECT_EQ(task(many), Task::kRegression);
  EXPECT_EQ(FitAll(Csv(many), {.task = Task::kClassification}).targets().class_names().at(10),
            "10");  // sorted as numbers
  EXPECT_EQ(FitAll(Csv("x,y\n1,0\n2,1\n"), {.task = Task::kRegression}).targets().count(), 1);
}

TEST(PreprocessorTest, RefusesWrongTargets) {
  const Table table = Csv("x,f,s,t\n1,0.5,7,a\n2,1,7,b\n3,2,7,b\n");
  const auto expect = [&](const PreprocessOptions& options, ErrorCode code,
                          std::initializer_list<std::string_view> parts) {
    ExpectError([&] { FitAll(table, options); }, code, parts);
  };
  expect({.targets = {"f"}, .task = Task::kClassification}, ErrorCode::kBadData, {"t.csv:2", "column 'f'", "'0.5'"});
  expect({.targets = {"s"}, .task = Task::kClassification}, ErrorCode::kBadData, {"one class only", "'7'"});
  expect({.targets = {"t"}, .task = Task::kRegression}, ErrorCode::kInvalidArgument,
         {"column 't'", "must be numbers", "'a'"});
  expect({.targets = {"x", "t"}}, ErrorCode::kInvalidArgument, {"several targets", "column 't'"});
  expect({.targets = {"x", "t"}, .task = Task::kClassification}, ErrorCode::kInvalidArgument, {"one target"});
  expect({.targets = {"tt"}}, ErrorCode::kNotFound, {"tt"});
  expect({.targets = {"t"}, .drop_columns = {"t"}}, ErrorCode::kInvalidArgument, {"also dropped"});
  expect({.targets = {"t", "3"}}, ErrorCode::kInvalidArgument, {"named twice"});
  expect({.drop_columns = {"x", "f", "s"}}, ErrorCode::kInvalidArgument, {"no input column"});
  ExpectError([&] { FitAll(table, {}, {.positive = 1, .negative = 1}); }, ErrorCode::kInvalidArgument, {"must differ"});
  ExpectError([&] { Preprocessor::Fit(table, {}, {}); }, ErrorCode::kBadData, {"no training rows"});
  ExpectError([&] { FitAll(Csv("x,y\n1,a\n2,b\n3,c\n"), {}, {.single_output = true}); }, ErrorCode::kInvalidArgument,
              {"there are 3"});
}

TEST(PreprocessorTest, TargetValuesAndSingleOutput) {
  const Table table = Csv("x,y\n1,no\n2,yes\n");
  const Preprocessor bipolar = FitAll(table, {}, {.negative = -1});
  EXPECT_EQ(Rows(EncodeAll(bipolar, table).targets), (Values{{1, -1}, {-1, 1}}));
  const Preprocessor single = FitAll(table, {}, {.single_output = true});
  EXPECT_EQ(single.targets().count(), 1);
  EXPECT_EQ(Rows(EncodeAll(single, table).targets), (Values{{0}, {1}}));
  EXPECT_EQ(single.targets().class_threshold(), 0.5);
  EXPECT_EQ(single.targets().ClassOf(std::vector<double>{0.6}), 1);
  EXPECT_EQ(single.targets().ClassOf(std::vector<double>{0.4}), 0);
  EXPECT_EQ(bipolar.targets().ClassOf(std::vector<double>{0.3, 0.2}), 0);
}

TEST(PreprocessorTest, SeveralRegressionTargets) {
  const Table table = Csv("a,b,x\n1.5,10,1\n2.5,30,2\n");
  const Preprocessor fitted = FitAll(table, {.targets = {"b", "a"}, .target_scaling = Scaling::kMinMax});
  EXPECT_EQ(fitted.targets().task(), Task::kRegression);
  EXPECT_EQ(fitted.targets().names(), (Names{"b", "a"}));
  Dataset data = BoundTable(fitted, table).Encode(AllRows(table), DType::kF32);
  EXPECT_EQ(data.targets.Row<float>(1)[0], 1);
  fitted.targets().Unscale(data.targets.view());
  EXPECT_EQ(data.targets.Row<float>(0)[0], 10);
  EXPECT_EQ(data.targets.Row<float>(1)[1], 2.5F);
}

TEST(PreprocessorTest, MissingValues) {
  const Table table = Csv("x,k,y\n1,a,0.5\n,b,1.5\n5,?,2.5\n3,b,3.5\n");
  ExpectError([&] { FitAll(table); }, ErrorCode::kBadData,
              {"t.csv:3", "column 'x'", "missing value", "--missing drop", "--missing mean"});
  const Preprocessor drop = FitAll(table, {.missing = MissingPolicy::kDropRow});
  EXPECT_EQ(BoundTable(drop, table).UsableRows(AllRows(table), true), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(EncodeAll(drop, table).rows, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(Rows(EncodeAll(drop, table).features), (Values{{-1, 1, 0}, {1, 0, 1}}));
  const Preprocessor mean = FitAll(table, {.scaling = Scaling::kNone, .missing = MissingPolicy::kMean});
  EXPECT_EQ(BoundTable(mean, table).UsableRows(AllRows(table), true).size(), 4U);
  EXPECT_EQ(Rows(EncodeAll(mean, table).features), (Values{{1, 1, 0}, {3, 0, 1}, {5, 0, 1}, {3, 0, 1}}));
  // Fitted on complete rows, then met missing ones.
  const int64_t complete[] = {0, 3};
  const Preprocessor strict = Preprocessor::Fit(table, complete, {});
  ExpectError([&] { EncodeAll(strict, table); }, ErrorCode::kBadData, {"t.csv:3", "column 'x'", "--missing"});
  const int64_t third[] = {2};
  ExpectError([&] { BoundTable(strict, table).Encode(third, DType::kF32); }, ErrorCode::kBadData,
              {"t.csv:4", "column 'k'"});
}

TEST(PreprocessorTest, MissingTargetsAndEmptyColumns) {
  const Table table = Csv("x,z,y\n1,,1.5\n2,,\n3,,3.5\n");
  const Preprocessor mean = FitAll(table, {.drop_columns = {"z"}, .missing = MissingPolicy::kMean});
  EXPECT_EQ(BoundTable(mean, table).UsableRows(AllRows(table), true), (std::vector<int64_t>{0, 2}));  // none is made up
  EXPECT_EQ(mean.inputs().columns()[0].fill, 2);
  ExpectError([&] { FitAll(table, {.drop_columns = {"z"}}); }, ErrorCode::kBadData,
              {"t.csv:3", "column 'y'", "--missing drop"});
  ExpectError([&] { FitAll(table, {.targets = {"x"}, .drop_columns = {"y"}, .missing = MissingPolicy::kMean}); },
              ErrorCode::kBadData, {"column 'z'", "no values", "--drop"});
  ExpectError([&] { FitAll(table, {.missing = MissingPolicy::kDropRow}); }, ErrorCode::kBadData,
              {"no training rows", "--missing mean"});
  const Preprocessor drop = FitAll(table, {.drop_columns = {"z"}, .missing = MissingPolicy::kDropRow});
  EXPECT_EQ(BoundTable(drop, table).UsableRows(AllRows(table), true).size(), 2U);
  EXPECT_EQ(BoundTable(drop, table).UsableRows(AllRows(table), false).size(), 3U);
  EXPECT_EQ(BoundTable(drop, table).EncodeInputs(AllRows(table), DType::kF32).size(), 3);
}

TEST(PreprocessorTest, UnseenValues) {
  const Table train = Csv("k,x,y\na,1,no\nb,2,yes\na,3,no\n");
  const Table test = Csv("k,x,y\na,1,yes\nq,2,no\nb,3,what\nq,1,no\n");
  ExpectError([&] { EncodeAll(FitAll(train), test); }, ErrorCode::kBadData,
              {"t.csv:3", "column 'k'", "not seen in training", "'q'", "--unseen zero"});
  const int64_t third[] = {2};
  ExpectError([&] { BoundTable(FitAll(train), test).Encode(third, DType::kF32); }, ErrorCode::kBadData,
              {"t.csv:4", "column 'y'", "class not seen", "'what'"});
  EncodeReport report;
  const Dataset data = EncodeAll(
      FitAll(train, {.scaling = Scaling::kNone, .unseen = UnseenPolicy::kZero}, {.negative = -1}), test, &report);
  EXPECT_EQ(Rows(data.features), (Values{{1, 0, 1}, {0, 0, 2}, {0, 1, 3}, {0, 0, 1}}));
  EXPECT_EQ(Rows(data.targets), (Values{{-1, 1}, {1, -1}, {-1, -1}, {1, -1}}));
  EXPECT_EQ(data.labels, (std::vector<int32_t>{1, 0, -1, 0}));
  EXPECT_EQ(report.unseen_values, 2);
  EXPECT_EQ(report.unseen_columns, Names{"k"});
  ASSERT_EQ(report.new_labels.size(), 1U);
  EXPECT_EQ(report.new_labels[0].name, "what");
  EXPECT_EQ(report.new_labels[0].class_name, "");
  EXPECT_EQ(report.new_labels[0].rows, 1);
}

TEST(PreprocessorTest, MatchesColumnsByName) {
  const Table train = Csv("a,b,y\n1,10,no\n3,30,yes\n");
  const Preprocessor fitted = FitAll(train);
  const Table other = Csv("extra,b,a\nq,30,1\nr,10,3\n", {.header = Header::kYes});
  EXPECT_FALSE(BoundTable(fitted, other).has_targets());
  EXPECT_TRUE(BoundTable(fitted, train).has_targets());
  EXPECT_EQ(Rows(BoundTable(fitted, other).EncodeInputs(AllRows(other), DType::kF64).features),
            (Values{{-1, 1}, {1, -1}}));
  ExpectError([&] { EncodeAll(fitted, other); }, ErrorCode::kNotFound, {"lacks 1 target column", "'y'"});
  const Table lacking = Csv("aa,y\n1,no\n2,yes\n");
  ExpectError([&] { EncodeAll(fitted, lacking); }, ErrorCode::kNotFound,
              {"lacks 2 input columns", "a, b", "Did you mean 'aa'"});
  const Table near_to_both = Csv("ab,y\n1,no\n2,yes\n");
  ExpectError([&] { EncodeAll(fitted, near_to_both); }, ErrorCode::kNotFound, {"'a, b'. Did you mean 'ab'? Columns"});
}

TEST(PreprocessorTest, MatchesColumnsByPosition) {
  const Table train = Csv("y,a,b\nno,1,10\nyes,3,30\n");
  const Preprocessor fitted = FitAll(train, {.targets = {"y"}});
  const Table bare = Csv("yes,3,10\nno,1,30\n", {.header = Header::kNo});
  EXPECT_TRUE(BoundTable(fitted, bare).has_targets());
  EXPECT_EQ(Rows(EncodeAll(fitted, bare).features), (Values{{1, -1}, {-1, 1}}));
  const Table inputs = Csv("3,10\n1,30\n");
  EXPECT_FALSE(BoundTable(fitted, inputs).has_targets());
  EXPECT_EQ(Rows(BoundTable(fitted, inputs).EncodeInputs(AllRows(inputs), DType::kF64).features),
            (Values{{1, -1}, {-1, 1}}));
  ExpectError([&] { EncodeAll(fitted, Csv("1\n2\n")); }, ErrorCode::kBadData, {"1 columns instead of 3 (or 2"});

  // Both without headers: c0 is the target in training and an input in the other table.
  const Preprocessor headless = FitAll(bare, {.targets = {"c0"}});
  EXPECT_FALSE(BoundTable(headless, inputs).has_targets());
  EXPECT_EQ(Rows(BoundTable(headless, inputs).EncodeInputs(AllRows(inputs), DType::kF64).features),
            (Values{{1, -1}, {-1, 1}}));
}

TEST(PreprocessorTest, MatchesNumbersAndText) {
  const Table text = Csv("x,y\n1,7\n2,08\n", {.text_columns = {"y"}});
  const Preprocessor fitted = FitAll(text);
  EXPECT_EQ(fitted.targets().class_names(), (Names{"7", "08"}));
  EXPECT_EQ(EncodeAll(fitted, Csv("x,y\n1,8\n2,7\n")).labels, (std::vector<int32_t>{1, 0}));
  ExpectError([&] { EncodeAll(fitted, Csv("x,y\n1,8.5\n")); }, ErrorCode::kBadData, {"class not seen", "8.5"});
  ExpectError([&] { EncodeAll(fitted, Csv("x,y\nz,7\nw,7\n")); }, ErrorCode::kBadData,
              {"t.csv:2", "column 'x'", "missing value", "'z'"});
}

TEST(PreprocessorTest, RefusesNumbersTooLargeForTheType) {
  const Table table = Csv("x,y\n1,0.5\n1e300,1.5\n");
  const Preprocessor fitted = FitAll(table, {.scaling = Scaling::kNone});
  EXPECT_EQ(EncodeAll(fitted, table).features.Row<double>(1)[0], 1e300);
  ExpectError([&] { BoundTable(fitted, table).Encode(AllRows(table), DType::kF32); }, ErrorCode::kBadData,
              {"t.csv:3", "column 'x'", "too large for f32"});
  ExpectError([&] { FitAll(Csv("x,y\n1e308,1\n-1e308,0\n")); }, ErrorCode::kBadData,
              {"column 'x'", "too large to scale"});
  ExpectError([&] { BoundTable(fitted, table).Encode(AllRows(table), DType::kU8); }, ErrorCode::kInvalidArgument,
              {"u8"});
}

TEST(PreprocessorTest, ImagesBecomeFractions) {
  std::string content("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02", 16);
  content += std::string("\x00\xff\x33\x66", 4);
  Table table = ReadIdx(content, "i", {});
  Column label;
  label.name = "label";
  label.kind = ColumnKind::kText;
  label.categories = {"0", "1"};
  label.codes = {1, 0};
  table.columns.push_back(label);
  const Preprocessor fitted = FitAll(table);
  EXPECT_TRUE(fitted.inputs().is_image());
  EXPECT_EQ(fitted.inputs().image_width(), 2);
  EXPECT_EQ(fitted.inputs().image_height(), 1);
  EXPECT_EQ(Rows(EncodeAll(fitted, table).features), (Values{{0, 1}, {0.2, 0.4}}));
  EXPECT_FALSE(FitAll(table, {.drop_columns = {"p0"}}).inputs().is_image());
  EXPECT_EQ(Rows(EncodeAll(FitAll(table, {.scaling = Scaling::kMinMax}), table).features), (Values{{0, 1}, {1, 0}}));
}

TEST(PreprocessorTest, JsonRoundTripIsExact) {
  const Table table = Csv("x,k,o,y\n0.1,a,u,no\n0.7,b,v,yes\n123.456,b,u,no\n");
  const Table regression = Csv("x,a,b\n0.1,1,0.3\n0.7,9,0.7\n");
  struct Case {
    const Table& source;
    PreprocessOptions options;
    TargetForm form;
  };
  for (const auto& [source, options, form] :
       {Case{table, {.missing = MissingPolicy::kMean}, {}},
        Case{table,
             {.encoding = Encoding::kOrdinal, .unseen = UnseenPolicy::kZero},
             {.negative = -0.9, .single_output = true}},
        Case{regression, {.targets = {"a", "b"}, .target_scaling = Scaling::kStandardize}, {}}}) {
    const Preprocessor fitted = FitAll(source, options, form);
    const std::string text = fitted.ToJson().dump();
    const Preprocessor loaded = Preprocessor::FromJson(nlohmann::json::parse(text));
    EXPECT_EQ(loaded.ToJson().dump(), text);
    EXPECT_EQ(loaded.inputs().Names(), fitted.inputs().Names());
    EXPECT_EQ(loaded.targets().class_names(), fitted.targets().class_names());
    EXPECT_EQ(loaded.targets().names(), fitted.targets().names());
    EXPECT_EQ(loaded.targets().count(), fitted.targets().count());
    EXPECT_EQ(Rows(EncodeAll(loaded, source).features), Rows(EncodeAll(fitted, source).features));
    EXPECT_EQ(Rows(EncodeAll(loaded, source).targets), Rows(EncodeAll(fitted, source).targets));
  }
}

TEST(PreprocessorTest, FromJsonNamesWrongFields) {
  const nlohmann::json good = FitAll(Csv("x,k,y\n1,a,no\n2,b,yes\n")).ToJson();
  const auto expect = [](const nlohmann::json& json, std::string_view field) {
    ExpectError([&] { Preprocessor::FromJson(json); }, ErrorCode::kBadModel, {field});
  };
  for (const auto& [key, value] : good.items()) {
    nlohmann::json without = good;
    without.erase(key);
    expect(without, key);
    nlohmann::json wrong = good;
    wrong[key] = nlohmann::json::object();
    expect(wrong, key);
  }
  nlohmann::json json = good;
  json["inputs"][0]["scale"] = 0;
  expect(json, "scale");
  json = good;
  json["inputs"][1]["fill_category"] = 2;
  expect(json, "fill_category");
  json = good;
  json["inputs"][0]["position"] = 99;
  expect(json, "position");
  json = good;
  json["inputs"][0].erase("name");
  expect(json, "name");
  json = good;
  json["classes"] = {"one"};
  expect(json, "classes");
  expect(nlohmann::json(3), "task");
}

TEST(PreprocessorTest, StridedAndShuffledRowsAgreeWithTheDefinition) {
  Random random(9);
  std::string text = "a,b,k,y\n";
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format("{},{},{},{}\n", random.Normal() * 3 + 10, random.Below(100), random.Below(5) == 0 ? "p" : "q",
                        random.Normal());
  }
  const Table table = Csv(text);
  std::vector<int64_t> rows = AllRows(table);
  random.Shuffle(std::span(rows));
  rows.resize(777);
  const Preprocessor fitted = Preprocessor::Fit(table, rows, {});
  const Dataset data = BoundTable(fitted, table).Encode(rows, DType::kF64);
  for (size_t j = 0; j < 2; ++j) {
    double mean = 0;
    double square = 0;
    for (const int64_t row : rows) {
      mean += table.columns[j].Number(row) / 777;
    }
    for (const int64_t row : rows) {
      square += std::pow(table.columns[j].Number(row) - mean, 2) / 777;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(data.features.Row<double>(static_cast<int64_t>(i))[j],
                  (table.columns[j].Number(rows[i]) - mean) / std::sqrt(square), 1e-9);
    }
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const double* row = data.features.Row<double>(static_cast<int64_t>(i));
    EXPECT_EQ(row[2], TextAt(table.columns[2], rows[i]) == "p" ? 1 : 0);
    EXPECT_EQ(row[3], 1 - row[2]);
  }
}

}  // namespace
}  // namespace lamina
