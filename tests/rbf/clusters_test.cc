// k-means and k-medians: centres of clouds, fixed points of Lloyd's iteration, and the same bits for all threads.
#include "lamina/rbf/clusters.h"

#include <cmath>
#include <numeric>
#include <set>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/random.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

// `clouds` of equally many rows around (10 c, -10 c, 10 c).
Matrix CloudRows(int64_t rows, int64_t clouds) {
  Matrix data(rows, 3, DType::kF32);
  Random random(4);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t f = 0; f < 3; ++f) {
      const double middle = static_cast<double>(10 * (i % clouds)) * (f == 1 ? -1 : 1);
      data.Row<float>(i)[f] = static_cast<float>(middle + random.Uniform(-1, 1));
    }
  }
  return data;
}

double DistanceOf(const float* a, const float* b, ClusterKind kind) {
  double sum = 0;
  for (int f = 0; f < 3; ++f) {
    const double difference = double{a[f]} - double{b[f]};
    sum += kind == ClusterKind::kMeans ? difference * difference : std::abs(difference);
  }
  return sum;
}

int64_t NearestOf(const Matrix& centres, const float* row, ClusterKind kind) {
  int64_t nearest = 0;
  for (int64_t j = 1; j < centres.rows(); ++j) {
    if (DistanceOf(centres.Row<float>(j), row, kind) < DistanceOf(centres.Row<float>(nearest), row, kind)) {
      nearest = j;
    }
  }
  return nearest;
}

TEST(Clusters, EveryCloudGetsItsCentre) {
  const std::unique_ptr<Backend> backend = MakeBackend("auto", {.threads = 2});
  const Matrix data = CloudRows(900, 6);
  for (const ClusterKind kind : {ClusterKind::kMeans, ClusterKind::kMedians}) {
    for (const int64_t batch : {0, 200}) {
      ClusterOptions options;
      options.kind = kind;
      options.count = 6;
      options.batch = batch;
      MatrixRows rows(data.view());
      const Clusters clusters = FindClusters(rows, options, *backend);
      EXPECT_TRUE(clusters.complete);
      std::set<int64_t> clouds;
      for (int64_t j = 0; j < 6; ++j) {
        const double cloud = static_cast<double>(clusters.centres.Row<float>(j)[0]) / 10;
        EXPECT_NEAR(cloud, std::round(cloud), 0.04);
        clouds.insert(std::lround(cloud));
      }
      EXPECT_EQ(clouds.size(), 6U);
      EXPECT_LT(clusters.mean_distance, kind == ClusterKind::kMeans ? 1.1 : 1.7);
    }
  }
}

// Where it ends, every centre is the mean or the median of the rows that are nearest to it.
TEST(Clusters, EndAtAFixedPoint) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const Matrix data = CloudRows(400, 3);
  for (const ClusterKind kind : {ClusterKind::kMeans, ClusterKind::kMedians}) {
    ClusterOptions options;
    options.kind = kind;
    options.count = 8;
    options.start = ClusterStart::kRows;
    options.iterations = 500;
    MatrixRows rows(data.view());
    const Clusters clusters = FindClusters(rows, options, *backend);
    EXPECT_LT(clusters.iterations, 500);
    double sum = 0;
    for (int64_t j = 0; j < 8; ++j) {
      std::vector<std::vector<double>> members(3);
      for (int64_t i = 0; i < data.rows(); ++i) {
        if (NearestOf(clusters.centres, data.Row<float>(i), kind) == j) {
          sum += DistanceOf(clusters.centres.Row<float>(j), data.Row<float>(i), kind);
          for (size_t f = 0; f < 3; ++f) {
            members[f].push_back(double{data.Row<float>(i)[f]});
          }
        }
      }
      for (size_t f = 0; f < 3; ++f) {
        std::vector<double>& values = members[f];
        ASSERT_FALSE(values.empty());
        std::sort(values.begin(), values.end());
        const size_t n = values.size();
        const double middle = kind == ClusterKind::kMeans
                                  ? std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n)
                                  : (values[(n - 1) / 2] + values[n / 2]) / 2;
        EXPECT_NEAR(double{clusters.centres.Row<float>(j)[f]}, middle, 1e-5);
      }
    }
    EXPECT_NEAR(clusters.mean_distance, sum / 400, 1e-5);
  }
}

TEST(Clusters, AreTheSameBitsForAllThreads) {
  const Matrix data = CloudRows(700, 5);
  ClusterOptions options;
  options.count = 20;
  const auto centres = [&](const char* name, int threads) {
    MatrixRows rows(data.view());
    const Clusters clusters = FindClusters(rows, options, *MakeBackend(name, {.threads = threads}));
    return std::vector<float>(static_cast<const float*>(clusters.centres.data()),
                              static_cast<const float*>(clusters.centres.data()) + 60);
  };
  EXPECT_EQ(centres("cpu", 1), centres("cpu", 3));
}

TEST(Clusters, RowsThatAreAllTheSameAndOtherImpossibilities) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  Matrix same(10, 3, DType::kF32);
  MatrixRows rows(same.view());
  ClusterOptions options;
  options.count = 4;
  EXPECT_EQ(FindClusters(rows, options, *backend).mean_distance, 0);
  options.count = 11;
  EXPECT_TRUE(Mentions(CaughtError([&] { FindClusters(rows, options, *backend); }).what(), "11 centres of 10 rows"));
  Matrix integers(10, 3, DType::kI8);
  MatrixRows wrong(integers.view());
  EXPECT_TRUE(Mentions(CaughtError([&] { FindClusters(wrong, options, *backend); }).what(), "f4 or f8"));
}

}  // namespace
}  // namespace lamina
