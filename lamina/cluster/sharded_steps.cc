// A step over ranks: gradients of this rank's shards, their sum over all ranks (RankSum), then the executor's update.
#include "lamina/cluster/sharded_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
      own_rows_(options.own_rows),
      ranks_(ranks),
      count_(executor.gradients().size_bytes() / DTypeSize_bytes(dtype)),
      memory_(ranks, backend),
      sum_(count_, memory_, options.gradients),
      places_(executor.gradients().size_bytes(), memory_),
      sums_(backend.Allocate(options.shards * static_cast<int64_t>(sizeof(LossSums)))) {
  RequireShards(size(), shards_, "a batch");
  if (memory_.stays_on_device()) {
    recorded_ = backend.MakeRecordedSteps();
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
// are added to sums_.
template <class T>
std::vector<T*> ShardedSteps::SumOwn(const TrainingSteps& work, IndexRange rows, int64_t shards, int64_t whole) {
  places_.GiveAll();
  return SumShards<T>(PartOf(shards, size(), rank()), count_, places_, [&](int64_t shard) {
    const IndexRange part = PartOf(rows.count(), shards, shard);
    if (part.count() == 0) {
      if (zeros_ == nullptr) {
        zeros_ = memory_.Allocate(executor_.gradients().size_bytes());
      }
      return ScaledArray<T>{static_cast<const T*>(zeros_->data()), T(1)};
    }
    TrainingSteps alone = work;
    alone.sums = static_cast<LossSums*>(sums_->data()) + shard;
    executor_.Gradient(alone, rows.begin + part.begin, part.count());
    // The gradient is a mean over the shard's samples.
    return ScaledArray<T>{static_cast<const T*>(executor_.gradients().data()),
                          static_cast<T>(part.count()) / static_cast<T>(whole)};
  });
}

void ShardedSteps::ClearSums() {
  const std::vector<LossSums> zeros(static_cast<size_t>(shards_));
  backend_.Upload(sums_->data(), zeros.data(), sums_->size_bytes());
}

void ShardedSteps::ReadSums(std::vector<LossSums>& sums) const {
  backend_.Download(sums.data(), sums_->data(), std::ssize(sums) * static_cast<int64_t>(sizeof(LossSums)));
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

// The gradient of the batch to the executor, without waiting where nothing needs the host.
void ShardedSteps::SumGradient(const TrainingSteps& work, IndexRange rows) {
  const int64_t shards = ShardsOf(rows.count());
  DispatchFloat(dtype_, [&]<class T>(T) {
    const std::vector<T*> terms = SumOwn<T>(work, rows, shards, rows.count());
    sum_.Sum<T>(shards, terms, static_cast<T*>(executor_.gradients().data()));
  });
}

// Returns the losses of the batch.
LossSums ShardedSteps::Step(const TrainingSteps& work, IndexRange rows, const UpdateRule& rule) {
  const int64_t shards = ShardsOf(rows.count());
  std::vector<LossSums> sums(static_cast<size_t>(shards));
  if (overlapped_ != nullptr) {
    overlapped_->Compute(work, rows, shards, sums, [&] { Share(sums); });
    executor_.Update(rule);
  } else {
    ClearSums();
    if (recorded_ != nullptr && work.order != nullptr) {
      TrainingSteps one = work;
      one.begin = rows.begin;
      one.end = rows.end;
      one.rule = rule;
      one.rates = nullptr;
      recorded_->Run(one, [&](int64_t begin, int64_t count, const UpdateRule& now) {
        SumGradient(work, {begin, begin + count});
        executor_.Update(now);
      });
    } else {
      SumGradient(work, rows);
      executor_.Update(rule);
    }
    ReadSums(sums);
    Share(sums);
  }
  TreeSum tree(
      [&](int64_t left, int64_t right) { Add(sums[static_cast<size_t>(left)], sums[static_cast<size_t>(right)]); });
  for (int64_t shard = 0; shard < shards; ++shard) {
    tree.Push({0, shard}, shard);
  }
  return sums[static_cast<size_t>(tree.Finish())];
}

int64_t ShardedSteps::Steps(const TrainingSteps& work) {
  LossSums total;
  backend_.Download(&total, work.sums, sizeof(total));
  const int64_t steps = work.count();
  int64_t done = 0;
  while (done < steps) {
    const int64_t begin = work.begin + done * work.batch;
    Add(total, Step(work, {begin, std::min(begin + work.batch, work.end)}, work.RuleAt(done)));
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
