// Pictures for people: curves, clouds of points, confusion matrices, tiles. gnuplot draws them as SVG and PNG from a
// script that holds their data. The colors of Okabe and Ito, with a dash and a marker each, can be told apart in print
// and by the color-blind.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/error.h"

namespace lamina {

/// A picture that is ready to be drawn: ID.gp makes ID.svg and ID.png; ID.csv has the numbers.
struct Plot {
  std::string id;      // of its files: "loss"
  std::string title;   // for reports
  std::string script;  // of gnuplot
  std::string csv;
};

/// The names of all that is written of a plot: ID.csv, ID.gp, and what gnuplot makes of it.
std::vector<std::string> FilesOfPlot(const std::string& id);

/// One curve; points that are not finite (and on logarithmic axes not positive) are left out.
struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;
  bool reference = false;  // thin and gray: what the others are compared with
};

/// A vertical line with a word beside it.
struct PlotMark {
  double x = 0;
  std::string text;
};

struct LineChart {
  std::string id;
  std::string title;
  std::string subtitle;  // may be empty
  std::string x_label;
  std::string y_label;
  std::vector<PlotSeries> series;
  std::vector<PlotMark> marks;
  bool log_x = false;
  bool log_y = false;
  bool ticks_at_points = false;  // a tick at every x that occurs, none elsewhere: batch sizes
};

struct ScatterChart {
  enum class Guide { kNone, kDiagonal, kZero };  // the line on which good points lie
  std::string id;
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  std::vector<std::pair<double, double>> points;
  Guide guide = Guide::kNone;
};

/// Counts [true class][predicted class]; a cell's color is its share of the row.
struct ConfusionChart {
  std::string id;
  std::string title;
  std::string subtitle;
  std::vector<std::string> classes;
  std::vector<std::vector<int64_t>> counts;
};

/// A bar beside a name each, the first on top; `deviations`: whiskers to both sides, or empty.
struct BarChart {
  std::string id;
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::vector<std::string> names;
  std::vector<double> values;
  std::vector<double> deviations;
};

/// Small images side by side, each scaled by its own largest magnitude.
struct TileChart {
  std::string id;
  std::string title;
  std::string subtitle;
  int64_t height = 0;  // pixels of a tile
  int64_t width = 0;
  std::vector<std::vector<double>> tiles;  // height * width values each, row by row
};

Plot PlotLines(const LineChart& chart);
Plot PlotScatter(const ScatterChart& chart);
Plot PlotBars(const BarChart& chart);
Plot PlotConfusion(const ConfusionChart& chart);
Plot PlotTiles(const TileChart& chart);

/// One color of the list, "#0072b2"; repeats after seven.
std::string_view PlotColour(size_t index);
/// A text as a gnuplot string that nothing in it can leave, at most `longest` characters. What steers (utf8.h) becomes
/// a space; broken UTF-8, U+FFFE and U+FFFF become a question mark.
std::string GnuplotText(std::string_view text, size_t longest = 400);
/// The same for a tick, whose text gnuplot takes for a format of numbers: "humidity (%)".
std::string GnuplotTick(std::string_view text, size_t longest);

}  // namespace lamina
