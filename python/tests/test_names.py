"""Hostile names of columns and classes, and the process's locale: no terminal is steered, no answer changes."""

import os
import shutil
import subprocess
import sys
import unicodedata

import numpy as np
import pytest

import lamina

STEERING = "\x1b[35mred\x07\n\u202e\x9b"
DATA = {
    STEERING: np.arange(80) % 7 + np.arange(80) / 1000.0,
    "humidity (%)": [("a" + STEERING, "b")[i % 2] for i in range(80)],
    "answer": [("yes" + STEERING, "<b>no</b>")[i % 2] for i in range(80)],
}


def is_steering(letter):
    return unicodedata.category(letter) in ("Cc", "Zl", "Zp") or unicodedata.bidirectional(letter) in (
        "LRE LRO RLE RLO PDF LRI RLI FSI PDI".split()
    )


def assert_shown(texts):
    for text in texts:
        assert not [letter for letter in text if is_steering(letter)], ascii(text)


def test_notes_and_the_logger_hold_no_controls(caplog):
    with caplog.at_level("INFO", logger="lamina"):
        result = lamina.train(DATA, "answer", epochs=2, hidden=[4])
        unlike = {**DATA, "humidity (%)": ["new" + STEERING] * 80, STEERING: [None] + [1e9] * 79}
        result.model.predict(unlike, missing="mean")
    assert any("humidity (%)" in record.getMessage() for record in caplog.records)
    assert_shown([*result.notes, *(record.getMessage() for record in caplog.records), repr(result), repr(result.model)])
    assert sorted(result.model.classes) == sorted(set(DATA["answer"])), "data stays as it is"


@pytest.mark.parametrize(
    "work",
    [
        lambda model: lamina.train(DATA, "no" + STEERING),
        lambda model: lamina.train(DATA, "answer", drop="no" + STEERING),
        lambda model: lamina.train("no" + STEERING + ".csv", "answer"),
        lambda model: lamina.Model.load("no" + STEERING),
        lambda model: model.predict({"other" + STEERING: [1.0]}),
    ],
)
def test_errors_hold_no_controls(work):
    model = lamina.train(DATA, "answer", epochs=1, hidden=[4]).model
    with pytest.raises(Exception) as raised:  # noqa: PT011 - whichever it is
        work(model)
    assert_shown([str(raised.value)])


def test_the_module_as_a_program_prints_no_controls(tmp_path):
    rows = ["\u202e,x,answer", *(f"{i % 7},{i % 5},y\x1b[35m{i % 2}" for i in range(60))]
    (tmp_path / "d\x1b[35m.csv").write_text("\n".join(rows) + "\n")
    for words in (
        ["train", "d\x1b[35m.csv", "--target", "answer", "--epochs", "1", "--model", "m\x1b[35m.st"],
        ["predict", "m\x1b[35m.st", "d\x1b[35m.csv", "--out", "p.csv"],
        ["predict", "no\x1b[35m", "d\x1b[35m.csv"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "lamina", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == (1 if "no\x1b[35m" in words else 0), done.stderr
        assert_shown([*done.stdout.splitlines(), *done.stderr.splitlines()])


UNDER_A_LOCALE = """
import hashlib, locale, sys, lamina
if len(sys.argv) > 1:
    locale.setlocale(locale.LC_ALL, sys.argv[1])
rows = {"ID": [1000 + i for i in range(80)], "I\u0131": [i % 7 + 0.25 for i in range(80)],
        "i": [("\u0130", "\u0131", "I", "i")[i % 4] for i in range(80)], "y": [i % 7 * 1.5 + i % 4 for i in range(80)]}
result = lamina.train(rows, "y", epochs=3, hidden=[4], learning_rate=0.015)
answers = result.model.predict_outputs({**rows, "I\u0131": [f"{i % 7 + 0.25}" for i in range(80)]})
result.model.save("m.st")
again = lamina.Model.load("m.st").predict_outputs(rows)
print(hashlib.sha256(answers.tobytes() + again.tobytes()).hexdigest(), *result.notes, f"{result.history[-1]['train_loss']}", sep="\\n")
"""


@pytest.fixture(scope="module")
def locales(tmp_path_factory):
    """A folder with locales of a decimal comma, and of letters i with and without a dot."""
    folder = tmp_path_factory.mktemp("locales")
    for name in ("de_DE", "tr_TR"):
        made = shutil.which("localedef") and subprocess.run(
            ["localedef", "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8"], capture_output=True, check=False
        )
        if not made or made.returncode != 0:
            pytest.skip("locales: localedef or its sources (package locales) are not installed")
    return folder


def test_answers_and_words_are_those_of_every_locale(locales, tmp_path):
    def said(*name):
        done = subprocess.run(
            [sys.executable, "-c", UNDER_A_LOCALE, *name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "LOCPATH": str(locales), "LAMINA_TUNE": "off", "PYTHONIOENCODING": "utf-8"},
            encoding="utf-8",
        )
        return done.stdout

    plain = said()
    assert "ID" in plain
    for name in ("de_DE.UTF-8", "tr_TR.UTF-8"):
        assert said(name) == plain
