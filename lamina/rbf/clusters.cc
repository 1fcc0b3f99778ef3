// Lloyd's iterations over shards of rows. Medians are no sums, so every rank finds those of some centers, by rows that
// all ranks can read: docs/decisions/0039-clusters-over-ranks.md.
#include "lamina/rbf/clusters.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/cluster/rank_memory.h"
#include "lamina/cluster/rank_sum.h"
#include "lamina/cluster/shard_sum.h"
#include "lamina/rbf/cluster_starts.h"
#include "lamina/rbf/row_shards.h"

namespace lamina {
namespace {

constexpr uint64_t kBatchStream = 906;  // of the seed
constexpr int64_t kRowsMapped = 1024;   // mapped of a file

// Rows that an iteration is about.
struct SharedRows {
  SharedRows(RowSource& all, const ClusterOptions& options)
      : rows(all), shards(all.rows(), ShardsOf(options), options.ranks) {}
  RowSource& rows;
  RowShards shards;
};

class Clustering {
 public:
  Clustering(RowSource& rows, const ClusterOptions& options, const Backend& backend)
      : all_(rows, options),
        options_(options),
        backend_(backend),
        size_(options.count * rows.cols()),
        memory_(options.ranks, backend.threads()),
        sum_(size_, memory_),
        places_(size_ * static_cast<int64_t>(sizeof(double)), memory_),
        seen_(static_cast<size_t>(options.count)) {}

  Clusters Run() {
    Clusters result;
    ClusterStarts starts(all_.rows.rows(), options_);
    centres_ = starts.Choose(TakeRows(all_.rows, starts.sample()), backend_);
    std::vector<int64_t> before;
    Random random(options_.seed, kBatchStream);
    while (result.iterations < options_.iterations) {
      if (all_.shards.Any(options_.stop_requested && options_.stop_requested())) {
        return result;
      }
      double mean_distance = 0;
      if (options_.batch > 0 && options_.batch < all_.rows.rows()) {
        std::vector<int64_t> drawn = DrawDifferent(options_.batch, all_.rows.rows(), random);
        std::sort(drawn.begin(), drawn.end());
        const Matrix some = TakeRows(all_.rows, drawn);
        MatrixRows source(some.view());
        const SharedRows batch(source, options_);
        const Assignment assignment = Assign(batch);
        MoveTowards(batch, assignment, SizesOf(batch, assignment));
        mean_distance = MeanOf(batch, assignment);
      } else {
        Assignment assignment = Assign(all_);
        if (!all_.shards.Any(assignment.centre != before)) {
          break;
        }
        std::vector<int64_t> sizes = SizesOf(all_, assignment);
        FillEmpty(assignment, sizes);
        MoveTo(all_, assignment, sizes);
        mean_distance = MeanOf(all_, assignment);
        before = std::move(assignment.centre);
      }
      ++result.iterations;
      if (options_.progress) {
        options_.progress(result.iterations, mean_distance);
      }
    }
    result.mean_distance = MeanOf(all_, Assign(all_));
    result.centres = std::move(centres_);
    result.complete = true;
    return result;
  }

 private:
  Assignment Assign(const SharedRows& some) const {
    return AssignRows(some.rows, some.shards, centres_, MetricOf(options_.kind), backend_);
  }

  static double MeanOf(const SharedRows& some, const Assignment& assignment) {
    const std::vector<double> sums = some.shards.SumsOf(assignment.distance);
    return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(some.rows.rows());
  }

  // Rows of every center, of all ranks.
  std::vector<int64_t> SizesOf(const SharedRows& some, const Assignment& assignment) const {
    std::vector<int64_t> own(static_cast<size_t>(options_.count));
    for (const int64_t centre : assignment.centre) {
      ++own[static_cast<size_t>(centre)];
    }
    const std::vector<int64_t> all = some.shards.Gather(own);
    std::vector<int64_t> sizes(own.size());
    for (size_t i = 0; i < all.size(); ++i) {
      sizes[i % sizes.size()] += all[i];
    }
    return sizes;
  }

  struct Farthest {
    double distance;
    int64_t row;
    int64_t centre;
  };

  // This rank's farthest row of each center that has other rows; the first of equals, none where there is none.
  std::vector<Farthest> FarthestOf(const Assignment& assignment, const std::vector<int64_t>& sizes) const {
    std::vector<Farthest> farthest;
    for (size_t i = 0; i < assignment.distance.size(); ++i) {
      if (sizes[static_cast<size_t>(assignment.centre[i])] > 1 &&
          (farthest.empty() || assignment.distance[i] > farthest[0].distance)) {
        farthest = {
            {assignment.distance[i], all_.shards.own_rows().begin + static_cast<int64_t>(i), assignment.centre[i]}};
      }
    }
    return farthest;
  }

  void FillEmpty(Assignment& assignment, std::vector<int64_t>& sizes) const {
    const IndexRange own = all_.shards.own_rows();
    for (int64_t empty = 0; empty < options_.count; ++empty) {
      if (sizes[static_cast<size_t>(empty)] > 0) {
        continue;
      }
      const std::vector<Farthest> of_ranks = all_.shards.Gather(FarthestOf(assignment, sizes));
      const Farthest farthest =
          *std::max_element(of_ranks.begin(), of_ranks.end(),
                            [](const Farthest& a, const Farthest& b) { return a.distance < b.distance; });
      if (own.begin <= farthest.row && farthest.row < own.end) {
        assignment.centre[static_cast<size_t>(farthest.row - own.begin)] = empty;
        assignment.distance[static_cast<size_t>(farthest.row - own.begin)] = 0;
      }
      --sizes[static_cast<size_t>(farthest.centre)];
      sizes[static_cast<size_t>(empty)] = 1;
    }
  }

  // Sums of the rows of every center, count × columns.
  std::vector<double> SumsOf(const SharedRows& some, const Assignment& assignment) {
    std::vector<double> sums(static_cast<size_t>(size_));
    const int64_t first = some.shards.own_rows().begin;
    places_.GiveAll();
    const std::vector<double*> terms = SumShards<double>(some.shards.own_shards(), size_, places_, [&](int64_t shard) {
      const IndexRange range = some.shards.RowsOf(shard);
      std::fill(sums.begin(), sums.end(), 0.0);
      AddToCentres(some.rows, range.begin, range.end, assignment.centre.data() + (range.begin - first), sums.data(),
                   backend_.threads());
      return ScaledArray<double>{sums.data()};
    });
    sum_.Sum<double>(some.shards.count(), terms, sums.data());
    return sums;
  }

  // Medians of the rows of every center. A rank finds those of centers that follow one another and have about its share
  // of the rows.
  std::vector<double> MediansOf(const SharedRows& some, const Assignment& assignment,
                                const std::vector<int64_t>& sizes) const {
    const std::vector<int64_t> centre_of = some.shards.Gather(assignment.centre);
    std::vector<std::vector<int64_t>> members(sizes.size());
    for (size_t i = 0; i < centre_of.size(); ++i) {
      members[static_cast<size_t>(centre_of[i])].push_back(static_cast<int64_t>(i));
    }
    std::vector<double> medians;
    int64_t rows_before = 0;
    for (size_t j = 0; j < sizes.size(); ++j) {
      if (std::min(sum_.size() * rows_before / some.rows.rows(), sum_.size() - 1) == sum_.rank()) {
        AppendMedians(TakeRows(some.rows, members[j]), medians);
      }
      rows_before += sizes[j];
    }
    return some.shards.Gather(medians);
  }

  // Appends the median of every column; 0 where there are no rows.
  static void AppendMedians(const Matrix& rows, std::vector<double>& medians) {
    std::vector<double> values(static_cast<size_t>(rows.rows()));
    DispatchFloat(rows.dtype(), [&]<class T>(T) {
      for (int64_t f = 0; f < rows.cols(); ++f) {
        for (int64_t i = 0; i < rows.rows(); ++i) {
          values[static_cast<size_t>(i)] = static_cast<double>(rows.Row<T>(i)[f]);
        }
        medians.push_back(values.empty() ? 0 : MedianOf(values));
        StopPoint();
      }
    });
  }

  // center += share × (middle of its rows - center)
  void Move(const SharedRows& some, const Assignment& assignment, const std::vector<int64_t>& sizes,
            const std::function<double(size_t centre)>& share) {
    const bool means = options_.kind == ClusterKind::kMeans;
    const std::vector<double> middles = means ? SumsOf(some, assignment) : MediansOf(some, assignment, sizes);
    for (size_t j = 0; j < sizes.size(); ++j) {
      if (sizes[j] == 0) {
        continue;
      }
      const double by = share(j);
      const double divisor = means ? static_cast<double>(sizes[j]) : 1;
      DispatchFloat(centres_.dtype(), [&]<class T>(T) {
        T* const centre = centres_.Row<T>(static_cast<int64_t>(j));
        const double* const middle = middles.data() + static_cast<int64_t>(j) * centres_.cols();
        for (int64_t f = 0; f < centres_.cols(); ++f) {
          const auto from = static_cast<double>(centre[f]);
          const double to = middle[f] / divisor;
          centre[f] = static_cast<T>(by == 1 ? to : from + by * (to - from));
        }
      });
    }
  }

  void MoveTo(const SharedRows& some, const Assignment& assignment, const std::vector<int64_t>& sizes) {
    Move(some, assignment, sizes, [](size_t) { return 1.0; });
  }

  void MoveTowards(const SharedRows& some, const Assignment& assignment, const std::vector<int64_t>& sizes) {
    Move(some, assignment, sizes, [&](size_t centre) {
      seen_[centre] += sizes[centre];
      return static_cast<double>(sizes[centre]) / static_cast<double>(seen_[centre]);
    });
  }

  SharedRows all_;
  const ClusterOptions& options_;
  const Backend& backend_;
  int64_t size_;  // of all centers
  RankMemory memory_;
  RankSum sum_;
  PlacePool places_;
  Matrix centres_;
  std::vector<int64_t> seen_;  // rows of batches that each center had
};

}  // namespace

void RequireClusters(int64_t rows, DType dtype, int64_t count) {
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("centers are means of rows in f4 or f8, not {}", DTypeName(dtype)),
                {.remedy = "Convert the rows first."});
  }
  if (count < 1 || count > rows) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} centers of {} rows", count, rows),
                {.remedy = fmt::format("Ask for 1 to {}.", rows)});
  }
}

void AddToCentres(RowSource& rows, int64_t begin, int64_t end, const int64_t* centre, double* sums, int threads) {
  for (int64_t first = begin; first < end; first += kRowsMapped) {
    const int64_t count = std::min(kRowsMapped, end - first);
    const ConstMatrixView block = rows.Rows(first, count);
    DispatchFloat(rows.dtype(), [&]<class T>(T) {
      RunParts(threads, block.cols, [&](int64_t first_column, int64_t last_column) {
        for (int64_t i = 0; i < count; ++i) {
          const T* const row = block.Row<T>(i);
          double* const to = sums + centre[first - begin + i] * block.cols;
          for (int64_t f = first_column; f < last_column; ++f) {
            to[f] += static_cast<double>(row[f]);
          }
        }
      });
    });
    rows.Release(first, count);
    StopPoint();
  }
}

double MedianOf(std::vector<double>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  const double upper = *middle;
  return values.size() % 2 == 1 ? upper : (*std::max_element(values.begin(), middle) + upper) / 2;
}

Clusters FindClusters(RowSource& rows, const ClusterOptions& options, const Backend& backend) {
  RequireClusters(rows.rows(), rows.dtype(), options.count);
  return Clustering(rows, options, backend).Run();
}

}  // namespace lamina
