// The training rows that one rank keeps where shards own them (settings.shard_data).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lamina/cluster/shards.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// The rank that rows are for.
struct RankShare {
  int64_t ranks = 1;
  int64_t rank = 0;
};

/// Which of all training rows those are. The settings' recipe is known. Throws Error(kInvalidArgument) where a shard
/// would have none.
IndexRange RowsOfRank(const TrainSettings& settings, const TrainRows& rows, const RankShare& share);

/// Rows encoded piece by piece, of which the rank's are kept, with what is asked of all of them.
struct ShareOfRows {
  Dataset own;
  IndexRange range;                  // of all, those in `own`
  Dataset all;                       // labels and rows alone
  std::vector<uint64_t> all_hashes;  // HashRows(); of images empty
  uint64_t fingerprint = 0;          // DataFingerprint(), of pieces
};

/// The usable ones of `rows`. `look` is shown every piece. Throws Error.
ShareOfRows EncodeShare(const BoundTable& table, std::span<const int64_t> rows, const TrainSettings& settings,
                        const RankShare& share, EncodeReport* report, const std::function<void(const Dataset&)>& look);

}  // namespace lamina
