// Rows to measure on, a judge, and what came out.
#include "lamina/run/tune_for_int8.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/setting.h"
#include "lamina/base/text.h"
#include "lamina/model/c_source/int8_rows.h"
#include "lamina/model/int8_network.h"
#include "lamina/model/int8_rounding.h"
#include "lamina/train/quantize_aware.h"

namespace lamina {
namespace {

// As many training rows as exports measure on, spread evenly.
Matrix MeasuredRows(const Matrix& features) {
  Matrix rows(std::min(kMostInt8Rows, features.rows()), features.cols(), features.dtype());
  DispatchFloat(features.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < rows.rows(); ++i) {
      std::copy_n(features.Row<T>(i * features.rows() / rows.rows()), rows.cols(), rows.Row<T>(i));
    }
  });
  return rows;
}

Evaluation EvaluateInt8(const Model& model, const Int8Ranges& ranges, const Int8Tuning& tuning, const Dataset& rows) {
  Model rounded = model;
  rounded.int8 = std::make_shared<const Int8Network>(RoundToInt8(model.network, ranges).network);
  return Evaluate(rounded, tuning.backend, rows);
}

// The metric that a reader compares.
std::string ResultText(const Evaluation& evaluation) {
  return evaluation.classification
             ? fmt::format("accuracy {} %", PercentText(evaluation.classification->accuracy))
             : fmt::format("RMSE {} of {}", FigureText(evaluation.regression[0].rmse), evaluation.regression[0].name);
}

}  // namespace

void RequireInt8Tuning(const TrainSettings& settings, const TrainData& data, const Model& model) {
  const auto refuse = [&](const std::string& why) {
    RefuseSetting("quantize-aware", "--quantize-aware: " + why, fmt::format("{}", settings.quantize_aware),
                  "Leave it out.");
  };
  if (data.train.sparse != nullptr) {
    refuse("the rows are sparse, and it takes dense ones");
  }
  try {
    const Matrix rows = MadeUpInputs(model);
    RoundToInt8(model.network, MeasureForInt8(model.network, rows, rows));
  } catch (const Error& error) {
    refuse(error.message());
  }
}

Int8Outcome TuneForInt8(const Int8Tuning& tuning, Model& model) {
  const Dataset& validation = tuning.data.validation;
  const Matrix features = MeasuredRows(tuning.data.train.features);
  const Matrix bounds = MadeUpInputs(model);
  const TrainOptions& options = tuning.options;
  QuantizeAwareWork work{tuning.data.train, features, bounds, options, tuning.settings.quantize_aware};
  work.stop_requested = tuning.stop_requested;
  if (validation.size() > 0) {
    work.validation = &validation.features;
    work.judge = [&](const Matrix& outputs) {
      return options.monitor ? (options.monitor_higher ? -1 : 1) * options.monitor(outputs)
                             : LossOfOutputs(model, outputs, validation.targets);
    };
  }
  Int8Outcome outcome;
  outcome.epochs = work.epochs;
  const Dataset& judged = tuning.data.test.size() > 0 ? tuning.data.test : validation;
  outcome.part = tuning.data.test.size() > 0 ? "test" : validation.size() > 0 ? "validation" : "";
  if (judged.size() > 0) {
    outcome.before = EvaluateInt8(model, MeasureForInt8(model.network, features, bounds), tuning, judged);
  }
  QuantizeAwareResult tuned = TrainQuantizeAware(model.network, work);
  outcome.best_epoch = tuned.best_epoch;
  outcome.stopped = tuned.stopped;
  model.int8_ranges = std::move(tuned.ranges);
  if (judged.size() > 0) {
    outcome.after = EvaluateInt8(model, *model.int8_ranges, tuning, judged);
  }
  return outcome;
}

nlohmann::json ToJson(const Int8Outcome& outcome) {
  nlohmann::json node = {{"epochs", outcome.epochs}, {"best_epoch", outcome.best_epoch}, {"stopped", outcome.stopped}};
  if (outcome.after) {
    node["rows"] = outcome.part;
    node["before"] = ToJson(*outcome.before);
    node["after"] = ToJson(*outcome.after);
  }
  return node;
}

std::string OutcomeText(const Int8Outcome& outcome) {
  std::string text = outcome.after ? fmt::format("in 8-bit integers the {} rows have {}, by rounding alone {}",
                                                 outcome.part, ResultText(*outcome.after), ResultText(*outcome.before))
                                   : std::string("the network was trained on in 8-bit integers");
  text += outcome.stopped ? ", which was stopped" : "";
  return text + (outcome.best_epoch == 0 ? fmt::format("; none of {} was better", Counted(outcome.epochs, "epoch{s}"))
                                         : fmt::format("; epoch {} of {} is kept", outcome.best_epoch, outcome.epochs));
}

}  // namespace lamina
