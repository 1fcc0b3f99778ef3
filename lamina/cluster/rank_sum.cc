// Slices of terms to their ranks, their sums to all.
#include "lamina/cluster/rank_sum.h"

#include <algorithm>
#include <vector>

namespace lamina {
namespace {

constexpr int64_t kSliceUnit = 16;

}  // namespace

int64_t RankSum::BeginOf(int64_t rank) const {
  return rank == size() ? count_ : std::min(count_, count_ * rank / size() / kSliceUnit * kSliceUnit);
}

void* RankSum::Room(std::unique_ptr<Buffer>& buffer, int64_t size_bytes) const {
  if (buffer == nullptr || buffer->size_bytes() < size_bytes) {
    buffer = memory_->Allocate(size_bytes);
  }
  return buffer->data();
}

template <class T>
void RankSum::Sum(int64_t shards, std::span<T* const> terms, T* whole) {
  const int64_t own_begin = BeginOf(rank());
  const int64_t own_count = BeginOf(rank() + 1) - own_begin;
  const bool halves = SendsHalves();
  const auto element_bytes = static_cast<int64_t>(halves ? sizeof(BFloat16) : sizeof(T));
  auto* const sent = halves ? static_cast<BFloat16*>(Room(halves_, count_ * element_bytes)) : nullptr;
  auto* const received = halves ? static_cast<BFloat16*>(Room(
                                      received_halves_, std::max<int64_t>(count_, size() * own_count) * element_bytes))
                                : nullptr;
  // This rank's slice of every node, those of other ranks received into slices_.
  std::vector<std::vector<ShardNode>> nodes;
  size_t rounds = 0;
  int64_t foreign = 0;
  for (int64_t r = 0; r < size(); ++r) {
    nodes.push_back(NodesOf(PartOf(shards, size(), r)));
    rounds = std::max(rounds, nodes.back().size());
    foreign += r == rank() ? 0 : std::ssize(nodes.back());
  }
  std::vector<std::vector<T*>> slices(nodes.size());
  T* next = static_cast<T*>(Room(slices_, foreign * own_count * static_cast<int64_t>(sizeof(T))));
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
    if (halves && round < terms.size()) {
      memory_->math().ToBFloat16(sent, terms[round], count_);
      memory_->math().FromBFloat16(terms[round], sent, count_);  // what stays here, too: all ranks sum the same numbers
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
    memory_->AllToAll(to, from);
    for (size_t r = 0; halves && r < nodes.size(); ++r) {
      if (from[r].size_bytes > 0) {
        memory_->math().FromBFloat16(slices[r][round], static_cast<const BFloat16*>(from[r].data), own_count);
      }
    }
  }
  std::vector<T*> all;
  TreeSum tree([&](int64_t left, int64_t right) {
    memory_->math().Add(all[static_cast<size_t>(left)], all[static_cast<size_t>(right)], own_count);
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
      memory_->math().Scale(whole, own, T(1), count_);
    }
    return;
  }
  const bool halves = SendsHalves();
  const auto element_bytes = static_cast<int64_t>(halves ? sizeof(BFloat16) : sizeof(T));
  auto* const sent = halves ? static_cast<BFloat16*>(halves_->data()) : nullptr;
  auto* const received = halves ? static_cast<BFloat16*>(received_halves_->data()) : nullptr;
  if (halves) {
    memory_->math().ToBFloat16(sent, own, own_count);
  }
  std::vector<ReceivedPart> from;
  for (int64_t r = 0; r < size(); ++r) {
    const int64_t begin = BeginOf(r);
    from.push_back(
        {halves ? static_cast<void*>(received + begin) : whole + begin, (BeginOf(r + 1) - begin) * element_bytes});
  }
  const SentPart mine{halves ? static_cast<const void*>(sent) : own, own_count * element_bytes};
  memory_->AllToAll(std::vector<SentPart>(from.size(), mine), from);
  if (halves) {
    memory_->math().FromBFloat16(whole, received, count_);
  }
}

template void RankSum::Sum(int64_t, std::span<float* const>, float*);
template void RankSum::Sum(int64_t, std::span<double* const>, double*);

}  // namespace lamina
