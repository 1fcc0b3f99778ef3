// Checkpoints: a run interrupted after any step and resumed ends in the same bits; damaged states are refused.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/train/checkpoint.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"
#include "tests/train/small_training.h"

namespace lamina {
namespace {

using nlohmann::json;

struct Recipe {
  const char* name;
  TrainOptions options;
};

std::vector<Recipe> Recipes() {
  TrainOptions base;
  base.epochs = 3;
  base.batch = 6;
  base.seed = 5;
  base.rule.learning_rate = 0.1;
  std::vector<Recipe> recipes{{"momentum", base},       {"nesterov", base}, {"adam", base},  {"plateau", base},
                              {"early_stopping", base}, {"recipe", base},   {"lbfgs", base}, {"normalized", base}};
  recipes[0].options.rule.momentum = 0.9;
  recipes[1].options.rule.kind = UpdateKind::kNesterov;
  recipes[1].options.rule.momentum = 0.8;
  recipes[2].options.rule.kind = UpdateKind::kAdam;
  recipes[3].options.schedule = {ScheduleKind::kPlateau, 0.5, 10, 1};
  recipes[3].options.min_improvement = 0.05;
  recipes[4].options.rule.kind = UpdateKind::kAdam;
  recipes[4].options.patience = 2;
  recipes[4].options.min_improvement = 0.01;
  recipes[4].options.epochs = 8;
  TrainOptions& recipe = recipes[5].options;
  recipe.rule.kind = UpdateKind::kAdam;
  recipe.schedule = {.kind = ScheduleKind::kCosLog4, .warmup = 0.2};
  recipe.parametrization = Parametrization::kNtk;
  recipe.bias_rate = 0.1;
  recipe.front_scale = 6;
  recipe.dropout = 0.3;
  recipe.keep = Keep::kLastBest;
  recipes[6].options.lbfgs = true;
  recipes[6].options.batch = 20;
  recipes[6].options.epochs = 14;  // more than it remembers
  recipes[6].options.rule.weight_decay = 0.01;
  recipes[7].options.rule.kind = UpdateKind::kAdam;
  recipes[7].options.normalization = Normalization::kBatch;
  recipes[7].options.front_scale = 2;
  recipes[7].options.patience = 3;
  return recipes;
}

// Classification of 20 rows in 4 steps an epoch (the last one short), with validation.
class Resume : public testing::Test {
 protected:
  Resume() : model_(SmallModel(table_, DType::kF32)) {
    const std::vector<int64_t> rows = RowsOf(table_);
    train_ = BoundTable(model_.preprocessor, table_).Encode(std::span(rows).first(20), DType::kF32);
    validation_ = BoundTable(model_.preprocessor, table_).Encode(std::span(rows).last(7), DType::kF32);
  }

  Trained Continue(const Backend& backend, const TrainOptions& options, TrainState state) const {
    Trained result{model_.network, {}};
    Trainer trainer(result.network, backend, options);
    trainer.Resume(std::move(state));
    result.history = trainer.Run(train_, &validation_, {});
    return result;
  }

  // The state after `steps` steps, through a file.
  Checkpoint Saved(int steps, const Backend& backend, const TrainOptions& options) const {
    const TrainState state = StateAfter(steps, backend, options, model_.network, train_, &validation_);
    SaveCheckpoint(folder_.Path("c"), model_, state, 42);
    return LoadCheckpoint(folder_.Path("c"));
  }

  void ResumeAfterEvery(int stride, int threads) const;

  TemporaryFolder folder_;
  Table table_ = RandomTable(27, 3, 2, 1);
  Model model_;
  Dataset train_;
  Dataset validation_;
};

void ExpectSameHistory(const History& got, const History& expected) {
  EXPECT_EQ(got.best_epoch, expected.best_epoch);
  EXPECT_EQ(got.stop_reason, expected.stop_reason);
  ASSERT_EQ(got.epochs.size(), expected.epochs.size());
  for (size_t e = 0; e < expected.epochs.size(); ++e) {
    EXPECT_EQ(got.epochs[e].epoch, expected.epochs[e].epoch);
    EXPECT_EQ(got.epochs[e].learning_rate, expected.epochs[e].learning_rate);
    EXPECT_EQ(got.epochs[e].train_loss, expected.epochs[e].train_loss);
    EXPECT_EQ(got.epochs[e].train_accuracy, expected.epochs[e].train_accuracy);
    EXPECT_EQ(got.epochs[e].validation_loss, expected.epochs[e].validation_loss);
    EXPECT_EQ(got.epochs[e].validation_accuracy, expected.epochs[e].validation_accuracy);
  }
}

void Resume::ResumeAfterEvery(int stride, int threads) const {
  const bool distances = IsDistance(model_.network.layers()[0].synapse);
  for (const std::unique_ptr<Backend>& backend : AllBackends(threads)) {
    if (distances && backend->name() == "blas") {
      continue;  // it multiplies only
    }
    for (const Recipe& recipe : Recipes()) {
      if (recipe.options.front_scale > 0 && (distances || backend->space() == Space::kDevice)) {
        continue;  // it belongs to dot products, and is trained in host memory
      }
      if (recipe.options.lbfgs && model_.network.layers()[0].trained_radius) {
        continue;  // it has weights and biases only
      }
      const Trained whole = Train(*backend, recipe.options, model_.network, train_, &validation_);
      const bool recorded =
          backend->space() == Space::kDevice;  // steps: asked to stop after some, at least once an epoch
      const int in_epoch = recipe.options.lbfgs ? 1 : 4;
      const int steps = (recorded ? 1 : in_epoch) * static_cast<int>(whole.history.epochs.size());
      for (int k = 1; k < steps; k += stride) {
        SCOPED_TRACE(std::string(backend->name()) + " " + recipe.name + " after step " + std::to_string(k));
        Checkpoint saved = Saved(k, *backend, recipe.options);
        EXPECT_EQ(saved.data_fingerprint, 42U);
        if (recorded) {
          EXPECT_GE(in_epoch * saved.state.epoch + saved.state.step, k);
        } else {
          EXPECT_EQ(saved.state.epoch, k / in_epoch);
          EXPECT_EQ(saved.state.step, k % in_epoch);
        }
        const Trained rest = Continue(*backend, recipe.options, std::move(saved.state));
        ASSERT_EQ(ParameterBytes(rest.network), ParameterBytes(whole.network));
        ExpectSameHistory(rest.history, whole.history);
      }
    }
  }
}

TEST_F(Resume, AfterAnyStepGivesTheSameBits) { ResumeAfterEvery(1, 1); }
TEST_F(Resume, OnTwoThreadsAsWell) { ResumeAfterEvery(3, 2); }

TEST_F(Resume, WithTrainedRadiiAsWell) {
  model_.network = Network(ParseLayers("rbf(radius=1.5)-radius:5,dot-softmax:2", 3, true), DType::kF32);
  model_.network.Initialize(Initialization::kGlorotUniform, 7);
  ResumeAfterEvery(2, 2);
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const Trained trained = Train(*backend, Recipes()[0].options, model_.network, train_);
  EXPECT_NE(static_cast<const float*>(trained.network.Radii(0))[1], 1.5F) << "the radii are trained";
}

TEST_F(Resume, RecipesDoWhatTheirNamesSay) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const std::vector<Recipe> recipes = Recipes();
  const auto history = [&](size_t i) {
    return Train(*backend, recipes[i].options, model_.network, train_, &validation_).history;
  };
  EXPECT_LT(history(3).epochs.back().learning_rate, 0.1) << "plateau reduces";
  EXPECT_EQ(history(4).stop_reason, "early_stopping");
}

TEST_F(Resume, ACheckpointIsAModelAndAModelIsNoCheckpoint) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  for (const Recipe& recipe : Recipes()) {
    if (ChangesBySteps(recipe.options.schedule)) {
      continue;  // its rates depend on how many epochs follow
    }
    Saved(recipe.options.lbfgs ? 1 : 4, *backend, recipe.options);
    TrainOptions one = recipe.options;
    one.epochs = 1;
    one.keep = Keep::kLast;
    EXPECT_EQ(ParameterBytes(LoadModel(folder_.Path("c")).network),
              ParameterBytes(Train(*backend, one, model_.network, train_, &validation_).network))
        << recipe.name << ": answers as it does after the epoch";
  }
  SaveModel(folder_.Path("m"), model_);
  const Error error = CaughtError([&] { LoadCheckpoint(folder_.Path("m")); });
  EXPECT_EQ(error.code(), ErrorCode::kBadModel);
  EXPECT_TRUE(Mentions(error.what(), "not a checkpoint"));
}

TEST_F(Resume, OtherNetworksRulesAndBatchesAreRefused) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  TrainOptions adam = Recipes()[2].options;
  adam.keep = Keep::kLast;
  const auto state = [&] { return StateAfter(6, *backend, adam, model_.network, train_, &validation_); };
  const auto refuse = [&](const TrainOptions& options, const std::string& about) {
    const Error error = CaughtError([&] { Continue(*backend, options, state()); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_TRUE(Mentions(error.what(), about));
  };
  TrainOptions other = adam;
  other.rule.kind = UpdateKind::kSgd;
  refuse(other, "sgd");
  other = adam;
  other.batch = 5;
  refuse(other, "batch");
  other.batch = 20;
  refuse(other, "batch");
  other = adam;
  other.keep = Keep::kBest;
  refuse(other, "best weights");
  Network wider = NetworkFor(train_, 9, "softmax");
  Trainer trainer(wider, *backend, adam);
  EXPECT_EQ(CaughtError([&] { trainer.Resume(state()); }).code(), ErrorCode::kBadModel);
}

TEST_F(Resume, ImpossibleStatesAreRefused) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const TrainOptions options = Recipes()[4].options;
  const TrainState good = StateAfter(6, *backend, options, model_.network, train_, &validation_);
  const std::vector<std::function<void(TrainState&)>> edits{
      [](TrainState& s) { s.epoch = -1; },
      [](TrainState& s) { s.epoch = 2; },
      [](TrainState& s) { s.epoch = kLargest; },
      [](TrainState& s) { s.step = -1; },
      [](TrainState& s) { s.step = 3; },
      [](TrainState& s) { s.step = 4; },
      [](TrainState& s) { s.step = kLargest; },
      [](TrainState& s) { s.step = 4, s.sums.samples = 24; },
      [](TrainState& s) { s.step = 0; },
      [](TrainState& s) { s.updates = -1; },
      [](TrainState& s) { s.updates = kLargest; },
      [](TrainState& s) { s.reductions = -1; },
      [](TrainState& s) { s.reductions = kLargest; },
      [](TrainState& s) { s.epochs_since_best = -1; },
      [](TrainState& s) { s.epochs_since_best = kLargest; },
      [](TrainState& s) { s.epochs_since_reduction = -1; },
      [](TrainState& s) { s.epochs_since_reduction = kLargest; },
      [](TrainState& s) { s.best_loss = NAN; },
      [](TrainState& s) { s.sums.loss = NAN; },
      [](TrainState& s) { s.sums.weight = -1; },
      [](TrainState& s) { s.sums.samples = -1; },
      [](TrainState& s) { s.sums.correct = kLargest; },
      [](TrainState& s) { s.history.epochs.clear(); },
      [](TrainState& s) { s.history.best_epoch = -1; },
      [](TrainState& s) { s.history.best_epoch = 0; },
      [](TrainState& s) { s.history.best_epoch = 2; },
      [](TrainState& s) { s.optimiser.pop_back(); },
      [](TrainState& s) { s.optimiser.emplace_back(64); },
      [](TrainState& s) { s.optimiser[1] = AlignedBuffer(64); },
      [](TrainState& s) { s.optimiser[0] = AlignedBuffer(); },
      [](TrainState& s) { s.parameters = AlignedBuffer(64); },
      [](TrainState& s) { s.parameters = AlignedBuffer(); },
      [](TrainState& s) { s.best_parameters = AlignedBuffer(64); },
      [](TrainState& s) { s.best_parameters = AlignedBuffer(); },
  };
  EXPECT_NO_THROW(Continue(*backend, options, good));
  for (size_t i = 0; i < edits.size(); ++i) {
    TrainState state = good;
    edits[i](state);
    EXPECT_EQ(CaughtError([&] { Continue(*backend, options, std::move(state)); }).code(), ErrorCode::kBadModel) << i;
  }
}

TEST_F(Resume, DamagedCheckpointFilesAreRefused) {
  const std::unique_ptr<Backend> backend = MakeBackend("serial");
  const TrainOptions options = Recipes()[4].options;
  Saved(6, *backend, options);
  const SafetensorsFile file = SafetensorsFile::Read(folder_.Path("c"));
  const json good = json::parse(file.metadata().at("lamina_checkpoint"));
  const auto error_of = [&](const json& node, const std::map<std::string, TensorView>& tensors) {
    std::map<std::string, std::string> metadata = file.metadata();
    metadata["lamina_checkpoint"] = node.dump();
    WriteSafetensors(folder_.Path("d"), metadata, tensors);
    const Error error = CaughtError([&] { Continue(*backend, options, LoadCheckpoint(folder_.Path("d")).state); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
  };
  for (const auto& [key, value] : good.items()) {
    SCOPED_TRACE(key);
    json node = good;
    node.erase(key);
    error_of(node, file.tensors());
    for (const json& wrong : {json("x"), json(nullptr), json::array(), json::object()}) {
      node[key] = wrong;
      error_of(node, file.tensors());
    }
    const bool any_number = key.ends_with("seconds") || key.ends_with("loss") || key.ends_with("fingerprint");
    for (const json& wrong : {json(-1), json(1e300), json(0.5), json(INT64_MAX), json(UINT64_MAX), json(true)}) {
      if (!any_number && key != "sum_weight") {
        node[key] = wrong;
        error_of(node, file.tensors());
      }
    }
  }
  for (const auto& [name, tensor] : file.tensors()) {
    std::map<std::string, TensorView> tensors = file.tensors();
    tensors.erase(name);
    error_of(good, tensors);
    tensors[name] = {tensor.dtype, {0}, {}};
    error_of(good, tensors);
  }
}

TEST_F(Resume, HistoryErrorsNameTheFile) {
  Saved(6, *MakeBackend("serial"), Recipes()[2].options);
  const SafetensorsFile file = SafetensorsFile::Read(folder_.Path("c"));
  std::map<std::string, std::string> metadata = file.metadata();
  json node = json::parse(metadata.at("lamina_checkpoint"));
  node["history"]["epochs"][0]["train_loss"] = "much";
  metadata["lamina_checkpoint"] = node.dump();
  WriteSafetensors(folder_.Path("d"), metadata, file.tensors());
  EXPECT_EQ(CaughtError([&] { LoadCheckpoint(folder_.Path("d")); }).context().file, folder_.Path("d"));
}

TEST_F(Resume, AFullDiskLeavesTheOldCheckpoint) {
  const Checkpoint saved = Saved(2, *MakeBackend("serial"), Recipes()[2].options);
  EXPECT_EQ(CaughtError([&] { SaveCheckpoint("/dev/full", model_, saved.state, 1); }).code(), ErrorCode::kIo);
  EXPECT_EQ(CaughtError([&] { SaveCheckpoint(folder_.Path(), model_, saved.state, 1); }).code(), ErrorCode::kIo);
  EXPECT_EQ(folder_.Count(), 1);
}

TEST(DataFingerprint, SeesEveryPart) {
  const auto data = [] { return RandomDataset(6, 3, 2, DType::kF32, 1); };
  const Dataset validation = RandomDataset(4, 3, 2, DType::kF32, 2);
  const Dataset original = data();
  const uint64_t print = DataFingerprint(original, &validation);
  EXPECT_EQ(print, DataFingerprint(data(), &validation));
  EXPECT_NE(print, DataFingerprint(original, nullptr));
  EXPECT_NE(print, DataFingerprint(validation, &original));
  Dataset changed = data();
  changed.features.Row<float>(5)[2] += 1e-6F;
  EXPECT_NE(print, DataFingerprint(changed, &validation));
  changed = data();
  std::swap(changed.targets.Row<float>(0)[0], changed.targets.Row<float>(0)[1]);
  EXPECT_NE(print, DataFingerprint(changed, &validation));
  changed = data();
  changed.sample_weights.assign(6, 1.0);
  EXPECT_NE(print, DataFingerprint(changed, &validation));
}

}  // namespace
}  // namespace lamina
