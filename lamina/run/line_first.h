// A line answers first, and what else a run trains learns what the line leaves (--line, docs/decisions/0129).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "lamina/data/encode/line_fit.h"
#include "lamina/model/model.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"
#include "lamina/train/history.h"
#include "lamina/train/train_callbacks.h"

namespace lamina {

struct Line {
  Network network;    // one layer: the targets of the network beside it, as sums of its inputs
  double spread = 1;  // root of the mean square of what it leaves, which models learn as 1
  double left = 0;    // share of the targets' variance that it leaves of rows it has not seen
};

/// Whether rows are such that lines are looked for: in memory, without weights, groups and times, and of 200 inputs at
/// most.
bool LineIsPossible(const TrainSettings& settings, const TrainData& data);
/// Whether squares of one layer's sums are what the model makes least: no classes and no other losses.
bool AsksForSquares(const TrainData& data, const Model& model);

/// The line through the training rows, by least squares over 20,000 of them at most. None where `settings.line` does
/// not want it, where LineIsPossible() or AsksForSquares() says no, or where inputs are more than a fourth of the rows.
/// It leaves a thousandth of each target's variance at most. Each half of 4,000 rows is answered by a line through the
/// other half.
std::optional<Line> FindLine(const TrainSettings& settings, const TrainData& data, const Model& model);

/// `data` with training and validation targets that are what the line leaves, over its spread. Inputs are shared.
TrainData LeftBy(const Line& line, const TrainData& data);

/// One layer that answers as the line does.
Network NetworkOfLine(const LineFit& fit, DType dtype);

/// Says in `model.training` that a line answers first.
void Announce(const Line& line, Model& model);
/// The same as a sentence; empty where none does.
std::string LineText(const nlohmann::json& training);

/// A line has this share of the answer, so that shares are together 1. It and what is beside it are twice as large.
inline constexpr double kShareOfLine = 0.5;

/// The answers of a network times `factor`; its last activation is identity.
void ScaleAnswers(double factor, Network& network);

/// Makes `model`, which answers what is left, answer the targets: the line is the last of its networks.
void AddLine(const Line& line, Model& model);
/// Takes the line out again where there is one.
std::optional<Network> TakeLine(Model& model);

/// Lines of several models as one network.
class SumOfLines {
 public:
  void Add(const Network& line, double share);
  double share() const { return share_; }
  /// Each times its share, over the sum of these; not before Add().
  Network Mean() const;

 private:
  Network sum_;
  double share_ = 0;
};

/// Losses of what is left, in units of the targets.
History InUnitsOfTargets(const Line& line, History history);
TrainCallbacks InUnitsOfTargets(const Line& line, TrainCallbacks callbacks);

}  // namespace lamina
