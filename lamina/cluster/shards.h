// How a batch is split into shards and how what they give is summed: the same for any number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina {

struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t count() const { return end - begin; }
};

/// Part `i` of `parts` of [0, count): parts differ by one at most.
IndexRange PartOf(int64_t count, int64_t parts, int64_t i);

/// Shards where ranks share them, or they own the rows, and nobody said how many.
inline constexpr int64_t kShardsOfRanks = 8;

/// Throws Error(kInvalidArgument) for more ranks than shards; `whole`: what is cut into them.
void RequireShards(int64_t ranks, int64_t shards, std::string_view whole);

/// Ranges of parts that `ranks` ranks exchange at once; the parts' bytes are in order. In each, what one rank sends
/// another is worth a message. Each has at least a twelfth of all bytes, but for the last one. Very many ranks exchange
/// all parts at once.
std::vector<IndexRange> Exchanges(std::span<const int64_t> part_bytes, int64_t ranks);

/// A node of the binary tree that sums shards: the sum of shards [index << level, (index + 1) << level).
struct ShardNode {
  int level = 0;
  int64_t index = 0;
  bool operator==(const ShardNode&) const = default;
};

/// The largest nodes that lie in [range.begin, range.end), in order: what a rank can sum alone.
std::vector<ShardNode> NodesOf(IndexRange range);

/// Sums terms that are added in order, by the tree: node after node of a partition of all shards, by whole ranges.
/// Which terms meet does not depend on how ranges were cut, so neither do the bits of the sum. `add(left, right)` adds
/// the term at place `right` to that at `left`; places are numbers of the caller.
template <class Add>
class TreeSum {
 public:
  explicit TreeSum(Add add) : add_(std::move(add)) {}

  struct Term {
    ShardNode node;
    int64_t place = 0;
  };

  /// True where the term was added to another one: its place is free.
  bool Push(ShardNode node, int64_t place) {
    bool merged = false;
    while (!terms_.empty() && terms_.back().node.level == node.level && terms_.back().node.index + 1 == node.index &&
           node.index % 2 == 1) {
      add_(terms_.back().place, place);
      place = terms_.back().place;
      node = {node.level + 1, node.index / 2};
      terms_.pop_back();
      merged = true;
    }
    terms_.push_back({node, place});
    return merged;
  }
  const std::vector<Term>& terms() const { return terms_; }
  /// Adds up the terms left of a number of shards that is no power of two; returns the place of the sum.
  int64_t Finish() {
    while (terms_.size() > 1) {
      add_(terms_[terms_.size() - 2].place, terms_.back().place);
      terms_.pop_back();
    }
    return terms_.front().place;
  }

 private:
  Add add_;
  std::vector<Term> terms_;
};

}  // namespace lamina
