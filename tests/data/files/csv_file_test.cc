// CSV files read piece by piece, with their numbers in a file: the same table as of the text in memory.
#include <gtest/gtest.h>

#include "lamina/base/mapped_file.h"
#include "lamina/base/text.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// More than is kept of a column before it is written, and than is released of the text at once.
std::string ManyRows() {
  std::string text = "id,when,price,kind,late\n";
  for (int i = 0; i < 20000; ++i) {
    text += "" + std::to_string(i) + ",2024-01-" + (i % 28 < 9 ? "0" : "") + std::to_string(i % 28 + 1) + "," +
            std::to_string(i) + ".25," + (i % 7 == 0 ? "\"a, b\nc\"" : "x" + std::to_string(i % 11)) + "," +
            (i < 15000    ? ""
             : i == 15000 ? "word"
                          : "other") +
            "\n";
  }
  return text;
}

TEST(CsvFileTest, ReadsWhatIsReadInMemory) {
  const TemporaryFolder folder;
  const std::string texts[] = {ManyRows(),
                               "a,b\n1,x\n,y\nNA,",  // missing values, no end of line
                               "\xEF\xBB\xBF"
                               "a;b\r\n1,5;x\r\n2,25;\xC3\xA4\r\n",
                               "# a comment\n# x y\n1,2\n3,4\n",
                               "#a,b\n1,2\n3,4\n",
                               "a\r3\r1\r2\r",                // line ends of old Macintosh files
                               "  1.0   2.0\n 10.0   3.5\n",  // lined up with spaces
                               "x\n1\n\n2\n\n\n",
                               "+---+---+\n| a | b |\n+---+---+\n| 1 | x |\n|   |   |\n+---+---+\n",
                               "d,v\n13/2/2024,1\n1/3/2024,2\n"};
  for (const std::string& text : texts) {
    for (const bool compressed : {false, true}) {
      const std::string path = folder.Write("t.csv", compressed ? Gzip(text) : text);
      ReadOptions options;
      const Table in_memory = ReadTable(path, options);
      options.scratch = folder.Path();
      const Table in_files = ReadTable(path, options);
      ExpectSame(in_memory, in_files);
      EXPECT_EQ(folder.Count(), 1) << "the file of numbers has no name";
    }
  }
}

TEST(CsvFileTest, KeepsNumbersInAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("t.csv", ManyRows());
  ReadOptions options;
  options.scratch = folder.Path();
  const Table table = ReadTable(path, options);
  for (const Column& column : table.columns) {
    EXPECT_EQ(column.mapping != nullptr, column.kind == ColumnKind::kNumber) << column.name;
    column.Release();
  }
  EXPECT_EQ(table.columns[2].Number(19999), 19999.25);
}

TEST(CsvFileTest, NamesTheSameFaults) {
  const TemporaryFolder folder;
  for (const std::string& text :
       {std::string("a,b\n1,2\n1,2,3\n"), std::string("a,b\n1,2\n1,\xFF\n"), std::string("a\n\0b\n", 5),
        std::string(" \n \n"), std::string("a,b\n1,2\nx,2\n"), std::string("a,b\n")}) {
    const std::string path = folder.Write("t.csv", text);
    const auto message = [&](const std::string& scratch) {
      ReadOptions options;
      options.scratch = scratch;
      options.header = Header::kYes;
      options.strict = true;
      options.encoding = "utf-8";
      try {
        ReadTable(path, options);
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string("none");
    };
    EXPECT_EQ(message(folder.Path()), message("")) << text;
    EXPECT_NE(message(""), "none") << text;
  }
  ReadOptions options;
  options.scratch = folder.Path("nowhere");
  const std::string path = folder.Write("t.csv", "a,b\n1,2\n");
  ExpectError([&] { ReadTable(path, options); }, ErrorCode::kNotFound, {"nowhere", "temporary file"});
  const std::string whole = Gzip(ManyRows());
  options.scratch = folder.Path();
  const std::string cut = folder.Write("t.csv.gz", whole.substr(0, whole.size() / 2));
  ExpectError([&] { ReadTable(cut, options); }, ErrorCode::kBadData, {"truncated gzip"});
}

}  // namespace
}  // namespace lamina
