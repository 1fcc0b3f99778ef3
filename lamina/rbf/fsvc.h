// The fast and the super fast support vector classifier of R. and I. Dogaru (FSVC 2007, SFSVC 2016). They are networks
// of two layers whose centers one pass over the rows finds.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"
#include "lamina/rbf/novelty.h"

namespace lamina {

struct FsvcOptions {
  NoveltyOptions novelty;
  /// Centers are found class by class, and stand so (SFSVC); else among all rows (FSVC).
  bool by_class = false;
  /// The rate of the output weights' tuning by least mean squares; 0: they stay as they start.
  double learning_rate = 0;
  int64_t epochs = 1;  // of the tuning
};

struct FsvcResult {
  Network network;  // of no layers where the pass was not complete
  bool complete = false;
  int64_t centres = 0;
  int64_t pairs = 0;  // as of NoveltyResult
  int64_t pairs_computed = 0;
};

/// The network SYNAPSE-ACTIVATION:centers,dot-identity-nobias:classes for rows with a label from 0 to classes - 1. Each
/// center votes for its class. With a learning rate, every epoch takes the rows in order and moves the output weights W
/// by rate (t - W y) y'. t is 1 for the class of the row, else 0. The largest number of an answer is its class; of
/// equal ones, the lower class. Throws Error(kInvalidArgument): options as FindCentres(), a class without a row, a row
/// without a class, and every row a center (with the radius to try).
FsvcResult TrainFsvc(const Dataset& train, int64_t classes, const FsvcOptions& options, const Backend& backend);

/// The first class that no neuron of the hidden layer answers for, so that it is never the answer; -1: each has one.
int64_t ClassWithoutCentre(const Network& network);

/// Share of rows whose largest output is their label; `labels` -1 is a wrong answer.
double AccuracyOf(const Network& network, const Dataset& rows, const Backend& backend);

}  // namespace lamina
