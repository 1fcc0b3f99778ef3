// Centers by class or together, output weights and their tuning.
#include "lamina/rbf/fsvc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/nn/executor.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/mean_distance.h"

namespace lamina {
namespace {

constexpr int64_t kTuningRows = 256;
constexpr int64_t kAnswerRows = 512;

std::vector<std::vector<int64_t>> RowsByClass(const Dataset& train, int64_t classes) {
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(classes));
  for (int64_t i = 0; i < train.size(); ++i) {
    const int32_t label = train.labels[static_cast<size_t>(i)];
    if (label < 0 || label >= classes) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("row {} of the training rows has no class", i));
    }
    rows[static_cast<size_t>(label)].push_back(i);
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[k].empty()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("class {} has no training row, so no center", k),
                  {.remedy = "Leave the class out, or use --stratify."});
    }
  }
  return rows;
}

// Not at the end only: a pass in which every row is a center costs what all pairs cost.
constexpr int64_t kRowsToSee = 4096;

[[noreturn]] void ThrowEveryRow(const Dataset& train, const NoveltyOptions& novelty, int64_t rows) {
  const double radius = MeanDistance(novelty.synapse, train.features.view(), 1) / formulas::Triangle::kWidth;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("every one of the first {} rows became a center: the radius {:g} is too small for their distances",
                  rows, novelty.activation.radius()),
      {.remedy = fmt::format("Try --radius {:.3g}, or leave it out: then it is searched for.", radius)});
}

struct Centres {
  std::vector<int64_t> rows;
  bool complete = true;
  int64_t pairs = 0;
  int64_t pairs_computed = 0;
};

// What one pass found, with `rows` being the numbers of its rows; empty: they are their own.
void Take(const NoveltyResult& found, const std::vector<int64_t>& rows, Centres& centres) {
  for (const int64_t row : found.centres) {
    centres.rows.push_back(rows.empty() ? row : rows[static_cast<size_t>(row)]);
  }
  centres.complete = centres.complete && found.complete;
  centres.pairs += found.pairs;
  centres.pairs_computed += found.pairs_computed;
}

Centres FindAllCentres(const Dataset& train, const std::vector<std::vector<int64_t>>& by_class,
                       const FsvcOptions& options, const Backend& backend) {
  Centres centres;
  int64_t rows_before = 0;
  int64_t centres_before = 0;
  NoveltyOptions novelty = options.novelty;
  novelty.progress = [&](int64_t rows, int64_t found) {
    if (rows_before + rows >= std::min(kRowsToSee, train.size()) && centres_before + found == rows_before + rows &&
        train.size() > std::ssize(by_class) && options.novelty.most_centres >= train.size()) {
      ThrowEveryRow(train, novelty, rows_before + rows);
    }
    if (options.novelty.progress) {
      options.novelty.progress(rows_before + rows, centres_before + found);
    }
  };
  if (!options.by_class) {
    Take(FindCentres(train.features.view(), novelty, backend), {}, centres);
    return centres;
  }
  for (const std::vector<int64_t>& rows : by_class) {
    novelty.most_centres = options.novelty.most_centres - centres_before;
    Take(FindCentres(ChosenRows(train.features.view(), rows).view(), novelty, backend), rows, centres);
    if (!centres.complete) {
      break;
    }
    rows_before += std::ssize(rows);
    centres_before = std::ssize(centres.rows);
  }
  return centres;
}

// Online least mean squares; most activations of a triangle are 0, so that only the others are gone through.
class OutputTuning {
 public:
  OutputTuning(const Network& network, const Dataset& train, const Backend& backend)
      : network_(network),
        train_(train),
        layer_(backend, {network.layers()[0], network.dtype(), kTuningRows}),
        activations_(kTuningRows, network.layers()[0].outputs, network.dtype()),
        classes_(static_cast<size_t>(network.outputs())),
        weights_(static_cast<size_t>(network.layers()[1].weight_count())) {}

  // False where it was stopped.
  bool Run(double learning_rate, int64_t epochs, const std::function<bool()>& stop_requested) {
    DispatchFloat(network_.dtype(), [&]<class T>(T) { Load<T>(); });
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      for (int64_t begin = 0; begin < train_.size(); begin += kTuningRows) {
        TuneRows(begin, std::min(kTuningRows, train_.size() - begin), learning_rate);
        StopPoint();
        if (stop_requested && stop_requested()) {
          return false;
        }
      }
    }
    return true;
  }

  void Store(Network& network) const {
    DispatchFloat(network.dtype(), [&]<class T>(T) {
      const int64_t centres = network.layers()[1].inputs;
      for (size_t k = 0; k < classes_; ++k) {
        T* to = network.Weights(1).Row<T>(static_cast<int64_t>(k));
        for (int64_t j = 0; j < centres; ++j) {
          const double weight = weights_[static_cast<size_t>(j) * classes_ + k];
          if (!std::isfinite(weight)) {
            throw Error(ErrorCode::kDiverged, "the tuning of the output weights diverged",
                        {.remedy = "Use a smaller --learning-rate, or none: then they stay as they start."});
          }
          to[j] = static_cast<T>(weight);
        }
      }
    });
  }

 private:
  template <class T>
  void Load() {
    for (size_t k = 0; k < classes_; ++k) {
      const T* from = network_.Weights(1).Row<T>(static_cast<int64_t>(k));
      for (size_t j = 0; j < weights_.size() / classes_; ++j) {
        weights_[j * classes_ + k] = static_cast<double>(from[j]);
      }
    }
  }

  void TuneRows(int64_t begin, int64_t count, double learning_rate) {
    ForwardArgs args;
    args.x = train_.features.view().Rows(begin, count);
    args.weights = network_.Weights(0);
    args.a = activations_.view().Rows(0, count);
    layer_.Forward(args);
    DispatchFloat(network_.dtype(), [&]<class T>(T) {
      for (int64_t i = 0; i < count; ++i) {
        TuneRow(args.a.Row<T>(i), train_.labels[static_cast<size_t>(begin + i)], learning_rate);
      }
    });
  }

  template <class T>
  void TuneRow(const T* activations, int32_t label, double learning_rate) {
    active_.clear();
    error_.assign(classes_, 0.0);
    error_[static_cast<size_t>(label)] = 1.0;
    for (int64_t j = 0; j < activations_.cols(); ++j) {
      const auto y = static_cast<double>(activations[j]);
      if (y != 0) {
        active_.push_back(j);
        const double* weight = &weights_[static_cast<size_t>(j) * classes_];
        for (size_t k = 0; k < classes_; ++k) {
          error_[k] -= weight[k] * y;
        }
      }
    }
    for (const int64_t j : active_) {
      const double step = learning_rate * static_cast<double>(activations[j]);
      double* weight = &weights_[static_cast<size_t>(j) * classes_];
      for (size_t k = 0; k < classes_; ++k) {
        weight[k] += step * error_[k];
      }
    }
  }

  const Network& network_;
  const Dataset& train_;
  StagedLayer layer_;
  Matrix activations_;
  size_t classes_;
  std::vector<double> weights_;  // centers × classes
  std::vector<double> error_;
  std::vector<int64_t> active_;
};

Network NetworkOf(const Dataset& train, const std::vector<int64_t>& centres, int64_t classes,
                  const NoveltyOptions& novelty) {
  const int64_t inputs = train.features.cols();
  Network network({{inputs, std::ssize(centres), novelty.synapse, novelty.activation, /*bias=*/false},
                   {std::ssize(centres), classes, Synapse::kDot, Activation(), /*bias=*/false}},
                  train.features.dtype());
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    for (int64_t j = 0; j < std::ssize(centres); ++j) {
      const int64_t row = centres[static_cast<size_t>(j)];
      std::copy_n(train.features.Row<T>(row), inputs, network.Weights(0).Row<T>(j));
      network.Weights(1).Row<T>(train.labels[static_cast<size_t>(row)])[j] = T(1);
    }
  });
  return network;
}

}  // namespace

FsvcResult TrainFsvc(const Dataset& train, int64_t classes, const FsvcOptions& options, const Backend& backend) {
  const std::vector<std::vector<int64_t>> by_class = RowsByClass(train, classes);
  const Centres centres = FindAllCentres(train, by_class, options, backend);
  FsvcResult result;
  result.centres = std::ssize(centres.rows);
  result.pairs = centres.pairs;
  result.pairs_computed = centres.pairs_computed;
  if (!centres.complete) {
    return result;
  }
  result.network = NetworkOf(train, centres.rows, classes, options.novelty);
  result.complete = true;
  if (options.learning_rate > 0) {
    OutputTuning tuning(result.network, train, backend);
    result.complete = tuning.Run(options.learning_rate, options.epochs, options.novelty.stop_requested);
    tuning.Store(result.network);
  }
  return result;
}

int64_t ClassWithoutCentre(const Network& network) {
  const ConstMatrixView weights = network.Weights(1);
  return DispatchFloat(network.dtype(), [&]<class T>(T) -> int64_t {
    for (int64_t k = 0; k < weights.rows; ++k) {
      const T* row = weights.Row<T>(k);
      if (std::all_of(row, row + weights.cols, [](T weight) { return weight == T(0); })) {
        return k;
      }
    }
    return -1;
  });
}

double AccuracyOf(const Network& network, const Dataset& rows, const Backend& backend) {
  Matrix outputs(rows.size(), network.outputs(), network.dtype());
  Executor(network, backend, {.max_batch = std::clamp<int64_t>(rows.size(), 1, kAnswerRows)})
      .Predict(rows.features.view(), outputs.view());
  int64_t right = 0;
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < rows.size(); ++i) {
      const T* row = outputs.Row<T>(i);
      right += std::max_element(row, row + outputs.cols()) - row == rows.labels[static_cast<size_t>(i)] ? 1 : 0;
    }
  });
  return static_cast<double>(right) / static_cast<double>(std::max<int64_t>(1, rows.size()));
}

}  // namespace lamina
