// The parts of a result, by name.
#include "lamina/run/result_json.h"

#include "lamina/base/hardware.h"
#include "lamina/run/remarks.h"
#include "lamina/run/tune_for_int8.h"

namespace lamina {

nlohmann::json DecisionsJson(const std::vector<ColumnDecision>& decisions) {
  nlohmann::json list = nlohmann::json::array();
  for (const ColumnDecision& decision : decisions) {
    list.push_back({{"column", decision.column}, {"what", decision.what}, {"otherwise", decision.otherwise}});
  }
  return list;
}

nlohmann::json NewLabelsJson(const EncodeReport& report) {
  nlohmann::json list = nlohmann::json::array();
  for (const EncodeReport::NewLabel& label : report.new_labels) {
    list.push_back({{"name", label.name},
                    {"class", label.class_name.empty() ? nlohmann::json(nullptr) : nlohmann::json(label.class_name)},
                    {"rows", label.rows}});
  }
  return list;
}

void AddSpeed(nlohmann::json& node, double samples, double seconds) {
  if (samples > 0 && seconds > 0) {
    node["samples_per_second"] = samples / seconds;
    node["seconds_per_60000_samples"] = 60000.0 * seconds / samples;
  }
}

nlohmann::json ResultJson(const TrainSession& session, const TrainResult& result, bool history) {
  const Network& network = session.model().network;
  const EpochRecord& last = result.history.epochs.empty() ? EpochRecord{} : result.history.epochs.back();
  const double samples = static_cast<double>(session.rows().train) * static_cast<double>(result.history.epochs.size());
  using nlohmann::json;
  json node = {{"method", session.model().training.value("method", json::object())},
               {"trees", session.model().training.value("trees", json::object())},
               {"line", session.model().training.value("line", json::object())},
               {"network", network.ShapeText()},
               {"parameters", network.parameter_count()},
               {"dtype", DTypeName(network.dtype())},
               {"loss", session.model().loss.Text()},
               {"backend", session.backend().name()},
               {"threads", session.backend().threads()},
               {"hardware", QueryHardware().OneLine()},
               {"train_rows", session.rows().train},
               {"validation_rows", session.validation().size()},
               {"test_rows", session.test().size()},
               {"inputs", network.inputs()},
               {"outputs", network.outputs()},
               {"epochs", session.options().epochs},
               {"batch", session.options().batch},
               {"left_out_rows", session.left_out_rows()},
               {"filled_values", session.encode_report().filled_values},
               {"unseen_values", session.encode_report().unseen_values},
               {"decisions", DecisionsJson(session.decisions())},
               {"remarks", RemarksOn(session, result)},
               {"load_seconds", session.load_seconds()},
               {"train_seconds", result.train_seconds},
               {"train_loss", last.train_loss},
               {"calibration", result.calibration ? ToJson(*result.calibration) : json(nullptr)},
               {"quantize_aware", result.int8 ? ToJson(*result.int8) : json(nullptr)},
               {"intervals", session.model().intervals ? json(session.model().intervals->half_widths) : json(nullptr)},
               {"coverage", result.coverage},
               {"settings", ToJson(session.settings())}};
  if (history) {
    node["history"] = result.history.ToJson();
  }
  AddSpeed(node, samples, result.train_seconds);
  if (result.test) {
    node["test"] = ToJson(*result.test);
    node["test"]["seconds"] = result.test->seconds;
    node["test"]["new_labels"] = NewLabelsJson(session.encode_report());
    if (result.test->classification) {
      node["accuracy"] = result.test->classification->accuracy;
    }
  } else if (session.validation().size() > 0 && !session.validation().labels.empty() &&
             !result.history.epochs.empty()) {
    const bool best = session.options().KeepsBest(true);
    node["accuracy"] =
        (best ? result.history.epochs[static_cast<size_t>(result.history.best_epoch - 1)] : last).validation_accuracy;
  }
  return node;
}

}  // namespace lamina
