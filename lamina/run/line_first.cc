// The line is a network of one layer, so that every export and every door has it.
#include "lamina/run/line_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "lamina/base/check.h"
#include "lamina/base/convert.h"
#include "lamina/data/encode/line_fit.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/settings/mixed_recipe.h"

namespace lamina {
namespace {

constexpr const char* kLineKey = "line";
constexpr double kMostLeft = 0.001;  // of a target's variance
constexpr int64_t kRowsAsked = 4000;
constexpr int64_t kRowsFitted = 20'000;
constexpr int64_t kMostInputs = 200;
constexpr int64_t kRowsAnInput = 4;
constexpr double kLeastSteps = 16;  // of the number type: less is rounding, and nothing to learn

// The largest share of a target's variance that is left of rows that had no part in the line.
double LeftOf(const Dataset& rows) {
  const Matrix x = InDoubles(rows.features.view());
  const Matrix y = InDoubles(rows.targets.view());
  const Matrix errors = SquaredErrorsOfHalves(x, y);
  const auto count = static_cast<double>(y.rows());
  double most = 0;
  for (int64_t k = 0; k < y.cols(); ++k) {
    double sum = 0;
    double squares = 0;
    double error = 0;
    for (int64_t i = 0; i < y.rows(); ++i) {
      error += errors.Row<double>(i)[k];
      sum += y.Row<double>(i)[k];
      squares += y.Row<double>(i)[k] * y.Row<double>(i)[k];
    }
    const double spread = squares - sum * sum / count;
    const double left = error / spread;
    most = spread > 0 && std::isfinite(left) ? std::max(most, left) : std::numeric_limits<double>::infinity();
  }
  return most;
}

// What the line leaves, in f64.
Matrix RestOf(const Network& line, const Dataset& rows) {
  Matrix rest = InDoubles(rows.targets.view());
  DispatchFloat(line.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < rest.rows(); ++i) {
      const T* const x = rows.features.Row<T>(i);
      for (int64_t k = 0; k < rest.cols(); ++k) {
        rest.Row<double>(i)[k] -= std::inner_product(x, x + line.inputs(), line.Weights(0).Row<T>(k),
                                                     static_cast<double>(static_cast<const T*>(line.Bias(0))[k]));
      }
    }
  });
  return rest;
}

double SpreadOf(const Matrix& rest, DType dtype) {
  const std::span<const double> all(rest.Row<double>(0), static_cast<size_t>(rest.rows() * rest.cols()));
  const double squares = std::inner_product(all.begin(), all.end(), all.begin(), 0.0);
  return DispatchFloat(dtype, [&]<class T>(T) {
    return std::max(std::sqrt(squares / static_cast<double>(all.size())),
                    kLeastSteps * static_cast<double>(std::numeric_limits<T>::epsilon()));
  });
}

Dataset LeftBy(const Line& line, const TargetEncoder& targets, const Dataset& rows) {
  Dataset left = targets.InForm(rows);
  Matrix rest = RestOf(line.network, rows);
  for (double& number : std::span(rest.Row<double>(0), static_cast<size_t>(rest.rows() * rest.cols()))) {
    number /= line.spread;
  }
  left.targets = Matrix(rest.rows(), rest.cols(), rows.targets.dtype());
  ConvertMatrix(rest.view(), left.targets.view());
  return left;
}

EpochRecord InUnitsOfTargets(const Line& line, EpochRecord record) {
  record.train_loss *= line.spread * line.spread;
  record.validation_loss *= line.spread * line.spread;
  return record;
}

}  // namespace

bool LineIsPossible(const TrainSettings& settings, const TrainData& data) {
  const Dataset& train = data.train;
  const bool in_memory = train.files.empty() && train.sparse == nullptr && data.sharded_rows == 0;
  const bool alike = train.sample_weights.empty() && train.groups.empty() && train.times.empty();
  return in_memory && alike && settings.shards == 0 && settings.quantize_aware == 0 && train.inputs() <= kMostInputs;
}

bool AsksForSquares(const TrainData& data, const Model& model) {
  const LayerSpec& last = model.network.layers().back();
  return data.preprocessor.targets().task() == Task::kRegression && model.loss == Loss::kMse &&
         last.synapse == Synapse::kDot && last.activation == Activation() && last.outputs == data.train.targets.cols();
}

Network NetworkOfLine(const LineFit& fit, DType dtype) {
  const Matrix& weights = fit.weights();
  const int64_t inputs = weights.cols() - 1;
  Network network({{inputs, weights.rows(), Synapse::kDot, Activation()}}, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t k = 0; k < weights.rows(); ++k) {
      const double* const row = weights.Row<double>(k);
      std::transform(row, row + inputs, network.Weights(0).Row<T>(k), [](double w) { return static_cast<T>(w); });
      static_cast<T*>(network.Bias(0))[k] = static_cast<T>(row[inputs]);
    }
  });
  return network;
}

std::optional<Line> FindLine(const TrainSettings& settings, const TrainData& data, const Model& model) {
  if ((settings.line != kPossibleText && settings.line != kFirstText) || !LineIsPossible(settings, data) ||
      !AsksForSquares(data, model) || kRowsAnInput * data.train.inputs() > data.train.size()) {
    return std::nullopt;
  }
  const double left = LeftOf(EvenRows(data.train, kRowsAsked));
  if (left > kMostLeft) {
    return std::nullopt;
  }
  const Dataset rows = EvenRows(data.train, kRowsFitted);
  Line line{
      NetworkOfLine(LineFit(InDoubles(rows.features.view()), InDoubles(rows.targets.view())), model.network.dtype()), 1,
      left};
  line.spread = SpreadOf(RestOf(line.network, rows), model.network.dtype());
  return line;
}

TrainData LeftBy(const Line& line, const TrainData& data) {
  const TargetEncoder& targets = data.preprocessor.targets();
  TrainData left = InForm(data, targets.form());
  left.train = LeftBy(line, targets, data.train);
  left.validation = LeftBy(line, targets, data.validation);
  left.after_line = true;
  return left;
}

void Announce(const Line& line, Model& model) { model.training[kLineKey] = {{"left", line.left}}; }

std::string LineText(const nlohmann::json& training) {
  return training.contains(kLineKey)
             ? fmt::format("a line answers all but {:.2g} % of the variance, and what else answers learns the rest",
                           100 * training[kLineKey]["left"].get<double>())
             : "";
}

void ScaleAnswers(double factor, Network& network) {
  const size_t last = network.layers().size() - 1;
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    const auto scale = [factor](T x) { return static_cast<T>(factor * static_cast<double>(x)); };
    const MatrixView weights = network.Weights(last);
    for (int64_t i = 0; i < weights.rows; ++i) {
      std::transform(weights.Row<T>(i), weights.Row<T>(i) + weights.cols, weights.Row<T>(i), scale);
    }
    if (T* const bias = static_cast<T*>(network.Bias(last)); bias != nullptr) {
      std::transform(bias, bias + weights.rows, bias, scale);
    }
  });
}

void AddLine(const Line& line, Model& model) {
  Check(!model.gates, "a line beside networks with shares of their own");
  if (model.shares.empty()) {
    model.shares = {1};
  }
  for (int64_t i = 0; i < model.networks(); ++i) {
    ScaleAnswers(line.spread / (1 - kShareOfLine), model.network_at(i));
    model.shares[static_cast<size_t>(i)] *= 1 - kShareOfLine;
  }
  model.others.push_back(line.network);
  ScaleAnswers(1 / kShareOfLine, model.others.back());
  model.shares.push_back(kShareOfLine);
}

std::optional<Network> TakeLine(Model& model) {
  if (!model.training.contains(kLineKey) || model.others.empty()) {
    return std::nullopt;
  }
  Network line = std::move(model.others.back());
  model.others.pop_back();
  model.shares.pop_back();
  return line;
}

void SumOfLines::Add(const Network& line, double share) {
  if (share_ == 0) {
    sum_ = Network(line.layers(), line.dtype());
  }
  share_ += share;
  DispatchFloat(line.dtype(), [&]<class T>(T) {
    const std::span<const T> from(static_cast<const T*>(line.parameters()),
                                  static_cast<size_t>(line.parameter_bytes()) / sizeof(T));
    T* const to = static_cast<T*>(sum_.parameters());
    std::transform(from.begin(), from.end(), to, to, [share](T w, T sum) { return sum + static_cast<T>(share) * w; });
  });
}

Network SumOfLines::Mean() const {
  Network mean = sum_;
  ScaleAnswers(1 / share_, mean);
  return mean;
}

History InUnitsOfTargets(const Line& line, History history) {
  for (EpochRecord& record : history.epochs) {
    record = InUnitsOfTargets(line, record);
  }
  return history;
}

TrainCallbacks InUnitsOfTargets(const Line& line, TrainCallbacks callbacks) {
  if (callbacks.epoch_done) {
    callbacks.epoch_done = [&line, tell = std::move(callbacks.epoch_done)](const EpochRecord& record) {
      tell(InUnitsOfTargets(line, record));
    };
  }
  if (callbacks.progress) {
    callbacks.progress = [&line, tell = std::move(callbacks.progress)](TrainProgress progress) {
      progress.mean_loss *= line.spread * line.spread;
      tell(progress);
    };
  }
  return callbacks;
}

}  // namespace lamina
