// The novelty pass in blocks. A block of rows meets all centers so far, part by part; rows with large enough sums
// leave. Once there are centers, few rows remain. They are decided in groups: a group meets the centers that the block
// has brought, then its rows meet one another.
#include "lamina/rbf/novelty.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "lamina/backend/device_reductions.h"
#include "lamina/backend/staged_layer.h"
#include "lamina/base/buffer.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

// How many rows meet how many centers in one go.
struct NoveltyBlocks {
  int64_t rows;
  int64_t centres;
};
constexpr NoveltyBlocks kCacheBlocks{512, 512};     // activations stay in cache until they are summed
constexpr NoveltyBlocks kDeviceBlocks{2048, 4096};  // which fill a GPU
constexpr int64_t kGroupRows = 64;

// The exact sum of n activations.
template <class T>
double SumOf(const T* activations, int64_t n) {
  constexpr int64_t kLanes = 8;
  std::array<double, kLanes> sums{};
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<size_t>(lane)] += AsExactTerm(static_cast<double>(activations[j + lane]));
    }
  }
  for (; j < n; ++j) {
    sums[0] += AsExactTerm(static_cast<double>(activations[j]));
  }
  double sum = 0;
  for (const double lane : sums) {
    sum += lane;
  }
  return sum;
}

// Rows of one width and type that can be appended to.
class GrowingRows {
 public:
  GrowingRows(int64_t cols, DType dtype, int64_t capacity) : rows_(capacity, cols, dtype) {}

  int64_t size() const { return size_; }
  ConstMatrixView Rows(int64_t begin, int64_t count) const { return rows_.view().Rows(begin, count); }

  void Append(ConstMatrixView row) {
    if (size_ == rows_.rows()) {
      Matrix larger(2 * size_, rows_.cols(), rows_.dtype());
      std::memcpy(larger.data(), rows_.data(), static_cast<size_t>(size_ * RowBytes()));
      rows_ = std::move(larger);
    }
    std::memcpy(rows_.view().Rows(size_, 1).data, row.data, static_cast<size_t>(RowBytes()));
    ++size_;
  }

 private:
  int64_t RowBytes() const { return rows_.cols() * DTypeSize_bytes(rows_.dtype()); }

  Matrix rows_;
  int64_t size_ = 0;
};

class NoveltyPass {
 public:
  NoveltyPass(ConstMatrixView rows, const NoveltyOptions& options, const Backend& backend)
      : rows_(rows),
        options_(options),
        threads_(backend.threads()),
        sums_(SumsOf(rows, options, backend)),
        blocks_(sums_ == nullptr ? kCacheBlocks : kDeviceBlocks),
        centres_(rows.cols, rows.dtype, blocks_.centres),
        block_(std::min(blocks_.rows, std::max<int64_t>(1, rows.rows)), rows.cols, rows.dtype),
        layer_request_(sums_ == nullptr ? RequestOf(rows, options, kCacheBlocks)
                                        : RequestOf(rows, options, {kGroupRows, kGroupRows})),
        activations_(layer_request_.max_batch, layer_request_.layer.outputs, rows.dtype),
        layer_(backend, layer_request_) {}

  NoveltyResult Run() {
    for (int64_t begin = 0; begin < rows_.rows; begin += blocks_.rows) {
      const int64_t count = std::min(blocks_.rows, rows_.rows - begin);
      DecideBlock(begin, count);
      result_.rows = begin + count;
      if (options_.progress) {
        options_.progress(result_.rows, centres_.size());
      }
      if (centres_.size() > options_.most_centres || (options_.stop_requested && options_.stop_requested())) {
        return std::move(result_);
      }
    }
    result_.complete = true;
    return std::move(result_);
  }

 private:
  // A row of the block that may still become a center.
  struct Candidate {
    int64_t row = 0;  // of all rows
    double sum = 0;   // over the centers that it has met
  };

  static LayerPlanRequest RequestOf(ConstMatrixView rows, const NoveltyOptions& options, const NoveltyBlocks& blocks) {
    LayerPlanRequest request;
    request.layer = {rows.cols, blocks.centres, options.synapse, options.activation, /*bias=*/false};
    request.dtype = rows.dtype;
    request.max_batch = blocks.rows;
    request.any_slicing = true;  // whoever meets whom in which call, the activation has the same bits
    return request;
  }

  // Null where the backend has no such sums.
  static std::unique_ptr<ActivationSums> SumsOf(ConstMatrixView rows, const NoveltyOptions& options,
                                                const Backend& backend) {
    const auto* const reduces = dynamic_cast<const ReducesOnDevice*>(&backend);
    NoveltyBlocks blocks = kDeviceBlocks;
    blocks.rows = std::min(blocks.rows, std::max<int64_t>(1, rows.rows));
    return reduces == nullptr ? nullptr : reduces->PrepareActivationSums(RequestOf(rows, options, blocks));
  }

  MatrixView Activate(ConstMatrixView x, ConstMatrixView centres) {
    MatrixView out = activations_.view().Rows(0, x.rows);
    out.cols = centres.rows;
    ForwardArgs args;
    args.x = x;
    args.weights = centres;
    args.a = out;
    layer_.Forward(args);
    result_.pairs_computed += x.rows * centres.rows;
    return out;
  }

  ConstMatrixView Gather(const Candidate* candidates, int64_t count) {
    const int64_t row_bytes = rows_.cols * DTypeSize_bytes(rows_.dtype);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(block_.view().Rows(i, 1).data, rows_.Rows(candidates[i].row, 1).data, static_cast<size_t>(row_bytes));
    }
    return block_.view().Rows(0, count);
  }

  // The candidates, which `x` holds, meet centers [begin, begin + count); adds to their sums.
  void Meet(ConstMatrixView x, Candidate* candidates, int64_t begin, int64_t count) {
    if (sums_ != nullptr) {
      MeetOnDevice(x, candidates, begin, count);
      return;
    }
    const MatrixView activations = Activate(x, centres_.Rows(begin, count));
    RunParts(x.rows * count >= kWorthThreads ? threads_ : 1, x.rows, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        DispatchFloat(rows_.dtype, [&]<class T>(T) { candidates[i].sum += SumOf(activations.Row<T>(i), count); });
      }
    });
  }

  void MeetOnDevice(ConstMatrixView x, Candidate* candidates, int64_t begin, int64_t count) {
    sums_->Append(centres_.Rows(appended_, centres_.size() - appended_));
    appended_ = centres_.size();
    row_sums_.assign(static_cast<size_t>(x.rows), 0.0);
    sums_->Add(x, begin, count, row_sums_.data());
    result_.pairs_computed += x.rows * count;
    for (int64_t i = 0; i < x.rows; ++i) {
      candidates[i].sum += row_sums_[static_cast<size_t>(i)];
    }
  }

  bool MayBecomeCentre(const Candidate& candidate) const { return candidate.sum < options_.overlap; }

  void DropDecided(std::vector<Candidate>& candidates) const {
    std::erase_if(candidates, [&](const Candidate& candidate) { return !MayBecomeCentre(candidate); });
  }

  void DecideBlock(int64_t begin, int64_t count) {
    std::vector<Candidate> candidates;
    for (int64_t row = begin; row < begin + count; ++row) {
      candidates.push_back({row, 0.0});
    }
    ConstMatrixView x = rows_.Rows(begin, count);
    const int64_t before = centres_.size();
    for (int64_t part = 0; part < before && !candidates.empty(); part += blocks_.centres) {
      Meet(x, candidates.data(), part, std::min(blocks_.centres, before - part));
      const int64_t met = std::ssize(candidates);
      DropDecided(candidates);
      if (std::ssize(candidates) < met) {
        x = Gather(candidates.data(), std::ssize(candidates));
      }
      StopPoint();
    }
    const int64_t found = std::ssize(result_.centres);
    for (int64_t group = 0; group < std::ssize(candidates); group += kGroupRows) {
      DecideGroup({candidates.begin() + group,
                   candidates.begin() + std::min<int64_t>(group + kGroupRows, std::ssize(candidates))},
                  before);
      StopPoint();
    }
    // A single loop looks for each row at the centers before it.
    auto centre = result_.centres.begin() + found;
    for (int64_t row = begin, known = before; row < begin + count; ++row) {
      result_.pairs += known;
      if (centre != result_.centres.end() && *centre == row) {
        ++known;
        ++centre;
      }
    }
  }

  // Rows that have met the first `met` centers, against those that came since, and one after the other.
  void DecideGroup(std::vector<Candidate> group, int64_t met) {
    ConstMatrixView x = Gather(group.data(), std::ssize(group));
    const int64_t before = centres_.size();
    if (before > met) {
      Meet(x, group.data(), met, before - met);
      DropDecided(group);
      x = Gather(group.data(), std::ssize(group));
    }
    if (group.empty()) {
      return;
    }
    const MatrixView between = Activate(x, x);
    for (size_t i = 0; i < group.size(); ++i) {
      if (!MayBecomeCentre(group[i])) {
        continue;
      }
      centres_.Append(rows_.Rows(group[i].row, 1));
      result_.centres.push_back(group[i].row);
      DispatchFloat(rows_.dtype, [&]<class T>(T) {
        for (size_t later = i + 1; later < group.size(); ++later) {
          group[later].sum += AsExactTerm(static_cast<double>(between.Row<T>(static_cast<int64_t>(later))[i]));
        }
      });
    }
  }

  static constexpr int64_t kWorthThreads = 1 << 15;

  ConstMatrixView rows_;
  const NoveltyOptions& options_;
  int threads_;
  std::unique_ptr<ActivationSums> sums_;  // of a device that reduces, else null
  NoveltyBlocks blocks_;
  GrowingRows centres_;
  int64_t appended_ = 0;          // centers that the device has
  std::vector<double> row_sums_;  // from there
  Matrix block_;
  LayerPlanRequest layer_request_;  // what candidates meet centers in, or with a device only one another
  Matrix activations_;
  StagedLayer layer_;
  NoveltyResult result_;
};

}  // namespace

NoveltyResult FindCentres(ConstMatrixView rows, const NoveltyOptions& options, const Backend& backend) {
  if (!IsDistance(options.synapse) || !(options.activation.radius() > 0)) {
    throw Error(ErrorCode::kInvalidArgument, "centers need a distance with a triangle or gaussian",
                {.value = fmt::format("{}-{}", SynapseName(options.synapse), options.activation.Text())});
  }
  if (!(options.overlap > 0) || !(options.overlap <= NoveltyOptions::kLargestOverlap)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the overlap must be above 0 and at most {:g}", NoveltyOptions::kLargestOverlap),
                {.value = fmt::format("{}", options.overlap)});
  }
  return NoveltyPass(rows, options, backend).Run();
}

}  // namespace lamina
