// k-means++ whose sums are those of shards.
#include "lamina/rbf/cluster_starts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/rbf/row_shards.h"

namespace lamina {
namespace {

constexpr uint64_t kStartStream = 905;  // of the seed; clusters.cc has the next one
constexpr int64_t kSampleOfCentre = 32;
constexpr int64_t kSampleMore = 1024;

// In f64, by sums whose order is the same wherever a row stands: there is one center, and rows are few.
template <class T>
double DistanceBetween(const T* a, const T* b, int64_t count, ClusterKind kind) {
  constexpr int64_t kSums = 8;
  std::array<double, kSums> sums{};
  const auto add = [&](int64_t i, size_t to) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sums[to] += kind == ClusterKind::kMeans ? difference * difference : std::abs(difference);
  };
  const int64_t whole = count / kSums * kSums;
  for (int64_t i = 0; i < whole; i += kSums) {
    for (size_t to = 0; to < kSums; ++to) {
      add(i + static_cast<int64_t>(to), to);
    }
  }
  for (int64_t i = whole; i < count; ++i) {
    add(i, static_cast<size_t>(i - whole));
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

std::vector<int64_t> DrawDifferent(int64_t count, int64_t below, Random& random) {
  std::vector<int64_t> all(static_cast<size_t>(below));
  std::iota(all.begin(), all.end(), int64_t{0});
  for (int64_t i = 0; i < count; ++i) {
    std::swap(all[static_cast<size_t>(i)],
              all[static_cast<size_t>(i) + random.Below(static_cast<uint64_t>(below - i))]);
  }
  all.resize(static_cast<size_t>(count));
  return all;
}

ClusterStarts::ClusterStarts(int64_t rows, const ClusterOptions& options)
    : options_(options), random_(options.seed, kStartStream) {
  if (options.start == ClusterStart::kRows) {
    sample_ = DrawDifferent(options.count, rows, random_);
    return;
  }
  sample_ = DrawDifferent(std::min(rows, kSampleOfCentre * options.count + kSampleMore), rows, random_);
  std::sort(sample_.begin(), sample_.end());
}

Matrix ClusterStarts::Choose(Matrix sample, const Backend& backend) {
  if (options_.start == ClusterStart::kRows) {
    return sample;
  }
  MatrixRows rows(sample.view());
  const RowShards shards(sample.rows(), ShardsOf(options_), options_.ranks);
  std::vector<double> nearest(static_cast<size_t>(shards.own_rows().count()), INFINITY);
  std::vector<int64_t> chosen{static_cast<int64_t>(random_.Below(static_cast<uint64_t>(sample.rows())))};
  while (std::ssize(chosen) < options_.count) {
    DispatchFloat(sample.dtype(), [&]<class T>(T) {
      const T* const last = sample.Row<T>(chosen.back());
      const int64_t first = shards.own_rows().begin;
      RunParts(backend.threads(), std::ssize(nearest), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double& least = nearest[static_cast<size_t>(i)];
          least = std::min(least, DistanceBetween(sample.Row<T>(first + i), last, sample.cols(), options_.kind));
        }
      });
    });
    chosen.push_back(DrawByDistance(shards, nearest, chosen));
    StopPoint();
  }
  return TakeRows(rows, chosen);
}

// The row where the sum of distances passes a random share of it. If only rows like those chosen are left, the first
// that is not one of them. The rank that has the row finds it.
int64_t ClusterStarts::DrawByDistance(const RowShards& shards, const std::vector<double>& distances,
                                      const std::vector<int64_t>& chosen) {
  const std::vector<double> sums = shards.SumsOf(distances);
  const double share = random_.Uniform() * std::accumulate(sums.begin(), sums.end(), 0.0);
  double sum = 0;
  int64_t shard = 0;
  while (shard < std::ssize(sums) && !(sum + sums[static_cast<size_t>(shard)] > share)) {
    sum += sums[static_cast<size_t>(shard++)];
  }
  std::vector<int64_t> found;
  if (const IndexRange own = shards.own_shards(); own.begin <= shard && shard < own.end) {
    const IndexRange range = shards.RowsOf(shard);
    double part = 0;
    for (int64_t row = range.begin; row < range.end && found.empty(); ++row) {
      const double distance = distances[static_cast<size_t>(row - shards.own_rows().begin)];
      part += distance;
      if (distance > 0 && sum + part > share) {
        found.push_back(row);
      }
    }
  }
  if (const std::vector<int64_t> drawn = shards.Gather(found); !drawn.empty()) {
    return drawn.front();
  }
  int64_t row = 0;
  while (std::find(chosen.begin(), chosen.end(), row) != chosen.end()) {
    ++row;
  }
  return row;
}

}  // namespace lamina
