// nanoflann's tree, with sets of results that keep whatever rounding could make one of the nearest.
#include "lamina/layer/neighbour_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nanoflann.hpp>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/stop.h"

namespace lamina {
namespace {

constexpr int64_t kLeafRows = 16;

// Sums of few terms, whatever their order and whether products are rounded, are nearer to one another than this share.
template <class T>
constexpr T kRounding = 256 * std::numeric_limits<T>::epsilon();

template <class T>
T WithRounding(T sum) {
  return sum * (1 + kRounding<T>)+16 * std::numeric_limits<T>::min();
}

// The rows as nanoflann reads them. It has no callback while it builds: reads of that time are counted.
template <class T>
class TreeRows {
 public:
  explicit TreeRows(ConstMatrixView view) : view_(view) {}
  size_t kdtree_get_point_count() const { return static_cast<size_t>(view_.rows); }
  T kdtree_get_pt(size_t row, size_t column) const {
    constexpr int64_t kReads = 1 << 20;
    if (building_ && ++reads_ % kReads == 0) {
      StopPoint();
    }
    return view_.Row<const T>(static_cast<int64_t>(row))[column];
  }
  template <class Box>
  bool kdtree_get_bbox(Box& /*box*/) const {
    return false;
  }
  void Built() { building_ = false; }

 private:
  ConstMatrixView view_;
  bool building_ = true;
  mutable int64_t reads_ = 0;
};

// All rows that are as near as the k-th, up to rounding. Cut back whenever it has doubled.
template <class T>
class NearestSet {
 public:
  using DistanceType = T;
  explicit NearestSet(int64_t k) : k_(static_cast<size_t>(k)), most_(2 * k_) {}
  bool addPoint(T sum, uint32_t row) {
    kept_.emplace_back(sum, row);
    if (kept_.size() >= most_) {
      Cut();
      most_ = std::max(2 * k_, 2 * kept_.size());
    }
    return true;
  }
  T worstDist() const { return worst_; }
  bool full() const { return true; }
  void Finish(std::vector<int64_t>& found) {
    if (kept_.size() > k_) {
      Cut();
    }
    found.clear();
    for (const auto& [sum, row] : kept_) {
      found.push_back(row);
    }
    std::sort(found.begin(), found.end());
  }

 private:
  void Cut() {
    const auto kth = kept_.begin() + static_cast<int64_t>(k_) - 1;
    std::nth_element(kept_.begin(), kth, kept_.end());
    worst_ = WithRounding(kth->first);
    std::erase_if(kept_, [&](const auto& each) { return each.first > worst_; });
  }

  size_t k_;
  size_t most_;
  T worst_ = std::numeric_limits<T>::infinity();
  std::vector<std::pair<T, uint32_t>> kept_;
};

template <class T>
class WithinSet {
 public:
  using DistanceType = T;
  WithinSet(T limit, std::vector<int64_t>& found) : limit_(WithRounding(limit)), found_(found) { found_.clear(); }
  bool addPoint(T /*sum*/, uint32_t row) {
    found_.push_back(row);
    return true;
  }
  T worstDist() const { return limit_; }
  bool full() const { return true; }

 private:
  T limit_;
  std::vector<int64_t>& found_;
};

}  // namespace

class NeighbourTree::Search {
 public:
  virtual ~Search() = default;
  virtual void MayBeNearest(const void* x, int64_t k, std::vector<int64_t>& found) const = 0;
  virtual void MayBeWithin(const void* x, double limit, std::vector<int64_t>& found) const = 0;
};

namespace {

template <class T, template <class, class, class, class> class Metric>
class KdTree final : public NeighbourTree::Search {
 public:
  explicit KdTree(ConstMatrixView view)
      : rows_(view), index_(static_cast<int>(view.cols), rows_, nanoflann::KDTreeSingleIndexAdaptorParams(kLeafRows)) {
    rows_.Built();
  }
  void MayBeNearest(const void* x, int64_t k, std::vector<int64_t>& found) const override {
    NearestSet<T> set(k);
    index_.findNeighbors(set, static_cast<const T*>(x), nanoflann::SearchParams());
    set.Finish(found);
  }
  void MayBeWithin(const void* x, double limit, std::vector<int64_t>& found) const override {
    WithinSet<T> set(static_cast<T>(limit), found);
    index_.findNeighbors(set, static_cast<const T*>(x), nanoflann::SearchParams());
    std::sort(found.begin(), found.end());
  }

 private:
  using Index = nanoflann::KDTreeSingleIndexAdaptor<Metric<T, TreeRows<T>, T, uint32_t>, TreeRows<T>>;

  TreeRows<T> rows_;
  Index index_;
};

bool AllFinite(ConstMatrixView rows) {
  return DispatchFloat(rows.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      const T* const row = rows.Row<const T>(i);
      if (!std::all_of(row, row + rows.cols, [](T number) { return std::isfinite(number); })) {
        return false;
      }
    }
    return true;
  });
}

template <class T>
std::unique_ptr<NeighbourTree::Search> MakeSearch(ConstMatrixView rows, Synapse metric) {
  if (metric == Synapse::kL1) {
    return std::make_unique<KdTree<T, nanoflann::L1_Adaptor>>(rows);
  }
  return std::make_unique<KdTree<T, nanoflann::L2_Simple_Adaptor>>(rows);
}

}  // namespace

bool NeighbourTree::Takes(ConstMatrixView rows, Synapse metric) {
  return (rows.dtype == DType::kF32 || rows.dtype == DType::kF64) && metric != Synapse::kDot && rows.cols > 0 &&
         rows.cols <= kMostColumns && rows.rows > 0 && rows.rows < std::numeric_limits<uint32_t>::max() &&
         rows.space == Space::kHost && AllFinite(rows);
}

NeighbourTree::NeighbourTree(ConstMatrixView rows, Synapse metric) : rows_(rows), metric_(metric) {
  DispatchFloat(rows.dtype, [&]<class T>(T) { search_ = MakeSearch<T>(rows, metric); });
}

NeighbourTree::~NeighbourTree() = default;

void NeighbourTree::MayBeNearest(const void* x, int64_t k, std::vector<int64_t>& found) const {
  search_->MayBeNearest(x, k, found);
}

void NeighbourTree::MayBeWithin(const void* x, double radius, std::vector<int64_t>& found) const {
  search_->MayBeWithin(x, metric_ == Synapse::kL2 ? radius * radius : radius, found);
}

// Nanoseconds of one thread on an AMD EPYC (Zen 4): docs/decisions/0048-neighbour-trees.md.
bool TreePays(int64_t queries, ConstMatrixView rows, Synapse metric, int threads) {
  if (metric == Synapse::kDot || rows.cols < 1 || rows.cols > NeighbourTree::kMostColumns || rows.rows < 1) {
    return false;
  }
  const auto n = static_cast<double>(rows.rows);
  const auto columns = static_cast<double>(rows.cols);
  const double size = n / 50000;
  const double of_all = (0.14 + 0.015 * columns) * (rows.dtype == DType::kF64 ? 2 : 1) * n;
  const double grows = metric == Synapse::kL1 ? 400 * std::pow(1.9, columns) : 430 * std::pow(1.62, columns);
  const double by_tree = std::max(1000.0, grows * std::pow(size, 0.3 + 0.055 * columns));
  const double making = (160 + 20 * columns) * n * std::pow(size, 0.22);  // on one thread, whatever the others do
  constexpr double kSurely = 1.5;
  return making + static_cast<double>(queries) * (kSurely * by_tree - of_all) / threads < 0;
}

}  // namespace lamina
