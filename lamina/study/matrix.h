// What this machine does with common work: layers, training steps and single answers, each verified, one table a kind.
// Beside them stand the machine's measured limits and the installed peers.
#pragma once

#include "lamina/report/report_writer.h"
#include "lamina/study/matrix_options.h"

namespace lamina {

struct MatrixResult {
  Report report;
  bool all_verified = false;
  bool interrupted = false;  // the report has gaps
};

/// Every result on one thread and on all, beside each other, so that a machine whose speed changes tells the same
/// ratios. Throws Error where the data cannot be read.
MatrixResult MeasureMatrix(const MatrixOptions& options);

}  // namespace lamina
