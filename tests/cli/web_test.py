"""The page that trains (scripts/web): its library in node, and the page in a browser. Skipped where it is not built."""

import csv
import json
import os
import shutil
import subprocess
import unittest

import page_door
from lamina_cli import DIGITS, SKIPPED_CODE, SOURCE, CliTest, blob_rows, main
from web_page import BUILD, IS_BUILT, NO_BUILD, WebPageTest

MOST_BYTES = 5_000_000
BOUND = 1e-6


class WebTest(CliTest):
    binary = ()  # or ("relaxed",)

    def ask(self, *requests):
        """The answers to requests, one after the other in the same library."""
        done = subprocess.run([page_door.NODE, os.path.join(SOURCE, "tests", "cli", "web_door.js"), BUILD,
                               os.path.join(SOURCE, "web", "train", "library.js"), self.folder, *self.binary],
                              input=json.dumps(requests), capture_output=True, text=True, check=False, timeout=300)
        if done.returncode == SKIPPED_CODE:
            self.skipTest("this node has no relaxed SIMD")
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = json.loads(done.stdout)["answers"]
        self.assertEqual(len(answers), len(requests))
        return answers

    def train_in_page(self, name, settings, model, milliseconds=100_000):
        """The answers to "start", "run" and "end"; the model is then in the folder."""
        answers = self.ask({"put": name}, {"do": "open", "path": name}, {"do": "start", "settings": settings},
                           {"do": "run", "milliseconds": milliseconds}, {"do": "end"},
                           {"do": "write", "kind": "model", "path": model}, {"get": model})
        for answer in answers:
            self.assertNotIn("error", answer)
        return answers[2:5]

    def numbers(self, text):
        return [[float(cell) for cell in row[1:]] for row in list(csv.reader(text.splitlines()))[1:]]


@unittest.skipUnless(IS_BUILT, NO_BUILD)
@unittest.skipUnless(page_door.NODE, page_door.NO_NODE)
class AnswersTest(WebTest):
    def test_digits_as_the_program_answers(self):
        shutil.copy(DIGITS, self.path("digits.csv.gz"))
        settings = {"epochs": "6", "seed": "3", "recipe": "plain"}
        _, run, end = self.train_in_page("digits.csv.gz", settings, "page.safetensors")
        self.assertEqual(len(run["epochs"]), 6)
        self.assertGreater(end["judgement"]["evaluation"]["accuracy"], 0.9)
        self.succeed("predict", "page.safetensors", "digits.csv.gz", "--probabilities", "--out", "program.csv")
        self.ask({"put": "digits.csv.gz"}, {"put": "page.safetensors"}, {"do": "model", "path": "page.safetensors"},
                 {"do": "predict", "path": "digits.csv.gz", "probabilities": True, "out": "page.csv"}, {"get": "page.csv"})
        ours, theirs = self.numbers(self.read("program.csv")), self.numbers(self.read("page.csv"))
        self.assertEqual(len(ours), 1797)
        for one, two in zip(ours, theirs, strict=True):
            for a, b in zip(one, two, strict=True):
                self.assertAlmostEqual(a, b, delta=BOUND)

    def test_the_same_training_as_the_program(self):
        shutil.copy(DIGITS, self.path("digits.csv.gz"))
        flags = {"epochs": "3", "seed": "5", "recipe": "plain", "dtype": "f64"}
        self.train_in_page("digits.csv.gz", flags, "page.safetensors")
        self.succeed("train", "digits.csv.gz", "--model", "own.safetensors", "--quiet",
                     *[word for name, text in flags.items() for word in (f"--{name}", text)],
                     env={**os.environ, "LAMINA_TUNE": "off", "LAMINA_ISA": "scalar"})
        for model in ("page", "own"):
            self.succeed("predict", f"{model}.safetensors", "digits.csv.gz", "--probabilities", "--out", f"{model}.csv")
        for one, two in zip(self.numbers(self.read("page.csv")), self.numbers(self.read("own.csv")), strict=True):
            for a, b in zip(one, two, strict=True):
                self.assertAlmostEqual(a, b, delta=BOUND)


class RelaxedAnswersTest(AnswersTest):
    binary = ("relaxed",)


@unittest.skipUnless(IS_BUILT, NO_BUILD)
@unittest.skipUnless(page_door.NODE, page_door.NO_NODE)
class LibraryTest(WebTest):
    def test_slices_change_nothing(self):
        for recipe, hidden, rows in (("plain", "32", 400), ("mixed", "auto", 300)):
            self.write("x.csv", blob_rows(rows))
            settings = {"epochs": "60", "seed": "2", "recipe": recipe, "hidden": hidden, "method": "backpropagation"}
            _, whole, _ = self.train_in_page("x.csv", settings, "whole.safetensors")
            start, cut, end = self.train_in_page("x.csv", settings, "cut.safetensors", milliseconds=3)
            self.assertFalse(start["in_one_go"])
            self.assertGreater(cut["slices"], 1 + whole["slices"])
            self.assertEqual(cut["in_one_go"], recipe == "mixed")  # once for the kernel machine
            self.assertEqual(whole["slices"], 1 + (recipe == "mixed"))
            self.assertEqual(len(cut["epochs"]), len(whole["epochs"]))
            self.assertGreater(end["judgement"]["evaluation"]["accuracy"], 0.5)
            self.assertEqual(self.read("cut.safetensors", "rb"), self.read("whole.safetensors", "rb"))

    def test_what_a_run_had_before_its_kernel_machine(self):
        """A library that begins from it ends with the bits of one that was never given up."""
        self.write("x.csv", blob_rows(300))
        settings = {"epochs": "6", "recipe": "mixed"}
        self.train_in_page("x.csv", settings, "whole.safetensors")
        opened = ({"put": "x.csv"}, {"do": "open", "path": "x.csv"})
        *_, stopped, kept, _ = self.ask(*opened, {"do": "start", "settings": settings}, {"do": "slice", "milliseconds": 100_000},
                                        {"do": "keep", "path": "kept"}, {"get": "kept"})
        self.assertEqual((stopped["ended"], stopped["in_one_go"], len(stopped["epochs"])), (False, True, 6))
        self.assertNotIn("error", kept)
        again = self.ask(*opened, {"put": "kept"}, {"do": "start", "checkpoint": "kept"}, {"do": "slice"}, {"do": "end"},
                         {"do": "importance"}, {"do": "slice"}, {"do": "end"},
                         {"do": "write", "kind": "model", "path": "again.safetensors"}, {"get": "again.safetensors"})
        network, judged, importance, ended = again[4:8]
        self.assertEqual((network["ended"], network["in_one_go"], network["epochs"]), (False, True, []))
        self.assertGreater(judged["judgement"]["evaluation"]["accuracy"], 0.5)
        self.assertEqual({each["column"] for each in importance["importance"]["columns"]}, {"a", "b"})
        self.assertTrue(ended["ended"])
        self.assertEqual(self.read("again.safetensors", "rb"), self.read("whole.safetensors", "rb"))

    def test_refusals_are_those_of_the_program(self):
        bad = {"empty.csv": b"", "names.csv": b"a,b\n", "page.csv": b"<!doctype html><p>1</p>", "cut.csv.gz": b"\x1f\x8b\x08\x00abc",
               "book.xlsx": b"PK\x03\x04abc", "json.csv": b'{"a": 1}'}
        for name, content in bad.items():
            self.write(name, content)
            said = self.ask({"put": name}, {"do": "open", "path": name}, {"do": "start"})[1:]
            error = next(answer["error"] for answer in said if "error" in answer)
            self.refuse("train", name, says=f"lamina: error: {error}\n")
        self.write("x.csv", blob_rows(40))
        for flag, text in (("target", "lable"), ("learning-rate", "-1"), ("effort", "quik"), ("drop", "nobody")):
            said = self.ask({"put": "x.csv"}, {"do": "open", "path": "x.csv"}, {"do": "start", "settings": {flag: text}})[2]
            self.refuse("train", "x.csv", f"--{flag}={text}", says=said["error"])

    def test_exports(self):
        self.write("x.csv", blob_rows(60))
        self.train_in_page("x.csv", {"recipe": "plain", "epochs": "5", "hidden": "4", "method": "backpropagation"}, "m")
        self.ask({"put": "m"}, {"do": "model", "path": "m"}, {"do": "write", "kind": "onnx", "path": "m.onnx"}, {"get": "m.onnx"},
                 {"do": "write", "kind": "html", "path": "m.html"}, {"get": "m.html"},
                 {"do": "write", "kind": "c", "path": "m", "name": "m"}, {"get": "m.c"}, {"get": "m.h"})
        self.succeed("export", "--onnx", "m", "-o", "own.onnx")
        self.succeed("export", "--html", "m", "-o", "own.html")
        self.assertEqual(self.read("m.onnx", "rb"), self.read("own.onnx", "rb"))
        checked = page_door.ask_page(self.path("m.html"), "check")
        self.assertLess(checked["difference"], BOUND)
        self.assertIn("m_predict", self.read("m.h"))


class PageTest(WebPageTest):
    def test_the_page_is_whole_and_small(self):
        page = self.read("lamina.html")
        self.assertLess(len(page.encode()), MOST_BYTES)
        self.assertIn("default-src 'none'", page)
        self.assertNotIn("connect-src", page)

    def test_from_example_to_model(self):
        tab = self.browser()
        ready = self.act(tab, "return await example('Digits example');")
        self.assertIn("10 classes of label; 1,078 training", ready)
        self.assertGreater(float(self.train(tab, effort="quick").split()[0]), 90)
        said = self.act(tab, """
            await wait(() => find("iframe").srcdoc.length > 1000);
            await wait(() => cellsOf("Runs").length > 0);
            return { curves: all("polyline").length, cells: all(".confusion tbody td").length, runs: cellsOf("Runs").length };
            """)
        self.assertEqual(said["cells"], 100)
        self.assertEqual(said["runs"], 1)
        self.assertGreaterEqual(said["curves"], 2)


if __name__ == "__main__":
    main()
