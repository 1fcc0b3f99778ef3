// Clusters whose rows are three quarters as far apart as clusters are: some of each become centers.
#include "lamina/study/paper_2017_classifiers.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/random.h"
#include "lamina/base/timing.h"
#include "lamina/rbf/elm.h"
#include "lamina/rbf/fsvc.h"
#include "lamina/rbf/mean_distance.h"

namespace lamina {
namespace {

constexpr int64_t kClasses = 10;
constexpr int64_t kRowsOfCluster = 40;
constexpr double kSpread = 0.88;  // of clusters, where 1 is that of the rows of one
constexpr int64_t kMostElmNeurons = 1000;
constexpr uint64_t kSeed = 1;

// Numbers about normal, which is enough here.
double AboutNormal(Random& random) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += random.Uniform(-1, 1);
  }
  return sum;
}

Dataset Clustered(const Matrix& middles, int64_t rows, uint64_t seed) {
  Random random(seed);
  Dataset data;
  data.features = Matrix(rows, middles.cols(), DType::kF32);
  data.targets = Matrix(rows, kClasses, DType::kF32);
  for (int64_t i = 0; i < rows; ++i) {
    const auto cluster = static_cast<int64_t>(random.Below(static_cast<uint64_t>(middles.rows())));
    for (int64_t f = 0; f < middles.cols(); ++f) {
      data.features.Row<float>(i)[f] = middles.Row<float>(cluster)[f] + static_cast<float>(AboutNormal(random));
    }
    data.labels.push_back(static_cast<int32_t>(cluster % kClasses));
    for (int64_t k = 0; k < kClasses; ++k) {
      data.targets.Row<float>(i)[k] = k == data.labels.back() ? 1.0F : -1.0F;
    }
  }
  return data;
}

struct Timed {
  Network network;
  double seconds = 0;
};

Timed TimeFsvc(const Dataset& train, Synapse synapse, bool by_class, const Backend& backend) {
  FsvcOptions options;
  options.novelty.synapse = synapse;
  const double distance = MeanDistance(synapse, train.features.view(), kSeed);
  options.novelty.activation = Activation("triangle(radius=1)").WithRadius(distance / formulas::Triangle::kWidth);
  options.by_class = by_class;
  const Stopwatch watch;
  FsvcResult result = TrainFsvc(train, kClasses, options, backend);
  return {std::move(result.network), watch.Elapsed_seconds()};
}

Timed TimeElm(const Dataset& train, const Backend& backend) {
  const int64_t neurons = std::min(kMostElmNeurons, train.size() / 2);
  const LayerSpec hidden{train.features.cols(), neurons, Synapse::kDot, Activation("abs"), /*bias=*/true};
  const Stopwatch watch;
  Network network = DrawElm(hidden, kClasses, HiddenWeights::kUniform, train.features.view(), kSeed);
  ElmOptions options;
  options.c = 1;
  TrainElm(network, train, options, backend);
  return {std::move(network), watch.Elapsed_seconds()};
}

}  // namespace

ReportTable TimeClassifiers(int64_t rows, int64_t inputs, const Backend& backend,
                            const std::function<bool()>& stop_requested) {
  ReportTable table{"classifiers",
                    fmt::format("Classifiers: {} rows of {} inputs in {} classes, f32, backend {}", rows, inputs,
                                kClasses, backend.name()),
                    {{"method", ""},
                     {"units", "hidden neurons"},
                     {"accuracy", "accuracy"},
                     {"train_seconds", "training, s"},
                     {"train_t_syn_ns", "training, ns a synapse"},
                     {"answer_seconds", "answers, s"},
                     {"answer_t_syn_ns", "answers, ns a synapse"}},
                    {},
                    fmt::format("Not in the paper: what its layers are for. Rows are drawn around random points; {} "
                                "others are answered. A synapse is an input of a hidden neuron met by a row; training "
                                "includes finding the neurons and the output layer.",
                                rows / 5),
                    true};
  Matrix middles(std::max<int64_t>(kClasses, rows / kRowsOfCluster), inputs, DType::kF32);
  Random random(kSeed);
  for (int64_t i = 0; i < middles.rows(); ++i) {
    std::generate_n(middles.Row<float>(i), inputs, [&] { return static_cast<float>(kSpread * AboutNormal(random)); });
  }
  const Dataset train = Clustered(middles, rows, kSeed + 1);
  const Dataset test = Clustered(middles, rows / 5, kSeed + 2);
  const std::pair<const char*, std::function<Timed()>> methods[] = {
      {"FSVC", [&] { return TimeFsvc(train, Synapse::kL1, /*by_class=*/false, backend); }},
      {"SFSVC", [&] { return TimeFsvc(train, Synapse::kL2Squared, /*by_class=*/true, backend); }},
      {"ELM", [&] { return TimeElm(train, backend); }}};
  for (const auto& [name, time] : methods) {
    if (stop_requested && stop_requested()) {
      break;
    }
    const Timed trained = time();
    const Stopwatch watch;
    const double accuracy = AccuracyOf(trained.network, test, backend);
    const double answer_seconds = watch.Elapsed_seconds();
    const auto units = static_cast<double>(trained.network.layers()[0].outputs);
    const double synapses = units * static_cast<double>(inputs);
    table.rows.push_back({name, units, accuracy, trained.seconds,
                          1e9 * trained.seconds / (synapses * static_cast<double>(train.size())), answer_seconds,
                          1e9 * answer_seconds / (synapses * static_cast<double>(test.size()))});
  }
  return table;
}

}  // namespace lamina
