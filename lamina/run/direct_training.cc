// Methods without gradients, a function each. Run() finds the network, puts it into the model, and measures training
// and validation rows as one epoch. The networks are found in lamina/rbf; files and test rows are left to TrainSession.
#include "lamina/run/direct_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/stop.h"
#include "lamina/base/timing.h"
#include "lamina/cluster/communicator.h"
#include "lamina/model/evaluate.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/mean_distance.h"
#include "lamina/rbf/radius_search.h"
#include "lamina/run/kernel_training.h"
#include "lamina/run/line_beside.h"
#include "lamina/run/tree_training.h"
#include "lamina/settings/centres.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"

namespace lamina {
namespace {

constexpr double kProgressEvery_seconds = 0.1;
constexpr int64_t kTrainingRowsMeasured = 4096;

class DirectTraining {
 public:
  DirectTraining(const TrainSettings& settings, const TrainData& data, const Backend& backend,
                 const TrainCallbacks& callbacks, Communicator* ranks)
      : settings_(settings), data_(data), backend_(backend), callbacks_(callbacks), ranks_(ranks) {}

  History Run(Model& model) {
    if (data_.train.size() == 0) {
      throw Error(ErrorCode::kBadData, "there are no training rows");
    }
    std::optional<Network> network = TrainedOrStopped(model);
    History history;
    if (!network) {
      history.stop_reason = "interrupted";
      return history;
    }
    const double seconds = watch_.Elapsed_seconds();
    model.network = std::move(*network);
    model.others = std::move(others_);
    model.gates = std::move(gates_);
    model.shares.clear();
    model.nearest = MethodFrom(settings_) == Method::kNearest ? settings_.k : 0;
    model.training["method"] = std::move(found_);
    if (trees_) {
      AnswerWithTrees(std::move(*trees_), data_.train.targets, left_out_, model);
    }
    if (left_out_.rows() > 0 && HasLineBeside(settings_, data_, model)) {
      AnswerWithLine(data_, std::move(left_out_), model);
    }
    EpochRecord record = Measured(model);
    record.train_seconds = seconds;
    record.samples_per_second = static_cast<double>(data_.train.size()) / seconds;
    history.epochs.push_back(record);
    history.best_epoch = 1;
    history.stop_reason = "epochs";
    if (callbacks_.epoch_done) {
      callbacks_.epoch_done(record);
    }
    return history;
  }

 private:
  // None where it was stopped: between parts of the work, or within one at a stop point. Ranks must agree, so they stop
  // only between parts.
  std::optional<Network> TrainedOrStopped(const Model& model) {
    if (ranks_ != nullptr || !callbacks_.stop_requested) {
      return Trained(model);
    }
    std::optional<Network> network;
    return StopsAt(callbacks_.stop_requested, [&] { network = Trained(model); }) ? std::nullopt : std::move(network);
  }

  std::optional<Network> Trained(const Model& model) {
    switch (MethodFrom(settings_)) {
      case Method::kElm: return TrainedElm(model);
      case Method::kNearest: return KeptRows(model);
      case Method::kKernelMachine: return TrainedKernels(model);
      case Method::kBoosting: return GrownTrees();
      default: return TrainedFsvc();
    }
  }

  bool Stopped() const { return callbacks_.stop_requested && callbacks_.stop_requested(); }

  void Report(int64_t rows) {
    if (!callbacks_.progress || since_progress_.Elapsed_seconds() < kProgressEvery_seconds) {
      return;
    }
    since_progress_.Restart();
    TrainProgress progress;
    progress.epoch = progress.epochs = 1;
    progress.step = rows;
    progress.steps = data_.train.size();
    progress.mean_loss = progress.accuracy = kNaN;
    progress.samples_per_second = static_cast<double>(rows) / watch_.Elapsed_seconds();
    progress.seconds_left = static_cast<double>(progress.steps - rows) / progress.samples_per_second;
    callbacks_.progress(progress);
  }

  std::optional<Network> TrainedFsvc() {
    FsvcOptions options = FsvcOptionsFrom(settings_);
    options.novelty.stop_requested = [this] { return Stopped(); };
    options.novelty.progress = [this](int64_t rows, int64_t) { Report(rows); };
    auto [result, search] =
        FitFsvc(data_.train, data_.validation, data_.preprocessor.targets().class_names(), std::move(options),
                !NeuronFrom(settings_).has_radius, !settings_.overlap, backend_);
    if (!result.complete) {
      return std::nullopt;
    }
    for (const RadiusTrial& trial : search.trials) {
      found_["radius_trials"].push_back({{"radius", trial.radius},
                                         {"overlap", trial.overlap},
                                         {"centres", trial.centres},
                                         {"accuracy", trial.accuracy}});
    }
    found_["radius"] = search.radius;
    found_["overlap"] = search.overlap;
    found_["centres"] = result.centres;
    found_["pairs"] = result.pairs;
    found_["pairs_computed"] = result.pairs_computed;
    return std::move(result.network);
  }

  std::optional<Network> TrainedElm(const Model& model) {
    const ConstMatrixView rows = data_.train.features.view();
    LayerSpec hidden = model.network.layers()[0];
    if (!NeuronFrom(settings_).has_radius) {
      hidden.activation = WithRadiusOf(hidden, rows, settings_.seed);
    }
    Network network = DrawElm(hidden, model.network.outputs(),
                              ParseName(settings_.hidden_weights, kHiddenWeights, "--hidden-weights: unknown choice"),
                              rows, settings_.seed);
    if (const std::optional<ClusterKind> kind = CentresFrom(settings_.centres)) {
      const Clusters clusters = PlaceClusters(network, data_.train,
                                              {.kind = *kind,
                                               .seed = settings_.seed,
                                               .shards = settings_.shards,
                                               .ranks = ranks_,
                                               .stop_requested = [this] { return Stopped(); }},
                                              backend_);
      if (!clusters.complete) {
        return std::nullopt;
      }
      found_["clusters"] = {{"iterations", clusters.iterations}, {"mean_distance", clusters.mean_distance}};
    }
    ElmOptions options;
    options.c = settings_.ridge_c;
    options.precision = PrecisionFrom(settings_);
    options.shards = settings_.shards;
    options.ranks = ranks_;
    options.stop_requested = [this] { return Stopped(); };
    options.progress = [this](int64_t done) { Report(done); };
    const std::optional<double> c = TrainElm(network, data_.train, options, backend_);
    if (!c) {
      return std::nullopt;
    }
    found_["c"] = *c;
    if (hidden.activation.radius() > 0) {
      found_["radius"] = hidden.activation.radius();
    }
    return network;
  }

  std::optional<Network> TrainedKernels(const Model& model) {
    KernelNetworkOptions options;
    options.classes = model.network.layers().back().activation.is_softmax();
    SolveBy(backend_, settings_, options);
    options.prune = settings_.prune;
    options.leaves = !data_.after_line;  // whose shares go by the row
    options.stop_requested = [this] { return Stopped(); };
    options.ranks = ranks_;
    std::optional<KernelTraining> trained = TrainKernels(settings_, data_.train, std::move(options));
    if (!trained) {
      return std::nullopt;
    }
    const KernelMachine& machine = trained->fitted.machine;
    if (machine.left_out.rows() == data_.train.size()) {
      if (HasTreesBeside(settings_, data_)) {
        trees_ = TrainTrees(settings_, data_.train, Dataset(), backend_, [this] { return Stopped(); });
        if (!trees_) {
          return std::nullopt;
        }
      }
      left_out_ = AnswersToLeftOut(trained->fitted, machine.left_out, data_.train.targets);
    }
    found_ = std::move(trained->found);
    others_ = std::move(trained->fitted.others);
    gates_ = std::move(trained->fitted.gates);
    return std::move(trained->fitted.network);
  }

  std::optional<Network> GrownTrees() {
    std::optional<TreeTraining> trees =
        TrainTrees(settings_, data_.train, data_.validation, backend_, [this] { return Stopped(); });
    if (!trees) {
      return std::nullopt;
    }
    found_ = std::move(trees->found);
    return std::move(trees->network);
  }

  std::optional<Network> KeptRows(const Model& model) const {
    const Dataset& train = data_.train;
    if (settings_.k > train.size()) {
      RefuseSetting("k", fmt::format("{} nearest of {} training rows", settings_.k, train.size()), "",
                    fmt::format("Use at most --k {}.", train.size()));
    }
    LayerSpec kept = model.network.layers()[0];
    kept.outputs = train.size();
    Network network({kept, {train.size(), model.network.outputs(), Synapse::kDot, Activation(), /*bias=*/false}},
                    train.features.dtype());
    DispatchFloat(network.dtype(), [&]<class T>(T) {
      for (int64_t i = 0; i < train.size(); ++i) {
        std::copy_n(train.features.Row<T>(i), kept.inputs, network.Weights(0).Row<T>(i));
        for (int64_t k = 0; k < network.outputs(); ++k) {
          network.Weights(1).Row<T>(k)[i] = train.targets.Row<T>(i)[k];
        }
      }
    });
    return network;
  }

  EpochRecord Measured(const Model& model) const {
    const auto accuracy = [](const Evaluation& evaluation) {
      return evaluation.classification ? evaluation.classification->accuracy : kNaN;
    };
    EpochRecord record;
    record.epoch = 1;
    record.learning_rate = settings_.learning_rate.value_or(0);
    const Evaluation train = Evaluate(model, backend_, EvenRows(data_.train, kTrainingRowsMeasured));
    record.train_loss = train.loss;
    record.train_accuracy = accuracy(train);
    record.validation_loss = record.validation_accuracy = kNaN;
    if (data_.validation.size() > 0) {
      const Stopwatch watch;
      const Evaluation validation = Evaluate(model, backend_, data_.validation);
      record.validation_loss = validation.loss;
      record.validation_accuracy = accuracy(validation);
      record.validation_seconds = watch.Elapsed_seconds();
    }
    return record;
  }

  const TrainSettings& settings_;
  const TrainData& data_;
  const Backend& backend_;
  const TrainCallbacks& callbacks_;
  Communicator* ranks_;
  // For kernel machines in leaves:
  std::vector<Network> others_;
  std::optional<Network> gates_;
  // Beside a kernel machine, which answers the training rows so, each left out:
  std::optional<TreeTraining> trees_;
  Matrix left_out_;
  nlohmann::json found_ = nlohmann::json::object();
  Stopwatch watch_;
  Stopwatch since_progress_;
};

}  // namespace

History TrainDirectly(const TrainSettings& settings, const TrainData& data, const Backend& backend, Model& model,
                      const TrainCallbacks& callbacks, Communicator* ranks) {
  return DirectTraining(settings, data, backend, callbacks, ranks).Run(model);
}

}  // namespace lamina
