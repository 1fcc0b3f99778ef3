// A first round tries scales and ridges, one factorization each. At the best place every kernel then learns column
// weights round by round, and the best of all moves in every direction once more.
#include "lamina/rbf/kernel_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "lamina/base/nan.h"
#include "lamina/base/stop.h"
#include "lamina/base/timing.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_system.h"
#include "lamina/rbf/kernel_systems.h"
#include "lamina/rbf/left_out_rows.h"
#include "lamina/rbf/slope_weights.h"

namespace lamina {
namespace {

constexpr double kWorseRound = 1.1;    // errors so much above the best end the rounds
constexpr double kFarFromBest = 1.05;  // times the best error, from this round on: the kind is given up
constexpr int kFirstGivenUp = 1;
class KernelSearch {
 public:
  KernelSearch(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options)
      : x_(x),
        y_(y),
        options_(options),
        choices_(options.choices),
        compares_(choices_.scales.size() * choices_.ridges.size() > 1),
        rows_left_out_(x.rows, options.sample_weights, options.groups, options.times),
        systems_(MakeKernelSystems(x, y, options, rows_left_out_.needs_inverse())),
        errors_(x.rows, y.cols, DType::kF64) {
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
      kinds_.clear();
      tried_before_ = tried_;
      for (const KernelKind& kind : choices_.kinds) {
        kinds_.push_back({kind, options_.feature_weights});
        if (options_.feature_weights.empty()) {
          kinds_.back().weights.assign(static_cast<size_t>(x_.cols), 1.0);
        }
      }
      for (round_ = 0; round_ <= choices_.rounds; ++round_) {
        for (OfKind& kind : kinds_) {
          if (!kind.ended && (!std::isfinite(best_.error) || !OutOfTime())) {
            Round(kind);
          }
        }
        for (OfKind& kind : kinds_) {
          kind.ended |= !choices_.all && round_ >= kFirstGivenUp && kind.error > kFarFromBest * best_.error;
        }
      }
      MoveBest();
    }
    for (const OfKind& kind : kinds_) {
      best_.errors_of_kinds.push_back(kind.error);
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

  // The state of one kind of kernel between rounds.
  struct OfKind {
    KernelKind kind;
    std::vector<double> weights;
    Place start;
    double error = kNaN;  // the least
    bool ended = false;
  };

  bool OutOfTime() const { return options_.seconds > 0 && watch_.Elapsed_seconds() > options_.seconds; }

  void Round(OfKind& of) {
    Begin(of.kind, of.weights);
    of.start = choices_.all ? BestOfAll() : round_ == 0 ? FirstPlace() : of.start;
    const double found = ErrorAt(of.start);
    const bool worse = round_ > 0 && found > kWorseRound * of.error;
    of.error = std::isnan(of.error) ? found : std::min(of.error, found);
    of.ended = round_ == choices_.rounds || worse || !std::isfinite(found);
    if (of.ended || OutOfTime()) {
      return;
    }
    const AnswerSlopes slopes = systems_->Slopes(ShapeAt(of.start), round_alpha_.data());
    std::vector<double> learned = choices_.full ? MatrixOfSlopes(slopes) : WeightsOfSlopes(slopes);
    of.ended = learned.empty();  // nothing depends on any column
    if (!of.ended) {
      of.weights = std::move(learned);
    }
  }

  void Begin(KernelKind kind, const std::vector<double>& weights) {
    kind_ = kind;
    weights_ = weights;
    of_round_.clear();
    systems_->SetRows(weights_, kind.p);
    unit_ = choices_.absolute ? 1 : systems_->MedianDistance(different_);
  }

  KernelShape ShapeAt(Place place) const {
    return {kind_.p, kind_.power, choices_.scales[static_cast<size_t>(place.scale)] * unit_};
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

  Place FirstPlace() {
    const auto place_of = [](const std::vector<double>& values, double value) {
      return std::find(values.begin(), values.end(), value) - values.begin();
    };
    const Place start{place_of(choices_.scales, options_.start_scale), place_of(choices_.ridges, options_.start_ridge)};
    const bool given = start.scale < std::ssize(choices_.scales) && start.ridge < std::ssize(choices_.ridges);
    if (given) {
      return WayDown(start, kSteps);
    }
    const auto before = std::ranges::min_element(
        kinds_, {}, [](const OfKind& kind) { return std::isnan(kind.error) ? INFINITY : kind.error; });
    return std::isfinite(before->error) ? WayDown(before->start, kSteps) : BestOfScales();
  }

  // The first kind tries every scale; its ridge goes downhill from that of the scale before. Others begin at the place
  // that was best for a kind before them.
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
  static constexpr std::pair<int, int> kSteps[] = {{0, -1}, {0, 1}, {1, -1}, {1, 0}, {-1, 1}, {-1, 0}};

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
    if (options_.most_systems > 0 && tried_ - tried_before_ >= options_.most_systems) {
      return of_round_[place] = INFINITY;
    }
    StopPoint();
    const double error = Solved(place, /*look=*/compares_);
    const auto less_than_all = [&] {
      return std::all_of(of_round_.begin(), of_round_.end(), [&](const auto& other) { return error < other.second; });
    };
    if (std::isfinite(error) && less_than_all()) {
      round_alpha_.assign(systems_->alpha(), systems_->alpha() + y_.cols * stride_);
      Take(place, error);
    }
    return of_round_[place] = error;
  }

  // From the best of all downhill in every direction; where that is, in f64.
  void MoveBest() {
    if (!std::isfinite(best_.error)) {
      return;
    }
    const bool moves = compares_ && !choices_.all && !OutOfTime();
    if (!moves && !best_.alpha.empty()) {
      return;
    }
    round_ = best_.round;
    if (kind_ != best_.kind || weights_ != best_.feature_weights) {
      Begin(best_.kind, best_.feature_weights);
      of_round_[best_place_] = best_.error;
    }
    if (moves) {
      WayDown(best_place_, kSteps);
    }
    if (best_.alpha.empty()) {
      best_.error = INFINITY;
      StopPoint();
      Take(best_place_, Solved(best_place_, /*look=*/false));
    }
  }

  // The error of rows left out.
  double Solved(Place place, bool look) {
    const double ridge = RidgeAt(place) + jitter_;
    const bool solved = look ? systems_->Look(ShapeAt(place), ridge) : systems_->Solve(ShapeAt(place), ridge);
    ++tried_;
    if (options_.progress) {
      options_.progress(tried_);
    }
    return solved ? rows_left_out_.Errors(*systems_, errors_) : INFINITY;
  }

  double RidgeAt(Place place) const { return choices_.ridges[static_cast<size_t>(place.ridge)]; }

  // Keeps what is less than all before, with the answers of the system solved last if that was in f64.
  void Take(Place place, double error) {
    if (!(error < best_.error)) {
      return;
    }
    best_place_ = place;
    best_.kind = kind_;
    best_.scale = ShapeAt(place).scale;
    best_.relative = choices_.scales[static_cast<size_t>(place.scale)];
    best_.ridge = RidgeAt(place);
    best_.jitter = jitter_;
    best_.round = round_;
    best_.error = error;
    best_.feature_weights = weights_;
    if (!systems_->exact()) {
      best_.alpha = Matrix();
      return;
    }
    best_.alpha = Matrix(x_.rows, y_.cols, DType::kF64);
    best_.left_out = Matrix(x_.rows, y_.cols, DType::kF64);
    for (int64_t i = 0; i < x_.rows; ++i) {
      for (int64_t c = 0; c < y_.cols; ++c) {
        best_.alpha.Row<double>(i)[c] = systems_->alpha()[c * stride_ + i];
        best_.left_out.Row<double>(i)[c] = errors_.Row<double>(i)[c];
      }
    }
  }

  ConstMatrixView x_;
  ConstMatrixView y_;
  const KernelMachineOptions& options_;
  const KernelChoices& choices_;
  bool compares_;  // places
  LeftOutRows rows_left_out_;
  std::unique_ptr<KernelSystems> systems_;
  int64_t stride_ = KernelSolver::StrideOf(x_.rows);
  Matrix errors_;                   // of the last machine
  std::vector<int64_t> different_;  // rows, of equal ones the first
  KernelKind kind_;
  int round_ = 0;
  std::vector<double> weights_;
  double unit_ = 1;  // of scales
  double jitter_ = 0;
  std::map<Place, double> of_round_;
  std::vector<double> round_alpha_;  // of its best
  std::vector<OfKind> kinds_;
  int64_t tried_ = 0;
  int64_t tried_before_ = 0;  // with smaller diagonals
  Stopwatch watch_;
  KernelMachine best_;
  Place best_place_;
};

}  // namespace

KernelMachine SearchKernels(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options) {
  return KernelSearch(x, y, options).Run();
}

}  // namespace lamina
