// --plot and --report of the commands that draw.
#include "pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "command.h"
#include "lamina/base/file_set.h"
#include "lamina/base/output_folder.h"
#include "lamina/base/scratch_folder.h"
#include "lamina/report/draw_plots.h"
#include "lamina/report/gnuplot.h"
#include "lamina/run/run_plan.h"
#include "print.h"

namespace lamina::cli {
namespace {

// What --report writes into its folder.
std::vector<std::string> ReportNames() { return {"report.html"}; }

}  // namespace

void RequirePlotFolder(const std::string& folder, const std::vector<std::string>& ids) {
  if (folder.empty()) {
    return;
  }
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const std::vector<std::string> files = FilesOfPlot(id);
    names.insert(names.end(), files.begin(), files.end());
  }
  RequireOutputFolder(folder, names);
  const ScratchFolder drawn_in("plot");
}

void PictureOutput::AddTo(CLI::App& app) {
  app.add_option("--plot", plot,
                 "Write pictures into this folder, as SVG and PNG with their data: curves, confusion matrix or "
                 "predicted against true, first-layer weights of images")
      ->type_name("FOLDER");
  app.add_option("--report", report, "Write FOLDER/report.html: everything about the run in one file")
      ->type_name("FOLDER");
}

void PictureOutput::Check() const {
  RequirePlotFolder(plot);
  if (!report.empty()) {
    RequireOutputFolder(report, ReportNames());
    const ScratchFolder drawn_in("plot");
  }
}

void PictureOutput::CheckPlots(const Preprocessor& data, bool trained) const {
  const TargetEncoder& targets = data.targets();
  RequirePlotFolder(plot, PlotIdsOf(targets.class_names().empty() ? targets.answer_names().size() : 0,
                                    data.inputs().is_image(), trained));
}

void PictureOutput::CheckPlots(const TrainSettings& settings, const RawData& raw) const {
  const bool classes = TaskOf(settings, raw) == Task::kClassification;
  RequirePlotFolder(
      plot, PlotIdsOf(classes ? 0 : std::max<size_t>(1, settings.target.size()), raw.main.train.is_image, true));
}

void PictureOutput::Write(const RunReport& run, bool text, nlohmann::json& result) const {
  Verdict drawn;
  if (!plot.empty()) {
    WritePlots(run.plots, plot);
    drawn = DrawPlots(run.plots, plot);
    nlohmann::json files = nlohmann::json::array();
    for (const Plot& each : run.plots) {
      files.push_back((std::filesystem::path(plot) / (each.id + (drawn ? ".svg" : ".gp"))).string());
    }
    if (text) {
      Print("wrote {}\n", fmt::join(files.get<std::vector<std::string>>(), ", "));
    }
    result["plots"] = std::move(files);
  }
  if (!report.empty()) {
    FileSet files;
    ClaimNames(report, ReportNames(), files);
    const std::string path = (std::filesystem::path(report) / ReportNames().front()).string();
    files.Add(path, ToHtml(run.html));
    files.Commit();
    if (text) {
      Print("wrote {}\n", path);
    }
    result["report"] = path;
  }
  PrintWarning(drawn.reason);
}

}  // namespace lamina::cli
