"""lamina export: ONNX files against onnxruntime, weights as arrays, bad input.

LAMINA_ONNX_PYTHON names a Python that has onnx, onnxruntime and numpy: python3 -m venv DIR, DIR/bin/pip install onnx
onnxruntime.
"""

import csv
import json
import os
import random
import resource
import struct
import unittest

from lamina_cli import DATA, DIGITS, CliTest, blob_rows, digits_rows, linear_rows, main, read_npy, read_safetensors, stripe_rows
from onnx_door import ask_onnx, needs_onnx

QUICK = ("--epochs", "2", "--split", "1,0,0")
LEARNT = ("--epochs", "30", "--batch", "8", "--learning-rate", "0.02", "--split", "1,0,0")


def numbers(rows, columns):
    """The named columns of rows with a header, as floats (None where empty)."""
    indices = [rows[0].index(name) for name in columns]
    return [[float(row[i]) if row[i] != "" else None for i in indices] for row in rows[1:]]


class OnnxTest(CliTest):
    def run_onnx(self, model, inputs):
        self.succeed("export", "--onnx", model, "-o", "net.onnx")
        return ask_onnx(self.path("net.onnx"), inputs)

    def predictions(self, model, data, *arguments):
        """Rows of what lamina predicts, as dictionaries."""
        self.succeed("predict", "--model", model, "--data", data, "--out", "p.csv", *arguments)
        with open(self.path("p.csv"), newline="") as file:
            return list(csv.DictReader(file))

    def outputs(self, model, data):
        """The network's outputs for every row, with all digits."""
        self.succeed("predict", "--model", model, "--data", data, "--out", "p.npy", "--probabilities")
        _, (_, columns), values = read_npy(self.read("p.npy", "rb"))
        return [values[i : i + columns] for i in range(0, len(values), columns)]

    def assertRowsNear(self, got, expected, tolerance):
        self.assertEqual([len(row) for row in got], [len(row) for row in expected])
        for row, wanted in zip(got, expected):
            for a, b in zip(row, wanted):
                self.assertAlmostEqual(a, b, delta=tolerance * max(1, abs(b)))

    def assertSameClasses(self, model, data, inputs, tolerance):
        """ONNX outputs and labels equal lamina's; returns what the runner said."""
        result = self.run_onnx(model, inputs)
        self.assertNotIn("error", result)
        expected = self.predictions(model, data)
        self.assertEqual(result["outputs"]["label"], [next(iter(row.values())) for row in expected])
        self.assertGreater(len(set(result["outputs"]["label"])), 1, "the test tells nothing: one class only")
        self.assertRowsNear(result["outputs"]["outputs"], self.outputs(model, data), tolerance)
        return result

    @needs_onnx
    def test_every_activation_and_type(self):
        rows = blob_rows(90, ("no", "yes", "maybe"))
        self.write("x.csv", rows)
        inputs = {"input": numbers(rows, ["a", "b"])}
        for activation in ("identity", "sigmoid", "bipolar_sigmoid(gain=2,threshold=0.5)", "tanh", "relu",
                           "leaky_relu(slope=0.2)", "gelu", "triangle(radius=3)", "gaussian(radius=2)", "laplace(radius=3)", "laplace(radius=5,power=1.4)", "silu",
                           "mish", "elu(alpha=0.5)", "selu", "softplus", "abs", "linsat", "multiquadric", "exp", "sine"):
            for dtype, tolerance in (("f32", 2e-6), ("f64", 1e-12)):
                with self.subTest(activation=activation, dtype=dtype):
                    self.train("--data", "x.csv", "--hidden", "7,5", "--activation", activation, "--dtype", dtype,
                               "--model", "m", *LEARNT)
                    result = self.assertSameClasses("m", "x.csv", inputs, tolerance)
                    self.assertEqual(result["types"]["input"], "tensor(float)" if dtype == "f32" else "tensor(double)")
                    self.assertEqual(json.loads(result["metadata"]["input_columns"]), ["a", "b"])

    @needs_onnx
    def test_rare_categories_and_missing_text(self):
        rows = [["t", "a", "y"]]
        rows += [["" if i % 9 == 4 else f"rare{i}" if i % 7 == 3 else "uvw"[i % 3], i % 5, ("no", "yes")[i % 3 == 0]]
                 for i in range(120)]
        self.write("x.csv", rows)
        self.train("--data", "x.csv", "--min-count", "2", "--missing-indicator", "yes", "--hidden", "5", "--dtype", "f64", "--model",
                   "m", *LEARNT)
        asked = rows[:1] + [["u", 1, "no"], ["rare3", 2, "no"], ["never seen", 3, "no"], ["", 4, "no"], ["w", 0, "yes"]]
        self.write("asked.csv", asked)
        inputs = {"t": [[row[0]] for row in asked[1:]], "numbers": [[row[1]] for row in asked[1:]]}
        result = self.run_onnx("m", inputs)
        self.assertRowsNear(result["outputs"]["outputs"], self.outputs("m", "asked.csv"), 1e-12)

    @needs_onnx
    def test_an_infinite_number_is_a_missing_one(self):
        """As in the program, which reads no infinite number from a CSV file."""
        rows = blob_rows(120)
        asked = rows[:1] + [["inf", 0.5, "no"], ["", 0.5, "no"], [0.5, "-inf", "no"], [0.5, "", "no"], [0.5, 0.25, "no"]]
        self.write("asked.csv", asked)
        infinite = {"inf": float("inf"), "-inf": -float("inf"), "": None}
        inputs = {"input": [[infinite.get(value, value) for value in row[:2]] for row in asked[1:]]}
        self.write("x.csv", rows)
        for policy in (["--missing", "mean"], ["--missing", "mean", "--missing-indicator", "yes"], ["--missing", "drop"], ["--scale", "none"]):
            for dtype in ("f32", "f64"):
                with self.subTest(policy=policy, dtype=dtype):
                    if "--missing-indicator" in policy:
                        self.write("x.csv", rows + [["", 1.5, "no"], [2.5, "", "yes"]] * 3)
                    self.train("--data", "x.csv", "--hidden", "5", "--dtype", dtype, *policy, "--model", "m", "--overwrite", *LEARNT)
                    outputs = self.run_onnx("m", inputs)["outputs"]["outputs"]
                    for infinite_row, missing_row in ((0, 1), (2, 3)):
                        self.assertEqual(repr(outputs[infinite_row]), repr(outputs[missing_row]))
                    self.assertNotIn("nan", repr(outputs[4]))

    def test_hashed_text_is_refused(self):
        self.write("x.csv", [["note", "y"]] + [[f"word{i} and more", i + 0.5] for i in range(60)])
        self.train("--data", "x.csv", "--text", "hash", "--text-inputs", "16", "--hidden", "4", "--model", "m", *LEARNT)
        self.assertIn("note", self.refuse("export", "--onnx", "m", "-o", "net.onnx").err)

    @needs_onnx
    def test_distances_and_blocks(self):
        rows = blob_rows(90, ("no", "yes", "maybe"))
        self.write("x.csv", rows)
        inputs = {"input": numbers(rows, ["a", "b"])}
        for layers in ("rbf:6,dot-softmax:3", "rbf-radius:6,dot-softmax:3", "l2-gaussian(radius=1.5):6,dot-softmax:3",
                       "l2-gaussian(radius=1.5)-radius:6,dot-softmax:3", "l2sq-tanh-bias:6,dot-softmax-nobias:3",
                       "l1-sigmoid-bias:4,l2-identity:5,dot-softmax:3",
                       "residual(dot-tanh:7,dot-identity:2),dot-relu:5,residual(l1-triangle(radius=9):5),dot-softmax:3"):
            for dtype, tolerance in (("f32", 5e-6), ("f64", 1e-12)):
                with self.subTest(layers=layers, dtype=dtype):
                    self.train("--data", "x.csv", "--layers", layers, "--dtype", dtype, "--model", "m", *LEARNT)
                    self.assertSameClasses("m", "x.csv", inputs, tolerance)

    @needs_onnx
    def test_a_large_distance_layer_in_pieces(self):
        rng = random.Random(2)
        rows = [[f"x{i}" for i in range(200)] + ["y"]]
        rows += [[f"{rng.uniform(-1, 1):.4f}" for _ in range(200)] + ["ab"[i % 2]] for i in range(40)]
        self.write("x.csv", rows)
        self.train("--data", "x.csv", "--layers", "rbf:1500,dot-softmax:2", "--model", "m", *LEARNT)
        self.assertSameClasses("m", "x.csv", {"input": numbers(rows, rows[0][:-1])}, 1e-5)

    @needs_onnx
    def test_digits_and_an_outputs_without_softmax(self):
        rows = digits_rows(200)
        self.write("d.csv", rows)
        for arguments in (("--hidden", "0"), ("--hidden", "33,17", "--activation", "tanh", "--loss", "mse")):
            with self.subTest(arguments=arguments):
                self.train("--data", "d.csv", *arguments, "--model", "m", *LEARNT)
                self.assertSameClasses("m", "d.csv", {"input": numbers(rows, rows[0][:-1])}, 5e-6)

    def trees_of_digits(self, rows, dtype):
        self.write("d.csv", rows)
        self.train("--data", "d.csv", "--method", "boost", "--tree-rounds", "60", "--dtype", dtype, "--model", "m", "--overwrite")

    def test_weights_that_are_most_often_0_are_left_out(self):
        for dtype, size in (("f32", 4), ("f64", 8)):
            self.trees_of_digits(digits_rows(400), dtype)
            self.succeed("export", "--onnx", "m", "-o", "net.onnx")
            file = self.read("net.onnx", "rb")
            self.assertIn(b"ScatterElements", file)
            parameters = json.loads(self.succeed("model", "show", "m", "--json", "-").out)["parameters"]
            self.assertLess(len(file), size * parameters / 3)

    @needs_onnx
    def test_scattered_weights_answer_as_the_program_does(self):
        rows = digits_rows(400)
        for dtype in ("f32", "f64"):
            with self.subTest(dtype=dtype):
                self.trees_of_digits(rows, dtype)
                self.assertSameClasses("m", "d.csv", {"input": numbers(rows, rows[0][:-1])}, 5e-6)

    @needs_onnx
    def test_trees_that_ask_about_sums(self):
        rows = stripe_rows()
        self.write("x.csv", rows)
        for dtype in ("f32", "f64"):
            with self.subTest(dtype=dtype):
                self.train("--data", "x.csv", "--method", "boost", "--tree-pairs", "2", "--dtype", dtype, "--model", "m", "--overwrite")
                self.assertEqual(len(self.layers_of("m")), 4)
                self.assertSameClasses("m", "x.csv", {"input": numbers(rows, rows[0][:-1])}, 1e-3)

    @needs_onnx
    def test_one_output_for_two_classes(self):
        rows = blob_rows(60)
        self.write("x.csv", rows)
        self.train("--data", "x.csv", "--hidden", "4", "--loss", "binary_cross_entropy", "--model", "m", *LEARNT)
        result = self.assertSameClasses("m", "x.csv", {"input": numbers(rows, ["a", "b"])}, 2e-6)
        self.assertEqual(len(result["outputs"]["outputs"][0]), 1)

    @needs_onnx
    def test_regression_in_units_of_the_target(self):
        rows = linear_rows(100)
        self.write("x.csv", rows)
        for scale in ("none", "standardize", "minmax"):
            with self.subTest(scale=scale):
                self.train("--data", "x.csv", "--target", "y", "--hidden", "6", "--target-scale", scale, "--model", "m",
                           "--scale", "minmax", *QUICK)
                result = self.run_onnx("m", {"input": numbers(rows, ["x1", "x2"])})
                self.assertRowsNear(result["outputs"]["prediction"], self.outputs("m", "x.csv"), 2e-6)

    def mixed(self, unseen, missing):
        """Numbers and texts in turn; the rows to predict have missing and new values where the model takes them."""
        rng = random.Random(4)
        rows = [["label", "n1", "city", "n2", "n3", "kind", "y"]]
        for i in range(80):
            rows.append([rng.choice("pqr"), f"{rng.gauss(1e6, 3):.2f}", ["Z\u00fcrich", "L'Aquila", "a,b"][i % 3],
                         f"{rng.uniform(0, 1):.4f}", f"{rng.gauss(0, 5):.4f}", f"k{i % 4}", f"{'up' if rng.random() < 0.5 else 'down'}"])
        if missing:
            for i in range(3, 80, 9):
                rows[i][3], rows[i + 1][2] = "", "NA"
        with open(self.path("train.csv"), "w", newline="") as file:
            csv.writer(file).writerows(rows)
        asked = [list(row) for row in rows[:30]]
        if unseen:
            asked[5][2], asked[6][5] = "Atlantis", "k99"
        with open(self.path("asked.csv"), "w", newline="") as file:
            csv.writer(file).writerows(asked)
        inputs = {name: [[row[rows[0].index(name)]] for row in asked[1:]] for name in ("label", "city", "kind")}
        inputs["numbers"] = numbers(asked, ["n1", "n2", "n3"])
        return inputs

    @needs_onnx
    def test_text_columns(self):
        for encode in ("onehot", "ordinal"):
            for unseen, missing in ((False, False), (True, False), (True, True), (False, True)):
                with self.subTest(encode=encode, unseen=unseen, missing=missing):
                    inputs = self.mixed(unseen, missing)
                    self.train("--data", "train.csv", "--target", "y", "--hidden", "9", "--encode", encode, "--model", "m",
                               "--dtype", "f64", "--unseen", "zero" if unseen else "error",
                               "--missing", "mean" if missing else "error", *QUICK)
                    self.succeed("export", "--onnx", "m", "-o", "net.onnx")
                    done = self.run_onnx("m", inputs)
                    self.assertEqual(done["types"]["label_"], "tensor(string)", "the name of a column is taken")
                    expected = [row["y"] for row in self.predictions("m", "asked.csv")]
                    self.assertEqual(done["outputs"]["label_"], expected)
                    self.assertRowsNear(done["outputs"]["outputs"], self.outputs("m", "asked.csv"), 1e-12)

    @needs_onnx
    def test_unseen_text_is_an_error_where_the_model_says_so(self):
        inputs = self.mixed(False, False)
        self.train("--data", "train.csv", "--target", "y", "--hidden", "3", "--unseen", "error", "--model", "m", *QUICK)
        inputs["city"][4] = ["Atlantis"]
        result = self.run_onnx("m", inputs)
        self.assertNotIn("outputs", result)
        self.assertIn("Unknown Category", result["error"])

    @needs_onnx
    @unittest.skipUnless(DATA, "MNIST: LAMINA_DATA is not set")
    def test_images(self):
        import gzip
        folder = os.path.join(DATA, "mnist")
        self.train("--data", folder, "--samples", "3000", "--hidden", "64", "--model", "m", "--epochs", "2")
        with gzip.open(os.path.join(folder, "t10k-images-idx3-ubyte.gz")) as file:
            pixels = file.read()[16:]
        rows = [list(map(float, pixels[784 * i : 784 * i + 784])) for i in range(100)]
        result = self.run_onnx("m", {"input": rows})
        self.assertNotIn("Cast", result["operators"], "images need no double precision")
        self.succeed("predict", "--model", "m", "--data", folder, "--samples", "100", "--out", "p.csv")
        expected = [row["label"] for row in csv.DictReader(self.read("p.csv").splitlines())]
        self.assertEqual(result["outputs"]["label"], expected)


class ExportTest(CliTest):
    def test_a_file_that_names_its_parts(self):
        self.write("x.csv", blob_rows(30))
        self.train("--data", "x.csv", "--hidden", "4", "--model", "m", *QUICK)
        result = json.loads(self.succeed("export", "--onnx", "m", "-o", "net.onnx", "--json", "-").out)
        self.assertEqual(result["files"], ["net.onnx"])
        content = self.read("net.onnx", "rb")
        for part in (b"Gemm", b"Softmax", b"ai.onnx.ml", b"layer.1.weight", b'["a","b"]', b"outputs", b"label"):
            self.assertIn(part, content)
        self.assertNoPartFiles()

    def test_weights_as_arrays(self):
        self.write("x.csv", blob_rows(30))
        self.train("--data", "x.csv", "--layers", "rbf-radius:3,dot-softmax:2", "--model", "m", *QUICK)
        self.assertIn("layer-2-bias.npy", self.succeed("export", "--npy", "m", "-o", "w").out)
        self.succeed("export", "--csv", "m", "-o", "w")
        _, tensors = read_safetensors(self.read("m", "rb"))
        for name, shape in (("layer.1.weight", (3, 2)), ("layer.1.radius", (1, 3)), ("layer.2.weight", (2, 3)),
                            ("layer.2.bias", (1, 2))):
            values = struct.unpack(f"<{shape[0] * shape[1]}f", tensors[name])
            file = "w/" + name.replace(".", "-")
            self.assertEqual(read_npy(self.read(file + ".npy", "rb")), ("<f4", shape, values))
            fields = [float(field) for line in self.read(file + ".csv").split() for field in line.split(",")]
            self.assertEqual(struct.pack(f"<{len(fields)}f", *fields), tensors[name])
        self.assertEqual(len([name for name in os.listdir(self.path("w")) if name != ".lamina-files"]), 8)

    def test_of_several_files_all_are_written_or_none(self):
        self.write("x.csv", blob_rows(30))
        self.train("--data", "x.csv", "--hidden", "100,400", "--model", "m", *QUICK)
        os.mkdir(self.path("kept"))
        self.write("kept/mine.txt", "a person's")
        before = self.snapshot()
        for flag in ("--csv", "--npy"):  # the first layer fits, the weights of the second do not
            for folder in ("new/deep", "kept"):
                self.refuse("export", flag, "m", "-o", folder, code=1, says=(folder, "write elsewhere"),
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3500, 3500)))
                self.assertEqual(self.snapshot(), before)
                self.assertEqual(sorted(os.listdir(self.folder)), ["kept", "m", "x.csv"])

    def test_refusals(self):
        self.write("x.csv", blob_rows(30))
        self.train("--data", "x.csv", "--hidden", "4", "--model", "m", *QUICK)
        self.refuse("export", "m", "-o", "y", code=2, says=("--onnx", "--csv"))
        self.refuse("export", "--onnx", "--csv", "m", "-o", "y", code=2, says="--onnx")
        self.refuse("export", "--onnx", "m", code=2, says="--out")
        self.refuse("export", "--onnx", "absent", "-o", "y", says="absent")
        self.refuse("export", "--onnx", "x.csv", "-o", "y", says="x.csv")
        self.refuse("export", "--onnx", "m", "-o", "m", code=2, says="m")
        self.refuse("export", "--onnx", "m", "-o", "none/y", says="none")
        self.refuse("export", "--npy", "m", "-o", "x.csv", says="x.csv")
        self.train("--data", "x.csv", "--method", "knn", "--model", "rows")
        self.refuse("export", "--onnx", "rows", "-o", "y", code=1, says="a model of nearest neighbors keeps")


if __name__ == "__main__":
    main()
