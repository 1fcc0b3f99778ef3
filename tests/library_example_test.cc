// The code of docs/library.md, run on small files.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/data/files/npy_writer.h"
#include "lamina/data/files/reader.h"
#include "lamina/layer/file_layer.h"
#include "lamina/layer/layer.h"
#include "lamina/layer/neighbours.h"
#include "lamina/model/answer.h"
#include "lamina/model/cell_rows.h"
#include "lamina/nn/executor.h"
#include "lamina/rbf/clusters.h"
#include "lamina/rbf/elm.h"
#include "lamina/rbf/fsvc.h"
#include "lamina/run/session.h"
#include "lamina/tune/profile.h"
#include "lamina/tune/tuner.h"
#include "tests/temporary_folder.h"

namespace {

// price = 3 area + 10 (rooms - 2)^2, with a text column that matters by a constant.
void WriteHouses(const std::string& path, bool with_price) {
  std::ofstream file(path);
  file << "area,rooms,street" << (with_price ? ",price\n" : "\n");
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) {
    const double area = 20 + static_cast<double>(random() % 1000) / 10;
    const auto rooms = static_cast<int>(random() % 5) + 1;
    const bool quiet = random() % 2 == 1;
    file << area << ',' << rooms << ',' << (quiet ? "quiet" : "busy");
    if (with_price) {
      file << ',' << 3 * area + 10.0 * (rooms - 2) * (rooms - 2) + (quiet ? 40 : 0);
    }
    file << '\n';
  }
}

struct Softsign {
  static constexpr const char* kName = "softsign";
  static constexpr bool kSlopeNeedsInput = true;
  template <class T>
  T Value(T z) const {
    return z / (T(1) + std::abs(z));
  }
  template <class T>
  T Slope(T z, T) const {
    return T(1) / ((T(1) + std::abs(z)) * (T(1) + std::abs(z)));
  }
};

TEST(LibraryExample, TrainUseAndExtend) {
  const lamina::TemporaryFolder folder;
  WriteHouses(folder.Path("houses.csv"), true);
  WriteHouses(folder.Path("new.csv"), false);

  lamina::TrainSettings settings;
  settings.data = folder.Path("houses.csv");
  settings.target = {"price"};
  settings.hidden = {64, 32};
  settings.model = folder.Path("houses.safetensors");
  settings.epochs = 60;
  settings.activation = "softsign";
  const auto softsign = lamina::Activation::Custom<Softsign>();
  lamina::TrainSession session(settings, {softsign});
  int64_t epochs_seen = 0;
  lamina::TrainCallbacks callbacks;
  callbacks.epoch_done = [&](const lamina::EpochRecord& record) { epochs_seen = record.epoch; };
  const lamina::TrainResult result = session.Run(callbacks);
  EXPECT_EQ(epochs_seen, 60);
  ASSERT_TRUE(result.test.has_value());
  EXPECT_GT(result.test->regression.at(0).r2, 0.95);

  const lamina::Model model = lamina::LoadModel(folder.Path("houses.safetensors"), {&softsign, 1});
  const auto backend = lamina::MakeBackend("auto");
  lamina::Table table = lamina::ReadTableFor(model, folder.Path("new.csv"));
  std::vector<int64_t> rows(static_cast<size_t>(table.rows));
  std::iota(rows.begin(), rows.end(), 0);
  const lamina::Answers answers = lamina::AnswerTable(model, *backend, table, rows);
  ASSERT_EQ(answers.outputs.rows(), 400);
  const double price = 3 * table.columns[0].Number(0) + 10 * std::pow(table.columns[1].Number(0) - 2, 2);
  EXPECT_NEAR(answers.outputs.Row<double>(0)[0], price, 60);  // the street adds up to 40

  const std::string_view cells[] = {"81.5", "3", "quiet"};
  lamina::Table typed = lamina::TableOfCells(model, cells);
  const lamina::Answers one = lamina::AnswerTable(model, *backend, typed, lamina::AllRowsOf(typed));
  EXPECT_TRUE(one.Notes().empty());
  EXPECT_NEAR(one.outputs.Row<double>(0)[0], 3 * 81.5 + 10 + 40, 60);
}

TEST(LibraryExample, NetworkOfYourOwn) {
  const auto backend = lamina::MakeBackend("auto");
  const std::vector<lamina::LayerSpec> layers = lamina::ParseLayers("dot-tanh:256,dot-softmax:10", 784, true);
  lamina::Network network(layers, lamina::DType::kF32);
  network.Initialize(lamina::Initialization::kGlorotUniform, 1);
  lamina::Executor executor(network, *backend, {.max_batch = 32});
  const lamina::Matrix x(50, 784, lamina::DType::kF32);
  lamina::Matrix y(50, 10, lamina::DType::kF32);
  executor.Predict(x.view(), y.view());
  for (int64_t i = 0; i < y.rows(); ++i) {
    for (int64_t j = 0; j < y.cols(); ++j) {
      EXPECT_NEAR(y.Row<float>(i)[j], 0.1F, 1e-6F);  // zeros in, biases zero: all classes alike
    }
  }
}

TEST(LibraryExample, NeighboursAndNetworksWithoutEpochs) {
  const auto backend = lamina::MakeBackend("auto");
  lamina::Matrix x(300, 20, lamina::DType::kF32);
  lamina::Matrix targets(300, 2, lamina::DType::kF32);
  lamina::Dataset data;
  std::mt19937 random(1);
  std::generate_n(x.Row<float>(0), 300 * 20, [&] { return static_cast<float>(random()) * 0x1p-32F; });
  for (int64_t i = 0; i < 300; ++i) {
    data.labels.push_back(static_cast<int32_t>(i % 2));
    x.Row<float>(i)[0] += static_cast<float>(3 * (i % 2));
    targets.Row<float>(i)[i % 2] = 1;
  }
  data.features = x.Share();

  lamina::MatrixRows queries(x.view());
  lamina::MatrixRows among(x.view());
  lamina::Matrix nearest(x.rows(), 10, lamina::DType::kI64);
  lamina::NearestRows(queries, among, {lamina::Synapse::kL1, 10}, *backend, {nearest.view(), {}, {}});
  const lamina::Clusters clusters = lamina::FindClusters(among, {.count = 64}, *backend);
  EXPECT_EQ(clusters.centres.rows(), 64);

  lamina::FsvcOptions fsvc;
  fsvc.novelty.activation = "triangle(radius=3)";
  const lamina::Network classifier = lamina::TrainFsvc(data, /*classes=*/2, fsvc, *backend).network;
  EXPECT_GT(lamina::AccuracyOf(classifier, data, *backend), 0.95);

  lamina::LayerSpec hidden{20, 100, lamina::Synapse::kDot, "abs", /*bias=*/false};
  lamina::Network elm = lamina::DrawElm(hidden, /*outputs=*/2, lamina::HiddenWeights::kUniform, x.view(), /*seed=*/1);
  lamina::ElmSums sums(elm, *backend);
  sums.Add(x.view(), targets.view());
  sums.Solve(/*c=*/10, elm);
  EXPECT_GT(lamina::AccuracyOf(elm, data, *backend), 0.95);
  for (int64_t i = 0; i < 300; ++i) {
    EXPECT_EQ(nearest.Row<int64_t>(i)[0], i);
  }
}

TEST(LibraryExample, LayersInSlices) {
  const lamina::TemporaryFolder folder;
  lamina::Matrix samples(500, 20, lamina::DType::kF32);
  std::mt19937 random(1);
  std::generate_n(samples.Row<float>(0), 500 * 20, [&] { return static_cast<float>(random()) * 0x1p-32F; });
  lamina::WriteNpy(folder.Path("x.npy"), samples.view());

  lamina::FileLayerSettings settings;
  settings.x = folder.Path("x.npy");
  settings.neurons = 64;
  settings.radius = 3;
  settings.w_out = folder.Path("centres.npy");
  settings.out = folder.Path("h.npy");
  settings.memory = "600M";
  lamina::FileLayer file_layer(settings);
  EXPECT_EQ(file_layer.plan().count(), 1);
  const lamina::FileLayerResult result = file_layer.Run();
  EXPECT_TRUE(result.complete);

  const auto backend = lamina::MakeBackend("auto");
  lamina::LayerSpec layer = lamina::ParseNeuron("rbf(radius=3)");
  layer.inputs = 20;
  layer.outputs = 64;
  const lamina::SlicePlan plan = lamina::PlanSlices(layer, 500, lamina::DType::kF32, {.budget_bytes = 64 << 10});
  EXPECT_GT(plan.count(), 1);
  lamina::SlicedLayer sliced(layer, *backend, plan, lamina::DType::kF32);
  lamina::NpyMatrix x(folder.Path("x.npy"));
  lamina::NpyMatrix w(folder.Path("centres.npy"));
  lamina::Matrix out(500, 64, lamina::DType::kF32);
  sliced.Run(x, w, nullptr, {out.view(), {}});
  lamina::NpyMatrix h(folder.Path("h.npy"));
  EXPECT_EQ(std::memcmp(out.data(), h.Rows(0, 500).data, 500 * 64 * sizeof(float)), 0);
}

TEST(LibraryExample, LayerOnBytes) {
  const auto backend = lamina::MakeBackend("auto");
  lamina::Layer bytes(
      lamina::LayerPlanRequest{
          {784, 1024, lamina::Synapse::kL1, "triangle(radius=9000)", false}, lamina::DType::kU8, /*max_batch=*/64},
      *backend);
  lamina::Matrix rows(2, 784, lamina::DType::kU8);
  const lamina::Matrix centres(1024, 784, lamina::DType::kU8);
  rows.Row<uint8_t>(1)[0] = 255;
  lamina::Matrix out(2, 1024, lamina::DType::kF32);
  bytes.Forward(rows.view(), centres.view(), nullptr, out.view());
  EXPECT_EQ(out.Row<float>(0)[1023], 1.0F);
  EXPECT_FLOAT_EQ(out.Row<float>(1)[7], 1 - 255 / (2.5066F * 9000));
}

TEST(LibraryExample, TunedPlans) {
  std::string warning;
  const auto tuned = lamina::MakeTunedBackend("cpu", {.threads = 2}, &warning);

  const lamina::Problem problem = lamina::Problem::Parse("dot-tanh:f32:forward:128x1024x784");
  const lamina::TuneResult found =
      lamina::TuneProblem(problem, {.backend = "cpu", .threads = 2, .seconds = 0.001});  // sooner than by default
  lamina::Profile profile(*tuned);
  profile.Add({problem, found.plan, found.gain()});
  const lamina::TemporaryFolder folder;
  profile.Save(folder.Path("cpu.profile"));
  EXPECT_EQ(profile.PlanFor(problem), found.plan);
  EXPECT_EQ(folder.Count(), 1);
}

}  // namespace
