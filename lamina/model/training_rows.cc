// By what training left in the model's file.
#include "lamina/model/training_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "lamina/base/file.h"
#include "lamina/base/text.h"

namespace lamina {

std::string NoteOnTrainingRows(const Model& model, const std::string& data) {
  const nlohmann::json settings = model.training.value("settings", nlohmann::json::object());
  const std::string trained_on = settings.value("data", std::string());
  if (trained_on.empty() || !IsSameFile(trained_on, data)) {
    return "";
  }
  const nlohmann::json test = model.training.value("test", nlohmann::json::object());
  const nlohmann::json targets = test.value("targets", nlohmann::json::array());
  std::string expect = "less";
  if (test.contains("accuracy") && test["accuracy"].is_number()) {
    expect = fmt::format("the accuracy of its test rows, {} %", PercentText(test["accuracy"].get<double>()));
  } else if (targets.size() == 1 && targets[0].contains("r2") && targets[0]["r2"].is_number()) {
    expect = fmt::format("the R² of its test rows, {:.5f}", targets[0]["r2"].get<double>());
  }
  return fmt::format("the model was trained on rows of {}: on rows that are new to it expect {}", data, expect);
}

}  // namespace lamina
