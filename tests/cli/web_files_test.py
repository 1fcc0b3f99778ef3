"""Files that people give the page that trains: each format, bad ones, large ones, and those that it writes."""

import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import struct
import sys
import unittest

from lamina_cli import DIGITS, SOURCE, blob_rows, linear_rows, main
from web_page import WebPageTest

sys.path.insert(0, os.path.join(SOURCE, "tests", "first_hour"))
from made.table import Made, point  # noqa: E402
from made.workbooks import open_document, workbook  # noqa: E402

BOUND = 1e-6
NOTES = ("Notes", [["author", "year"], ["Ann", 2024.0], ["Bob", 2025.0], ["Cy", 2026.0], ["Di", 2023.0]])
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89"


def sales(name):
    table = Made(name, "a test")
    table.add("size", table.amounts(), point(2), weight=2).add("city", table.one_of("Rome", "Oslo"), str).add("day", table.days(), str)
    return table.number("price", point(2))


def npy_bytes(rows):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}".encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows)


def idx_bytes(sizes, content):
    return bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + bytes(content)


class FilesTest(WebPageTest):
    def columns(self, tab):
        """Names and types, as the page shows them."""
        return [(row[0], row[1]) for row in self.act(tab, "return cellsOf('Columns');")]

    def program_columns(self, name):
        shown = json.loads(self.succeed("data", "show", name, "--json", "-").out)
        return [(column["name"], column["kind"]) for column in shown["columns"]], shown["rows"]

    def write_idx(self, rows=120):
        chance = random.Random(7)
        for part, count in (("train", rows), ("t10k", rows // 4)):
            labels = [i % 3 for i in range(count)]
            pixels = [min(255, 80 * label + chance.randrange(40)) for label in labels for _ in range(16)]
            self.write(f"{part}-images-idx3-ubyte", idx_bytes((count, 4, 4), pixels))
            self.write(f"{part}-labels-idx1-ubyte.gz", gzip.compress(idx_bytes((count,), labels)))

    def test_every_format_is_read_as_the_program_reads_it(self):
        self.write("t.csv", sales("t.xlsx").csv().content)
        self.write("t.csv.gz", gzip.compress(self.read("t.csv", "rb")))
        self.write("t.xlsx", workbook(sales("t.xlsx")).content)
        self.write("t.ods", open_document(sales("t.xlsx")).content)
        self.write("t.npy", npy_bytes([[float(cell) for cell in row] for row in linear_rows(90)[1:]]))
        tab = self.browser()
        for name in ("t.csv", "t.csv.gz", "t.xlsx", "t.ods", "t.npy"):
            with self.subTest(name):
                said = self.open_data(tab, name)
                self.assertRegex(said, "^Ready: the number ")
                columns, rows = self.program_columns(name)
                self.assertEqual(self.columns(tab), columns)
                self.assertIn(f"{name}: {rows:,} rows, {len(columns)} columns", self.act(tab, "return find('section p.below').textContent;"))

    def test_idx_files_together(self):
        self.write_idx()
        names = sorted(name for name in os.listdir(self.folder) if "ubyte" in name)
        self.assertEqual(len(names), 4)
        tab = self.browser()
        said = self.open_data(tab, *names)
        self.assertRegex(said, "^Ready: 3 classes of label; .* and 30 test rows; 16 inputs")
        self.assertEqual(self.train(tab, effort="quick"), "100.00 %")
        # The pixels alone are a table of numbers.
        self.assertRegex(self.open_data(tab, names[0]), "^Ready: ")

    def test_sheets_of_a_book(self):
        self.write("t.xlsx", workbook(sales("t.xlsx"), others=[NOTES]).content)
        tab = self.browser()
        self.open_data(tab, "t.xlsx")
        self.assertEqual([name for name, _ in self.columns(tab)], ["author", "year"])
        said = self.act(tab, """
            const notes = all("section .notes li").map((each) => each.textContent);
            choose("#sheet", "Data");
            await wait(() => cellsOf("Columns").length === 4);
            return { notes, line: await planned() };
            """)
        self.assertIn("the file: sheet 'Notes', the first of 2", said["notes"])
        self.assertRegex(said["line"], "^Ready: the number price")
        self.train(tab, effort="quick")
        self.act(tab, "press('Model');")
        tab.choose_files("#asked", self.path("t.xlsx"))
        self.assertRegex(self.act(tab, "await wait(() => cellsOf('Predict a file').length > 0 || bannerText()); return bannerText();"), "^$")

    def test_bad_files_are_refused_with_the_words_of_the_program(self):
        bad = {"empty.csv": b"", "page.csv": b"<!doctype html><p>1</p>", "picture.png": PNG, "names.csv": b"a,b\n",
               "cut.csv.gz": b"\x1f\x8b\x08\x00abc", "book.xlsx": b"PK\x03\x04abc", "t.npy": b"\x93NUMPY\1\0\2\0{}",
               "holes.csv": b"a,y\n" + b"nan,nan\n" * 9, "wide.csv": b"a,y\n1,2\n1,2,3\n3,4\n"}
        tab = self.browser()
        self.write("good.csv", blob_rows(60))
        ready = self.open_data(tab, "good.csv")
        for name, content in bad.items():
            with self.subTest(name):
                self.write(name, content)
                said = self.open_data(tab, name)
                self.assert_refused_alike(said, "train", name)
        self.assertEqual(self.open_data(tab, "good.csv"), ready)
        self.act(tab, "drop('page.csv', '<!doctype html>'); await wait(() => bannerText() !== ''); await wait(() => lineText().startsWith('Ready'));")
        self.assertEqual(self.train(tab, effort="quick").split()[-1], "%")  # with the data that were good
        self.act(tab, "press('Model');")
        self.write("lacks.csv", "a,c\n1,2\n")
        self.succeed("train", "good.csv", "--model", "own", "--epochs", "2")
        for name in ("lacks.csv", "picture.png", "empty.csv"):
            with self.subTest(name):
                self.act(tab, "find('.banner').hidden = true;")
                tab.choose_files("#asked", self.path(name))
                said = self.act(tab, "await wait(() => bannerText() !== ''); return bannerText();")
                self.assert_refused_alike(said, "predict", "own", name, "--out", "p.csv")
        self.write("no.safetensors", b"abc")
        self.act(tab, "find('.banner').hidden = true;")
        tab.choose_files("#model-file", self.path("no.safetensors"))
        said = self.act(tab, "await wait(() => bannerText() !== ''); return bannerText();")
        self.assert_refused_alike(said, "predict", "no.safetensors", "good.csv")

    def test_missing_values_are_told(self):
        rows = blob_rows(90)
        for i in range(1, 30, 3):
            rows[i][0] = ""
        rows[40][1] = "nan"
        self.write("gaps.csv", rows)
        tab = self.browser()
        self.open_data(tab, "gaps.csv")
        said = self.act(tab, "return cellsOf('Columns');")
        self.assertEqual([row[2] for row in said], ["10", "1", "0"])
        self.assertIn("miss it: filled in with", said[0][5])

    def test_names_that_need_care(self):
        name = 'with, comma & <b>"quotes".csv'
        self.write(name, "\"a, b\",<i>c</i>,\"say \"\"hi\"\"\",y\n" + "".join(f"{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(80)))
        tab = self.browser()
        self.open_data(tab, name)
        self.assertEqual([each for each, _ in self.columns(tab)], ["a, b", "<i>c</i>", 'say "hi"', "y"])
        self.act(tab, """
            for (const [column, use] of [["a, b", "dropped"], ['say "hi"', "target"]]) {
              const select = all("select").find((each) => each.getAttribute("aria-label") === `Use of ${column}`);
              select.value = use;
              select.dispatchEvent(new Event("change", { bubbles: true }));
            }
            find(".line").textContent = "";
            await planned();
            """)
        self.assertRegex(self.act(tab, "return lineText();"), r'^Ready: (the number|3 classes of) say "hi".* 2 inputs')

    def test_what_it_writes_the_program_reads(self):
        shutil.copy(DIGITS, self.path("digits.csv.gz"))
        tab = self.browser()
        self.act(tab, "await example('Digits example');")
        self.assertGreater(float(self.train(tab, effort="quick").split()[0]), 90)
        self.act(tab, "press('Model');")
        tab.choose_files("#asked", self.path("digits.csv.gz"))
        self.act(tab, "await wait(() => cellsOf('Predict a file').length > 0);")
        answers = list(csv.reader(io.StringIO(self.downloaded(tab, "Save the answers as CSV", "answers.csv").decode())))
        self.write("m.safetensors", self.downloaded(tab, "Save model", "digits.safetensors"))
        self.succeed("predict", "m.safetensors", "digits.csv.gz", "--keep-columns", ",".join([*(f"p{i}" for i in range(64)), "label"]), "--out", "own.csv")
        own = list(csv.reader(io.StringIO(self.read("own.csv"))))
        self.assertEqual(answers[0], own[0])
        differ = sum(one != two for one, two in zip(answers[1:], own[1:], strict=True))
        self.assertLessEqual(differ, 2)  # a row may lie between two classes, by rounding
        self.write("page.onnx", self.downloaded(tab, "Save as ONNX", "digits.onnx"))
        self.succeed("export", "--onnx", "m.safetensors", "-o", "own.onnx")
        self.assertEqual(self.read("page.onnx", "rb"), self.read("own.onnx", "rb"))
        self.succeed("export", "--c", "digits", "m.safetensors", "-o", "src")
        for ending in (".h", ".c"):
            self.assert_same_but_for_rounding(self.downloaded(tab, "Save as C source", f"digits{ending}").decode(), self.read(f"src/digits{ending}"))
        self.assertIn(b"<!DOCTYPE html>", self.downloaded(tab, "Save as page (HTML)", "digits.html"))
        # The model in a page that has no data.
        other = self.opened(tab.tab())
        self.act(other, "press('Model');")
        other.choose_files("#model-file", self.path("m.safetensors"))
        self.act(other, "await wait(() => find('iframe').srcdoc.length > 1000);")
        other.choose_files("#asked", self.path("digits.csv.gz"))
        self.act(other, "await wait(() => cellsOf('Predict a file').length > 0);")
        again = self.downloaded(other, "Save the answers as CSV", "answers.csv", folder="other")
        self.assertEqual(again.decode(), self.saved_text("answers.csv"))

    def assert_same_but_for_rounding(self, one, two):
        """The self-test of a C source holds answers, which two processors round otherwise. Longer ones break lines."""
        number = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
        self.assertEqual(number.sub("#", one).split(), number.sub("#", two).split())
        for a, b in zip(number.findall(one), number.findall(two), strict=True):
            self.assertAlmostEqual(float(a), float(b), delta=1e-5)

    def saved_text(self, name):
        with open(self.path(os.path.join("saved", name)), encoding="utf-8", newline="") as file:
            return file.read()


if __name__ == "__main__":
    main()
