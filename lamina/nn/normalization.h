// Which layers are normalized while a network is trained. What answers has the statistics folded into its weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/neuron/problem.h"

namespace lamina {

/// kBatch: by the batch of each training step (Ioffe and Szegedy 2015, arXiv:1502.03167).
enum class Normalization { kNone, kBatch };

std::vector<std::string> NormalizationNames();
/// Throws Error(kInvalidArgument) with the nearest known name.
Normalization ParseNormalization(std::string_view name);

/// Whether each layer is normalized: the trained hidden layers of dot products behind `embedding_layers` of embeddings.
/// `frozen` as in ExecutorOptions. Empty where nothing is to be normalized.
std::vector<bool> NormalizedLayers(std::span<const LayerSpec> layers, Normalization normalization,
                                   int64_t embedding_layers, const std::vector<bool>& frozen);

}  // namespace lamina
