"""Data files that cannot be used: a clear error with file, line, column and value, and nothing written."""

import gzip
import os
import struct
import unittest

from lamina_cli import DIGITS, CliTest, blob_rows, digits_rows, linear_rows, main


def idx(shape, content=None, code=8):
    count = 1
    for size in shape:
        count *= size
    content = bytes(i % 7 for i in range(count)) if content is None else content
    return struct.pack(">HBB", 0, code, len(shape)) + b"".join(struct.pack(">I", size) for size in shape) + content


class BadDataTest(CliTest):
    def refuse_data(self, name, *says, arguments=(), show=True):
        """All commands that read data must refuse it."""
        found = self.refuse("train", "--data", name, "--epochs", "1", "--model", "m.safetensors", "--json", "r.json",
                            "--history", "h.csv", *arguments, says=(name, *says))
        if show:
            self.refuse("data", "show", name, says=(name, *says))
        return found

    def test_missing_file(self):
        self.refuse_data("absent.csv", "No such file", "Check the path")
        self.refuse("train", "--data", DIGITS, "--test", "absent.csv", says="absent.csv")
        self.refuse("train", "--data", DIGITS, "--validation", "absent.csv", says="absent.csv")

    def test_empty_files(self):
        self.write("empty.csv", "")
        self.refuse_data("empty.csv", "empty")
        self.write("blank.csv", "\n\n \n")
        self.refuse_data("blank.csv", "empty")
        self.write("empty.csv.gz", gzip.compress(b""))
        self.refuse_data("empty.csv.gz", "empty")

    def test_folder_without_idx(self):
        os.mkdir(self.path("stuff"))
        self.refuse_data("stuff", "images-idx3-ubyte")
        self.write("stuff/train-images-idx3-ubyte", idx((4, 2, 2)))
        self.refuse_data("stuff", "labels")
        self.refuse("train", "--data", "stuff/train-images-idx3-ubyte", says=("images and no labels", "Give the folder"))

    def test_gzip_that_is_cut_or_damaged(self):
        with open(DIGITS, "rb") as file:
            content = file.read()
        self.write("cut.csv.gz", content[: len(content) // 2])
        self.refuse_data("cut.csv.gz", "truncated")
        self.write("damaged.csv.gz", content[:5000] + b"\0\0\0\0" + content[5004:])
        self.refuse_data("damaged.csv.gz")
        self.write("notgz.csv.gz", "a,b,c\n1,2,x\n3,4,y\n1,2,x\n3,4,y\n2,1,x\n")
        self.succeed("data", "show", "notgz.csv.gz")

    def idx_folder(self, images, labels):
        os.makedirs(self.path("d"), exist_ok=True)
        self.write("d/train-images-idx3-ubyte", images)
        self.write("d/train-labels-idx1-ubyte", labels)

    def test_idx(self):
        self.idx_folder(idx((40, 2, 2)), idx((40,)))
        self.succeed("train", "--data", "d", "--epochs", "1", "--hidden", "4")
        good = idx((40,))
        for images, labels, says in (
                (b"\1" + idx((40, 2, 2))[1:], good, "train-images-idx3-ubyte"),  # magic
                (idx((40, 2, 2), code=0x77), good, "00 00 77 03"),
                (idx((41, 2, 2))[:-3], good, "train-images-idx3-ubyte"),  # too short
                (idx((40, 2, 2)) + b"x", good, "train-images-idx3-ubyte"),  # too long
                (idx((40, 2, 2)), idx((39,)), "39"),  # counts differ
                (idx((0xFFFFFFFF,) * 3, b"1234"), good, "train-images-idx3-ubyte"),  # overflows
                (idx((0xFFFFFFFF,) * 255, b"1234"), good, "train-images-idx3-ubyte"),
                (idx((0, 2, 2)), idx((0,)), "train-images-idx3-ubyte"),
                (idx((40, 2, 2))[:6], good, "train-images-idx3-ubyte"),
                (idx((40, 2, 2)), idx((40, 2)), "train-labels-idx1-ubyte"),
                (b"", good, "train-images-idx3-ubyte")):
            with self.subTest(says=says, images=images[:16]):
                self.idx_folder(images, labels)
                self.refuse_data("d", says)

    def test_ragged_row(self):
        self.write("x.csv", "a,b,c\n1,2,x\n3,4\n5,6,y\n")
        self.refuse_data("x.csv", "x.csv:3:", "expected 3 fields, found 2")
        self.write("x.csv", "a,b,c\n1,2,x\n3,4,5,6,y\n")
        self.refuse_data("x.csv", "x.csv:3:", "found 5")
        self.write("x.csv", 'a,b,c\n1,2,x\n3,"4,y\n5,6,y\n')
        self.refuse_data("x.csv", "x.csv:", "quot")

    def test_not_a_number(self):
        rows = linear_rows(2000)
        rows[1500][1] = "twelve"
        self.write("x.csv", rows)
        self.refuse_data("x.csv", "x.csv:1501:", "column 'x2'", "'twelve'", "--text-columns x2", arguments=("--strict",), show=False)
        self.assertIn("1 cell 'twelve' read as missing, the first in line 1501", self.succeed("train", "--data", "x.csv", "--epochs", "1").out)
        for word in ("inf", "-inf", "Infinity", "1e999", "0x10", "1,5"):
            rows[1500][1] = word if "," not in word else f'"{word}"'
            self.write("x.csv", rows)
            self.refuse_data("x.csv", "x.csv:1501:", "column 'x2'", f"'{word}'", arguments=("--strict",), show=False)
        rows[1500][1] = "nan"
        self.write("x.csv", rows)
        self.refuse("train", "--data", "x.csv", "--missing", "error", says=("x.csv:1501:", "column 'x2'", "missing", "--missing mean"))

    def test_control_codes_of_a_file_do_not_reach_the_terminal(self):
        rows = linear_rows(50)
        rows[30][1] = "\033[31mred"
        self.write("x.csv", rows)
        self.assertNotIn("\033", self.refuse_data("x.csv", "x.csv:31:", r"\x1B[31mred", arguments=("--strict",), show=False).err)
        shown = self.succeed("data", "show", "x.csv").out
        self.assertIn(r"\x1B[31mred", shown)
        self.assertNotIn("\033", shown)

    def test_a_model_in_the_place_of_a_table(self):
        self.train("--data", self.write("t.csv", "a,y\n" + "1,0\n2,1\n" * 20), "--epochs", "1", "--model", "m.safetensors")
        self.refuse("data", "show", "m.safetensors", code=1, says=("m.safetensors", "is a lamina model, not a table", "model show"))

    def test_another_table_in_the_place_of_kdd_cup(self):
        os.mkdir(self.path("kdd"))
        for name in ("kddcup.data_10_percent.gz", "corrected.gz"):
            self.write("kdd/" + name, gzip.compress(b"1,2,3\n4,5,6\n"))
        self.refuse("train", "--data", "kddcup99:kdd", code=1, says=("kdd/", "has 3 columns, KDD Cup 1999 has 42"))

    def test_header_only(self):
        self.write("x.csv", "a,b,c\n")
        self.refuse_data("x.csv", "no rows")

    def test_too_few_rows(self):
        self.write("x.csv", "a,b,c\n1,2,x\n2,3,y\n")
        self.refuse("train", "--data", "x.csv", "--model", "m.safetensors", says=("2 rows", "3 rows are needed"))
        self.refuse_data(self.write("one.csv", "1\n2\n3\n4\n"), "input", show=False)

    def test_target_that_does_not_exist(self):
        self.write("x.csv", blob_rows(40))
        self.refuse_data("x.csv", "'answr'", "'answer'", arguments=("--target", "answr"), show=False)
        self.refuse_data("x.csv", "7", arguments=("--target", "7"), show=False)
        self.refuse_data("x.csv", "-4", arguments=("--target", "-4"), show=False)
        self.refuse_data("x.csv", "'a'", arguments=("--drop", "aa"), show=False)
        self.refuse("train", "--data", "x.csv", "--drop", "answer", "--target", "answer", says=("'answer'", "also dropped"))
        self.refuse_data("x.csv", "'answer'", arguments=("--text-columns", "anser"), show=False)
        self.refuse_data("x.csv", "input", arguments=("--drop", "a,b"), show=False)

    def test_duplicate_column(self):
        self.write("x.csv", "a,a,c\n1,2,x\n3,4,y\n")
        self.refuse_data("x.csv", "x.csv:1:", "'a'", "same name")

    def test_one_class_only(self):
        self.write("x.csv", blob_rows(40, ("yes",)))
        self.refuse_data("x.csv", "'answer'", "'yes'", "one class only", show=False)

    def test_text_where_values_are_expected(self):
        self.write("x.csv", blob_rows(40))
        self.refuse_data("x.csv", "'answer'", arguments=("--task", "regression"), show=False)
        self.write("y.csv", linear_rows(40))
        self.refuse_data("y.csv", "'y'", arguments=("--task", "classification"), show=False)
        self.refuse("train", "--data", "y.csv", "--loss", "cross_entropy", says="cross_entropy needs classes")

    def test_huge_numbers(self):
        rows = linear_rows(60)
        for i, row in enumerate(rows[1:]):
            row[1] = ("1e308", "-1e308")[i % 2]
        self.write("x.csv", rows)
        self.refuse_data("x.csv", "x2", "too large", "--scale none", show=False)
        self.succeed("data", "show", "x.csv")
        self.refuse("train", "--data", "x.csv", "--scale", "none", says=("x.csv:", "x2", "too large for f32"))

    def test_not_text(self):
        self.write("x.png", b"\x89PNG\r\n\x1a\n\0\0\0\0")
        self.refuse_data("x.png", "PNG")
        self.write("x.zip", b"PK\x03\x04\0\0\0\0")
        self.refuse_data("x.zip", "zip")
        self.write("x.csv", b"a,b\n1,\0\n")
        self.refuse_data("x.csv", "x.csv:2", "NUL")
        self.write("x.csv", "a,b\n1,é\n".encode("latin-1"))
        self.refuse_data("x.csv", "x.csv:2", "UTF-8", "--encoding", arguments=("--encoding", "utf-8"), show=False)
        self.refuse("train", "--data", "x.csv", "--encoding", "klingon", says=("unknown encoding", "klingon", "utf-16"))
        self.assertIn("Windows-1252", self.succeed("data", "show", "x.csv").out)
        self.write("x.csv", "a,b\n1,2\n".encode("utf-16"))
        self.assertIn("UTF-16LE", self.succeed("data", "show", "x.csv").out)
        for content in (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\xff\xff{}", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}"):
            self.write("x.npy", content)
            self.refuse_data("x.npy")

    def test_unseen_class_in_a_test_file(self):
        rows = blob_rows(40)
        self.write("x.csv", rows)
        self.write("t.csv", rows[:5] + [["1", "1", "perhaps"]])
        self.refuse("train", "--data", "x.csv", "--test", "t.csv", "--model", "m", "--unseen", "error",
                    says=("t.csv:6:", "'perhaps'", "--unseen"))

    def test_test_file_with_other_columns(self):
        rows = digits_rows(60)
        self.write("x.csv", rows)
        self.write("t.csv", [row[1:] for row in rows])
        self.refuse("train", "--data", "x.csv", "--test", "t.csv", "--model", "m", says=("t.csv", rows[0][0]))


if __name__ == "__main__":
    main()
