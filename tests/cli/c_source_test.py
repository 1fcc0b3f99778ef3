"""lamina export --c and --html: the C source and the page of every kind of model answer as the program does.

Each source is compiled by gcc under its sanitizers and by clang, with all warnings as errors. It tests itself, and is
asked rows that the program answers, too. Each page is asked the same rows by node. What is not there is skipped by
name.
"""

import csv
import datetime
import math
import os
import random
import re
import shutil
import subprocess
import unittest

import page_door
from lamina_cli import SOURCE, CliTest, blob_rows, digits_rows, linear_rows, main, read_npy, stripe_rows

GOLDEN = os.path.join(SOURCE, "tests", "golden")
DOOR = os.path.join(SOURCE, "tests", "cli", "c_source_door.c")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
GCC, CLANG = shutil.which("gcc"), shutil.which("clang")
SANITIZE = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
LEARNT = ("--epochs", "20", "--batch", "8", "--learning-rate", "0.02", "--split", "1,0,0", "--seed", "3")
BOUNDS = {"f32": 5e-5, "f64": 1e-9}  # c_source.h
PLACE = re.compile(r"(\w+?)_(in|text)_\w+ = (\d+),? /\* (.*): (a number|a date|one of|text)")


def days(cell):
    day, _, time = cell.partition(" ")
    hours = sum(int(part) / 60**i for i, part in enumerate(time.split(":"))) if time else 0
    return (datetime.date.fromisoformat(day) - datetime.date(1970, 1, 1)).days + hours / 24


def number(cell):
    return repr(days(cell)) if re.fullmatch(r"\d{4}-\d\d-\d\d.*", cell) else cell if cell.strip() else "nan"


@unittest.skipUnless(GCC, "there is no gcc")
class CSourceTest(CliTest):
    def export(self, model, name="m", *arguments):
        self.succeed("export", "--c", name, model, "-o", "src", *arguments)

    def compile(self, compiler, flags, name, target, *sources):
        command = [compiler, *STRICT, *flags, *sources, self.path(f"src/{name}.c"), "-o", self.path(target), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), " ".join(command))

    def run_built(self, target, *cells):
        done = subprocess.run([self.path(target), *cells], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def places(self, name="m"):
        """The columns of numbers and those of texts, in the order of the C arrays."""
        found = {"in": {}, "text": {}}
        for match in PLACE.finditer(self.read(f"src/{name}.h")):
            found[match[2]][int(match[3])] = match[4]
        return [found["in"][i] for i in range(len(found["in"]))], [found["text"][i] for i in range(len(found["text"]))]

    def cells(self, data, name="m"):
        with open(self.path(data), newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        numbers, texts = self.places(name)
        at = lambda column: rows[0].index(column)  # noqa: E731
        return [[number(row[at(c)]) for c in numbers] + [row[at(c)] for c in texts] for row in rows[1:]]

    def answers(self, model, data, *arguments):
        self.succeed("predict", "--model", model, "--data", data, "--out", "p.npy", "--probabilities", *arguments)
        _, (_, columns), values = read_npy(self.read("p.npy", "rb"))
        return [values[i : i + columns] for i in range(0, len(values), columns)]

    def ask(self, cells, name="m", classes=False, flags=()):
        """A line for each row: the number of a refusal, or outputs (and the class)."""
        names = (f'-DHEADER="{self.path(f"src/{name}.h")}"', f"-DNAME={name}", f"-DUPPER={name.upper()}")
        names += ("-DCLASSES",) if classes else ()
        self.compile(GCC, ("-O2", *names, *flags), name, "asked", DOOR)
        lines = self.run_built("asked", *[cell for row in cells for cell in row]).splitlines()
        return [int(line[5:]) if line.startswith("code ") else line.split(",", -1) for line in lines]

    def check_self_test(self, name="m"):
        test = f"-D{name.upper()}_SELF_TEST"
        self.compile(GCC, (*SANITIZE, test), name, "tested")
        self.assertIn(" 0 wrong answers", self.run_built("tested"))
        if CLANG:
            self.compile(CLANG, ("-O1", test), name, "tested")
            self.assertIn(" 0 wrong answers", self.run_built("tested"))

    def check(self, model, data, bound=BOUNDS["f32"], classes=False, cells=None):
        """The C source of `model` against the program on the rows of `data`; returns what the door said."""
        self.export(model)
        self.check_self_test()
        expected = self.answers(model, data)
        got = self.ask(cells or self.cells(data), classes=classes)
        self.assertEqual(len(got), len(expected))
        self.assertTrue(any(not math.isnan(row[0]) for row in expected), "no row has an answer")
        for i, (row, wanted) in enumerate(zip(got, expected)):
            if math.isnan(wanted[0]):
                self.assertIsInstance(row, int, f"row {i}: {row}")
                continue
            self.assertIsInstance(row, list, f"row {i}: code {row}, the program: {wanted}")
            largest = max(abs(value) for value in wanted)
            for one, two in zip(row, wanted):
                self.assertLessEqual(abs(float(one) - two), bound * (1 + largest), f"row {i}: {row}, not {wanted}")
        names = None
        if classes:
            self.succeed("predict", model, data, "--out", "p.csv")
            names = [line[0] for line in csv.reader(self.read("p.csv").splitlines()[1:])]
            self.assertEqual([",".join(row[len(expected[0]) :]) for row in got if isinstance(row, list)],
                             [name for name in names if name])
        if page_door.NODE:
            page_door.check_page(self, model, data, expected, names, bound / 50)  # it computes in double
        return got

    def check_int8(self, model, data, classes=False, source=()):
        """The C source and the page in 8-bit integers say what the program says with --int8, to the bit."""
        self.export(model, "m", "--int8", *source)
        self.check_self_test()
        measured = source[1] if source else "made-up"
        expected = self.answers(model, data, "--int8", measured)
        got = self.ask(self.cells(data), classes=classes, flags=("-DINT8",))
        for row, wanted in zip(got, expected):
            if math.isnan(wanted[0]):
                self.assertIsInstance(row, int)
            else:
                self.assertEqual([float(field) for field in row[: len(wanted)]], list(wanted))
        names = None
        if classes:
            self.succeed("predict", model, data, "--int8", measured, "--out", "p.csv")
            names = [line[0] for line in csv.reader(self.read("p.csv").splitlines()[1:])]
            self.assertEqual([row[-1] for row in got], names)
        if page_door.NODE:
            page_door.check_page(self, model, data, expected, names, 0, ("--int8", *source))
        return expected

    def fit(self, rows, *arguments, learnt=LEARNT):
        self.write("x.csv", rows)
        self.train("--data", "x.csv", "--overwrite", "--model", "model", *arguments, *learnt)

    def test_activations(self):
        rows = blob_rows(60, ("no", "yes", "maybe"))
        lists = (
            "dot-sigmoid:5,dot-tanh:5,dot-relu:9,dot-leaky_relu(slope=0.2):5,dot-leaky_relu(slope=0.3):5,dot-gelu:5,dot-silu:4",
            "dot-mish:5,dot-elu(alpha=0.5):5,dot-selu:5,dot-softplus:5,dot-abs:5,dot-linsat:6,dot-identity:4",
            "dot-triangle(radius=3):5,dot-gaussian(radius=2):5,dot-laplace(radius=3):5,dot-laplace(radius=5,power=1.4):5,"
            "dot-multiquadric:5,dot-sine:5,dot-bipolar_sigmoid(gain=2,threshold=0.5):4",
        )
        for layers in lists:
            for dtype, bound in BOUNDS.items():
                with self.subTest(layers=layers, dtype=dtype):
                    self.fit(rows, "--layers", layers + ",dot-softmax:3", "--dtype", dtype, learnt=("--epochs", "2"))
                    self.check("model", "x.csv", bound, classes=True)

    def test_distances_radii_and_residual_blocks(self):
        rows = blob_rows(60, ("no", "yes", "maybe"))
        for layers in ("rbf:6,dot-softmax:3", "rbf-radius:6,dot-softmax:3", "l2-gaussian(radius=1.5):6,dot-softmax:3",
                       "l2-gaussian(radius=1.5)-radius:6,dot-softmax:3", "l2sq-tanh-bias:6,dot-softmax-nobias:3",
                       "l1-sigmoid-bias:4,l2-identity:5,dot-softmax:3",
                       "residual(dot-tanh:7,dot-identity:2),dot-relu:5,residual(l1-triangle(radius=9):5),dot-softmax:3"):
            with self.subTest(layers=layers):
                self.fit(rows, "--layers", layers)
                self.check("model", "x.csv", classes=True)

    def test_methods(self):
        rows = blob_rows(60, ("no", "yes", "maybe"))
        for arguments in (("fsvc",), ("sfsvc",), ("elm",), ("rfm",), ("knn",), ("knn", "--k", "1"), ("fsvc", "--radius", "0.25"), ("rfm", "--neuron", "l2-gaussian"),
                          ("rfm", "--feature-weights", "full")):
            with self.subTest(method=arguments):
                self.write("x.csv", rows)
                self.train("--data", "x.csv", "--overwrite", "--model", "model", "--method", *arguments)
                self.check("model", "x.csv", classes=True)

    def test_weights_that_are_most_often_0_stand_in_lists(self):
        self.write("x.csv", blob_rows(400, ("no", "yes", "maybe")))
        for dtype, bound in (("f32", 1e-3), ("f64", BOUNDS["f64"])):  # steps are steep: 1e5 times an input's rounding
            self.train("--data", "x.csv", "--overwrite", "--model", "model", "--method", "boost", "--dtype", dtype)
            shutil.rmtree(self.path("src"), ignore_errors=True)
            for weights in ("exact", "bf16", "f16", "i8") if dtype == "f32" else ("exact",):
                with self.subTest(weights=weights, dtype=dtype):
                    self.succeed("export", "--weights", weights, "model", "-o", weights)
                    self.check(weights, "x.csv", bound, classes=True)
                    self.assertIn("lists of the weights that are not 0", self.read("src/m.c"))

    def test_trees_that_ask_about_sums(self):
        self.write("x.csv", stripe_rows())
        out = self.succeed("train", "--data", "x.csv", "--model", "model", "--method", "boost", "--tree-pairs", "2").out
        self.assertIn("sums of columns", out)
        self.check("model", "x.csv", 1e-3, classes=True)  # steps are steep

    def test_norms_embeddings_and_members(self):
        rows = blob_rows(60, ("no", "yes", "maybe"))
        for arguments in (("--hidden", "6,5", "--normalization", "batch"), ("--hidden", "6", "--members", "4"),
                          ("--hidden", "6", "--number-embedding", "pbld"), ("--hidden", "6", "--front-scale", "2"),
                          ("--hidden", "0")):
            with self.subTest(arguments=arguments):
                self.fit(rows, *arguments)
                self.check("model", "x.csv", classes=True)

    def test_regression_in_units_of_targets(self):
        rows = linear_rows(80)
        for arguments in (("--target-scale", "standardize"), ("--target-scale", "log"), ("--scale", "robust"),
                          ("--scale", "minmax", "--target-scale", "minmax"), ("--scale", "log"),
                          ("--numbers", "ple", "--dtype", "f64"), ("--target", "x2,y", "--target-scale", "standardize")):
            with self.subTest(arguments=arguments):
                target = () if "--target" in arguments else ("--target", "y")
                self.fit(rows, *target, "--task", "regression", "--hidden", "6", *arguments)
                self.check("model", "x.csv", BOUNDS["f32"])

    def test_quantiles_and_intervals(self):
        rows = linear_rows(120)
        self.fit(rows, "--target", "y", "--hidden", "6", "--loss", "quantile", "--quantiles", "0.1,0.5,0.9", "--target-scale", "standardize")
        got = self.check("model", "x.csv")
        for row in got:
            self.assertEqual([float(y) for y in row], sorted(float(y) for y in row))
        self.fit(rows, "--target", "y", "--hidden", "6", "--intervals", "0.8", "--target-scale", "standardize",
                 learnt=("--epochs", "20", "--seed", "3"))
        self.check("model", "x.csv")
        main_text = ('#include "src/m.h"\n#include <stdio.h>\nint main(void) {\n  const double row[2] = {1.5, 4.0};\n'
                     "  double y[1], low[1], high[1];\n  if (m_predict(row, y) != 0) return 1;\n  m_interval(y, low, high);\n"
                     '  printf("%.17g,%.17g\\n", low[0], high[0]);\n  return 0;\n}\n')
        self.write("interval.c", main_text)
        self.compile(GCC, ("-I", self.folder), "m", "interval", self.path("interval.c"))
        self.write("asked.csv", [["x1", "x2"], [1.5, 4.0]])
        self.succeed("predict", "model", "asked.csv", "--intervals", "--out", "p.csv")
        bounds = [float(field) for field in self.read("p.csv").splitlines()[1].split(",")[1:]]
        for one, two in zip(self.run_built("interval").strip().split(","), bounds):
            self.assertAlmostEqual(float(one), two, delta=1e-4 * abs(two))

    def mixed_rows(self, count=120):
        rng = random.Random(4)
        rows = [["size", "colour", "day", "is_open", "note", "price"]]
        for i in range(count):
            rows.append([f"{rng.uniform(-5, 9):.3f}", rng.choice(("red", "dark red", "blue")), f"2024-{1 + i % 12:02}-{1 + i % 28:02}",
                         ("True", "False")[i % 2], f"word{i % 7} and {rng.choice('abc')}{i}", f"{rng.uniform(1, 50):.2f}"])
        return rows

    def test_categories_dates_gaps_and_words(self):
        rows = self.mixed_rows()
        for i in range(3, 100, 9):
            rows[i][i % 3] = ""
        asked = [rows[0], ["1.5", " dark red\t", "2024-02-29", "1", "word3 AND b4", "0"], ["", "n/a", "", "", "-", "0"],
                 ["-2", "pink", "2023-12-31", "FALSE", "", "0"], ["7", "", "2024-07-01", "true", "words, und mehr: ä", "0"],
                 ["nan", "NULL", "2024-07-02", "false", "None", "0"]]
        for arguments in (("--missing", "mean", "--unseen", "zero", "--dates", "calendar", "--text", "hash", "--text-inputs", "8"),
                          ("--missing", "median", "--unseen", "zero", "--encode", "ordinal", "--dtype", "f64"),
                          ("--missing", "drop", "--unseen", "zero"),
                          ("--missing", "mean", "--missing-indicator", "yes", "--unseen", "zero", "--numbers", "ple")):
            with self.subTest(arguments=arguments):
                self.fit(rows, "--task", "regression", "--hidden", "5", *arguments)
                self.write("asked.csv", "".join(",".join(f'"{c}"' for c in row) + "\n" for row in asked))
                self.check("model", "asked.csv")

    def test_refused_rows_name_their_column(self):
        self.fit(self.mixed_rows(), "--task", "regression", "--hidden", "5", "--drop", "note,day,is_open", "--missing", "error", "--unseen", "error")
        self.export("model")
        self.check_self_test()
        codes = self.ask([["1", "red"], ["nan", "red"], ["1", "pink"], ["1", ""], ["1e300", "red"]])
        self.assertIsInstance(codes[0], list)
        self.assertEqual(codes[1:], [1, 2, 2, 1])

    def test_numbers_that_stand_for_no_value(self):
        rows = linear_rows(80)
        rows[5][0] = rows[9][1] = "-999"
        self.fit(rows, "--target", "y", "--hidden", "4", "--missing", "mean", "--missing-values=-999,unknown")
        got = self.check("model", "x.csv")
        self.write("gap.csv", [rows[0], ["", rows[5][1], "0"]])
        self.assertAlmostEqual(float(got[4][0]), self.answers("model", "gap.csv")[0][0], delta=1e-2)

    def test_derived_columns(self):
        rows = [["day", "a", "b", "c", "y"]]
        rng = random.Random(2)
        for i in range(90):
            rows.append([f"{2020 + i % 5}-{1 + i % 12:02}-{1 + i % 28:02}", f"{rng.uniform(1, 9):.3f}", f"{rng.uniform(-2, 4):.3f}", i % 3,
                         f"{rng.uniform(0, 9):.3f}"])
        self.fit(rows, "--task", "regression", "--hidden", "5", "--dtype", "f64", "--missing", "mean", "--target", "y", "--derive",
                 "w=weekday:day,m=month:day,t=year:day,part=ratio:a:b,gap=difference:part:a,size=log:gap", "--drop", "b,gap,day")
        asked = [row[:] for row in rows[:20]]
        asked[3][2] = "0"
        asked[4][1] = ""
        self.write("asked.csv", asked)
        self.check("model", "asked.csv", BOUNDS["f64"])

    def test_names_that_are_no_identifiers(self):
        names = ["int", "größe", "größe ", "größe-", "価格", "2nd*/", "a \"b\"??/", "x@y", "\\", "while(1);//"]
        rng = random.Random(6)
        rows = [[f'"{n.replace(chr(34), chr(34) * 2)}"' for n in names] + ["kind"]]
        rows += [[f"{rng.uniform(-1, 1):.3f}" for _ in names[:-1]] + [rng.choice(("return", '"*/ ??/"', "ß"))] + [("no", "@", "価")[i % 3]]
                 for i in range(60)]
        for row in rows[1:]:
            row[-2] = '"""*/ ??/"""' if row[-2].startswith('"') else row[-2]
        self.fit(rows, "--hidden", "4")
        self.check("model", "x.csv", classes=True, cells=list(csv.reader(",".join(row[:-1]) for row in rows[1:])))

    def test_the_name_itself(self):
        self.fit(blob_rows(30), "--hidden", "2")
        for name in ("int", "Model_2"):
            self.export("model", name)
            self.check_self_test(name)
        for name, says in (("math", "header of C"), ("2x", "begins its names"), ("a-b", "begins its names"), ("_x", "begins its names"), ("", "")):
            self.refuse("export", "--c", name, "model", "-o", "other", says=says)
        self.refuse("export", "--c", "m", "--onnx", "model", "-o", "other", says="say what to write")
        self.refuse("export", "--onnx", "--data", "x.csv", "model", "-o", "other", says="self-test of C source")

    def test_rows_of_ones_own(self):
        rows = digits_rows(150)
        self.fit(rows, "--hidden", "9")
        self.export("model", "digits", "--data", "x.csv")
        self.check_self_test("digits")
        source = self.read("src/digits.c")
        self.assertIn(", ".join(f"{float(cell)}" for cell in rows[1][:3]), source)
        expected = self.answers("model", "x.csv")
        got = self.ask(self.cells("x.csv", "digits"), "digits")
        for row, wanted in zip(got, expected):
            for one, two in zip(row, wanted):
                self.assertAlmostEqual(float(one), two, delta=1e-4)

    def test_int8_to_the_bit(self):
        rows = blob_rows(90, ("no", "yes", "maybe"))
        for arguments in (("--hidden", "12"), ("--hidden", "9,7", "--activation", "tanh"), ("--hidden", "0"),
                          ("--layers", "l1-triangle(radius=4):12,dot-softmax:3"), ("--layers", "rbf-radius:9,dot-softmax:3"),
                          ("--layers", "l1-sigmoid-bias:6,l1-triangle(radius=3):8,dot-softmax:3"),
                          ("--layers", "l2sq-gaussian(radius=5):8,dot-gelu:6,dot-softmax:3", "--dtype", "f64")):
            with self.subTest(arguments=arguments):
                self.fit(rows, *arguments)
                answers = self.check_int8("model", "x.csv", classes=True, source=("--data", "x.csv"))
                exact = self.answers("model", "x.csv")
                worst = max(abs(a - b) for one, two in zip(answers, exact) for a, b in zip(one, two))
                self.assertLess(worst, 0.1, "8 bits answer something else")
                same = sum(max(range(3), key=one.__getitem__) == max(range(3), key=two.__getitem__) for one, two in zip(answers, exact))
                self.assertGreaterEqual(same, 87)

    def test_int8_of_methods_two_classes_and_numbers(self):
        rows = blob_rows(80)
        self.fit(rows, "--hidden", "6", "--loss", "binary_cross_entropy")
        self.check_int8("model", "x.csv", classes=True)
        for method in ("fsvc", "sfsvc", "elm"):
            with self.subTest(method=method):
                self.train("--data", "x.csv", "--overwrite", "--model", "model", "--method", method)
                self.check_int8("model", "x.csv", classes=True, source=("--data", "x.csv"))
        rows = linear_rows(90)
        for arguments in (("--target-scale", "standardize"), ("--target-scale", "log"), ("--target", "x2,y")):
            with self.subTest(arguments=arguments):
                target = () if "--target" in arguments else ("--target", "y")
                self.fit(rows, *target, "--task", "regression", "--hidden", "16", *arguments)
                answers = self.check_int8("model", "x.csv", source=("--data", "x.csv"))
                exact = self.answers("model", "x.csv")
                spread = max(row[-1] for row in exact) - min(row[-1] for row in exact)
                self.assertLess(max(abs(a[-1] - b[-1]) for a, b in zip(answers, exact)), 0.05 * spread)
        self.fit(self.mixed_rows(), "--task", "regression", "--hidden", "5", "--drop", "note", "--missing", "mean")
        self.check_int8("model", "x.csv")

    def test_int8_on_the_digits(self):
        rows = digits_rows()
        self.fit(rows, "--hidden", "64", learnt=("--epochs", "12", "--seed", "3"))
        measured = self.succeed("evaluate", "model", "x.csv", "--json", "e.json") and self.read_json("e.json")["accuracy"]
        self.succeed("evaluate", "model", "x.csv", "--int8", "x.csv", "--json", "i.json")
        self.assertLess(abs(self.read_json("i.json")["accuracy"] - measured), 0.004)
        self.export("model", "digits", "--int8", "--data", "x.csv")
        self.check_self_test("digits")
        size = re.search(r"Constants \(flash\): ([\d,]+) bytes;.* Arrays on the stack \(RAM\): ([\d,]+) bytes", self.read("src/digits.h"))
        self.assertLess(int(size[1].replace(",", "")), 8000)
        self.assertLess(int(size[2].replace(",", "")), 1000)

    def test_quantize_aware_keeps_its_scales(self):
        self.write("few.csv", digits_rows(40))
        for layers, most in (("dot-relu:16", 0.004), ("l1-triangle(radius=20):32", 0.01)):
            with self.subTest(layers=layers):
                self.fit(digits_rows(), "--layers", layers + ",dot-softmax:10", "--quantize-aware", "4", "--json", "t.json",
                         learnt=("--epochs", "8", "--seed", "3"))
                tuned = self.read_json("t.json")["quantize_aware"]
                self.assertEqual((tuned["epochs"], tuned["rows"], tuned["stopped"]), (4, "test", False))
                self.assertGreater(tuned["best_epoch"], 0)
                self.assertTrue(any("in 8-bit integers the test rows have accuracy" in remark for remark in self.read_json("t.json")["remarks"]))
                self.succeed("evaluate", "model", "x.csv", "--json", "e.json")
                self.succeed("evaluate", "model", "x.csv", "--int8", "few.csv", "--json", "i.json")
                self.assertGreater(self.read_json("i.json")["accuracy"], self.read_json("e.json")["accuracy"] - most)
                # Rows that are given do not measure anew: the scales are those of training.
                self.write("x.csv", digits_rows(60))
                answers = self.check_int8("model", "x.csv", classes=True, source=("--data", "few.csv"))
                self.assertEqual(answers, self.check_int8("model", "x.csv", classes=True))

    def test_quantize_aware_refuses_by_name(self):
        self.write("x.csv", blob_rows(60))
        train = ("train", "--recipe", "plain", "--data", "x.csv", "--model", "other", "--quantize-aware")
        for arguments, says in (
            (("2", "--hidden", "6", "--members", "4"), "networks of members"),
            (("2", "--layers", "dot-relu:4,residual(dot-relu:4),dot-softmax:2"), "residual blocks"),
            (("2", "--method", "knn"), "no effect with --method knn"),
            (("2", "--folds", "3", "--bag"), "cannot do ensembles"),
            (("-1",), "must be 0 or a positive number"),
            (("many",), "many"),
            (("nan",), "nan"),
            (("2", "--learning-rate", "1e38", "--optimizer", "sgd"), ""),
        ):
            with self.subTest(arguments=arguments):
                self.refuse(*train, *arguments, says=says)
                self.assertFalse(os.path.exists(self.path("other")))

    def test_triangles_of_distances_do_not_multiply(self):
        self.fit(blob_rows(60), "--layers", "l1-triangle(radius=4):9,dot-softmax:2")
        self.export("model", "m", "--int8", "--data", "x.csv")
        layer = re.search(r"(?s)static void m_layer1\(.*?\n}", self.read("src/m.c"))[0]
        self.assertNotIn("*", re.sub(r"\*(x|a|const) ?|\*const", "", layer))
        self.assertNotIn("scaled", layer)

    def test_int8_refuses_by_name(self):
        rows = blob_rows(60)
        for arguments, says in (
            (("--hidden", "6", "--members", "4"), "networks of members"),
            (("--layers", "dot-relu:4,residual(dot-relu:4),dot-softmax:2"), "residual blocks"),
            (("--layers", "l2-gaussian(radius=2):4,dot-softmax:2"), "l2 distances"),
            (("--hidden", "4", "--loss", "mse", "--layers", "dot-relu:4,dot-tanh:2"), "outputs of the activation tanh"),
        ):
            with self.subTest(arguments=arguments):
                arguments = arguments[2:] if "--layers" in arguments and arguments[0] == "--hidden" else arguments
                self.fit(rows, *arguments)
                for command in (("export", "--c", "m", "--int8", "model", "-o", "other"), ("predict", "model", "x.csv", "--int8", "made-up")):
                    self.refuse(*command, says=("8-bit integers cannot do", says))
        self.train("--data", "x.csv", "--overwrite", "--model", "model", "--method", "knn")
        self.refuse("export", "--c", "m", "--int8", "model", "-o", "other", says="nearest neighbors")
        for name in ("bag", "ensemble"):
            self.refuse("export", "--c", "m", "--int8", os.path.join(GOLDEN, name + ".safetensors"), "-o", "other", says="ensemble")
        self.refuse("export", "--onnx", "--int8", "model", "-o", "other", says="--int8 is for C source")

    @unittest.skipUnless(page_door.NODE, page_door.NO_NODE)
    def test_pages_were_asked(self):
        """Says where they were not."""

    def test_another_language_takes_the_header(self):
        compiler = shutil.which("g++")
        if not compiler:
            self.skipTest("there is no g++")
        self.fit(blob_rows(30), "--hidden", "2")
        self.export("model")
        self.write("main.cc", '#include "src/m.h"\nint main() { double y[2]; const double x[2] = {1, 2}; return m_predict(x, y); }\n')
        self.compile(GCC, ("-c",), "m", "m.o")
        done = subprocess.run([compiler, "main.cc", "m.o", "-o", "cxx", "-lm"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.run_built("cxx")


def _add(name):
    def test(self):
        data = os.path.join(GOLDEN, name + ".csv")
        model = os.path.join(GOLDEN, name + ".safetensors")
        if os.path.exists(data):
            shutil.copy(data, self.path("asked.csv"))
        else:
            with open(os.path.join(GOLDEN, name + ".idx3-ubyte"), "rb") as file:
                pixels = file.read()[16:]
            self.write("asked.csv", [[f"p{i}" for i in range(16)]] + [list(pixels[i : i + 16]) for i in range(0, len(pixels), 16)])
        if name != "derive":
            self.check(model, "asked.csv")
            return
        self.export(model)  # its columns are of other rows: the self-test alone
        self.check_self_test()

    setattr(CSourceTest, "test_golden_" + name.replace("-", "_"), test)


for _file in sorted(os.listdir(GOLDEN)):
    if _file.endswith(".safetensors"):
        _add(_file[: -len(".safetensors")])

if __name__ == "__main__":
    main()
