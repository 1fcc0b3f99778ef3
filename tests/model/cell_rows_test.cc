// Rows of texts: the same answers through lamina.h and the library, and what is refused.
#include "lamina/model/cell_rows.h"

#include <fmt/format.h>

#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/lamina.h"
#include "lamina/model/answer.h"
#include "tests/caught_error.h"
#include "tests/data/data_test_util.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

constexpr const char* kHouses =
    "size,street,built,quiet,price\n"
    "$100,Elm,2001-03-01,True,10\n$200,Oak,2002-03-01,False,20\n$150,Elm,2003-03-01,True,15\n$120,Ash,2004-03-01,False,"
    "12\n";

class CellRows : public testing::Test {
 protected:
  // A model of the houses, and what lamina_load makes of it.
  void Fit(MissingPolicy missing, UnseenPolicy unseen) {
    const Table table = Csv(kHouses, {});
    PreprocessOptions options;
    options.missing = missing;
    options.unseen = unseen;
    model_.preprocessor = Preprocessor::Fit(table, AllRowsOf(table), options);
    LayerSpec layer = ParseNeuron("dot-identity");
    layer.inputs = model_.preprocessor.inputs().count();
    layer.outputs = 1;
    layer.bias = true;
    model_.network = Network({layer}, DType::kF32);
    model_.network.Initialize(Initialization::kGlorotUniform, 1);
    model_.training = nlohmann::json::object();
    SaveModel(folder_.Path("m"), model_);
    lamina_free(loaded_);
    loaded_ = lamina_load(folder_.Path("m").c_str());
    ASSERT_NE(loaded_, nullptr) << lamina_error();
  }
  Answers ByLibrary(const std::vector<std::string_view>& cells) {
    Table table = TableOfCells(model_, cells);
    return AnswerTable(model_, *MakeBackend("serial"), table, AllRowsOf(table));
  }
  ~CellRows() override { lamina_free(loaded_); }

  TemporaryFolder folder_;
  Model model_;
  lamina_model* loaded_ = nullptr;
};

TEST_F(CellRows, AnswerThroughCAsInTheLibrary) {
  Fit(MissingPolicy::kMean, UnseenPolicy::kZero);
  ASSERT_EQ(lamina_columns(loaded_), 4);
  EXPECT_STREQ(lamina_column_name(loaded_, 1), "street");
  EXPECT_STREQ(lamina_column_kind(loaded_, 0), "number");
  EXPECT_STREQ(lamina_column_kind(loaded_, 1), "text");
  EXPECT_STREQ(lamina_column_kind(loaded_, 2), "date");
  EXPECT_STREQ(lamina_column_kind(loaded_, 3), "text");
  const std::vector<std::string_view> cells = {"$110",  " Elm ", "2001-05-01",
                                               "TRUE",  //
                                               "",      "Fir",   "n/a",
                                               "False",  //
                                               "abc",   "Oak",   "2002-01-01T12:00Z",
                                               "1"};
  std::vector<const char*> texts;
  for (const std::string_view cell : cells) {
    texts.push_back(cell.empty() ? nullptr : cell.data());
  }
  double outputs[3] = {};
  ASSERT_EQ(lamina_predict_text(loaded_, texts.data(), 3, outputs), 0) << lamina_error();
  const Answers answers = ByLibrary(cells);
  std::string notes;
  for (const std::string& note : answers.Notes()) {
    notes += note + "\n";
  }
  EXPECT_EQ(lamina_notes(), notes);
  for (const char* part : {"1 value of categories that training did not see became zeros (column: street)", "'abc'",
                           "3 missing values filled in"}) {
    EXPECT_TRUE(Mentions(notes, part)) << notes;
  }
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(outputs[row], answers.outputs.Row<double>(row)[0], 1e-5);
  }
  Table file = Csv("quiet,built,street,size\nTrue,2001-05-01,Elm,$110\n", [&] {
    ReadOptions options;
    model_.preprocessor.AddTo(options);
    return options;
  }());
  const Answers by_file = AnswerTable(model_, *MakeBackend("serial"), file, AllRowsOf(file));
  EXPECT_NEAR(outputs[0], by_file.outputs.Row<double>(0)[0], 1e-5);
}

// A decimal comma, and letters i with and without a dot: a host's locale changes neither answers nor words.
TEST_F(CellRows, AnswerAlikeInEveryLocale) {
  Fit(MissingPolicy::kMean, UnseenPolicy::kZero);
  const char* cells[] = {"$110.5", "Elm",   "2001-05-01", "TRUE", "1.234,5", "FIR",
                         "n/a",    "False", "ABI",        "Oak",  "",        "1"};
  const auto answered = [&] {
    double outputs[3] = {};
    EXPECT_EQ(lamina_predict_text(loaded_, cells, 3, outputs), 0) << lamina_error();
    lamina_model* again = lamina_load(folder_.Path("m").c_str());
    EXPECT_NE(again, nullptr) << lamina_error();
    lamina_free(again);
    return fmt::format("{} {} {}\n{}", outputs[0], outputs[1], outputs[2], lamina_notes());
  };
  const std::string plain = answered();
  const std::string before = std::setlocale(LC_ALL, nullptr);
  setenv("LOCPATH", folder_.Path().c_str(), 1);
  int known = 0;
  for (const std::string name : {"de_DE", "tr_TR"}) {
    const std::string command =
        fmt::format("localedef -i {} -f UTF-8 '{}' 2>/dev/null", name, folder_.Path(name + ".UTF-8"));
    if (std::system(command.c_str()) == 0 && std::setlocale(LC_ALL, (name + ".UTF-8").c_str()) != nullptr) {
      ++known;
      char comma[8];
      std::snprintf(comma, sizeof(comma), "%.1f", 0.5);
      EXPECT_STREQ(comma, "0,5");  // the locale has come
      EXPECT_EQ(answered(), plain) << name;
    }
    std::setlocale(LC_ALL, before.c_str());
  }
  unsetenv("LOCPATH");
  if (known == 0) {
    GTEST_SKIP() << "locales: localedef or its sources (package locales) are not installed";
  }
}

TEST_F(CellRows, RefusalsNameColumnAndValue) {
  Fit(MissingPolicy::kError, UnseenPolicy::kError);
  double output = 7;
  const char* unseen[] = {"$110", "Fir", "2001-05-01", "True"};
  EXPECT_NE(lamina_predict_text(loaded_, unseen, 1, &output), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "column 'street': category not seen in training"));
  EXPECT_TRUE(Mentions(lamina_error(), "'Fir'"));
  const char* missing[] = {"$110", "Elm", nullptr, "True"};
  EXPECT_NE(lamina_predict_text(loaded_, missing, 1, &output), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "column 'built': missing value"));
  EXPECT_EQ(output, 7);
  EXPECT_STREQ(lamina_notes(), "");
  const double numbers[4] = {};
  EXPECT_NE(lamina_predict(loaded_, numbers, 1, &output), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "column 'street'"));
  EXPECT_TRUE(Mentions(lamina_error(), "lamina_predict_text"));
  EXPECT_NE(lamina_predict_text(loaded_, nullptr, 1, &output), 0);
  EXPECT_NE(lamina_predict_text(loaded_, unseen, 1, nullptr), 0);
  EXPECT_NE(lamina_predict_text(loaded_, unseen, -1, &output), 0);
  EXPECT_NE(lamina_predict_text(nullptr, unseen, 1, &output), 0);
  EXPECT_EQ(lamina_predict_text(loaded_, nullptr, 0, nullptr), 0);
  EXPECT_EQ(lamina_columns(nullptr), 0);
  EXPECT_EQ(lamina_column_name(nullptr, 0), nullptr);
  EXPECT_EQ(lamina_column_kind(loaded_, 4), nullptr);
  EXPECT_EQ(lamina_column_kind(loaded_, -1), nullptr);
}

TEST_F(CellRows, RowsThatAreLeftOutHaveNoAnswer) {
  Fit(MissingPolicy::kDropRow, UnseenPolicy::kZero);
  double outputs[2] = {7, 7};
  const char* cells[] = {"$110", nullptr, "2001-05-01", "True", "$110", "Oak", "2001-05-01", "True"};
  ASSERT_EQ(lamina_predict_text(loaded_, cells, 2, outputs), 0) << lamina_error();
  EXPECT_TRUE(std::isnan(outputs[0]));
  EXPECT_TRUE(std::isfinite(outputs[1]));
  EXPECT_STREQ(
      lamina_notes(),
      "1 of 2 rows have no answer: a value is missing, the first in row 0 (counted from 0), column 'street'\n");
}

TEST_F(CellRows, DatesAndNumbersAreNotTakenForEachOther) {
  Fit(MissingPolicy::kMean, UnseenPolicy::kZero);
  Table table = Csv("size,street,built,quiet\n110,Elm,12000,True\n", {});
  EXPECT_TRUE(Mentions(CaughtError([&] { BoundTable(model_.preprocessor, table); }).what(),
                       "column 'built': numbers where the training had dates"));
  table = Csv("size,street,built,quiet\n2001-01-01,Elm,2001-01-01,True\n", {});
  EXPECT_TRUE(Mentions(CaughtError([&] { BoundTable(model_.preprocessor, table); }).what(),
                       "column 'size': dates where the training had numbers"));
}

TEST(CellRowsOfBareNetworks, AreRefused) {
  Model model;
  model.network = Network(ParseLayers("dot-identity:1", 2, true), DType::kF32);
  EXPECT_EQ(CaughtError([&] { CellColumnsOf(model); }).code(), ErrorCode::kBadModel);
}

}  // namespace
}  // namespace lamina
