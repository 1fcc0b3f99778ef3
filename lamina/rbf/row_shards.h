// Rows in shards that ranks share, and the rows that are nearest to centers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/row_source.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/shards.h"
#include "lamina/neuron/problem.h"

namespace lamina {

/// Rows that are cut into shards, of which every rank has some that follow one another. What is said of every shard
/// does not depend on how many ranks there are.
class RowShards {
 public:
  /// `ranks` null: this process alone.
  RowShards(int64_t rows, int64_t shards, Communicator* ranks);

  int64_t rows() const { return rows_; }
  int64_t count() const { return shards_; }
  IndexRange own_shards() const { return own_; }
  IndexRange RowsOf(int64_t shard) const { return PartOf(rows_, shards_, shard); }
  /// The rows of this rank.
  IndexRange own_rows() const { return {RowsOf(own_.begin).begin, RowsOf(own_.end - 1).end}; }

  /// Collective: whether it is true on any rank.
  bool Any(bool mine) const { return ranks_ == nullptr ? mine : ranks_->Any(mine); }
  /// Collective: what all ranks have, by rank.
  template <class T>
  std::vector<T> Gather(const std::vector<T>& own) const {
    if (ranks_ == nullptr) {
      return own;
    }
    std::vector<T> all;
    for (const std::string& part :
         ranks_->AllGather(std::string(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(T)))) {
      all.resize(all.size() + part.size() / sizeof(T));
      std::memcpy(all.data() + all.size() - part.size() / sizeof(T), part.data(), part.size());
    }
    return all;
  }
  /// Collective: sums of numbers, one a row of this rank, for every shard of all ranks.
  std::vector<double> SumsOf(const std::vector<double>& own) const;

 private:
  int64_t rows_;
  int64_t shards_;
  Communicator* ranks_;
  IndexRange own_;
};

/// The nearest center of every row of this rank, and the distance to it.
struct Assignment {
  std::vector<int64_t> centre;
  std::vector<double> distance;
};

/// Assigns rows to centers; of equally near ones, the lower index. Rows and centers in f32 or f64. Throws as
/// NearestRows(), with the row among all of `rows`.
Assignment AssignRows(RowSource& rows, const RowShards& shards, const Matrix& centres, Synapse metric,
                      const Backend& backend);

/// The rows `which`, copied.
Matrix TakeRows(RowSource& rows, const std::vector<int64_t>& which);

}  // namespace lamina
