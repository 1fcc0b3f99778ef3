// The product of a layer's pass with another finish.
#include "lamina/backend/cpu/reductions.h"

#include <cmath>
#include <vector>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/scratch.h"
#include "lamina/base/team.h"

namespace lamina::cpu {
namespace {

template <class T>
class TileNearSearch final : public NearSearch {
 public:
  TileNearSearch(const LayerPlanRequest& request, const PassPlan& plan)
      : search_(Kernels<T>().synapses[static_cast<size_t>(request.layer.synapse)].near),
        budget_(plan.budget),
        scratch_(
            ScratchFor(request.layer.outputs, request.max_batch, request.layer.inputs, Kernels<T>().shape, budget_),
            0) {}

  void Search(const NearArgs& args) noexcept override { search_({&args, scratch_.get(), budget_}); }

 private:
  void (*search_)(const NearTask<T>&) noexcept;
  CacheBudget budget_;
  ScratchBuffer<T> scratch_;
};

// Threads take ranges of rows of the triangle, all of one area, and pack the columns that a range needs.
template <class T>
class TileGramSum final : public GramSum {
 public:
  TileGramSum(const GramRequest& request, int threads)
      : add_(KernelFor(request.precision)), budget_(MachineBudget(static_cast<int64_t>(sizeof(T)))) {
    for (int thread = 0; thread < threads; ++thread) {
      scratch_.emplace_back(ScratchFor(request.columns, request.columns, request.rows, Kernels<T>().shape, budget_), 0);
    }
  }

  void Add(ConstMatrixView h, MatrixView gram) noexcept override {
    const auto threads = static_cast<int>(std::ssize(scratch_));
    const int64_t ranges = threads == 1 ? 1 : kRangesOfThread * threads;
    const auto begin_of = [&](int64_t range) {
      return std::llround(static_cast<double>(h.cols) *
                          std::sqrt(static_cast<double>(range) / static_cast<double>(ranges)));
    };
    RunTeam(threads, [&](Team team) {
      team.Barrier();  // Share() wants one
      team.Share(ranges, 0, [&](int64_t first, int64_t last) {
        for (int64_t range = first; range < last; ++range) {
          add_({&h, &gram, begin_of(range), begin_of(range + 1), scratch_[static_cast<size_t>(team.thread)].get(),
                budget_});
        }
      });
    });
  }

 private:
  using Kernel = void (*)(const GramTask<T>&) noexcept;

  static constexpr int64_t kRangesOfThread = 2;  // more, and packing costs more than waiting for the last

  static Kernel KernelFor(Precision precision) {
    if constexpr (std::is_same_v<T, float>) {
      if (precision == Precision::kBFloat16) {
        const bool pairs = ApplyInstructionSets().used.bf16_products && BFloat16Kernels().pairs.gram != nullptr;
        return (pairs ? BFloat16Kernels().pairs : BFloat16Kernels().widened).gram;
      }
    }
    return Kernels<T>().gram;
  }

  Kernel add_;
  CacheBudget budget_;
  std::vector<ScratchBuffer<T>> scratch_;  // one a thread
};

bool AreTiled(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

}  // namespace

std::unique_ptr<NearSearch> MakeNearSearch(const LayerPlanRequest& request, const PassPlan& plan) {
  if (!AreTiled(request.dtype)) {
    return nullptr;
  }
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<NearSearch> {
    return std::make_unique<TileNearSearch<T>>(request, plan);
  });
}

std::unique_ptr<GramSum> MakeGramSum(const GramRequest& request, int threads) {
  if (!AreTiled(request.dtype)) {
    return nullptr;
  }
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<GramSum> {
    return std::make_unique<TileGramSum<T>>(request, threads);
  });
}

}  // namespace lamina::cpu
