// Every rank encodes all rows once, piece by piece, so that reports, weights and checksums are those of all of them.
#include "lamina/run/rank_share.h"

#include <algorithm>
#include <cstring>

#include "lamina/cluster/shard_rows.h"
#include "lamina/data/encode/leakage.h"
#include "lamina/run/checkpoint.h"
#include "lamina/settings/meanings.h"

namespace lamina {
namespace {

constexpr int64_t kPiece_rows = 4096;

// Rows [begin, end) of all, which start at `first` in `piece` and are wanted in `to`, whose rows start at `own_begin`.
void CopyRows(const Matrix& piece, int64_t first, IndexRange rows, int64_t own_begin, Matrix& to) {
  const int64_t row_bytes = piece.cols() * DTypeSize_bytes(piece.dtype());
  std::memcpy(static_cast<char*>(to.data()) + (rows.begin - own_begin) * row_bytes,
              static_cast<const char*>(piece.data()) + (rows.begin - first) * row_bytes,
              static_cast<size_t>(rows.count() * row_bytes));
}

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& from, int64_t first, IndexRange rows) {
  if (!from.empty()) {
    to.insert(to.end(), from.begin() + (rows.begin - first), from.begin() + (rows.end - first));
  }
}

}  // namespace

IndexRange RowsOfRank(const TrainSettings& settings, const TrainRows& rows, const RankShare& share) {
  const TrainOptions options = TrainOptionsFrom(Resolve(settings, rows.classes, rows.train), Loss::kMse, rows);
  return ShardRows(rows.train, options.batch, options.shards, share.ranks, share.rank).own();
}

ShareOfRows EncodeShare(const BoundTable& table, std::span<const int64_t> rows, const TrainSettings& settings,
                        const RankShare& share, EncodeReport* report, const std::function<void(const Dataset&)>& look) {
  ShareOfRows result;
  result.all.rows = table.UsableRows(rows, /*with_targets=*/true);
  const int64_t count = std::ssize(result.all.rows);
  const DType dtype = ParseDType(settings.dtype);
  if (count == 0) {
    result.own = table.Encode(rows, dtype, report);
    return result;
  }
  const Preprocessor& fitted = table.preprocessor();
  const IndexRange own = result.range =
      RowsOfRank(settings, {count, 0, !fitted.targets().class_names().empty(), fitted.inputs().count()}, share);
  result.own.features = Matrix(own.count(), fitted.inputs().count(), dtype);
  result.own.targets = Matrix(own.count(), fitted.targets().count(), dtype);
  result.fingerprint = kHashStart;
  for (int64_t begin = 0; begin < count; begin += kPiece_rows) {
    const int64_t end = std::min(count, begin + kPiece_rows);
    const Dataset piece =
        table.Encode(std::span(result.all.rows).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
                     dtype, report);
    look(piece);
    result.fingerprint = DataFingerprint(piece, nullptr, result.fingerprint);
    if (!table.table().is_image) {
      const std::vector<uint64_t> hashes = HashRows(piece);
      result.all_hashes.insert(result.all_hashes.end(), hashes.begin(), hashes.end());
    }
    result.all.labels.insert(result.all.labels.end(), piece.labels.begin(), piece.labels.end());
    const IndexRange kept{std::max(begin, own.begin), std::min(end, own.end)};
    if (kept.count() > 0) {
      CopyRows(piece.features, begin, kept, own.begin, result.own.features);
      CopyRows(piece.targets, begin, kept, own.begin, result.own.targets);
      Append(result.own.labels, piece.labels, begin, kept);
      Append(result.own.rows, piece.rows, begin, kept);
      Append(result.own.baseline, piece.baseline, begin, kept);
    }
  }
  return result;
}

}  // namespace lamina
