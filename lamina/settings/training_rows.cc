// How is trained: loss, updates, epochs, rates over time.
#include "lamina/settings/training_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lamina/settings/setting_names.h"
#include "lamina/train/train_options.h"

namespace lamina {
namespace {

using namespace setting_names;  // NOLINT(google-build-using-namespace): its own lists
using S = TrainSettings;
using Row = Setting<S>;

// Help texts that follow the library's lists of formulas.

// "a", "a and b", "a, b and c".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

// "0.05 for sgd and nesterov, 0.001 for adam".
std::string NumbersOfRules(double (*number)(UpdateKind), bool (*reads)(UpdateKind)) {
  std::vector<std::pair<double, std::vector<std::string>>> groups;
  for (const std::string& name : UpdateKindNames()) {
    const UpdateKind kind = ParseUpdateKind(name);
    if (!reads(kind)) {
      continue;
    }
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == number(kind); });
    if (same == groups.end()) {
      groups.push_back({number(kind), {name}});
    } else {
      same->second.push_back(name);
    }
  }
  std::string text;
  for (const auto& [value, names] : groups) {
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", value, Listed(names));
  }
  return text;
}

std::string LossHelp() {
  std::string text = "auto";
  for (const std::string& name : LossNames()) {
    text += ", " + Loss::Parse(name).Text();
  }
  return text;
}

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names = UpdateKindNames();
  names.emplace_back(kLbfgs);
  return names;
}

std::string UpdateHelp() {
  return fmt::format("{}; lbfgs takes all rows in each step, for small data", fmt::join(OptimizerNames(), ", "));
}

bool StepsByRule(const S& s) { return s.optimizer != kLbfgs; }

std::string UpdateNumberHelp(std::string_view number) {
  std::vector<std::string> names;
  for (const std::string& name : UpdateKindNames()) {
    if (UpdateReads(ParseUpdateKind(name), number)) {
      names.push_back(name);
    }
  }
  return "For " + Listed(names);
}

std::string LearningRateHelp() {
  return "Default: " + NumbersOfRules(&DefaultLearningRate, [](UpdateKind) { return true; });
}

std::string Beta2Help() {
  return "Default: " + NumbersOfRules(&DefaultBeta2, [](UpdateKind kind) { return UpdateReads(kind, "beta2"); });
}

// Whether the update rule reads a number; an unknown rule may.
bool Reads(const S& s, std::string_view number) {
  const std::vector<std::string> known = UpdateKindNames();
  if (!StepsByRule(s)) {
    return false;
  }
  return std::find(known.begin(), known.end(), s.optimizer) == known.end() ||
         UpdateReads(ParseUpdateKind(s.optimizer), number);
}

// What training lessens, and what keeps it from learning the rows by heart.
std::vector<Row> LossRows() {
  return {
      Row("loss", &S::loss, LossHelp() + "; auto: cross_entropy for classes, else mse",
          {.choices = &AutoAnd<&LossNames>, .more_choices = true, .shapes_loss = true}),
      Row("quantiles", &S::quantiles,
          "Levels of --loss quantile, in ascending order, with an answer for each (at most 7), for example 0.1,0.5,0.9",
          {.range = NumberRange{.low = 0, .high = 1, .above_low = true, .below_high = true},
           .effect = [](const S& s) { return s.loss == formulas::Quantile::kName; },
           .effect_text = "For --loss quantile",
           .shapes_loss = true}),
      Row("label-smoothing", &S::label_smoothing,
          "Classes: this share of the training targets, 0 to below 1, is spread over all classes; auto: by the "
          "recipe (plain: 0). Above 0, probabilities are calibrated, as by --calibrate, if there are validation rows",
          {.range = StepRange("label-smoothing"), .effect = &MayBeClasses, .after_checkpoint = true}),
      Row("dropout", &S::dropout, "Share of the hidden layers' outputs left out of a training step, at random",
          {.range = StepRange("dropout"), .after_checkpoint = true}),
      Row("mixup", &S::mixup,
          "Mixes rows of a training step, inputs and targets, in shares drawn from Beta(a, a) with this a; 0: no "
          "mixup",
          {.range = StepRange("mixup"), .after_checkpoint = true}),
      Row("normalization", &S::normalization,
          "Hidden layers of dot neurons in training steps: none, or batch: each neuron's sum minus its mean over the "
          "batch, over its standard deviation there, times a trained factor. The model keeps them folded into the "
          "weights",
          {.choices = &NormalizationNames})};
}

std::vector<Row> UpdateRows() {
  return {
      Row("optimizer", &S::optimizer, UpdateHelp(), {.choices = &OptimizerNames}),
      Row("learning-rate", &S::learning_rate, LearningRateHelp(),
          {.range = TrainRanges::learning_rate,
           .effect = &StepsByRule,
           .effect_text = "Not for lbfgs, which measures its steps",
           .after_checkpoint = true,
           .logarithmic = true,
           .basic = "Size of the steps; auto: by the recipe"}),
      Row("bias-rate", &S::bias_rate,
          "Learning rate of the biases as a share of the others'; auto: by the recipe (plain: 1)",
          {.range = StepRange("bias-rate"), .after_checkpoint = true}),
      Row("embedding-rate", &S::embedding_rate,
          "Learning rate of the embeddings as a share of the others'; auto: by the recipe (plain: 1)",
          {.range = StepRange("embedding-rate"), .after_checkpoint = true}),
      Row("momentum", &S::momentum, UpdateNumberHelp("momentum"),
          {.range = TrainRanges::momentum,
           .effect = [](const S& s) { return Reads(s, "momentum"); },
           .after_checkpoint = true}),
      Row("weight-decay", &S::weight_decay,
          "Weight decay, the 2018 paper's regularization factor; auto: 0.001 (less above 5,000 training rows) where "
          "--epochs is auto, else 0",
          {.range = TrainRanges::weight_decay, .after_checkpoint = true, .logarithmic = true}),
      Row("beta1", &S::beta1, UpdateNumberHelp("beta1"),
          {.range = TrainRanges::beta1,
           .effect = [](const S& s) { return Reads(s, "beta1"); },
           .after_checkpoint = true}),
      Row("beta2", &S::beta2, Beta2Help(),
          {.range = TrainRanges::beta2,
           .effect = [](const S& s) { return Reads(s, "beta2"); },
           .after_checkpoint = true}),
      Row("epsilon", &S::epsilon, UpdateNumberHelp("epsilon"),
          {.range = TrainRanges::epsilon,
           .effect = [](const S& s) { return Reads(s, "epsilon"); },
           .after_checkpoint = true,
           .logarithmic = true}),
      Row("clip-norm", &S::clip_norm,
          "Largest L2 norm of a step's gradient, over all parameters together; longer ones are shortened; 0: no limit",
          {.range = StepRange("clip-norm"), .after_checkpoint = true, .logarithmic = true})};
}

std::vector<Row> StepRows() {
  return {
      Row("epochs", &S::epochs, "Passes over the training rows; auto: by their number, more for fewer rows (10 to 500)",
          {.range = TrainRanges::epochs, .after_checkpoint = true, .basic = "Passes over the training rows"}),
      Row("batch", &S::batch, "Rows in a step; auto: by the number of training rows (16 to 128)",
          {.range = TrainRanges::batch,
           .effect = &StepsByRule,
           .effect_text = "Not for lbfgs, whose steps take all rows",
           .after_checkpoint = true}),
      Row("shards", &S::shards,
          "Parts of a batch whose gradients are summed in a fixed order: the same model, to the bit, for any number "
          "of MPI ranks up to this; 0: 8 with ranks, else the batch in one piece",
          {.range = TrainRanges::shards}),
      Row("shard-data", &S::shard_data,
          "The shards own the training rows: epochs shuffle within shards, and an MPI rank keeps only the rows of "
          "its shards. The model is the same, to the bit, for any number of ranks. Without it every rank has all rows"),
      Row("gradients", &S::gradients,
          "Gradients between MPI ranks: exact, or bf16: rounded to half the bytes, summed in f32. The model then "
          "depends on the number of ranks",
          {.choices = &Names<kGradients>, .after_checkpoint = true})};
}

std::vector<Row> ScheduleRows() {
  return {
      Row("schedule", &S::schedule,
          "Learning rate over time: constant, step, cosine, plateau, coslog4 (four waves, each twice as long as the "
          "one "
          "before), flat_cos (half, then a cosine to 0), one_cycle (up, and down to 0); auto: by the recipe (plain: "
          "constant)",
          {.choices = &AutoAnd<&ScheduleKindNames>, .after_checkpoint = true}),
      Row("warmup", &S::warmup, "Share of all steps over which the learning rate rises from 0",
          {.range = TrainRanges::warmup, .after_checkpoint = true}),
      Row("schedule-factor", &S::schedule_factor, "step, plateau: multiplier; cosine: final share",
          {.range = TrainRanges::schedule_factor,
           .effect =
               [](const S& s) {
                 return s.schedule == ScheduleKindName(ScheduleKind::kStep) ||
                        s.schedule == ScheduleKindName(ScheduleKind::kCosine) ||
                        s.schedule == ScheduleKindName(ScheduleKind::kPlateau);
               },
           .effect_text = "For the schedules step, cosine and plateau",
           .after_checkpoint = true}),
      Row("schedule-epochs", &S::schedule_epochs, "step: epochs between multiplications",
          {.range = TrainRanges::schedule_epochs,
           .effect = [](const S& s) { return s.schedule == ScheduleKindName(ScheduleKind::kStep); },
           .effect_text = "For the schedule step",
           .after_checkpoint = true}),
      Row("schedule-patience", &S::schedule_patience, "plateau: epochs without improvement before a multiplication",
          {.range = TrainRanges::schedule_patience,
           .effect = [](const S& s) { return s.schedule == ScheduleKindName(ScheduleKind::kPlateau); },
           .effect_text = "For the schedule plateau",
           .after_checkpoint = true})};
}

// When training ends, and with which weights.
std::vector<Row> EndRows() {
  return {
      Row("patience", &S::patience,
          "Early stopping after this many epochs without a better --monitor of the validation rows; 0: never; auto: "
          "a fifth of the epochs, 5 to 50, with validation rows and --epochs auto, else never",
          {.range = TrainRanges::patience, .after_checkpoint = true}),
      Row("patience-waves", &S::patience_waves,
          "Early stopping at the end of a wave of the schedule, if this many waves brought no better --monitor; 0: "
          "never; auto: by the recipe (plain: 0; tabular: 1 with validation rows and --epochs auto)",
          {.range = TrainRanges::patience_waves,
           .effect =
               [](const S& s) {
                 return s.schedule == ScheduleKindName(ScheduleKind::kCosLog4) || s.schedule == kAutoText;
               },
           .effect_text = "For the schedule coslog4",
           .after_checkpoint = true}),
      Row("min-improvement", &S::min_improvement, "How much lower a loss must be to count as better",
          {.range = TrainRanges::min_improvement, .after_checkpoint = true, .logarithmic = true}),
      Row("keep", &S::keep,
          "Weights kept at the end: best (of the epoch with the best --monitor of the validation rows), last, "
          "last_best (of equally good epochs the last one), best_wave (the best epoch that ends a wave of coslog4), "
          "or auto: best where there are validation rows",
          {.choices = &KeepNames, .after_checkpoint = true}),
      Row("quantize-aware", &S::quantize_aware,
          "Epochs to add on what the network computes in 8-bit integers (export --c --int8), so that these lose "
          "nothing: at a tenth of the learning rate, falling to 0. The model keeps their scales; 0: none",
          {.range = TrainRanges::quantize_aware, .effect = &LearnsByGradient, .after_checkpoint = true}),
      Row("shuffle", &S::shuffle, "Reorder the rows every epoch"),
      Row("seed", &S::seed, "Seed of the weights, the split and the order of rows",
          {.basic = "Another one draws other rows and weights"})};
}

}  // namespace

std::vector<Row> TrainingRows() {
  return JoinGroups<S>({{kTrainingGroup, LossRows()},
                        {kTrainingGroup, UpdateRows()},
                        {kTrainingGroup, StepRows()},
                        {kTrainingGroup, ScheduleRows()},
                        {kTrainingGroup, EndRows()}});
}

}  // namespace lamina
