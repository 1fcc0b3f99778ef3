// Lloyd's iterations over blocks of rows.
#include "lamina/rbf/clusters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/team.h"
#include "lamina/layer/neighbours.h"

namespace lamina {
namespace {

constexpr uint64_t kStartStream = 905;  // of the seed
constexpr uint64_t kBatchStream = 906;
constexpr int64_t kSampleOfCentre = 32;
constexpr int64_t kSampleMore = 1024;

Synapse MetricOf(ClusterKind kind) { return kind == ClusterKind::kMeans ? Synapse::kL2Squared : Synapse::kL1; }

// The rows `which`, ascending, copied.
Matrix TakeRows(RowSource& rows, std::span<const int64_t> which) {
  Matrix taken(std::ssize(which), rows.cols(), rows.dtype());
  const auto row_bytes = static_cast<size_t>(rows.cols() * DTypeSize_bytes(rows.dtype()));
  for (int64_t i = 0; i < taken.rows(); ++i) {
    const int64_t row = which[static_cast<size_t>(i)];
    std::memcpy(taken.view().Rows(i, 1).data, rows.Rows(row, 1).data, row_bytes);
    rows.Release(row, 1);
  }
  return taken;
}

// `count` different numbers below `below`, in the order they were drawn.
std::vector<int64_t> Drawn(int64_t count, int64_t below, Random& random) {
  std::vector<int64_t> all(static_cast<size_t>(below));
  std::iota(all.begin(), all.end(), int64_t{0});
  for (int64_t i = 0; i < count; ++i) {
    std::swap(all[static_cast<size_t>(i)],
              all[static_cast<size_t>(i) + random.Below(static_cast<uint64_t>(below - i))]);
  }
  all.resize(static_cast<size_t>(count));
  return all;
}

struct Assignment {
  std::vector<int64_t> centre;
  std::vector<double> distance;
};

Assignment Assign(RowSource& rows, const Matrix& centres, ClusterKind kind, const Backend& backend) {
  Matrix indices(rows.rows(), 1, DType::kI64);
  Matrix distances(rows.rows(), 1, rows.dtype());
  MatrixRows all(centres.view());
  NearestRows(rows, all, {MetricOf(kind), 1}, backend, {indices.view(), distances.view(), {}});
  Assignment assignment;
  for (int64_t i = 0; i < rows.rows(); ++i) {
    assignment.centre.push_back(*indices.Row<int64_t>(i));
    DispatchFloat(rows.dtype(),
                  [&]<class T>(T) { assignment.distance.push_back(static_cast<double>(*distances.Row<T>(i))); });
  }
  return assignment;
}

// The middle of numbers, of two the mean; `values` is put in another order.
double MedianOf(std::vector<double>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  return values.size() % 2 == 1 ? upper : (*std::max_element(values.begin(), middle) + upper) / 2;
}

class Clustering {
 public:
  Clustering(RowSource& rows, const ClusterOptions& options, const Backend& backend)
      : rows_(rows), options_(options), backend_(backend) {}

  Clusters Run() {
    Clusters result;
    centres_ = options_.start == ClusterStart::kRows ? StartRows() : StartPlusPlus();
    seen_.assign(static_cast<size_t>(options_.count), 0);
    std::vector<int64_t> before;
    Random random(options_.seed, kBatchStream);
    while (result.iterations < options_.iterations) {
      if (options_.stop_requested && options_.stop_requested()) {
        return result;
      }
      Assignment assignment;
      if (options_.batch > 0 && options_.batch < rows_.rows()) {
        std::vector<int64_t> drawn = Drawn(options_.batch, rows_.rows(), random);
        std::sort(drawn.begin(), drawn.end());
        const Matrix some = TakeRows(rows_, drawn);
        MatrixRows source(some.view());
        assignment = Assign(source, centres_, options_.kind, backend_);
        MoveTowards(source, assignment);
      } else {
        assignment = Assign(rows_, centres_, options_.kind, backend_);
        if (assignment.centre == before) {
          break;
        }
        FillEmpty(assignment);
        MoveTo(rows_, assignment);
        before = assignment.centre;
      }
      ++result.iterations;
      if (options_.progress) {
        options_.progress(result.iterations, MeanOf(assignment.distance));
      }
    }
    result.mean_distance = MeanOf(Assign(rows_, centres_, options_.kind, backend_).distance);
    result.centres = std::move(centres_);
    result.complete = true;
    return result;
  }

 private:
  static double MeanOf(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }

  Matrix StartRows() {
    Random random(options_.seed, kStartStream);
    return TakeRows(rows_, Drawn(options_.count, rows_.rows(), random));
  }

  Matrix StartPlusPlus() {
    Random random(options_.seed, kStartStream);
    const int64_t sample_rows = std::min(rows_.rows(), kSampleOfCentre * options_.count + kSampleMore);
    std::vector<int64_t> drawn = Drawn(sample_rows, rows_.rows(), random);
    std::sort(drawn.begin(), drawn.end());
    const Matrix sample = TakeRows(rows_, drawn);
    MatrixRows source(sample.view());
    std::vector<double> nearest(static_cast<size_t>(sample_rows), INFINITY);
    std::vector<int64_t> chosen{static_cast<int64_t>(random.Below(static_cast<uint64_t>(sample_rows)))};
    while (std::ssize(chosen) < options_.count) {
      const Matrix last = TakeRows(source, {&chosen.back(), 1});
      const Assignment to_last = Assign(source, last, options_.kind, backend_);
      double sum = 0;
      for (size_t i = 0; i < nearest.size(); ++i) {
        nearest[i] = std::min(nearest[i], to_last.distance[i]);
        sum += nearest[i];
      }
      chosen.push_back(DrawByDistance(nearest, random.Uniform() * sum, chosen));
    }
    return TakeRows(source, chosen);
  }

  // The row where the sum of distances passes `share`; where all that is left are rows like those chosen, the first
  // that is not one of them.
  static int64_t DrawByDistance(const std::vector<double>& distances, double share,
                                const std::vector<int64_t>& chosen) {
    double sum = 0;
    for (size_t i = 0; i < distances.size(); ++i) {
      sum += distances[i];
      if (distances[i] > 0 && sum > share) {
        return static_cast<int64_t>(i);
      }
    }
    int64_t row = 0;
    while (std::find(chosen.begin(), chosen.end(), row) != chosen.end()) {
      ++row;
    }
    return row;
  }

  // Rows by centre, ascending.
  std::vector<std::vector<int64_t>> MembersOf(const Assignment& assignment) const {
    std::vector<std::vector<int64_t>> members(static_cast<size_t>(options_.count));
    for (size_t i = 0; i < assignment.centre.size(); ++i) {
      members[static_cast<size_t>(assignment.centre[i])].push_back(static_cast<int64_t>(i));
    }
    return members;
  }

  void FillEmpty(Assignment& assignment) const {
    std::vector<int64_t> sizes(static_cast<size_t>(options_.count));
    for (const int64_t centre : assignment.centre) {
      ++sizes[static_cast<size_t>(centre)];
    }
    for (int64_t empty = 0; empty < options_.count; ++empty) {
      if (sizes[static_cast<size_t>(empty)] > 0) {
        continue;
      }
      int64_t farthest = -1;
      for (size_t i = 0; i < assignment.distance.size(); ++i) {
        if (sizes[static_cast<size_t>(assignment.centre[i])] > 1 &&
            (farthest < 0 || assignment.distance[i] > assignment.distance[static_cast<size_t>(farthest)])) {
          farthest = static_cast<int64_t>(i);
        }
      }
      --sizes[static_cast<size_t>(assignment.centre[static_cast<size_t>(farthest)])];
      assignment.centre[static_cast<size_t>(farthest)] = empty;
      assignment.distance[static_cast<size_t>(farthest)] = 0;
      sizes[static_cast<size_t>(empty)] = 1;
    }
  }

  // The mean or the median of some rows.
  std::vector<double> MiddleOf(const Matrix& rows) const {
    std::vector<double> middle(static_cast<size_t>(rows.cols()));
    DispatchFloat(rows.dtype(), [&]<class T>(T) {
      if (options_.kind == ClusterKind::kMeans) {
        for (int64_t i = 0; i < rows.rows(); ++i) {
          for (int64_t f = 0; f < rows.cols(); ++f) {
            middle[static_cast<size_t>(f)] += static_cast<double>(rows.Row<T>(i)[f]) / static_cast<double>(rows.rows());
          }
        }
        return;
      }
      std::vector<double> values(static_cast<size_t>(rows.rows()));
      for (int64_t f = 0; f < rows.cols(); ++f) {
        for (int64_t i = 0; i < rows.rows(); ++i) {
          values[static_cast<size_t>(i)] = static_cast<double>(rows.Row<T>(i)[f]);
        }
        middle[static_cast<size_t>(f)] = MedianOf(values);
      }
    });
    return middle;
  }

  // centre += share × (middle of its rows - centre)
  void Move(RowSource& rows, const Assignment& assignment, const std::function<double(size_t, int64_t)>& share) {
    const std::vector<std::vector<int64_t>> members = MembersOf(assignment);
    for (size_t j = 0; j < members.size(); ++j) {
      if (members[j].empty()) {
        continue;
      }
      const std::vector<double> middle = MiddleOf(TakeRows(rows, members[j]));
      const double by = share(j, std::ssize(members[j]));
      DispatchFloat(centres_.dtype(), [&]<class T>(T) {
        T* const centre = centres_.Row<T>(static_cast<int64_t>(j));
        for (size_t f = 0; f < middle.size(); ++f) {
          const auto from = static_cast<double>(centre[f]);
          centre[f] = static_cast<T>(by == 1 ? middle[f] : from + by * (middle[f] - from));
        }
      });
    }
  }

  void MoveTo(RowSource& rows, const Assignment& assignment) {
    Move(rows, assignment, [](size_t, int64_t) { return 1.0; });
  }

  void MoveTowards(RowSource& rows, const Assignment& assignment) {
    Move(rows, assignment, [this](size_t centre, int64_t count) {
      seen_[centre] += count;
      return static_cast<double>(count) / static_cast<double>(seen_[centre]);
    });
  }

  RowSource& rows_;
  const ClusterOptions& options_;
  const Backend& backend_;
  Matrix centres_;
  std::vector<int64_t> seen_;  // rows of batches that each centre had
};

}  // namespace

Clusters FindClusters(RowSource& rows, const ClusterOptions& options, const Backend& backend) {
  if (rows.dtype() != DType::kF32 && rows.dtype() != DType::kF64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("centres are means of rows in f4 or f8, not {}", DTypeName(rows.dtype())),
                {.remedy = "Convert the rows first."});
  }
  if (options.count < 1 || options.count > rows.rows()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} centres of {} rows", options.count, rows.rows()),
                {.remedy = fmt::format("Ask for 1 to {}.", rows.rows())});
  }
  return Clustering(rows, options, backend).Run();
}

}  // namespace lamina
