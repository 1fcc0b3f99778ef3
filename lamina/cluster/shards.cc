// Parts of ranges and nodes of the tree.
#include "lamina/cluster/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lamina/base/error.h"

namespace lamina {

IndexRange PartOf(int64_t count, int64_t parts, int64_t i) { return {count * i / parts, count * (i + 1) / parts}; }

void RequireShards(int64_t ranks, int64_t shards, std::string_view whole) {
  if (ranks > shards) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} ranks share {} shards of {}: {} would have nothing to do", ranks, shards, whole,
                            ranks - shards),
                {.remedy = fmt::format("Start {} ranks, or give --shards {} (which are other bits).", shards, ranks)});
  }
}

std::vector<IndexRange> Exchanges(std::span<const int64_t> part_bytes, int64_t ranks) {
  constexpr int64_t kMessage_bytes = 128 << 10;  // takes as long as some latencies
  constexpr int64_t kMost = 12;
  constexpr int64_t kMostRanks = 256;  // with more the latencies of one exchange take as long as the computing
  const int64_t all = std::accumulate(part_bytes.begin(), part_bytes.end(), int64_t{0});
  const int64_t least = ranks > kMostRanks ? all : std::max(ranks * kMessage_bytes, all / kMost);
  std::vector<IndexRange> exchanges;
  int64_t bytes = 0;
  for (int64_t i = 0; i < std::ssize(part_bytes); ++i) {
    if (bytes == 0) {
      exchanges.push_back({i, i});
    }
    bytes += part_bytes[static_cast<size_t>(i)];
    exchanges.back().end = i + 1;
    bytes = bytes < least ? bytes : 0;
  }
  return exchanges;
}

std::vector<ShardNode> NodesOf(IndexRange range) {
  std::vector<ShardNode> nodes;
  for (int64_t begin = range.begin; begin < range.end;) {
    int level = 0;
    while (begin % (int64_t{2} << level) == 0 && begin + (int64_t{2} << level) <= range.end) {
      ++level;
    }
    nodes.push_back({level, begin >> level});
    begin += int64_t{1} << level;
  }
  return nodes;
}

}  // namespace lamina
