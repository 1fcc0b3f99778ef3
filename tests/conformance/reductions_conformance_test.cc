// Products that a backend reduces while it computes them, against plain loops.
#include "lamina/backend/reductions.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lamina/backend/device_reductions.h"
#include "lamina/backend/staged_layer.h"
#include "lamina/base/half.h"
#include "lamina/base/random.h"
#include "tests/conformance/configurations.h"

namespace lamina {
namespace {

using conformance::Chosen;
using conformance::Configuration;

class ReductionsOn : public testing::TestWithParam<Configuration> {};
INSTANTIATE_TEST_SUITE_P(Reductions, ReductionsOn, testing::ValuesIn(conformance::OwnConfigurations()),
                         [](const auto& instance) { return instance.param.Name(); });

template <class T>
Matrix RandomRows(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix numbers(rows, cols, DTypeOf<T>());
  Random random(seed);
  for (int64_t i = 0; i < rows; ++i) {
    std::generate_n(numbers.Row<T>(i), cols, [&] { return static_cast<T>(random.Uniform(-1, 1)); });
  }
  return numbers;
}

double Rounded(double value, Precision precision) {
  return precision == Precision::kBFloat16
             ? static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(value))))
             : value;
}

// Rows in two blocks, the second smaller; columns that lie between others.
template <class T>
void CheckGram(const Reduces& backend, int64_t rows, int64_t columns, Precision precision) {
  constexpr double kThere = 0.25;
  constexpr int64_t kMore = 3;
  const Matrix h = RandomRows<T>(rows, columns + kMore, 1);
  const int64_t first = (rows + 1) / 2;
  const std::unique_ptr<GramSum> sum = backend.PrepareGram({first, columns, DTypeOf<T>(), precision});
  ASSERT_NE(sum, nullptr);
  Matrix gram(columns, columns, DType::kF64);
  for (int64_t i = 0; i < columns; ++i) {
    std::fill_n(gram.Row<double>(i), columns, kThere);
  }
  ConstMatrixView part = h.view();
  part.cols = columns;
  sum->Add(part.Rows(0, first), gram.view());
  if (rows > first) {
    sum->Add(part.Rows(first, rows - first), gram.view());
  }
  for (int64_t i = 0; i < columns; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double expected = kThere;
      for (int64_t k = 0; j <= i && k < rows; ++k) {
        expected += Rounded(static_cast<double>(h.Row<T>(k)[i]), precision) *
                    Rounded(static_cast<double>(h.Row<T>(k)[j]), precision);
      }
      const double tolerance = j > i ? 0 : (sizeof(T) == 8 ? 1e-13 : 2e-6) * static_cast<double>(rows);
      ASSERT_NEAR(gram.Row<double>(i)[j], expected, tolerance) << rows << " x " << columns << " at " << i << " " << j;
    }
  }
}

TEST_P(ReductionsOn, ProductsOfColumnsAreAddedBelowTheDiagonalAlone) {
  const Chosen chosen(GetParam());
  const auto& backend = dynamic_cast<const Reduces&>(chosen.get());
  for (const int64_t columns : {1, 2, 7, 50, 97}) {
    for (const int64_t rows : {1, 5, 40}) {
      CheckGram<float>(backend, rows, columns, Precision::kExact);
      CheckGram<double>(backend, rows, columns, Precision::kExact);
      CheckGram<float>(backend, rows, columns, Precision::kBFloat16);
    }
  }
  CheckGram<float>(backend, 2100, 130, Precision::kExact);  // sums in more than one block
  CheckGram<double>(backend, 1100, 60, Precision::kExact);
}

TEST_P(ReductionsOn, WhatIsNearerThanTheLimitOfItsRowIsTold) {
  const Chosen chosen(GetParam());
  const auto& backend = dynamic_cast<const Reduces&>(chosen.get());
  constexpr int64_t kInputs = 6;
  const Matrix x = RandomRows<float>(53, kInputs, 2);
  const Matrix y = RandomRows<float>(71, kInputs, 3);
  for (const Synapse synapse : {Synapse::kDot, Synapse::kL1, Synapse::kL2, Synapse::kL2Squared}) {
    LayerPlanRequest request{{kInputs, y.rows(), synapse, Activation(), /*bias=*/false}, DType::kF32, x.rows()};
    const std::unique_ptr<NearSearch> search = backend.PrepareNear(request);
    ASSERT_NE(search, nullptr);
    Matrix distances(x.rows(), y.rows(), DType::kF32);
    request.any_slicing = true;
    StagedLayer(chosen.get(), request).Forward({.x = x.view(), .weights = y.view(), .a = distances.view()});
    std::vector<float> limits;
    for (int64_t i = 0; i < x.rows(); ++i) {  // of row i its i-th distance
      limits.push_back(distances.Row<float>(i)[i]);
    }
    struct Told {
      int64_t row, output;
      double sum;
    };
    std::vector<Told> told;
    search->Search({x.view(), y.view(), limits.data(),
                    [](void* context, int64_t row, int64_t output, double sum) {
                      static_cast<std::vector<Told>*>(context)->push_back({row, output, sum});
                    },
                    &told});
    std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) { return a.row < b.row; });
    auto next = told.begin();
    for (int64_t i = 0; i < x.rows(); ++i) {
      for (int64_t j = 0; j < y.rows(); ++j) {
        const float value = distances.Row<float>(i)[j];
        const float limit = limits[static_cast<size_t>(i)];
        if (synapse == Synapse::kDot ? value > limit : value < limit) {
          ASSERT_NE(next, told.end());
          EXPECT_EQ(next->row, i);
          EXPECT_EQ(next->output, j);
          EXPECT_EQ(next->sum, static_cast<double>(value));
          ++next;
        }
      }
    }
    EXPECT_EQ(next, told.end());
  }
}

// What a device reduces, in its own memory, whatever kernel layers have.
std::vector<Configuration> ReducingDevices() {
  std::vector<Configuration> devices = conformance::AllConfigurations();
  std::erase_if(devices, [](const Configuration& each) {
    return each.backend != conformance::CudaUnderTest() || each.kernel != "auto";
  });
  return devices;
}

class DeviceReductionsOn : public testing::TestWithParam<Configuration> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceReductionsOn);
INSTANTIATE_TEST_SUITE_P(DeviceReductions, DeviceReductionsOn, testing::ValuesIn(ReducingDevices()),
                         [](const auto& instance) { return instance.param.Name(); });

template <class T>
LayerPlanRequest DistanceRequest(const Matrix& x, const Matrix& y, Synapse synapse, const char* activation) {
  return {{x.cols(), y.rows(), synapse, Activation(activation), /*bias=*/false}, DTypeOf<T>(), x.rows()};
}

template <class T>
Matrix ForwardOf(const Backend& backend, LayerPlanRequest request, const Matrix& x, const Matrix& weights) {
  Matrix a(x.rows(), weights.rows(), DTypeOf<T>());
  request.any_slicing = true;
  StagedLayer(backend, request).Forward({.x = x.view(), .weights = weights.view(), .a = a.view()});
  return a;
}

// Halves between -1 and 1, so that many sums are equal.
template <class T>
Matrix FewValues(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix numbers = RandomRows<T>(rows, cols, seed);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      numbers.Row<T>(i)[j] = std::round(2 * numbers.Row<T>(i)[j]) / 2;
    }
  }
  return numbers;
}

template <class T>
void CheckNearest(const Backend& backend, int64_t k) {
  Matrix x = FewValues<T>(37, 5, 4);
  Matrix y = FewValues<T>(2700, 5, 5);  // more than a list holds
  y.Row<T>(3)[1] = std::numeric_limits<T>::quiet_NaN();
  x.Row<T>(2)[0] = std::numeric_limits<T>::infinity();
  for (const Synapse synapse : {Synapse::kDot, Synapse::kL1, Synapse::kL2Squared}) {
    const LayerPlanRequest request = DistanceRequest<T>(x, y, synapse, "identity");
    const Matrix sums = ForwardOf<T>(backend, request, x, y);
    const auto lists = dynamic_cast<const ReducesOnDevice&>(backend).PrepareNearest(request, k);
    ASSERT_NE(lists, nullptr);
    Matrix indices(x.rows(), k, DType::kI64);
    Matrix found(x.rows(), k, DTypeOf<T>());
    for (const int64_t rows : {x.rows(), int64_t{20}}) {  // the second time fewer
      lists->Start(x.view().Rows(0, rows));
      lists->Add(y.view().Rows(0, 2000), 0);
      lists->Add(y.view().Rows(2000, 700), 2000);
      lists->Finish(indices.view().Rows(0, rows), found.view().Rows(0, rows));
      for (int64_t i = 0; i < rows; ++i) {
        std::vector<std::pair<T, int64_t>> all;
        for (int64_t j = 0; j < y.rows(); ++j) {
          const T sum = sums.Row<T>(i)[j];
          if (std::isfinite(sum) || (synapse == Synapse::kDot && sum > 0)) {
            all.emplace_back(synapse == Synapse::kDot ? -sum : sum, j);
          }
        }
        std::sort(all.begin(), all.end());
        for (int64_t n = 0; n < k; ++n) {
          const bool there = n < std::ssize(all);
          ASSERT_EQ(indices.Row<int64_t>(i)[n], there ? all[static_cast<size_t>(n)].second : NearestLists::kNone)
              << SynapseName(synapse) << " row " << i << " neighbor " << n << " of " << k;
          if (there) {
            ASSERT_EQ(std::abs(found.Row<T>(i)[n]), std::abs(all[static_cast<size_t>(n)].first));
          }
        }
      }
    }
  }
}

TEST_P(DeviceReductionsOn, TheNearestStayInListsWithTiesByLowerIndex) {
  const Chosen chosen(GetParam());
  for (const int64_t k : {1, 10, 1024}) {
    CheckNearest<float>(chosen.get(), k);
  }
  CheckNearest<double>(chosen.get(), 33);
}

template <class T>
void CheckActivationSums(const Backend& backend, Synapse synapse, const char* activation) {
  const Matrix x = RandomRows<T>(70, 3, 6);
  const Matrix kept = RandomRows<T>(4200, 3, 7);  // more than stand in one piece of memory
  const LayerPlanRequest request = DistanceRequest<T>(x, kept, synapse, activation);
  const Matrix a = ForwardOf<T>(backend, request, x, kept);
  const auto sums = dynamic_cast<const ReducesOnDevice&>(backend).PrepareActivationSums(request);
  ASSERT_NE(sums, nullptr);
  sums->Append(kept.view().Rows(0, 1));
  sums->Append(kept.view().Rows(1, 4199));
  struct Part {
    int64_t rows, begin, count;
  };
  for (const Part& part : {Part{70, 0, 4200}, {1, 63, 2}, {65, 4090, 20}}) {
    std::vector<double> found(static_cast<size_t>(part.rows), 0.5);
    sums->Add(x.view().Rows(0, part.rows), part.begin, part.count, found.data());
    for (int64_t i = 0; i < part.rows; ++i) {
      double expected = 0.5;
      for (int64_t j = part.begin; j < part.begin + part.count; ++j) {
        expected += std::nearbyint(static_cast<double>(a.Row<T>(i)[j]) * 0x1p40) * 0x1p-40;
      }
      ASSERT_EQ(found[static_cast<size_t>(i)], expected) << SynapseName(synapse) << " row " << i;
    }
  }
}

TEST_P(DeviceReductionsOn, ActivationsAddUpExactly) {
  const Chosen chosen(GetParam());
  CheckActivationSums<float>(chosen.get(), Synapse::kL1, "triangle(radius=0.7)");
  CheckActivationSums<float>(chosen.get(), Synapse::kL2, "gaussian(radius=0.4)");
  CheckActivationSums<double>(chosen.get(), Synapse::kL2Squared, "triangle(radius=0.5)");
}

// In f64 as the plain loops say, in f32 about.
template <class T>
void CheckTwoLayers(const Chosen& chosen, int64_t batch, int64_t hidden, int64_t outputs, const char* answer) {
  constexpr int64_t kInputs = 9;
  const LayerSpec first{kInputs, hidden, Synapse::kL2, Activation("gaussian(radius=1.5)"), /*bias=*/true};
  const LayerSpec second{hidden, outputs, Synapse::kDot, Activation(answer), /*bias=*/true};
  const auto two =
      dynamic_cast<const ReducesOnDevice&>(chosen.get()).PrepareTwoLayers({first, DTypeOf<T>(), batch}, second);
  ASSERT_NE(two, nullptr);
  const Matrix x = RandomRows<T>(batch, kInputs, 8);
  const Matrix w1 = RandomRows<T>(hidden, kInputs, 9);
  const Matrix b1 = RandomRows<T>(1, hidden, 10);
  const Matrix w2 = RandomRows<T>(outputs, hidden, 11);
  const Matrix b2 = RandomRows<T>(1, outputs, 12);
  Matrix found(batch, outputs, DTypeOf<T>());
  Staging staging(chosen.get());
  const TwoLayerArgs args{staging.In(x.view()),
                          staging.In(w1.view()),
                          staging.In(b1.data(), hidden * static_cast<int64_t>(sizeof(T))),
                          staging.In(w2.view()),
                          staging.In(b2.data(), outputs * static_cast<int64_t>(sizeof(T))),
                          staging.Out(found.view())};
  two->Forward(args);
  staging.Finish();
  const std::unique_ptr<Backend> serial = MakeBackend("serial");
  Matrix h(batch, hidden, DTypeOf<T>());
  Matrix expected(batch, outputs, DTypeOf<T>());
  StagedLayer(*serial, {first, DTypeOf<T>(), batch})
      .Forward({.x = x.view(), .weights = w1.view(), .bias = b1.data(), .a = h.view()});
  StagedLayer(*serial, {second, DTypeOf<T>(), batch})
      .Forward({.x = h.view(), .weights = w2.view(), .bias = b2.data(), .a = expected.view()});
  for (int64_t i = 0; i < batch; ++i) {
    for (int64_t k = 0; k < outputs; ++k) {
      ASSERT_NEAR(found.Row<T>(i)[k], expected.Row<T>(i)[k], (sizeof(T) == 8 ? 1e-14 : 1e-5) * std::sqrt(hidden))
          << batch << "x" << hidden << "x" << outputs << " at " << i << " " << k;
    }
  }
}

TEST_P(DeviceReductionsOn, ASecondLayerIsSummedInTheTileOfTheFirst) {
  const Chosen chosen(GetParam());
  CheckTwoLayers<float>(chosen, 1, 1, 1, "identity");
  CheckTwoLayers<float>(chosen, 131, 65, 10, "identity");
  CheckTwoLayers<float>(chosen, 20, 300, 3, "softmax");
  CheckTwoLayers<double>(chosen, 70, 130, 64, "tanh");
}

TEST_P(DeviceReductionsOn, WhatCannotBeReducedIsLeftToLayers) {
  const Chosen chosen(GetParam());
  const auto& device = dynamic_cast<const ReducesOnDevice&>(chosen.get());
  const LayerSpec distances{4, 8, Synapse::kL1, Activation("triangle"), /*bias=*/false};
  const LayerSpec answers{8, 2, Synapse::kDot, Activation(), /*bias=*/false};
  LayerPlanRequest request{distances, DType::kF32, 4};
  EXPECT_NE(device.PrepareTwoLayers(request, answers), nullptr);
  LayerSpec many = answers;
  many.outputs = 1000;
  EXPECT_EQ(device.PrepareTwoLayers(request, many), nullptr);
  LayerPlanRequest cut = request;
  cut.any_slicing = true;
  EXPECT_EQ(device.PrepareTwoLayers(cut, answers), nullptr);
  request.layer.synapse = Synapse::kDot;
  EXPECT_EQ(device.PrepareTwoLayers(request, answers), nullptr);
  EXPECT_EQ(device.PrepareActivationSums(request), nullptr);
  EXPECT_NE(device.PrepareNearest(request, 3), nullptr);
  request.dtype = DType::kI8;
  EXPECT_EQ(device.PrepareNearest(request, 3), nullptr);
}

}  // namespace
}  // namespace lamina
