// Errors of groups by blocks of the inverse, of times by the factor alone.
#include "lamina/rbf/left_out_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/rbf/kernel_systems.h"

namespace lamina {
namespace {

// Where a time begins that is nearest above the half of the rows, else below it.
int64_t FirstAsked(std::span<const double> times) {
  const auto begins = [&](int64_t i) { return times[static_cast<size_t>(i)] != times[static_cast<size_t>(i - 1)]; };
  const int64_t half = std::max<int64_t>(1, std::ssize(times) / 2);
  for (int64_t i = half; i < std::ssize(times); ++i) {
    if (begins(i)) {
      return i;
    }
  }
  for (int64_t i = half - 1; i > 0; --i) {
    if (begins(i)) {
      return i;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "all rows have the same time: none is earlier than another",
              {.remedy = "Use another column."});
}

}  // namespace

LeftOutRows::LeftOutRows(int64_t rows, std::span<const double> weights, std::span<const int64_t> groups,
                         std::span<const double> times)
    : weights_(weights) {
  if (!times.empty()) {
    for (int64_t i = FirstAsked(times); i < rows; ++i) {
      const bool same = !earlier_.empty() && times[static_cast<size_t>(i)] == times[static_cast<size_t>(i - 1)];
      if (!same) {
        earlier_.push_back({i, i});
      }
      earlier_.back().end = i + 1;
    }
    return;
  }
  std::map<int64_t, size_t> places;
  for (int64_t i = 0; i < rows; ++i) {
    const auto [place, added] =
        places.try_emplace(groups.empty() ? i : groups[static_cast<size_t>(i)], members_.size());
    if (added) {
      members_.emplace_back();
    }
    members_[place->second].push_back(i);
  }
}

void LeftOutRows::Take(int64_t row, const double* of_row, Matrix& errors, double& sum, double& weights) const {
  const double weight = WeightOf(row);
  weights += weight;
  for (int64_t c = 0; c < errors.cols(); ++c) {
    errors.Row<double>(row)[c] = of_row[c];
    sum += weight * of_row[c] * of_row[c];
  }
}

double LeftOutRows::Errors(const KernelSystems& systems, Matrix& errors) const {
  const int64_t outputs = errors.cols();
  double sum = 0;
  double weights = 0;
  std::vector<double> some;
  for (const std::vector<int64_t>& members : members_) {
    some.resize(members.size() * static_cast<size_t>(outputs));
    systems.LeftOut(members, some.data());
    for (size_t m = 0; m < members.size(); ++m) {
      Take(members[m], &some[m * static_cast<size_t>(outputs)], errors, sum, weights);
    }
  }
  for (int64_t i = 0; !earlier_.empty() && i < earlier_.front().begin; ++i) {
    std::fill_n(errors.Row<double>(i), outputs, kNaN);
  }
  some.resize(static_cast<size_t>(outputs));
  for (const Run& run : earlier_) {
    for (int64_t i = run.begin; i < run.end; ++i) {
      systems.ByEarlier(i, run.begin, some.data());
      Take(i, some.data(), errors, sum, weights);
    }
  }
  const double mean = sum / weights / static_cast<double>(outputs);
  return std::isfinite(mean) ? mean : INFINITY;
}

}  // namespace lamina
