// Shards are outer for what goes through the layers, inner for what is summed.
#include "lamina/cluster/overlapped_gradient.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lamina {
Verdict OverlappedGradient::Pays(const Executor& executor, DType dtype, int64_t ranks) {
  return Exchanges(SizesOf_bytes(executor.Parts(), dtype), ranks).size() > 1
             ? Verdict::Yes()
             : Verdict::No("the gradient is too small to travel in parts");
}

std::vector<OverlappedGradient::Exchange> OverlappedGradient::ExchangesOf(SentAs sent_as) {
  const std::vector<GradientPart> parts = executor_.Parts();
  std::vector<Exchange> exchanges;
  for (const IndexRange& range : Exchanges(SizesOf_bytes(parts, dtype_), ranks_.size())) {
    std::vector<GradientPart> own(parts.begin() + range.begin, parts.begin() + range.end);
    const int64_t count = std::accumulate(own.begin(), own.end(), int64_t{0},
                                          [](int64_t sum, const GradientPart& part) { return sum + part.count(); });
    exchanges.push_back({std::move(own), count, RankSum(count, memory_, sent_as)});
  }
  return exchanges;
}

OverlappedGradient::OverlappedGradient(Executor& executor, DType dtype, int threads, SentAs sent_as, int64_t rows,
                                       Communicator& ranks)
    : executor_(executor),
      dtype_(dtype),
      ranks_(ranks),
      own_memory_(&ranks, threads),
      memory_(&ranks, 1),
      exchanges_(ExchangesOf(sent_as)),
      gradient_(std::ranges::max_element(exchanges_, {}, &Exchange::count)->count * DTypeSize_bytes(dtype)),
      places_(gradient_.size_bytes(), own_memory_),
      thread_(ranks) {
  executor.KeepRows(rows);
}

void OverlappedGradient::Compute(const TrainingSteps& work, IndexRange rows, int64_t shards,
                                 std::vector<LossSums>& sums, const std::function<void()>& share) {
  try {
    DispatchFloat(dtype_, [&]<class T>(T) { ComputeIn<T>(work, rows, shards, sums, share); });
  } catch (...) {
    thread_.End();  // it works on what the caller is about to lose
    throw;
  }
}

template <class T>
void OverlappedGradient::ComputeIn(const TrainingSteps& work, IndexRange rows, int64_t shards,
                                   std::vector<LossSums>& sums, const std::function<void()>& share) {
  struct KeptShard {
    ConstMatrixView x;
    int64_t first = 0;  // of the rows that are kept
  };
  const IndexRange own = PartOf(shards, ranks_.size(), ranks_.rank());
  std::vector<KeptShard> kept;
  int64_t next = 0;
  for (int64_t shard = own.begin; shard < own.end; ++shard) {
    const IndexRange part = PartOf(rows.count(), shards, shard);
    if (part.count() == 0) {
      kept.push_back({});
      continue;
    }
    TrainingSteps alone = work;
    alone.sums = &sums[static_cast<size_t>(shard)];
    kept.push_back({executor_.Deltas(alone, rows.begin + part.begin, part.count(), next), next});
    next += part.count();
  }
  thread_.Do(share);
  places_.GiveAll();
  T* const gradient = gradient_.As<T>().data();
  for (Exchange& exchange : exchanges_) {
    std::vector<T*> terms = SumShards<T>(own, exchange.count, places_, [&](int64_t shard) {
      const KeptShard& at = kept[static_cast<size_t>(shard - own.begin)];
      T* to = gradient;
      for (const GradientPart& part : exchange.parts) {
        if (at.x.rows > 0) {
          executor_.PartGradient(part, at.x, at.first, to);
        } else {
          std::fill_n(to, part.count(), T(0));
        }
        to += part.count();
      }
      return ScaledArray<T>{gradient, static_cast<T>(at.x.rows) / static_cast<T>(rows.count())};
    });
    T* const whole = terms.empty() ? places_.At<T>(places_.Take()) : terms.front();
    thread_.Do([this, &exchange, shards, terms = std::move(terms), whole] {
      exchange.sum.Sum<T>(shards, terms, whole);
      Store(exchange, whole);
    });
  }
  thread_.Finish();
}

template <class T>
void OverlappedGradient::Store(const Exchange& exchange, const T* sum) {
  T* const gradients = static_cast<T*>(executor_.gradients().data());
  for (const GradientPart& part : exchange.parts) {
    std::copy_n(sum, part.weight_count, gradients + part.weights);
    std::copy_n(sum + part.weight_count, part.bias_count, gradients + part.bias);
    sum += part.count();
  }
}

}  // namespace lamina
