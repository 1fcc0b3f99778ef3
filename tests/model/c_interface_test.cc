// The C interface: answers as the library's, errors as texts.
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/version.h"
#include "lamina/lamina.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/predictor.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

class CInterface : public testing::Test {
 protected:
  lamina_model* Load(const Model& model) {
    SaveModel(folder_.Path("m"), model);
    lamina_model* loaded = lamina_load(folder_.Path("m").c_str());
    EXPECT_NE(loaded, nullptr) << lamina_error();
    return loaded;
  }
  TemporaryFolder folder_;
  Table table_ = RandomTable(23, 3, 2, 1);
};

TEST_F(CInterface, ReadsModelsOfMemoryAndRefusesOtherBytes) {
  SaveModel(folder_.Path("m"), SmallModel(table_, DType::kF32));
  const std::string bytes = ReadFile(folder_.Path("m"));
  lamina_model* of_file = lamina_load(folder_.Path("m").c_str());
  lamina_model* of_memory = lamina_load_memory(bytes.data(), std::ssize(bytes));
  ASSERT_NE(of_memory, nullptr) << lamina_error();
  const double row[3] = {0.5, -1, 2};
  double one[2] = {}, two[2] = {};
  ASSERT_EQ(lamina_predict(of_file, row, 1, one), 0);
  ASSERT_EQ(lamina_predict(of_memory, row, 1, two), 0);
  EXPECT_EQ(one[0], two[0]);
  EXPECT_EQ(one[1], two[1]);
  EXPECT_EQ(lamina_load_memory(nullptr, 8), nullptr);
  EXPECT_NE(std::string(lamina_error()).find("NULL"), std::string::npos);
  EXPECT_EQ(lamina_load_memory(bytes.data(), -1), nullptr);
  EXPECT_EQ(lamina_load_memory(bytes.data(), std::ssize(bytes) / 2), nullptr);
  EXPECT_NE(std::string(lamina_error()).find("a model in memory"), std::string::npos) << lamina_error();
  lamina_free(of_file);
  lamina_free(of_memory);
}

TEST_F(CInterface, SaysWhatColumnsAndOutputsAre) {
  const Model model = SmallModel(table_, DType::kF32);
  lamina_model* loaded = Load(model);
  const FittedColumn& column = model.preprocessor.inputs().columns()[1];
  double low = 7, high = 7;
  EXPECT_EQ(lamina_column_range(loaded, 1, &low, &high), column.span ? 0 : 1);
  EXPECT_EQ(low, column.span ? column.span->low : 7);
  EXPECT_EQ(lamina_column_range(loaded, 3, &low, &high), 1);
  EXPECT_EQ(lamina_column_range(nullptr, 0, &low, &high), 1);
  EXPECT_EQ(lamina_column_choices(loaded, 1), 0);
  EXPECT_EQ(lamina_column_choice(loaded, 1, 0), nullptr);
  EXPECT_EQ(lamina_output_name(loaded, 1), model.preprocessor.targets().class_names()[1]);
  EXPECT_EQ(lamina_output_name(loaded, 2), nullptr);
  double outputs[2] = {1, 2};
  EXPECT_EQ(lamina_interval(loaded, outputs, outputs, outputs), 1) << "the model has none";
  lamina_free(loaded);
}

TEST_F(CInterface, GivesTheBoundsOfIntervals) {
  Model model = SmallModel(RandomTable(23, 3, 0, 1), DType::kF64, "tanh", Task::kRegression);
  model.intervals = AnswerIntervals{0.9, 40, std::vector<double>(static_cast<size_t>(model.network.outputs()), 1.5)};
  lamina_model* loaded = Load(model);
  const std::vector<double> outputs(static_cast<size_t>(lamina_outputs(loaded)), 10);
  std::vector<double> lower(outputs.size()), upper(outputs.size());
  ASSERT_EQ(lamina_interval(loaded, outputs.data(), lower.data(), upper.data()), 0);
  EXPECT_EQ(lower.back(), 8.5);
  EXPECT_EQ(upper.back(), 11.5);
  EXPECT_EQ(lamina_interval(loaded, nullptr, lower.data(), upper.data()), 1);
  lamina_free(loaded);
}

TEST_F(CInterface, AnswersAsTheLibrary) {
  const Model model = SmallModel(table_, DType::kF32);
  lamina_model* loaded = Load(model);
  EXPECT_EQ(lamina_inputs(loaded), 3);
  EXPECT_EQ(lamina_outputs(loaded), 2);
  EXPECT_EQ(lamina_classes(loaded), 2);
  EXPECT_STREQ(lamina_input_name(loaded, 1), "x1");
  EXPECT_EQ(lamina_input_name(loaded, 3), nullptr);
  EXPECT_EQ(lamina_input_name(loaded, -1), nullptr);
  EXPECT_EQ(lamina_class_name(loaded, 1), model.preprocessor.targets().class_names()[1]);
  EXPECT_EQ(lamina_class_name(loaded, 2), nullptr);
  const Dataset encoded = BoundTable(model.preprocessor, table_).EncodeInputs(RowsOf(table_), DType::kF32);
  const Matrix expected = PredictRows(model, *MakeBackend("serial"), encoded.features);
  const std::vector<int32_t> classes = ClassesOf(model, expected);
  std::vector<double> rows;
  for (int64_t i = 0; i < table_.rows; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      rows.push_back(table_.columns[k].Number(i));
    }
  }
  std::vector<double> outputs(static_cast<size_t>(2 * table_.rows));
  ASSERT_EQ(lamina_predict(loaded, rows.data(), table_.rows, outputs.data()), 0) << lamina_error();
  for (int64_t i = 0; i < table_.rows; ++i) {
    const double* row = outputs.data() + 2 * i;
    EXPECT_NEAR(row[0], expected.Row<double>(i)[0], 1e-6);
    EXPECT_EQ(lamina_class_of(loaded, row), classes[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(lamina_predict(loaded, nullptr, 0, nullptr), 0) << "no rows, no work";
  lamina_free(loaded);
  lamina_free(nullptr);
  EXPECT_EQ(lamina_version(), Version());
}

TEST_F(CInterface, KeepsWeightsAsAskedOrAsTheFileDoes) {
  const Model model = SmallModel(table_, DType::kF32);
  const double row[3] = {0.3, -0.2, 0.7};
  SaveModel(folder_.Path("exact"), model);
  for (const std::string& name : WeightStorageNames()) {
    const Model rounded = WithWeights(model, ParseWeightStorage(name));
    SaveModel(folder_.Path(name), rounded);
    double expected[2], outputs[2];
    const RowPredictor predictor(rounded);
    PredictorScratch scratch = predictor.MakeScratch();
    ASSERT_EQ(predictor.Predict(row, expected, scratch), -1);
    for (lamina_model* loaded :
         {lamina_load_weights(folder_.Path("exact").c_str(), name.c_str()),
          lamina_load_weights(folder_.Path(name).c_str(), nullptr), lamina_load(folder_.Path(name).c_str())}) {
      ASSERT_NE(loaded, nullptr) << lamina_error();
      EXPECT_EQ(lamina_weights(loaded), name);
      ASSERT_EQ(lamina_predict(loaded, row, 1, outputs), 0);
      EXPECT_EQ(outputs[0], expected[0]) << name;
      lamina_free(loaded);
    }
  }
  EXPECT_EQ(lamina_load_weights(folder_.Path("exact").c_str(), "i9"), nullptr);
  EXPECT_TRUE(Mentions(lamina_error(), "i9"));
  EXPECT_TRUE(Mentions(lamina_error(), "bf16"));
}

TEST_F(CInterface, RegressionHasNoClasses) {
  lamina_model* loaded = Load(SmallModel(RandomTable(23, 3, 0, 1), DType::kF64, "tanh", Task::kRegression));
  const double outputs[1] = {0.5};
  EXPECT_EQ(lamina_classes(loaded), 0);
  EXPECT_EQ(lamina_class_of(loaded, outputs), -1);
  lamina_free(loaded);
}

TEST_F(CInterface, AnAnswerThatIsNoNumberIsAnErrorAndNoClass) {
  Model model = SmallModel(table_, DType::kF32, "identity");
  model.network.Weights(0).Row<float>(0)[0] = model.network.Weights(0).Row<float>(1)[0] = 3e38F;
  model.network.Weights(1).Row<float>(0)[0] = 3e38F;  // infinite minus infinite
  model.network.Weights(1).Row<float>(0)[1] = -3e38F;
  lamina_model* loaded = Load(model);
  const double row[3] = {5, 0.1, 0.2};
  double outputs[2] = {7, 7};
  EXPECT_NE(lamina_predict(loaded, row, 1, outputs), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "row 0"));
  EXPECT_TRUE(Mentions(lamina_error(), "not a finite number"));
  outputs[0] = outputs[1] = std::nan("");
  EXPECT_EQ(lamina_class_of(loaded, outputs), -1);
  lamina_free(loaded);
}

TEST_F(CInterface, ErrorsAreTexts) {
  EXPECT_EQ(lamina_load(nullptr), nullptr);
  EXPECT_TRUE(Mentions(lamina_error(), "NULL"));
  EXPECT_EQ(lamina_load(folder_.Path("absent").c_str()), nullptr);
  EXPECT_TRUE(Mentions(lamina_error(), "absent"));
  EXPECT_EQ(lamina_load(folder_.Write("text", "not a model").c_str()), nullptr);
  EXPECT_TRUE(Mentions(lamina_error(), "text"));
  lamina_model* loaded = Load(SmallModel(table_, DType::kF32));
  const double rows[6] = {0.1, 0.2, 0.3, 0.4, std::nan(""), 0.6};
  double outputs[4] = {7, 7, 7, 7};
  EXPECT_NE(lamina_predict(loaded, rows, 2, outputs), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "row 1"));
  EXPECT_TRUE(Mentions(lamina_error(), "x1"));
  EXPECT_NE(outputs[0], 7) << "the row before is answered";
  EXPECT_EQ(outputs[2], 7);
  EXPECT_NE(lamina_predict(loaded, rows, -1, outputs), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "-1"));
  EXPECT_NE(lamina_predict(nullptr, rows, 1, outputs), 0);
  EXPECT_TRUE(Mentions(lamina_error(), "NULL"));
  EXPECT_NE(lamina_predict(loaded, nullptr, 1, outputs), 0);
  EXPECT_NE(lamina_predict(loaded, rows, 1, nullptr), 0);
  EXPECT_EQ(lamina_predict(loaded, nullptr, 0, nullptr), 0);
  EXPECT_EQ(lamina_inputs(nullptr), 0);
  EXPECT_EQ(lamina_outputs(nullptr), 0);
  EXPECT_EQ(lamina_classes(nullptr), 0);
  EXPECT_EQ(lamina_input_name(nullptr, 0), nullptr);
  EXPECT_EQ(lamina_class_name(nullptr, 0), nullptr);
  EXPECT_EQ(lamina_class_of(nullptr, outputs), -1);
  EXPECT_EQ(lamina_weights(nullptr), nullptr);
  lamina_free(nullptr);
  std::string elsewhere = "nothing";
  std::thread([&] { elsewhere = lamina_error(); }).join();
  EXPECT_EQ(elsewhere, "") << "another thread has errors of its own";
  lamina_free(loaded);
}

TEST_F(CInterface, OneScratchServesModelsOfAnySize) {
  lamina_model* small = Load(SmallModel(table_, DType::kF32));
  lamina_model* large = Load(SmallModel(RandomTable(300, 200, 2, 1), DType::kF64));
  const std::vector<double> row(200, 0.25);
  double first[2], again[2], other[2];
  ASSERT_EQ(lamina_predict(small, row.data(), 1, first), 0);
  ASSERT_EQ(lamina_predict(large, row.data(), 1, other), 0);
  ASSERT_EQ(lamina_predict(small, row.data(), 1, again), 0);
  EXPECT_EQ(first[0], again[0]);
  lamina_free(small);
  lamina_free(large);
}

}  // namespace
}  // namespace lamina
