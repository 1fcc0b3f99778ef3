// A row, one near it, and columns of both.
#include "lamina/run/made_up_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr uint64_t kMadeUpStream = 0x3ADE;

template <class T>
double SquaredDistance(const T* a, const T* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += apart * apart;
  }
  return sum;
}

// The nearest of some random rows that is not the row itself, where one of them is another.
template <class T>
int64_t RowNear(const Matrix& features, int64_t row, int64_t among, Random& random) {
  int64_t nearest = row;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < among; ++i) {
    const auto other = static_cast<int64_t>(random.Below(static_cast<uint64_t>(features.rows())));
    const double distance = SquaredDistance(features.Row<T>(row), features.Row<T>(other), features.cols());
    if (other != row && distance < least) {
      least = distance;
      nearest = other;
    }
  }
  return nearest;
}

// Places of columns in an encoded row; where there are none of a table, each input is one.
std::vector<std::pair<int64_t, int64_t>> PlacesOf(const InputEncoder& inputs, int64_t count) {
  std::vector<std::pair<int64_t, int64_t>> places;
  for (const FittedColumn& column : inputs.columns()) {
    places.emplace_back(column.place, column.width());
  }
  for (int64_t i = 0; i < count && inputs.columns().empty(); ++i) {
    places.emplace_back(i, 1);
  }
  return places;
}

}  // namespace

Matrix MakeUpRows(const Matrix& features, const InputEncoder& inputs, const MadeUpOptions& options) {
  Matrix made(options.rows, features.cols(), features.dtype());
  const std::vector<std::pair<int64_t, int64_t>> places = PlacesOf(inputs, features.cols());
  Random random(options.seed, kMadeUpStream);
  DispatchFloat(features.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < made.rows(); ++i) {
      const auto row = static_cast<int64_t>(random.Below(static_cast<uint64_t>(features.rows())));
      const int64_t other = RowNear<T>(features, row, options.among, random);
      std::copy_n(features.Row<T>(row), features.cols(), made.Row<T>(i));
      for (const auto& [place, width] : places) {
        if (random.Uniform() < options.exchanged) {
          std::copy_n(features.Row<T>(other) + place, width, made.Row<T>(i) + place);
        }
      }
    }
  });
  return made;
}

}  // namespace lamina
