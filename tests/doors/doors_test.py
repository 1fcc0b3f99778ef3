"""One row, one answer: the same rows through every door give the same answers, or refusals in the same words.

Doors that are not there are skipped by name. LAMINA_EXAMPLE (C), LAMINA_DOOR (C++), LAMINA_WINDOW (the window) and
LAMINA_EXAMPLE_PREDICT (C, by the library that only answers) are programs. LAMINA_PACKAGE_PYTHON is an interpreter that
has the package, LAMINA_ONNX_PYTHON one that has onnxruntime (else that of the package). C source needs a C compiler,
the page node.
"""

import csv
import json
import math
import os
import re
import shutil
import subprocess
import unittest

import onnx_door
import page_door
import serve_door
from kinds import KINDS, MODELS, Kind, asked_rows, rows_of, twin_rows
from lamina_cli import SOURCE, CliTest, main, read_npy
from onnx_door import ask_onnx
from talker import Talker

EXAMPLE, DOOR = os.environ.get("LAMINA_EXAMPLE", ""), os.environ.get("LAMINA_DOOR", "")
EXAMPLE_PREDICT = os.environ.get("LAMINA_EXAMPLE_PREDICT", "")
WINDOW = os.environ.get("LAMINA_WINDOW", "")
FOLDER = os.path.join(SOURCE, "tests", "doors")
CC = shutil.which("cc")
SERVES = serve_door.is_there()
HOWS = ["path", "pandas", "pandas, all text", "polars", "polars, all text", "dict", "rows", "rows of pandas"]
EXPORTED = ("m", "m0")  # trained by the program and by rows in Python
SETTINGS = {"recipe": "plain", "epochs": 3, "hidden": [8], "use": ["k"], "seed": 1, "dates": "days"}


def has(python, module):
    return (
        bool(python)
        and os.access(python, os.X_OK)
        and not subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode
    )


PACKAGE = os.environ.get("LAMINA_PACKAGE_PYTHON", "")
PACKAGE = PACKAGE if has(PACKAGE, "lamina") else ""
IN_PYTHON = Talker(PACKAGE, "-B", os.path.join(FOLDER, "python_door.py"))
ONNX = next(
    (
        python
        for python in (onnx_door.PYTHON, PACKAGE)
        if has(python, "onnxruntime") and has(python, "onnx")
    ),
    "",
)


def straight(text):
    """The quotes of the program in the place of the window's."""
    return re.sub("[“”]", "'", text)


def said(text):
    """A refusal without where it was met and without its remedy; the window's quotes are those of the others."""
    text = straight(text)
    text = re.sub(r"^(lamina: error|predict|error): ", "", text.strip())
    text = re.sub(r" in row \d+ \(counted from 0\)", "", text)
    text = text[text.find("column '") :] if "column '" in text and ": " in text else text
    return re.sub(r"\. .*$", "", text)


def noted(notes):
    place = lambda found: f"row {int(found[1]) - 2} (counted from 0)"  # noqa: E731
    return sorted(re.sub(r"line (\d+)", place, note.removeprefix("note: ")) for note in notes if note)


def flags(settings):
    for name, value in settings.items():
        yield "--" + name.replace("_", "-")
        yield ",".join(map(str, value)) if isinstance(value, list) else str(value)


class DoorsTest(CliTest):
    def python(self, jobs):
        return IN_PYTHON.ask({"folder": self.folder, "jobs": jobs})

    def write_rows(self, name, rows):
        with open(self.path(name), "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)

    def program(self, model, *arguments):
        result = self.run_program("predict", model, "asked.csv", "--out", "answers.npy", "--probabilities", *arguments)
        if result.code != 0:
            return {"error": result.err}
        _, shape, values = read_npy(self.read("answers.npy", "rb"))
        notes = [line for line in result.out.splitlines() if line.startswith("note: ")]
        outputs = [list(values[i * shape[1] : (i + 1) * shape[1]]) for i in range(shape[0])]
        answers = self.run_program("predict", model, "asked.csv", *arguments).out.splitlines()[1:]
        return {"outputs": outputs, "labels": [answer.strip('"') for answer in answers], "notes": notes}

    def run_door(self, command, cells, labels):
        done = subprocess.run(
            [*command, *cells], cwd=self.folder, capture_output=True, text=True, check=False, timeout=60
        )
        if done.returncode != 0:
            return {"error": done.stderr}
        rows = [line.split(",") for line in done.stdout.splitlines()]
        named = labels and (EXAMPLE in command or EXAMPLE_PREDICT in command)
        names = ["" if self.is_number(row[0]) else row[0] for row in rows]
        outputs = [[float(field) for field in row[1 if name else 0 :]] for row, name in zip(rows, names)]
        return {"outputs": outputs, "labels": names if named else None, "notes": done.stderr.splitlines()}

    def window(self, model, cells):
        """The file through "Predict a file", and the rows through "Predict typed values"."""
        done = subprocess.run(
            [WINDOW, model, "asked.csv", *cells],
            cwd=self.folder,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        said_by = json.loads(done.stdout)
        if "outputs" in said_by["file"]:
            said_by["file"]["outputs"] = [[float(value) for value in row] for row in said_by["file"]["outputs"]]
        return said_by["file"], said_by["typed"]

    def check_typed(self, kind, expected, typed, what):
        """Who types can correct: an odd cell is refused, with the value; all else is answered as in a file."""
        rows = asked_rows(kind)[1:]
        self.assertEqual(len(typed), len(rows))
        if kind.refused:
            refused = [row for row in typed if kind.refused in straight(row["problem"]) and not row["answer"]]
            self.assertTrue(refused, f"{what}: {typed}")
            return
        odd = [note for note in expected["notes"] if "read as missing" in note]
        for (_, cell), row, label, outputs in zip(rows, typed, expected["labels"], expected["outputs"]):
            if any(f"'{cell.strip()}'" in note for note in odd) and cell.strip():
                self.assertIn(cell.strip(), row["problem"], what)
                self.assertEqual(row["answer"], "", what)
            elif math.isnan(outputs[0]) or kind.classes:
                self.assertEqual(row["answer"], "" if math.isnan(outputs[0]) else label, f"{what}: {row}")
            else:
                shown = f"{what}: {row}, the program: {outputs}"  # in seven digits
                self.assertTrue(math.isclose(float(row["answer"]), outputs[0], rel_tol=1e-5, abs_tol=1e-5), shown)
            if "did not see" in "".join(expected["notes"]) and len(rows) == 1:
                self.assertIn("did not see", row["problem"], what)

    @staticmethod
    def is_number(text):
        try:
            float(text)
        except ValueError:
            return False
        return True

    def onnx(self, model, kind):
        exported = self.run_program("export", "--onnx", model, "-o", "net.onnx")
        if exported.code != 0:
            return {"refused": exported.err}
        rows = asked_rows(kind)[1:]
        if kind.text:
            feeds = {"numbers": [[float(row[0])] for row in rows], "k": [[row[1]] for row in rows]}
        else:
            feeds = {"input": [[float(row[0]), number] for row, number in zip(rows, kind.numbers())]}
        result = ask_onnx(self.path("net.onnx"), feeds, ONNX)
        if "error" in result:
            return {"error": result["error"]}
        outputs = result["outputs"]
        return {
            "outputs": outputs.get("outputs") or outputs["prediction"],
            "labels": outputs.get("label"),
            "notes": None,
        }

    def c_source(self, model, kind, int8=False):
        """The model as C source: numbers as such, texts as they are."""
        self.succeed("export", "--c", "m", model, "-o", "source", *(["--int8"] if int8 else []))
        door = os.path.join(SOURCE, "tests", "cli", "c_source_door.c")
        names = ['-DHEADER="source/m.h"', "-DNAME=m", "-DUPPER=M", *(["-DCLASSES"] if kind.classes else [])]
        names += ["-DINT8"] if int8 else []
        command = [CC, "-std=c99", "-O1", "-I", self.folder, *names, door, "source/m.c", "-o", "c_door", "-lm"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = asked_rows(kind)[1:]
        second = [cell for _, cell in rows] if kind.text else ["nan" if x is None else repr(float(x)) for x in kind.numbers()]
        cells = [part for (x, _), cell in zip(rows, second) for part in (x, cell)]
        done = subprocess.run(["./c_door", *cells], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split(",") for line in done.stdout.splitlines()]
        refused = [line[0] for line in lines if line[0].startswith("code ")]
        if refused and kind.refused:
            return {"error": refused[0]}
        none = [math.nan] * max(len(line) for line in lines)
        count = -1 if kind.classes else None
        return {
            "outputs": [none[:count] if line[0].startswith("code ") else [float(y) for y in line[:count]] for line in lines],
            "labels": ["" if line[0].startswith("code ") else line[-1] for line in lines] if kind.classes else None,
            "notes": None,
        }

    def page(self, model, kind, notes):
        """The page's engine: a file of rows, and each row as if it was typed."""
        self.succeed("export", "--html", model, "-o", "m.html")
        page = self.path("m.html")
        count = len(page_door.ask_page(page, "check")["outputs"])

        def result(answers):
            rows = [answer.get("outputs", [math.nan] * count) for answer in answers]
            names = [answer.get("name", "") for answer in answers]
            return {"outputs": rows, "labels": names if kind.classes else None, "notes": None}

        file = page_door.ask_page(page, self.path("asked.csv"))
        said_by_page = {note["note"] for answer in file["answers"] for note in answer.get("notes", [])}
        said_by_page |= {"odd"} if file["odd"] else set()
        words = {"unseen": "did not see", "filled": "filled in", "far": "far outside", "odd": "read as missing"}
        if not kind.refused:
            self.assertEqual(said_by_page, {name for name, part in words.items() if part in "\n".join(notes)}, file)
        yield "the page, a file", result(file["answers"])
        typed = [each["answers"][0] for each in page_door.ask_page(page, typed=[[row] for row in asked_rows(kind)[1:]])]
        yield "the page, typed", result(typed)

    def service(self, model, kind):
        """lamina serve: rows of texts as JSON, and the file."""
        rows = asked_rows(kind)
        objects = json.dumps([dict(zip(rows[0], row)) for row in rows[1:]])
        with open(self.path("asked.csv"), encoding="utf-8") as file:
            asked = {"JSON": (objects, "application/json"), "CSV": (file.read(), "text/csv")}
        with serve_door.Service(self.folder, model) as service:
            for how, (body, what) in asked.items():
                _, _, got = service.ask("POST", "/predict?probabilities=1", body, Content_Type=what, Accept="application/json")
                said_by = json.loads(got)
                if "error" in said_by:
                    yield f"the service, {how}", said_by
                    continue
                answers = [list((answer or {}).values()) for answer in said_by["answers"]]
                count = max(map(len, answers))
                outputs = [[*answer, *[math.nan] * (count - len(answer))][1 if kind.classes else 0 :] for answer in answers]
                labels = [answer[0] if answer else "" for answer in answers] if kind.classes else None
                yield f"the service, {how}", {"outputs": outputs, "labels": labels, "notes": said_by["notes"]}

    def doors(self, model, kind, by_python, notes):
        """Every door there is, by name, with what it says; `by_python`: what its doors said."""
        cells = [cell for row in asked_rows(kind)[1:] for cell in row]
        if EXAMPLE:
            yield "C", self.run_door([EXAMPLE, "--text", model], cells, bool(kind.classes))
        if EXAMPLE_PREDICT:
            yield "C alone", self.run_door([EXAMPLE_PREDICT, "--text", model], cells, bool(kind.classes))
        if DOOR:
            yield "C++", self.run_door([DOOR, model], cells, False)
        for how, result in by_python.items():
            if "skipped" not in result:
                yield f"Python, {how}", result
        if SERVES and model == "m":
            yield from self.service(model, kind)
        if CC and model == "m":
            yield "C source", self.c_source(model, kind)
        if page_door.NODE and model == "m":
            yield from self.page(model, kind, notes)
        if ONNX and model in EXPORTED:
            result = self.onnx(model, kind)
            self.assertEqual("refused" in result, not kind.onnx, result)
            if kind.onnx:
                yield "ONNX", result

    def assertSame(self, expected, got, what, tolerance=1e-5):
        self.assertEqual("error" in expected, "error" in got, f"{what}: {got}, the program: {expected}")
        if "error" in expected:
            self.assertEqual(said(got["error"]), said(expected["error"]), what)
            return
        self.assertEqual(len(got["outputs"]), len(expected["outputs"]), what)
        for i, (row, other) in enumerate(zip(got["outputs"], expected["outputs"])):
            for one, two in zip(row, other):
                same = (
                    math.isnan(one) and math.isnan(two) or math.isclose(one, two, rel_tol=tolerance, abs_tol=tolerance)
                )
                self.assertTrue(same, f"{what}: row {i}: {row}, the program: {other}")
        if got["labels"] is not None:
            self.assertEqual([str(label) for label in got["labels"]], expected["labels"], what)
        if got["notes"] is not None:
            self.assertEqual(noted(got["notes"]), noted(expected["notes"]), what)

    def check_kind_of_model(self, arguments, onnx, int8):
        """One model through every door but the window; what cannot be exported is refused by name."""
        kind = Kind([f"{10 + i / 12:.3f}" for i in range(100)], [("12.5", 12.5), ("-3", -3), (".5", 0.5), ("19", 19), ("16.25", 16.25)],
                    classes=0 if "regression" in arguments else 3, onnx=onnx)
        self.write_rows("train.csv", twin_rows(kind) if "best" in arguments else rows_of(kind))
        self.write_rows("asked.csv", asked_rows(kind))
        said = self.train_json("train.csv", "--target", "y", "--seed", "1", "--model", "m", *arguments)
        self.assertEqual("best" in arguments, "rows have others with the same inputs" in json.dumps(said))
        expected = self.program("m")
        self.assertIn("outputs", expected, expected)
        by_python = self.python([{"model": "m", "data": "asked.csv", "hows": ["path"]}])[0] if PACKAGE else {}
        for door, got in self.doors("m", kind, by_python, expected["notes"]):
            self.assertSame(expected, got, f"asked through {door}", 2e-3 if door == "ONNX" else 5e-5)
        if CC and int8:
            self.assertSame(self.program("m", "--int8", "made-up"), self.c_source("m", kind, int8=True), "8-bit integers", 0)
        elif not int8:
            self.refuse("export", "--c", "m", "--int8", "m", "-o", "other", says="8-bit integers cannot")

    def check_model(self, model, kind, trained, by_python):
        expected = self.program(model)
        if kind.refused:
            self.assertIn(kind.refused, expected.get("error", ""), expected)
        else:
            self.assertIn("outputs", expected, expected)
            for part in kind.notes:
                self.assertIn(part, "\n".join(expected["notes"]))
        for door, got in self.doors(model, kind, by_python, expected.get("notes", [])):
            if door.split(",")[0] in ("ONNX", "C source", "the page") and kind.refused:  # they have no words: no answer, or an error
                bad = "error" in got or any(math.isnan(value) for row in got["outputs"] for value in row)
                self.assertTrue(bad, f"trained by {trained}, asked through {door}: {got}")
                continue
            self.assertSame(
                expected, got, f"trained by {trained}, asked through {door}", 1e-5 if door != "ONNX" else 2e-3
            )
        if WINDOW and model == "m":  # which rests 150 ms behind what is typed
            file, typed = self.window(model, [cell for row in asked_rows(kind)[1:] for cell in row])
            if not kind.classes and "outputs" in file:
                file["labels"] = None  # numbers, as they are shown
            self.assertSame(expected, file, f"trained by {trained}, a file through the window")
            self.check_typed(kind, expected, typed, f"trained by {trained}, typed in the window")

    def check_kind(self, kind):
        self.write_rows("train.csv", rows_of(kind))
        self.write_rows("asked.csv", asked_rows(kind))
        settings = {**SETTINGS, **kind.settings}
        self.train("train.csv", "--target", "y", "--model", "m", *flags(settings))
        trained = {"m": "the program"}
        said_by_python = {}
        if PACKAGE:
            hows = ["rows", "path", "pandas, all text"] + ([] if kind.pandas_changes_it else ["pandas"])
            trained.update({f"m{i}": how for i, how in enumerate(hows)})
            jobs = [
                {"data": "train.csv", "how": how, "target": "y", "settings": settings, "model": f"m{i}"}
                for i, how in enumerate(hows)
            ]
            jobs += [{"model": model, "data": "asked.csv", "hows": HOWS} for model in trained]
            said_by_python = dict(zip(trained, self.python(jobs)[len(hows) :]))
        for model, by in trained.items():
            self.check_model(model, kind, by, said_by_python.get(model, {}))


def _add(name, kind):
    def test(self):
        self.check_kind(kind)

    test.__doc__ = name
    setattr(DoorsTest, "test_" + re.sub(r"\W+", "_", name), test)


for _name, _kind in KINDS.items():
    _add(_name, _kind)


def _add_model(name, arguments, onnx, int8):
    def test(self):
        self.check_kind_of_model(arguments, onnx, int8)

    test.__doc__ = name
    setattr(DoorsTest, "test_model_" + re.sub(r"\W+", "_", name), test)


for _name, _model in MODELS.items():
    _add_model(_name, *_model)


class AllDoorsTest(unittest.TestCase):
    """Says which doors are not there."""

    def test_C(self):
        if not EXAMPLE:
            self.skipTest("C: the examples were not built (LAMINA_EXAMPLE)")

    def test_C_alone(self):
        if not EXAMPLE_PREDICT:
            self.skipTest("C alone: liblamina_predict was not built (LAMINA_EXAMPLE_PREDICT)")

    def test_Cpp(self):
        if not DOOR:
            self.skipTest("C++: the door was not built (LAMINA_DOOR)")

    def test_window(self):
        if not WINDOW:
            self.skipTest("the window: its door was not built (LAMINA_WINDOW)")

    def test_python(self):
        if not PACKAGE:
            self.skipTest("Python: no interpreter has the package (LAMINA_PACKAGE_PYTHON)")

    def test_c_source(self):
        if not CC:
            self.skipTest("C source: there is no C compiler")

    @unittest.skipUnless(page_door.NODE, f"the page: {page_door.NO_NODE}")
    def test_page(self):
        pass

    @unittest.skipUnless(SERVES, "the service: it was not built (Boost.Beast)")
    def test_service(self):
        pass

    def test_onnx(self):
        if not ONNX:
            self.skipTest("ONNX: no interpreter has onnx and onnxruntime (LAMINA_ONNX_PYTHON)")


if __name__ == "__main__":
    main()
