// --plot and --report of the commands that draw.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/report/run_report.h"

namespace lamina::cli {

/// Throws Error before any work where pictures with these ids, as far as they are known by then, cannot be drawn into
/// `folder`; "" for none: what stands under one of their names is somebody else's, or there is no place for temporary
/// files.
void RequirePlotFolder(const std::string& folder, const std::vector<std::string>& ids = {});

struct PictureOutput {
  std::string plot;    // folder, or empty
  std::string report;  // folder, or empty
  bool wanted() const { return !plot.empty() || !report.empty(); }
  void AddTo(CLI::App& app);
  /// Throws before any work where a folder cannot be written, or there is none for temporary files.
  void Check() const;
  /// Throws as soon as the plots are known where something of somebody else's stands under one of their names: those of
  /// a model, and if it is `trained` of that; of the folds of `settings` on `raw`.
  void CheckPlots(const Preprocessor& data, bool trained) const;
  void CheckPlots(const TrainSettings& settings, const RawData& raw) const;
  /// Writes and draws; a warning where gnuplot is missing. Adds "plot" and "report" to `result`; `text`: says what was
  /// written.
  void Write(const RunReport& report, bool text, nlohmann::json& result) const;
};

}  // namespace lamina::cli
