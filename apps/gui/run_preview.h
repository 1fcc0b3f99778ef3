// RunPreview: what a run will be, with rows counted as training will use them and what "auto" becomes.
#pragma once

#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <string>

#include "labels.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/run/run_plan.h"
#include "lamina/settings/settings.h"
#include "problem.h"

namespace lamina::gui {

/// What the rows of one data set become under one set of options, whatever the network.
struct RowCounts {
  DataOptions options;
  EncodeReport report;                   // of validation and test rows
  std::vector<int64_t> rows_of_classes;  // training rows; empty for regression
};

struct RunPreview : RunPlan {
  std::shared_ptr<const RowCounts> rows;
  /// Settings that are left to the library, by name, with what it takes for them.
  std::map<std::string, std::string> chosen;
  int64_t folds = 0;  // above 0: this is the plan of the first of them

  /// "Ready: 10 classes of label; 1,077 training, ... rows; ...".
  QString Text() const;
  /// Why recipe auto is not the usual one here; "" where it is.
  QString RemarkOnRecipe() const { return WithLabels(FromText(recipe_remark)); }
  /// What deserves a thought before the run starts, a sentence each.
  QStringList Notes() const;
};

/// PlanRun, and all validation and test rows encoded piece by piece as the run will encode them. So whatever would end
/// the run there is found here. `known`: counts of an earlier preview of the same data, used where the options are the
/// same. Throws Error.
RunPreview PreviewRun(const TrainSettings& settings, const RawData& raw,
                      const std::shared_ptr<const RowCounts>& known = nullptr);

}  // namespace lamina::gui
