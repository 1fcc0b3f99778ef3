// Rows to settings and back.
#include "layer_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lamina/base/text.h"
#include "lamina/neuron/problem.h"
#include "lamina/nn/network.h"
#include "lamina/settings/layers_text.h"
#include "lamina/settings/settings_text.h"
#include "problem.h"

namespace lamina::gui {
namespace {

constexpr const char* kBipolar = "bipolar_sigmoid";

// The blocks that --residual makes of layers of these widths.
void SetResidual(std::vector<LayerRow>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].residual = i > 0 && rows[i].neurons == rows[i - 1].neurons ? 1 : 0;
  }
}

bool HasResidual(const std::vector<LayerRow>& rows) {
  return std::ranges::any_of(rows, [](const LayerRow& row) { return row.residual > 0; });
}

bool IsPlain(const std::vector<LayerRow>& rows) {
  std::vector<LayerRow> blocks = rows;
  if (HasResidual(rows)) {
    SetResidual(blocks);
  }
  return blocks == rows && std::all_of(rows.begin(), rows.end(), [&](const LayerRow& row) {
           return row.synapse == "dot" && !row.own_radius && row.activation == rows.front().activation &&
                  ParseInteger(row.neurons);
         });
}

std::string NeuronOf(const LayerRow& row, const TrainSettings& settings) {
  std::string activation = row.activation;
  if (activation == kBipolar && (settings.gain || settings.threshold)) {
    activation += fmt::format("(gain={},threshold={})", settings.gain.value_or(1), settings.threshold.value_or(0));
  }
  return fmt::format("{}-{}{}", row.synapse, activation, row.own_radius ? "-radius" : "");
}

}  // namespace

void RowsToSettings(const std::vector<LayerRow>& rows, TrainSettings& settings) {
  settings.layers.clear();
  settings.residual = IsPlain(rows) && HasResidual(rows);
  if (IsPlain(rows)) {
    settings.hidden.clear();
    for (const LayerRow& row : rows) {
      settings.hidden.push_back(*ParseInteger(row.neurons));
    }
    if (rows.empty()) {
      settings.hidden = {0};
    } else {
      settings.activation = rows.front().activation;
    }
    return;
  }
  std::vector<std::string> parts;
  int64_t free = 0;  // layers since the last block: a part each
  for (const LayerRow& row : rows) {
    parts.push_back(fmt::format("{}:{}", NeuronOf(row, settings), row.neurons));
    ++free;
    if (row.residual > 0) {
      CloseResidual(parts, std::min(row.residual, free));
      free = 0;
    }
  }
  parts.emplace_back("auto");
  settings.layers = fmt::format("{}", fmt::join(parts, ","));
  settings.hidden = TrainSettings().hidden;
  settings.activation = TrainSettings().activation;
  settings.gain.reset();
  settings.threshold.reset();
}

std::vector<LayerRow> RowsFromSettings(const TrainSettings& settings) {
  std::vector<LayerRow> rows;
  if (settings.layers.empty()) {
    for (const int64_t neurons : settings.hidden) {
      if (neurons != 0 || settings.hidden.size() > 1) {
        rows.push_back({std::to_string(neurons), "dot", settings.activation, false});
      }
    }
    if (settings.residual) {
      SetResidual(rows);
    }
    return rows;
  }
  Attempt([&] {
    const bool automatic = EndsInAuto(settings.layers);
    const std::string text = automatic ? HiddenPart(settings.layers) : settings.layers;
    std::vector<LayerSpec> layers = text.empty() ? std::vector<LayerSpec>() : ParseLayers(text, 1, settings.bias);
    if (!automatic) {
      layers.pop_back();
    }
    for (const LayerSpec& layer : layers) {
      rows.push_back({std::to_string(layer.outputs), std::string(SynapseName(layer.synapse)), layer.activation.Text(),
                      layer.trained_radius, layer.residual});
    }
  });
  return rows;
}

bool TakesRadius(const LayerRow& row) {
  const std::string name = row.activation.substr(0, row.activation.find('('));
  const std::vector<std::string> known = ActivationNames();
  return std::find(known.begin(), known.end(), name) != known.end() && Activation(name).radius() > 0;
}

std::string ProblemOfRow(const LayerRow& row) {
  TrainSettings settings;
  settings.data = "-";
  settings.layers = fmt::format("{}:{},auto", NeuronOf(row, settings), row.neurons);
  if (!ParseInteger(row.neurons)) {
    return "the number of neurons must be a whole number";
  }
  for (const SettingProblem& problem : CheckSettings(settings)) {
    const auto text = gui::ProblemOf(problem.error);
    return problem.error.message() + (text.remedy.isEmpty() ? "" : ". " + text.remedy.toStdString());
  }
  return "";
}

}  // namespace lamina::gui
