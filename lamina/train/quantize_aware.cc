// Fine-tuning of a network in 8-bit integers. Ranges are measured and inputs are cut where that helps. Then epochs of
// steps follow, each judged by validation rows, and the best network is kept. Rounding is left to int8_rounding.cc,
// gradients to int8_gradients.cc.
#include "lamina/train/quantize_aware.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "lamina/backend/host_backend.h"
#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/model/int8_rounding.h"
#include "lamina/nn/parameter_table.h"
#include "lamina/train/int8_gradients.h"
#include "lamina/train/resident_dataset.h"

namespace lamina {
namespace {

constexpr uint64_t kOrderStream = uint64_t{1} << 50;  // + epoch; those below are of the training before
constexpr double kFirstRate = 0.1;                    // of that of the training before

Network ZerosLike(const Network& network) {
  Network zeros(network.layers(), network.dtype(), network.members());
  std::memset(zeros.parameters(), 0, static_cast<size_t>(zeros.parameter_bytes()));
  return zeros;
}

class FineTuning {
 public:
  FineTuning(Network& network, const QuantizeAwareWork& work)
      : network_(network),
        work_(work),
        table_(network, work.options.step, /*training=*/false),
        rule_(RuleOf(work.options)),
        batch_(std::min(work.options.batch, work.train.size())),
        steps_((work.train.size() + batch_ - 1) / batch_),
        gradients_(network, batch_),
        gradient_(ZerosLike(network)),
        x_(batch_, network.inputs(), network.dtype()),
        targets_(batch_, network.outputs(), network.dtype()),
        weights_(WeightColumnOf(work.train)),
        batch_weights_(batch_, 1, network.dtype()),
        delta_(batch_, network.outputs(), network.dtype()) {
    for (int i = 0; i < rule_.StateCount(); ++i) {
      states_.push_back(ZerosLike(network));
    }
  }

  QuantizeAwareResult Run() {
    QuantizeAwareResult result;
    result.ranges = Measured();
    double least = Judged(result.ranges);
    CutInputs(least, result.ranges);
    Network best = network_;
    for (int64_t epoch = 1; epoch <= work_.epochs && !result.stopped; ++epoch) {
      const Int8Ranges ranges = Measured();
      result.stopped = !RunEpoch(epoch, ranges);
      if (const double judged = Judged(ranges); !result.stopped && judged <= least) {
        least = judged;
        result.ranges = ranges;
        result.best_epoch = epoch;
        best = network_;
      }
    }
    network_ = std::move(best);
    return result;
  }

 private:
  static UpdateRule RuleOf(const TrainOptions& options) {
    return options.lbfgs
               ? UpdateRule{.kind = UpdateKind::kAdam, .learning_rate = DefaultLearningRate(UpdateKind::kAdam)}
               : options.rule;
  }

  Int8Ranges Measured() const {
    Int8Ranges ranges = MeasureForInt8(network_, work_.features, work_.bounds);
    for (double& step : ranges.input_steps) {
      step *= input_share_;  // a power of 2: of the network's type as before
    }
    return ranges;
  }

  // A first layer of distances has one step for all inputs, and few rows may make it coarse. Numbers beyond a share of
  // the largest one are cut where the rows that judge are answered better so.
  void CutInputs(double& least, Int8Ranges& ranges) {
    if (work_.validation == nullptr || network_.layers()[0].synapse == Synapse::kDot) {
      return;
    }
    double best = input_share_;
    for (const double share : {0.5, 0.25, 0.125}) {
      input_share_ = share;
      Int8Ranges cut = Measured();
      if (const double judged = Judged(cut); judged < least) {
        least = judged;
        best = share;
        ranges = std::move(cut);
      }
    }
    input_share_ = best;
  }

  double Judged(const Int8Ranges& ranges) const {
    if (work_.validation == nullptr) {
      return -std::numeric_limits<double>::infinity();
    }
    const double judged = work_.judge(RoundToInt8(network_, ranges).network.Outputs(*work_.validation));
    return std::isnan(judged) ? std::numeric_limits<double>::infinity() : judged;
  }

  // Whether it ran to its end.
  bool RunEpoch(int64_t epoch, const Int8Ranges& ranges) {
    std::vector<int64_t> order(static_cast<size_t>(work_.train.size()));
    std::iota(order.begin(), order.end(), int64_t{0});
    if (work_.options.shuffle) {
      Random random(work_.options.step.seed, kOrderStream + static_cast<uint64_t>(epoch));
      random.Shuffle(std::span(order));
    }
    for (int64_t step = 0; step < steps_; ++step) {
      const int64_t begin = step * batch_;
      const int64_t count = std::min(batch_, work_.train.size() - begin);
      const double done = static_cast<double>((epoch - 1) * steps_ + step) / static_cast<double>(work_.epochs * steps_);
      Gather(std::span(order).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)));
      Step(count, ranges, kFirstRate * (1 + std::cos(std::numbers::pi * done)) / 2);
      if (work_.stop_requested && work_.stop_requested()) {
        return false;
      }
    }
    return true;
  }

  void Gather(std::span<const int64_t> rows) {
    DispatchFloat(network_.dtype(), [&]<class T>(T) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto to = static_cast<int64_t>(i);
        std::copy_n(work_.train.features.Row<T>(rows[i]), x_.cols(), x_.Row<T>(to));
        std::copy_n(work_.train.targets.Row<T>(rows[i]), targets_.cols(), targets_.Row<T>(to));
        if (!weights_.empty()) {
          batch_weights_.Row<T>(to)[0] = weights_.Row<T>(rows[i])[0];
        }
      }
    });
  }

  void Step(int64_t count, const Int8Ranges& ranges, double share) {
    const Int8Rounded rounded = RoundToInt8(network_, ranges);
    LossSums sums;
    LossArgs args;
    args.loss = work_.options.step.loss;
    args.activation = &network_.layers().back().activation;
    args.a = gradients_.Forward(network_, rounded, x_.view().Rows(0, count));
    args.targets = targets_.view().Rows(0, count);
    args.sample_weights = weights_.empty() ? nullptr : batch_weights_.data();
    args.class_threshold = work_.options.step.class_threshold;
    args.label_smoothing = work_.options.step.label_smoothing;
    args.delta = delta_.view().Rows(0, count);
    args.sums = &sums;
    ComputeLossOnHost(args);
    gradients_.Backward(delta_.view().Rows(0, count), gradient_);
    Update(share);
    RequireFinite();
    ++rule_.step;
  }

  void RequireFinite() const {
    DispatchFloat(network_.dtype(), [&]<class T>(T) {
      for (const ParameterBlock& block : table_.blocks()) {
        const T* const w = static_cast<const T*>(network_.parameters()) + block.offset;
        if (!std::all_of(w, w + block.count, [](T each) { return std::isfinite(each); })) {
          throw Error(ErrorCode::kDiverged, "training in 8-bit integers left the range of numbers",
                      {.remedy = "Try a smaller --learning-rate."});
        }
      }
    });
  }

  void Update(double share) {
    DispatchFloat(network_.dtype(), [&]<class T>(T) {
      for (const ParameterBlock& block : table_.blocks()) {
        if (!block.updated) {
          continue;
        }
        UpdateRule rule = rule_;
        rule.learning_rate *= block.rate * share;
        T* states[kMostStates] = {};
        for (size_t i = 0; i < states_.size(); ++i) {
          states[i] = static_cast<T*>(states_[i].parameters()) + block.offset;
        }
        T* const w = static_cast<T*>(network_.parameters()) + block.offset;
        T* const g = static_cast<T*>(gradient_.parameters()) + block.offset;
        if (static_cast<int64_t>(block.layer) < work_.options.step.embedding_layers) {
          std::transform(w, w + block.count, g, g, [](T weight, T slope) { return weight == 0 ? 0 : slope; });
        }
        ApplyUpdate<T>(rule, block.decays, block.count, g, w, states);
        std::transform(w, w + block.count, w, [&](T each) { return std::max(each, static_cast<T>(block.smallest)); });
      }
    });
  }

  Network& network_;
  const QuantizeAwareWork& work_;
  ParameterTable table_;
  UpdateRule rule_;
  double input_share_ = 1;  // of the largest input, that 8 bits reach to
  int64_t batch_;
  int64_t steps_;  // of an epoch
  Int8Gradients gradients_;
  Network gradient_;
  std::vector<Network> states_;
  Matrix x_;
  Matrix targets_;
  Matrix weights_;  // of all training rows; empty: all 1
  Matrix batch_weights_;
  Matrix delta_;
};

}  // namespace

QuantizeAwareResult TrainQuantizeAware(Network& network, const QuantizeAwareWork& work) {
  return FineTuning(network, work).Run();
}

}  // namespace lamina
