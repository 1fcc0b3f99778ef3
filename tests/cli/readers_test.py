"""Every reader of a model gives the same answers: the program, the C interface and the exported ONNX file.

They are asked about every scaling, encoding and derived column, and every loss that has answers of its own.

The lists are the program's own, so that a new kind of scaling or derived column is tested from its first day.
"""

import csv
import datetime
import math
import os
import random
import re
import subprocess
import unittest

from lamina_cli import CliTest, main, read_npy
from onnx_door import ask_onnx, needs_onnx

EXAMPLE = os.environ.get("LAMINA_EXAMPLE", "")
COLUMNS = ("size", "debt", "day", "price")
QUICK = ("--epochs", "3", "--batch", "8", "--threads", "1")
SPLITS = {"train": "1,0,0", "search": "0.7,0.3,0"}


def table(count=40, seed=6):
    """Sizes and prices over decades, of both signs, a row a day; numbers, the day as days since 1970-01-01."""
    rng = random.Random(seed)
    rows = []
    for i in range(count):
        a, b = rng.uniform(0.1, 12), rng.uniform(-7, 7)
        rows.append([math.exp(a), math.copysign(math.expm1(abs(b)) + 0.25, b), 19000 + 11 * i, math.exp(0.8 * a)])
    return [[float(f"{number:.6g}") for number in row] for row in rows]


# The derived columns once more, written independently of the library: from the rows, the index and a count.
def of(row, name):
    return row[COLUMNS.index(name)]


def date(row):
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=of(row, "day"))


def with_dates(rows):
    """As they stand in a file: an empty cell for what is missing, days as dates."""
    return [["" if row[0] is None else row[0], row[1], date(row).isoformat(), row[3]] for row in rows]


def along(rows, i, fn):
    return fn(of(rows[i], "size")) if 0 <= i < len(rows) else None


DERIVED = {
    "previous": ("size", lambda rows, i: along(rows, i - 1, lambda x: x)),
    "next": ("size", lambda rows, i: along(rows, i + 1, lambda x: x)),
    "change": ("size", lambda rows, i: along(rows, i - 1, lambda x: of(rows[i], "size") / x - 1)),
    "next_change": ("size", lambda rows, i: along(rows, i + 1, lambda x: x / of(rows[i], "size") - 1)),
    "mean": ("size", lambda rows, i: sum(of(row, "size") for row in rows[i - 4 : i + 1]) / 5 if i >= 4 else None),
    "ratio": ("size:debt", lambda rows, i: of(rows[i], "size") / of(rows[i], "debt")),
    "difference": ("size:debt", lambda rows, i: of(rows[i], "size") - of(rows[i], "debt")),
    "log": ("debt", lambda rows, i: math.copysign(math.log1p(abs(of(rows[i], "debt"))), of(rows[i], "debt"))),
    "weekday": ("day", lambda rows, i: float(date(rows[i]).weekday())),
    "month": ("day", lambda rows, i: float(date(rows[i]).month)),
    "year": ("day", lambda rows, i: float(date(rows[i]).year)),
}


# The relative error that sums over weights in few bits may have. Wide layers of i8 take their inputs in fixed point,
# and a sine of such a sum is steep.
FEW_BITS, AFTER_SINES = 1e-6, 1e-4

# How networks are trained and what they are made of: models of all of these have the same readers.
TECHNIQUES = {
    "recipe": ("train", "--recipe", "tabular", "--hidden", "6,4"),
    "front scale": ("train", "--front-scale", "6", "--hidden", "5"),
    "ntk": ("train", "--parametrization", "ntk", "--hidden", "5", "--activation", "selu"),
    "members": ("train", "--members", "4", "--hidden", "5,3"),
    "members of the recipe": ("train", "--recipe", "tabular", "--members", "3", "--hidden", "6,4"),
    "waves of numbers": ("train", "--number-embedding", "pbld", "--waves", "5", "--wave-scale", "0.1", "--hidden", "4"),
    "waves mixed, of the recipe": ("train", "--recipe", "tabular", "--number-embedding", "pbld", "--waves", "5", "--wave-scale", "0.1", "--hidden", "6,4"),
    "waves of members": ("train", "--number-embedding", "pbld", "--waves", "3", "--wave-scale", "0.1", "--members", "3", "--hidden", "5"),
    "residual blocks": ("train", "--layers", "dot-tanh:6,residual(dot-relu:4,dot-identity:6),auto"),
    "residual layers of the recipe": ("train", "--recipe", "tabular", "--hidden", "6,6,6", "--residual"),
    "mixup": ("train", "--mixup", "0.4", "--hidden", "5"),
    "batch normalization": ("train", "--normalization", "batch", "--hidden", "5,4", "--batch", "4"),
    "batch normalization of the recipe": ("train", "--recipe", "tabular", "--normalization", "batch", "--hidden", "6,4"),
    "networks of folds": ("train", "--folds", "3", "--bag", "--hidden", "4"),
    "ensemble": ("search", "--hidden", "4", "--vary", "hidden=4|5,3|0|3", "--vary", "activation=tanh,relu", "--halving", "0", "--ensemble", "5"),
}


class ReadersTest(CliTest):
    def known(self, *arguments):
        """The names that the program knows, from its refusal of one that it does not."""
        self.write("known.csv", [["a", "b"], [1, 2], [3, 4.5], [5, 6]])
        said = self.refuse("train", "--data", "known.csv", *arguments).err
        return re.search(r"Known: ([^.]*)\.", said).group(1).split(", ")

    def model_of(self, scale, target_scale, missing, dtype="f64", technique=("--hidden", "4", "--activation", "tanh"), command="train"):
        """A model with every derived column as an input; the rows of numbers that its readers take."""
        rows = table()
        self.write("raw.csv", [COLUMNS] + with_dates(rows))
        functions = self.known("--derive", "x=?:a")
        derive = ",".join(f"d_{name}={name}:{DERIVED[name][0]}" for name in functions)
        self.succeed(command, "--data", "raw.csv", "--derive", derive, "--target", "price", "--task", "regression", "--scale", scale,
                     "--target-scale", target_scale, "--missing", missing, "--dtype", dtype, "--model", "m", "--overwrite", "--quiet",
                     "--split", SPLITS[command], *QUICK, *technique)
        return [row[:3] + [DERIVED[name][1](rows, i) for name in functions] for i, row in enumerate(rows)]

    # The readers: from rows of the model's columns (None: missing) to answers. Rows come without the program's table.
    def by_program(self, _, model="m"):
        self.succeed("predict", "--model", model, "--data", "raw.csv", "--backend", "serial", "--out", "p.npy")
        return list(read_npy(self.read("p.npy", "rb"))[2])

    def by_c(self, rows, model="m"):
        numbers = ["nan" if number is None else repr(number) for row in rows for number in row]
        done = subprocess.run([EXAMPLE, self.path(model), *numbers], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [float(number) for line in done.stdout.split() for number in line.split(",")]

    def by_onnx(self, rows, model="m"):
        self.succeed("export", "--onnx", model, "-o", "m.onnx")
        answers = ask_onnx(self.path("m.onnx"), {"input": rows})["outputs"]["prediction"]
        return [number for row in answers for number in row]

    def assertReadersAgree(self, read):
        scalings = self.known("--scale", "?")
        self.assertEqual(scalings, self.known("--target-scale", "?"))
        for scale in scalings:
            # Inputs and targets do not meet: each with the other's default, and as both.
            for target_scale in scalings if scale == "auto" else ("auto", scale):
                with self.subTest(scale=scale, target_scale=target_scale):
                    rows = self.model_of(scale, target_scale, "mean")
                    self.assertReaderAgrees(read, rows, "m", 1e-7)
                    if scale == target_scale:  # how weights are kept and how columns are scaled do not meet
                        for weights in self.known_weights():
                            with self.subTest(weights=weights):
                                self.succeed("export", "--weights", weights, "m", "-o", "w")
                                self.assertReaderAgrees(read, rows, "w", 1e-7, few_bits=0 if weights == "exact" else FEW_BITS)

        self.assertEncodingsAgree(read)
        self.assertLossesAgree(read)

    def encoded(self, *arguments):
        """A model of dates and of numbers with gaps; the rows of numbers that its readers take."""
        rows = [row if i % 5 else [None] + row[1:] for i, row in enumerate(table(60))]
        self.write("raw.csv", [COLUMNS] + with_dates(rows))
        self.train("--data", "raw.csv", "--target", "price", "--task", "regression", "--dtype", "f64", "--hidden", "4",
                   "--activation", "tanh", "--model", "m", *arguments, "--split", SPLITS["train"], *QUICK)
        return [row[:3] for row in rows]

    def assertEncodingsAgree(self, read):
        for numbers in self.known("--numbers", "?"):
            for dates in self.known("--dates", "?"):
                for fill in self.known("--missing", "?"):
                    if fill not in ("error", "drop"):
                        for indicator in (("--missing-indicator", "no"), ("--missing-indicator", "yes")):
                            with self.subTest(numbers=numbers, dates=dates, missing=fill, indicator=indicator):
                                rows = self.encoded("--numbers", numbers, "--bins", "7", "--dates", dates, "--missing", fill,
                                                    "--scale", "robust", *indicator)
                                self.assertReaderAgrees(read, rows, "m", 1e-7)

    def assertLossesAgree(self, read):
        for loss in (("poisson",), ("gamma",), ("quantile", "--quantiles", "0.1,0.5,0.9")):
            with self.subTest(loss=loss):
                rows = self.encoded("--loss", *loss)
                self.assertReaderAgrees(read, rows, "m", 1e-7)

    def assertTechniquesAgree(self, read):
        for name, (command, *technique) in TECHNIQUES.items():
            with self.subTest(technique=name):
                rows = self.model_of("standardize", "standardize", "mean", technique=technique, command=command)
                self.assertReaderAgrees(read, rows, "m", 1e-7)
                for weights in self.known_weights():
                    with self.subTest(weights=weights):
                        self.succeed("export", "--weights", weights, "m", "-o", "w")
                        self.assertReaderAgrees(read, rows, "w", 1e-7, few_bits=0 if weights == "exact" else AFTER_SINES if name.startswith("waves") else FEW_BITS)

    def assertReaderAgrees(self, read, rows, model, tolerance, few_bits=0):
        expected = self.by_program(rows, model)
        # Sums over weights in few bits are in f32: so are differences of large numbers.
        least = 1e-4 + few_bits * max(map(abs, expected)) if few_bits else 0
        self.assertGreater(max(expected) - min(expected), 1e-6, "the test tells nothing: one answer only")
        answers = read(rows, model)
        self.assertEqual(len(answers), len(expected))
        for got, want in zip(answers, expected):
            self.assertAlmostEqual(got, want, delta=max(least, tolerance * max(1, abs(want))))

    def known_weights(self):
        said = self.refuse("predict", "--model", "m", "--data", "raw.csv", "--weights", "?", "--out", "p.npy").err
        return re.search(r"Known: ([^.]*)\.", said).group(1).split(", ")

    def test_rows_without_a_value_have_no_answer(self):
        """Each function where it has no value (the first row has no previous one): those rows, and no others."""
        rows = table()
        self.write("raw.csv", [COLUMNS] + with_dates(rows))
        for name in self.known("--derive", "x=?:a"):
            with self.subTest(function=name):
                self.train("--data", "raw.csv", "--derive", f"made={name}:{DERIVED[name][0]}", "--target", "price", "--task",
                           "regression", "--missing", "drop", "--hidden", "3", "--model", "m", "--split", SPLITS["train"], *QUICK)
                gaps = [DERIVED[name][1](rows, i) is None for i in range(len(rows))]
                said = self.succeed("predict", "--model", "m", "--data", "raw.csv", "--out", "p.csv", "--json", "p.json").out
                with open(self.path("p.csv"), newline="") as file:
                    answers = list(csv.reader(file))[1:]
                self.assertEqual([answer == [""] for answer in answers], gaps)
                self.assertEqual(self.read_json("p.json")["without_answer"], sum(gaps))
                self.assertEqual(sum(gaps) > 0, "have no answer" in said, said)
                said = self.succeed("evaluate", "--model", "m", "--data", "raw.csv", "--json", "e.json").out
                self.assertEqual(self.read_json("e.json")["left_out"], sum(gaps))
                self.assertEqual(self.read_json("e.json")["samples"], len(rows) - sum(gaps))
                self.assertEqual(sum(gaps) > 0, "left out" in said, said)
                if sum(gaps) > 0:
                    self.assertIn("column 'made'", said)

    def test_the_functions_are_those_of_the_program(self):
        self.assertEqual(sorted(self.known("--derive", "x=?:a")), sorted(DERIVED))

    @unittest.skipUnless(EXAMPLE, "the examples were not built (LAMINA_EXAMPLE)")
    def test_the_c_interface(self):
        self.assertReadersAgree(self.by_c)
        self.assertTechniquesAgree(self.by_c)

    @needs_onnx
    def test_onnx(self):
        self.assertReadersAgree(self.by_onnx)
        self.assertTechniquesAgree(self.by_onnx)


if __name__ == "__main__":
    main()
