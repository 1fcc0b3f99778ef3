// Embeddings of inputs: what their layers are at the start, and that training keeps their shape.
#include "lamina/settings/embedding.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "gtest/gtest.h"
#include "lamina/base/random.h"
#include "lamina/model/evaluate.h"
#include "lamina/run/session.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// A number, a category of three values and one of twelve, a number with gaps.
std::string MixedCsv() {
  Random random(5);
  std::string text = "a,few,many,b,y\n";
  for (int i = 0; i < 120; ++i) {
    const double a = random.Normal();
    const auto many = static_cast<int>(random.Below(12));
    text += fmt::format("{:.5f},{},m{},{},{:.5f}\n", a, "xyz"[i % 3], many,
                        i % 9 == 4 ? std::string() : fmt::format("{}", i % 7), std::sin(3 * a) + 0.1 * many);
  }
  return text;
}

TrainSettings MixedSettings(const TemporaryFolder& folder) {
  TrainSettings settings;
  settings.data = folder.Write("mixed.csv", MixedCsv());
  settings.number_embedding = "pbld";
  settings.waves = 5;
  settings.embedding_size = 2;
  settings.category_embedding = 4;
  settings.min_count = 1;
  settings.missing_indicator = "yes";
  settings.hidden = {6};
  settings.activation = "tanh";
  settings.epochs = 4;
  settings.threads = 1;
  settings.split = {0.8, 0.2, 0};
  settings.dtype = "f64";
  return settings;
}

// The columns that the neurons of a layer see, by those that each of its inputs is of.
std::vector<std::set<int64_t>> ColumnsOf(const Network& network, size_t layer,
                                         const std::vector<std::set<int64_t>>& of) {
  std::vector<std::set<int64_t>> columns;
  for (int64_t j = 0; j < network.layers()[layer].outputs; ++j) {
    std::set<int64_t>& own = columns.emplace_back();
    for (int64_t i = 0; i < network.layers()[layer].inputs; ++i) {
      if (network.Weights(layer).Row<double>(j)[i] != 0) {
        own.insert(of[static_cast<size_t>(i)].begin(), of[static_cast<size_t>(i)].end());
      }
    }
  }
  return columns;
}

std::vector<std::set<int64_t>> ColumnsOfInputs(const InputEncoder& inputs) {
  std::vector<std::set<int64_t>> columns;
  for (const FittedColumn& column : inputs.columns()) {
    columns.insert(columns.end(), static_cast<size_t>(column.width()), {column.position});
  }
  return columns;
}

TEST(InputEmbedding, LayersByTheKindsOfInputs) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedSettings(folder);
  // Inputs: a, three of few, twelve of many, b and its mark of gaps.
  const auto shape = [&] { return TrainSession(settings).model().network.ShapeText(); };
  EXPECT_EQ(shape(), "18-20-14-6-1") << "6 + 3 + 4 + 6 + 1; 3 + 3 + 4 + 3 + 1";
  settings.category_embedding = 12;
  EXPECT_EQ(shape(), "18-28-22-6-1") << "not more categories than numbers";
  settings.number_embedding = "none";
  EXPECT_EQ(shape(), "18-6-1");
  settings.category_embedding = 4;
  EXPECT_EQ(shape(), "18-10-6-1");
  settings.numbers = "ple";
  settings.bins = 3;
  settings.number_embedding = "pbld";
  settings.category_embedding = 0;
  EXPECT_EQ(shape(), "22-6-1") << "bins are no numbers";
  settings.min_count.reset();
  EXPECT_EQ(shape(), "21-6-1") << "by the recipe, the two values of many with fewer than 5 rows share an input";
}

TEST(InputEmbedding, AtTheStartInputsArePassedOn) {
  const TemporaryFolder folder;
  const TrainSettings settings = MixedSettings(folder);
  const TrainSession session(settings);
  Network first({session.model().network.layers()[0], session.model().network.layers()[1]}, DType::kF64);
  std::memcpy(first.parameters(), session.model().network.parameters(), static_cast<size_t>(first.parameter_bytes()));
  Model model;
  model.network = first;
  const Dataset& data = session.train();
  const Matrix out = NetworkOutputs(model, session.backend(), data.features);
  double widest = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    const double* x = data.features.Row<double>(i);
    const double* y = out.Row<double>(i);
    widest = std::max(widest, std::abs(x[0]));
    if (std::abs(x[0]) < 0.1) {
      EXPECT_NEAR(y[0], x[0], 2e-3);
    }
    for (int64_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(y[3 + k], x[1 + k], 1e-12) << "0 and 1 are themselves";
    }
    for (int64_t k = 0; k < 4; ++k) {
      EXPECT_LE(std::abs(y[6 + k]), 1);
    }
    EXPECT_NEAR(y[13], x[17], 1e-12);
  }
  EXPECT_NEAR(first.Weights(0).Row<double>(0)[0], std::acos(-1) / 2 / widest, 1e-12) << "monotone over the rows";
}

TEST(InputEmbedding, NeuronsStayWithTheirColumn) {
  const TemporaryFolder folder;
  for (const char* recipe : {"plain", "tabular"}) {
    for (const int64_t members : {1, 3}) {
      SCOPED_TRACE(fmt::format("{} {}", recipe, members));
      TrainSettings settings = MixedSettings(folder);
      settings.recipe = recipe;
      settings.members = members;
      settings.dropout = 0.1;
      TrainSession session(settings);
      const Network before = session.model().network;
      session.Run({});
      const Network& after = session.model().network;
      std::vector<std::set<int64_t>> columns = ColumnsOfInputs(session.model().preprocessor.inputs());
      for (size_t l = 0; l < 2; ++l) {
        columns = ColumnsOf(after, l, columns);
        for (const std::set<int64_t>& own : columns) {
          EXPECT_EQ(own.size(), 1U);
        }
        for (int64_t n = 0; n < after.layers()[l].weight_count(); ++n) {
          const double old = before.Weights(l).Row<double>(0)[n];
          EXPECT_EQ(old == 0, after.Weights(l).Row<double>(0)[n] == 0) << n;
        }
      }
      EXPECT_NE(before.Weights(0).Row<double>(1)[0], after.Weights(0).Row<double>(1)[0]) << "frequencies are trained";
    }
  }
}

TEST(InputEmbedding, TrainingGoesOnWithTheModelsOwn) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedSettings(folder);
  settings.model = folder.Path("m");
  TrainSession(settings).Run({});
  TrainSettings more;
  more.data = settings.data;
  more.start_from = settings.model;
  more.epochs = 2;
  more.threads = 1;
  more.dtype = "f64";
  TrainSession session(more);
  EXPECT_EQ(session.model().network.ShapeText(), "18-20-14-6-1");
  session.Run({});
  std::vector<std::set<int64_t>> columns = ColumnsOfInputs(session.model().preprocessor.inputs());
  for (size_t l = 0; l < 2; ++l) {
    columns = ColumnsOf(session.model().network, l, columns);
    for (const std::set<int64_t>& own : columns) {
      EXPECT_EQ(own.size(), 1U);
    }
  }
}

TEST(InputEmbedding, WhatCannotBe) {
  const TemporaryFolder folder;
  TrainSettings settings = MixedSettings(folder);
  settings.layers = "rbf(radius=2):5,auto";
  EXPECT_TRUE(Mentions(CaughtError([&] { TrainSession session(settings); }).what(), "distances"));
  settings = MixedSettings(folder);
  settings.number_embedding = "waves";
  EXPECT_THROW(TrainSession session(settings), Error);
}

}  // namespace
}  // namespace lamina
