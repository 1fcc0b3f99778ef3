// Options of training from a dict.
#include "python/src/update_options.h"

#include <nanobind/stl/string.h>

#include <string>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/neuron/problem.h"

namespace lamina::python {
namespace {

// Takes the options that there are and refuses what is left.
class Options {
 public:
  explicit Options(const nb::dict& given) : left_(given.attr("copy")()) {}

  template <class T>
  bool Take(const char* name, T& value) {
    if (!nb::cast<bool>(left_.attr("__contains__")(name))) {
      return false;
    }
    value = nb::cast<T>(left_.attr("pop")(name));
    return true;
  }

  template <class T, class Parse>
  void TakeName(const char* name, T& value, const Parse& parse) {
    if (std::string text; Take(name, text)) {
      value = parse(text);
    }
  }

  void RequireEmpty() const {
    for (const nb::handle name : left_) {
      throw Error(ErrorCode::kInvalidArgument, "there is no such option of training",
                  {.value = nb::cast<std::string>(nb::str(name))});
    }
  }

 private:
  nb::object left_;
};

UpdateRule TakeRule(Options& options) {
  UpdateRule rule;
  rule.kind = UpdateKind::kAdam;
  options.TakeName("optimizer", rule.kind, &ParseUpdateKind);
  rule.learning_rate = DefaultLearningRate(rule.kind);
  rule.beta2 = DefaultBeta2(rule.kind);
  options.Take("learning_rate", rule.learning_rate);
  options.Take("momentum", rule.momentum);
  options.Take("weight_decay", rule.weight_decay);
  options.Take("beta1", rule.beta1);
  options.Take("beta2", rule.beta2);
  options.Take("epsilon", rule.epsilon);
  return rule;
}

}  // namespace

UpdateRule UpdateRuleFrom(const nb::dict& given) {
  Options options(given);
  const UpdateRule rule = TakeRule(options);
  options.RequireEmpty();
  return rule;
}

TrainOptions TrainOptionsFrom(const nb::dict& given) {
  Options options(given);
  TrainOptions train;
  train.rule = TakeRule(options);
  options.Take("epochs", train.epochs);
  options.Take("batch", train.batch);
  options.TakeName("loss", train.step.loss, &Loss::Parse);
  options.TakeName("precision", train.step.precision,
                   [](const std::string& name) { return ParseName(name, kPrecisions, "unknown precision"); });
  options.TakeName("schedule", train.schedule.kind, &ParseScheduleKind);
  options.Take("schedule_factor", train.schedule.factor);
  options.Take("schedule_epochs", train.schedule.step_epochs);
  options.Take("schedule_patience", train.schedule.patience);
  options.Take("min_improvement", train.min_improvement);
  options.Take("seed", train.step.seed);
  options.Take("shuffle", train.shuffle);
  options.Take("class_threshold", train.step.class_threshold);
  options.Take("clip_norm", train.step.clip_norm);
  options.Take("label_smoothing", train.step.label_smoothing);
  options.RequireEmpty();
  return train;
}

}  // namespace lamina::python
