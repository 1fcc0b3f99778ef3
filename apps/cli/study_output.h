// How the commands that write a report of this machine end: bench matrix, paper-2016, paper-2017.
#pragma once

#include <string>

#include "lamina/report/report_writer.h"

namespace lamina::cli {

/// What a study found.
struct StudyOutcome {
  const Report& report;
  bool interrupted = false;
  bool all_verified = true;
};

/// Writes the report into `folder`, draws its figures, says where it is, and returns the exit code. Nothing is written
/// where it was interrupted.
int FinishStudy(const StudyOutcome& study, const std::string& folder, double seconds);

}  // namespace lamina::cli
