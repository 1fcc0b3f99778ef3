"""The doors of the Python package, run by an interpreter that has it: answers lines of JSON (tests/cli/talker.py).

A line has the "folder" of its files and "jobs", whose results are the answer. A job trains (data, how, target,
settings, model) or answers (model, data, hows).
"""

import csv
import json
import logging
import os
import sys

import lamina


class Notes(logging.Handler):
    """The messages of the logger "lamina"."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


def _read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def _columns(path):
    header, *rows = _read(path)
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def _pandas(path, **options):
    import pandas

    return pandas.read_csv(path, **options)


def _polars(path, **options):
    import polars

    return polars.read_csv(path, **options)


HOWS = {
    "path": lambda path: path,
    "pandas": _pandas,
    "pandas, all text": lambda path: _pandas(path, dtype=str, keep_default_na=False),
    "polars": _polars,
    "polars, all text": lambda path: _polars(path, infer_schema=False),
    "dict": _columns,
    "rows": lambda path: [dict(zip(_read(path)[0], row)) for row in _read(path)[1:]],
    "rows of pandas": lambda path: _pandas(path).to_dict("records"),
}


def _answer(job, how, notes):
    notes.texts.clear()
    try:
        model = lamina.Model.load(job["model"])
        table = HOWS[how](job["data"])
        outputs = model.predict_outputs(table)
        said = list(notes.texts)
        return {
            "outputs": outputs.tolist(),
            "labels": model.predict(table).tolist() if model.classes else None,
            "notes": said,
        }
    except ImportError as error:
        return {"skipped": str(error)}
    except lamina.Error as error:
        return {"error": str(error)}


def _train(job, notes):
    notes.texts.clear()
    result = lamina.train(HOWS[job["how"]](job["data"]), job["target"], model=job["model"], **job["settings"])
    return {"notes": result.notes}


def main():
    notes = Notes()
    logging.getLogger("lamina").addHandler(notes)
    logging.getLogger("lamina").setLevel(logging.INFO)
    for line in sys.stdin:
        asked = json.loads(line)
        os.chdir(asked["folder"])
        results = []
        for job in asked["jobs"]:
            if "hows" in job:
                results.append({how: _answer(job, how, notes) for how in job["hows"]})
            else:
                results.append(_train(job, notes))
        print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
