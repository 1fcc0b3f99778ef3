"""Every example of every help text works as it is printed, and those that train learn what they train on."""

import json
import os
import random
import re
import shlex
import shutil
import struct
import unittest

from lamina_cli import DATA, DIGITS, SOURCE, CliTest, digits_rows, linear_rows, main

CHANCE = 0.1  # the ten digits occur about equally often
# What an example measures for minutes is measured for less here; all else stays as it is printed.
LESS = {
    ("bench", "train"): ["--rounds", "1", "--round-seconds", "0.001"],
    ("bench", "layer"): ["--rounds", "1", "--round-seconds", "0.001"],
    ("bench", "data"): ["--rounds", "1"],
    ("bench", "predict"): ["--seconds", "0.01"],
    ("bench", "paper-2016"): ["--quick", "--rounds", "1", "--seconds", "0.001", "--batch", "256", "--backend", "cpu"],
    ("tune",): ["--milliseconds", "1", "--level", "estimate"],
    ("search",): ["--epochs", "2", "--samples", "300"],
}
MNIST_PART = ["--samples", "10000", "--epochs", "3"]  # enough to tell whether it learns


def npy(rows, cols, seed):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}".ljust(117) + "\n"
    rng = random.Random(seed)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{rows * cols}f", *[rng.random() for _ in range(rows * cols)])


class HelpExamplesTest(CliTest):
    def prepare(self):
        """What the examples name: data of the user's, the bundled digits, a model and a checkpoint."""
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        shutil.copy(DIGITS, self.path("digits.csv.gz"))
        if DATA:
            os.symlink(os.path.join(DATA, "mnist"), self.path("mnist"))
        self.write("new.csv", [row[:-1] for row in digits_rows(30)])
        houses = linear_rows()
        self.write("houses.csv", [["id", "area", "age", "price"]] + [[i, *row] for i, row in enumerate(houses[1:])])
        self.write("run.toml", 'data = "digits.csv.gz"\nhidden = [32]\n')
        self.write("x.npy", npy(300, 16, 1))
        self.write("centres.npy", npy(20, 16, 2))
        self.write("w.npy", npy(20, 16, 3))
        self.write("b.npy", npy(20, 1, 4))
        self.train("--data", "digits.csv.gz", "--hidden", "16", "--epochs", "2", "--model", "digits.safetensors",
                   "--checkpoint", "digits.safetensors.checkpoint", "--checkpoint-epochs", "1")

    def commands(self, *path):
        """Every command of the program as a list of words, the program itself first."""
        text = self.succeed(*path, "--help").out
        found = [list(path)]
        for block in re.findall(r"(?ms)^Subcommands:\n(.*?)(?:^\S|\Z)", text):
            for name in re.findall(r"(?m)^  ([a-z][\w-]*)", block):
                found += self.commands(*path, name)
        return found

    def examples(self):
        """(command, words behind "lamina") of every line of a help text that shows how the program is called."""
        found = []
        for path in self.commands():
            text = self.succeed(*path, "--help").out
            lines = re.findall(r"(?m)^(?:  |Examples?: )lamina (.+)$", text[text.find("\nExample"):])
            found += [(tuple(path), shlex.split(line)) for line in lines if "\nExample" in text]
        return found

    def check(self, words):
        command = tuple(words[:2]) if words[0] in ("bench", "data") else (words[0],)
        more = LESS.get(command, [])
        if any(word.rstrip("/") == "mnist" for word in words):
            if not DATA:
                self.skipTest("MNIST: LAMINA_DATA is not set")
            more = [*more, *(MNIST_PART if command == ("train",) else [])]
        if command == ("train",):
            self.learns([*words, *more])
        else:  # peers are libraries that may be missing, and minutes
            result = self.run_program(*[word for word in words if word != "--peers"], *more)
            self.assertEqual(result.code, 0, f"lamina {words}: {result}")

    def learns(self, words):
        test = json.loads(self.succeed(*words, "--json", "-").out)["test"]
        if "accuracy" in test:
            self.assertGreater(test["accuracy"], 5 * CHANCE, words)
        else:
            self.assertGreater(test["r2"], 0.5, words)  # 0: the mean of the targets

    def test_every_example(self):
        self.prepare()
        examples = self.examples()
        self.assertGreater(len([words for _, words in examples if words[0] == "train"]), 4)
        self.assertGreater(len(examples), 20)
        for _, words in examples:
            with self.subTest(example=shlex.join(words)):
                self.check(words)


if __name__ == "__main__":
    main()
