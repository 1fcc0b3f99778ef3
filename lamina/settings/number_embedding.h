// What a number becomes in front of the hidden layers.
#pragma once

#include <string>
#include <vector>

#include "lamina/settings/settings.h"

namespace lamina {

/// kPbld: itself beside fewer numbers, to which its sine waves are mixed linearly. Frequencies, phases and mixtures are
/// trained (Holzmüller et al. 2024, RealMLP).
enum class NumberEmbedding { kNone, kPbld };

std::vector<std::string> NumberEmbeddingNames();

/// That of settings whose recipe is resolved. Throws Error for an unknown name.
NumberEmbedding NumberEmbeddingOf(const TrainSettings& settings);
/// Whether it is waves; looks at nothing else, and throws nothing.
bool LearnsWaves(const TrainSettings& settings);

}  // namespace lamina
