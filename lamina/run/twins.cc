// What a row's place leaves is common to all rows there; the rest is of the row alone. Means are shrunk by how large
// these two are.
#include "lamina/run/twins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/rbf/equal_rows.h"

namespace lamina {
namespace {

constexpr int64_t kMostNumbers = 400'000;  // inputs times rows
constexpr int64_t kLeastTwins = 40;
constexpr double kSureDeviations = 2.5;
constexpr double kLeastAgreement = 0.1;

// In an L1 distance between encoded rows. Doors differ by some 1e-6 in it, where the curve is flat.
constexpr double kRadius = 3e-4;
constexpr double kReach = 4 * kRadius;  // beyond, a neuron is silent

constexpr double kGolden = 0.6180339887498949;

// The rows of all folds, in the order of the table.
struct KnownRows {
  Matrix inputs;  // f64
  std::vector<int64_t> folds;
  int64_t fold_count = 0;
};

// The rows that have the same inputs, place by place; none where all rows differ.
using Places = std::vector<std::vector<int64_t>>;

Places PlacesOf(const Matrix& inputs) {
  std::vector<int64_t> groups = GroupsOfEqualRows(inputs.view());
  Places places;
  if (groups.empty()) {
    return places;
  }
  std::unordered_map<int64_t, size_t> place_of;
  for (int64_t i = 0; i < std::ssize(groups); ++i) {
    const auto [place, is_new] = place_of.try_emplace(groups[static_cast<size_t>(i)], places.size());
    if (is_new) {
      places.emplace_back();
    }
    places[place->second].push_back(i);
  }
  return places;
}

std::vector<double> SumOf(const Matrix& numbers, std::span<const int64_t> rows) {
  std::vector<double> sum(static_cast<size_t>(numbers.cols()), 0.0);
  for (const int64_t row : rows) {
    std::transform(sum.begin(), sum.end(), numbers.Row<double>(row), sum.begin(), std::plus());
  }
  return sum;
}

double SquaresOf(std::span<const double> numbers) {
  return std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0);
}

double SquaresOf(const Matrix& numbers, std::span<const int64_t> rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0, [&](double sum, int64_t row) {
    return sum + SquaresOf(std::span(numbers.Row<double>(row), static_cast<size_t>(numbers.cols())));
  });
}

struct Variances {
  double common = 0;     // of what twins leave: what they have together
  double own = 0;        // and what they have not
  double deviation = 0;  // of `common`, by the places
  int64_t rows = 0;
};

// By products of pairs; each place counts by its rows, not by its pairs.
Variances VariancesOf(const Matrix& rest, const Places& twins) {
  Variances of;
  double squares = 0;
  std::vector<std::pair<double, double>> pairs;  // sum of products, rows
  for (const std::vector<int64_t>& place : twins) {
    const auto n = static_cast<double>(place.size());
    const double own = SquaresOf(rest, place);
    pairs.emplace_back((SquaresOf(SumOf(rest, place)) - own) / (n - 1), n);
    of.common += pairs.back().first;
    of.rows += std::ssize(place);
    squares += own;
  }
  const auto count = static_cast<double>(std::max<int64_t>(of.rows, 1));
  of.common /= count;
  of.own = squares / count - of.common;
  for (const auto& [products, n] : pairs) {
    of.deviation += std::pow(products - n * of.common, 2);
  }
  of.deviation = std::sqrt(of.deviation) / count;
  return of;
}

// What a model that has seen a twin leaves, to what one leaves that has not: by pairs in different folds, and in the
// same. 0: pairs in the same fold do not tell.
double LeftOfSeen(const Matrix& rest, const Places& twins, const KnownRows& known) {
  double seen = 0;
  double seen_pairs = 0;
  double unseen = 0;
  double unseen_pairs = 0;
  for (const std::vector<int64_t>& place : twins) {
    const auto n = static_cast<double>(place.size());
    double together = 0;  // squares of sums of folds
    double pairs = 0;
    for (int64_t fold = 0; fold < known.fold_count; ++fold) {
      std::vector<int64_t> rows;
      std::ranges::copy_if(place, std::back_inserter(rows),
                           [&](int64_t row) { return known.folds[static_cast<size_t>(row)] == fold; });
      const double squares = SquaresOf(SumOf(rest, rows));
      together += squares;
      unseen += (squares - SquaresOf(rest, rows)) / (n - 1);
      pairs += static_cast<double>(rows.size() * rows.size()) - static_cast<double>(rows.size());
    }
    unseen_pairs += pairs / (n - 1);
    seen += (SquaresOf(SumOf(rest, place)) - together) / (n - 1);
    seen_pairs += (n * (n - 1) - pairs) / (n - 1);
  }
  const double before = unseen / std::max(unseen_pairs, 1.0);
  const double after = seen / std::max(seen_pairs, 1.0);
  return before > 0 && after > 0 ? std::sqrt(std::min(1.0, after / before)) : 0;
}

// Whether another place is so near that a neuron at one would answer at the other. By a sum of columns with factors of
// size 1 at most, which is no further than the rows are.
std::vector<bool> HaveNeighbors(const Matrix& inputs, const Places& places) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t p = 0; p < places.size(); ++p) {
    const double* const row = inputs.Row<double>(places[p].front());
    double sum = 0;
    for (int64_t j = 0; j < inputs.cols(); ++j) {
      const double turn = static_cast<double>(j + 1) * kGolden;
      sum += row[j] * (2 * (turn - std::floor(turn)) - 1);
    }
    order.emplace_back(sum, p);
  }
  std::ranges::sort(order);
  std::vector<bool> near(places.size(), false);
  for (size_t a = 0; a < order.size(); ++a) {
    for (size_t b = a + 1; b < order.size() && order[b].first - order[a].first < kReach; ++b) {
      const double* const x = inputs.Row<double>(places[order[a].second].front());
      const double* const y = inputs.Row<double>(places[order[b].second].front());
      double distance = 0;
      for (int64_t j = 0; j < inputs.cols() && distance < kReach; ++j) {
        distance += std::abs(x[j] - y[j]);
      }
      if (distance < kReach) {
        near[order[a].second] = near[order[b].second] = true;
      }
    }
  }
  return near;
}

// What `count` rows of a place tell by their sum: their mean, shrunk.
double FactorOf(const Variances& of, double count) { return of.common / (count * of.common + of.own); }

Network NetworkOf(const Matrix& inputs, const Matrix& rest, const Places& places, const Variances& variances,
                  double left_of_seen, DType dtype) {
  const std::vector<bool> near = HaveNeighbors(inputs, places);
  const int64_t neurons = std::ranges::count(near, false);
  Network network({{inputs.cols(), std::max<int64_t>(neurons, 1), Synapse::kL1,
                    Activation("gaussian").WithRadius(kRadius), /*bias=*/false},
                   {std::max<int64_t>(neurons, 1), rest.cols(), Synapse::kDot, Activation(), /*bias=*/true}},
                  dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    int64_t neuron = 0;
    for (size_t p = 0; p < places.size(); ++p) {
      if (near[p]) {
        continue;
      }
      const double* const row = inputs.Row<double>(places[p].front());
      std::transform(row, row + inputs.cols(), network.Weights(0).Row<T>(neuron),
                     [](double x) { return static_cast<T>(x); });
      const double factor = left_of_seen * FactorOf(variances, static_cast<double>(places[p].size()));
      const std::vector<double> sum = SumOf(rest, places[p]);
      for (int64_t k = 0; k < rest.cols(); ++k) {
        network.Weights(1).Row<T>(k)[neuron] = static_cast<T>(factor * sum[static_cast<size_t>(k)]);
      }
      ++neuron;
    }
  });
  return network;
}

Matrix ToldBy(const Matrix& rest, const Places& places, const Variances& variances) {
  Matrix told(rest.rows(), rest.cols(), DType::kF64);
  for (const std::vector<int64_t>& place : places) {
    const std::vector<double> sum = SumOf(rest, place);
    const double factor = place.size() < 2 ? 0 : FactorOf(variances, static_cast<double>(place.size() - 1));
    for (const int64_t row : place) {
      for (int64_t k = 0; k < rest.cols(); ++k) {
        told.Row<double>(row)[k] = factor * (sum[static_cast<size_t>(k)] - rest.Row<double>(row)[k]);
      }
    }
  }
  return told;
}

KnownRows InOrder(std::span<const Matrix> inputs, std::span<const std::vector<int64_t>> rows) {
  struct Known {
    int64_t row;
    size_t fold;
    int64_t place;
  };
  std::vector<Known> order;
  for (size_t fold = 0; fold < rows.size(); ++fold) {
    for (size_t i = 0; i < rows[fold].size(); ++i) {
      order.push_back({rows[fold][i], fold, static_cast<int64_t>(i)});
    }
  }
  std::ranges::sort(order, {}, &Known::row);
  KnownRows known{Matrix(std::ssize(order), inputs.front().cols(), DType::kF64), {}, std::ssize(rows)};
  DispatchFloat(inputs.front().dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < known.inputs.rows(); ++i) {
      const auto [row, fold, place] = order[static_cast<size_t>(i)];
      std::copy_n(inputs[fold].Row<T>(place), known.inputs.cols(), known.inputs.Row<double>(i));
      known.folds.push_back(static_cast<int64_t>(fold));
    }
  });
  return known;
}

}  // namespace

std::string Twins::Text() const {
  return fmt::format(
      "{} rows have others with the same inputs: {:.0f} % of what the models leave of one its twin has, too, and such "
      "rows are answered by it",
      rows, 100 * agreement);
}

void TwinSearch::Keep(size_t fold, const Dataset& test) {
  const Matrix& from = test.features;
  if (from.rows() * from.cols() > kMostNumbers) {
    return;
  }
  Matrix copy(from.rows(), from.cols(), from.dtype());
  ConvertMatrix(from.view(), copy.view());
  inputs_.resize(std::max(inputs_.size(), fold + 1));
  rows_.resize(inputs_.size());
  inputs_[fold] = std::move(copy);
  rows_[fold] = test.rows;
}

std::optional<Twins> TwinSearch::Find(const RestOfRows& rest) const {
  const int64_t inputs = inputs_.empty() ? 0 : inputs_.front().cols();
  const bool all = std::ranges::none_of(rows_, &std::vector<int64_t>::empty);
  if (inputs == 0 || !all || rest.all.rows() * inputs > kMostNumbers) {
    return std::nullopt;
  }
  const KnownRows known = InOrder(inputs_, rows_);
  const Places places = PlacesOf(known.inputs);
  Places twins;
  std::ranges::copy_if(places, std::back_inserter(twins), [](const auto& place) { return place.size() > 1; });
  const Variances variances = VariancesOf(rest.all, twins);
  const double agreement = variances.common / (variances.common + variances.own);
  if (variances.rows < kLeastTwins || !(variances.common > kSureDeviations * variances.deviation) ||
      !(agreement >= kLeastAgreement)) {
    return std::nullopt;
  }
  const double left = LeftOfSeen(rest.cut, twins, known);
  if (left == 0) {
    return std::nullopt;
  }
  // Each fold's model has seen all other folds.
  const double unseen = 1.0 / static_cast<double>(known.fold_count);
  return Twins{
      NetworkOf(known.inputs, rest.all, places, variances, unseen + (1 - unseen) * left, inputs_.front().dtype()),
      ToldBy(rest.all, places, variances), variances.rows, agreement};
}

}  // namespace lamina
