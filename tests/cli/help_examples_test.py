"""Every example of every help text works as it is printed, and those that train learn what they train on."""

import json
import os
import random
import re
import shlex
import shutil
import struct
import unittest

import serve_door
from lamina_cli import DATA, DIGITS, SOURCE, CliTest, digits_rows, linear_rows, main

CHANCE = 0.1  # the ten digits occur about equally often
# What an example does for minutes is done for less here; all else stays as it is printed.
LESS = {
    ("bench", "train"): {"--net": "64-32-10", "--rounds": "1", "--round-seconds": "0.001"},
    ("bench", "layer"): {"--rounds": "1", "--round-seconds": "0.001"},
    ("bench", "data"): {"--rounds": "1"},
    ("bench", "predict"): {"--seconds": "0.01"},
    ("bench", "matrix"): {"--rounds": "1"},
    ("bench", "paper-2016"): {"--quick": None, "--rounds": "1", "--seconds": "0.001", "--batch": "256", "--backend": "cpu"},
    ("tune",): {"--milliseconds": "1", "--level": "estimate"},
    ("search",): {"--epochs": "2", "--samples": "300"},
    ("distill",): {"--epochs": "2", "--samples": "300"},
}
# What another test runs as it is printed, as it takes long.
ELSEWHERE = ["bench paper-2017 --out study --quick"]  # tools_test.py
MNIST_PART = {"--samples": "10000", "--epochs": "3", "--batch": "32"}  # enough to tell whether it learns


def with_less(words, less):
    """`words` with the values of the flags in `less`, which are added where they are not among them."""
    words = list(words)
    for flag, value in less.items():
        if flag in words and value is not None:
            words[words.index(flag) + 1] = value
        elif flag not in words:
            words += [flag] if value is None else [flag, value]
    return words


def npy(rows, cols, seed):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}".ljust(117) + "\n"
    rng = random.Random(seed)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{rows * cols}f", *[rng.random() for _ in range(rows * cols)])


def takes_mnist(words):
    return any(word.rstrip("/") == "mnist" for word in words)


class HelpExamplesTest(CliTest):
    recipe = None

    def prepare(self):
        """What the examples name: data of the user's, the bundled digits, a model and a checkpoint."""
        os.symlink(os.path.join(SOURCE, "data"), self.path("data"))
        shutil.copy(DIGITS, self.path("digits.csv.gz"))
        if DATA:
            os.symlink(os.path.join(DATA, "mnist"), self.path("mnist"))
        self.write("new.csv", [row[:-1] for row in digits_rows(30)])
        houses = linear_rows()
        self.write("houses.csv", [["id", "area", "age", "price"]] + [[i, *row] for i, row in enumerate(houses[1:])])
        self.write("token.txt", "a word\n")
        self.write("run.toml", 'data = "digits.csv.gz"\nhidden = [32]\n')
        self.write("x.npy", npy(5000, 16, 1))
        self.write("centres.npy", npy(20, 16, 2))
        self.write("w.npy", npy(20, 16, 3))
        self.write("b.npy", npy(20, 1, 4))
        self.train("--data", "digits.csv.gz", "--hidden", "32", "--epochs", "10", "--model", "digits.safetensors",
                   "--checkpoint", "digits.safetensors.checkpoint", "--checkpoint-epochs", "5")
        shutil.copy(self.path("digits.safetensors"), self.path("network.safetensors"))

    def commands(self, *path):
        """Every command of the program as a list of words, the program itself first."""
        text = self.succeed(*path, "--help").out
        found = [list(path)]
        for block in re.findall(r"(?ms)^Subcommands:\n(.*?)(?:^\S|\Z)", text):
            for name in re.findall(r"(?m)^  ([a-z][\w-]*)", block):
                found += self.commands(*path, name)
        return found

    def examples(self):
        """The words behind "lamina" of every line of a help text that shows how the program is called."""
        found = []
        for path in self.commands():
            text = self.succeed(*path, "--help").out
            lines = re.findall(r"(?m)^(?:  |Examples?: )lamina (.+)$", text[text.find("\nExample"):])
            found += [shlex.split(line) for line in lines if "\nExample" in text]
        return found

    def check(self, words):
        command = tuple(words[:2]) if words[0] in ("bench", "data") else (words[0],)
        less = LESS.get(command, {})
        if command == ("train",):
            self.learns(with_less(words, MNIST_PART if takes_mnist(words) else less))
            return
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        environment.pop("LAMINA_TUNE", None)
        if command == ("serve",) and "--check" not in words:  # until somebody ends it
            if serve_door.is_there():
                with serve_door.Service(self.folder, *words[1:]) as service:
                    self.assertEqual(service.stop(), (0, ""))
            return
        words = [word for word in words if word != "--peers"]  # libraries that may be missing, and minutes
        result = self.run_program(*with_less(words, less), env=environment)
        if "this lamina was built without" in result.err:  # an optional part
            self.skipTest(result.err)
        self.assertEqual(result.code, 0, f"lamina {words}: {result}")

    def learns(self, words):
        result = json.loads(self.succeed(*words, "--json", "-").out)
        if "cross_validation" in result:
            means = {metric["name"]: metric["mean"] for metric in result["cross_validation"]["metrics"]}
            self.assertGreater(means["r2"], 0.5, words)
            return
        test = result["test"]
        if "accuracy" in test:
            self.assertGreater(test["accuracy"], 5 * CHANCE, words)
        else:
            self.assertGreater(test["r2"], 0.5, words)  # 0: the mean of the targets

    def check_all(self, examples):
        self.prepare()
        for words in examples:
            with self.subTest(example=shlex.join(words)):
                self.check(words)

    def test_every_example(self):
        examples = self.examples()
        self.assertGreater(len([words for words in examples if words[0] == "train"]), 4)
        self.assertGreater(len(examples), 20)
        for line in ELSEWHERE:
            self.assertIn(shlex.split(line), examples)
        self.check_all([words for words in examples if not takes_mnist(words) and shlex.join(words) not in ELSEWHERE])

    @unittest.skipUnless(DATA, "MNIST: LAMINA_DATA is not set")
    def test_every_example_with_mnist(self):
        examples = [words for words in self.examples() if takes_mnist(words)]
        self.assertGreater(len(examples), 1)
        self.check_all(examples)


if __name__ == "__main__":
    main()
