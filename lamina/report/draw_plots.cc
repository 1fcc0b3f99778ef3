// Running gnuplot on the scripts of plots.
#include "lamina/report/draw_plots.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "lamina/base/file.h"
#include "lamina/base/file_set.h"
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

// Whether a picture is there to its end: gnuplot does not say that a disk was full.
bool IsWhole(std::string_view svg, std::string_view png) {
  constexpr std::string_view kEndOfPng("IEND\xae\x42\x60\x82", 8);
  return svg.substr(0, svg.find_last_not_of(" \n") + 1).ends_with("</svg>") && png.ends_with(kEndOfPng);
}

}  // namespace

Verdict DrawScript(const std::string& folder, const std::string& id) {
  const ScratchFolder scratch("plot");
  const std::string script = (std::filesystem::absolute(folder) / (id + ".gp")).string();
  if (Verdict drawn = RunGnuplot(scratch.Path(), script); !drawn) {
    return drawn;
  }
  const std::string svg = scratch.Path(id + ".svg");
  const std::string png = scratch.Path(id + ".png");
  std::error_code failed;
  if (!std::filesystem::exists(svg, failed) && !std::filesystem::exists(png, failed)) {
    return Verdict::Yes();  // there was nothing to draw
  }
  const std::string drawn_svg = ReadFile(svg);
  const std::string drawn_png = ReadFile(png);
  if (!IsWhole(drawn_svg, drawn_png)) {
    return Verdict::No(fmt::format("the picture of {}.gp is cut (is the disk of {} full?)", id,
                                   std::filesystem::path(scratch.Path()).parent_path().string()));
  }
  const std::filesystem::path base = std::filesystem::path(folder) / id;
  FileSet files;
  files.Add(base.string() + ".svg", WithSharpImages(drawn_svg));
  files.Add(base.string() + ".png", drawn_png);
  files.Commit();
  return Verdict::Yes();
}

void WritePlots(std::span<const Plot> plots, const std::string& folder) {
  std::vector<std::string> names;
  for (const Plot& plot : plots) {
    const std::vector<std::string> files = FilesOfPlot(plot.id);
    names.insert(names.end(), files.begin(), files.end());
  }
  FileSet set;
  ClaimNames(folder, names, set);
  for (const Plot& plot : plots) {
    const std::filesystem::path base = std::filesystem::path(folder) / plot.id;
    set.Add(base.string() + ".csv", plot.csv);
    set.Add(base.string() + ".gp", plot.script);
  }
  set.Commit();
}

Verdict DrawPlots(std::span<const Plot> plots, const std::string& folder) {
  for (const Plot& plot : plots) {
    if (const Verdict drawn = DrawScript(folder, plot.id); !drawn) {
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
    if (DrawScript(folder.Path(), plot.id)) {
      return ReadFile(folder.Path(plot.id + ".svg"));
    }
  } catch (const Error&) {  // a full disk, or a script that draws nothing: the report is written without it
  }
  return std::nullopt;
}

}  // namespace lamina
