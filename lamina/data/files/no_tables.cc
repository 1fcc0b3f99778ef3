// A list of how such files begin.
#include "lamina/data/files/no_tables.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "lamina/base/error.h"
#include "lamina/data/files/csv_cursor.h"

namespace lamina {
namespace {

constexpr const char* kSpreadsheet = "Open it in a spreadsheet program, and save it as .xlsx or as CSV UTF-8.";

char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// `word`: in small letters.
bool BeginsWith(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == Lower(b); });
}

std::string_view WithoutBlanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t\r\n\f"), text.size()));
}

// Without blank lines and those that begin with one of `marks`.
std::string_view BehindComments(std::string_view text, std::initializer_list<std::string_view> marks) {
  const auto is_comment = [&] {
    return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return text.starts_with(mark); });
  };
  for (text = WithoutBlanks(text); is_comment();) {
    text = WithoutBlanks(text.substr(std::min(text.find('\n'), text.size())));
  }
  return text;
}

// An object, or a list of objects, lists or texts.
bool IsJson(std::string_view text) {
  if (text.empty() || (text.front() != '{' && text.front() != '[')) {
    return false;
  }
  const std::string_view inside = WithoutBlanks(text.substr(1));
  if (text.front() == '{') {
    const size_t closed = inside.starts_with('"') ? inside.find('"', 1) : std::string_view::npos;
    return closed != std::string_view::npos && WithoutBlanks(inside.substr(closed + 1)).starts_with(':');
  }
  return !inside.empty() && (inside.front() == '{' || inside.front() == '[');
}

// Objects in lines of their own.
bool IsJsonLines(std::string_view text) {
  const size_t end = text.find('\n');
  return end != std::string_view::npos && TrimField(text.substr(0, end)).ends_with('}') &&
         IsJson(WithoutBlanks(text.substr(end)));
}

bool IsDump(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kStatements{
      "create table ",      "create database ", "insert into ",        "drop table ",
      "begin transaction;", "lock tables ",     "pragma foreign_keys", "set statement_timeout "};
  const std::string_view statement = BehindComments(text, {"--", "/*", "#"});
  return text.find(';') != std::string_view::npos &&
         std::any_of(kStatements.begin(), kStatements.end(),
                     [&](std::string_view word) { return BeginsWith(statement, word); });
}

std::string ByPandas(std::string_view call) {
  return "In Python: pandas." + std::string(call) + ".to_csv(\"table.csv\", index=False) makes a table of it.";
}

[[noreturn]] void Refuse(const std::string& path, std::string what, std::string remedy) {
  throw Error(ErrorCode::kUnsupported, "is " + std::move(what) + ", not a table",
              {.file = path, .remedy = std::move(remedy)});
}

void RefuseMarkup(std::string_view text, const std::string& path) {
  static constexpr std::array<std::string_view, 6> kPages{"<!doctype html", "<html",  "<head",
                                                          "<body",          "<table", "<div"};
  if (!text.starts_with('<')) {
    return;
  }
  if (std::any_of(kPages.begin(), kPages.end(), [&](std::string_view word) { return BeginsWith(text, word); })) {
    Refuse(path, "a web page (HTML)", kSpreadsheet);
  }
  if (BeginsWith(text, "<stata_dta>")) {
    Refuse(path, "a Stata file", ByPandas("read_stata(FILE)"));
  }
  if (BeginsWith(text, "<?xml") || BeginsWith(text, "<!doctype")) {
    Refuse(path, text.find("Workbook") != std::string_view::npos ? "a workbook as XML" : "XML", kSpreadsheet);
  }
}

// Stata's up to version 12: 110 to 115, the order of bytes, 1, 0.
bool IsOldStata(std::string_view start) {
  return start.size() > 3 && start[0] >= 110 && start[0] <= 115 && (start[1] == 1 || start[1] == 2) && start[2] == 1 &&
         start[3] == 0;
}

// Protocols 2 to 5 of Python's pickle.
bool IsPickle(std::string_view start) {
  return start.size() > 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
}

void RefuseTablesOfPandas(std::string_view start, const std::string& path) {
  if (start.starts_with("PAR1\x15")) {
    Refuse(path, "a Parquet file", ByPandas("read_parquet(FILE)"));
  }
  if (start.starts_with(std::string_view("ARROW1\0", 7))) {
    Refuse(path, "an Arrow file (Feather)", ByPandas("read_feather(FILE)"));
  }
  if (start.starts_with("\x89HDF")) {
    Refuse(path, "an HDF5 file", ByPandas("read_hdf(FILE)"));
  }
  if (IsOldStata(start)) {
    Refuse(path, "a Stata file", ByPandas("read_stata(FILE)"));
  }
  if (IsPickle(start)) {
    Refuse(path, "pickled by Python", ByPandas("read_pickle(FILE)"));
  }
}

}  // namespace

void RefuseWhatIsNoTable(std::string_view start, const std::string& path) {
  const std::string_view text = BehindComments(start.substr(start.starts_with("\xEF\xBB\xBF") ? 3 : 0), {});
  RefuseMarkup(text, path);
  RefuseTablesOfPandas(start, path);
  if (start.starts_with("%PDF-")) {
    Refuse(path, "a PDF document", "Ask for the data behind it, or copy its table into a spreadsheet program.");
  }
  if (IsJson(text)) {
    const bool lines = IsJsonLines(text);
    Refuse(path, lines ? "JSON, an object a line" : "JSON",
           ByPandas(lines ? "read_json(FILE, lines=True)" : "read_json(FILE)"));
  }
  if (BeginsWith(BehindComments(text, {"%"}), "@relation")) {
    Refuse(path, "an ARFF file", "Save it as CSV in Weka. In Python: scipy.io.arff.loadarff(FILE) reads it.");
  }
  if (start.starts_with("SQLite format 3")) {
    Refuse(path, "a data base of SQLite", "sqlite3 -header -csv FILE \"SELECT * FROM TABLE\" writes a table of it.");
  }
  if (start.starts_with("$FL2") || start.starts_with("$FL3")) {
    Refuse(path, "an SPSS file", "Save it as CSV there. In Python: pandas.read_spss(FILE) reads it.");
  }
  if (start.starts_with("RDX2\n") || start.starts_with("RDX3\n") || start.starts_with(std::string_view("X\n\0", 3))) {
    Refuse(path, "data of R", "In R: write.csv(TABLE, \"table.csv\", row.names = FALSE).");
  }
  if (IsDump(text)) {
    Refuse(path, "the dump of a data base (SQL)",
           "Load it into its data base, and export a table or a query from there as CSV.");
  }
}

}  // namespace lamina
