// The sum over shards that ranks hold: the same bits for any number of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "lamina/cluster/rank_memory.h"
#include "lamina/cluster/shards.h"

namespace lamina {

/// How numbers go from rank to rank. kBFloat16 (f32 only): rounded to bf16, half the bytes; they are still summed in
/// f32. The sum then depends on what was rounded, which is another thing for another number of ranks.
enum class SentAs { kItself, kBFloat16 };

/// Sums arrays of `count` elements over the shards of all ranks, by a tree (TreeSum). A rank sums the nodes that lie in
/// its shards alone: one, if the number of ranks is a power of two. Every rank sends each other one its slice of them,
/// sums its own slice of all nodes, and sends the result to all. A rank so sends about 2 (p - 1) / p times the array,
/// as in a ring. Memory is kept from one call to the next. One caller at a time.
class RankSum {
 public:
  /// Sums arrays in `memory`, which outlives this.
  RankSum(int64_t count, RankMemory& memory, SentAs sent_as = SentAs::kItself)
      : count_(count), memory_(&memory), sent_as_(sent_as) {}

  int64_t size() const { return memory_->size(); }
  int64_t rank() const { return memory_->rank(); }

  /// whole = the sum over `shards` shards. `terms`: this rank's nodes, NodesOf(PartOf(shards, size(), rank())), each of
  /// count elements, which are overwritten; `whole` may be the first of them. T: float or double. Collective.
  template <class T>
  void Sum(int64_t shards, std::span<T* const> terms, T* whole);

 private:
  int64_t BeginOf(int64_t rank) const;
  bool SendsHalves() const { return sent_as_ == SentAs::kBFloat16 && size() > 1; }
  void* Room(std::unique_ptr<Buffer>& buffer, int64_t size_bytes) const;
  template <class T>
  void ShareSlices(const T* own, T* whole);

  int64_t count_;
  RankMemory* memory_;
  SentAs sent_as_;
  std::unique_ptr<Buffer> slices_;  // of this rank, of all nodes of the others
  std::unique_ptr<Buffer> halves_;  // what is sent, where that is bf16
  std::unique_ptr<Buffer> received_halves_;
};

}  // namespace lamina
