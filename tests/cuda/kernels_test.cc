// Systems of kernel machines on a GPU or its emulation, against plain loops: kernels, answers, inverses and slopes at
// the edges of tiles. Then refusals, and the model that the processor finds.
#include "lamina/backend/device_kernels.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/rbf/kernel_network.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_systems.h"
#include "tests/caught_error.h"
#include "tests/rbf/kernel_oracle.h"
#include "tests/rbf/kernel_places.h"

namespace lamina {
namespace {

std::unique_ptr<Backend> Device() { return conformance::Chosen::Make({std::string(conformance::CudaUnderTest())}); }

const MakesDeviceKernels& KernelsOf(const Backend& backend) { return dynamic_cast<const MakesDeviceKernels&>(backend); }

struct Sizes {
  size_t rows, columns, outputs;
};
// Around the 64 of a tile and the 8 of a slab; odd rows of a matrix are not aligned.
constexpr Sizes kSizes[] = {{1, 1, 1}, {2, 3, 2}, {15, 8, 1}, {63, 9, 3}, {64, 17, 1}, {65, 1, 2}, {130, 70, 1}};

// What plain loops say of one table.
struct Plain {
  Plain(const Sizes& sizes, const Case& of) : c(of), x(RandomTable(sizes.rows, sizes.columns, 7)) {
    scale = 0.7 * std::sqrt(static_cast<double>(sizes.columns)) * (c.kind.p == 1 ? 2 : 1);
    y = RandomTable(sizes.rows, sizes.outputs, 3);
    const std::vector<double> ones(sizes.columns, 1.0);
    for (size_t i = 0; i < x.size(); ++i) {
      a.emplace_back();
      for (size_t j = 0; j < x.size(); ++j) {
        a[i].push_back(i == j ? Diagonal(i) : KernelOf(x[i], x[j], ones, c.kind.p, c.kind.power, scale));
      }
      unit.emplace_back(x.size());
      unit[i][i] = 1;
    }
  }
  static double Diagonal(size_t i) { return 1.01 + 0.1 * static_cast<double>(i % 3); }

  Case c;
  Table2 x, y, a, unit;
  double scale = 1;
};

TEST(CudaKernels, SystemsAreThoseOfPlainLoops) {
  const std::unique_ptr<Backend> backend = Device();
  for (const Case& c : kCases) {
    for (const Sizes& sizes : kSizes) {
      const Plain plain(sizes, c);
      const auto rows = static_cast<int64_t>(sizes.rows);
      const int64_t stride = rows + 3;
      const Matrix x = AsMatrix(plain.x);
      std::vector<double> diagonal;
      std::vector<double> targets(sizes.outputs * static_cast<size_t>(stride), 7.0);
      for (size_t i = 0; i < sizes.rows; ++i) {
        diagonal.push_back(Plain::Diagonal(i));
        for (size_t k = 0; k < sizes.outputs; ++k) {
          targets[k * static_cast<size_t>(stride) + i] = plain.y[i][k];
        }
      }
      const Table2 alpha = SolvedByElimination(plain.a, plain.y);
      const Table2 inverse = SolvedByElimination(plain.a, plain.unit);
      for (const bool inverts : {false, true}) {
        const auto kernels =
            KernelsOf(*backend).MakeKernels({rows, x.cols(), static_cast<int64_t>(sizes.outputs), stride, inverts});
        std::vector<double> found(targets.size());
        std::vector<double> of_inverse(sizes.rows);
        std::vector<double> lower(sizes.rows * sizes.rows);
        DeviceSystem system{{c.kind.p, c.kind.power, plain.scale}, diagonal.data(), targets.data(), 1e-14};
        system.alpha = found.data();
        system.inverse_diagonal = inverts ? of_inverse.data() : nullptr;
        kernels->SetRows(x.view(), c.kind.p);
        ASSERT_TRUE(kernels->Solve(system));
        const std::vector<double> first = found;
        ASSERT_TRUE(kernels->Solve(system));  // nothing of the first is left over
        EXPECT_EQ(first, found);
        kernels->Download(lower.data());
        const auto at = [&](size_t i, size_t j) { return lower[i * sizes.rows + j]; };
        for (size_t i = 0; i < sizes.rows; ++i) {
          for (size_t k = 0; k < sizes.outputs; ++k) {
            ASSERT_NEAR(found[k * static_cast<size_t>(stride) + i], alpha[i][k], 1e-9) << sizes.rows << " row " << i;
          }
          for (size_t j = 0; j <= i; ++j) {
            double wanted = plain.a[i][j];
            double is = 0;
            for (size_t k = 0; k <= j; ++k) {
              is += at(i, k) * at(j, k);
            }
            if (inverts) {
              wanted = inverse[i][j];
              is = at(i, j);
            }
            ASSERT_NEAR(is, wanted, 1e-10) << sizes.rows << " at " << i << " " << j;
          }
          ASSERT_NEAR(of_inverse[i], inverts ? inverse[i][i] : 0, 1e-10);
        }
      }
    }
  }
}

TEST(CudaKernels, SlopesAreThoseOfPlainLoops) {
  const std::unique_ptr<Backend> backend = Device();
  for (const Case& c : kCases) {
    for (const Sizes& sizes : kSizes) {
      Plain plain(sizes, c);
      if (sizes.rows > 2) {
        plain.x[2] = plain.x[1];  // no slope toward an equal row
      }
      const auto rows = static_cast<int64_t>(sizes.rows);
      const Matrix x = AsMatrix(plain.x);
      std::vector<double> alpha;
      std::vector<double> roots;
      for (size_t k = 0; k < sizes.outputs; ++k) {
        for (size_t i = 0; i < sizes.rows; ++i) {
          alpha.push_back(plain.y[i][k]);
          roots.resize(sizes.rows, 0.5 + 0.1 * static_cast<double>(i % 4));
        }
      }
      std::vector<double> wanted(sizes.columns * sizes.columns);
      double most = 1;
      for (size_t i = 0; i < sizes.rows; ++i) {
        for (size_t k = 0; k < sizes.outputs; ++k) {
          std::vector<double> slopes(sizes.columns);
          for (size_t m = 0; m < sizes.rows; ++m) {
            double distance = 0;
            for (size_t j = 0; j < sizes.columns; ++j) {
              const double difference = std::abs(plain.x[i][j] - plain.x[m][j]);
              distance += c.kind.p == 1 ? difference : difference * difference;
            }
            distance = c.kind.p == 1 ? distance : std::sqrt(distance);
            if (distance == 0) {
              continue;
            }
            const double power = std::pow(distance / plain.scale, c.kind.power);
            const double weight = power * std::exp(-power) / std::pow(distance, c.kind.p);
            for (size_t j = 0; j < sizes.columns; ++j) {
              const double difference = plain.x[i][j] - plain.x[m][j];
              const double t = c.kind.p == 2 ? difference : difference > 0 ? 1 : difference < 0 ? -1 : 0;
              slopes[j] += weight * plain.y[m][k] * t;
            }
          }
          for (size_t j = 0; j < sizes.columns; ++j) {
            for (size_t l = 0; l < sizes.columns; ++l) {
              wanted[j * sizes.columns + l] += roots[i] * roots[i] * slopes[j] * slopes[l];
              most = std::max(most, std::abs(wanted[j * sizes.columns + l]));
            }
          }
        }
      }
      const auto kernels = KernelsOf(*backend).MakeKernels(
          {rows, x.cols(), static_cast<int64_t>(sizes.outputs), rows, /*inverse=*/false});
      kernels->SetRows(x.view(), c.kind.p);
      std::vector<double> products(wanted.size(), NAN);
      for (int turn = 0; turn < 2; ++turn) {  // the second begins anew
        kernels->SlopeProducts({{c.kind.p, c.kind.power, plain.scale}, alpha.data(), roots.data()}, products.data());
        for (size_t n = 0; n < wanted.size(); ++n) {
          ASSERT_NEAR(products[n], wanted[n], 1e-11 * most) << sizes.rows << " " << n << " p " << c.kind.p;
        }
      }
    }
  }
}

TEST(CudaKernels, ASystemThatIsNotPositiveIsSaidToBeNone) {
  const std::unique_ptr<Backend> backend = Device();
  const Matrix x = AsMatrix(RandomTable(70, 2, 1));
  const auto kernels = KernelsOf(*backend).MakeKernels({70, 2, 1, 70, false});
  kernels->SetRows(x.view(), 2);
  const std::vector<double> targets(70, 1.0);
  std::vector<double> alpha(70);
  for (const size_t bad : {0U, 1U, 63U, 69U}) {
    for (const double value : {-0.5, 0.0, static_cast<double>(NAN)}) {
      std::vector<double> diagonal(70, 3.0);
      diagonal[bad] = value;
      DeviceSystem system{{2, 1.0, 0.01}, diagonal.data(), targets.data(), 1e-14, alpha.data()};
      EXPECT_FALSE(kernels->Solve(system)) << bad << " " << value;
      diagonal[bad] = 1;
      EXPECT_TRUE(kernels->Solve(system)) << bad;
    }
  }
}

// Whatever has not begun before somebody waits for it.
TEST(CudaKernels, WorkThatIsLateGivesTheSameBits) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "a GPU decides by itself";
  }
  const Matrix x = AsMatrix(RandomTable(70, 5, 1));
  const std::vector<double> targets(70, 1.0);
  const std::vector<double> diagonal(70, 1.5);
  const std::vector<double> roots(70, 1.0);
  std::vector<double> wanted;
  for (unsigned late = 0; late < 8; ++late) {
    cuda_emulated::SetLateQueues(late);
    const std::unique_ptr<Backend> backend = Device();
    cuda_emulated::SetLateQueues(0);
    const auto kernels = KernelsOf(*backend).MakeKernels({70, 5, 1, 70, true});
    std::vector<double> found(70 + 70 + 25);
    kernels->SetRows(x.view(), 1);
    DeviceSystem system{{1, 0.7, 2.0}, diagonal.data(), targets.data(), 1e-14, found.data(), found.data() + 70};
    ASSERT_TRUE(kernels->Solve(system));
    kernels->SlopeProducts({system.shape, found.data(), roots.data()}, found.data() + 140);
    wanted = wanted.empty() ? found : wanted;
    EXPECT_EQ(found, wanted) << late;
  }
}

Dataset DatasetOf(const Table2& x, const Table2& y) {
  Dataset data;
  data.features = AsMatrix(x);
  data.targets = AsMatrix(y);
  return data;
}

// A search of some rows, then all of them on the device, in memory that is given back.
TEST(CudaKernels, ANetworkIsTheProcessorsUpToRounding) {
  const std::unique_ptr<Backend> backend = Device();
  const int64_t free = backend->FreeMemory_bytes();
  const Table2 x = RandomTable(90, 4, 5);
  for (const bool full : {false, true}) {
    KernelNetworkOptions options;
    options.choices.full = full;
    options.choices.kinds = full ? std::vector<KernelKind>{{2, 1.0}} : std::vector<KernelKind>{{1, 1.0}, {2, 1.4}};
    options.choices.rounds = 2;
    const KernelNetwork wanted = FitKernelNetwork(DatasetOf(x, TargetsFor(x, 2)), options);
    EXPECT_EQ(wanted.solver + wanted.why_processor, "");
    options.backend = backend.get();
    const KernelNetwork found = FitKernelNetwork(DatasetOf(x, TargetsFor(x, 2)), options);
    EXPECT_TRUE(Mentions(found.solver, "cuda: cuSOLVER"));
    EXPECT_EQ(found.tried, wanted.tried);
    EXPECT_EQ(found.machine.ridge, wanted.machine.ridge);
    EXPECT_EQ(found.machine.round, wanted.machine.round);
    EXPECT_NEAR(found.machine.scale, wanted.machine.scale, 1e-9 * wanted.machine.scale);
    EXPECT_NEAR(found.machine.error, wanted.machine.error, 1e-9);
    for (size_t j = 0; j < wanted.machine.feature_weights.size(); ++j) {
      EXPECT_NEAR(found.machine.feature_weights[j], wanted.machine.feature_weights[j], 1e-8);
    }
    for (int64_t i = 0; i < 90; ++i) {
      EXPECT_NEAR(found.machine.alpha.Row<double>(i)[1], wanted.machine.alpha.Row<double>(i)[1], 1e-6);
    }
    options.least_device_rows = 91;
    EXPECT_EQ(FitKernelNetwork(DatasetOf(x, TargetsFor(x, 2)), options).solver, "");
  }
  if (conformance::CudaUnderTest() == conformance::kEmulatedCuda) {  // a GPU's memory is that of other programs, too
    EXPECT_EQ(backend->FreeMemory_bytes(), free);
  }
}

TEST(CudaKernels, MachinesThatDoNotFitAreRefusedBefore) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "a GPU's memory is what it is";
  }
  cuda_emulated::SetEmulatedMemory(100'000);
  const std::unique_ptr<Backend> backend = Device();
  cuda_emulated::SetEmulatedMemory(cuda_emulated::kEmulatedMemory_bytes);
  const Table2 x = RandomTable(200, 2, 5);
  KernelNetworkOptions options;
  options.backend = backend.get();
  int64_t tried = 0;
  options.progress = [&](int64_t count) { tried = count; };
  const Error error = CaughtError([&] { FitKernelNetwork(DatasetOf(x, TargetsFor(x, 2)), options); });
  EXPECT_EQ(error.code(), ErrorCode::kResource);
  EXPECT_TRUE(Mentions(error.what(), "200 rows"));
  EXPECT_TRUE(Mentions(error.what(), "--backend cpu"));
  EXPECT_EQ(tried, 0);
}

TEST(CudaKernels, WithoutTheLibraryTheProcessorSolvesAndSaysSo) {
  if (conformance::CudaUnderTest() != conformance::kEmulatedCuda) {
    GTEST_SKIP() << "only a stand-in can be taken away";
  }
  const std::unique_ptr<Backend> backend = Device();
  const Table2 x = RandomTable(40, 2, 5);
  KernelNetworkOptions options;
  const KernelNetwork wanted = FitKernelNetwork(DatasetOf(x, TargetsFor(x, 2)), options);
  options.backend = backend.get();
  cuda_emulated::SetEmulatedSolver(false);
  EXPECT_THROW(KernelsOf(*backend).MakeKernels({40, 2, 1, 40, false}), Error);
  const KernelNetwork found = FitKernelNetwork(DatasetOf(x, TargetsFor(x, 2)), options);
  cuda_emulated::SetEmulatedSolver(true);
  EXPECT_EQ(found.solver, "");
  EXPECT_TRUE(Mentions(found.why_processor, "no cuSOLVER"));
  for (int64_t i = 0; i < 40; ++i) {
    EXPECT_EQ(found.machine.alpha.Row<double>(i)[1], wanted.machine.alpha.Row<double>(i)[1]) << i;
  }
  EXPECT_TRUE(Mentions(KernelsOf(*backend).KernelsAvailable(100'000).reason, "46,340"));
}

}  // namespace
}  // namespace lamina
