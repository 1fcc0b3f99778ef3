// Sorted columns, cut where a bin is full.
#include "lamina/boost/column_bins.h"

#include <algorithm>

#include "lamina/base/dtype.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

std::vector<double> ColumnOf(ConstMatrixView x, int64_t column) {
  std::vector<double> numbers(static_cast<size_t>(x.rows));
  DispatchFloat(x.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < x.rows; ++i) {
      numbers[static_cast<size_t>(i)] = static_cast<double>(x.Row<T>(i)[column]);
    }
  });
  return numbers;
}

// `sorted`: ascending.
std::vector<ColumnCut> CutsOf(const std::vector<double>& sorted, int64_t most, double apart) {
  int64_t different = 0;
  for (size_t i = 0; i < sorted.size(); ++i) {
    different += i == 0 || sorted[i] - sorted[i - 1] > apart ? 1 : 0;
  }
  std::vector<ColumnCut> cuts;
  const auto rows = std::ssize(sorted);
  int64_t begin = 0;  // of the bin
  for (int64_t i = 1; i < rows && std::ssize(cuts) < most - 1; ++i) {
    const double last = sorted[static_cast<size_t>(i - 1)];
    const double next = sorted[static_cast<size_t>(i)];
    // As many in each of the bins that are left.
    const int64_t wanted = (rows - begin) / (most - std::ssize(cuts));
    if (next - last > apart && (different <= most || i - begin >= wanted)) {
      cuts.push_back({last, next});
      begin = i;
    }
  }
  return cuts;
}

}  // namespace

ColumnBins BinColumns(ConstMatrixView x, int64_t most, int threads, std::span<const double> apart) {
  ColumnBins bins;
  bins.cuts.resize(static_cast<size_t>(x.cols));
  RunEach(threads, x.cols, [&](int64_t column) {
    std::vector<double> numbers = ColumnOf(x, column);
    std::sort(numbers.begin(), numbers.end());
    bins.cuts[static_cast<size_t>(column)] =
        CutsOf(numbers, most, apart.empty() ? 0 : apart[static_cast<size_t>(column)]);
  });
  return bins;
}

std::vector<uint8_t> BinsOf(const ColumnBins& bins, ConstMatrixView x, int threads) {
  std::vector<uint8_t> codes(static_cast<size_t>(x.rows * x.cols));
  RunEach(threads, x.cols, [&](int64_t column) {
    const std::vector<ColumnCut>& cuts = bins.cuts[static_cast<size_t>(column)];
    const std::vector<double> numbers = ColumnOf(x, column);
    std::transform(numbers.begin(), numbers.end(), codes.begin() + column * x.rows, [&](double number) {
      const auto right = std::partition_point(
          cuts.begin(), cuts.end(), [&](const ColumnCut& cut) { return number > (cut.below + cut.above) / 2; });
      return static_cast<uint8_t>(right - cuts.begin());
    });
  });
  return codes;
}

}  // namespace lamina
