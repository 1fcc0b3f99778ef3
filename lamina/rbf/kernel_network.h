// A kernel machine as the network that it is: scaled columns, distances to the training rows, output weights.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"
#include "lamina/rbf/kernel_machine.h"

namespace lamina {

class Backend;       // backend/backend.h
class Communicator;  // cluster/communicator.h

struct KernelNetworkOptions {
  /// Rows that choices are made with, evenly spread; the machine is then solved for with all rows.
  static constexpr int64_t kSearchRows = 700;
  static constexpr int64_t kMostRows = 20'000;

  KernelChoices choices;
  /// Targets are 1 for the class of a row, else 0. Outputs are probabilities: softmax by a temperature that fits the
  /// answers to rows left out.
  bool classes = false;
  int threads = 1;
  /// In whose memory systems of so many rows and more are solved, if it can (KernelMachineOptions::backend).
  const Backend* backend = nullptr;
  int64_t least_device_rows = 0;
  /// That share the leaves; null: this process alone. All of them have all rows, and call it with the same options. One
  /// machine is solved by each of them.
  Communicator* ranks = nullptr;
  /// For more rows, or if memory is short, machines in the leaves of a tree (leaf_tree.h) answer together. Memory grows
  /// with the square of a machine's rows, time with their cube.
  int64_t most_rows = kMostRows;
  bool leaves = true;  // else of more some are the neurons, as many as CentresFor() says
  /// Neurons of one machine, evenly spread, where rows are more than choices are made with; 0: all rows.
  int64_t centres = 0;
  /// The last so many rows are left out together, too: KernelMachine::apart. For rows without weights and times.
  int64_t apart = 0;
  /// By how much the mean squared error may grow, as a share of it, where fewer neurons are enough for that; 0: none
  /// are dropped.
  double prune = 0;
  /// For the choices, by the clock: what takes longer is not begun, and more rows take part where there is time. 0: all
  /// choices of kSearchRows, some second, and the same model on every machine.
  double seconds = 0;
  std::function<bool()> stop_requested;
  std::function<void(int64_t tried)> progress;
};

struct KernelNetwork {
  Network network;
  /// The networks of further leaves, and how much each leaf counts for a row (Model::gates).
  std::vector<Network> others;
  std::optional<Network> gates;
  KernelMachine machine;        // as it was solved for in the end; `complete` is false where it was stopped
  int64_t search_rows = 0;      // that choices were made with
  int64_t tried = 0;            // systems solved
  int64_t centres = 0;          // rows that are neurons
  int64_t unpruned = 0;         // neurons before some were dropped; 0: all that there were are left
  double growth = 0;            // of the mean squared error by that, as a share of it: of rows that had no part in it
  int64_t equal_rows = 0;       // that have an equal one, and are left out together with it
  int64_t groups = 0;           // of train.groups; 0: none
  int64_t asked_rows = 0;       // that earlier ones of train.times have answered; 0: there are none
  double temperature = 1;       // of classes
  std::string solver;           // of the machine of all rows: "cuda: cuSOLVER 12.0.4"; empty: this processor
  std::string why_processor;    // solved it, though a backend was named; or empty
  double left_out_correct = 0;  // of classes: the share of rows that all others answer rightly
};

/// Rows of weight 0 are left out. Where errors are looked at, earlier rows of train.times answer, and the centers have
/// that order. Else rows are left out by train.groups, or together with equal rows where these are few. Throws
/// Error(kInvalidArgument) where all rows are of one group or time, and as FitKernelMachine().
KernelNetwork FitKernelNetwork(const Dataset& train, const KernelNetworkOptions& options);

/// What FitKernelNetwork() takes for so many rows, where that is worth a sentence, to be said before: "30,000 rows:
/// 5,000 of them are the neurons ..."; else empty. `prune`: KernelNetworkOptions::prune.
std::string KernelCostNote(int64_t rows, int64_t columns, int64_t outputs, double prune = 0);

}  // namespace lamina
