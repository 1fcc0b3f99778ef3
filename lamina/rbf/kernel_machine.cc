// The search: rounds of feature weights, and in a round scales and ridges, each judged by one factorisation.
#include "lamina/rbf/kernel_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/base/timing.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/kernel_solver.h"

namespace lamina {
namespace {

constexpr double kLeastSquaredWeight = 1e-6;  // of a column, beside the largest: xRFM's, too
constexpr double kWorseRound = 1.1;           // errors so much above the best end the rounds
constexpr double kFirstJitter = 1e-10;

// Rows of a triangle are shared out in turn: they differ in length.
template <class Fn>
void EachRow(int threads, int64_t rows, const Fn& fn) {
  RunTeam(threads, [&](Team team) {
    for (int64_t i = team.thread; i < rows; i += team.size) {
      fn(i);
    }
  });
}

void CheckFinite(ConstMatrixView rows, const char* what) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    const double* const row = rows.Row<double>(i);
    if (!std::all_of(row, row + rows.cols, [](double value) { return std::isfinite(value); })) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} of row {} are not finite", what, i + 1));
    }
  }
}

void CheckChoices(const KernelMachineOptions& options, ConstMatrixView x) {
  const KernelChoices& choices = options.choices;
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  const auto all = [](const auto& values, const auto& good) {
    return !values.empty() && std::all_of(values.begin(), values.end(), good);
  };
  const auto not_negative = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!all(choices.kinds,
           [&](const KernelKind& k) { return (k.p == 1 || k.p == 2) && positive(k.power) && k.power <= 2; }) ||
      !all(choices.scales, positive) || !all(choices.ridges, not_negative) || choices.rounds < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "kernels need p = 1 or 2, a power above 0 up to 2, positive scales and ridges from 0 on");
  }
  const auto fits = [](size_t size, int64_t count) { return size == 0 || static_cast<int64_t>(size) == count; };
  if (!fits(options.feature_weights.size(), x.cols) || !fits(options.sample_weights.size(), x.rows) ||
      !fits(options.groups.size(), x.rows) ||
      !std::all_of(options.sample_weights.begin(), options.sample_weights.end(), positive)) {
    throw Error(ErrorCode::kInvalidArgument, "weights or groups do not fit the rows, or are not positive");
  }
}

class KernelSearch {
 public:
  KernelSearch(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options)
      : x_(x),
        y_(y),
        options_(options),
        choices_(options.choices),
        solver_(x.rows, y.cols, options.threads),
        distances_(x.rows * solver_.stride() * 8),
        targets_(y.cols * solver_.stride() * 8),
        errors_(x.rows, y.cols, DType::kF64) {
    for (int64_t i = 0; i < y.rows; ++i) {
      for (int64_t c = 0; c < y.cols; ++c) {
        targets_.As<double>()[static_cast<size_t>(c * solver_.stride() + i)] = y.Row<double>(i)[c];
      }
    }
    std::map<int64_t, size_t> places;
    for (int64_t i = 0; i < x.rows; ++i) {
      const int64_t group = options.groups.empty() ? i : options.groups[static_cast<size_t>(i)];
      const auto [place, added] = places.try_emplace(group, members_.size());
      if (added) {
        members_.emplace_back();
      }
      members_[place->second].push_back(i);
    }
    const std::vector<int64_t> equal = GroupsOfEqualRows(x);
    for (int64_t i = 0; i < x.rows; ++i) {
      if (equal.empty() || equal[static_cast<size_t>(i)] == i) {
        different_.push_back(i);
      }
    }
    best_.error = INFINITY;
  }

  KernelMachine Run() {
    // What cannot be solved is passed by; where nothing can, the diagonals grow until it can.
    for (; best_.alpha.empty() && jitter_ < 1; jitter_ = jitter_ == 0 ? kFirstJitter : 10 * jitter_) {
      best_.errors_of_kinds.clear();
      for (const KernelKind& kind : choices_.kinds) {
        best_.errors_of_kinds.push_back(OutOfTime() && !best_.alpha.empty() ? kNaN : Rounds(kind));
      }
    }
    best_.tried = tried_;
    best_.complete = true;
    return std::move(best_);
  }

 private:
  struct Place {
    int64_t scale = 0;
    int64_t ridge = 0;
    bool operator<(const Place& other) const {
      return scale != other.scale ? scale < other.scale : ridge < other.ridge;
    }
  };

  bool OutOfTime() const { return options_.seconds > 0 && watch_.Elapsed_seconds() > options_.seconds; }

  // The least error of a kind of kernel.
  double Rounds(const KernelKind& kind) {
    std::vector<double> weights = options_.feature_weights;
    if (weights.empty()) {
      weights.assign(static_cast<size_t>(x_.cols), 1.0);
    }
    of_kind_ = INFINITY;
    for (int round = 0; round <= choices_.rounds; ++round) {
      const KernelRows rows(x_, weights, kind.p, options_.threads);
      EachRow(options_.threads, x_.rows, [&](int64_t i) { rows.Distances(i, i, Distances(i)); });
      median_ = MedianDistance(Distances(0), different_, solver_.stride());
      kind_ = kind;
      round_ = round;
      weights_ = &weights;
      of_round_.clear();
      start_ = choices_.all ? BestOfAll() : round == 0 ? BestOfScales() : WayDown(start_, kSteps);
      const double found = of_round_.at(start_);
      const bool worse = round > 0 && found > kWorseRound * of_kind_;
      of_kind_ = std::min(of_kind_, found);
      if (round == choices_.rounds || worse || !std::isfinite(found) || OutOfTime()) {
        break;
      }
      std::vector<double> squares = SquaredSlopesOf(rows, ShapeAt(start_), round_alpha_.data(), y_.cols, weights,
                                                    options_.sample_weights, options_.threads);
      const double largest = *std::max_element(squares.begin(), squares.end());
      if (!(largest > 0) || !std::isfinite(largest)) {
        break;  // nothing depends on any column
      }
      std::transform(squares.begin(), squares.end(), weights.begin(),
                     [&](double square) { return std::sqrt(std::max(square / largest, kLeastSquaredWeight)); });
    }
    return of_kind_;
  }

  double* Distances(int64_t i) { return distances_.As<double>().data() + i * solver_.stride(); }

  cpu::KernelShape ShapeAt(Place place) const {
    return {kind_.p, kind_.power, choices_.scales[static_cast<size_t>(place.scale)] * median_};
  }

  Place BestOfAll() {
    Place best;
    for (int64_t scale = 0; scale < std::ssize(choices_.scales); ++scale) {
      for (int64_t ridge = 0; ridge < std::ssize(choices_.ridges); ++ridge) {
        best = Better({scale, ridge}, best) ? Place{scale, ridge} : best;
      }
    }
    return best;
  }

  // Whether `place` is allowed and its error less.
  bool Better(Place place, Place than) {
    const bool inside = place.scale >= 0 && place.scale < std::ssize(choices_.scales) && place.ridge >= 0 &&
                        place.ridge < std::ssize(choices_.ridges);
    return inside && ErrorAt(place) < ErrorAt(than);
  }

  // A first round tries every scale; its ridge goes downhill from that of the scale before.
  Place BestOfScales() {
    Place best{0, std::ssize(choices_.ridges) / 2};
    Place at = best;
    for (; at.scale < std::ssize(choices_.scales); ++at.scale) {
      at = WayDown(at, std::span(kSteps).first(2));
      best = Better(at, best) ? at : best;
    }
    return best;
  }

  // Ridges, scales, and both: a larger scale with a smaller ridge is much the same machine.
  static constexpr std::pair<int, int> kSteps[] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}, {1, -1}, {-1, 1}};

  Place WayDown(Place at, std::span<const std::pair<int, int>> steps) {
    ErrorAt(at);
    for (size_t tried = 0; tried < steps.size();) {
      for (tried = 0; tried < steps.size(); ++tried) {
        const Place next{at.scale + steps[tried].first, at.ridge + steps[tried].second};
        if (Better(next, at)) {
          at = next;
          break;
        }
      }
    }
    return at;
  }

  double ErrorAt(Place place) {
    if (const auto known = of_round_.find(place); known != of_round_.end()) {
      return known->second;
    }
    StopPoint();
    const double ridge = choices_.ridges[static_cast<size_t>(place.ridge)];
    const bool solved = SolveWith(place, ridge + jitter_);
    ++tried_;
    if (options_.progress) {
      options_.progress(tried_);
    }
    const double error = solved ? LeftOutError() : INFINITY;
    const auto less_than_all = [&] {
      return std::all_of(of_round_.begin(), of_round_.end(), [&](const auto& other) { return error < other.second; });
    };
    if (std::isfinite(error) && less_than_all()) {
      round_alpha_.assign(solver_.alpha(), solver_.alpha() + y_.cols * solver_.stride());
    }
    if (error < best_.error) {
      Keep(place, ridge, error);
    }
    return of_round_[place] = error;
  }

  bool SolveWith(Place place, double ridge) {
    const cpu::KernelShape shape = ShapeAt(place);
    EachRow(options_.threads, x_.rows, [&](int64_t i) {
      cpu::SymmetricKernels().kernels(Distances(i), i, shape, solver_.Row(i));
      solver_.Row(i)[i] = 1 + ridge / WeightOf(i);
    });
    return solver_.Solve(targets_.As<double>().data());
  }

  double WeightOf(int64_t i) const {
    return options_.sample_weights.empty() ? 1 : options_.sample_weights[static_cast<size_t>(i)];
  }

  double LeftOutError() {
    double sum = 0;
    double weights = 0;
    std::vector<double> errors;
    for (const std::vector<int64_t>& members : members_) {
      errors.resize(members.size() * static_cast<size_t>(y_.cols));
      solver_.LeftOut(members, errors.data());
      for (size_t m = 0; m < members.size(); ++m) {
        const double weight = WeightOf(members[m]);
        weights += weight;
        for (int64_t c = 0; c < y_.cols; ++c) {
          const double error = errors[m * static_cast<size_t>(y_.cols) + static_cast<size_t>(c)];
          errors_.Row<double>(members[m])[c] = error;
          sum += weight * error * error;
        }
      }
    }
    const double mean = sum / weights / static_cast<double>(y_.cols);
    return std::isfinite(mean) ? mean : INFINITY;
  }

  void Keep(Place place, double ridge, double error) {
    best_.kind = kind_;
    best_.scale = ShapeAt(place).scale;
    best_.relative = choices_.scales[static_cast<size_t>(place.scale)];
    best_.ridge = ridge;
    best_.jitter = jitter_;
    best_.round = round_;
    best_.error = error;
    best_.feature_weights = *weights_;
    if (best_.alpha.empty()) {
      best_.alpha = Matrix(x_.rows, y_.cols, DType::kF64);
      best_.left_out = Matrix(x_.rows, y_.cols, DType::kF64);
    }
    for (int64_t i = 0; i < x_.rows; ++i) {
      for (int64_t c = 0; c < y_.cols; ++c) {
        best_.alpha.Row<double>(i)[c] = solver_.alpha()[c * solver_.stride() + i];
        best_.left_out.Row<double>(i)[c] = errors_.Row<double>(i)[c];
      }
    }
  }

  ConstMatrixView x_;
  ConstMatrixView y_;
  const KernelMachineOptions& options_;
  const KernelChoices& choices_;
  KernelSolver solver_;
  AlignedBuffer distances_;                    // below the diagonal
  AlignedBuffer targets_;                      // column by column
  Matrix errors_;                              // of the last machine
  std::vector<std::vector<int64_t>> members_;  // of groups
  std::vector<int64_t> different_;             // rows, of equal ones the first
  KernelKind kind_;
  int round_ = 0;
  const std::vector<double>* weights_ = nullptr;
  double median_ = 1;
  double jitter_ = 0;
  Place start_;
  std::map<Place, double> of_round_;
  std::vector<double> round_alpha_;  // of its best
  double of_kind_ = 0;
  int64_t tried_ = 0;
  Stopwatch watch_;
  KernelMachine best_;
};

}  // namespace

std::vector<KernelKind> UsualKernelKinds() {
  constexpr KernelKind kUsual[] = {{1, 1.0}, {2, 1.0}, {2, 1.4}, {1, 0.7}};
  return {std::begin(kUsual), std::end(kUsual)};
}

KernelMachine FitKernelMachine(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options) {
  if (x.rows == 0 || x.cols == 0 || y.cols == 0 || x.rows != y.rows) {
    throw Error(ErrorCode::kInvalidArgument, "a kernel machine needs rows, columns and a target for each row");
  }
  CheckChoices(options, x);
  CheckFinite(x, "inputs");
  CheckFinite(y, "targets");
  cpu::ApplyInstructionSets();
  std::optional<StopScope> scope;
  if (options.stop_requested) {
    scope.emplace(options.stop_requested);
  }
  KernelMachine machine;
  try {
    machine = KernelSearch(x, y, options).Run();
  } catch (const Stopped&) {
    if (!options.stop_requested) {
      throw;
    }
    return machine;
  }
  if (machine.alpha.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "no kernel matrix is positive definite: the rows are too much alike",
                {.remedy = "Use a larger ridge."});
  }
  return machine;
}

int64_t KernelMachineBytes(int64_t rows, int64_t columns, int64_t outputs) {
  const int64_t stride = KernelSolver::StrideOf(rows);
  return KernelSolver::Bytes(rows, outputs) + (rows + columns + 2 * outputs) * stride * 8 +
         rows * (2 * columns + 3 * outputs) * 8;
}

std::vector<double> MeanSquaredSlopes(ConstMatrixView x, const KernelMachine& machine, int threads) {
  cpu::ApplyInstructionSets();
  const KernelRows rows(x, machine.feature_weights, machine.kind.p, threads);
  const int64_t stride = rows.columns().stride;
  const int64_t outputs = machine.alpha.cols();
  std::vector<double> alpha(static_cast<size_t>(outputs * stride));
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t c = 0; c < outputs; ++c) {
      alpha[static_cast<size_t>(c * stride + i)] = machine.alpha.Row<double>(i)[c];
    }
  }
  return SquaredSlopesOf(rows, {machine.kind.p, machine.kind.power, machine.scale}, alpha.data(), outputs,
                         machine.feature_weights, {}, threads);
}

}  // namespace lamina
