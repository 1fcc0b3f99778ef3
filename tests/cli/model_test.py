"""Models that do not fit the data, that are damaged, or that answer no number: errors, never an answer."""

import json
import os
import struct
import subprocess
import unittest

from lamina_cli import CliTest, blob_rows, linear_rows, main, read_safetensors, write_safetensors

EXAMPLE = os.environ.get("LAMINA_EXAMPLE", "")
QUICK = ("--epochs", "2", "--split", "1,0,0", "--hidden", "3")


class ModelTest(CliTest):
    def write_images(self, folder, part, side, count=20):
        os.makedirs(self.path(folder), exist_ok=True)
        pixels = bytes((i * 37 + k * 11) % 251 for i in range(count) for k in range(side * side))
        self.write(f"{folder}/{part}-images-idx3-ubyte", struct.pack(">4i", 0x803, count, side, side) + pixels)
        self.write(f"{folder}/{part}-labels-idx1-ubyte", struct.pack(">2i", 0x801, count) + bytes(i % 2 for i in range(count)))

    def test_a_test_of_one_row_that_has_no_r2(self):
        self.write("t.csv", "a,d\n1,2\n2,4.5\n3,6.25\n")
        self.train("--data", "t.csv", "--task", "regression", "--epochs", "2", "--model", "m")
        for command in (("model", "show", "m"), ("evaluate", "--model", "m", "--data", "t.csv")):
            with self.subTest(command=command):
                self.assertIn("R² ", self.run_program(*command).out)
                self.assertEqual(self.run_program(*command).code, 0)

    def test_images_of_another_size(self):
        for folder, side in (("eight", 8), ("ten", 10), ("six", 6)):
            self.write_images(folder, "train", side)
        self.train("--data", "eight", "--model", "m", *QUICK)
        self.succeed("predict", "--model", "m", "--data", "eight/train-images-idx3-ubyte", "--out", "p.csv")
        for other, size in (("ten", "10 x 10"), ("six", "6 x 6")):
            for command, data in (("predict", other), ("predict", f"{other}/train-images-idx3-ubyte"), ("evaluate", other)):
                self.refuse(command, "--model", "m", "--data", data, says=(f"{other}/train-images", size, "8 x 8"))
        self.refuse("train", "--quiet", "--data", "eight", "--test", "ten/train-images-idx3-ubyte", "--model", "n", *QUICK,
                    says=("ten/", "10 x 10", "8 x 8"))
        self.write_images("eight", "t10k", 10)
        self.refuse("train", "--quiet", "--data", "eight", "--model", "n", *QUICK, says=("t10k", "10 x 10", "8 x 8"))
        self.refuse("predict", "--model", "m", "--data", "eight", says=("t10k", "10 x 10", "8 x 8"))

    def test_images_without_all_their_pixels(self):
        self.write_images("eight", "train", 8)
        self.write_images("ten", "train", 10)
        self.train("--data", "eight", "--drop", "p0", "--model", "m", *QUICK)
        self.succeed("predict", "--model", "m", "--data", "eight/train-images-idx3-ubyte", "--out", "p.csv")
        self.refuse("predict", "--model", "m", "--data", "ten", says=("10 x 10", "8 x 8"))

    def damage(self, name, index, value):
        """The model m with one number of a tensor replaced, as the file d."""
        content = self.read("m", "rb")
        metadata, tensors = read_safetensors(content)
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        header.pop("__metadata__")
        at = header[name]["data_offsets"][0] + 4 * index
        data = bytearray(content[8 + length :])
        data[at : at + 4] = struct.pack("<f", value)
        self.assertIn(name, tensors)
        self.write("d", write_safetensors(metadata, header, bytes(data)))

    def test_weights_that_are_not_finite(self):
        self.write("x.csv", blob_rows(30))
        self.train("--data", "x.csv", "--layers", "rbf-radius:3,dot-softmax:2", "--model", "m", *QUICK[:4])
        for name, index, at in (("layer.1.weight", 5, "[2, 1]"), ("layer.2.bias", 1, "[1]"), ("layer.1.radius", 2, "[2]")):
            for value in (float("nan"), float("inf"), float("-inf")):
                self.damage(name, index, value)
                for command in (("predict", "--model", "d", "--data", "x.csv"), ("evaluate", "--model", "d", "--data", "x.csv"),
                                ("export", "--onnx", "d", "-o", "d.onnx")):
                    with self.subTest(name=name, value=value, command=command[0]):
                        self.refuse(*command, says=("d: ", name, at, str(value)))

    def huge(self, *arguments):
        """Finite weights, and an infinite number minus another in the first output."""
        self.train("--model", "m", "--overwrite", *QUICK, "--activation", "identity", *arguments)
        for name, index, weight in (("layer.1.weight", 0, 3e38), ("layer.1.weight", 2, 3e38), ("layer.2.weight", 0, 3e38),
                                    ("layer.2.weight", 1, -3e38)):
            self.damage(name, index, weight)
            os.replace(self.path("d"), self.path("m"))

    def test_answers_that_are_no_numbers(self):
        self.write("x.csv", blob_rows(30))
        self.write("y.csv", linear_rows(30))
        for data, arguments in (("x.csv", ()), ("x.csv", ("--loss", "binary_cross_entropy")), ("y.csv", ("--task", "regression"))):
            self.huge("--data", data, *arguments)
            for command in ("predict", "evaluate"):
                with self.subTest(command=command, arguments=arguments):
                    self.refuse(command, "--model", "m", "--data", data, says=(f"{data}:2", "not a finite number"))

    @unittest.skipUnless(EXAMPLE, "the examples were not built (LAMINA_EXAMPLE)")
    def test_answers_that_are_no_numbers_through_c(self):
        self.write("x.csv", blob_rows(30))
        self.huge("--data", "x.csv")
        done = subprocess.run([EXAMPLE, self.path("m"), "1", "2"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("not a finite number", done.stderr)


if __name__ == "__main__":
    main()
