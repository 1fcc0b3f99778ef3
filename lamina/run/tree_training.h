// Boosted trees from settings and rows: alone (--method boost), or beside what else answers (--trees).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "lamina/backend/backend.h"
#include "lamina/boost/trees.h"
#include "lamina/model/model.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"

namespace lamina {

struct TreeTraining {
  Network network;
  Matrix left_out;       // BoostedTrees::left_out
  nlohmann::json found;  // how many trees, and what left-out rows said of them
};

/// Trees by the settings. The validation rows say how many, or folds of the training rows where there are none; then
/// as many trees of all training rows answer. A tree sees few of many columns. `learn_both`: trees of both answer; what
/// TreeTraining::left_out says is of trees that have not seen the validation rows. None where stop_requested() ended
/// it. Throws Error.
std::optional<TreeTraining> TrainTrees(const TrainSettings& settings, const Dataset& train, const Dataset& validation,
                                       const Backend& backend, const std::function<bool()>& stop_requested,
                                       bool learn_both = false);

/// Whether trees are to be trained beside what the settings name: yes with --trees yes. With "possible" they are where
/// 100 rows left out say how much they count, and it does not take long. Rows then have no weights, groups or times.
bool HasTreesBeside(const TrainSettings& settings, const TrainData& data);

/// Throws Error(kInvalidArgument) for --trees yes where HasTreesBeside() says no, and for settings and networks of
/// `model` that no trees can stand beside.
void RequireTreesBeside(const TrainSettings& settings, const TrainData& data, const Model& model);

/// Adds the trees to the networks of `model` by AddBeside() (share_beside.h): few rows leave them near a quarter, and
/// they count up to a half.
void AnswerWithTrees(TreeTraining trees, const Matrix& targets, Matrix& answers, Model& model);

}  // namespace lamina
