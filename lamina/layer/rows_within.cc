// The tree names rows, which are gathered and compared by a layer.
#include "lamina/layer/rows_within.h"

#include <algorithm>
#include <cstring>

#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/layer/layer.h"

namespace lamina {
namespace {

constexpr int64_t kGatheredRows = 256;  // compared at once
constexpr int64_t kRowsOfPart = 512;    // of x, for each thread, before somebody asks whether to stop

// What one thread needs, and what it found for its rows.
class WithinWorker {
 public:
  WithinWorker(const NeighbourTree& tree, double radius, const Backend& backend)
      : tree_(tree),
        radius_(radius),
        layer_(RequestFor(tree), backend),
        gathered_(kGatheredRows, tree.rows().cols, tree.rows().dtype),
        distances_(1, kGatheredRows, tree.rows().dtype) {}

  void Find(ConstMatrixView x) {
    found_ = {};
    for (int64_t i = 0; i < x.rows; ++i) {
      const auto before = std::ssize(found_.indices);
      tree_.MayBeWithin(x.Rows(i, 1).data, radius_, named_);
      for (int64_t begin = 0; begin < std::ssize(named_); begin += kGatheredRows) {
        Compare(x.Rows(i, 1), begin, std::min(kGatheredRows, std::ssize(named_) - begin));
      }
      found_.counts.push_back(std::ssize(found_.indices) - before);
    }
  }

  int64_t CountNamed(ConstMatrixView x) {
    tree_.MayBeWithin(x.data, radius_, named_);
    return std::ssize(named_);
  }

  void MoveTo(RowsWithin& all) const {
    all.counts.insert(all.counts.end(), found_.counts.begin(), found_.counts.end());
    all.indices.insert(all.indices.end(), found_.indices.begin(), found_.indices.end());
    all.distances.insert(all.distances.end(), found_.distances.begin(), found_.distances.end());
  }

 private:
  static LayerPlanRequest RequestFor(const NeighbourTree& tree) {
    LayerPlanRequest request{{tree.rows().cols, kGatheredRows, tree.metric(), Activation(), /*bias=*/false},
                             tree.rows().dtype,
                             /*max_batch=*/1};
    request.any_slicing = true;
    return request;
  }

  void Compare(ConstMatrixView x, int64_t begin, int64_t count) {
    const ConstMatrixView rows = tree_.rows();
    const auto row_bytes = static_cast<size_t>(rows.cols * DTypeSize_bytes(rows.dtype));
    const int64_t* const named = named_.data() + begin;
    for (int64_t i = 0; i < count; ++i) {  // what is behind them is computed and not looked at
      std::memcpy(gathered_.view().Rows(i, 1).data, rows.Rows(named[i], 1).data, row_bytes);
    }
    layer_.Forward(x, gathered_.view(), nullptr, distances_.view());
    DispatchFloat(rows.dtype, [&]<class T>(T) {
      const T* const distances = distances_.Row<T>(0);
      for (int64_t i = 0; i < count; ++i) {
        if (distances[i] <= static_cast<T>(radius_)) {
          found_.indices.push_back(named[i]);
          found_.distances.push_back(static_cast<double>(distances[i]));
        }
      }
    });
  }

  const NeighbourTree& tree_;
  double radius_;
  Layer layer_;
  Matrix gathered_;
  Matrix distances_;
  std::vector<int64_t> named_;
  RowsWithin found_;
};

// By some rows of x: whether the tree leaves nearly all rows out.
bool NamesFew(ConstMatrixView x, const NeighbourTree& tree, WithinWorker& worker) {
  constexpr int64_t kAsked = 32;
  constexpr int64_t kShare = 32;
  const int64_t asked = std::min(kAsked, x.rows);
  int64_t named = 0;
  for (int64_t i = 0; i < asked; ++i) {
    named += worker.CountNamed(x.Rows(i * x.rows / asked, 1));
  }
  return named * kShare <= asked * (tree.rows().rows + kShare * kGatheredRows);
}

}  // namespace

std::optional<RowsWithin> FindRowsWithin(ConstMatrixView x, const NeighbourTree& tree, double radius, int threads,
                                         const Backend& one_thread) {
  if (x.cols != tree.rows().cols || x.dtype != tree.rows().dtype) {
    throw Error(ErrorCode::kInvalidArgument, "columns and types of x must be those of the tree's rows");
  }
  std::vector<WithinWorker> workers;
  workers.reserve(static_cast<size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(tree, radius, one_thread);
  }
  if (!NamesFew(x, tree, workers.front())) {
    return std::nullopt;
  }
  RowsWithin all;
  for (int64_t begin = 0; begin < x.rows; begin += kRowsOfPart * threads) {
    const ConstMatrixView part = x.Rows(begin, std::min(kRowsOfPart * threads, x.rows - begin));
    RunTeam(threads, [&](Team team) {  // a team may be smaller
      const auto worker = [&](int thread) -> WithinWorker& { return workers[static_cast<size_t>(thread)]; };
      for (int share = team.thread; share < threads; share += team.size) {
        const Team piece{share, threads};
        worker(share).Find(part.Rows(piece.Begin(part.rows), piece.End(part.rows) - piece.Begin(part.rows)));
      }
    });
    for (const WithinWorker& worker : workers) {
      worker.MoveTo(all);
    }
    StopPoint();
  }
  return all;
}

}  // namespace lamina
