// A kernel machine as the network that it is: scaled columns, distances to the training rows, output weights.
#pragma once

#include <cstdint>
#include <functional>

#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

struct KernelNetworkOptions {
  /// Rows that choices are made with, evenly spread; the machine is then solved for with all rows.
  static constexpr int64_t kSearchRows = 700;
  /// More are refused: memory grows with their square, time with their cube.
  static constexpr int64_t kMostRows = 20'000;

  KernelChoices choices;
  /// Targets are 1 for the class of a row, else 0: outputs are probabilities, softmax of the answers by a temperature
  /// that fits answers of rows left out.
  bool classes = false;
  int threads = 1;
  /// For the choices, by the clock: what takes longer is not begun, and more rows take part where there is time. 0: all
  /// choices of kSearchRows, some second, and the same model on every machine.
  double seconds = 0;
  std::function<bool()> stop_requested;
  std::function<void(int64_t tried)> progress;
};

struct KernelNetwork {
  Network network;
  KernelMachine machine;        // as it was solved for in the end; `complete` is false where it was stopped
  int64_t search_rows = 0;      // that choices were made with
  int64_t tried = 0;            // systems solved
  int64_t equal_rows = 0;       // that have an equal one, and are left out together with it
  double temperature = 1;       // of classes
  double left_out_correct = 0;  // of classes: the share of rows that all others answer rightly
};

/// The layers of KernelNetwork::network for one centre: columns times their weights, distances, outputs. `scaled`:
/// whether there are such weights.
std::vector<LayerSpec> KernelLayers(const KernelKind& kind, bool scaled, int64_t inputs, int64_t outputs, bool classes);

/// Rows of weight 0 are left out. Equal rows are left out together where errors are looked at. Throws
/// Error(kInvalidArgument) for more rows than kMostRows, saying what they would take, and as FitKernelMachine().
KernelNetwork FitKernelNetwork(const Dataset& train, const KernelNetworkOptions& options);

}  // namespace lamina
