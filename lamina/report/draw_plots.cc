// Running gnuplot on the scripts of plots.
#include "lamina/report/draw_plots.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "lamina/base/file.h"
#include "lamina/base/output_folder.h"
#include "lamina/base/scratch_folder.h"
#include "lamina/report/gnuplot.h"

namespace lamina {
namespace {

// Viewers smooth the few pixels of an image that gnuplot embeds in SVG, unless told not to.
std::string WithSharpImages(std::string svg) {
  constexpr std::string_view kImage = "<image ";
  for (size_t at = svg.find(kImage); at != std::string::npos; at = svg.find(kImage, at + 1)) {
    svg.insert(at + kImage.size(), "style='image-rendering:pixelated' ");
  }
  return svg;
}

// Draws ID.svg and ID.png beside ID.gp.
Verdict Draw(const Plot& plot, const std::string& folder) {
  if (const Verdict drawn = RunGnuplot(folder, plot.id + ".gp"); !drawn) {
    return drawn;
  }
  const std::string path = (std::filesystem::path(folder) / (plot.id + ".svg")).string();
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) {  // not where there was nothing to draw
    WriteFileAtomically(path, WithSharpImages(ReadFile(path)));
  }
  return Verdict::Yes();
}

}  // namespace

void WritePlots(std::span<const Plot> plots, const std::string& folder) {
  std::vector<std::string> names;
  for (const Plot& plot : plots) {
    const std::vector<std::string> files = FilesOfPlot(plot.id);
    names.insert(names.end(), files.begin(), files.end());
  }
  ClaimNames(folder, names);
  for (const Plot& plot : plots) {
    const std::filesystem::path base = std::filesystem::path(folder) / plot.id;
    WriteFileAtomically(base.string() + ".csv", plot.csv);
    WriteFileAtomically(base.string() + ".gp", plot.script);
  }
}

Verdict DrawPlots(std::span<const Plot> plots, const std::string& folder) {
  for (const Plot& plot : plots) {
    if (const Verdict drawn = Draw(plot, folder); !drawn) {
      return Verdict::No(
          fmt::format("no pictures: {}; the data is written. Draw later, in {}: gnuplot *.gp", drawn.reason, folder));
    }
  }
  return Verdict::Yes();
}

std::optional<std::string> SvgOf(const Plot& plot) {
  try {
    const ScratchFolder folder("plot");
    WriteFileAtomically(folder.Path(plot.id + ".gp"), plot.script);
    if (Draw(plot, folder.Path())) {
      return ReadFile(folder.Path(plot.id + ".svg"));
    }
  } catch (const Error&) {  // a full disk, or a script that draws nothing: the report is written without it
  }
  return std::nullopt;
}

}  // namespace lamina
