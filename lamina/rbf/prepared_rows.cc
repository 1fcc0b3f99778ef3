// In f64, targets less their means.
#include "lamina/rbf/prepared_rows.h"

#include <algorithm>

#include "lamina/base/convert.h"
#include "lamina/rbf/equal_rows.h"

namespace lamina {
namespace {

constexpr double kShareOfFew = 0.2;
constexpr double kShareOfAll = 0.95;

// Rows of a number are compared with the first of them, whose number it is.
bool HaveSameTargets(const std::vector<int64_t>& groups, const Matrix& targets) {
  for (int64_t i = 0; i < targets.rows(); ++i) {
    const double* const row = targets.Row<double>(i);
    if (!std::equal(row, row + targets.cols(), targets.Row<double>(groups[static_cast<size_t>(i)]))) {
      return false;
    }
  }
  return true;
}

}  // namespace

PreparedRows Prepared(const Dataset& rows, bool equal_together) {
  PreparedRows prepared{
      InDoubles(rows.features.view()), InDoubles(rows.targets.view()), rows.sample_weights, {}, {}, rows.times};
  const int64_t count = rows.size();
  const auto weight_of = [&](int64_t i) {
    return prepared.weights.empty() ? 1.0 : prepared.weights[static_cast<size_t>(i)];
  };
  double weights = 0;
  for (int64_t i = 0; i < count; ++i) {
    weights += weight_of(i);
  }
  prepared.means.resize(static_cast<size_t>(prepared.y.cols()));
  for (size_t c = 0; c < prepared.means.size(); ++c) {
    double total = 0;
    for (int64_t i = 0; i < count; ++i) {
      total += prepared.y.Row<double>(i)[c] * weight_of(i);
    }
    prepared.means[c] = total / weights;
    for (int64_t i = 0; i < count; ++i) {
      prepared.y.Row<double>(i)[c] -= prepared.means[c];
    }
  }
  prepared.groups = rows.groups;
  if (rows.groups.empty() && rows.times.empty() && equal_together) {
    prepared.groups = GroupsOfEqualRows(prepared.x.view());
  }
  return prepared;
}

bool EqualRowsAreCopies(const Dataset& rows) {
  const std::vector<int64_t> groups = GroupsOfEqualRows(InDoubles(rows.features.view()).view());
  const bool one_place = !groups.empty() && std::ranges::count(groups, groups.front()) == rows.size();
  const double share = static_cast<double>(CountEqualRows(groups)) / static_cast<double>(rows.size());
  return one_place || share < kShareOfFew ||
         (share > kShareOfAll && HaveSameTargets(groups, InDoubles(rows.targets.view())));
}

}  // namespace lamina
