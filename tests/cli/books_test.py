"""Books of spreadsheets, .xlsx and .ods, by every command that reads tables."""

import io
import json
import os
import sys
import zipfile

from lamina_cli import SOURCE, CliTest, main

sys.path.insert(0, os.path.join(SOURCE, "tests", "first_hour"))
from made.table import Made, point  # noqa: E402
from made.workbooks import open_document, workbook  # noqa: E402


def sales(file):
    t = Made(file, "a test")
    t.add("size", t.amounts(), point(2), weight=2).add("city", t.one_of("Rome", "Oslo"), str).add("day", t.days(), str)
    return t.number("price", point(2))


NOTES = ("Notes", [["author", "year"], ["Ann", 2024.0], ["Bob", 2025.0], ["Cy", 2026.0], ["Di", 2023.0]])
QUICK = ("--recipe", "plain", "--epochs", "3", "--hidden", "4")


class BooksTest(CliTest):
    def book(self, name, write=workbook, **how):
        return self.write(name, write(sales("t.xlsx"), **how).content)

    def test_a_book_answers_as_its_csv_file_does(self):
        self.write("t.csv", sales("t.xlsx").csv().content)
        self.book("t.xlsx")
        self.book("t.ods", open_document)
        self.succeed("train", "t.csv", "--model", "m", *QUICK)
        answers = set()
        for name in ("t.csv", "t.xlsx", "t.ods"):
            shown = json.loads(self.succeed("data", "show", name, "--json", "-").out)
            self.assertEqual([column["kind"] for column in shown["columns"]], ["number", "text", "date", "number"])
            self.succeed("predict", "m", name, "--keep-columns", "city", "--out", "p.csv")
            answers.add(self.read("p.csv"))
            self.succeed("evaluate", "m", name)
        self.assertEqual(len(answers), 1)
        self.succeed("data", "encode", "t.xlsx", "--output", "e")
        with open(self.path("t.xlsx"), "rb") as file:
            self.succeed("predict", "--model", "m", "--data", "-", "--out", "q.csv", "--keep-columns", "city", stdin=file)
        self.assertEqual(self.read("q.csv"), self.read("p.csv"))

    def test_sheets(self):
        self.book("t.xlsx", others=[NOTES])
        out = self.succeed("data", "show", "t.xlsx").out
        self.assertIn("sheet 'Notes', the first of 2 (else --sheet NAME)", out)
        shown = json.loads(self.succeed("data", "show", "t.xlsx", "--sheet", "Data", "--json", "-").out)
        self.assertEqual((shown["sheet"], shown["rows"]), ("Data", 240))
        self.refuse("data", "show", "t.xlsx", "--sheet", "Date", says=("no such sheet", "'Date'", "'Notes', 'Data'"))
        self.write("t.csv", sales("t.xlsx").csv().content)
        self.refuse("data", "show", "t.csv", "--sheet", "Data", says=("t.csv", "no sheets", "Leave --sheet out"))
        self.succeed("train", "t.xlsx", "--sheet", "Data", "--model", "m", *QUICK)
        self.succeed("predict", "m", "t.xlsx", "--sheet", "Data", "--out", "p.csv")
        self.refuse("predict", "m", "t.xlsx", "--out", "p2.csv", says=("t.xlsx", "author", "the first of 2: --sheet names another one"))
        self.refuse("train", "t.xlsx", "--target", "Umsatz", says=("no such column", "sheet 'Notes', the first of 2: --sheet"))
        self.book("first.xlsx")
        self.succeed("predict", "m", "first.xlsx", "--out", "p3.csv")
        self.assertEqual(self.read("p.csv"), self.read("p3.csv"))

    def test_the_sheet_taken_is_a_decision(self):
        t = sales("t.xlsx")
        records = [["a", "b"], *([float(i % 7), float(i % 5)] for i in range(60))]
        self.write("t.xlsx", workbook(t, others=[("First", records)]).content)
        result = json.loads(self.succeed("train", "t.xlsx", "--model", "m", "--json", "-", *QUICK).out)
        self.assertIn({"column": "the file", "what": "sheet 'First', the first of 2", "otherwise": "--sheet NAME"}, result["decisions"])
        result = json.loads(self.succeed("train", "t.xlsx", "--sheet", "First", "--model", "m", "--overwrite", "--json", "-", *QUICK).out)
        self.assertFalse([row for row in result["decisions"] if row["column"] == "the file"])

    def test_odd_cells_are_named(self):
        t = sales("t.xlsx")
        t.columns[0].values[10] = "broken"
        self.write("t.xlsx", workbook(t).content)
        result = json.loads(self.succeed("train", "t.xlsx", "--model", "m", "--json", "-", *QUICK).out)
        self.assertIn(("size", "1 cell 'broken' read as missing, the first in cell A12"),
                      [(row["column"], row["what"]) for row in result["decisions"]])
        self.refuse("data", "show", "t.xlsx", "--strict", says=("t.xlsx:12: column 'size'", "cell A12", "'broken'"))
        self.refuse("train", "t.xlsx", "--model", "m2", "--missing", "error", *QUICK, says=("t.xlsx:12: column 'size'", "cell A12"))

    def test_what_is_no_book(self):
        content = self.book("t.xlsx") and self.read("t.xlsx", "rb")
        self.write("cut.xlsx", content[: len(content) // 2])
        self.refuse("data", "show", "cut.xlsx", says=("cut.xlsx", "damaged or truncated"))
        middle = len(content) // 2  # within the sheet
        self.write("bad.xlsx", content[:middle] + bytes(40) + content[middle + 40:])
        self.refuse("data", "show", "bad.xlsx", says=("bad.xlsx", "damaged", "'xl/worksheets/sheet1.xml'"))
        for names in (["one.csv"], ["one.csv", "two.csv"]):
            other = io.BytesIO()
            with zipfile.ZipFile(other, "w") as archive:
                for name in names:
                    archive.writestr(name, "a,b\n1,2\n")
            self.write(f"{len(names)}.zip", other.getvalue())
        self.assertIn("1 row, 2 columns", self.succeed("data", "show", "1.zip").out)
        self.refuse("data", "show", "2.zip", says=("2.zip", "not a workbook", "'one.csv', 'two.csv'", "Unpack"))
        self.write("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000))
        self.refuse("data", "show", "t.xls", says=("t.xls", "before 2007", "CSV UTF-8"))


if __name__ == "__main__":
    main()
