// A search for nearest rows gets distances from a layer, from a backend that compares by itself, or from a device that
// keeps the lists. For few columns there is a tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "lamina/backend/device_reductions.h"
#include "lamina/backend/reductions.h"
#include "lamina/backend/staged_layer.h"
#include "lamina/base/buffer.h"
#include "lamina/base/convert.h"
#include "lamina/base/team.h"
#include "lamina/layer/near_lists.h"
#include "lamina/layer/neighbour_tree.h"
#include "lamina/layer/neighbours.h"

namespace lamina {

inline constexpr int64_t kBlockRows = 512;  // of either matrix, whose distances go to a block
inline constexpr int64_t kLists_bytes = 64 << 20;

/// Whether sums are compared instead of distances: those of integers are exact.
inline bool ReadsSums(DType dtype) { return IsInteger(dtype); }

/// l2 by its square: the same order, without a root and the ties that it makes.
inline Synapse Compared(Synapse metric) { return metric == Synapse::kL2 ? Synapse::kL2Squared : metric; }

inline DType ComparedType(DType dtype) { return ReadsSums(dtype) ? SumType(dtype) : OutputType(dtype); }

struct NeighbourWork {
  RowSource& x;
  RowSource& y;
  const NeighbourOptions& options;
  const Backend& backend;
  const NeighbourOutput& out;
  const SliceCallbacks& callbacks;
};

inline LayerPlanRequest SizesOf(const NeighbourWork& work, int64_t x_rows, int64_t y_rows) {
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

// By a tree over y, which names those rows of y that may be near; the backend then compares with these alone. Every
// thread takes rows of x of its own.
template <class T>
class TreeComparison final : public Comparison<T, /*kLargest=*/false> {
 public:
  // Null where the backend does not compare by itself or a tree does not pay.
  static std::unique_ptr<Comparison<T, false>> Make(const NeighbourWork& work, NearLists<T, false>& lists) {
    const auto* const backend = dynamic_cast<const Reduces*>(&work.backend);
    const NeighbourTree* kept = work.options.tree;
    if (backend == nullptr || (kept == nullptr && dynamic_cast<const MatrixRows*>(&work.y) == nullptr)) {
      return nullptr;  // of a file no view of all rows stays
    }
    const ConstMatrixView rows = kept != nullptr ? kept->rows() : work.y.Rows(0, work.y.rows());
    const int threads = work.backend.threads();
    if (kept == nullptr && !(TreePays(work.x.rows(), rows, work.options.metric, threads) &&
                             NeighbourTree::Takes(rows, work.options.metric))) {
      return nullptr;
    }
    std::unique_ptr<TreeComparison> made(new TreeComparison(rows.rows, lists, work.options.k));
    if (kept == nullptr) {
      made->own_.emplace(rows, work.options.metric);
    }
    made->tree_ = kept != nullptr ? kept : &*made->own_;
    for (int thread = 0; thread < threads; ++thread) {
      made->workers_.push_back(
          {backend->PrepareNear(SizesOf(work, 1, kGathered)), Matrix(kGathered, rows.cols, rows.dtype), {}});
      if (made->workers_.back().search == nullptr) {
        return nullptr;
      }
    }
    return made;
  }

  void Compare(ConstMatrixView x, ConstMatrixView y, int64_t /*y_begin*/, int64_t list) override {
    RunTeam(static_cast<int>(std::ssize(workers_)), [&](Team team) {
      team.Barrier();  // Share() wants one
      team.Share(x.rows, 0, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          CompareRow(workers_[static_cast<size_t>(team.thread)], x.Rows(row, 1), y, list + row);
        }
      });
    });
  }

 private:
  static constexpr int64_t kRows = 2048;     // of x, before somebody asks whether to stop
  static constexpr int64_t kGathered = 256;  // rows of y compared at once

  struct Worker {
    std::unique_ptr<NearSearch> search;
    Matrix gathered;
    std::vector<int64_t> named;
  };

  struct Found {
    NearLists<T, false>* lists;
    int64_t list;
    const int64_t* named;

    static void Add(void* context, int64_t /*row*/, int64_t output, double sum) {
      const Found& to = *static_cast<const Found*>(context);
      to.lists->Add(to.list, static_cast<T>(sum), to.named[output]);
    }
  };

  TreeComparison(int64_t y_rows, NearLists<T, false>& lists, int64_t k)
      : Comparison<T, false>(kRows, y_rows, lists), k_(k) {}

  void CompareRow(Worker& worker, ConstMatrixView x, ConstMatrixView y, int64_t list) {
    tree_->MayBeNearest(x.data, k_, worker.named);
    const auto row_bytes = static_cast<size_t>(y.cols * DTypeSize_bytes(y.dtype));
    for (int64_t begin = 0; begin < std::ssize(worker.named); begin += kGathered) {
      const int64_t count = std::min(kGathered, std::ssize(worker.named) - begin);
      const int64_t* const named = worker.named.data() + begin;
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(worker.gathered.view().Rows(i, 1).data, y.Rows(named[i], 1).data, row_bytes);
      }
      Found found{&this->lists_, list, named};
      worker.search->Search(
          {x, worker.gathered.view().Rows(0, count), this->lists_.limits() + list, &Found::Add, &found});
    }
  }

  int64_t k_;
  std::optional<NeighbourTree> own_;
  const NeighbourTree* tree_ = nullptr;
  std::vector<Worker> workers_;  // one a thread
};

template <class T, bool kLargest>
std::unique_ptr<Comparison<T, kLargest>> MakeComparison(const NeighbourWork& work, NearLists<T, kLargest>& lists) {
  if constexpr (std::is_floating_point_v<T>) {
    if (auto kept = KeptComparison<T, kLargest>::Make(work, lists)) {
      return kept;
    }
    if constexpr (!kLargest) {
      if (auto tree = TreeComparison<T>::Make(work, lists)) {
        return tree;
      }
    }
    if (auto search = SearchComparison<T, kLargest>::Make(work, lists)) {
      return search;
    }
  }
  return std::make_unique<LayerComparison<T, kLargest>>(work, lists);
}

}  // namespace lamina
