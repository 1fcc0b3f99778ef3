// HTML: what comes from data cannot become markup, and one file holds everything.
#include "lamina/report/html_report.h"

#include "gtest/gtest.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

TEST(HtmlReport, TextIsNeverMarkup) {
  EXPECT_EQ(HtmlText("<script>alert(\"a\" & 'b')</script>"),
            "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;");
  EXPECT_EQ(HtmlText("Z\xc3\xbcrich\n\x01\x7f"), "Z\xc3\xbcrich   ");
  EXPECT_EQ(HtmlText("a\xe2\x80\xae_\xc2\x9b"), "a _ ");
  EXPECT_EQ(HtmlText("\xff\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  const std::string bad3 = "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";
  EXPECT_EQ(HtmlText("\xe0\x80\xbc"), bad3) << "< in an overlong form";
  EXPECT_EQ(HtmlText("\xed\xa0\x80"), bad3) << "half a surrogate pair";
  EXPECT_EQ(HtmlText("\xf4\x90\x80\x80"), bad3 + "\xef\xbf\xbd") << "above U+10FFFF";
}

TEST(HtmlReport, OneFileWithEverything) {
  const std::string evil = "<img src=http://example.com/x onerror='a'>\"&`";
  HtmlReport report;
  report.title = evil;
  report.summary = evil;
  HtmlSection section;
  section.title = evil;
  section.facts = {{evil, evil}};
  section.command = evil;
  section.plots = {PlotConfusion({"confusion", evil, evil, {evil, "url(#x (%)"}, {{1, 2}, {3, 4}}}),
                   PlotLines({"loss-2", "Loss", evil, evil, "y", {{evil, {{1, 2}, {2, 1}}}}, {{1, evil}}})};
  ReportTable table{"t", evil, {{"a", evil}, {"n", "n"}}, {{evil, 12.5}}, evil};
  section.tables = {table};
  report.sections = {section, section};
  report.sections[1].folded = true;
  const std::string html = ToHtml(report);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  for (const char* part :
       {"<!DOCTYPE html>", "<td class=\"number\">12.5</td>", "<details><summary>&lt;img", "</html>\n"}) {
    EXPECT_TRUE(Mentions(html, part));
  }
  for (const char* part : {"<script", "<link", "src=\"", "@import"}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
  if (html.find("gnuplot was not there") == std::string::npos) {
    EXPECT_TRUE(Mentions(html, "aria-label=\"Loss\""));
    EXPECT_TRUE(Mentions(html, "</svg>"));
    EXPECT_TRUE(Mentions(html, "url(#x (%)<")) << "a name within a picture stays as it is";
    EXPECT_EQ(html.find("<?xml"), std::string::npos);
  }
}

}  // namespace
}  // namespace lamina
