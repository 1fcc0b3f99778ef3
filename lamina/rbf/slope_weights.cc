// Slopes row by row: their squares a column at a time, or all products of two columns.
#include "lamina/rbf/slope_weights.h"

#include <algorithm>
#include <cmath>

#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/rbf/cholesky.h"

namespace lamina {
namespace {

constexpr double kLeastSquaredWeight = 1e-6;  // of a column, beside the largest: xRFM's, too
constexpr int64_t kSlopesAtOnce = 16;         // whose slopes are a product
constexpr int64_t kRowsOfSlopes = 256;        // whose slopes are kept
constexpr auto kSlopeBytes = static_cast<int64_t>(sizeof(double));

int64_t InSteps(int64_t n) { return (n + cpu::kProductStep - 1) / cpu::kProductStep * cpu::kProductStep; }

double WeightOfRow(const AnswerSlopes& slopes, int64_t i) {
  return slopes.row_weights.empty() ? 1 : slopes.row_weights[static_cast<size_t>(i)];
}

double TotalWeight(const AnswerSlopes& slopes) {
  double total = 0;
  for (int64_t i = 0; i < slopes.rows.columns().rows; ++i) {
    total += WeightOfRow(slopes, i);
  }
  return total;
}

// A square of numbers whose rows `products` can read.
struct Square {
  explicit Square(int64_t size)
      : size(size), stride(InSteps(size)), buffer(std::max<int64_t>(1, size * stride) * kSlopeBytes) {}
  double* Row(int64_t i) const { return buffer.As<double>().data() + i * stride; }

  int64_t size;
  int64_t stride;
  AlignedBuffer buffer;
};

// to = a b', or less it.
void Product(const Square& a, const Square& b, Square& to, int threads) {
  RunParts(threads, a.size, [&](int64_t begin, int64_t end) {
    cpu::SymmetricKernels().products({a.Row(begin), a.stride, b.Row(0), b.stride, to.Row(begin), to.stride, end - begin,
                                      b.size, a.stride, /*subtract=*/false});
  });
}

// Slopes of answers along the columns that `rows` have, times the root of the row's weight. Element j of output c of
// row i of a chunk is at j * stride_ + i * outputs + c.
class ChunkOfSlopes {
 public:
  explicit ChunkOfSlopes(const AnswerSlopes& slopes)
      : slopes_(slopes),
        x_(slopes.rows.columns()),
        stride_(InSteps(kRowsOfSlopes * slopes.outputs)),
        buffer_(x_.width * stride_ * kSlopeBytes) {}

  void Find(int64_t first, int64_t count) {
    std::fill_n(buffer_.As<double>().data(), x_.width * stride_, 0.0);
    RunParts(slopes_.threads, (count + kSlopesAtOnce - 1) / kSlopesAtOnce, [&](int64_t begin, int64_t end) {
      const AlignedBuffer weighed(kSlopesAtOnce * x_.stride * kSlopeBytes);
      const AlignedBuffer sums(kSlopesAtOnce * x_.width * kSlopeBytes);
      const AlignedBuffer kernel(x_.stride * kSlopeBytes);
      for (int64_t row = begin * kSlopesAtOnce; row < std::min(count, end * kSlopesAtOnce); ++row) {
        slopes_.rows.Distances(first + row, x_.rows, kernel.As<double>().data());
        cpu::SymmetricKernels().slope_weights(kernel.As<double>().data(), x_.rows, slopes_.shape,
                                              kernel.As<double>().data());
        for (int64_t c = 0; c < slopes_.outputs; c += kSlopesAtOnce) {
          OfRow(first, row, c, kernel.As<double>().data(), weighed.As<double>().data(), sums.As<double>().data());
        }
      }
    });
  }

  // sums -= the products of slopes along two columns each.
  void SubtractFrom(Square& sums) const {
    const double* const slopes = buffer_.As<double>().data();
    RunParts(slopes_.threads, x_.width, [&](int64_t begin, int64_t end) {
      cpu::SymmetricKernels().products({slopes + begin * stride_, stride_, slopes, stride_, sums.Row(begin),
                                        sums.stride, end - begin, x_.width, stride_, /*subtract=*/true});
    });
  }

 private:
  // Some outputs from `c` on.
  void OfRow(int64_t first, int64_t row, int64_t c, const double* kernel, double* weighed, double* sums) {
    const int64_t outputs = std::min(kSlopesAtOnce, slopes_.outputs - c);
    const int64_t depth = InSteps(x_.rows);
    double totals[kSlopesAtOnce] = {};
    for (int64_t k = 0; k < outputs; ++k) {
      double* const of_output = weighed + k * depth;
      const double* const alpha = slopes_.alpha + (c + k) * x_.stride;
      for (int64_t i = 0; i < x_.rows; ++i) {
        of_output[i] = kernel[i] * alpha[i];
        totals[k] += of_output[i];
      }
      std::fill(of_output + x_.rows, of_output + depth, 0.0);
    }
    cpu::SymmetricKernels().products({weighed, depth, x_.columns, x_.stride, sums, x_.width, outputs, x_.width, depth,
                                      /*subtract=*/false});
    const double root = slopes_.shape.power * std::sqrt(WeightOfRow(slopes_, first + row));
    const double* const own = slopes_.rows.Row(first + row);
    for (int64_t k = 0; k < outputs; ++k) {
      for (int64_t j = 0; j < x_.width; ++j) {
        buffer_.As<double>()[static_cast<size_t>(j * stride_ + row * slopes_.outputs + c + k)] =
            root * (own[j] * totals[k] - sums[k * x_.width + j]);
      }
    }
  }

  const AnswerSlopes& slopes_;
  cpu::ColumnRows x_;
  int64_t stride_;
  AlignedBuffer buffer_;
};

// Rows of the columns before they were weighed: T (products of slopes) T'.
void BeforeWeights(const AnswerSlopes& slopes, Square& products) {
  const int64_t columns = products.size;
  Square weights(columns);
  const bool matrix = std::ssize(slopes.weights) != columns;
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t k = 0; matrix && k < columns; ++k) {
      weights.Row(j)[k] = slopes.weights[static_cast<size_t>(j * columns + k)];
    }
    if (!matrix) {
      weights.Row(j)[j] = slopes.weights[static_cast<size_t>(j)];
    }
  }
  Square half(columns);
  Product(weights, products, half, slopes.threads);
  Product(half, weights, products, slopes.threads);
}

// Products of slopes along two columns each, of the columns that `rows` have, without the square of the power.
std::vector<double> ProductsOnDevice(const AnswerSlopes& slopes) {
  const cpu::ColumnRows x = slopes.rows.columns();
  std::vector<double> roots;
  for (int64_t i = 0; i < x.rows; ++i) {
    roots.push_back(std::sqrt(WeightOfRow(slopes, i)));
  }
  std::vector<double> products(static_cast<size_t>(x.width * x.width));
  slopes.device->SlopeProducts({slopes.shape, slopes.alpha, roots.data()}, products.data());
  return products;
}

// For each column, the sum over rows, by their weights, of squares.
std::vector<double> SumsOfSquares(const AnswerSlopes& slopes) {
  const cpu::ColumnRows x = slopes.rows.columns();
  std::vector<double> sums(static_cast<size_t>(x.width));
  if (slopes.device != nullptr) {
    const std::vector<double> products = ProductsOnDevice(slopes);
    for (size_t j = 0; j < sums.size(); ++j) {
      sums[j] = products[j * sums.size() + j];
    }
    return sums;
  }
  std::vector<double> of_rows(static_cast<size_t>(x.rows * x.width));
  RunTeam(slopes.threads, [&](Team team) {
    const AlignedBuffer buffer(x.stride * kSlopeBytes);
    double* const w = buffer.As<double>().data();
    for (int64_t i = team.thread; i < x.rows; i += team.size) {
      slopes.rows.Distances(i, x.rows, w);
      cpu::SymmetricKernels().slope_weights(w, x.rows, slopes.shape, w);
      cpu::SymmetricKernels().squared_slopes(slopes.rows.Row(i), x, w, slopes.alpha, slopes.outputs, slopes.shape.p,
                                             &of_rows[static_cast<size_t>(i * x.width)]);
    }
  });
  for (int64_t i = 0; i < x.rows; ++i) {
    const double weight = WeightOfRow(slopes, i);
    for (size_t j = 0; j < sums.size(); ++j) {
      sums[j] += weight * of_rows[static_cast<size_t>(i) * sums.size() + j];
    }
  }
  return sums;
}

// products -= those of slopes along two columns each.
void SubtractProducts(const AnswerSlopes& slopes, Square& products) {
  const int64_t rows = slopes.rows.columns().rows;
  if (slopes.device != nullptr) {
    const std::vector<double> found = ProductsOnDevice(slopes);
    const double factor = slopes.shape.power * slopes.shape.power;
    for (int64_t j = 0; j < products.size; ++j) {
      for (int64_t k = 0; k < products.size; ++k) {
        products.Row(j)[k] -= factor * found[static_cast<size_t>(j * products.size + k)];
      }
    }
    return;
  }
  ChunkOfSlopes chunk(slopes);
  for (int64_t first = 0; first < rows; first += kRowsOfSlopes) {
    StopPoint();
    chunk.Find(first, std::min(kRowsOfSlopes, rows - first));
    chunk.SubtractFrom(products);
  }
}

}  // namespace

std::vector<double> SquaredSlopes(const AnswerSlopes& slopes) {
  std::vector<double> means = SumsOfSquares(slopes);
  const double total = TotalWeight(slopes);
  for (size_t j = 0; j < means.size(); ++j) {
    const double factor = slopes.shape.power * slopes.weights[j];
    means[j] *= factor * factor / total;
  }
  return means;
}

std::vector<double> WeightsOfSlopes(const AnswerSlopes& slopes) {
  std::vector<double> weights = SquaredSlopes(slopes);
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (!(largest > 0) || !std::isfinite(largest)) {
    return {};
  }
  std::transform(weights.begin(), weights.end(), weights.begin(),
                 [&](double square) { return std::sqrt(std::max(square / largest, kLeastSquaredWeight)); });
  return weights;
}

std::vector<double> MatrixOfSlopes(const AnswerSlopes& slopes) {
  const cpu::ColumnRows x = slopes.rows.columns();
  Square products(x.width);
  SubtractProducts(slopes, products);
  BeforeWeights(slopes, products);
  double largest = 0;  // of what is negative yet
  for (int64_t j = 0; j < x.width; ++j) {
    largest = std::min(largest, products.Row(j)[j]);
  }
  if (!(largest < 0) || !std::isfinite(largest)) {
    return {};
  }
  Cholesky<double> factor(x.width, 0, slopes.threads, /*inverse=*/false);
  for (int64_t i = 0; i < x.width; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      factor.Panel(0)[TrianglePlace(i, j)] = products.Row(i)[j] / largest + (i == j ? kLeastSquaredWeight : 0);
    }
  }
  if (!factor.Factorise(0)) {
    return {};
  }
  std::vector<double> matrix(static_cast<size_t>(x.width * x.width));
  for (int64_t i = 0; i < x.width; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      matrix[static_cast<size_t>(i * x.width + j)] = factor.Panel(0)[TrianglePlace(i, j)];
    }
  }
  return matrix;
}

}  // namespace lamina
