// LayerRow: one hidden layer as the window edits it, and its way into the settings and back.
#pragma once

#include <string>
#include <vector>

#include "lamina/settings/settings.h"

namespace lamina::gui {

struct LayerRow {
  std::string neurons = "64";  // as typed
  std::string synapse = "dot";
  std::string activation = "relu";  // with parameters, as typed
  bool own_radius = false;          // a trained radius for every neuron
  int64_t residual = 0;             // LayerSpec::residual
  friend bool operator==(const LayerRow&, const LayerRow&) = default;
};

/// Layers of one activation and dot synapses become `hidden` and `activation`, with `residual` where they have its
/// blocks. Others become `layers`, with the settings' gain and threshold written into them.
void RowsToSettings(const std::vector<LayerRow>& rows, TrainSettings& settings);

/// The rows of settings that a recipe has completed (Resolve). Layers that cannot be parsed give none.
std::vector<LayerRow> RowsFromSettings(const TrainSettings& settings);

/// Whether the row's activation is a curve of z / radius.
bool TakesRadius(const LayerRow& row);

/// What is wrong with one row, by the library's check of a network of that layer alone; "" where nothing is.
std::string ProblemOfRow(const LayerRow& row);

}  // namespace lamina::gui
