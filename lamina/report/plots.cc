// gnuplot scripts for pictures.
#include "lamina/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "lamina/base/text.h"
#include "lamina/base/utf8.h"

namespace lamina {
namespace {

// Okabe and Ito (2008) without their yellow, which vanishes on paper.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<int, 7> kDashes{1, 2, 4, 3, 5, 1, 2};
constexpr std::array<int, 7> kMarkers{7, 5, 9, 13, 11, 4, 6};
constexpr const char* kNothing = "# there is nothing to draw\n";
constexpr size_t kMarkersOnACurve = 20;
constexpr int64_t kMostCountsShown = 30;  // classes; beyond, the numbers do not fit their cells

struct Canvas {
  int64_t width = 900;
  int64_t height = 560;
};

std::string PlotHeader(const std::string& id, const std::string& title, const std::string& subtitle) {
  return fmt::format(
      "# Draws {0}.svg and {0}.png: gnuplot {0}.gp\nreset\nset encoding utf8\n"
      "set title {1}{2} noenhanced\nset tics nomirror\nset border linecolor rgb \"#404040\"\n",
      id, GnuplotText(title), subtitle.empty() ? "" : ".\"\\n\"." + GnuplotText(subtitle));
}

std::string Labels(const std::string& x, const std::string& y) {
  return fmt::format("set xlabel {} noenhanced\nset ylabel {} noenhanced\n", GnuplotText(x), GnuplotText(y));
}

std::string Grid() { return "set grid xtics ytics linetype 1 linecolor rgb \"#d8d8d8\"\n"; }

// The plot command on both terminals.
std::string Footer(const std::string& id, const std::string& plot, Canvas canvas) {
  std::string name = id;
  std::replace(name.begin(), name.end(), '-', '_');  // all that gnuplot allows there
  return fmt::format(
      "set terminal svg size {2},{3} font \"sans,14\" background \"white\" name \"{6}\"\nset output \"{0}.svg\"\n{1}\n"
      "set terminal pngcairo size {4},{5} font \"sans,16\" linewidth 1.5\nset output \"{0}.png\"\nreplot\n",
      id, plot, canvas.width, canvas.height, canvas.width * 3 / 2, canvas.height * 3 / 2, name);
}

bool Drawable(double x, double y, const LineChart& chart) {
  return std::isfinite(x) && std::isfinite(y) && (!chart.log_x || x > 0) && (!chart.log_y || y > 0);
}

std::string SeriesStyle(const LineChart& chart, size_t index, size_t colour) {
  const PlotSeries& series = chart.series[index];
  const size_t interval = std::max<size_t>(1, series.points.size() / kMarkersOnACurve);
  if (series.reference) {
    return fmt::format(
        "with linespoints linecolor rgb \"#707070\" dashtype {} linewidth 1.5 pointtype {} pointsize 0.7 "
        "pointinterval {}",
        2 + index % 3, 4 + 2 * (index % 3), interval);
  }
  const size_t i = colour % kColours.size();
  const size_t shift = colour / kColours.size() * 3;  // a color that comes again has another dash and marker
  return fmt::format(
      "with linespoints linecolor rgb \"{}\" dashtype {} linewidth 2 pointtype {} pointsize 0.8 pointinterval {}",
      kColours[i], kDashes[(i + shift + shift / 3) % kDashes.size()], kMarkers[(i + shift) % kMarkers.size()],
      interval);
}

// Words stand on the side of their line that has more room.
std::string MarkText(const PlotMark& mark, double low, double high, size_t index) {
  const bool left = high > low && mark.x > (low + high) / 2;
  return fmt::format(
      "set arrow from {0}, graph 0 to {0}, graph 1 nohead dashtype 3 linewidth 1.5 linecolor rgb \"#404040\"\n"
      "set label {1} at {0}, graph {2} {3} offset {4},0 noenhanced\n",
      mark.x, GnuplotText(mark.text), 0.96 - 0.05 * static_cast<double>(index), left ? "right" : "left",
      left ? "-0.7" : "0.7");
}

// Epochs: there is no tick at 1.5.
bool WholeNumbers(const LineChart& chart) {
  return std::all_of(chart.series.begin(), chart.series.end(), [](const PlotSeries& series) {
    return std::all_of(series.points.begin(), series.points.end(),
                       [](const auto& point) { return point.first == std::floor(point.first); });
  });
}

std::string PointTicks(const LineChart& chart) {
  std::set<double> xs;
  for (const PlotSeries& series : chart.series) {
    for (const auto& point : series.points) {
      xs.insert(point.first);
    }
  }
  std::string list;
  for (const double x : xs) {
    list += fmt::format("{}\"{:g}\" {}", list.empty() ? "" : ", ", x, x);
  }
  return xs.empty() ? "" : fmt::format("set xtics ({})\n", list);
}

// Names of classes along both axes; of more than 40 every second, third, ...
std::string ClassTicks(const std::vector<std::string>& classes) {
  std::string ticks;
  size_t longest = 0;
  const size_t step = (classes.size() + 39) / 40;
  for (size_t c = 0; c < classes.size(); c += step) {
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", GnuplotTick(classes[c], 18), c);
    longest = std::max(longest, classes[c].size());
  }
  return fmt::format("set xtics {1} ({0}) noenhanced scale 0\nset ytics ({0}) noenhanced scale 0\n", ticks,
                     longest > 4 ? "rotate by 45 right" : "norotate");
}

// Tiles beside each other with a line between, as one image; NaN where there is none.
struct Mosaic {
  Mosaic(const TileChart& chart)  // NOLINT(google-explicit-constructor)
      : across(static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(chart.tiles.size()) * 1.5)))),
        width(across * (chart.width + 1) + 1),
        height((static_cast<int64_t>(chart.tiles.size()) + across - 1) / across * (chart.height + 1) + 1),
        pixels(static_cast<size_t>(width * height), std::nan("")) {
    for (int64_t t = 0; t < static_cast<int64_t>(chart.tiles.size()); ++t) {
      const std::vector<double>& tile = chart.tiles[static_cast<size_t>(t)];
      double largest = 0;
      for (const double value : tile) {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
      }
      for (int64_t i = 0; i < chart.height * chart.width; ++i) {
        const int64_t y = t / across * (chart.height + 1) + 1 + i / chart.width;
        const int64_t x = t % across * (chart.width + 1) + 1 + i % chart.width;
        pixels[static_cast<size_t>(y * width + x)] = largest > 0 ? tile[static_cast<size_t>(i)] / largest : 0;
      }
    }
  }
  int64_t across;
  int64_t width;
  int64_t height;
  std::vector<double> pixels;
};

}  // namespace

std::vector<std::string> FilesOfPlot(const std::string& id) {
  return {id + ".csv", id + ".gp", id + ".svg", id + ".png"};
}

std::string_view PlotColour(size_t index) { return kColours[index % kColours.size()]; }

std::string GnuplotText(std::string_view text, size_t longest) {
  std::string result = "'";  // single quotes: no escapes, no `commands`
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++characters) {
    if (characters == longest) {
      return result + "…'";
    }
    const size_t length = Utf8Length(text, i);
    const char32_t code = length == 0 ? 0xFFFF : Utf8Code(text, i, length);
    if (code == 0xFFFE || code == 0xFFFF) {
      result += '?';
    } else if (Steers(code)) {
      result += ' ';
    } else {
      result += code == '\'' ? "''" : text.substr(i, length);
    }
    i += std::max<size_t>(length, 1);
  }
  return result + '\'';
}

std::string GnuplotTick(std::string_view text, size_t longest) {
  std::string tick;
  for (const char c : GnuplotText(text, longest)) {
    tick += c == '%' ? "%%" : std::string(1, c);
  }
  return tick;
}

Plot PlotLines(const LineChart& chart) {
  Plot plot{chart.id, chart.title, PlotHeader(chart.id, chart.title, chart.subtitle), "series,x,y\n"};
  std::string curves;
  size_t colour = 0;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const PlotSeries& series = chart.series[i];
    const size_t own_colour = series.reference ? 0 : colour++;
    std::string data;
    for (const auto& [x, y] : series.points) {
      plot.csv += fmt::format("{},{},{}\n", CsvField(series.name), x, y);
      if (Drawable(x, y, chart)) {
        data += fmt::format("{} {}\n", x, y);
        low = std::min(low, x);
        high = std::max(high, x);
      }
    }
    if (!data.empty()) {
      plot.script += fmt::format("$series{} << EOD\n{}EOD\n", i, data);
      curves += fmt::format("{}$series{} using 1:2 {} title {} noenhanced", curves.empty() ? "plot " : ", \\\n  ", i,
                            SeriesStyle(chart, i, own_colour), GnuplotText(series.name, 60));
    }
  }
  if (curves.empty()) {
    plot.script += kNothing;
    return plot;
  }
  plot.script += Labels(chart.x_label, chart.y_label) + Grid() + "set format y \"%g\"\n";
  const bool below = chart.series.size() <= 4;  // in one row or two, off the axis' name
  plot.script += fmt::format("set key {} Left reverse noenhanced samplen 4\n{}",
                             below ? "bmargin center horizontal" : "outside right top vertical",
                             below ? fmt::format("set bmargin {}\n", chart.series.size() <= 2 ? 5.5 : 7) : "");
  plot.script += chart.log_x || chart.log_y
                     ? fmt::format("set logscale {}{}\n", chart.log_x ? "x" : "", chart.log_y ? "y" : "")
                     : "";
  plot.script += chart.ticks_at_points                     ? PointTicks(chart)
                 : high - low <= 12 && WholeNumbers(chart) ? "set xtics 1\n"
                                                           : "";
  plot.script += chart.log_x ? fmt::format("set xrange [{}:{}]\n", low * 0.85, high * 1.18)
                             : "set autoscale fix\nset offsets graph 0.02, graph 0.02, graph 0.08, graph 0.04\n";
  for (size_t i = 0; i < chart.marks.size(); ++i) {
    plot.script += MarkText(chart.marks[i], low, high, i);
  }
  plot.script += Footer(chart.id, curves, {});
  return plot;
}

Plot PlotScatter(const ScatterChart& chart) {
  Plot plot{chart.id, chart.title, PlotHeader(chart.id, chart.title, chart.subtitle), "x,y\n"};
  std::string data;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const auto& [x, y] : chart.points) {
    plot.csv += fmt::format("{},{}\n", x, y);
    if (std::isfinite(x) && std::isfinite(y)) {
      data += fmt::format("{} {}\n", x, y);
      low = std::min(low, x);
      high = std::max(high, x);
    }
  }
  if (data.empty()) {
    plot.script += kNothing;
    return plot;
  }
  const std::string guide = chart.guide == ScatterChart::Guide::kNone
                                ? ""
                                : fmt::format(", {} with lines linecolor rgb \"#000000\" linewidth 1.5 notitle",
                                              chart.guide == ScatterChart::Guide::kDiagonal ? "x" : "0");
  // Open circles pile up without hiding each other.
  const double size = chart.points.size() > 1000 ? 0.4 : 0.7;
  plot.script += fmt::format("$points << EOD\n{}EOD\n", data) + Labels(chart.x_label, chart.y_label) + Grid() +
                 fmt::format(
                     "set offsets graph 0.02, graph 0.02, graph 0.03, graph 0.03\nset samples 2\n"
                     "set xrange [{}:{}]\nunset key\n",
                     low, high > low ? high : low + 1);
  plot.script += Footer(chart.id,
                        fmt::format("plot $points using 1:2 with points pointtype 6 pointsize {} linewidth 1 "
                                    "linecolor rgb \"#0072b2\" notitle{}",
                                    size, guide),
                        {720, 640});
  return plot;
}

Plot PlotBars(const BarChart& chart) {
  Plot plot{chart.id, chart.title, PlotHeader(chart.id, chart.title, chart.subtitle), "name,value,deviation\n"};
  if (chart.values.empty()) {
    plot.script += kNothing;
    return plot;
  }
  std::string data;
  std::string ticks;
  for (size_t i = 0; i < chart.values.size(); ++i) {
    const double deviation = chart.deviations.empty() ? 0 : chart.deviations[i];
    plot.csv += fmt::format("{},{},{}\n", CsvField(chart.names[i]), chart.values[i], deviation);
    data += fmt::format("{} {}\n", chart.values[i], std::isfinite(deviation) ? deviation : 0);
    ticks += fmt::format("{}{} {}", ticks.empty() ? "" : ", ", GnuplotTick(chart.names[i], 30), i);
  }
  const auto rows = static_cast<int64_t>(chart.values.size());
  plot.script +=
      fmt::format("$bars << EOD\n{}EOD\n", data) + Labels(chart.x_label, "") +
      "set grid xtics linetype 1 linecolor rgb \"#d8d8d8\"\n" +
      fmt::format(
          "set ytics ({}) noenhanced scale 0\nset yrange [{}:-0.6]\nset offsets graph 0.05, graph 0.05, 0, 0\n"
          "unset key\nset style fill solid 0.8 noborder\n",
          ticks, static_cast<double>(rows) - 0.4);
  plot.script += Footer(chart.id,
                        "plot $bars using (0):0:(0):1:($0-0.35):($0+0.35) with boxxyerror linecolor rgb \"#0072b2\", "
                        "$bars using 1:0:2 with xerrorbars pointtype 0 linewidth 1.5 linecolor rgb \"#000000\"",
                        {900, 140 + 26 * rows});
  return plot;
}

Plot PlotConfusion(const ConfusionChart& chart) {
  Plot plot{chart.id, chart.title, PlotHeader(chart.id, chart.title, chart.subtitle),
            "true_class,predicted_class,rows\n"};
  const auto classes = static_cast<int64_t>(chart.classes.size());
  if (classes == 0) {
    plot.script += kNothing;
    return plot;
  }
  plot.script += "$cells << EOD\n";
  for (int64_t t = 0; t < classes; ++t) {
    const std::vector<int64_t>& row = chart.counts[static_cast<size_t>(t)];
    const auto total = static_cast<double>(std::accumulate(row.begin(), row.end(), int64_t{0}));
    for (int64_t p = 0; p < classes; ++p) {
      const int64_t count = row[static_cast<size_t>(p)];
      plot.csv += fmt::format("{},{},{}\n", CsvField(chart.classes[static_cast<size_t>(t)]),
                              CsvField(chart.classes[static_cast<size_t>(p)]), count);
      plot.script += fmt::format("{} {} {} {}\n", p, t, total > 0 ? static_cast<double>(count) / total : 0.0, count);
    }
    plot.script += '\n';
  }
  plot.script += "EOD\n" + Labels("predicted class", "true class") + ClassTicks(chart.classes) +
                 fmt::format(
                     "set xrange [-0.5:{0}.5]\nset yrange [{0}.5:-0.5]\nset cbrange [0:1]\nunset key\n"
                     "set cblabel 'share of the true class'\nset size ratio 1\n"
                     "set palette defined (0 \"#ffffff\", 0.25 \"#c6dbef\", 0.5 \"#6baed6\", 0.75 \"#2171b5\", "
                     "1 \"#08306b\")\n",
                     classes - 1);
  std::string draw = "plot $cells using 1:2:3 with image pixels notitle";
  if (classes <= kMostCountsShown) {
    for (const auto& [condition, colour] : {std::pair("<", "#000000"), std::pair(">=", "#ffffff")}) {
      draw += fmt::format(
          ", \\\n  $cells using 1:2:($3 {} 0.55 && $4 > 0 ? sprintf(\"%d\", $4) : \"\") with labels textcolor rgb "
          "\"{}\" font \",{}\" notitle",
          condition, colour,
          classes <= 12   ? 13
          : classes <= 20 ? 10
                          : 7);
    }
  }
  const int64_t side = std::clamp<int64_t>(360 + 40 * classes, 480, 1400);
  plot.script += Footer(chart.id, draw, {side + 120, side});
  return plot;
}

Plot PlotTiles(const TileChart& chart) {
  Plot plot{chart.id, chart.title, PlotHeader(chart.id, chart.title, chart.subtitle), "tile,row,column,value\n"};
  const auto count = static_cast<int64_t>(chart.tiles.size());
  if (count == 0 || chart.height < 1 || chart.width < 1) {
    plot.script += kNothing;
    return plot;
  }
  for (int64_t t = 0; t < count; ++t) {
    for (int64_t i = 0; i < chart.height * chart.width; ++i) {
      plot.csv += fmt::format("{},{},{},{}\n", t + 1, i / chart.width, i % chart.width,
                              chart.tiles[static_cast<size_t>(t)][static_cast<size_t>(i)]);
    }
  }
  const Mosaic mosaic(chart);
  plot.script += "$pixels << EOD\n";
  for (int64_t i = 0; i < mosaic.width * mosaic.height; ++i) {
    const double value = mosaic.pixels[static_cast<size_t>(i)];
    plot.script += std::isfinite(value) ? fmt::format("{:.3f}", value) : "nan";
    plot.script += (i + 1) % mosaic.width == 0 ? '\n' : ' ';
  }
  plot.script += fmt::format(
      "EOD\nunset xtics\nunset ytics\nunset border\nunset key\nset size ratio -1\nset cbrange [-1:1]\n"
      "set cblabel 'weight / largest of the tile'\nset xrange [-0.5:{}.5]\nset yrange [{}.5:-0.5]\n"
      "set palette defined (-1 \"#00224e\", -0.5 \"#434e6c\", 0 \"#7d7c78\", 0.5 \"#bcae6c\", 1 \"#fee838\")\n",
      mosaic.width - 1, mosaic.height - 1);
  const double scale = 760.0 / static_cast<double>(mosaic.width);
  plot.script += Footer(chart.id, "plot $pixels matrix with image notitle",
                        {900, static_cast<int64_t>(scale * static_cast<double>(mosaic.height)) + 110});
  return plot;
}

}  // namespace lamina
