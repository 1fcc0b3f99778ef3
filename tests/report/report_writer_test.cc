// Reports against files written by hand.
#include "lamina/report/report_writer.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/base/version.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using nlohmann::json;

Report Small() {
  Report report;
  report.title = "A study";
  report.hardware = "CPU \"X\", 2 cores";
  report.introduction = "What it is.";
  const std::string reason = "a reason that is much too long for a column";
  report.tables.push_back(
      {"table-1",
       "Table I. Times",
       {{"what", "what"}, {"seconds", "s | median"}, {"note", "note"}},
       {{"one, \"a\"", 0.123456789, "x|y"}, {"two", ReportCell(), reason}, {"three", {2.0, "≈ 2"}, reason}},
       "Below."});
  report.tables.push_back({"all", "All", {{"n", "n"}}, {{std::nan("")}}, "", /*in_markdown=*/false});
  report.figures.push_back(
      {"figure-1",
       "Fig. 1",
       "n",
       "ns",
       {{"cpu_a", {{1, 0.5}, {16, 0.25}}, false}, {"paper \\ \"b\"", {{1, 7}}, true}, {"empty", {}, false}}});
  return report;
}

TEST(ReportWriter, Markdown) {
  EXPECT_EQ(ToMarkdown(Small()),
            "# A study\n\nCPU \"X\", 2 cores\n\nWhat it is.\n\n"
            "## Table I. Times\n\n"
            "| what | s \\| median | note |\n"
            "| --- | ---: | --- |\n"
            "| one, \"a\" | 0.1235 | x\\|y |\n"
            "| two |  | (1) |\n"
            "| three | ≈ 2 | (1) |\n\n"
            "(1) a reason that is much too long for a column\n\n"
            "Below.\n\n"
            "## Fig. 1\n\n![Fig. 1](figure-1.svg)\n");
}

TEST(ReportWriter, MarkdownTextIsNeverMarkup) {
  EXPECT_EQ(MarkdownText("a|b \\ `c` *d* [e](f) <g> &amp; $h$ ~i~"),
            "a\\|b \\\\ \\`c\\` \\*d\\* \\[e](f) \\<g> \\&amp; \\$h\\$ \\~i\\~");
  EXPECT_EQ(MarkdownText("t_syn _x_ a_"), "t_syn \\_x\\_ a\\_");
  EXPECT_EQ(MarkdownText("a\nb\x1b\xe2\x80\xae\xff"), "a b  \xef\xbf\xbd");
  Report report = Small();
  report.tables[0].columns[0].title = report.tables[0].rows[0][0].text = "x\n| y | <script>";
  const std::string text = ToMarkdown(report);
  EXPECT_TRUE(Mentions(text, "| x \\| y \\| \\<script> | s \\| median | note |\n"));
  EXPECT_TRUE(Mentions(text, "\n| x \\| y \\| \\<script> | 0.1235 |"));
}

TEST(ReportWriter, Csv) {
  const Report report = Small();
  EXPECT_EQ(ToCsv(report.tables[0], report.hardware),
            "what,seconds,note,hardware\n"
            "\"one, \"\"a\"\"\",0.123456789,x|y,\"CPU \"\"X\"\", 2 cores\"\n"
            "two,,a reason that is much too long for a column,\"CPU \"\"X\"\", 2 cores\"\n"
            "three,2,a reason that is much too long for a column,\"CPU \"\"X\"\", 2 cores\"\n");
  EXPECT_EQ(ToCsv(report.figures[0], "h"),
            "series,x,y,hardware\ncpu_a,1,0.5,h\ncpu_a,16,0.25,h\n\"paper \\ \"\"b\"\"\",1,7,h\n");
}

TEST(ReportWriter, Json) {
  const json node = ToJson(Small());
  EXPECT_EQ(node["hardware"], "CPU \"X\", 2 cores");
  EXPECT_EQ(node["lamina_version"], Version());
  const json rows = node["tables"]["table-1"]["rows"];
  EXPECT_EQ(rows[0], (json{{"what", "one, \"a\""}, {"seconds", 0.123456789}, {"note", "x|y"}}));
  EXPECT_TRUE(rows[1]["seconds"].is_null());
  EXPECT_EQ(rows[2]["seconds"], 2.0);
  EXPECT_TRUE(node["tables"]["all"]["rows"][0]["n"].is_null()) << "JSON has no NaN";
  EXPECT_EQ(node["figures"]["figure-1"]["series"][0]["points"], (json{{1.0, 0.5}, {16.0, 0.25}}));
}

TEST(ReportWriter, GnuplotScript) {
  const std::string script = GnuplotScript(Small().figures[0], "CPU \"X\"");
  for (const char* part : {"$series0 << EOD\n1 0.5\n16 0.25\nEOD\n", "set logscale xy",
                           "set title 'Fig. 1'.\"\\n\".'CPU \"X\"' noenhanced", "set xlabel 'n (logarithmic)'",
                           "set ylabel 'ns (logarithmic)'", "title 'cpu_a'", "title 'paper \\ \"b\"'", "figure-1.svg",
                           "figure-1.png", "set key bmargin"}) {
    EXPECT_TRUE(Mentions(script, part));
  }
  EXPECT_FALSE(Mentions(script, "title 'empty'")) << "gnuplot refuses a curve without points";
}

TEST(ReportWriter, Files) {
  const TemporaryFolder folder;
  WriteReport(Small(), folder.Path("new/deep"));
  for (const char* name : {"report.md", "report.json", "table-1.csv", "all.csv", "figure-1.csv", "figure-1.gp"}) {
    EXPECT_FALSE(ReadFile(folder.Path("new/deep/") + name).empty()) << name;
  }
  EXPECT_EQ(json::parse(ReadFile(folder.Path("new/deep/report.json"))), ToJson(Small()));
  folder.Write("file", "x");
  EXPECT_EQ(CaughtError([&] { WriteReport(Small(), folder.Path("file")); }).code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace lamina
