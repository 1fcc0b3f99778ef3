// Centres by class or together, output weights, their tuning, and the search for a radius.
#include "lamina/rbf/fsvc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lamina/backend/staged_layer.h"
#include "lamina/base/error.h"
#include "lamina/nn/executor.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/mean_distance.h"

namespace lamina {
namespace {

constexpr int64_t kTuningRows = 256;
constexpr int64_t kAnswerRows = 512;
constexpr double kLeastShare = 0.01;  // of the rows that may be centres, for a radius to be looked at
constexpr double kMostShare = 0.6;    // and more than kManyCentres only up to a tenth
constexpr double kMostShareOfMany = 0.1;
constexpr int64_t kManyCentres = 4096;
constexpr int64_t kHeldOut = 5;  // every fifth row answers where there are no validation rows
constexpr int64_t kEnoughToJudge =
    2000;  // validation rows; where they are fewer, training rows are judged by folds, too
constexpr int64_t kJudgingFolds = 3;
constexpr int kMostHalvings = 40;
constexpr double kRefinements[] = {0.5, 0.25, 0.125};  // steps, in powers of 2, to either side of the best radius
constexpr double kOverlaps[] = {0.5, 2, 4};            // times that of the options

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
      throw Error(ErrorCode::kInvalidArgument, fmt::format("class {} has no training row, so no centre", k),
                  {.remedy = "Leave the class out, or use --stratify."});
    }
  }
  return rows;
}

// Not at the end only: a pass in which every row is a centre costs what all pairs cost.
constexpr int64_t kRowsToSee = 4096;

[[noreturn]] void ThrowEveryRow(const Dataset& train, const NoveltyOptions& novelty, int64_t rows) {
  const double radius = MeanDistance(novelty.synapse, train.features.view(), 1) / formulas::Triangle::kWidth;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("every one of the first {} rows became a centre: the radius {:g} is too small for their "
                          "distances",
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
  std::vector<double> weights_;  // centres × classes
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

namespace {

// The attempts of a search, and the best of them.
class RadiusFinder {
 public:
  RadiusFinder(const Dataset& train, const Dataset& validation, int64_t classes, FsvcOptions options,
               const Backend& backend)
      : train_(train), validation_(validation), classes_(classes), options_(std::move(options)), backend_(backend) {
    fewest_ = static_cast<int64_t>(std::ceil(kLeastShare * static_cast<double>(train.size())));
    options_.novelty.most_centres = MostCentres(train.size());
    if (validation.size() < kEnoughToJudge) {
      MakeFolds();
    }
  }

  RadiusSearch Run(bool any_overlap) {
    double radius = 4 * MeanDistance(options_.novelty.synapse, train_.features.view(), 1);
    if (!(radius > 0) || !std::isfinite(radius)) {
      throw Error(ErrorCode::kInvalidArgument, "all training rows are the same, so there is no radius to find");
    }
    const double usual = options_.novelty.overlap;
    for (int i = 0; i < kMostHalvings && !Stopped(); ++i, radius /= 2) {
      if (Attempt(radius, usual) > options_.novelty.most_centres) {
        break;
      }
    }
    Refine();
    if (any_overlap) {
      const RadiusTrial before = Best();
      for (const double times : kOverlaps) {
        if (times * usual <= NoveltyOptions::kLargestOverlap) {
          Attempt(before.radius, times * usual);
        }
      }
      if (Best().overlap != before.overlap) {
        Refine();
      }
    }
    search_.complete = !Stopped();
    search_.radius = Best().radius;
    search_.overlap = Best().overlap;
    return std::move(search_);
  }

 private:
  struct Fold {
    Dataset others;
    Dataset held_out;
  };

  bool Stopped() const { return options_.novelty.stop_requested && options_.novelty.stop_requested(); }

  int64_t MostCentres(int64_t rows) const {
    const auto count = static_cast<double>(rows);
    return std::max({std::min(static_cast<int64_t>(kMostShare * count), kManyCentres),
                     static_cast<int64_t>(kMostShareOfMany * count), 2 * classes_});
  }

  // None where a class would be missing in one of them.
  void MakeFolds() {
    for (int64_t fold = 0; fold < kJudgingFolds; ++fold) {
      std::vector<int64_t> kept;
      std::vector<int64_t> held_out;
      for (int64_t row = 0; row < train_.size(); ++row) {
        (row % kJudgingFolds == fold ? held_out : kept).push_back(row);
      }
      folds_.push_back({ChosenRows(train_, kept), ChosenRows(train_, held_out)});
      const std::vector<int32_t>& labels = folds_.back().others.labels;
      if (std::ssize(std::set<int32_t>(labels.begin(), labels.end())) < classes_) {
        folds_.clear();
        return;
      }
    }
  }

  // Share of the validation rows that are right, and of the training rows by the networks of the others where there are
  // folds; none where a fold has too many centres.
  std::optional<double> Judge(const Network& network) const {
    const auto rows_right = [&](const Network& answering, const Dataset& rows) {
      return AccuracyOf(answering, rows, backend_) * static_cast<double>(rows.size());
    };
    double right = rows_right(network, validation_);
    auto rows = static_cast<double>(validation_.size());
    for (const Fold& fold : folds_) {
      FsvcOptions options = options_;
      options.novelty.most_centres = MostCentres(fold.others.size());
      const FsvcResult result = TrainFsvc(fold.others, classes_, options, backend_);
      if (!result.complete) {
        return std::nullopt;
      }
      right += rows_right(result.network, fold.held_out);
      rows += static_cast<double>(fold.held_out.size());
    }
    return right / rows;
  }

  void Refine() {
    for (const double step : kRefinements) {
      const RadiusTrial middle = Best();
      for (const double side : {-step, step}) {
        Attempt(middle.radius * std::exp2(side), middle.overlap);
      }
    }
  }

  // The number of centres; more than the most where there were so many that no network was made.
  int64_t Attempt(double radius, double overlap) {
    if (Stopped()) {
      return 0;
    }
    options_.novelty.activation = options_.novelty.activation.WithRadius(radius);
    options_.novelty.overlap = overlap;
    const FsvcResult result = TrainFsvc(train_, classes_, options_, backend_);
    if (const std::optional<double> accuracy = result.complete ? Judge(result.network) : std::nullopt) {
      search_.trials.push_back({radius, overlap, result.centres, *accuracy});
    }
    return result.centres;
  }

  // The most accurate one, of those with enough centres where there are such; of equal ones that with the fewest.
  RadiusTrial Best() const {
    RadiusTrial best;
    for (const RadiusTrial& trial : search_.trials) {
      const auto rank = [&](const RadiusTrial& each) {
        return std::tuple(each.centres >= fewest_, each.accuracy, -each.centres);
      };
      best = best.centres == 0 || rank(trial) > rank(best) ? trial : best;
    }
    return best;
  }

  const Dataset& train_;
  const Dataset& validation_;
  int64_t classes_;
  FsvcOptions options_;
  const Backend& backend_;
  int64_t fewest_ = 0;
  std::vector<Fold> folds_;
  RadiusSearch search_;
};

}  // namespace

RadiusSearch FindRadius(const Dataset& train, const Dataset& validation, int64_t classes, FsvcOptions options,
                        bool any_overlap, const Backend& backend) {
  if (train.size() < 2) {  // one row has no distances
    RadiusSearch search;
    search.radius = 1;
    search.overlap = options.novelty.overlap;
    search.complete = true;
    return search;
  }
  if (validation.size() > 0) {
    return RadiusFinder(train, validation, classes, std::move(options), backend).Run(any_overlap);
  }
  const auto [held_out, others] = WithoutEvery(kHeldOut, train);
  const std::set<int32_t> taught(others.labels.begin(), others.labels.end());
  const bool enough = std::ssize(taught) == classes && held_out.size() > 0;
  return RadiusFinder(enough ? others : train, enough ? held_out : train, classes, std::move(options), backend)
      .Run(any_overlap);
}

}  // namespace lamina
