// Long computations ask often enough whether to stop, and end where they are told to.
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "lamina/base/stop.h"
#include "lamina/layer/layer.h"
#include "lamina/layer/neighbour_tree.h"
#include "lamina/layer/neighbours.h"
#include "lamina/layer/sliced_layer.h"
#include "lamina/nn/executor.h"
#include "lamina/rbf/clusters.h"
#include "lamina/rbf/elm.h"
#include "lamina/rbf/fsvc.h"
#include "lamina/rbf/radius_search.h"
#include "lamina/rbf/ridge.h"

namespace lamina {
namespace {

Matrix UniformNumbers(int64_t rows, int64_t cols, DType dtype) {
  Matrix numbers(rows, cols, dtype);
  Random random(1);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows * cols; ++i) {
      static_cast<T*>(numbers.data())[i] = static_cast<T>(random.Uniform());
    }
  });
  return numbers;
}

// Rows of two classes.
Dataset TwoClasses(int64_t rows, int64_t cols) {
  Dataset data;
  data.features = UniformNumbers(rows, cols, DType::kF32);
  data.targets = Matrix(rows, 2, DType::kF32);
  for (int64_t i = 0; i < rows; ++i) {
    data.labels.push_back(data.features.Row<float>(i)[0] > 0.5F ? 1 : 0);
    data.targets.Row<float>(i)[data.labels.back()] = 1;
  }
  return data;
}

struct LongWork {
  std::string name;
  int64_t least;  // times that it asks
  std::function<void(const Backend&)> run;
};

std::vector<LongWork> AllLongWork() {
  std::vector<LongWork> all;
  all.push_back({"distances", 3, [](const Backend& backend) {
                   const Matrix x = UniformNumbers(1200, 3000, DType::kF32);
                   PairwiseDistance(x.view(), x.view(), Synapse::kL1, backend);
                 }});
  all.push_back({"a layer in slices", 4, [](const Backend& backend) {
                   const Matrix x = UniformNumbers(1000, 40, DType::kF32);
                   const LayerSpec spec{40, 300, Synapse::kL1, Activation(), /*bias=*/false};
                   const SlicePlan plan = PlanSlices(spec, 1000, DType::kF32, {.budget_bytes = 1 << 19});
                   const Matrix w = UniformNumbers(300, 40, DType::kF32);
                   Matrix out(1000, 300, DType::kF32);
                   MatrixRows rows(x.view());
                   MatrixRows weights(w.view());
                   SlicedLayer(spec, backend, plan, DType::kF32).Run(rows, weights, nullptr, {out.view(), {}});
                 }});
  for (const bool tree : {false, true}) {
    all.push_back({tree ? "nearest rows by a tree" : "nearest rows", 4, [tree](const Backend& backend) {
                     const Matrix x = UniformNumbers(9000, 2, DType::kF64);
                     const NeighbourTree made(x.view(), Synapse::kL2);
                     Matrix indices(9000, 1, DType::kI64);
                     MatrixRows rows(x.view());
                     MatrixRows among(x.view());
                     NearestRows(rows, among, {.tree = tree ? &made : nullptr}, backend, {indices.view(), {}, {}});
                   }});
  }
  all.push_back({"a tree", 2, [](const Backend&) {
                   const Matrix x = UniformNumbers(100000, 3, DType::kF32);
                   const NeighbourTree tree(x.view(), Synapse::kL1);
                 }});
  all.push_back({"answers of a network", 10, [](const Backend& backend) {
                   Network network(ParseLayers("dot-relu:8,dot-identity:1", 4, /*bias=*/true), DType::kF32);
                   const Matrix x = UniformNumbers(1000, 4, DType::kF32);
                   Matrix out(1000, 1, DType::kF32);
                   Executor(network, backend, {.max_batch = 100}).Predict(x.view(), out.view());
                 }});
  for (const ClusterKind kind : {ClusterKind::kMeans, ClusterKind::kMedians}) {
    all.push_back({"clusters", 100, [kind](const Backend& backend) {
                     const Matrix x = UniformNumbers(3000, 4, DType::kF32);
                     MatrixRows rows(x.view());
                     ClusterOptions options;
                     options.kind = kind;
                     options.count = 20;
                     FindClusters(rows, options, backend);
                   }});
  }
  all.push_back({"FSVC", 4, [](const Backend& backend) {
                   FsvcOptions options{{Synapse::kL1, Activation("triangle(radius=0.2)")}, false, 0.1, 2};
                   TrainFsvc(TwoClasses(3000, 4), 2, options, backend);
                 }});
  all.push_back({"the search for a radius", 20, [](const Backend& backend) {
                   FsvcOptions options{{Synapse::kL1, Activation("triangle(radius=1)")}, false, 0, 0};
                   FindRadius(TwoClasses(1000, 4), Dataset{}, 2, options, /*any_overlap=*/true, backend);
                 }});
  for (const int64_t rows : {100, 3000}) {  // fewer than neurons, and more
    for (const bool chooses : {false, true}) {
      all.push_back({"ELM of " + std::to_string(rows), chooses ? 300 : 100, [rows, chooses](const Backend& backend) {
                       const Dataset data = TwoClasses(rows, 4);
                       LayerSpec hidden{4, 200, Synapse::kDot, Activation("tanh"), /*bias=*/true};
                       Network network = DrawElm(hidden, 2, HiddenWeights::kUniform, data.features.view(), 1);
                       ElmOptions options;
                       options.c = chooses ? std::nullopt : std::optional(1.0);
                       TrainElm(network, data, options, backend);
                     }});
    }
  }
  all.push_back({"products", 3, [](const Backend& backend) {
                   const Matrix x = UniformNumbers(1500, 2500, DType::kF64);
                   Matrix out(1500, 1500, DType::kF64);
                   MultiplyTransposed(x.view(), x.view(), out.view(), backend);
                 }});
  all.push_back({"products with many long rows", 4, [](const Backend& backend) {
                   const Matrix x = UniformNumbers(200, 6000, DType::kF64);
                   const Matrix w = UniformNumbers(3000, 6000, DType::kF64);
                   Matrix out(200, 3000, DType::kF64);
                   MultiplyTransposed(x.view(), w.view(), out.view(), backend);
                 }});
  all.push_back({"memory for the sums of ELM", 4, [](const Backend& backend) {
                   const Matrix none(1, 2, DType::kF32);
                   const LayerSpec hidden{2, 4200, Synapse::kDot, Activation("tanh"), /*bias=*/true};
                   const Network network = DrawElm(hidden, 1, HiddenWeights::kUniform, none.view(), 1);
                   const ElmSums sums(network, backend);
                 }});
  return all;
}

TEST(StopPoints, AreMetOftenAndEndTheWork) {
  const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 2});
  for (const LongWork& work : AllLongWork()) {
    int64_t asked = 0;
    {
      const StopScope scope([&] { return ++asked < 0; });
      work.run(*backend);
    }
    EXPECT_GE(asked, work.least) << work.name;
    const int64_t middle = asked / 2;
    asked = 0;
    const StopScope scope([&] { return ++asked > middle; });
    EXPECT_THROW(work.run(*backend), Stopped) << work.name;
    EXPECT_EQ(asked, middle + 1) << work.name;
  }
}

}  // namespace
}  // namespace lamina
