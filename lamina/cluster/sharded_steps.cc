// Gradients of shards, their sum by slices, and the step. What a rank sums alone are the nodes of the tree that lie in
// its shards (one, where the ranks are a power of two); of these every rank sends each other rank its slice.
#include "lamina/cluster/sharded_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "lamina/base/error.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kFresh = -1;    // the place of a gradient that is still where the executor put it
constexpr int64_t kBlock = 1024;  // elements that are scaled before they are added
constexpr int64_t kSliceUnit = 16;

void Add(LossSums& to, const LossSums& more) {
  to.loss += more.loss;
  to.weight += more.weight;
  to.correct += more.correct;
  to.samples += more.samples;
}

template <class T>
void Add(T* to, const T* more, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] += more[i];
    }
  });
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

ShardedSteps::ShardedSteps(Executor& executor, const Backend& backend, DType dtype, int64_t shards, Communicator* ranks)
    : executor_(executor),
      backend_(backend),
      dtype_(dtype),
      shards_(shards),
      ranks_(ranks),
      count_(executor.gradients().size_bytes() / DTypeSize_bytes(dtype)) {
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

// The sum of this rank's shards of `shards`, by node: terms_ in order. Loss sums of the shards go to `sums`.
template <class T>
void ShardedSteps::SumOwn(const TrainingSteps& work, IndexRange rows, int64_t shards, std::vector<LossSums>& sums) {
  const int threads = backend_.threads();
  const auto* gradient = static_cast<const T*>(host_.size_bytes() > 0 ? host_.data() : executor_.gradients().data());
  T scale = 0;
  std::vector<int64_t> unused;
  TreeSum tree([&](int64_t left, int64_t right) {
    if (right == kFresh) {
      AddScaled(PlaceAt<T>(left), gradient, scale, count_, threads);
    } else {
      Add(PlaceAt<T>(left), PlaceAt<T>(right), count_, threads);
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
    scale = static_cast<T>(part.count()) / static_cast<T>(rows.count());
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
  const int threads = backend_.threads();
  auto* whole = static_cast<T*>(host_.size_bytes() > 0 ? host_.data() : executor_.gradients().data());
  const auto cut = [&](int64_t r) { return std::min(count_, count_ * r / size() / kSliceUnit * kSliceUnit); };
  const auto begin_of = [&](int64_t r) { return r == size() ? count_ : cut(r); };
  const int64_t own_begin = begin_of(rank());
  const int64_t own_count = begin_of(rank() + 1) - own_begin;
  const auto bytes = [](int64_t count) { return count * static_cast<int64_t>(sizeof(T)); };

  // This rank's slice of every node, those of other ranks received into slices_.
  std::vector<std::vector<ShardNode>> nodes;
  size_t rounds = 0;
  int64_t foreign = 0;
  for (int64_t r = 0; r < size(); ++r) {
    nodes.push_back(NodesOf(PartOf(shards, size(), r)));
    rounds = std::max(rounds, nodes.back().size());
    foreign += r == rank() ? 0 : std::ssize(nodes.back());
  }
  if (slices_.size_bytes() < bytes(foreign * own_count)) {
    slices_ = AlignedBuffer(bytes(foreign * own_count));
  }
  std::vector<std::vector<T*>> slices(nodes.size());
  T* next = static_cast<T*>(slices_.data());
  for (size_t r = 0; r < nodes.size(); ++r) {
    for (size_t n = 0; n < nodes[r].size(); ++n) {
      if (static_cast<int64_t>(r) == rank()) {
        slices[r].push_back(PlaceAt<T>(terms_[n]) + own_begin);
      } else {
        slices[r].push_back(next);
        next += own_count;
      }
    }
  }
  for (size_t round = 0; round < rounds && size() > 1; ++round) {
    std::vector<SentPart> to(nodes.size());
    std::vector<ReceivedPart> from(nodes.size());
    for (size_t r = 0; r < nodes.size(); ++r) {
      if (static_cast<int64_t>(r) == rank()) {
        continue;
      }
      const auto begin = begin_of(static_cast<int64_t>(r));
      if (round < terms_.size()) {
        to[r] = {PlaceAt<T>(terms_[round]) + begin, bytes(begin_of(static_cast<int64_t>(r) + 1) - begin)};
      }
      if (round < nodes[r].size()) {
        from[r] = {slices[r][round], bytes(own_count)};
      }
    }
    ranks_->AllToAll(to, from);
  }
  std::vector<T*> terms;
  TreeSum tree([&](int64_t left, int64_t right) {
    Add(terms[static_cast<size_t>(left)], terms[static_cast<size_t>(right)], own_count, threads);
  });
  for (size_t r = 0; r < nodes.size(); ++r) {
    for (size_t n = 0; n < nodes[r].size(); ++n) {
      terms.push_back(slices[r][n]);
      tree.Push(nodes[r][n], std::ssize(terms) - 1);
    }
  }
  const T* sum = terms[static_cast<size_t>(tree.Finish())];
  if (size() == 1) {
    RunParts(threads, count_, [&](int64_t begin, int64_t end) { std::copy(sum + begin, sum + end, whole + begin); });
  } else {
    std::vector<ReceivedPart> from;
    for (int64_t r = 0; r < size(); ++r) {
      from.push_back({whole + begin_of(r), bytes(begin_of(r + 1) - begin_of(r))});
    }
    ranks_->AllToAll(std::vector<SentPart>(from.size(), {sum, bytes(own_count)}), from);
  }
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
    SumOwn<T>(work, rows, shards, sums);
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

int64_t ShardedSteps::Steps(const TrainingSteps& work) {
  LossSums total;
  backend_.Download(&total, work.sums, sizeof(total));
  UpdateRule rule = work.rule;
  const int64_t steps = work.count();
  int64_t done = 0;
  while (done < steps) {
    const int64_t begin = work.begin + done * work.batch;
    Add(total, Gradient(work, {begin, std::min(begin + work.batch, work.end)}));
    executor_.Update(rule);
    ++rule.step;
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
