"""Hostile names of columns, classes and files: every command shows them as text in every output; they steer nothing."""

import csv
import html.parser
import io
import itertools
import json
import os
import re
import resource
import shutil
import subprocess
import unicodedata
import unittest
import xml.dom.minidom

import terminal_test
from lamina_cli import CliTest, main

NAMES = ["humidity (%)", "it's \"x\"", "back\\slash\\", "`touch hacked`", "${HOME} $(touch hacked)", "<script>alert(1)</script>", "a|b",
         "line\nend", "\x1b[35mred\x1b]0;title\x07", "bell\x07", "turn\u202eoff", "=1+1", "-x", "😀😀", "&amp;%d%s url(#x", "\x9b35m\x7f",
         "L" * 10000]
FILE = "da'ta <script> %d | \x1b[35m\x07\u202e.csv"
GNUPLOT = shutil.which("gnuplot")
VOID = {"meta", "br", "hr", "img", "link", "input"}


def is_steering(letter):
    return unicodedata.category(letter) == "Cc" and letter != "\n" or letter in "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def without_controls(name):
    """What pictures and pages show: spaces in the place of what steers."""
    return "".join(" " if letter == "\n" or is_steering(letter) else letter for letter in name)


class Page(html.parser.HTMLParser):
    """The elements of a page and the texts of its cells; an element that is not closed is an error."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.cells, self.problems = set(), [], [], []
        self.feed(text)
        self.close()
        self.problems += self.open

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.problems += [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append("/" + tag)

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def hostile_rows(count=170, names=NAMES, target="the answer (%)", classes=NAMES):
    """A column of numbers or of texts for each name, and a target of such classes."""
    rows = [[*names, target]]
    for i in range(count):
        label = classes[i % len(classes)]
        numbers = [i % (3 + j) + (i % len(classes) == j) * 5 + i / 1000 for j in range(len(names))]
        texts = [names[(i + j) % 3] if j % 5 == 4 else number for j, number in enumerate(numbers)]
        rows.append([*texts, label])
    return rows


def as_csv(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


class HostileTest(CliTest):
    """A table whose file, columns and classes are called so, and a model of it."""

    def setUp(self):
        super().setUp()
        self.write(FILE, as_csv(hostile_rows()))

    def model(self, name="m\x1b[35m.st"):
        self.train("--data", FILE, "--model", name, "--epochs", "2", "--hidden", "8", "--threads", "1")
        return name


class NamesTest(HostileTest):
    def commands(self, model):
        """Every command that shows names, with what it needs; each once."""
        return [("data", "show", FILE),
                ("train", FILE, "--epochs", "2", "--hidden", "8", "--model", "n<b>\x07.st", "--history", "h.csv", "--overwrite"),
                ("train", FILE, "--epochs", "1", "--folds", "2", "--out-of-fold", "o.csv", "--overwrite"),
                ("train", FILE, "--epochs", "1", "--target", NAMES[0], "--target-scale", "standardize"),
                ("model", "show", model),
                ("evaluate", model, FILE, "--metrics", "all"),
                ("predict", model, FILE, "--out", "p.csv", "--probabilities"),
                ("explain", model, FILE, "--dependence", ",".join(NAMES[:5]), "--rows", "0", "--repeats", "1", "--permutations", "1",
                 "--out", "i.csv"),
                ("drift", model, FILE),
                ("compare", model, "n<b>\x07.st", FILE),
                ("data", "encode", FILE, "--output", "e"),
                ("export", model, "--onnx", "--out", "w\x1b[35m.onnx"),
                ("search", FILE, "--vary", "learning-rate=0.01,0.02", "--epochs", "1", "--csv", "s.csv")]

    def failures(self, model):
        """Commands whose errors name what they were given."""
        return [("train", FILE, "--target", "no\x1b[35m\x07such\u202e"),
                ("train", FILE, "--drop", "no\x1b[35m\x07such\u202e"),
                ("train", "absent\x1b[35m\x07\u202e.csv"),
                ("train", FILE, "--no\x1b[35m\x07such"),
                ("no\x1b[35m\x07such",),
                ("model", "show", FILE),
                ("predict", model, "other\x1b[35m.csv"),
                ("explain", model, FILE, "--dependence", "no\x1b[35m\x07such"),
                ("evaluate", model, "unlike.csv")]

    def prepare(self):
        model = self.model()
        self.write("other\x1b[35m.csv", as_csv(hostile_rows(20, names=["x"], target="y\x1b[35m")))
        self.write("unlike.csv", as_csv(hostile_rows(20)).replace("a|b", "new\x1b[35m\x07"))
        return model

    def test_no_name_steers_a_pipe(self):
        model = self.prepare()
        for command in [*self.commands(model), *self.failures(model)]:
            with self.subTest(command=command):
                result = self.run_program(*command)
                self.assertIn(result.code, (0, 1, 2), str(result))
                said = result.out + result.err
                self.assertEqual([letter for letter in said if is_steering(letter)], [], ascii(said[:3000]))
                self.assertEqual(result.code, 0 if command in self.commands(model) else result.code, str(result)[:3000])
        self.assertFalse(os.path.exists(self.path("hacked")))

    @unittest.skipUnless(terminal_test.has_terminals(), "names: the system gives no pseudo-terminal")
    def test_no_name_steers_a_terminal(self):
        model = self.prepare()
        own = re.compile(r"\x1b\[(?:1;31|1;33|36|1|0)m|\r\x1b\[K|\x1b\[K(?=\r\n)|\x1b\[J|\x1b\[\d+A\r|\r\n")
        more = [("predict", model, FILE), ("model", "show", model, "--json", "-"), ("train", FILE, "--print-config")]
        for command in [*self.commands(model), *self.failures(model), *more]:
            with self.subTest(command=command):
                code, text = terminal_test.TerminalTest.on_terminal(self, *command, NO_COLOR="")
                self.assertIn(code, (0, 1, 2), text)
                self.assertEqual([letter for letter in own.sub("\n", text) if is_steering(letter)], [], ascii(text[:3000]))

    def test_tables_keep_their_columns(self):
        model = self.model()
        shown = self.succeed("data", "show", FILE).out.splitlines()
        at = next(i for i, line in enumerate(shown) if line.startswith(" no."))
        table = shown[at : at + 2 + len(NAMES)]
        self.assertEqual(len(table), 2 + len(NAMES), shown)
        self.assertLess(max(map(len, table)), 200, "a name of 10,000 characters is cut")
        self.assertTrue(all(re.match(r" +\d+  ", line) for line in table[1:]), table)
        inputs = self.succeed("model", "show", model).out.split("\ninput ")[1].splitlines()[1 : 1 + len(NAMES)]
        self.assertTrue(all(re.search(r"  (number|text)  ", line) for line in inputs), inputs)

    def test_data_is_as_it_was(self):
        model = self.model()
        self.succeed("predict", model, FILE, "--out", "p.csv", "--probabilities")
        self.succeed("explain", model, FILE, "--out", "i.csv", "--repeats", "1")
        self.train("--data", FILE, "--epochs", "1", "--folds", "2", "--out-of-fold", "o.csv")
        for name, column in (("p.csv", 0), ("i.csv", 0), ("o.csv", 3)):
            with open(self.path(name), newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            self.assertEqual({len(row) for row in rows}, {len(rows[0])}, name)
            self.assertLessEqual({row[column] for row in rows[1:]}, set(NAMES), name)
        shown = json.loads(self.succeed("model", "show", model, "--json", "-").out)
        self.assertEqual(sorted(shown["classes"]), sorted(NAMES))
        self.assertEqual([column["name"] for column in shown["inputs"]], NAMES)

    def test_a_command_to_copy_is_the_same_command(self):
        """The command of a result, as a shell reads it."""
        name = "a\n\x1b[35m\\ 'x' é \u202e.csv"
        self.write(name, as_csv(hostile_rows(60, names=["x", "z"])))
        model = self.model()
        self.succeed("evaluate", model, FILE)
        out = self.succeed("search", name, "--vary", "learning-rate=0.01,0.02", "--epochs", "1").out
        line = out.split("the best again:\n  ")[1].splitlines()[0]
        words = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout.split(b"\0")
        self.assertIn(name.encode(), words)


@unittest.skipUnless(GNUPLOT, "pictures of names: gnuplot is not installed")
class PicturesTest(HostileTest):
    def drawing(self, model):
        """(folder of pictures, arguments): every command that draws."""
        return [("train", ("train", FILE, "--epochs", "2", "--hidden", "8")),
                ("value", ("train", FILE, "--epochs", "2", "--target", NAMES[0])),
                ("evaluate", ("evaluate", model, FILE)),
                ("explain", ("explain", model, FILE, "--dependence", ",".join(NAMES[:5]), "--rows", "0", "--repeats", "1",
                             "--permutations", "1"))]

    def assertPicture(self, path):
        """A whole pair of pictures."""
        document = xml.dom.minidom.parse(path)
        self.assertFalse(document.getElementsByTagName("script"))
        with open(path[:-3] + "png", "rb") as file:
            png = file.read()
        self.assertTrue(png.startswith(b"\x89PNG\r\n") and png.endswith(b"IEND\xaeB`\x82"), path)
        return " ".join(node.data for node in self.texts(document.documentElement))

    def texts(self, node):
        if node.nodeType == node.TEXT_NODE:
            return [node]
        return list(itertools.chain.from_iterable(self.texts(child) for child in node.childNodes))

    def test_every_picture_is_drawn(self):
        model = self.model()
        for folder, command in self.drawing(model):
            with self.subTest(command=command):
                self.succeed(*command, "--plot", folder)
                scripts = sorted(name[:-3] for name in os.listdir(self.path(folder)) if name.endswith(".gp"))
                pictures = [self.assertPicture(self.path(f"{folder}/{name}.svg")) for name in scripts]
                self.assertTrue(any("(%)" in text for text in pictures), "a name is shown as it is")
                for name in scripts:
                    with open(self.path(f"{folder}/{name}.csv"), newline="", encoding="utf-8") as file:
                        self.assertEqual(len({len(row) for row in csv.reader(file)}), 1, name)
        self.assertFalse(os.path.exists(self.path("hacked")))

    def test_every_page_shows_the_names(self):
        model = self.model()
        for folder, command in self.drawing(model):
            with self.subTest(command=command):
                self.succeed(*command, "--report", folder)
                with open(self.path(f"{folder}/report.html"), encoding="utf-8") as file:
                    text = file.read()
                page = Page(text)
                self.assertEqual(page.problems, [])
                self.assertNotIn("script", page.elements)
                self.assertNotIn("Pictures are missing", text)
                self.assertEqual([letter for letter in text if is_steering(letter) and letter != "\t"], [])
                if folder in ("train", "evaluate"):
                    self.assertLessEqual({without_controls(name) for name in NAMES}, set(page.cells))

    def test_drawn_later_as_it_is_advised(self):
        model = self.model()
        for folder, command in self.drawing(model):
            with self.subTest(command=command):
                result = self.run_program(*command, "--plot", folder, env={**os.environ, "PATH": "/nowhere"})
                self.assertEqual(result.code, 0, str(result))
                advice = re.search(rf"Draw later, in {folder}: (gnuplot \*\.gp)", result.err)
                self.assertTrue(advice, result.err)
                subprocess.run(advice[1], shell=True, check=True, cwd=self.path(folder), capture_output=True)
                together = {}
                for name in os.listdir(self.path(folder)):
                    if name.endswith(".svg"):
                        self.assertPicture(self.path(f"{folder}/{name}"))
                        together[name] = self.read(f"{folder}/{name}")
                self.assertEqual(len(together), sum(name.endswith(".gp") for name in os.listdir(self.path(folder))))
                for name, picture in together.items():
                    subprocess.run(["gnuplot", name[:-3] + "gp"], check=True, cwd=self.path(folder), capture_output=True)
                    self.assertEqual(self.read(f"{folder}/{name}"), picture, "drawn alone, the same")

    def test_no_picture_is_cut(self):
        """A disk that takes so many bytes of a file and no more."""
        model = self.model("m.st")
        shutil.copy(self.path(FILE), self.path("d.csv"))
        whole = 0
        for limit in (2000, 6000, 12000, 20000, 40000, 1000000):
            folder = f"limit-{limit}"

            def restrict(limit=limit):
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

            result = self.run_program("evaluate", model, "d.csv", "--plot", folder, preexec_fn=restrict)
            self.assertIn(result.code, (0, 1), str(result))
            made = os.listdir(self.path(folder)) if os.path.isdir(self.path(folder)) else []  # all of it, or nothing
            pictures = [name for name in made if name.endswith((".svg", ".png"))]
            for name in pictures:
                if name.endswith(".svg"):
                    xml.dom.minidom.parse(self.path(f"{folder}/{name}"))
                else:
                    self.assertTrue(self.read(f"{folder}/{name}", "rb").endswith(b"IEND\xaeB`\x82"), name)
            self.assertEqual([name for name in made if ".part" in name], [])
            self.assertNotEqual((result.code, result.err == "", len(pictures)), (0, True, 0), "no picture, and nothing said")
            whole += len(pictures) == 2
        self.assertGreater(whole, 0)


if __name__ == "__main__":
    main()
