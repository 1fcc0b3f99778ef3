// A call of NearestRows() for every shard.
#include "lamina/rbf/row_shards.h"

#include <numeric>

#include "lamina/layer/neighbours.h"
#include "lamina/layer/shared_output.h"

namespace lamina {

RowShards::RowShards(int64_t rows, int64_t shards, Communicator* ranks)
    : rows_(rows),
      shards_(shards),
      ranks_(ranks),
      own_(ranks == nullptr ? IndexRange{0, shards} : PartOf(shards, ranks->size(), ranks->rank())) {
  RequireShards(ranks == nullptr ? 1 : ranks->size(), shards, "the rows");
}

std::vector<double> RowShards::SumsOf(const std::vector<double>& own) const {
  std::vector<double> sums;
  auto next = own.begin();
  for (int64_t shard = own_.begin; shard < own_.end; ++shard) {
    const auto end = next + RowsOf(shard).count();
    sums.push_back(std::accumulate(next, end, 0.0));
    next = end;
  }
  return Gather(sums);
}

Assignment AssignRows(RowSource& rows, const RowShards& shards, const Matrix& centres, Synapse metric,
                      const Backend& backend) {
  Assignment assignment;
  for (int64_t shard = shards.own_shards().begin; shard < shards.own_shards().end; ++shard) {
    const IndexRange range = shards.RowsOf(shard);
    if (range.count() == 0) {
      continue;
    }
    RowRange part(rows, range.begin, range.count());
    MatrixRows all(centres.view());
    Matrix indices(range.count(), 1, DType::kI64);
    Matrix distances(range.count(), 1, rows.dtype());
    NearestRows(part, all, {.metric = metric, .k = 1, .first_row = range.begin}, backend,
                {indices.view(), distances.view(), {}});
    const auto* const centre = static_cast<const int64_t*>(indices.data());
    assignment.centre.insert(assignment.centre.end(), centre, centre + range.count());
    DispatchFloat(rows.dtype(), [&]<class T>(T) {
      const auto* const distance = static_cast<const T*>(distances.data());
      assignment.distance.insert(assignment.distance.end(), distance, distance + range.count());
    });
  }
  return assignment;
}

Matrix TakeRows(RowSource& rows, const std::vector<int64_t>& which) {
  Matrix taken(std::ssize(which), rows.cols(), rows.dtype());
  const auto row_bytes = static_cast<size_t>(rows.cols() * DTypeSize_bytes(rows.dtype()));
  for (int64_t i = 0; i < taken.rows(); ++i) {
    const int64_t row = which[static_cast<size_t>(i)];
    std::memcpy(taken.view().Rows(i, 1).data, rows.Rows(row, 1).data, row_bytes);
    rows.Release(row, 1);
  }
  return taken;
}

}  // namespace lamina
