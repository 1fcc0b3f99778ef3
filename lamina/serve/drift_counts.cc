// Counting values in bins.
#include "lamina/serve/drift_counts.h"

#include <algorithm>

namespace lamina::serve {

DriftCounts::DriftCounts(const DataProfile& profile) : begins_{0} {
  for (const ColumnProfile& column : profile.columns) {
    begins_.push_back(begins_.back() + column.shares.size() + 1);
  }
  counts_ = std::make_unique<Count[]>(begins_.back());
}

void DriftCounts::CountNumbers(const DataProfile& profile, const double* numbers, int64_t rows) {
  for (size_t c = 0; c + 1 < begins_.size(); ++c) {
    const std::vector<double>& edges = profile.columns[c].edges;
    if (!profile.columns[c].is_number) {
      continue;
    }
    for (int64_t row = 0; row < rows; ++row) {
      const double value = numbers[static_cast<size_t>(row) * (begins_.size() - 1) + c];
      counts_[begins_[c] + static_cast<size_t>(std::lower_bound(edges.begin(), edges.end(), value) - edges.begin())]
          .Add();
    }
  }
}

void DriftCounts::CountTable(const DataProfile& profile, const BoundTable& table, std::span<const int64_t> rows) {
  for (size_t c = 0; c + 1 < begins_.size(); ++c) {
    const Column& column = table.InputColumn(c);
    if (profile.columns[c].is_number && column.kind == ColumnKind::kText) {
      continue;
    }
    const std::vector<double> counts = CountInBins(profile.columns[c], column, rows);
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      counts_[begins_[c] + bin].Add(static_cast<int64_t>(counts[bin]));
    }
  }
}

void DriftCounts::AddTo(size_t index, std::vector<double>& counts) const {
  counts.resize(begins_[index + 1] - begins_[index]);
  for (size_t bin = 0; bin < counts.size(); ++bin) {
    counts[bin] += static_cast<double>(counts_[begins_[index] + bin].value());
  }
}

}  // namespace lamina::serve
