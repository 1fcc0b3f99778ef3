// A line that answers beside a kernel machine, a network and trees (docs/decisions/0135).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lamina/model/model.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// Whether a line may stand beside what the settings name: with --line possible, where LineIsPossible(), of squares or
/// of classes. There are 100 rows left out that say how much it counts: of a kernel machine the training rows, else the
/// validation rows. It does not stand beside another line, nor in a bag.
bool HasLineBeside(const TrainSettings& settings, const TrainData& data, const Model& model);

/// Adds the line through the training rows to the networks of `model`, where rows left out say that it helps. They are
/// the validation rows, or tenths of the training rows where `answers` are to these. It counts 15 % at least and 95 %
/// at most. Its ridge is the best of five (of classes four) by halves. The line of classes is the softmax of sums
/// (logistic regression). `answers`: the model's, to the rows left out.
void AnswerWithLine(const TrainData& data, Matrix answers, Model& model);

/// "a line beside, which counts 20 %"; empty where none does.
std::string LineBesideText(const nlohmann::json& training);

}  // namespace lamina
