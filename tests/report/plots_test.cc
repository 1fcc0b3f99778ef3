// Pictures: what scripts hold, what cannot get out of a text, and that gnuplot draws them.
#include "lamina/report/plots.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/output_folder.h"
#include "lamina/report/draw_plots.h"
#include "lamina/report/gnuplot.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

LineChart SmallChart() {
  LineChart chart;
  chart.id = "loss-1";
  chart.title = "Loss";
  chart.subtitle = "it's `touch hacked` \"x\"";
  chart.x_label = "epoch";
  chart.y_label = "mse";
  chart.series = {{"training", {{1, 0.5}, {2, 0.25}, {3, std::nan("")}}}, {"validation, \"b\"", {{1, 0.6}}}};
  chart.marks = {{2, "best epoch 2"}};
  return chart;
}

std::vector<Plot> OneOfEach() {
  ScatterChart scatter{"truth", "Truth", "", "x", "y", {{0, 0}, {1, 1.5}, {HUGE_VAL, 1}}};
  scatter.guide = ScatterChart::Guide::kDiagonal;
  return {PlotLines(SmallChart()), PlotScatter(scatter),
          PlotConfusion({"confusion", "Confusion", "", {"a (%)", "it's <b>` 100%"}, {{3, 1}, {0, 0}}}),
          PlotTiles({"tiles", "Tiles", "", 2, 3, {{1, 2, 3, 4, 5, -6}, {0, 0, 0, 0, 0, 0}}})};
}

TEST(Plots, TextCannotLeaveItsQuotes) {
  EXPECT_EQ(GnuplotText("it's `date` \"x\" \\n"), "'it''s `date` \"x\" \\n'");
  EXPECT_EQ(GnuplotText("a\nb\tc\x7f"), "'a b c '");
  EXPECT_EQ(GnuplotText("gr\xc3\xbc\xc3\x9f \xe2\x82\xac"), "'gr\xc3\xbc\xc3\x9f \xe2\x82\xac'");
  EXPECT_EQ(GnuplotText("\xff\xc3(\xe2\x82"), "'?\?(?\?'");
  EXPECT_EQ(GnuplotText("\xc3\xbc\xc3\xbc\xc3\xbc", 2), "'\xc3\xbc\xc3\xbc…'");
  EXPECT_EQ(GnuplotText("a\xe2\x80\xae_\xef\xbf\xbf"), "'a _?'");
  EXPECT_EQ(GnuplotText("humidity (%)"), "'humidity (%)'");
  EXPECT_EQ(GnuplotTick("humidity (%)", 30), "'humidity (%%)'");
  EXPECT_EQ(GnuplotTick("%%%", 2), "'%%%%…'");
}

TEST(Plots, LinesHoldTheirDataAndTheMark) {
  const Plot plot = PlotLines(SmallChart());
  EXPECT_EQ(plot.csv, "series,x,y\ntraining,1,0.5\ntraining,2,0.25\ntraining,3,nan\n\"validation, \"\"b\"\"\",1,0.6\n");
  for (const char* part : {"$series0 << EOD\n1 0.5\n2 0.25\nEOD\n", "set arrow from 2, graph 0 to 2, graph 1",
                           "set label 'best epoch 2' at 2", "'it''s `touch hacked` \"x\"'", "title 'training'"}) {
    EXPECT_TRUE(Mentions(plot.script, part));
  }
  LineChart chart = SmallChart();
  chart.log_y = true;
  chart.series = {{"a", {{1, 0}, {2, -1}}}};
  EXPECT_TRUE(Mentions(PlotLines(chart).script, "# there is nothing to draw")) << "no logarithm of 0";
}

TEST(Plots, CurvesDifferInColourDashAndMarker) {
  LineChart chart = SmallChart();
  chart.series.clear();
  for (int i = 0; i < 15; ++i) {
    chart.series.push_back({"s", {{1, 1.0 + i}, {2, 2}}});
  }
  const std::string script = PlotLines(chart).script;
  std::set<std::string> styles;
  const std::string_view kStyle = "with linespoints ";
  for (size_t at = script.find(kStyle); at != std::string::npos; at = script.find(kStyle, at + 1)) {
    styles.insert(script.substr(at, script.find(" title", at) - at));
  }
  EXPECT_EQ(styles.size(), 15U) << "also where colors come again";
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(Mentions(script, std::string(PlotColour(i))));
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(PlotColour(i), PlotColour(j));
    }
  }
}

TEST(Plots, ConfusionIsColouredByShareOfTheRow) {
  const Plot plot = OneOfEach()[2];
  EXPECT_EQ(plot.csv,
            "true_class,predicted_class,rows\na (%),a (%),3\na (%),it's <b>` 100%,1\nit's <b>` 100%,a (%),0\nit's <b>` "
            "100%,it's <b>` 100%,0\n");
  EXPECT_TRUE(Mentions(plot.script, "0 0 0.75 3\n1 0 0.25 1\n\n0 1 0 0\n1 1 0 0\n"));
}

TEST(Plots, TilesAreScaledEachByItsLargest) {
  const Plot plot = OneOfEach()[3];
  EXPECT_TRUE(Mentions(plot.script, "nan 0.167 0.333 0.500 nan 0.000 0.000 0.000 nan\n"));
  EXPECT_TRUE(Mentions(plot.script, "nan 0.667 0.833 -1.000 nan 0.000 0.000 0.000 nan\n"));
}

TEST(Plots, GnuplotDraws) {
  const TemporaryFolder folder;
  const std::vector<Plot> plots = OneOfEach();
  WritePlots(plots, folder.Path("new/deep"));
  const Verdict drawn = DrawPlots(plots, folder.Path("new/deep"));
  if (!drawn && Mentions(drawn.reason, "gnuplot is missing")) {
    GTEST_SKIP() << drawn.reason;
  }
  ASSERT_TRUE(drawn) << drawn.reason;
  for (const Plot& plot : plots) {
    EXPECT_EQ(ReadFile(folder.Path("new/deep/" + plot.id + ".png")).substr(1, 3), "PNG") << plot.id;
    EXPECT_TRUE(Mentions(ReadFile(folder.Path("new/deep/" + plot.id + ".svg")), "</svg>")) << plot.id;
    const std::optional<std::string> svg = SvgOf(plot);
    ASSERT_TRUE(svg);
    EXPECT_TRUE(Mentions(*svg, "</svg>"));
  }
  EXPECT_TRUE(Mentions(*SvgOf(plots[3]), "pixelated"));
  EXPECT_TRUE(Mentions(*SvgOf(plots[2]), "it's &lt;b>`"));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("new/deep/hacked")));
}

TEST(Plots, NothingIsLeftOfAPictureThatEndsEarly) {
  const TemporaryFolder folder;
  folder.Write("cut.gp",
               "set terminal svg\nset output 'cut.svg'\nplot x\nset terminal pngcairo\nset output 'cut.png'\nreplot\n"
               "set output\nsystem 'truncate -s 1000 cut.png'\n");
  const Verdict drawn = DrawScript(folder.Path(), "cut");
  if (!drawn && Mentions(drawn.reason, "gnuplot is missing")) {
    GTEST_SKIP() << drawn.reason;
  }
  EXPECT_TRUE(Mentions(drawn.reason, "the picture of cut.gp is cut"));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("cut.svg")));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("cut.png")));
}

TEST(Plots, OutputFolders) {
  const TemporaryFolder folder;
  folder.Write("file", "x");
  EXPECT_EQ(CaughtError([&] { RequireOutputFolder(folder.Path("file")); }).code(), ErrorCode::kIo);
  EXPECT_EQ(CaughtError([&] { RequireOutputFolder(folder.Path("file/below")); }).code(), ErrorCode::kIo);
  const Error refused = CaughtError([&] { RequireOutputFolder("/proc/none/below"); });
  EXPECT_EQ(refused.code(), ErrorCode::kNotFound);
  EXPECT_TRUE(Mentions(refused.what(), "/proc: no files can be made in this folder"));
  EXPECT_EQ(CaughtError([&] { RequireOutputFolder(""); }).code(), ErrorCode::kInvalidArgument);
  RequireOutputFolder(folder.Path("new/deep/"));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("new")));
  EXPECT_EQ(CaughtError([&] { WritePlots(OneOfEach(), folder.Path("file")); }).code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace lamina
