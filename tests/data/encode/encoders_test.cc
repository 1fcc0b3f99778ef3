// Tests of the encodings beside plain scaling: against formulas written here, row by row as at once, and from files.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "lamina/base/base64.h"
#include "lamina/data/encode/decisions.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/data/encode/text_hash.h"
#include "lamina/data/encode/text_scores.h"
#include "lamina/model/row_encoder.h"
#include "tests/data/encode/preprocessor_test_util.h"

namespace lamina {
namespace {

using Values = std::vector<std::vector<double>>;
using Names = std::vector<std::string>;

Preprocessor FromFile(const Preprocessor& fitted) {
  return Preprocessor::FromJson(nlohmann::json::parse(fitted.ToJson().dump()));
}

PreprocessOptions ForRegression() {
  PreprocessOptions options;
  options.task = Task::kRegression;
  return options;
}

double Clipped(double y) { return y / std::sqrt(1 + y * y / 9); }

TEST(Encoders, RobustIsTheMiddleHalfOfTheRowsAndABoundedCurve) {
  // Column a: the median is 2, the middle half from 1 to 3. Column b: the middle half is 0 wide, its span 8.
  const Table table = Csv("a,b,c,y\n0,5,7,1\n1,5,7,2\n2,5,7,3\n3,5,7,4\n100,13,7,50\n");
  PreprocessOptions options = ForRegression();
  options.scaling = Scaling::kRobust;
  options.target_scaling = Scaling::kRobust;
  const Preprocessor fitted = FromFile(FitAll(table, options));
  const Dataset data = EncodeAll(fitted, table);
  for (size_t i = 0; i < 5; ++i) {
    const double a = table.columns[0].Number(static_cast<int64_t>(i));
    EXPECT_NEAR(Rows(data.features)[i][0], Clipped((a - 2) / 2), 1e-14);
    EXPECT_NEAR(Rows(data.features)[i][1], i < 4 ? 0 : Clipped(2), 1e-14);
    EXPECT_EQ(Rows(data.features)[i][2], 0) << "always the same";
  }
  EXPECT_NEAR(Rows(data.targets)[4][0], (50 - 3) / 2.0, 1e-12) << "targets have no limit, so that answers have none";
  const RowEncoder encoder(fitted);
  double inputs[3];
  const double far[] = {1e300, -1e300, 7};
  EXPECT_EQ(encoder.Encode(far, inputs), -1);
  EXPECT_EQ(inputs[0], 3);
  EXPECT_EQ(inputs[1], -3);
  const double infinite[] = {1, std::numeric_limits<double>::infinity(), 7};
  EXPECT_EQ(encoder.Encode(infinite, inputs), 1) << "the column of the number that is none";
}

TEST(Encoders, PiecewiseLinearBinsHoldAsManyRowsEach) {
  std::string text = "x,few,two,same,y\n";
  for (int i = 0; i <= 100; ++i) {
    text += std::to_string(i * i) + "," + std::to_string(i % 3) + "," + std::to_string(i % 2) + ",4," +
            std::to_string(i) + ".5\n";
  }
  const Table table = Csv(text);
  PreprocessOptions options = ForRegression();
  options.numbers = NumberEncoding::kPiecewise;
  options.bins = 4;
  const Preprocessor fitted = FromFile(FitAll(table, options));
  EXPECT_EQ(fitted.inputs().columns()[0].edges, (std::vector<double>{0, 625, 2500, 5625, 10000}));
  EXPECT_EQ(fitted.inputs().columns()[1].edges, (std::vector<double>{0, 1, 2})) << "few values: each an edge";
  EXPECT_EQ(fitted.inputs().columns()[2].edges, (std::vector<double>{0, 1}));
  EXPECT_EQ(fitted.inputs().count(), 4 + 2 + 1 + 1);
  EXPECT_EQ(std::ssize(fitted.inputs().Names()), fitted.inputs().count());
  const Table asked = Csv("x,few,two,same,y\n1562.5,1,0,4,1.5\n-625,2,1,4,1.5\n14375,0,0,4,1.5\n");
  EXPECT_EQ(Rows(EncodeAll(fitted, asked).features),
            (Values{{1, 0.5, 0, 0, 1, 0, 0, 0}, {-1, 0, 0, 0, 1, 1, 1, 0}, {1, 1, 1, 2, 0, 0, 0, 0}}));
}

TEST(Encoders, DatesAreWavesOfTheYearTheWeekAndTheDay) {
  const Table table = Csv(
      "when,y\n2023-01-01 06:00:00,1.5\n2023-07-02 18:00:00,2.5\n2024-02-29 12:00:00,3.5\n2024-12-31 00:00:00,4.5\n");
  ASSERT_TRUE(table.columns[0].is_date);
  PreprocessOptions options = ForRegression();
  options.dates = DateEncoding::kCalendar;
  options.scaling = Scaling::kNone;
  const Preprocessor fitted = FromFile(FitAll(table, options));
  const Values rows = Rows(EncodeAll(fitted, table).features);
  for (int64_t i = 0; i < table.rows; ++i) {
    ASSERT_EQ(rows[static_cast<size_t>(i)].size(), 7U);
    const double days = table.columns[0].Number(i);
    size_t at = 1;
    for (const double period : {365.2425, 7.0, 1.0}) {
      const double turn = 2 * std::numbers::pi * days / period;
      EXPECT_NEAR(rows[static_cast<size_t>(i)][at++], std::sin(turn), 1e-9);
      EXPECT_NEAR(rows[static_cast<size_t>(i)][at++], std::cos(turn), 1e-9);
    }
  }
  const Table short_time = Csv("when,y\n2023-01-01,1.5\n2023-01-03,2.5\n");
  EXPECT_EQ(FitAll(short_time, options).inputs().count(), 1) << "neither a week nor hours";
}

TEST(Encoders, MissingValuesAreMediansAndTold) {
  const Table table = Csv("a,b,t,y\n1,1,u,1.5\n2,1,,2.5\n9,1,v,3.5\n,1,v,4.5\n");
  PreprocessOptions options = ForRegression();
  options.scaling = Scaling::kNone;
  options.missing = MissingPolicy::kMedian;
  options.missing_indicator = true;
  const Preprocessor fitted = FromFile(FitAll(table, options));
  EXPECT_EQ(fitted.inputs().Names(), (Names{"a", "a (missing)", "b", "t=u", "t=v", "t (missing)"}));
  EXPECT_EQ(Rows(EncodeAll(fitted, table).features),
            (Values{{1, 0, 1, 1, 0, 0}, {2, 0, 1, 0, 1, 1}, {9, 0, 1, 0, 1, 0}, {2, 1, 1, 0, 1, 0}}));
  Preprocessor other = fitted;
  ExpectError([&] { other.set_missing(MissingPolicy::kMean); }, ErrorCode::kInvalidArgument, {"median"});
  other.set_missing(MissingPolicy::kDropRow);
  EXPECT_EQ(Rows(EncodeAll(other, table).features).size(), 2U);
}

TEST(Encoders, RareCategoriesAndUnseenOnesAreOther) {
  const Table table = Csv("t,y\nu,1.5\nv,2.5\nw,3.5\nu,4.5\nv,5.5\n,6.5\n");
  PreprocessOptions options = ForRegression();
  options.missing = MissingPolicy::kMean;
  options.min_count = 2;
  const Preprocessor fitted = FromFile(FitAll(table, options));
  EXPECT_EQ(fitted.inputs().Names(), (Names{"t=u", "t=v", "t (other)"}));
  EncodeReport report;
  EXPECT_EQ(Rows(EncodeAll(fitted, Csv("t,y\nw,1\nnew,2\nv,3\n,4\n"), &report).features),
            (Values{{0, 0, 1}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}}));
  EXPECT_EQ(report.unseen_values, 0);
  options.min_count = 1;
  options.max_categories = 1;
  EXPECT_EQ(FitAll(table, options).inputs().Names(), (Names{"t=u", "t (other)"}));
  options.max_categories = 3;
  EXPECT_FALSE(FitAll(table, options).inputs().columns()[0].has_other);
}

TEST(Encoders, FoldedCategoriesNameTheFlagsThatKeepThem) {
  const Table table = Csv("t,y\nu,1.5\nv,2.5\nw,3.5\nu,4.5\nv,5.5\n");
  const auto flags = [&](int64_t min_count, int64_t most) {
    PreprocessOptions options = ForRegression();
    options.min_count = min_count;
    options.max_categories = most;
    std::string said;
    for (const ColumnDecision& decision : DecisionsOn(table, FitAll(table, options), options)) {
      said += decision.column == "t" ? decision.otherwise : "";
    }
    return said;
  };
  EXPECT_EQ(flags(1, 3), "");
  EXPECT_EQ(flags(2, 3), "--min-count 1");
  EXPECT_EQ(flags(1, 2), "--max-categories 3");
  EXPECT_EQ(flags(2, 1), "--max-categories 3 --min-count 1");
}

TEST(Encoders, TextIsWordsAndPairs) {
  const auto hashed = [](std::string_view text) {
    std::vector<double> buckets(64);
    HashText(text, buckets);
    return buckets;
  };
  const auto length = [&](std::string_view text) {
    double squares = 0;
    for (const double count : hashed(text)) {
      squares += count * count;
    }
    return squares;
  };
  EXPECT_NEAR(length("the quick brown fox"), 1, 1e-12);
  EXPECT_EQ(length(""), 0);
  EXPECT_EQ(length(" ,.- "), 0);
  EXPECT_EQ(hashed("Quick, brown"), hashed("quick BROWN!"));
  EXPECT_NE(hashed("quick brown"), hashed("brown quick")) << "pairs have an order";
  EXPECT_NE(hashed("na\xc3\xafve"), hashed("nave"));
}

TEST(Encoders, FreeTextIsHashedWhereAsked) {
  std::string text = "note,y\n";
  for (int i = 0; i < 40; ++i) {
    text += "word" + std::to_string(i) + " and more," + std::to_string(i) + ".5\n";
  }
  const Table table = Csv(text);
  PreprocessOptions options = ForRegression();
  options.text = TextEncoding::kHash;
  options.text_inputs = 32;
  const Preprocessor fitted = FromFile(FitAll(table, options));
  EXPECT_EQ(fitted.inputs().count(), 32);
  std::vector<double> expected(32);
  HashText("word7 and more", expected);
  EXPECT_EQ(Rows(EncodeAll(fitted, table).features)[7], expected);
  EXPECT_FALSE(RowEncoder::Accepts(fitted));
}

// One row at a time gives the bits of a table at once, whatever is chosen.
TEST(Encoders, RowByRowAsAtOnce) {
  std::string text = "a,b,when,y\n";
  for (int i = 0; i < 60; ++i) {
    text += (i % 7 == 3 ? "" : std::to_string(i * i - 40)) + "," + std::to_string(i % 4) + ",2024-0" +
            std::to_string(1 + i % 9) + "-11," + std::to_string(i) + ".5\n";
  }
  const Table table = Csv(text);
  for (const Scaling scaling : {Scaling::kAuto, Scaling::kNone, Scaling::kStandardize, Scaling::kMinMax, Scaling::kLog,
                                Scaling::kRobust, Scaling::kSize}) {
    for (const NumberEncoding numbers : {NumberEncoding::kScaled, NumberEncoding::kPiecewise}) {
      for (const DateEncoding dates : {DateEncoding::kDays, DateEncoding::kCalendar}) {
        for (const bool indicator : {false, true}) {
          PreprocessOptions options = ForRegression();
          options.scaling = scaling;
          options.numbers = numbers;
          options.dates = dates;
          options.missing_indicator = indicator;
          options.codes = indicator ? std::vector<std::string>{"a", "b"} : std::vector<std::string>();
          options.missing = MissingPolicy::kMedian;
          const Preprocessor fitted = FromFile(FitAll(table, options));
          const Values at_once = Rows(EncodeAll(fitted, table).features);
          const RowEncoder encoder(fitted);
          ASSERT_EQ(encoder.columns(), 3);
          for (int64_t i = 0; i < table.rows; ++i) {
            const double row[] = {table.columns[0].Number(i), table.columns[1].Number(i), table.columns[2].Number(i)};
            std::vector<double> inputs(static_cast<size_t>(fitted.inputs().count()));
            ASSERT_EQ(encoder.Encode(row, inputs.data()), -1);
            ASSERT_EQ(inputs, at_once[static_cast<size_t>(i)]);
          }
        }
      }
    }
  }
}

TEST(Encoders, QuantilesAreOutputsInOrder) {
  const Table table = Csv("x,a,b\n1,10,100\n2,20,300\n3,30,200\n");
  PreprocessOptions options = ForRegression();
  options.targets = {"a", "b"};
  options.target_scaling = Scaling::kMinMax;
  const Preprocessor plain = FitAll(table, options);
  Preprocessor fitted = plain;
  fitted.set_form({.quantiles = {0.1, 0.5, 0.9}});
  fitted = FromFile(fitted);
  EXPECT_EQ(fitted.targets().count(), 6);
  EXPECT_EQ(fitted.targets().names(), (Names{"a", "b"}));
  EXPECT_EQ(fitted.targets().answer_names(), (Names{"a q0.1", "a q0.5", "a q0.9", "b q0.1", "b q0.5", "b q0.9"}));
  const Values expected{{0, 0, 0, 0, 0, 0}, {0.5, 0.5, 0.5, 1, 1, 1}, {1, 1, 1, 0.5, 0.5, 0.5}};
  EXPECT_EQ(Rows(EncodeAll(fitted, table).targets), expected);
  EXPECT_EQ(Rows(fitted.targets().InForm(EncodeAll(plain, table)).targets), expected);
  EXPECT_EQ(Rows(plain.targets().InForm(EncodeAll(fitted, table)).targets), (Values{{0, 0}, {0.5, 1}, {1, 0.5}}));
  Matrix outputs(1, 6, DType::kF64);
  const double crossed[] = {0.5, 0, 1, 1, 0.5, 0};
  std::copy(std::begin(crossed), std::end(crossed), outputs.Row<double>(0));
  fitted.targets().Unscale(outputs.view());
  EXPECT_EQ(Rows(outputs), (Values{{10, 20, 30, 100, 200, 300}}));
}

TEST(Encoders, DamagedFilesAreRefused) {
  const Table table = Csv("x,t,y\n1,u,1.5\n2,v,2.5\n3,u,3.5\n");
  PreprocessOptions options = ForRegression();
  options.numbers = NumberEncoding::kPiecewise;
  const nlohmann::json good = FitAll(table, options).ToJson();
  const auto refused = [&](size_t column, const char* field, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad["inputs"][column][field] = value;
    ExpectError([&] { Preprocessor::FromJson(bad); }, ErrorCode::kBadModel, {field});
  };
  refused(0, "edges", {1, 1});
  refused(0, "edges", {1});
  refused(0, "edges", "1");
  refused(0, "periods", {0});
  refused(0, "codes", {2, 1});
  refused(0, "codes", {1.5});
  refused(1, "buckets", 1);
  refused(1, "buckets", int64_t{1} << 40);
  const std::string weights = ToBase64(std::string(static_cast<size_t>(TextScores::kFolds * 2), '\1'));
  const nlohmann::json scores = {{"buckets", 2}, {"offsets", {0.5}}, {"steps", {0.25}}, {"weights", weights}};
  refused(1, "scores", scores);  // beside categories
  for (const auto& [field, value] : {std::pair<const char*, nlohmann::json>{"buckets", 3},
                                     {"buckets", 0},
                                     {"buckets", int64_t{1} << 40},
                                     {"offsets", nlohmann::json::array()},
                                     {"steps", {1, 2}},
                                     {"weights", "!"},
                                     {"weights", ToBase64("x")}}) {
    nlohmann::json bad = good;
    bad["inputs"][1]["encoding"] = "ordinal";
    bad["inputs"][1]["scores"] = scores;
    EXPECT_NO_THROW(Preprocessor::FromJson(bad));
    bad["inputs"][1]["scores"][field] = value;
    ExpectError([&] { Preprocessor::FromJson(bad); }, ErrorCode::kBadModel, {"scores"});
  }
}

// Squares of the first are 0, the inverse of the second is infinite: nothing would be divided, and nobody be told.
TEST(Encoders, RefusesNumbersTooSmallToScale) {
  for (const Scaling scaling :
       {Scaling::kStandardize, Scaling::kLog, Scaling::kSize, Scaling::kMinMax, Scaling::kRobust}) {
    const bool by_squares = scaling != Scaling::kMinMax && scaling != Scaling::kRobust;
    const std::string small = by_squares ? "e-200" : "e-310";
    const Table table = Csv("x,y\n1" + small + ",1\n-1" + small + ",0\n3" + small + ",1\n");
    ExpectError([&] { FitAll(table, {.scaling = scaling}); }, ErrorCode::kBadData,
                {"column 'x'", "too small to scale", "--scale none"});
    const Preprocessor same = FitAll(Csv("x,y\n0,1\n0,0\n0,1\n"), {.scaling = scaling});
    EXPECT_EQ(same.inputs().columns()[0].scaling.scale, 1);
    const Preprocessor larger = FitAll(Csv("x,y\n1e-140,1\n-1e-140,0\n3e-140,1\n"), {.scaling = scaling});
    EXPECT_LT(larger.inputs().columns()[0].scaling.scale, 1e-139);
  }
  FitAll(Csv("x,y\n1e-310,1\n-1e-310,0\n"), {.scaling = Scaling::kNone});
}

}  // namespace
}  // namespace lamina
