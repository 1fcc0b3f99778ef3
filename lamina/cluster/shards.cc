// Parts of ranges and nodes of the tree.
#include "lamina/cluster/shards.h"

namespace lamina {

IndexRange PartOf(int64_t count, int64_t parts, int64_t i) { return {count * i / parts, count * (i + 1) / parts}; }

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
