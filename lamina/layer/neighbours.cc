// A walk over blocks of rows of both matrices. On a backend that can, no distance is stored but those that are near.
#include "lamina/layer/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lamina/backend/device_reductions.h"
#include "lamina/backend/reductions.h"
#include "lamina/backend/staged_layer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"
#include "lamina/layer/near_lists.h"

namespace lamina {
namespace {

constexpr int64_t kBlockRows = 512;  // of either matrix, whose distances go to a block
constexpr int64_t kLists_bytes = 64 << 20;
constexpr double kTellEvery_seconds = 0.2;

// Of integers the sums, which are exact.
bool ReadsSums(DType dtype) { return IsInteger(dtype); }

// l2 by its square: the same order, without a root and the ties that it makes.
Synapse Compared(Synapse metric) { return metric == Synapse::kL2 ? Synapse::kL2Squared : metric; }

DType ComparedType(DType dtype) { return ReadsSums(dtype) ? SumType(dtype) : OutputType(dtype); }

struct NeighbourWork {
  RowSource& x;
  RowSource& y;
  const NeighbourOptions& options;
  const Backend& backend;
  const NeighbourOutput& out;
  const SliceCallbacks& callbacks;
};

LayerPlanRequest SizesOf(const NeighbourWork& work, int64_t x_rows, int64_t y_rows) {
  LayerPlanRequest request;
  request.layer = {work.x.cols(), std::min(y_rows, work.y.rows()), Compared(work.options.metric), Activation(),
                   /*bias=*/false};
  request.dtype = work.x.dtype();
  request.max_batch = std::min(x_rows, std::max<int64_t>(1, work.x.rows()));
  return request;
}

// Distances of some rows to some others, into the lists. `list`: that of the first row.
template <class T, bool kLargest>
class Comparison {
 public:
  virtual ~Comparison() = default;
  virtual void Compare(ConstMatrixView x, ConstMatrixView y, int64_t y_begin, int64_t list) = 0;
  // Whether what is near is kept until Collect(): rows of x then meet all of y before the next ones do.
  virtual bool keeps_lists() const { return false; }
  virtual void Collect() {}
  int64_t x_rows() const { return x_rows_; }  // the most of a call
  int64_t y_rows() const { return y_rows_; }

 protected:
  using Lists = NearLists<T, kLargest>;
  Comparison(int64_t x_rows, int64_t y_rows, Lists& lists) : lists_(lists), x_rows_(x_rows), y_rows_(y_rows) {}
  Lists& lists_;

 private:
  int64_t x_rows_;
  int64_t y_rows_;
};

// By a layer, whose results go to a block that stays in cache: any backend, any type, few rows.
template <class T, bool kLargest>
class LayerComparison final : public Comparison<T, kLargest> {
 public:
  LayerComparison(const NeighbourWork& work, NearLists<T, kLargest>& lists)
      : Comparison<T, kLargest>(kBlockRows, kBlockRows, lists),
        threads_(work.backend.threads()),
        sums_(ReadsSums(work.x.dtype())),
        layer_(work.backend, RequestFor(work)),
        block_(kBlockRows, kBlockRows, DTypeOf<T>()) {}

  void Compare(ConstMatrixView x, ConstMatrixView y, int64_t y_begin, int64_t list) override {
    ForwardArgs args;
    args.x = x;
    args.weights = y;
    MatrixView distances = block_.view().Rows(0, x.rows);
    distances.cols = y.rows;
    (sums_ ? args.sums : args.a) = distances;
    layer_.Forward(args);
    RunParts(threads_, x.rows, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        this->lists_.AddAll(list + i, {distances.Row<T>(i), static_cast<size_t>(y.rows)}, y_begin);
      }
    });
  }

 private:
  static LayerPlanRequest RequestFor(const NeighbourWork& work) {
    LayerPlanRequest request = SizesOf(work, kBlockRows, kBlockRows);
    request.any_slicing = true;
    if (IsInteger(request.dtype)) {
      request.largest_x = LargestMagnitude(work.x);
      request.largest_w = LargestMagnitude(work.y);
    }
    return request;
  }

  int threads_;
  bool sums_;
  StagedLayer layer_;
  Matrix block_;
};

// By a backend that compares with the limits itself. Every thread takes pieces of x of its own.
template <class T, bool kLargest>
class SearchComparison final : public Comparison<T, kLargest> {
 public:
  // Null where the backend cannot, and where there are too few rows of x for all threads.
  static std::unique_ptr<Comparison<T, kLargest>> Make(const NeighbourWork& work, NearLists<T, kLargest>& lists) {
    const auto* const backend = dynamic_cast<const Reduces*>(&work.backend);
    const int threads = work.backend.threads();
    if (backend == nullptr || work.x.rows() < kLeastPiece * threads) {
      return nullptr;
    }
    const int64_t y_rows =
        std::clamp(kBlock_bytes / std::max<int64_t>(1, work.y.cols() * DTypeSize_bytes(work.y.dtype())), kBlockRows,
                   kMostBlockRows);
    std::vector<std::unique_ptr<NearSearch>> searches;
    for (int thread = 0; thread < threads; ++thread) {
      searches.push_back(backend->PrepareNear(SizesOf(work, kPiece, y_rows)));
      if (searches.back() == nullptr) {
        return nullptr;
      }
    }
    return std::unique_ptr<Comparison<T, kLargest>>(new SearchComparison(y_rows, lists, std::move(searches)));
  }

  void Compare(ConstMatrixView x, ConstMatrixView y, int64_t y_begin, int64_t list) override {
    const auto threads = static_cast<int>(std::ssize(searches_));
    const int64_t equal = (x.rows + kPiecesOfThread * threads - 1) / (kPiecesOfThread * threads);
    const int64_t piece = std::clamp((equal + kLeastPiece - 1) / kLeastPiece * kLeastPiece, kLeastPiece, kPiece);
    RunTeam(threads, [&](Team team) {
      team.Barrier();  // Share() wants one
      team.Share((x.rows + piece - 1) / piece, 0, [&](int64_t first, int64_t last) {
        for (int64_t begin = first * piece; begin < std::min(last * piece, x.rows); begin += piece) {
          Found found{&this->lists_, list + begin, y_begin};
          searches_[static_cast<size_t>(team.thread)]->Search({x.Rows(begin, std::min(piece, x.rows - begin)), y,
                                                               this->lists_.limits() + list + begin, &Found::Add,
                                                               &found});
        }
      });
    });
  }

 private:
  struct Found {
    NearLists<T, kLargest>* lists;
    int64_t list;
    int64_t y_begin;

    static void Add(void* context, int64_t row, int64_t output, double sum) {
      const Found& to = *static_cast<const Found*>(context);
      to.lists->Add(to.list + row, static_cast<T>(sum), to.y_begin + output);
    }
  };

  static constexpr int64_t kLeastPiece = 48;  // fills the tiles of all instruction sets
  static constexpr int64_t kPiece = 480;      // packed, of a hundred columns they stay in the second-level cache
  static constexpr int64_t kPiecesOfThread = 4;
  static constexpr int64_t kBlock_bytes = 4 << 20;
  static constexpr int64_t kMostBlockRows = 16384;

  SearchComparison(int64_t y_rows, NearLists<T, kLargest>& lists, std::vector<std::unique_ptr<NearSearch>> searches)
      : Comparison<T, kLargest>(kPiece * kPiecesOfThread * std::ssize(searches), y_rows, lists),
        searches_(std::move(searches)) {}

  std::vector<std::unique_ptr<NearSearch>> searches_;  // one a thread
};

// By a device that keeps the lists itself.
template <class T, bool kLargest>
class KeptComparison final : public Comparison<T, kLargest> {
 public:
  // Null where the backend cannot.
  static std::unique_ptr<Comparison<T, kLargest>> Make(const NeighbourWork& work, NearLists<T, kLargest>& lists) {
    const auto* const backend = dynamic_cast<const ReducesOnDevice*>(&work.backend);
    if (backend == nullptr) {
      return nullptr;
    }
    const int64_t y_rows =
        std::max(kBlock_bytes / std::max<int64_t>(1, work.y.cols() * DTypeSize_bytes(work.y.dtype())), kBlockRows);
    const int64_t x_rows = std::clamp(kLists_bytes / lists.Size_bytes(work.options.k), kLeastXRows, kMostXRows);
    const LayerPlanRequest request = SizesOf(work, x_rows, y_rows);
    std::unique_ptr<NearestLists> kept = backend->PrepareNearest(request, work.options.k);
    if (kept == nullptr) {
      return nullptr;
    }
    return std::unique_ptr<Comparison<T, kLargest>>(
        new KeptComparison(request.max_batch, y_rows, work.options.k, lists, std::move(kept)));
  }

  void Compare(ConstMatrixView x, ConstMatrixView y, int64_t y_begin, int64_t /*list*/) override {
    if (y_begin == 0) {
      kept_->Start(x);
      rows_ = x.rows;
    }
    kept_->Add(y, y_begin);
  }

  bool keeps_lists() const override { return true; }
  void Collect() override {
    kept_->Finish(indices_.view().Rows(0, rows_), sums_.view().Rows(0, rows_));
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t j = 0; j < indices_.cols() && indices_.Row<int64_t>(i)[j] != NearestLists::kNone; ++j) {
        this->lists_.Add(i, sums_.Row<T>(i)[j], indices_.Row<int64_t>(i)[j]);
      }
    }
  }

 private:
  static constexpr int64_t kLeastXRows = 1024;  // fill a GPU
  static constexpr int64_t kMostXRows = 8192;
  static constexpr int64_t kBlock_bytes = 64 << 20;

  KeptComparison(int64_t x_rows, int64_t y_rows, int64_t k, NearLists<T, kLargest>& lists,
                 std::unique_ptr<NearestLists> kept)
      : Comparison<T, kLargest>(x_rows, y_rows, lists),
        kept_(std::move(kept)),
        indices_(x_rows, k, DType::kI64),
        sums_(x_rows, k, DTypeOf<T>()) {}

  std::unique_ptr<NearestLists> kept_;
  Matrix indices_;
  Matrix sums_;
  int64_t rows_ = 0;
};

template <class T, bool kLargest>
std::unique_ptr<Comparison<T, kLargest>> MakeComparison(const NeighbourWork& work, NearLists<T, kLargest>& lists) {
  if constexpr (std::is_floating_point_v<T>) {
    if (auto kept = KeptComparison<T, kLargest>::Make(work, lists)) {
      return kept;
    }
    if (auto search = SearchComparison<T, kLargest>::Make(work, lists)) {
      return search;
    }
  }
  return std::make_unique<LayerComparison<T, kLargest>>(work, lists);
}

template <class T, bool kLargest>
class NeighbourWalk {
 public:
  explicit NeighbourWalk(const NeighbourWork& work) : work_(work), comparison_(MakeComparison(work, lists_)) {}

  bool Run() {
    const int64_t step = comparison_->x_rows();
    const int64_t most = kLists_bytes / lists_.Size_bytes(work_.options.k);
    const int64_t rows_at_once = comparison_->keeps_lists() ? step : std::max(step, most / step * step);
    for (int64_t begin = 0; begin < work_.x.rows(); begin += rows_at_once) {
      const int64_t count = std::min(rows_at_once, work_.x.rows() - begin);
      if (!CompareRows(begin, count)) {
        return false;
      }
      Store(begin, count);
    }
    return true;
  }

 private:
  bool CompareRows(int64_t x_begin, int64_t x_count) {
    lists_.Start(x_count, work_.options.k);
    const int64_t y_rows = comparison_->y_rows();
    const int64_t x_rows = comparison_->x_rows();
    for (int64_t y_begin = 0; y_begin < work_.y.rows(); y_begin += y_rows) {
      const int64_t y_count = std::min(y_rows, work_.y.rows() - y_begin);
      const ConstMatrixView y = work_.y.Rows(y_begin, y_count);
      for (int64_t begin = 0; begin < x_count; begin += x_rows) {
        const int64_t count = std::min(x_rows, x_count - begin);
        comparison_->Compare(work_.x.Rows(x_begin + begin, count), y, y_begin, begin);
        Tell(static_cast<double>(count) * static_cast<double>(y_count));
        if (work_.callbacks.stop_requested && work_.callbacks.stop_requested()) {
          return false;
        }
      }
      work_.y.Release(y_begin, y_count);
    }
    comparison_->Collect();
    work_.x.Release(x_begin, x_count);
    return true;
  }

  void Tell(double pairs) {
    done_ += pairs;
    if (!work_.callbacks.progress || since_told_.Elapsed_seconds() < kTellEvery_seconds) {
      return;
    }
    since_told_.Restart();
    const double seconds = watch_.Elapsed_seconds();
    const double share = done_ / (static_cast<double>(work_.x.rows()) * static_cast<double>(work_.y.rows()));
    work_.callbacks.progress(
        {share, seconds, seconds / share - seconds, done_ * static_cast<double>(work_.x.cols()) / seconds});
  }

  void Store(int64_t begin, int64_t count) {
    const bool root = work_.options.metric == Synapse::kL2;
    for (int64_t i = 0; i < count; ++i) {
      const std::span<const Near<T>> near = lists_.Finish(i);
      if (std::ssize(near) < work_.options.k) {
        throw Error(ErrorCode::kBadData,
                    fmt::format("row {} of x (counted from 0) has only {} distances that are finite numbers",
                                work_.options.first_row + begin + i, near.size()),
                    {.remedy = "Leave out rows that are not finite."});
      }
      auto* const indices = work_.out.indices.template Row<int64_t>(begin + i);
      for (size_t j = 0; j < near.size(); ++j) {
        indices[j] = near[j].index;
        if (!work_.out.distances.empty()) {
          StoreDistance(near[j].distance, root, begin + i, j);
        }
      }
    }
    if (work_.out.finished) {
      work_.out.finished(begin, count);
    }
  }

  void StoreDistance(T distance, bool root, int64_t row, size_t j) {
    if (!root) {
      work_.out.distances.template Row<T>(row)[j] = distance;
    } else {
      DispatchFloat(work_.out.distances.dtype, [&]<class D>(D) {
        work_.out.distances.template Row<D>(row)[j] = static_cast<D>(std::sqrt(static_cast<double>(distance)));
      });
    }
  }

  const NeighbourWork& work_;
  NearLists<T, kLargest> lists_;
  std::unique_ptr<Comparison<T, kLargest>> comparison_;
  double done_ = 0;  // pairs
  Stopwatch watch_;
  Stopwatch since_told_;
};

template <class T>
bool Walk(const NeighbourWork& work) {
  return work.options.metric == Synapse::kDot ? NeighbourWalk<T, true>(work).Run()
                                              : NeighbourWalk<T, false>(work).Run();
}

}  // namespace

DType NeighbourType(DType dtype, Synapse metric) {
  return ReadsSums(dtype) && metric != Synapse::kL2 ? SumType(dtype) : OutputType(dtype);
}

void RequireNeighbours(const RowSource& x, const RowSource& y, const NeighbourOptions& options) {
  if (x.cols() != y.cols() || x.dtype() != y.dtype()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x has {} columns of {} and y {} of {}: columns and types must be the same", x.cols(),
                            DTypeName(x.dtype()), y.cols(), DTypeName(y.dtype())));
  }
  const int64_t k = options.k;
  if (k < 1 || k > NeighbourOptions::kMost || k > y.rows()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} neighbours cannot be found among {} rows", k, y.rows()),
                {.remedy = fmt::format("Ask for 1 to {}.", std::min(NeighbourOptions::kMost, y.rows()))});
  }
}

bool NearestRows(RowSource& x, RowSource& y, const NeighbourOptions& options, const Backend& backend,
                 const NeighbourOutput& out, const SliceCallbacks& callbacks) {
  const NeighbourWork work{x, y, options, backend, out, callbacks};
  RequireNeighbours(x, y, options);
  switch (ComparedType(x.dtype())) {
    case DType::kF64: return Walk<double>(work);
    case DType::kI32: return Walk<int32_t>(work);
    case DType::kI64: return Walk<int64_t>(work);
    default: return Walk<float>(work);
  }
}

}  // namespace lamina
