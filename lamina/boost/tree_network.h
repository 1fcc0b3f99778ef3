// Boosted trees as a network: questions, paths, scores; before them the columns asked about, where some are sums.
#pragma once

#include "lamina/base/dtype.h"
#include "lamina/boost/trees.h"
#include "lamina/nn/network.h"

namespace lamina {

/// The layers dot-linsat (a neuron for each different question), dot-relu (a neuron for each different path), and the
/// scores: dot-softmax for classes, else dot-identity.
std::vector<LayerSpec> TreeLayers(int64_t inputs, int64_t questions, int64_t paths, int64_t outputs, bool classes);

/// Answers as the trees do: a question's neuron says -1 up to ColumnCut::below and 1 from `above` on, with a straight
/// line between. A path's neuron is 1 where all its questions are answered so, else 0. `outputs`: of the network. Where
/// questions are about sums of columns, a dot-identity layer comes first: a neuron for each column asked about.
Network NetworkOfTrees(const BoostedTrees& trees, int64_t outputs, bool classes, DType dtype);

}  // namespace lamina
