// Plots as files, drawn by gnuplot.
#include <fmt/format.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <filesystem>
#include <system_error>

#include "lamina/base/file.h"
#include "lamina/report/gnuplot.h"
#include "lamina/report/plots.h"

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
  MakeFolder(folder);
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
  std::error_code failed;
  std::string folder = (std::filesystem::temp_directory_path(failed) / "lamina-plot-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    return std::nullopt;
  }
  std::optional<std::string> svg;
  try {
    WriteFileAtomically(folder + "/" + plot.id + ".gp", plot.script);
    if (Draw(plot, folder)) {
      svg = ReadFile(folder + "/" + plot.id + ".svg");
    }
  } catch (const Error&) {  // a full disk, or a script that draws nothing
    svg.reset();
  }
  std::filesystem::remove_all(folder, failed);
  return svg;
}

}  // namespace lamina
