// Gradients of shards, their sum by slices, and the step. What a rank sums alone are the nodes of the tree that lie in
// its shards (one, where the ranks are a power of two); of these every rank sends each other rank its slice.
#include "lamina/cluster/sharded_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kFresh = -1;    // the place of a gradient that is still where the executor put it
constexpr int64_t kBlock = 1024;  // elements that are scaled before they are added

void Add(LossSums& to, const LossSums& more) {
  to.loss += more.loss;
  to.weight += more.weight;
  to.correct += more.correct;
  to.samples += more.samples;
}

// Scaled in memory first: fused with the sum it would be rounded once instead of twice, and the bits would depend on
// who adds.
template <class T>
void AddScaled(T* to, const T* more, T scale, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    std::array<T, kBlock> scaled;
    for (int64_t block = begin; block < end; block += kBlock) {
      const int64_t size = std::min(kBlock, end - block);
      for (int64_t i = 0; i < size; ++i) {
        scaled[static_cast<size_t>(i)] = scale * more[block + i];
      }
      for (int64_t i = 0; i < size; ++i) {
        to[block + i] += scaled[static_cast<size_t>(i)];
      }
    }
  });
}

template <class T>
void Scale(T* to, const T* from, T scale, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] = scale * from[i];
    }
  });
}

}  // namespace

ShardedSteps::ShardedSteps(Executor& executor, const Backend& backend, DType dtype, const ShardOptions& options,
                           Communicator* ranks)
    : executor_(executor),
      backend_(backend),
      dtype_(dtype),
      shards_(options.shards),
      sync_steps_(ranks == nullptr || ranks->size() == 1 ? 0 : options.sync_steps),
      ranks_(ranks),
      count_(executor.gradients().size_bytes() / DTypeSize_bytes(dtype)),
      sum_(count_, ranks, backend.threads(), options.gradients) {
  if (size() > shards_) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} ranks share {} shards of a batch: {} would have nothing to do", size(), shards_,
                    size() - shards_),
        {.remedy = fmt::format("Start {} ranks, or give --shards {} (which are other bits).", shards_, size())});
  }
  if (backend.space() != Space::kHost) {
    host_ = AlignedBuffer(executor.gradients().size_bytes());
  }
}

// The sum of this rank's shards of `shards`, by node: terms_ in order, of which each shard is its share of `whole`
// rows. Loss sums of the shards go to `sums`.
template <class T>
void ShardedSteps::SumOwn(const TrainingSteps& work, IndexRange rows, int64_t shards, int64_t whole,
                          std::vector<LossSums>& sums) {
  const int threads = backend_.threads();
  const auto* gradient = static_cast<const T*>(GradientOnHost());
  T scale = 0;
  std::vector<int64_t> unused;
  TreeSum tree([&](int64_t left, int64_t right) {
    if (right == kFresh) {
      AddScaled(PlaceAt<T>(left), gradient, scale, count_, threads);
    } else {
      AddArrays(PlaceAt<T>(left), PlaceAt<T>(right), count_, threads);
      unused.push_back(right);
    }
  });
  int64_t places = 0;
  const IndexRange own = PartOf(shards, size(), rank());
  for (int64_t shard = own.begin; shard < own.end; ++shard) {
    const IndexRange part = PartOf(rows.count(), shards, shard);
    LossSums& loss = sums[static_cast<size_t>(shard)];
    backend_.Upload(work.sums, &loss, sizeof(loss));
    executor_.Gradient(work, rows.begin + part.begin, part.count());
    backend_.Download(&loss, work.sums, sizeof(loss));
    if (host_.size_bytes() > 0) {
      backend_.Download(host_.data(), executor_.gradients().data(), host_.size_bytes());
    }
    // The gradient is a mean over the shard's samples.
    scale = static_cast<T>(part.count()) / static_cast<T>(whole);
    if (shard % 2 == 1 && shard > own.begin) {  // the shard before it waits to be added to
      tree.Push({0, shard}, kFresh);
      continue;
    }
    if (unused.empty()) {
      if (places == std::ssize(places_)) {
        places_.emplace_back(count_ * static_cast<int64_t>(sizeof(T)));
      }
      unused.push_back(places++);
    }
    Scale(PlaceAt<T>(unused.back()), gradient, scale, count_, threads);
    const int64_t place = unused.back();
    unused.pop_back();
    tree.Push({0, shard}, place);
  }
  terms_.clear();
  for (const auto& term : tree.terms()) {
    terms_.push_back(term.place);
  }
}

// From terms_ of all ranks to the whole gradient in the executor.
template <class T>
void ShardedSteps::SumAll(int64_t shards) {
  std::vector<T*> terms;
  std::transform(terms_.begin(), terms_.end(), std::back_inserter(terms),
                 [&](int64_t place) { return PlaceAt<T>(place); });
  sum_.Sum<T>(shards, terms, static_cast<T*>(GradientOnHost()));
  StoreGradient();
}

// The same from those of this rank alone.
template <class T>
void ShardedSteps::SumAlone(int64_t shards) {
  TreeSum tree(
      [&](int64_t left, int64_t right) { AddArrays(PlaceAt<T>(left), PlaceAt<T>(right), count_, backend_.threads()); });
  const std::vector<ShardNode> nodes = NodesOf(PartOf(shards, size(), rank()));
  for (size_t n = 0; n < nodes.size(); ++n) {
    tree.Push(nodes[n], terms_[n]);
  }
  const T* sum = PlaceAt<T>(tree.Finish());
  std::copy(sum, sum + count_, static_cast<T*>(GradientOnHost()));
  StoreGradient();
}

void ShardedSteps::StoreGradient() {
  if (host_.size_bytes() > 0) {
    backend_.Upload(executor_.gradients().data(), host_.data(), host_.size_bytes());
  }
}

// Those of this rank's part of `sums` for all ranks, and theirs.
void ShardedSteps::Share(std::vector<LossSums>& sums) {
  if (size() == 1) {
    return;
  }
  std::vector<SentPart> to;
  std::vector<ReceivedPart> from;
  const auto part_of = [&](int64_t r) {
    const IndexRange part = PartOf(std::ssize(sums), size(), r);
    return ReceivedPart{sums.data() + part.begin, part.count() * static_cast<int64_t>(sizeof(LossSums))};
  };
  for (int64_t r = 0; r < size(); ++r) {
    to.push_back({part_of(rank()).data, part_of(rank()).size_bytes});
    from.push_back(part_of(r));
  }
  ranks_->AllToAll(to, from);
}

LossSums ShardedSteps::Gradient(const TrainingSteps& work, IndexRange rows) {
  const int64_t shards = std::min(shards_, rows.count());  // each has samples
  std::vector<LossSums> sums(static_cast<size_t>(shards));
  DispatchFloat(dtype_, [&]<class T>(T) {
    SumOwn<T>(work, rows, shards, rows.count(), sums);
    SumAll<T>(shards);
  });
  Share(sums);
  TreeSum tree(
      [&](int64_t left, int64_t right) { Add(sums[static_cast<size_t>(left)], sums[static_cast<size_t>(right)]); });
  for (int64_t shard = 0; shard < shards; ++shard) {
    tree.Push({0, shard}, shard);
  }
  return sums[static_cast<size_t>(tree.Finish())];
}

// A step by this rank's rows of the batch; a rank without any takes none.
void ShardedSteps::StepAlone(const TrainingSteps& work, IndexRange rows, const UpdateRule& rule) {
  const int64_t shards = std::min(shards_, rows.count());
  const IndexRange own = PartOf(shards, size(), rank());
  if (own.count() == 0) {
    return;
  }
  const int64_t own_rows =
      PartOf(rows.count(), shards, own.end - 1).end - PartOf(rows.count(), shards, own.begin).begin;
  std::vector<LossSums> sums(static_cast<size_t>(shards));
  DispatchFloat(dtype_, [&]<class T>(T) {
    SumOwn<T>(work, rows, shards, own_rows, sums);
    SumAlone<T>(shards);
  });
  for (const LossSums& part : sums) {
    Add(unshared_, part);
  }
  executor_.Update(rule);
}

template <class T>
void ShardedSteps::Average(Buffer& array) {
  AlignedBuffer mine(array.size_bytes());
  backend_.Download(mine.data(), array.data(), array.size_bytes());
  auto* const numbers = static_cast<T*>(mine.data());
  Scale(numbers, numbers, T(1) / static_cast<T>(size()), count_, backend_.threads());
  AlignedBuffer mean(array.size_bytes());
  T* const terms[] = {numbers};
  RankSum(count_, ranks_, backend_.threads()).Sum<T>(size(), terms, static_cast<T*>(mean.data()));
  backend_.Upload(array.data(), mean.data(), array.size_bytes());
}

void ShardedSteps::Synchronize(LossSums* sums) {
  if (alone_ == 0) {
    return;
  }
  alone_ = 0;
  DispatchFloat(dtype_, [&]<class T>(T) {
    Average<T>(executor_.parameters());
    for (int i = 0; i < executor_.state_count(); ++i) {
      Average<T>(executor_.state(i));
    }
  });
  std::vector<LossSums> all(static_cast<size_t>(size()));
  all[static_cast<size_t>(rank())] = std::exchange(unshared_, {});
  Share(all);
  LossSums total;
  backend_.Download(&total, sums, sizeof(total));
  for (const LossSums& part : all) {
    Add(total, part);
  }
  backend_.Upload(sums, &total, sizeof(total));
}

// Steps that this rank takes alone, up to the one after which all weights are averaged.
int64_t ShardedSteps::StepsAlone(const TrainingSteps& work) {
  LossSums shared;  // work.sums is where losses of shards come
  backend_.Download(&shared, work.sums, sizeof(shared));
  const int64_t steps = work.count();
  int64_t done = 0;
  while (done < steps && alone_ < sync_steps_) {
    const int64_t begin = work.begin + done * work.batch;
    StepAlone(work, {begin, std::min(begin + work.batch, work.end)}, work.RuleAt(done));
    ++done;
    ++alone_;
  }
  backend_.Upload(work.sums, &shared, sizeof(shared));
  if (alone_ == sync_steps_) {
    Synchronize(work.sums);  // who asks looks at the loss, and whether to stop
  }
  return done;
}

int64_t ShardedSteps::Steps(const TrainingSteps& work) {
  if (sync_steps_ > 0) {
    return StepsAlone(work);
  }
  LossSums total;
  backend_.Download(&total, work.sums, sizeof(total));
  const int64_t steps = work.count();
  int64_t done = 0;
  while (done < steps) {
    const int64_t begin = work.begin + done * work.batch;
    Add(total, Gradient(work, {begin, std::min(begin + work.batch, work.end)}));
    executor_.Update(work.RuleAt(done));
    ++done;
    if (!std::isfinite(total.loss) ||
        (done < steps && Any(work.stop_requested != nullptr && *work.stop_requested && (*work.stop_requested)()))) {
      break;
    }
  }
  backend_.Upload(work.sums, &total, sizeof(total));
  return done;
}

LossSums ShardedSteps::SumOver(int64_t parts, const std::function<LossSums(int64_t)>& of) {
  std::vector<LossSums> sums(static_cast<size_t>(parts));
  const IndexRange own = PartOf(parts, size(), rank());
  for (int64_t i = own.begin; i < own.end; ++i) {
    sums[static_cast<size_t>(i)] = of(i);
  }
  Share(sums);
  LossSums total;
  for (const LossSums& part : sums) {
    Add(total, part);
  }
  return total;
}

}  // namespace lamina
