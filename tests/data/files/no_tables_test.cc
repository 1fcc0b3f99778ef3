// Files that are no tables are refused with what they are and what to do; tables that look a little like them are read.
#include <gtest/gtest.h>

#include <string>

#include "lamina/data/files/reader.h"
#include "tests/data/data_test_util.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

Table ReadNamed(const std::string& name, const std::string& content, const std::string& scratch = "") {
  const TemporaryFolder folder;
  return ReadTable(folder.Write(name, content), {.scratch = scratch});
}

void ExpectNoTable(const std::string& name, const std::string& content, std::string_view what,
                   std::string_view remedy) {
  const TemporaryFolder scratch;
  for (const std::string& folder : {std::string(), scratch.Path()}) {
    ExpectError([&] { ReadNamed(name, content, folder); }, ErrorCode::kUnsupported, {name, what, remedy});
  }
}

TEST(NoTablesTest, WhatPeopleTakeForTablesIsNamed) {
  ExpectNoTable("t.csv", "[{\"a\": 1, \"b\": 2},\n {\"a\": 3, \"b\": 4}]\n", "is JSON,", "pandas.read_json");
  ExpectNoTable("t.json", "{\n \"rows\" : [[1, 2]]}\n", "is JSON,", "to_csv");
  ExpectNoTable("t.jsonl", "{\"a\": 1}\n{\"a\": 2}\n", "an object a line", "lines=True");
  ExpectNoTable("t.xls", "\n<html xmlns:x=\"urn\"><table><tr><td>1</td></tr></table></html>\n", "a web page", ".xlsx");
  ExpectNoTable("t.xls", "\xEF\xBB\xBF<TABLE border=1><tr><td>1</td></tr></TABLE>", "a web page", "CSV UTF-8");
  ExpectNoTable("t.xls", "<?xml version=\"1.0\"?>\n<?mso-application?>\n<Workbook>\n", "a workbook as XML", ".xlsx");
  ExpectNoTable("t.txt", "<?xml version=\"1.0\"?>\n<rows/>\n", "is XML", "CSV UTF-8");
  ExpectNoTable("t.csv", "%PDF-1.7\n%\xE2\xE3\n1 0 obj\n", "a PDF document", "spreadsheet");
  ExpectNoTable("t.sql", "-- MySQL dump 10.13\n/*!40101 SET NAMES utf8 */;\nDROP TABLE IF EXISTS `t`;\n", "SQL",
                "as CSV");
  ExpectNoTable("t.txt", "INSERT INTO t (a, b) VALUES (1, 2);\nINSERT INTO t (a, b) VALUES (3, 4);\n", "SQL", "as CSV");
  ExpectNoTable("t.txt", "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n", "SQL", "as CSV");
  ExpectNoTable("t.csv", "% by Weka\n\n@RELATION iris\n@ATTRIBUTE a REAL\n@DATA\n1\n", "an ARFF file", "as CSV");
  ExpectNoTable("t.data", std::string("SQLite format 3\0\x10", 17), "SQLite", "SELECT");
  ExpectNoTable("t.data", "$FL2@(#) SPSS DATA FILE\n", "an SPSS file", "read_spss");
  ExpectNoTable("t.data", "<stata_dta><header>\n", "a Stata file", "read_stata");
  ExpectNoTable("t.dta", std::string("\x72\x02\x01\0\x02", 5), "a Stata file", "read_stata");
  ExpectNoTable("t.parquet", "PAR1\x15\x04\x15\x10", "a Parquet file", "read_parquet");
  ExpectNoTable("t.feather", std::string("ARROW1\0\0\xFF", 9), "an Arrow file", "read_feather");
  ExpectNoTable("t.h5", "\x89HDF\r\n\x1A\n", "an HDF5 file", "read_hdf");
  ExpectNoTable("t.pkl", "\x80\x04\x95\x01", "pickled by Python", "read_pickle");
  ExpectNoTable("t.RData", Gzip("RDX3\nX\n"), "data of R", "write.csv");
}

TEST(NoTablesTest, TablesThatLookALittleLikeThemAreRead) {
  for (const char* text : {"{a},b\n1,2\n3,4\n", "[mm];b\n1;2\n3;4\n", "Begin;End\n1;2\n3;4\n",
                           "set number;price\n1;2\n3;4\n", "copy;of\n1;2\n3;4\n", "X\n1\n2\n", "<5,>5\n1,2\n3,4\n",
                           "% a,b\n1,2\n3,4\n", "--;b\n1;2\n3;4\n", "\"[1, 2]\",b\n\"[3, 4]\",2\n\"[5]\",3\n",
                           "insert,into\n1,2\n3,4\n", "PAR1,b\n1,2\n3,4\n", "ARROW1,b\n1,2\n3,4\n"}) {
    EXPECT_GE(ReadNamed("t.csv", text).rows, 2) << text;
  }
}

}  // namespace
}  // namespace lamina
