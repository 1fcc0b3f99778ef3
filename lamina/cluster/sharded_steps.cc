// Gradients of shards, their sum by slices, and the step.
#include "lamina/cluster/sharded_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lamina/base/error.h"

namespace lamina {
namespace {

void Add(LossSums& to, const LossSums& more) {
  to.loss += more.loss;
  to.weight += more.weight;
  to.correct += more.correct;
  to.samples += more.samples;
}

}  // namespace

ShardedSteps::ShardedSteps(Executor& executor, const Backend& backend, DType dtype, const ShardOptions& options,
                           int64_t batch, Communicator* ranks)
    : executor_(executor),
      backend_(backend),
      dtype_(dtype),
      shards_(options.shards),
      sync_steps_(ranks == nullptr || ranks->size() == 1 ? 0 : options.sync_steps),
      own_rows_(options.own_rows),
      ranks_(ranks),
      count_(executor.gradients().size_bytes() / DTypeSize_bytes(dtype)),
      sum_(count_, ranks, backend.threads(), options.gradients),
      places_(executor.gradients().size_bytes()) {
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
  overlaps_ = Overlaps();
  if (size() > 1 && Any(!overlaps_) && overlaps_) {  // they must exchange the same
    overlaps_ = Verdict::No("another rank computes its gradients in one piece");
  }
  if (size() > 1 && overlaps_) {
    const int64_t own_shards = (shards_ + size() - 1) / size();
    overlapped_ = std::make_unique<OverlappedGradient>(executor, dtype, backend.threads(), options.gradients,
                                                       own_shards * SamplesOfShard(batch, shards_), *ranks);
  }
}

Verdict ShardedSteps::Overlaps() const {
  if (sync_steps_ > 0) {
    return Verdict::No("ranks exchange weights after so many steps, not gradients");
  }
  if (ranks_ != nullptr && !ranks_->AnyThread()) {
    return Verdict::No("this MPI talks from one thread alone");
  }
  if (size() > 1 && ranks_->OnOneHost()) {
    return Verdict::No("all ranks are on one host, where an exchange costs less than a gradient in parts");
  }
  const Verdict verdict = executor_.ComputesByParts();
  return verdict ? OverlappedGradient::Pays(executor_, dtype_, size()) : verdict;
}

// The sum of this rank's shards of `shards`, by node; each shard is its share of `whole` rows. Loss sums of the shards
// go to `sums`.
template <class T>
std::vector<T*> ShardedSteps::SumOwn(const TrainingSteps& work, IndexRange rows, int64_t shards, int64_t whole,
                                     std::vector<LossSums>& sums) {
  places_.GiveAll();
  return SumShards<T>(PartOf(shards, size(), rank()), count_, backend_.threads(), places_, [&](int64_t shard) {
    const IndexRange part = PartOf(rows.count(), shards, shard);
    if (part.count() == 0) {
      if (zeros_.size_bytes() == 0) {
        zeros_ = AlignedBuffer(executor_.gradients().size_bytes());
      }
      return ScaledArray<T>{zeros_.As<T>().data(), T(1)};
    }
    LossSums& loss = sums[static_cast<size_t>(shard)];
    backend_.Upload(work.sums, &loss, sizeof(loss));
    executor_.Gradient(work, rows.begin + part.begin, part.count());
    backend_.Download(&loss, work.sums, sizeof(loss));
    if (host_.size_bytes() > 0) {
      backend_.Download(host_.data(), executor_.gradients().data(), host_.size_bytes());
    }
    // The gradient is a mean over the shard's samples.
    return ScaledArray<T>{static_cast<const T*>(GradientOnHost()),
                          static_cast<T>(part.count()) / static_cast<T>(whole)};
  });
}

// The sum of the terms of this rank alone, to the executor.
template <class T>
void ShardedSteps::SumAlone(int64_t shards, const std::vector<T*>& terms) {
  TreeSum tree([&](int64_t left, int64_t right) {
    AddArrays(terms[static_cast<size_t>(left)], terms[static_cast<size_t>(right)], count_, backend_.threads());
  });
  const std::vector<ShardNode> nodes = NodesOf(PartOf(shards, size(), rank()));
  for (size_t n = 0; n < nodes.size(); ++n) {
    tree.Push(nodes[n], static_cast<int64_t>(n));
  }
  const T* sum = terms[static_cast<size_t>(tree.Finish())];
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
  const int64_t shards = ShardsOf(rows.count());
  std::vector<LossSums> sums(static_cast<size_t>(shards));
  if (overlapped_ != nullptr) {
    overlapped_->Compute(work, rows, shards, sums, [&] { Share(sums); });
  } else {
    DispatchFloat(dtype_, [&]<class T>(T) {
      const std::vector<T*> terms = SumOwn<T>(work, rows, shards, rows.count(), sums);
      sum_.Sum<T>(shards, terms, static_cast<T*>(GradientOnHost()));
    });
    StoreGradient();
    Share(sums);
  }
  TreeSum tree(
      [&](int64_t left, int64_t right) { Add(sums[static_cast<size_t>(left)], sums[static_cast<size_t>(right)]); });
  for (int64_t shard = 0; shard < shards; ++shard) {
    tree.Push({0, shard}, shard);
  }
  return sums[static_cast<size_t>(tree.Finish())];
}

// A step by this rank's rows of the batch; a rank without any takes none.
void ShardedSteps::StepAlone(const TrainingSteps& work, IndexRange rows, const UpdateRule& rule) {
  const int64_t shards = ShardsOf(rows.count());
  const IndexRange own = PartOf(shards, size(), rank());
  const int64_t own_rows = rows.count() * own.end / shards - rows.count() * own.begin / shards;
  if (own_rows == 0) {
    return;
  }
  std::vector<LossSums> sums(static_cast<size_t>(shards));
  DispatchFloat(dtype_, [&]<class T>(T) { SumAlone<T>(shards, SumOwn<T>(work, rows, shards, own_rows, sums)); });
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
  ScaleArray(numbers, numbers, T(1) / static_cast<T>(size()), count_, backend_.threads());
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
