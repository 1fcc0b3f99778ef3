// What came of a run, in words.
#pragma once

#include <QString>

#include "train_worker.h"

namespace lamina::gui {

/// "Trained for 12 epochs in 3.1 s, stopped early; best epoch 5", "3 networks of the search answer together".
QString RunText(const TrainOutcome& outcome);
/// What the results are of: "On the test rows", "5 folds: every row as answered by a model that has not seen it".
QString ResultsTitle(const TrainOutcome& outcome);
/// How good it is: "On the test rows: accuracy ...", or the folds' figures. It has a Judgement().
QString ResultText(const TrainOutcome& outcome);

}  // namespace lamina::gui
