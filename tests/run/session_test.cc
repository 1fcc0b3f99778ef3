// TrainSession from files to model, on the bundled digits.
#include "lamina/run/session.h"
#include "lamina/run/resume.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/file.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"
#include "tests/nn/small_data.h"
#include "tests/source_folder.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

TrainSettings DigitSettings() {
  TrainSettings settings;
  settings.data = SourceFolder() + "/data/digits.csv.gz";
  settings.recipe = "plain";
  settings.hidden = {64};
  settings.epochs = 30;
  settings.threads = 2;
  return settings;
}

TEST(TrainSession, DigitsEndToEnd) {
  const TemporaryFolder folder;
  TrainSettings settings = DigitSettings();
  settings.model = folder.Path("m");
  settings.history = folder.Path("h.csv");
  settings.history_json = folder.Path("h.json");
  TrainSession session(settings);
  EXPECT_EQ(session.train().size() + session.validation().size() + session.test().size(), 1797);
  EXPECT_EQ(session.model().network.ShapeText(), "64-64-10");
  EXPECT_EQ(session.first_epoch(), 1);
  int epochs = 0;
  const TrainResult result =
      session.Run({.epoch_done = [&](const EpochRecord& record) { EXPECT_EQ(record.epoch, ++epochs); }});
  EXPECT_EQ(epochs, 30);
  ASSERT_TRUE(result.test.has_value() && result.test->classification.has_value());
  EXPECT_GT(result.test->classification->accuracy, 0.93);
  EXPECT_EQ(result.test->samples, session.test().size());
  EXPECT_GT(result.train_seconds, 0);
  EXPECT_EQ(folder.Count(), 3) << "no checkpoint";
  EXPECT_EQ(ReadFile(settings.history), result.history.ToCsv());
  EXPECT_EQ(nlohmann::json::parse(ReadFile(settings.history_json)), result.history.ToJson());

  const Model model = LoadModel(settings.model);
  EXPECT_EQ(ParameterBytes(model.network), ParameterBytes(session.model().network));
  EXPECT_EQ(model.training["settings"]["epochs"], 30);
  const Evaluation again = Evaluate(model, session.backend(), session.test());
  EXPECT_EQ(again.classification->confusion, result.test->classification->confusion);
  EXPECT_EQ(again.loss, result.test->loss);
  EXPECT_EQ(model.training["test"]["accuracy"], result.test->classification->accuracy);
}

TEST(TrainSession, EveryBackendLearnsTheDigits) {
  for (const BackendRow& row : BackendTable()) {
    if (row.available()) {
      TrainSettings settings = DigitSettings();
      settings.backend = row.name;
      EXPECT_GT(TrainSession(settings).Run({}).test->classification->accuracy, 0.93) << row.name;
    }
  }
}

TEST(TrainSession, NormalizedNetworksLearnTheDigitsAndTheFileHasOrdinaryOnes) {
  const TemporaryFolder folder;
  TrainSettings settings = DigitSettings();
  settings.hidden = {48, 48, 48};
  settings.epochs = 12;
  settings.normalization = "batch";
  settings.model = folder.Path("m");
  TrainSession session(settings);
  const TrainResult result = session.Run({});
  EXPECT_GT(result.test->classification->accuracy, 0.93);
  const Model model = LoadModel(settings.model);
  EXPECT_EQ(model.network.parameter_count(), 64 * 48 + 48 + 2 * (48 * 48 + 48) + 48 * 10 + 10);
  EXPECT_EQ(Evaluate(model, *MakeBackend("serial"), session.test()).classification->confusion,
            result.test->classification->confusion);
}

TEST(TrainSession, PrecisionAutoIsOneThatIsFasterHere) {
  TrainSettings settings = DigitSettings();
  settings.backend = "cpu";
  settings.epochs = 2;
  settings.precision = "auto";
  EXPECT_EQ(TrainSession(settings).settings().precision, "exact") << "narrow: fastest as a whole";
  settings.hidden = {128};
  TrainSession session(settings);
  const std::string chosen = session.settings().precision;
  const Verdict bf16 = session.backend().Supports(
      {session.model().network.layers().front(), Pass::kForward, 1, DType::kF32, Precision::kBFloat16});
  EXPECT_EQ(chosen == "bf16", bf16.ok && bf16.reason.empty()) << chosen;
  settings.precision = chosen;
  TrainSession same(settings);
  session.Run({});
  same.Run({});
  EXPECT_EQ(ParameterBytes(session.model().network), ParameterBytes(same.model().network));
  settings.precision = "auto";
  settings.task = "regression";
  settings.target = {"label"};
  EXPECT_EQ(TrainSession(settings).settings().precision, "exact");
  settings.task = "auto";
  settings.dtype = "f64";
  EXPECT_NE(TrainSession(settings).settings().precision, "bf16");
}

// A run stopped after `steps` questions; returns its checkpoint.
std::string Interrupted(const TrainSettings& settings, int steps, std::vector<Activation> custom = {}) {
  int asked = 0;
  TrainSession session(settings, std::move(custom));
  const TrainResult result = session.Run({.stop_requested = [&] { return ++asked == steps; }});
  EXPECT_EQ(result.history.stop_reason, "interrupted");
  EXPECT_FALSE(result.test.has_value());
  return session.CheckpointPath();
}

TEST(TrainSession, AnInterruptedRunGoesOnToTheSameModel) {
  const TemporaryFolder folder;
  TrainSettings settings = DigitSettings();
  settings.epochs = 3;
  settings.batch = 32;
  settings.model = folder.Path("whole");
  TrainSession whole(settings);
  whole.Run({});
  settings.model = folder.Path("m");
  settings.history = folder.Path("h");
  const std::string checkpoint = Interrupted(settings, 50);
  EXPECT_EQ(checkpoint, folder.Path("m.checkpoint"));
  EXPECT_EQ(folder.Count(), 3) << "whole, checkpoint, history; no model";
  EXPECT_THROW(LoadModel(folder.Path("m")), Error);
  TrainSession rest(ResumeSettings(checkpoint).settings, checkpoint);
  EXPECT_EQ(rest.first_epoch(), 2);
  const TrainResult result = rest.Run({});
  EXPECT_EQ(result.history.epochs.size(), 3U);
  EXPECT_EQ(ParameterBytes(rest.model().network), ParameterBytes(whole.model().network));
  EXPECT_EQ(ParameterBytes(LoadModel(folder.Path("m")).network), ParameterBytes(whole.model().network));
}

TEST(TrainSession, CustomActivationsTrainStopAndResume) {
  const TemporaryFolder folder;
  const std::vector<Activation> custom{Activation::Custom<Swish>()};
  TrainSettings settings = DigitSettings();
  settings.activation = "swish";
  settings.epochs = 2;
  settings.model = folder.Path("m");
  const std::string checkpoint = Interrupted(settings, 20, custom);
  EXPECT_TRUE(Mentions(CaughtError([&] { ResumeSettings(checkpoint); }).what(), "swish"));
  TrainSession rest(ResumeSettings(checkpoint, custom).settings, checkpoint, custom);
  EXPECT_EQ(rest.Run({}).history.epochs.size(), 2U);
  EXPECT_THROW(TrainSession{settings}, Error);
}

TEST(TrainSession, ResumingWithOtherDataOrNetworksIsRefused) {
  const TemporaryFolder folder;
  TrainSettings settings = DigitSettings();
  settings.checkpoint = folder.Path("c");
  const std::string checkpoint = Interrupted(settings, 20);
  const TrainSettings saved = ResumeSettings(checkpoint).settings;
  const auto refuse = [&](const std::function<void(TrainSettings&)>& edit, ErrorCode code, const std::string& about) {
    TrainSettings other = saved;
    edit(other);
    const Error error = CaughtError([&] { TrainSession(other, checkpoint).Run({}); });
    EXPECT_EQ(error.code(), code);
    EXPECT_TRUE(Mentions(error.what(), about));
  };
  constexpr ErrorCode kSaid = ErrorCode::kInvalidArgument;
  refuse([](TrainSettings& s) { s.seed = 9; }, kSaid, "--seed 9");
  refuse([](TrainSettings& s) { s.samples = 500; }, kSaid, "--samples 500");
  refuse([](TrainSettings& s) { s.class_weights = {"balanced"}; }, kSaid, "--class-weights balanced");
  refuse([](TrainSettings& s) { s.hidden = {47}; }, kSaid, "--hidden 47");
  refuse([](TrainSettings& s) { s.activation = "tanh"; }, kSaid, "--activation tanh");
  refuse([](TrainSettings& s) { s.dtype = "f64"; }, kSaid, "--dtype f64");
  refuse([](TrainSettings& s) { s.optimizer = "sgd"; }, kSaid, checkpoint);
  refuse([](TrainSettings& s) { s.batch = 31; }, ErrorCode::kBadModel, "batch");
  refuse([&](TrainSettings& s) { s.validation = s.data; }, ErrorCode::kBadModel, "Resume without --validation.");
  TrainSettings longer = saved;
  longer.epochs = 1;
  longer.checkpoint = "";
  EXPECT_EQ(TrainSession(longer, checkpoint).Run({}).history.epochs.size(), 1U) << "other epochs are fine";
  EXPECT_EQ(CaughtError([&] { ResumeSettings(folder.Path("none")); }).code(), ErrorCode::kNotFound);
}

TEST(TrainSession, OutputsAreCheckedBeforeAnything) {
  const TemporaryFolder folder;
  TrainSettings settings = DigitSettings();
  settings.data = folder.Path("does not exist");  // would be the next error
  for (const std::string& path : {folder.Path(), folder.Path("no/folder/m")}) {
    for (std::string TrainSettings::*field :
         {&TrainSettings::model, &TrainSettings::history, &TrainSettings::history_json, &TrainSettings::checkpoint}) {
      TrainSettings bad = settings;
      bad.*field = path;
      const Error error = CaughtError([&] { TrainSession{bad}; });
      EXPECT_FALSE(Mentions(error.what(), settings.data)) << path;
    }
  }
  std::filesystem::create_directory(folder.Path("m.checkpoint"));
  settings.model = folder.Path("m");
  EXPECT_TRUE(Mentions(CaughtError([&] { TrainSession{settings}; }).what(), "m.checkpoint"));
  settings.model = "";
  settings.checkpoint_epochs = 1;
  EXPECT_TRUE(Mentions(CaughtError([&] { TrainSession{settings}; }).what(), "--checkpoint"));
}

TEST(TrainSession, PatienceWithoutValidationIsRefused) {
  TrainSettings settings = DigitSettings();
  settings.split = {0.8, 0, 0.2};
  settings.patience = 3;
  EXPECT_EQ(CaughtError([&] { TrainSession(settings).Run({}); }).code(), ErrorCode::kInvalidArgument);
}

TEST(TrainSession, ADivergingRunWritesNothing) {
  const TemporaryFolder folder;
  TrainSettings settings = DigitSettings();
  settings.loss = "mse";
  settings.output_activation = "identity";
  settings.activation = "identity";
  settings.optimizer = "sgd";
  settings.learning_rate = 1e6;
  settings.model = folder.Path("m");
  settings.history = folder.Path("h");
  EXPECT_EQ(CaughtError([&] { TrainSession(settings).Run({}); }).code(), ErrorCode::kDiverged);
  EXPECT_EQ(folder.Count(), 0);
}

TEST(TrainSession, Regression) {
  const TemporaryFolder folder;
  std::string csv = "a,b,price\n";
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const double a = random.Uniform(-5, 5);
    const double b = random.Uniform(100, 900);
    csv += fmt::format("{},{},{}\n", a, b, 3 * a - 0.5 * b + 1000);
  }
  WriteFileAtomically(folder.Path("d.csv"), csv);
  TrainSettings settings;
  settings.data = folder.Path("d.csv");
  settings.task = "regression";
  settings.recipe = "plain";
  settings.hidden = {0};
  settings.optimizer = "sgd";
  settings.epochs = 100;
  settings.dtype = "f64";
  settings.threads = 2;
  const TrainResult result = TrainSession(settings).Run({});
  ASSERT_EQ(result.test->regression.size(), 1U);
  EXPECT_EQ(result.test->regression[0].name, "price");
  EXPECT_GT(result.test->regression[0].r2, 0.999999);
  EXPECT_LT(result.test->regression[0].rmse, 0.1) << "in units of the target";
}

}  // namespace
}  // namespace lamina
