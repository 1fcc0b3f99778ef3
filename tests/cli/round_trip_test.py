"""Train, evaluate and predict on the bundled digits with every backend."""

import csv
import io
import json
import struct
import unittest

from lamina_cli import DIGITS, CliTest, digits_rows, main, read_npy, read_safetensors

QUICK = ["--data", DIGITS, "--hidden", "32", "--epochs", "8", "--learning-rate", "0.005"]
BACKENDS = ["serial", "threads", "blas", "cpu"]
TRAIN_KEYS = """command lamina_version network parameters dtype loss backend threads hardware train_rows validation_rows
test_rows inputs outputs load_seconds train_seconds peak_memory_bytes train_loss history settings samples_per_second
seconds_per_60000_samples test accuracy""".split()
EVALUATE_KEYS = """command lamina_version accuracy macro_f1 classes confusion samples loss seconds model data backend threads
unseen_values samples_per_second seconds_per_60000_samples""".split()
PREDICT_KEYS = """command lamina_version model data out samples seconds unseen_values backend threads samples_per_second
seconds_per_60000_samples""".split()


class BackendsTest(CliTest):
    def round_trip(self, backend):
        found = {entry["name"]: entry for entry in json.loads(self.succeed("devices", "--json", "-").out)["backends"]}
        if not found[backend]["available"]:
            self.skipTest(f"backend {backend}: {found[backend]['reason']}")
        chosen = ["--backend", backend, "--threads", "2"]
        result = self.train_json(*QUICK, *chosen, "--model", "a.safetensors", "--history", "a.csv", "--history-json",
                                 "a.json")
        self.assertGreater(result["accuracy"], 0.9)
        self.assertEqual(result["backend"], backend)
        self.assertEqual([key for key in TRAIN_KEYS if key not in result], [])
        self.assertEqual(result["train_rows"] + result["validation_rows"] + result["test_rows"], 1797)
        self.assertAlmostEqual(result["seconds_per_60000_samples"] * result["samples_per_second"], 60000, delta=1)

        self.train(*QUICK, *chosen, "--model", "b.safetensors")
        first, second = (read_safetensors(self.read(f"{x}.safetensors", "rb"))[1] for x in "ab")
        self.assertEqual(first, second, "the same seed gave other weights")
        self.train(*QUICK, *chosen, "--model", "b.safetensors", "--seed", "2")
        self.assertNotEqual(first, read_safetensors(self.read("b.safetensors", "rb"))[1])

        history = list(csv.DictReader(io.StringIO(self.read("a.csv"))))
        self.assertEqual([row["epoch"] for row in history], [str(i + 1) for i in range(8)])
        self.assertEqual(len(self.read_json("a.json")["epochs"]), 8)
        self.assertLess(float(history[-1]["train_loss"]), float(history[0]["train_loss"]))

        evaluation = json.loads(self.succeed("evaluate", "--model", "a.safetensors", "--data", DIGITS, *chosen, "--json",
                                             "-").out)
        self.assertEqual([key for key in EVALUATE_KEYS if key not in evaluation], [])
        self.assertGreater(evaluation["accuracy"], 0.9)
        self.assertEqual(sum(map(sum, evaluation["confusion"])), 1797)
        self.assertNoPartFiles()

    def test_serial(self):
        self.round_trip("serial")

    def test_threads(self):
        self.round_trip("threads")

    def test_blas(self):
        self.round_trip("blas")

    def test_cpu(self):
        self.round_trip("cpu")

    def test_f64_and_thread_counts(self):
        for threads in ("1", "3"):
            result = self.train_json(*QUICK, "--dtype", "f64", "--threads", threads, "--epochs", "5")
            self.assertEqual(result["dtype"], "f64")
            self.assertGreater(result["accuracy"], 0.85)


class TrainedRadiusTest(CliTest):
    LAYERS = ["--layers", "rbf-radius:48,dot-softmax:10", "--epochs", "6", "--optimizer", "adam", "--learning-rate", "0.01"]

    def radii(self, name):
        content = read_safetensors(self.read(name, "rb"))[1]["layer.1.radius"]
        return struct.unpack(f"<{len(content) // 4}f", content)

    def test_radii_are_trained_and_kept(self):
        result = self.train_json("--data", DIGITS, *self.LAYERS, "--model", "m.safetensors")
        self.assertGreater(result["accuracy"], 0.85)
        self.assertEqual(result["parameters"], 64 * 48 + 48 + 48 * 10 + 10)
        radii = self.radii("m.safetensors")
        self.assertEqual(len(radii), 48)
        self.assertGreater(min(radii), 0)
        self.assertGreater(len(set(radii)), 40, "the radii went ways of their own")
        test = json.loads(self.succeed("evaluate", "--model", "m.safetensors", "--data", DIGITS, "--json", "-").out)
        self.assertGreater(test["accuracy"], 0.85)
        shown = self.succeed("train", "--data", DIGITS, *self.LAYERS, "--epochs", "1").out
        self.assertRegex(shown, r"triangle\(radius=[0-9.]+\)-radius")

    def test_resumed_to_the_same_bits(self):
        self.train("--data", DIGITS, *self.LAYERS, "--model", "whole.safetensors")
        self.train("--data", DIGITS, *self.LAYERS, "--epochs", "3", "--model", "m.safetensors", "--checkpoint-epochs", "3")
        self.train("--resume", "m.safetensors.checkpoint", "--epochs", "6", "--model", "m.safetensors")
        whole, resumed = (read_safetensors(self.read(name, "rb"))[1] for name in ("whole.safetensors", "m.safetensors"))
        self.assertEqual(whole, resumed)


class EvaluateAndPredictTest(CliTest):
    def setUp(self):
        super().setUp()
        self.train(*QUICK, "--model", "m.safetensors")
        self.rows = digits_rows()
        self.header, self.rows = self.rows[0], self.rows[1:]
        self.target = self.header[-1]

    def predict_csv(self, name, *arguments):
        out = self.succeed("predict", "--model", "m.safetensors", "--data", name, *arguments).out
        return list(csv.reader(io.StringIO(out)))

    def test_evaluate_text(self):
        text = self.succeed("evaluate", "--model", "m.safetensors", "--data", DIGITS).out
        for part in ("accuracy", "precision", "recall", "F1", "confusion matrix"):
            self.assertIn(part, text)

    def test_predictions_agree_with_evaluation(self):
        evaluation = json.loads(self.succeed("evaluate", "--model", "m.safetensors", "--data", DIGITS, "--json", "-").out)
        answers = self.predict_csv(DIGITS)
        self.assertEqual(answers[0], [self.target])
        right = sum(answer[0] == row[-1] for answer, row in zip(answers[1:], self.rows))
        self.assertAlmostEqual(right / len(self.rows), evaluation["accuracy"], places=9)

    def test_raw_rows_in_every_form_give_the_same_answers(self):
        rows = self.rows[:50]
        self.write("full.csv", [self.header] + rows)
        expected = self.predict_csv("full.csv")
        self.assertEqual(len(expected), 51)
        self.write("no_target.csv", [self.header[:-1]] + [row[:-1] for row in rows])
        self.assertEqual(self.predict_csv("no_target.csv"), expected)
        self.write("backwards.csv", [self.header[::-1]] + [row[::-1] for row in rows])
        self.assertEqual(self.predict_csv("backwards.csv"), expected)
        self.write("more.csv", [["id"] + self.header] + [[str(i)] + row for i, row in enumerate(rows)])
        self.assertEqual(self.predict_csv("more.csv"), expected)
        self.write("no_header.csv", [row[:-1] for row in rows])
        self.assertEqual(self.predict_csv("no_header.csv"), expected)
        self.assertEqual(self.predict_csv("no_header.csv", "--header", "no"), expected)
        self.write("full_no_header.csv", rows)
        self.assertEqual(self.predict_csv("full_no_header.csv", "--header", "no"), expected)
        self.write("semicolon.csv", "\r\n".join(";".join(row) for row in [self.header] + rows))
        self.assertEqual(self.predict_csv("semicolon.csv"), expected)
        self.assertEqual(self.predict_csv("full.csv", "--samples", "7"), expected[:8])

    def test_wrong_columns_are_refused(self):
        self.write("fewer.csv", [row[:-3] for row in self.rows[:5]])
        self.refuse("predict", "--model", "m.safetensors", "--data", "fewer.csv", "--header", "no", "--out", "x.csv",
                    says=("fewer.csv", "64"))
        self.write("renamed.csv", [["other"] + self.header[1:]] + self.rows[:5])
        self.refuse("predict", "--model", "m.safetensors", "--data", "renamed.csv", "--out", "x.csv",
                    says=("renamed.csv", self.header[0]))
        self.write("no_target.csv", [self.header[:-1]] + [row[:-1] for row in self.rows[:5]])
        self.refuse("evaluate", "--model", "m.safetensors", "--data", "no_target.csv",
                    says=("no_target.csv", self.target, "lamina predict"))

    def test_probabilities_sum_to_one_and_point_at_the_answer(self):
        table = self.predict_csv(DIGITS, "--probabilities", "--samples", "100")
        self.assertEqual(table[0], [self.target] + [f"p_{c}" for c in range(10)])
        for row in table[1:]:
            numbers = [float(field) for field in row[1:]]
            self.assertAlmostEqual(sum(numbers), 1, places=5)
            self.assertEqual(numbers.index(max(numbers)), int(row[0]))

    def test_files(self):
        command = ["predict", "--model", "m.safetensors", "--data", DIGITS]
        self.assertIn("wrote 1797 predictions to a.csv", self.succeed(*command, "--out", "a.csv").out)
        answers = [row[0] for row in csv.reader(io.StringIO(self.read("a.csv")))][1:]
        self.succeed(*command, "--out", "a.npy")
        kind, shape, values = read_npy(self.read("a.npy", "rb"))
        self.assertEqual((kind, shape[0]), ("<i8", 1797))
        self.assertEqual([str(value) for value in values], answers)
        result = json.loads(self.succeed(*command, "--out", "p.npy", "--probabilities", "--json", "-").out)
        self.assertEqual([key for key in PREDICT_KEYS if key not in result], [])
        kind, shape, values = read_npy(self.read("p.npy", "rb"))
        self.assertEqual((kind, shape), ("<f8", (1797, 10)))
        self.assertAlmostEqual(sum(values), 1797, places=2)
        self.succeed(*command, "--out", "a.csv", "--json", "r.json")
        self.assertEqual(self.read_json("r.json")["samples"], 1797)
        self.assertNoPartFiles()


if __name__ == "__main__":
    main()
