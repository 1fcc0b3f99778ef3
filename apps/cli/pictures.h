// --plot and --report of train and evaluate.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/report/run_report.h"

namespace lamina::cli {

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

 private:
  void CheckNames(const std::vector<std::string>& ids) const;
};

}  // namespace lamina::cli
