// Rows in order, so that equal ones are neighbors.
#include "lamina/rbf/equal_rows.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace lamina {

std::vector<int64_t> GroupsOfEqualRows(ConstMatrixView x) {
  std::vector<int64_t> order(static_cast<size_t>(x.rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto less = [&](int64_t a, int64_t b) {
    const double* const first = x.Row<double>(a);
    const double* const second = x.Row<double>(b);
    return std::lexicographical_compare(first, first + x.cols, second, second + x.cols);
  };
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return less(a, b) || (!less(b, a) && a < b); });
  std::vector<int64_t> groups(static_cast<size_t>(x.rows));
  bool some = false;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool equal = i > 0 && !less(order[i - 1], order[i]);
    some = some || equal;
    groups[static_cast<size_t>(order[i])] = equal ? groups[static_cast<size_t>(order[i - 1])] : order[i];
  }
  return some ? groups : std::vector<int64_t>();
}

int64_t CountEqualRows(const std::vector<int64_t>& groups) {
  std::unordered_map<int64_t, int64_t> sizes;
  for (const int64_t group : groups) {
    ++sizes[group];
  }
  int64_t equal = 0;
  for (const auto& [group, size] : sizes) {
    equal += size > 1 ? size : 0;
  }
  return equal;
}

std::vector<int64_t> NumbersOfGroups(const std::vector<double>& keys) {
  std::vector<double> values = keys;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<int64_t> numbers;
  std::transform(keys.begin(), keys.end(), std::back_inserter(numbers),
                 [&](double key) { return std::lower_bound(values.begin(), values.end(), key) - values.begin(); });
  return numbers;
}

}  // namespace lamina
