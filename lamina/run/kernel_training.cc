// The settings of a kernel machine, what it says of itself, and its place beside a network.
#include "lamina/run/kernel_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/backend/host_backend.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/setting.h"
#include "lamina/base/stop.h"
#include "lamina/cluster/communicator.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/outputs.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_layers.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/settings_text.h"

namespace lamina {
namespace {

// Smaller systems are the processor's with --backend auto: each step of theirs is less than it takes to start a kernel.
constexpr int64_t kLeastDeviceRows = 2000;

// What it chose, and by what.
nlohmann::json FoundBy(const KernelNetwork& fitted, const KernelNetworkOptions& options, int64_t inputs) {
  const KernelMachine& machine = fitted.machine;
  nlohmann::json found = {{"distance", machine.kind.p == 1 ? "l1" : "l2"},
                          {"power", machine.kind.power},
                          {"radius", machine.scale},
                          {"ridge", machine.ridge},
                          {"round", machine.round},
                          {"left_out_error", machine.error},
                          {"tried", fitted.tried},
                          {"search_rows", fitted.search_rows},
                          {"equal_rows", fitted.equal_rows},
                          {"groups", fitted.groups},
                          {"asked_rows", fitted.asked_rows},
                          {"feature_weights", WeightsAlongColumns(machine.feature_weights, inputs)}};
  if (options.prune > 0) {
    found["centres"] = fitted.centres;
    found["unpruned"] = fitted.unpruned;
    found["growth"] = fitted.growth;
  }
  if (machine.jitter > 0) {
    found["jitter"] = machine.jitter;
  }
  if (options.classes) {
    found["left_out_accuracy"] = fitted.left_out_correct;
    found["temperature"] = fitted.temperature;
  }
  if (!fitted.solver.empty()) {
    found["solver"] = fitted.solver;
  }
  if (!fitted.why_processor.empty()) {
    found["why_processor"] = fitted.why_processor;
  }
  if (fitted.gates) {
    found["leaves"] = 1 + std::ssize(fitted.others);
  }
  return found;
}

bool HasClasses(const Preprocessor& preprocessor) { return preprocessor.targets().task() == Task::kClassification; }

// What no kernel machine can stand beside.
struct Refused {
  std::string_view name;
  bool (*given)(const TrainSettings&);
  std::string_view why;
};

constexpr std::string_view kApart = "it needs rows apart, and the kernel machine learns all of them";
constexpr Refused kRefusedBeside[] = {
    {"calibrate", [](const TrainSettings& s) { return s.calibrate; }, kApart},
    {"intervals", [](const TrainSettings& s) { return s.intervals.has_value(); }, kApart},
    {"quantize-aware", [](const TrainSettings& s) { return s.quantize_aware > 0; }, "no kernel machine has integers"},
    {"loss", [](const TrainSettings& s) { return s.loss != kAutoText; }, "a kernel machine makes squares least"},
    {"shards", [](const TrainSettings& s) { return s.shards > 0; }, "a kernel machine is solved for in one piece"},
    {"shard-data", [](const TrainSettings& s) { return s.shard_data; }, "a kernel machine needs all rows"}};

}  // namespace

void SolveBy(const Backend& backend, const TrainSettings& settings, KernelNetworkOptions& options) {
  const bool device = backend.space() == Space::kDevice;
  options.backend = &backend;
  options.threads = device ? ResolveThreads(static_cast<int>(settings.threads)) : backend.threads();
  options.least_device_rows = settings.backend == kAutoText ? kLeastDeviceRows : 0;
}

std::optional<KernelTraining> TrainKernels(const TrainSettings& settings, const Dataset& train,
                                           KernelNetworkOptions options) {
  options.choices = KernelChoicesFrom(settings);
  options.seconds = settings.fit_seconds.value_or(0);
  KernelTraining trained{FitKernelNetwork(train, options), {}};
  const bool complete = trained.fitted.machine.complete;
  if (options.ranks == nullptr ? !complete : options.ranks->Any(!complete)) {
    return std::nullopt;
  }
  trained.found = FoundBy(trained.fitted, options, train.inputs());
  return trained;
}

bool TrainKernelsBeside(const TrainSettings& settings, const TrainData& data, const Backend& backend,
                        const std::function<bool()>& stop_requested, std::optional<KernelTraining>& trained) {
  if (!HasKernelsBeside(settings)) {
    return true;
  }
  KernelNetworkOptions options;
  options.classes = HasClasses(data.preprocessor);
  SolveBy(backend, settings, options);
  options.stop_requested = stop_requested;
  options.leaves = false;  // whose shares go by the row
  const auto train = [&] {
    const bool both = data.validation.size() > 0 && data.train.sample_weights.empty();
    options.apart = both ? data.validation.size() : 0;
    trained = both ? TrainKernels(settings, RowsOfBoth(data.train, data.validation), options)
                   : TrainKernels(settings, data.train, options);
  };
  if (!stop_requested) {
    train();
    return true;
  }
  return !StopsAt(stop_requested, train) && trained;
}

void RequireKernelsBeside(const TrainSettings& settings, const TrainData& data, const Model& model) {
  if (!HasKernelsBeside(settings)) {
    return;
  }
  for (const Refused& refused : kRefusedBeside) {
    if (refused.given(settings)) {
      RefuseSetting(refused.name,
                    fmt::format("--{} cannot be combined with --recipe mixed: {}", refused.name, refused.why),
                    SettingText(settings, refused.name), "Leave it out, or use --recipe tabular.");
    }
  }
  const bool classes = HasClasses(data.preprocessor);
  const std::vector<LayerSpec> layers =
      KernelLayers(KernelChoicesFrom(settings).kinds.front(), /*scaled=*/true, data.preprocessor.inputs().count(),
                   data.preprocessor.targets().count(), classes);
  Model both;
  both.network = model.network;
  both.others.emplace_back(layers, model.network.dtype());
  both.shares = {0.5, 0.5};
  if (const Verdict verdict = CheckEnsemble(both); !verdict) {
    RefuseSetting("recipe", "--recipe mixed: " + verdict.reason, settings.recipe, "Use --recipe tabular.");
  }
}

Matrix AnswersToLeftOut(const KernelNetwork& kernels, const Matrix& errors, const Matrix& targets) {
  const bool classes = kernels.network.layers().back().activation.is_softmax();
  Matrix numbers(targets.rows(), targets.cols(), DType::kF64);
  ConvertMatrix(targets.view(), numbers.view());
  std::vector<double> logits(static_cast<size_t>(targets.cols()));
  for (int64_t i = 0; i < numbers.rows(); ++i) {
    const std::span<double> row(numbers.Row<double>(i), logits.size());
    std::transform(row.begin(), row.end(), errors.Row<double>(i), logits.begin(), std::minus<>());
    if (classes) {
      std::fill(row.begin(), row.end(), 0.0);
      AddSoftmax(logits.data(), kernels.temperature, /*weight=*/1, row);
    } else {
      std::copy(logits.begin(), logits.end(), row.begin());
    }
  }
  Matrix answers(targets.rows(), targets.cols(), targets.dtype());
  ConvertMatrix(numbers.view(), answers.view());
  return answers;
}

double ShareOfKernels(std::span<const Matrix> answers, const Matrix& targets, const Model& model) {
  constexpr double kShares[] = {kHalfShare, 0.45, 0.55, 0.4, 0.6, 0.35, 0.65, 0.3, 0.7, 0.25, 0.75};
  std::array<double, std::size(kShares)> losses{};
  std::ranges::transform(kShares, losses.begin(), [&](double share) {
    return LossOfOutputs(model, SumOfShares(answers, std::array{1 - share, share}), targets);
  });
  return kShares[std::ranges::min_element(losses) - losses.begin()];
}

}  // namespace lamina
