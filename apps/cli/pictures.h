// --plot and --report of the commands that draw.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/report/run_report.h"

namespace lamina::cli {

/// Throws Error before any work where pictures with these ids, as far as known
/// by then, cannot be drawn into `folder` ("": none). Somebody else's file may
/// have one of their names, or there is no place for temporary files.
void RequirePlotFolder(const std::string& folder, const std::vector<std::string>& ids = {});

struct PictureOutput {
  std::string plot;    // folder, or empty
  std::string report;  // folder, or empty
  bool wanted() const { return !plot.empty() || !report.empty(); }
  void AddTo(CLI::App& app);
  /// Throws before any work where a folder cannot be written, or there is none for temporary files.
  void Check() const;
  /// Throws where somebody else's file has the name of a plot, as soon as the plots are known. They are the plots of a
  /// model, and of its training if it is `trained`; or of the folds of `settings` on `raw`.
  void CheckPlots(const Preprocessor& data, bool trained) const;
  void CheckPlots(const TrainSettings& settings, const RawData& raw) const;
  /// Writes and draws; a warning where gnuplot is missing. Adds "plot" and "report" to `result`; `text`: says what was
  /// written.
  void Write(const RunReport& report, bool text, nlohmann::json& result) const;
};

}  // namespace lamina::cli
