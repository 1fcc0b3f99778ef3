"""What is said, and what tables may be: the words of the program with parameters of Python."""

import datetime
import subprocess
import sys

import numpy as np
import pytest

import lamina
from lamina._words import in_python

pandas = pytest.importorskip("pandas")
SETTINGS = dict(epochs=2, hidden=[4], recipe="plain", seed=1)


def rows(count=90):
    return [{"k": ["red", "green", "blue"][i % 3], "n": float(i % 7), "y": i % 5 + i % 3 + 0.25} for i in range(count)]


def test_lists_of_dicts_dicts_of_values_and_paths_are_tables(tmp_path):
    data = rows()
    model = lamina.train(data, "y", **SETTINGS).model
    frame = pandas.DataFrame(data)
    expected = model.predict(frame)
    np.testing.assert_array_equal(model.predict(data), expected)
    np.testing.assert_array_equal(model.predict({"k": "green", "n": 1}), expected[1:2])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    np.testing.assert_array_equal(model.predict(tmp_path / "rows.csv"), expected)
    np.testing.assert_array_equal(lamina.train(tmp_path / "rows.csv", "y", **SETTINGS).model.predict(data), expected)


def test_notes_count_what_was_filled_in_and_unseen(caplog):
    data = pandas.DataFrame(rows())
    data.loc[[2, 5], "n"] = np.nan
    result = lamina.train(data, "y", **SETTINGS)
    assert any(
        "missing values filled in (column: n)" in note or "missing value filled in (column: n)" in note
        for note in result.notes
    )
    caplog.clear()
    with caplog.at_level("INFO", logger="lamina"):
        result.model.predict([{"k": "pink", "n": "abc"}])
    assert [record.getMessage() for record in caplog.records] == [
        "1 value of categories that training did not see became zeros (column: k)",
        "1 cell among numbers read as missing, like 'abc' (column: n)",
        "1 missing value filled in (column: n)",
    ]


def test_remedies_name_parameters_that_exist():
    model = lamina.train(rows(), "y", missing="error", unseen="error", **SETTINGS).model
    with pytest.raises(ValueError, match="category not seen in training.*'pink'.* unseen='zero'"):
        model.predict([{"k": "pink", "n": 1}])
    assert np.isfinite(model.predict([{"k": "pink", "n": 1}], unseen="zero")).all()
    with pytest.raises(ValueError, match="missing value.* missing='drop'"):
        model.predict([{"k": "red", "n": None}])
    assert np.isnan(model.predict([{"k": "red", "n": None}], missing="drop")).all()
    with pytest.raises(lamina.UnknownColumnError, match="by_position=True") as caught:
        model.predict(pandas.DataFrame({"a": ["red"], "b": [1.0]}))
    assert "--" not in str(caught.value) + caught.value.remedy
    assert np.isfinite(model.predict(pandas.DataFrame({"a": ["red"], "b": [1.0]}), by_position=True)).all()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("with --missing drop, or --missing mean.", "with missing='drop', or missing='mean'."),
        ("try --learning-rate 0.1.", "try learning_rate=0.1."),
        ("Leave --encoding out, or name another one.", "Leave encoding out, or name another one."),
        ("Use --strict; --json has all", "Use strict; --json has all"),
        ("--by-position takes the columns", "by_position=True takes the columns"),
        ("fewer columns or --weight-decay help", "fewer columns or weight_decay help"),
        ("left out (else --use Nr.)", "left out (else use='Nr.')"),
        ("left out (else --use 'How old, roughly?')", "left out (else use=['How old', 'roughly?'])"),
        ("left out (else --use '\"How old, roughly?\"')", "left out (else use=['How old, roughly?'])"),
        ("(else --text-columns 'T in [°C]')", "(else text_columns='T in [°C]')"),
        ("it is told (else --missing-indicator no)", "it is told (else missing_indicator='no')"),
    ],
)
def test_flags_become_parameters(text, expected):
    assert in_python(text) == expected


def test_files_and_columns_that_are_missing_are_told_apart(tmp_path):
    pandas.DataFrame(rows()).to_csv(tmp_path / "rows.csv", index=False)
    for data in (tmp_path / "rows.csv", rows()):
        with pytest.raises(ValueError, match="cost") as caught:
            lamina.train(data, "cost")
        assert not isinstance(caught.value, FileNotFoundError)
    for call in (
        lambda: lamina.train(tmp_path / "my column.csv", "y"),
        lambda: lamina.Model.load(tmp_path / "no class"),
        lambda: lamina.train(tmp_path / "rows.csv", "y", test=tmp_path / "absent.csv"),
    ):
        with pytest.raises(FileNotFoundError):
            call()


def test_dates_and_numbers_are_not_taken_for_each_other():
    day = datetime.date(2024, 1, 1)
    data = [{"d": day + datetime.timedelta(i), "n": i % 7, "y": i % 5 + 0.25} for i in range(90)]
    model = lamina.train(data, "y", **SETTINGS).model
    text = [{**row, "d": row["d"].isoformat()} for row in data]
    np.testing.assert_allclose(model.predict(text), model.predict(data))
    with pytest.raises(ValueError, match="'d'.*numbers where the training had dates"):
        model.predict([{"d": 19723, "n": 1}])
    with pytest.raises(ValueError, match="'n'.*dates where the training had numbers"):
        model.predict([{"d": day, "n": day}])


def test_the_module_is_a_program(tmp_path):
    pandas.DataFrame(rows()).to_csv(tmp_path / "rows.csv", index=False)

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "lamina", *arguments], cwd=tmp_path, capture_output=True, text=True
        )

    done = run("train", "rows.csv", "--target", "y", "--epochs", "2", "--recipe=plain", "--model", "m")
    assert done.returncode == 0 and "wrote m" in done.stdout, done.stderr
    done = run("predict", "m", "rows.csv")
    answers = [float(line) for line in done.stdout.splitlines()[1:]]
    np.testing.assert_allclose(answers, lamina.Model.load(tmp_path / "m").predict(tmp_path / "rows.csv"), rtol=1e-6)
    assert run("predict", "absent", "rows.csv").returncode == 1
    assert "lamina: error: " in run("predict", "absent", "rows.csv").stderr
    assert run("train", "rows.csv", "--epoch", "2").returncode == 2
