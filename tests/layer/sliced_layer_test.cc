// The same bits however a layer is cut, in memory and through files.
#include "lamina/layer/sliced_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/buffer.h"
#include "lamina/base/convert.h"
#include "lamina/base/file.h"
#include "lamina/base/random.h"
#include "lamina/cluster/thread_ranks.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/data/files/npy_writer.h"
#include "lamina/layer/file_layer.h"
#include "lamina/layer/random_weights.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

Matrix RandomOf(int64_t rows, int64_t cols, DType dtype, uint64_t seed) {
  Matrix wide(rows, cols, DType::kF64);
  Random random(seed);
  std::generate_n(wide.Row<double>(0), rows * cols, [&] { return random.Uniform(-1, 1); });
  Matrix matrix(rows, cols, dtype);
  ConvertMatrix(wide.view(), matrix.view());
  return matrix;
}

struct Slicing {
  int64_t samples;
  int64_t neurons;
};
// Cuts of 300 samples and 200 neurons: whole, the paper's squares, each direction alone, and with short rests.
constexpr Slicing kSlicings[] = {{300, 200}, {128, 128}, {48, 200}, {300, 32}, {100, 40}};
// Rests of a few samples and neurons.
constexpr Slicing kOddSlicings[] = {{100, 33}, {37, 65}, {1, 200}, {300, 1}};

std::string Bytes(const Matrix& matrix) {
  return {static_cast<const char*>(matrix.data()),
          static_cast<size_t>(matrix.rows() * matrix.cols() * DTypeSize_bytes(matrix.dtype()))};
}

// The outputs of every slicing on 1 and 2 threads are those of the first, bit by bit.
void ExpectSameBits(const char* name, const char* neuron, DType dtype, int64_t inputs,
                    const std::vector<Slicing>& slicings) {
  const Matrix x = RandomOf(300, inputs, dtype, 1);
  const Matrix w = RandomOf(200, inputs, dtype, 2);
  const Matrix bias = RandomOf(1, 200, dtype, 3);
  LayerSpec layer = ParseNeuron(neuron);
  layer.inputs = inputs;
  layer.outputs = 200;
  std::string expected;
  for (const int threads : {1, 2}) {
    const auto backend = MakeBackend(name, {.threads = threads});
    for (const Slicing& slicing : slicings) {
      SliceOptions options{.budget_bytes = 1 << 30, .samples = slicing.samples, .neurons = slicing.neurons};
      options.neurons = layer.activation.is_softmax() ? 0 : options.neurons;
      SlicedLayer sliced(layer, *backend, PlanSlices(layer, 300, dtype, options), dtype);
      MatrixRows x_rows(x.view());
      MatrixRows w_rows(w.view());
      Matrix out(300, 200, dtype);
      ASSERT_TRUE(sliced.Run(x_rows, w_rows, layer.bias ? bias.data() : nullptr, {out.view(), {}}));
      expected = expected.empty() ? Bytes(out) : expected;
      EXPECT_TRUE(Bytes(out) == expected)
          << neuron << ' ' << name << ' ' << threads << " threads, " << slicing.samples << 'x' << slicing.neurons;
    }
  }
}

constexpr const char* kNeurons[] = {"l1-triangle(radius=300)", "dot-tanh", "l2-gaussian(radius=20)", "dot-softmax"};

TEST(SlicedLayer, SameBitsForEverySlicingAndThreadCount) {
  const std::vector<Slicing> slicings(std::begin(kSlicings), std::end(kSlicings));
  std::vector<Slicing> odd = slicings;
  odd.insert(odd.end(), std::begin(kOddSlicings), std::end(kOddSlicings));
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const char* neuron : kNeurons) {
      ExpectSameBits("cpu", neuron, dtype, 1100, odd);  // more inputs than a block of the kernels
      ExpectSameBits("cpu", neuron, dtype, 60, odd);
      ExpectSameBits("cpu", neuron, dtype, 300, {{300, 200}, {20, 200}, {128, 200}});  // either operand packed
      ExpectSameBits("threads", neuron, dtype, 60, odd);
      ExpectSameBits("serial", neuron, dtype, 60, odd);
    }
  }
}

TEST(SlicedLayer, CoversEveryOutputAndReportsProgress) {
  const Matrix x = RandomOf(100, 5, DType::kF64, 1);
  const Matrix w = RandomOf(30, 5, DType::kF64, 2);
  LayerSpec layer = ParseNeuron("l1-identity");
  layer.inputs = 5;
  layer.outputs = 30;
  const auto backend = MakeBackend("serial");
  SlicedLayer sliced(layer, *backend,
                     PlanSlices(layer, 100, DType::kF64, {.budget_bytes = 1 << 20, .samples = 17, .neurons = 7}),
                     DType::kF64);
  EXPECT_EQ(sliced.plan().count(), 6 * 5);
  MatrixRows x_rows(x.view());
  MatrixRows w_rows(w.view());
  Matrix out(100, 30, DType::kF64);
  double share = 0;
  std::vector<int> finished(100);
  SliceCallbacks callbacks;
  callbacks.progress = [&](const SliceProgress& progress) {
    EXPECT_GT(progress.share, share);
    share = progress.share;
  };
  ASSERT_TRUE(sliced.Run(x_rows, w_rows, nullptr,
                         {out.view(),
                          [&](const SlicePiece& piece) {
                            for (int64_t i = piece.begin; i < piece.begin + piece.rows; ++i) {
                              ++finished[static_cast<size_t>(i)];
                            }
                          }},
                         callbacks));
  EXPECT_DOUBLE_EQ(share, 1);
  EXPECT_EQ(finished, std::vector<int>(100, 5));
  for (int64_t i = 0; i < 100; ++i) {
    for (int64_t j = 0; j < 30; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < 5; ++k) {
        sum += std::abs(x.Row<double>(i)[k] - w.Row<double>(j)[k]);
      }
      ASSERT_NEAR(out.Row<double>(i)[j], sum, 1e-12);
    }
  }
  int pieces = 0;
  callbacks.stop_requested = [&] { return ++pieces == 3; };
  share = 0;
  EXPECT_FALSE(sliced.Run(x_rows, w_rows, nullptr, {out.view(), {}}, callbacks));
  EXPECT_EQ(pieces, 3);
}

TEST(SlicedLayer, NamesShapesThatDoNotFit) {
  LayerSpec layer = ParseNeuron("l1-identity");
  layer.inputs = 5;
  layer.outputs = 30;
  const auto backend = MakeBackend("cpu");
  const SlicePlan plan = PlanSlices(layer, 100, DType::kF32, {.budget_bytes = 1 << 20});
  SlicedLayer sliced(layer, *backend, plan, DType::kF32);
  const Matrix x = RandomOf(100, 5, DType::kF32, 1);
  const Matrix w = RandomOf(30, 6, DType::kF32, 2);
  const Matrix wide = RandomOf(30, 5, DType::kF64, 2);
  Matrix out(100, 30, DType::kF32);
  const auto says = [&](const Matrix& weights, const char* part) {
    MatrixRows x_rows(x.view());
    MatrixRows w_rows(weights.view());
    const Error error = CaughtError([&] { sliced.Run(x_rows, w_rows, nullptr, {out.view(), {}}); });
    EXPECT_TRUE(Mentions(error.what(), part));
    EXPECT_TRUE(Mentions(error.what(), "100 x 5 f32"));
  };
  says(w, "30 x 6 f32");
  says(wide, "30 x 5 f64");
  says(x, "30 x 5");
}

TEST(SlicedLayer, ABackendThatCannotKeepTheBitsSaysSo) {
  for (const BackendRow& row : BackendTable()) {
    if (row.name == "blas" && row.available()) {
      const LayerSpec layer{5, 30, Synapse::kDot, Activation("tanh"), false};
      const SlicePlan plan = PlanSlices(layer, 100, DType::kF32, {.budget_bytes = 1 << 20});
      const Error error = CaughtError([&] { SlicedLayer(layer, *MakeBackend("blas"), plan, DType::kF32); });
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_TRUE(Mentions(error.what(), "same bits"));
    }
  }
}

TEST(DrawWeights, CentresAreDifferentRowsAndDotWeightsAreWithinTheGlorotBound) {
  Matrix x(50, 4, DType::kF32);
  std::iota(x.Row<float>(0), x.Row<float>(0) + 200, 0.F);
  MatrixRows rows(x.view());
  LayerSpec layer = ParseNeuron("rbf(radius=1)");
  for (const int64_t count : {1, 20, 50}) {
    Matrix w(count, 4, DType::kF32);
    DrawWeights(layer, rows, 3, w.view());
    for (int64_t j = 0; j < count; ++j) {
      const auto row = static_cast<int64_t>(w.Row<float>(j)[0]) / 4;
      EXPECT_EQ(std::memcmp(w.Row<float>(j), x.Row<float>(row), 16), 0);
      EXPECT_TRUE(j == 0 || w.Row<float>(j)[0] > w.Row<float>(j - 1)[0]);
    }
    Matrix again(count, 4, DType::kF32);
    DrawWeights(layer, rows, 3, again.view());
    EXPECT_EQ(Bytes(w), Bytes(again));
  }
  Matrix many(51, 4, DType::kF32);
  EXPECT_TRUE(Mentions(CaughtError([&] { DrawWeights(layer, rows, 3, many.view()); }).what(), "51"));
  Matrix w(300, 4, DType::kF32);
  DrawWeights(ParseNeuron("mul"), rows, 3, w.view());
  const float bound = std::sqrt(6.F / 304);
  const auto [least, most] = std::minmax_element(w.Row<float>(0), w.Row<float>(0) + 1200);
  EXPECT_LE(*most, bound);
  EXPECT_GE(*least, -bound);
  EXPECT_GT(*most, 0.9F * bound);
  Matrix bytes(3, 4, DType::kI8);
  EXPECT_TRUE(Mentions(CaughtError([&] { DrawWeights(ParseNeuron("mul"), rows, 3, bytes.view()); }).what(), "i8"));
}

class FileLayerTest : public testing::Test {
 protected:
  FileLayerTest() {
    WriteNpy(folder_.Path("x.npy"), x_.view());
    WriteNpy(folder_.Path("w.npy"), w_.view());
    settings_.x = folder_.Path("x.npy");
    settings_.w = folder_.Path("w.npy");
    settings_.out = folder_.Path("h.npy");
    settings_.radius = 12;
  }

  std::string Error_(const FileLayerSettings& settings) {
    return CaughtError([&] { FileLayer(settings).Run(); }).what();
  }

  TemporaryFolder folder_;
  Matrix x_ = RandomOf(300, 60, DType::kF32, 1);
  Matrix w_ = RandomOf(200, 60, DType::kF32, 2);
  FileLayerSettings settings_;
};

TEST_F(FileLayerTest, WritesTheSameFileForEverySlicingAndInputOrder) {
  FileLayer(settings_).Run();
  const std::string expected = ReadFile(settings_.out);
  Matrix turned(60, 300, DType::kF32);
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t k = 0; k < 60; ++k) {
      turned.Row<float>(k)[i] = x_.Row<float>(i)[k];
    }
  }
  WriteNpy(folder_.Path("turned.npy"), turned.view());
  std::string content = ReadFile(folder_.Path("turned.npy"));
  content.replace(content.find("False"), 5, "True ");
  content.replace(content.find("(60, 300)"), 9, "(300, 60)");
  folder_.Write("fortran.npy", content);
  for (const char* x : {"x.npy", "fortran.npy"}) {
    for (const char* slice : {"300x200", "128x128", "48x200", "300x32", "100x40"}) {
      for (const int threads : {1, 2}) {
        settings_.x = folder_.Path(x);
        settings_.slice = slice;
        settings_.threads = threads;
        const FileLayerResult result = FileLayer(settings_).Run();
        EXPECT_TRUE(result.complete);
        EXPECT_GT(result.synapses_per_second, 0);
        EXPECT_EQ(ReadFile(settings_.out) == expected, true) << x << ' ' << slice;
      }
    }
  }
  EXPECT_EQ(folder_.Count(), 5);
}

TEST_F(FileLayerTest, RanksWriteTheSameFileTogether) {
  for (const char* slice : {"", "64x48"}) {
    settings_.slice = slice;
    settings_.w = folder_.Path("w.npy");
    settings_.neurons = 0;
    for (const bool drawn : {false, true}) {
      if (drawn) {
        settings_.w = "";
        settings_.neurons = 77;
      }
      settings_.threads = 2;
      FileLayer(settings_).Run();
      const std::string expected = ReadFile(settings_.out);
      for (const int size : {1, 2, 3, 5}) {
        std::filesystem::remove(settings_.out);
        RunRanks(size, [&](Communicator& ranks) {
          FileLayerSettings own = settings_;
          own.threads = 1;
          FileLayer layer(own, &ranks);
          EXPECT_TRUE(layer.Run().complete);
        });
        EXPECT_EQ(ReadFile(settings_.out) == expected, true) << size << ' ' << slice << ' ' << drawn;
        EXPECT_EQ(folder_.Count(), 3);
      }
    }
  }
}

TEST_F(FileLayerTest, RanksThatFailLeaveNothing) {
  settings_.threads = 1;
  RunRanks(3, [&](Communicator& ranks) {  // one is interrupted
    FileLayer layer(settings_, &ranks);
    SliceCallbacks callbacks;
    callbacks.stop_requested = [&] { return ranks.rank() == 1; };
    EXPECT_FALSE(layer.Run(callbacks).complete);
  });
  EXPECT_EQ(folder_.Count(), 2);
  const auto failure = [&](int size, auto&& change) {
    const Error error = CaughtError([&] {
      RunRanks(size, [&](Communicator& ranks) {
        FileLayerSettings own = settings_;
        change(own, ranks.rank());
        FileLayer(own, &ranks).Run();
      });
    });
    EXPECT_EQ(folder_.Count(), 2);
    return std::string(error.what());
  };
  EXPECT_TRUE(
      Mentions(failure(2, [](FileLayerSettings& s, int rank) { s.radius = 12 + rank; }), "the settings must be"));
  settings_.x = folder_.Path("w.npy");
  EXPECT_TRUE(Mentions(failure(201, [](FileLayerSettings&, int) {}), "201 ranks share 200 samples"));
}

TEST_F(FileLayerTest, DrawnWeightsGiveTheBitsOfTheKeptOnes) {
  settings_.w = "";
  settings_.neurons = 77;
  FileLayer(settings_).Run();
  const std::string expected = ReadFile(settings_.out);
  settings_.w_out = folder_.Path("kept.npy");
  FileLayer(settings_).Run();
  EXPECT_EQ(ReadFile(settings_.out) == expected, true);
  settings_.neurons = 0;
  settings_.w = settings_.w_out;
  settings_.w_out = "";
  FileLayer(settings_).Run();
  EXPECT_EQ(ReadFile(settings_.out) == expected, true);
  EXPECT_EQ(folder_.Count(), 4);
}

TEST_F(FileLayerTest, BiasIsAdded) {
  Matrix bias(1, 200, DType::kF32);
  std::iota(bias.Row<float>(0), bias.Row<float>(0) + 200, 0.F);
  WriteNpy(folder_.Path("b.npy"), bias.view());
  settings_.neuron = "dot-identity";
  settings_.radius.reset();
  FileLayer(settings_).Run();
  const float plain = NpyMatrix(settings_.out).Rows(7, 1).Row<float>(0)[150];
  settings_.bias = folder_.Path("b.npy");
  FileLayer(settings_).Run();
  EXPECT_NEAR(NpyMatrix(settings_.out).Rows(7, 1).Row<float>(0)[150], plain + 150, 1e-4);
  settings_.bias = folder_.Path("x.npy");
  EXPECT_TRUE(Mentions(Error_(settings_), "200 neurons"));
}

TEST_F(FileLayerTest, StoppedOrFailedLeavesNothing) {
  SliceCallbacks callbacks;
  callbacks.stop_requested = [] { return true; };
  EXPECT_FALSE(FileLayer(settings_).Run(callbacks).complete);
  EXPECT_EQ(folder_.Count(), 2);
  settings_.w = "";
  settings_.neurons = 301;
  EXPECT_TRUE(Mentions(Error_(settings_), "301 centers"));
  EXPECT_EQ(folder_.Count(), 2);
}

TEST_F(FileLayerTest, RefusesWhatDoesNotFit) {
  const auto with = [&](auto change) {
    FileLayerSettings settings = settings_;
    change(settings);
    return Error_(settings);
  };
  EXPECT_TRUE(Mentions(with([](auto& s) { s.radius = 0; }), "positive"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.radius.reset(); }), "--radius"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.neuron = "mul"; }), "tanh has none"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.neuron = "l1-triangle-bias"; }), "--bias"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.memory = "67M"; }), "at least"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.memory = "lots"; }), "600M"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.slice = "12"; }), "4096x1024"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.slice = "0x5"; }), "4096x1024"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.precision = "high"; }), "fast"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.neurons = 5; }), "--w"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.w = ""; }), "--neurons"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.out = s.x; }), "overwrite"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.out = ""; }), "--out"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.x = ""; }), "--x"));
  EXPECT_TRUE(Mentions(with([](auto& s) { s.w = "/nowhere"; }), "/nowhere"));
  EXPECT_EQ(folder_.Count(), 2);
  const Matrix other = RandomOf(20, 61, DType::kF32, 2);
  WriteNpy(folder_.Path("other.npy"), other.view());
  const std::string shapes = with([&](auto& s) { s.w = folder_.Path("other.npy"); });
  EXPECT_TRUE(Mentions(shapes, "300 x 60 f32"));
  EXPECT_TRUE(Mentions(shapes, "20 x 61 f32"));
}

}  // namespace
}  // namespace lamina
