// The end of a study: files, pictures, exit code.
#include "study_output.h"

#include <fmt/format.h>

#include <filesystem>

#include "command.h"
#include "lamina/base/text.h"
#include "lamina/report/draw_plots.h"
#include "print.h"

namespace lamina::cli {

int FinishStudy(const StudyOutcome& study, const std::string& folder, double seconds) {
  if (study.interrupted) {
    PrintToStderr("lamina: interrupted; nothing was written\n");
    return kExitInterrupted;
  }
  WriteReport(study.report, folder);
  Verdict drawn;
  for (const ReportFigure& figure : study.report.figures) {
    drawn = drawn ? DrawScript(folder, figure.id) : drawn;
  }
  Print("\n{}\n{} measurements in {}; {}\n", study.report.hardware, study.report.tables.back().rows.size(),
        DurationText(seconds), (std::filesystem::path(folder) / "report.md").string());
  if (!drawn) {
    Print("no pictures: {}; the data is written. Draw later, in {}: gnuplot figure-*.gp\n", drawn.reason, folder);
  }
  return ExitOfBenchmark(study.all_verified, " (WRONG in the report)");
}

}  // namespace lamina::cli
