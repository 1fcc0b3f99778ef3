// Slices of terms to their ranks, their sums to all.
#include "lamina/cluster/rank_sum.h"

#include <algorithm>
#include <type_traits>

#include "lamina/base/check.h"
#include "lamina/base/half.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kSliceUnit = 16;

}  // namespace

template <class T>
void AddArrays(T* to, const T* more, int64_t count, int threads) {
  RunParts(threads, count, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      to[i] += more[i];
    }
  });
}

int64_t RankSum::BeginOf(int64_t rank) const {
  return rank == size() ? count_ : std::min(count_, count_ * rank / size() / kSliceUnit * kSliceUnit);
}

// What other ranks get of this one is bf16; so is what stays here, so that all ranks sum the same numbers.
template <class T>
void RankSum::SendAsBFloat16(std::span<T* const> terms) {
  for (T* const term : terms) {
    RunParts(threads_, count_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        term[i] = static_cast<T>(static_cast<float>(BFloat16(static_cast<float>(term[i]))));
      }
    });
  }
}

template <class T>
void RankSum::Sum(int64_t shards, std::span<T* const> terms, T* whole) {
  const int64_t own_begin = BeginOf(rank());
  const int64_t own_count = BeginOf(rank() + 1) - own_begin;
  const bool halves = sent_as_ == SentAs::kBFloat16 && size() > 1;
  const int64_t element_bytes = halves ? static_cast<int64_t>(sizeof(BFloat16)) : static_cast<int64_t>(sizeof(T));
  if (halves) {
    SendAsBFloat16(terms);
  }
  // This rank's slice of every node, those of other ranks received into slices_.
  std::vector<std::vector<ShardNode>> nodes;
  size_t rounds = 0;
  int64_t foreign = 0;
  for (int64_t r = 0; r < size(); ++r) {
    nodes.push_back(NodesOf(PartOf(shards, size(), r)));
    rounds = std::max(rounds, nodes.back().size());
    foreign += r == rank() ? 0 : std::ssize(nodes.back());
  }
  if (slices_.size_bytes() < foreign * own_count * static_cast<int64_t>(sizeof(T))) {
    slices_ = AlignedBuffer(foreign * own_count * static_cast<int64_t>(sizeof(T)));
  }
  if (halves && halves_.size_bytes() < count_ * element_bytes) {
    halves_ = AlignedBuffer(count_ * element_bytes);
    received_halves_ = AlignedBuffer(std::max<int64_t>(count_, size() * own_count) * element_bytes);
  }
  std::vector<std::vector<T*>> slices(nodes.size());
  T* next = static_cast<T*>(slices_.data());
  for (size_t r = 0; r < nodes.size(); ++r) {
    for (size_t n = 0; n < nodes[r].size(); ++n) {
      const bool mine = static_cast<int64_t>(r) == rank();
      slices[r].push_back(mine ? terms[n] + own_begin : next);
      next += mine ? 0 : own_count;
    }
  }
  for (size_t round = 0; round < rounds && size() > 1; ++round) {
    std::vector<SentPart> to(nodes.size());
    std::vector<ReceivedPart> from(nodes.size());
    auto* const sent = static_cast<BFloat16*>(halves_.data());
    auto* const received = static_cast<BFloat16*>(received_halves_.data());
    if (halves && round < terms.size()) {
      std::transform(terms[round], terms[round] + count_, sent,
                     [](T value) { return BFloat16(static_cast<float>(value)); });
    }
    for (size_t r = 0; r < nodes.size(); ++r) {
      const auto other = static_cast<int64_t>(r);
      if (other == rank()) {
        continue;
      }
      if (round < terms.size()) {
        const int64_t begin = BeginOf(other);
        to[r] = {halves ? static_cast<const void*>(sent + begin) : terms[round] + begin,
                 (BeginOf(other + 1) - begin) * element_bytes};
      }
      if (round < nodes[r].size()) {
        from[r] = {halves ? static_cast<void*>(received + other * own_count) : slices[r][round],
                   own_count * element_bytes};
      }
    }
    ranks_->AllToAll(to, from);
    for (size_t r = 0; halves && r < nodes.size(); ++r) {
      if (from[r].size_bytes > 0) {
        const auto* const part = static_cast<const BFloat16*>(from[r].data);
        std::transform(part, part + own_count, slices[r][round],
                       [](BFloat16 value) { return static_cast<T>(static_cast<float>(value)); });
      }
    }
  }
  std::vector<T*> all;
  TreeSum tree([&](int64_t left, int64_t right) {
    AddArrays(all[static_cast<size_t>(left)], all[static_cast<size_t>(right)], own_count, threads_);
  });
  for (size_t r = 0; r < nodes.size(); ++r) {
    for (size_t n = 0; n < nodes[r].size(); ++n) {
      all.push_back(slices[r][n]);
      tree.Push(nodes[r][n], std::ssize(all) - 1);
    }
  }
  ShareSlices(all[static_cast<size_t>(tree.Finish())], whole);
}

// Every rank's slice of the sum for all.
template <class T>
void RankSum::ShareSlices(const T* own, T* whole) {
  const int64_t own_count = BeginOf(rank() + 1) - BeginOf(rank());
  if (size() == 1) {
    if (own != whole) {
      RunParts(threads_, count_, [&](int64_t begin, int64_t end) { std::copy(own + begin, own + end, whole + begin); });
    }
    return;
  }
  const bool halves = sent_as_ == SentAs::kBFloat16;
  const int64_t element_bytes = halves ? static_cast<int64_t>(sizeof(BFloat16)) : static_cast<int64_t>(sizeof(T));
  auto* const sent = static_cast<BFloat16*>(halves_.data());
  auto* const received = static_cast<BFloat16*>(received_halves_.data());
  if (halves) {
    std::transform(own, own + own_count, sent, [](T value) { return BFloat16(static_cast<float>(value)); });
  }
  std::vector<ReceivedPart> from;
  for (int64_t r = 0; r < size(); ++r) {
    const int64_t begin = BeginOf(r);
    from.push_back(
        {halves ? static_cast<void*>(received + begin) : whole + begin, (BeginOf(r + 1) - begin) * element_bytes});
  }
  const SentPart mine{halves ? static_cast<const void*>(sent) : own, own_count * element_bytes};
  ranks_->AllToAll(std::vector<SentPart>(from.size(), mine), from);
  if (halves) {
    std::transform(received, received + count_, whole,
                   [](BFloat16 value) { return static_cast<T>(static_cast<float>(value)); });
  }
}

template void AddArrays(float*, const float*, int64_t, int);
template void AddArrays(double*, const double*, int64_t, int);
template void RankSum::Sum(int64_t, std::span<float* const>, float*);
template void RankSum::Sum(int64_t, std::span<double* const>, double*);

}  // namespace lamina
