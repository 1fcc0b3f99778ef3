"""Weights in fewer bits: files of them, what evaluate says of them, and what is refused.

What each number is rounded to is computed here once more, from the definition of the types.
"""

import os
import struct
import unittest

from lamina_cli import DATA, DIGITS, CliTest, blob_rows, linear_rows, main, read_npy, read_safetensors

QUICK = ("--epochs", "3", "--batch", "8", "--split", "1,0,0")
ROUNDED = {"bf16": 2, "f16": 2, "i8": 1}  # bytes of a number


def floats(tensor):
    return struct.unpack(f"<{len(tensor) // 4}f", tensor)


def widened(name, tensors, columns, storage):
    """The weights that a tensor in few bits means, a list."""
    data = tensors[name]
    if storage == "i8":
        scales = floats(tensors[name + "_scale"])
        return [byte * scales[i // columns] for i, byte in enumerate(struct.unpack(f"<{len(data)}b", data))]
    if storage == "f16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    return list(floats(b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2))))


class WeightsTest(CliTest):
    def digits(self, *arguments):
        self.train("--data", DIGITS, "--hidden", "100", "--model", "m", "--epochs", "8", "--seed", "1", *arguments)

    def outputs(self, model, *arguments):
        self.succeed("predict", "--model", model, "--data", DIGITS, "--out", "p.npy", "--probabilities", *arguments)
        return read_npy(self.read("p.npy", "rb"))[2]

    def test_files_hold_rounded_weights_and_answer_as_rounding_at_load(self):
        self.digits()
        _, exact = read_safetensors(self.read("m", "rb"))
        for storage, size in ROUNDED.items():
            with self.subTest(storage=storage):
                said = self.succeed("export", "--weights", storage, "m", "-o", storage, "--json", "e.json").out
                self.assertIn(storage, said)
                self.assertEqual(self.read_json("e.json")["weights"], storage)
                metadata, tensors = read_safetensors(self.read(storage, "rb"))
                for name, columns in (("layer.1.weight", 64), ("layer.2.weight", 100)):
                    before = floats(exact[name])
                    self.assertEqual(len(tensors[name]), size * len(before))
                    for i, (was, now) in enumerate(zip(before, widened(name, tensors, columns, storage))):
                        row = before[i // columns * columns : (i // columns + 1) * columns]
                        most = {"bf16": abs(was) / 256, "f16": abs(was) / 2048 + 2**-25,
                                "i8": max(map(abs, row)) / 254 * 1.0001}[storage]
                        self.assertLessEqual(abs(was - now), most)
                self.assertEqual(tensors["layer.1.bias"], exact["layer.1.bias"], "only weights are rounded")
                self.assertEqual(self.outputs(storage), self.outputs("m", "--weights", storage))
                self.assertNotEqual(self.outputs(storage), self.outputs("m"))
                self.assertEqual(self.outputs(storage), self.outputs(storage, "--weights", storage), "rounded once")
                self.succeed("export", "--weights", storage, storage, "-o", "again")
                self.assertEqual(self.read("again", "rb"), self.read(storage, "rb"))
        def numbers(name):  # behind the header, which the rounding leaves as it is
            content = self.read(name, "rb")
            return len(content) - 8 - int.from_bytes(content[:8], "little")

        self.assertLess(numbers("i8"), 0.55 * numbers("m"))
        self.assertNoPartFiles()

    def test_evaluate_says_what_rounding_changes(self):
        self.digits()
        evaluated = {}
        for weights in ((), ("--weights", "i8"), ("--weights", "exact")):
            said = self.succeed("evaluate", "--model", "m", "--data", DIGITS, "--json", "e.json", *weights).out
            evaluated[weights[1:]] = self.read_json("e.json")
            self.assertEqual("weights i8" in said, weights[1:] == ("i8",), said)
        before, after = evaluated[()], evaluated["i8",]
        self.assertEqual(before["weights"], {"storage": "exact"})
        self.assertEqual(evaluated["exact",]["accuracy"], before["accuracy"])
        effect = after["weights"]
        self.assertEqual(effect["exact"]["accuracy"], before["accuracy"])
        self.assertAlmostEqual(effect["exact"]["loss"], before["loss"], places=6)
        self.assertEqual(effect["bytes"], 64 * 100 + 100 * 10 + 4 * (100 + 10) * 2)
        self.assertEqual(effect["exact_bytes"], 4 * (64 * 100 + 100 * 10 + 110))
        exact, rounded = self.outputs("m"), self.outputs("m", "--weights", "i8")
        self.assertAlmostEqual(effect["largest_difference"], max(abs(a - b) for a, b in zip(exact, rounded)), places=12)
        best = [[max(range(10), key=lambda j: values[i + j]) for i in range(0, len(values), 10)] for values in (exact, rounded)]
        self.assertEqual(effect["changed_answers"], sum(a != b for a, b in zip(*best)))
        self.assertLess(abs(after["accuracy"] - before["accuracy"]), 0.005)

    def test_evaluate_of_a_regression(self):
        self.write("x.csv", linear_rows(100))
        self.train("--data", "x.csv", "--target", "y", "--hidden", "6", "--model", "m", *QUICK)
        self.succeed("evaluate", "--model", "m", "--data", "x.csv", "--json", "e.json")
        before = self.read_json("e.json")
        said = self.succeed("evaluate", "--model", "m", "--data", "x.csv", "--weights", "bf16", "--json", "e.json").out
        effect = self.read_json("e.json")["weights"]
        self.assertEqual(effect["exact"]["targets"][0]["mae"], before["mae"])
        self.assertNotEqual(self.read_json("e.json")["mae"], before["mae"])
        self.assertIn("weights bf16", said)

    def test_refusals(self):
        self.write("x.csv", blob_rows(30))
        self.train("--data", "x.csv", "--hidden", "4", "--model", "m", *QUICK)
        self.refuse("predict", "--model", "m", "--data", "x.csv", "--weights", "i9", code=2, says=("i9", "i8", "bf16"))
        self.refuse("export", "--weights", "i8", "m", "-o", "m", code=2, says="m")
        self.refuse("export", "--weights", "i8", "m", "-o", "none/y", says="none")
        self.train("--data", "x.csv", "--layers", "rbf:4,l2-tanh:2", "--loss", "mse", "--model", "r", *QUICK)
        self.refuse("export", "--weights", "i8", "r", "-o", "y", says=("distances only", "--weights exact"))

    def test_onnx_files_of_few_bits_are_small(self):
        self.digits()
        self.succeed("export", "--onnx", "m", "-o", "exact.onnx")
        exact = os.path.getsize(self.path("exact.onnx"))
        for storage, size in ROUNDED.items():
            self.succeed("export", "--weights", storage, "m", "-o", storage)
            self.succeed("export", "--onnx", storage, "-o", "a.onnx")
            self.succeed("export", "--onnx", "--weights", storage, "m", "-o", "b.onnx")
            self.assertEqual(self.read("a.onnx", "rb"), self.read("b.onnx", "rb"))
            self.assertLess(os.path.getsize(self.path("a.onnx")), exact - (4 - size) * 7400 + 1200)

    @unittest.skipUnless(DATA, "MNIST: LAMINA_DATA is not set")
    def test_accuracy_on_mnist(self):
        folder = os.path.join(DATA, "mnist")
        self.train("--data", folder, "--hidden", "256", "--activation", "relu", "--epochs", "2", "--batch", "32", "--seed", "1", "--model", "m")
        for storage in ROUNDED:
            self.succeed("evaluate", "--model", "m", "--data", folder, "--weights", storage, "--json", "e.json")
            result = self.read_json("e.json")
            self.assertGreater(result["accuracy"], 0.96)
            self.assertLessEqual(result["weights"]["exact"]["accuracy"] - result["accuracy"], 0.0005, storage)


if __name__ == "__main__":
    main()
