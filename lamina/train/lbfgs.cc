// L-BFGS on the whole batch: a direction by the two loops over the last pairs, then a line search along it. The
// executor computes loss and gradient. Epochs, validation and stopping are left to TrainRun.
#include "lamina/train/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lamina/base/abandon.h"
#include "lamina/base/error.h"

namespace lamina {
namespace {

constexpr double kDecrease = 1e-4;  // of the slope, that a step must bring
constexpr double kCurvature = 0.9;  // of the slope, that may be left
constexpr int kTrials = 30;

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> Along(const std::vector<double>& from, double step, const std::vector<double>& direction) {
  std::vector<double> to(from.size());
  std::transform(from.begin(), from.end(), direction.begin(), to.begin(),
                 [step](double x, double d) { return x + step * d; });
  return to;
}

}  // namespace

Lbfgs::Lbfgs(Executor& executor, const Backend& backend, const Network& network, double weight_decay)
    : executor_(executor),
      backend_(backend),
      dtype_(network.dtype()),
      weight_decay_(weight_decay),
      own_sums_(backend.Allocate(sizeof(LossSums))) {
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const LayerSpec& layer = network.layers()[l];
    const LayerOffsets& offsets = network.offsets()[l];
    ranges_.push_back({offsets.weights, layer.weight_count(), true});
    if (layer.bias) {
      ranges_.push_back({offsets.bias, layer.outputs, false});
    }
  }
  for (const Range& range : ranges_) {
    count_ += range.count;
  }
  for (int i = 0; i < kStates; ++i) {
    std::memset(states_.emplace_back(network.parameter_bytes()).data(), 0,
                static_cast<size_t>(network.parameter_bytes()));
  }
}

Lbfgs::~Lbfgs() = default;

Lbfgs::Vector Lbfgs::Unpacked(const AlignedBuffer& flat) const {
  Vector numbers;
  numbers.reserve(static_cast<size_t>(count_));
  DispatchFloat(dtype_, [&]<class T>(T) {
    for (const Range& range : ranges_) {
      const T* from = static_cast<const T*>(flat.data()) + range.begin;
      numbers.insert(numbers.end(), from, from + range.count);
    }
  });
  return numbers;
}

void Lbfgs::Pack(const Vector& numbers, AlignedBuffer& flat) const {
  DispatchFloat(dtype_, [&]<class T>(T) {
    const double* from = numbers.data();
    for (const Range& range : ranges_) {
      std::transform(from, from + range.count, static_cast<T*>(flat.data()) + range.begin,
                     [](double x) { return static_cast<T>(x); });
      from += range.count;
    }
  });
}

Lbfgs::Vector Lbfgs::Read(const Buffer& array) const {
  AlignedBuffer flat(array.size_bytes());
  backend_.Download(flat.data(), array.data(), array.size_bytes());
  return Unpacked(flat);
}

void Lbfgs::SetParameters(const Vector& w) {
  AlignedBuffer flat = executor_.TrainedParameters();
  Pack(w, flat);
  executor_.SetTrainedParameters(flat);
}

Lbfgs::Point Lbfgs::Evaluate(const TrainingSteps& work, const Vector& w, LossSums* sums) {
  LossSums before;
  backend_.Download(&before, sums, sizeof(before));
  TrainingSteps all = work;
  all.sums = sums;
  executor_.Gradient(all, work.begin, work.end - work.begin);
  LossSums after;
  backend_.Download(&after, sums, sizeof(after));
  Point point{(after.loss - before.loss) / (after.weight - before.weight), Read(executor_.gradients())};
  size_t i = 0;
  for (const Range& range : ranges_) {
    for (const size_t end = i + static_cast<size_t>(range.count); i < end; ++i) {
      if (range.decays) {
        point.value += 0.5 * weight_decay_ * w[i] * w[i];
        point.gradient[i] += weight_decay_ * w[i];
      }
    }
  }
  return point;
}

// The two loops over the pairs, the newest first, then the oldest first. A pair of zeros is none.
Lbfgs::Vector Lbfgs::Direction(const Vector& gradient, int64_t iteration) const {
  struct Pair {
    Vector s;
    Vector y;
    double curvature;
    double alpha;
  };
  std::vector<Pair> pairs;
  for (int64_t i = iteration - 1; i >= std::max<int64_t>(0, iteration - kPairs); --i) {
    const auto slot = static_cast<size_t>(i % kPairs);
    Pair pair{Unpacked(states_[2 * slot]), Unpacked(states_[2 * slot + 1]), 0, 0};
    pair.curvature = Dot(pair.s, pair.y);
    if (pair.curvature > 0) {
      pairs.push_back(std::move(pair));
    }
  }
  Vector q = gradient;
  for (Pair& pair : pairs) {
    pair.alpha = Dot(pair.s, q) / pair.curvature;
    q = Along(q, -pair.alpha, pair.y);
  }
  const double scale = pairs.empty() ? 1 / std::max(1.0, std::sqrt(Dot(gradient, gradient)))
                                     : pairs.front().curvature / Dot(pairs.front().y, pairs.front().y);
  for (double& x : q) {
    x *= scale;
  }
  for (size_t i = pairs.size(); i-- > 0;) {
    const Pair& pair = pairs[i];
    q = Along(q, pair.alpha - Dot(pair.y, q) / pair.curvature, pair.s);
  }
  for (double& x : q) {
    x = -x;
  }
  return q;
}

int64_t Lbfgs::Step(const TrainingSteps& work, int64_t iteration) {
  AlignedBuffer& last_point = states_[2 * kPairs];
  AlignedBuffer& last_gradient = states_[2 * kPairs + 1];
  const Vector w = Read(executor_.parameters());
  const Point here = Evaluate(work, w, work.sums);
  if (Abandoned()) {
    return 0;
  }
  if (!std::isfinite(here.value)) {
    return 1;  // whoever reads the sums says so
  }
  if (iteration > 0) {
    const auto slot = static_cast<size_t>((iteration - 1) % kPairs);
    Vector s = Along(w, -1, Unpacked(last_point));
    Vector y = Along(here.gradient, -1, Unpacked(last_gradient));
    constexpr double kLeastCosine = 1e-8;
    if (!(Dot(s, y) > kLeastCosine * std::sqrt(Dot(s, s) * Dot(y, y)))) {
      s.assign(s.size(), 0);
      y.assign(y.size(), 0);
    }
    Pack(s, states_[2 * slot]);
    Pack(y, states_[2 * slot + 1]);
  }
  Vector direction = Direction(here.gradient, iteration);
  double slope = Dot(direction, here.gradient);
  if (!(slope < 0)) {  // rounding: downhill at least
    direction = Along(Vector(here.gradient.size()), -1, here.gradient);
    slope = Dot(direction, here.gradient);
  }
  // Between `low`, where the loss is less enough and still falls, and `high`, where it is not.
  double low = 0;
  double reached = here.value;  // there
  double high = std::numeric_limits<double>::infinity();
  double step = 1;
  const double rounding = std::abs(here.value) * (dtype_ == DType::kF32 ? 1e-7 : 1e-15);
  for (int trial = 0; trial < kTrials && slope < 0; ++trial) {
    const Vector tried = Along(w, step, direction);
    SetParameters(tried);
    const LossSums none;
    backend_.Upload(own_sums_->data(), &none, sizeof(none));
    const Point there = Evaluate(work, tried, static_cast<LossSums*>(own_sums_->data()));
    if (Abandoned()) {  // the pair is put where it is now once more when the step is done again
      SetParameters(w);
      return 0;
    }
    if (!(there.value <= here.value + kDecrease * step * slope + rounding)) {  // NaN, too
      high = step;
    } else {
      low = step;
      reached = there.value;
      if (Dot(there.gradient, direction) >= kCurvature * slope) {
        break;
      }
    }
    step = std::isinf(high) ? 2 * low : (low + high) / 2;
  }
  Pack(w, last_point);
  Pack(here.gradient, last_gradient);
  const Vector next = Along(w, low, direction);
  SetParameters(next);
  const double least = (dtype_ == DType::kF32 ? 1e-7 : 1e-12) * std::max(std::abs(here.value), std::abs(reached));
  converged_ = low == 0 || here.value - reached <= least;
  return 1;
}

}  // namespace lamina
