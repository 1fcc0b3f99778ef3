// k-means and k-medians: centers of clouds, fixed points of Lloyd's iteration, and the same bits for all threads and
// ranks.
#include "lamina/rbf/clusters.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/convert.h"
#include "lamina/base/random.h"
#include "lamina/cluster/thread_ranks.h"
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

// Where it ends, every center is the mean or the median of the rows that are nearest to it.
TEST(Clusters, EndAtAFixedPoint) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const Matrix data = CloudRows(400, 3);
  for (const auto& [kind, shards] : {std::pair{ClusterKind::kMeans, 0},
                                     {ClusterKind::kMeans, 7},
                                     {ClusterKind::kMedians, 0},
                                     {ClusterKind::kMedians, 7}}) {
    ClusterOptions options;
    options.kind = kind;
    options.shards = shards;
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

// What was found, every bit of it.
std::string BitsOf(const Clusters& clusters) {
  return std::string(static_cast<const char*>(clusters.centres.data()),
                     static_cast<size_t>(clusters.centres.rows() * clusters.centres.cols() *
                                         DTypeSize_bytes(clusters.centres.dtype()))) +
         std::string(reinterpret_cast<const char*>(&clusters.mean_distance), sizeof(double)) +
         std::to_string(clusters.iterations);
}

// Alone and by several ranks: the same bits, which are returned.
Clusters FoundByAnyNumberOfRanks(const Matrix& data, ClusterOptions options) {
  const auto found = [&](Communicator* ranks, int threads) {
    ClusterOptions own = options;
    own.ranks = ranks;
    MatrixRows rows(data.view());
    return FindClusters(rows, own, *MakeBackend("cpu", {.threads = threads}));
  };
  Clusters alone = found(nullptr, 2);
  for (const int size : {1, 2, 3, 4, 8}) {
    RunRanks(size, [&](Communicator& ranks) {
      EXPECT_EQ(BitsOf(found(&ranks, 1)) == BitsOf(alone), true) << ranks.rank() << " of " << size;
    });
  }
  return alone;
}

TEST(Clusters, AnyNumberOfRanksGivesTheSameBits) {
  const Matrix data = CloudRows(700, 5);
  Matrix in_f64(data.rows(), data.cols(), DType::kF64);
  ConvertMatrix(data.view(), in_f64.view());
  for (const Matrix* const rows : std::initializer_list<const Matrix*>{&data, &in_f64}) {
    for (const ClusterKind kind : {ClusterKind::kMeans, ClusterKind::kMedians}) {
      for (const ClusterStart start : {ClusterStart::kPlusPlus, ClusterStart::kRows}) {
        for (const int64_t batch : {0, 90}) {
          const Clusters found = FoundByAnyNumberOfRanks(
              *rows, {.kind = kind, .count = 20, .start = start, .iterations = 4, .batch = batch, .shards = 8});
          EXPECT_LT(found.mean_distance, 40);
        }
      }
    }
  }
}

// Copies of 7 rows leave centers without any: each takes a row from another one, which one rank has.
TEST(Clusters, RanksFillEmptyCentresAlike) {
  const Matrix seven = CloudRows(7, 7);
  for (const ClusterKind kind : {ClusterKind::kMeans, ClusterKind::kMedians}) {
    for (const auto& [rows, count] : {std::pair{40, 12}, {24, 24}, {60, 7}, {5, 3}, {5, 5}, {1, 1}}) {
      Matrix data(rows, 3, DType::kF32);
      for (int64_t i = 0; i < rows; ++i) {
        std::copy_n(seven.Row<float>(i * i % 7), 3, data.Row<float>(i));
      }
      for (const ClusterStart start : {ClusterStart::kPlusPlus, ClusterStart::kRows}) {
        const Clusters found =
            FoundByAnyNumberOfRanks(data, {.kind = kind, .count = count, .start = start, .iterations = 4, .shards = 8});
        if (count >= 7 || count == rows) {  // quadratic residues of 7, and 0: 4 different rows
          EXPECT_EQ(found.mean_distance, 0);
        }
      }
    }
  }
}

// Medians are no sums: not even the number of shards changes a bit.
TEST(Clusters, MediansAreThoseOfAllRows) {
  const Matrix data = CloudRows(500, 4);
  const auto found = [&](int64_t shards) {
    MatrixRows rows(data.view());
    return FindClusters(rows,
                        {.kind = ClusterKind::kMedians, .count = 9, .start = ClusterStart::kRows, .shards = shards},
                        *MakeBackend("serial"));
  };
  const Clusters whole = found(0);
  for (const int64_t shards : {1, 5, 600}) {
    const Clusters parts = found(shards);
    EXPECT_EQ(std::memcmp(parts.centres.data(), whole.centres.data(), 9 * 3 * sizeof(float)), 0) << shards;
    EXPECT_NEAR(parts.mean_distance, whole.mean_distance, 1e-12);
  }
}

TEST(Clusters, RanksThatCannotAndThatAreStopped) {
  Matrix data = CloudRows(90, 3);
  const auto found = [&](Communicator* ranks, const std::function<bool()>& stop_requested) {
    MatrixRows rows(data.view());
    return FindClusters(rows, {.count = 4, .shards = 8, .ranks = ranks, .stop_requested = stop_requested},
                        *MakeBackend("serial"));
  };
  EXPECT_TRUE(Mentions(CaughtError([&] { RunRanks(9, [&](Communicator& ranks) { found(&ranks, {}); }); }).what(),
                       "9 ranks share 8 shards of the rows"));
  RunRanks(3, [&](Communicator& ranks) { EXPECT_FALSE(found(&ranks, [&] { return ranks.rank() == 1; }).complete); });
  data.Row<float>(70)[1] = std::nanf("");
  for (const int size : {0, 1, 3}) {
    const Error error = CaughtError([&] {
      if (size == 0) {
        found(nullptr, {});
      } else {
        RunRanks(size, [&](Communicator& ranks) { found(&ranks, {}); });
      }
    });
    EXPECT_TRUE(Mentions(error.what(), "row 70 of x (counted from 0) has only 0 distances")) << error.what();
  }
}

TEST(Clusters, RowsThatAreAllTheSameAndOtherImpossibilities) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  Matrix same(10, 3, DType::kF32);
  MatrixRows rows(same.view());
  ClusterOptions options;
  options.count = 4;
  EXPECT_EQ(FindClusters(rows, options, *backend).mean_distance, 0);
  options.count = 11;
  EXPECT_TRUE(Mentions(CaughtError([&] { FindClusters(rows, options, *backend); }).what(), "11 centers of 10 rows"));
  Matrix integers(10, 3, DType::kI8);
  MatrixRows wrong(integers.view());
  EXPECT_TRUE(Mentions(CaughtError([&] { FindClusters(wrong, options, *backend); }).what(), "f4 or f8"));
}

}  // namespace
}  // namespace lamina
