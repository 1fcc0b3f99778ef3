"""Model files of earlier programs: each is read and answers as it did, on every backend and through every reader."""

import csv
import json
import os
import subprocess
import unittest

from lamina_cli import SOURCE, CliTest, main
from onnx_door import ask_onnx, needs_onnx

FOLDER = os.path.join(SOURCE, "tests", "golden")
NAMES = sorted(name[: -len(".safetensors")] for name in os.listdir(FOLDER) if name.endswith(".safetensors"))
EXAMPLE = os.environ.get("LAMINA_EXAMPLE", "")
TOLERANCE = 2e-6  # sums in f32 in another order; answers near 0 are probabilities


def golden(name, ending):
    return os.path.join(FOLDER, name + ending)


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


class GoldenTest(CliTest):
    def asked(self, name):
        return golden(name, ".csv" if os.path.exists(golden(name, ".csv")) else ".idx3-ubyte")

    def assertAnswers(self, name, rows):
        """Fields of `rows` against those of the file, numbers within the tolerance."""
        expected = rows_of(golden(name, ".answers.csv"))
        self.assertEqual([len(row) for row in rows], [len(row) for row in expected])
        for row, wanted in zip(rows, expected):
            for field, want in zip(row, wanted):
                try:
                    number = float(want)
                except ValueError:
                    self.assertEqual(field, want)
                    continue
                self.assertAlmostEqual(float(field), number, delta=TOLERANCE * max(1, abs(number)))

    def plain_rows(self, name):
        """The input columns of the model as numbers, or None where rows of numbers cannot ask it."""
        if not os.path.exists(golden(name, ".csv")):
            return None
        self.succeed("export", "--onnx", golden(name, ".safetensors"), "-o", name + ".onnx")
        rows = rows_of(golden(name, ".csv"))
        with open(golden(name, ".safetensors"), "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            data = json.loads(json.loads(file.read(length))["__metadata__"]["lamina"])["preprocessor"]
        columns = [column["name"] for column in data["inputs"]]
        if "derive" in data or any(column["kind"] == "text" for column in data["inputs"]):
            return None
        return [[float(row[rows[0].index(column)]) for column in columns] for row in rows[1:]]

    def test_there_are_models(self):
        self.assertGreaterEqual(len(NAMES), 12)

    def test_the_program_answers_as_it_did(self):
        for name in NAMES:
            for backend in ("serial", "auto"):
                with self.subTest(name=name, backend=backend):
                    self.succeed("predict", "--model", golden(name, ".safetensors"), "--data", self.asked(name), "--backend",
                                 backend, "--probabilities", "--out", "answers.csv")
                    self.assertAnswers(name, rows_of(self.path("answers.csv")))

    @unittest.skipUnless(EXAMPLE, "the examples were not built (LAMINA_EXAMPLE)")
    def test_the_c_interface_answers_the_same(self):
        asked = 0
        for name in NAMES:
            rows = self.plain_rows(name)
            if rows is None:
                continue
            with self.subTest(name=name):
                numbers = [repr(number) for row in rows for number in row]
                done = subprocess.run([EXAMPLE, golden(name, ".safetensors"), *numbers], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                header = rows_of(golden(name, ".answers.csv"))[0]
                lines = [line.split(",") for line in done.stdout.splitlines()]
                if len(lines[0]) < len(header):  # one output for two classes
                    lines = [[line[0], str(1 - float(line[1])), line[1]] for line in lines]
                self.assertAnswers(name, [header] + lines)
                asked += 1
        self.assertGreaterEqual(asked, 7)

    @needs_onnx
    def test_onnx_files_answer_the_same(self):
        asked = 0
        for name in NAMES:
            rows = self.plain_rows(name)
            if rows is None:
                continue
            with self.subTest(name=name):
                outputs = ask_onnx(self.path(name + ".onnx"), {"input": rows})["outputs"]
                header = rows_of(golden(name, ".answers.csv"))[0]
                if "prediction" in outputs:
                    answers = outputs["prediction"]
                else:
                    answers = [[label] + ([1 - row[0], row[0]] if len(row) == 1 else row)
                               for label, row in zip(outputs["label"], outputs["outputs"])]
                self.assertAnswers(name, [header] + answers)
                asked += 1
        self.assertGreaterEqual(asked, 7)


if __name__ == "__main__":
    main()
