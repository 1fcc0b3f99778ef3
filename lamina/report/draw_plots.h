// Plots as files, drawn by gnuplot.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lamina/base/error.h"
#include "lamina/report/plots.h"

namespace lamina {

/// Writes ID.csv and ID.gp of each into `folder`, which is made. Throws Error(kIo).
void WritePlots(std::span<const Plot> plots, const std::string& folder);
/// Draws ID.svg and ID.png of ID.gp in `folder`, whole or not at all; neither where there is nothing to draw. No: why
/// not. Throws Error(kIo) where `folder` takes them no more.
Verdict DrawScript(const std::string& folder, const std::string& id);
/// Draws what WritePlots wrote: ID.svg and ID.png. No: one line that says why not and how to get them.
Verdict DrawPlots(std::span<const Plot> plots, const std::string& folder);
/// The picture as SVG, or nothing where gnuplot is missing or fails.
std::optional<std::string> SvgOf(const Plot& plot);

}  // namespace lamina
