"""The library that only answers says what the whole library says: every kind of model, every bit, every word."""

import csv
import os
import random
import subprocess

from lamina_cli import SOURCE, CliTest, blob_rows, linear_rows, main

WHOLE, PREDICT = os.environ.get("LAMINA_BITS", ""), os.environ.get("LAMINA_BITS_PREDICT", "")
GOLDEN = os.path.join(SOURCE, "tests", "golden")
METHODS = (("fsvc",), ("sfsvc",), ("elm",), ("rfm",), ("boost",), ("rfm", "--trees", "yes"), ("knn",), ("knn", "--k", "1"), ("knn", "--distance", "l1"))


class BitsTest(CliTest):
    def check(self, model, cells, *levels):
        for level in levels or ("", "avx2", "scalar"):
            environment = {**os.environ, "LAMINA_ISA": level}
            said = [
                subprocess.run([door, model, *cells], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
                for door in (WHOLE, PREDICT)
            ]
            self.assertEqual(said[0].stderr + said[1].stderr, "")
            self.assertIn("0x", said[0].stdout, f"{model} has no answer: {said[0].stdout}")
            self.assertEqual(said[1].stdout, said[0].stdout, f"{model}, LAMINA_ISA={level}")
        return said[0].stdout

    def cells(self, model, path, rows=60):
        names = subprocess.run([WHOLE, model], cwd=self.folder, capture_output=True, text=True, check=True).stdout.splitlines()
        with open(self.path(path), newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        return [row.get(name, "1") for row in table[:rows] for name in names]  # what looks at other rows is a number

    def test_golden_models(self):
        """One of each kind that there ever was: encodings, ensembles, members, embeddings, few bits, intervals."""
        names = sorted(name[: -len(".csv")] for name in os.listdir(GOLDEN) if os.path.exists(os.path.join(GOLDEN, name[:-4] + ".safetensors"))
                       and name.endswith(".csv"))
        self.assertGreater(len(names), 15)
        for name in names:
            with self.subTest(model=name):
                model = os.path.join(GOLDEN, name + ".safetensors")
                self.check(model, self.cells(model, os.path.join(GOLDEN, name + ".csv")), "", "scalar")

    def test_methods(self):
        self.write("x.csv", blob_rows(200, ("no", "yes", "maybe")))
        for arguments in METHODS:
            with self.subTest(method=arguments):
                self.train("--data", "x.csv", "--overwrite", "--model", "model", "--method", *arguments)
                self.check("model", self.cells("model", "x.csv"))

    def test_nearest_neighbours_are_those_of_the_program(self):
        rng = random.Random(3)
        width = 300  # a product of so many inputs is summed in parts
        rows = [[f"x{j}" for j in range(width)] + ["y"]]
        rows += [[f"{rng.gauss(i % 3, 2):.3f}" for _ in range(width)] + [f"{rng.uniform(0, 9):.4f}"] for i in range(150)]
        self.write("x.csv", rows)
        self.write("asked.csv", [rows[0][:-1], *[row[:-1] for row in rows[1:40]]])
        for arguments in ((), ("--distance", "l1"), ("--distance", "dot"), ("--dtype", "f64")):
            with self.subTest(arguments=arguments):
                self.train("--data", "x.csv", "--overwrite", "--model", "model", "--method", "knn", "--k", "7", *arguments)
                said = self.check("model", self.cells("model", "asked.csv"))
                program = [float(line) for line in self.succeed("predict", "model", "asked.csv").out.splitlines()[1:]]
                got = [float.fromhex(line.split()[0]) for line in said.splitlines() if line.startswith(("0x", "-0x"))][: len(program)]
                self.assertEqual([f"{value:.6g}" for value in got], [f"{value:.6g}" for value in program])

    def test_regression_with_intervals_and_quantiles(self):
        self.write("x.csv", linear_rows(120))
        learnt = ("--epochs", "5", "--seed", "3", "--task", "regression", "--target", "y")
        for arguments in (("--intervals", "0.8"), ("--loss", "quantile", "--quantiles", "0.1,0.9"), ("--dtype", "f64"),
                          ("--target-scale", "log"), ("--numbers", "ple")):
            with self.subTest(arguments=arguments):
                self.train("--data", "x.csv", "--overwrite", "--model", "model", "--hidden", "70,5", *arguments, *learnt)
                self.check("model", self.cells("model", "x.csv"))

    def test_activations(self):
        self.write("x.csv", blob_rows(60, ("no", "yes", "maybe")))
        names = ("sigmoid tanh relu leaky_relu(slope=0.2) gelu silu mish elu(alpha=0.5) selu softplus abs linsat identity"
                 " triangle(radius=3) gaussian(radius=2) laplace(radius=3) multiquadric sine bipolar_sigmoid").split()
        layers = [f"dot-{name}:{5 + 8 * (i % 3)}" for i, name in enumerate(names)] + ["l2-identity:5", "residual(dot-tanh:7,dot-identity:5)"]
        self.train("--data", "x.csv", "--model", "model", "--layers", ",".join(layers) + ",dot-softmax:3", "--epochs", "1")
        self.check("model", self.cells("model", "x.csv"))

    def test_refusals_are_in_the_same_words(self):
        self.write("x.csv", blob_rows(60))
        self.train("--data", "x.csv", "--model", "model", "--missing", "error", "--hidden", "3", "--epochs", "2")
        for cells in (["", "1"], ["1e300", "1"], ["nan", "2"], ["abc", "3"], ["1", "2", "5"]):
            said = [subprocess.run([door, self.path("model"), *cells], capture_output=True, text=True, check=False).stdout for door in (WHOLE, PREDICT)]
            self.assertEqual(said[1], said[0])
        damaged = self.read("model", "rb")[:-3] + b"xyz"
        for name, content in (("damaged", damaged), ("empty", b""), ("short", damaged[:100])):
            self.write(name, content)
            said = [subprocess.run([door, self.path(name), "1", "2"], capture_output=True, text=True, check=False) for door in (WHOLE, PREDICT)]
            self.assertEqual(said[1].stdout, said[0].stdout)
            self.assertEqual([done.returncode for done in said], [1, 1])


if __name__ == "__main__":
    main()
