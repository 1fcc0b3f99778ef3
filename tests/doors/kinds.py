"""The kinds of columns that every door is shown: how they are trained, and what is asked of them."""

import dataclasses
import random


@dataclasses.dataclass
class Kind:
    """How a column is trained and asked.

    `train`: cells of the column. `asked`: cells, each with the number that it is (None: missing). A text stands alone.
    """

    train: list
    asked: list
    text: bool = False  # the model takes text
    classes: int = 0  # of the target; 0: a number
    settings: dict = dataclasses.field(default_factory=dict)
    refused: str = ""  # what the refusal says
    notes: tuple = ()  # parts of the notes
    pandas_changes_it: bool = False  # reading it, so that a model trained on its frame knows other categories
    onnx: bool = True  # such a model can be exported, and its cells are texts that ONNX is told to take

    def cells(self):
        return [entry if self.text else entry[0] for entry in self.asked]

    def numbers(self):
        return None if self.text else [entry[1] for entry in self.asked]


def days(year, month, day, hours=0.0):
    import datetime

    return (datetime.date(year, month, day) - datetime.date(1970, 1, 1)).days + hours / 24


_DATES = [f"2024-{1 + i % 6:02}-{1 + i % 28:02}" for i in range(168)]
_WORDS = [
    "printer broken again",
    "cannot log in today",
    "new laptop please",
    "screen flickers at night",
    "password is lost",
]
_TEXTS = [f"{_WORDS[i % 5]} {'urgent' if i % 3 else 'later'} {i}" for i in range(240)]

KINDS = {
    "whole numbers": Kind(
        [str(i % 50) for i in range(100)],
        [("3", 3), (" 7 ", 7), ("+5", 5), ("1e1", 10), ("", None), ("N/A", None), ("12", 12)],
    ),
    "numbers far away and odd words": Kind(
        [str(i % 50) for i in range(100)],
        [("3", 3), ("1000000", 1e6), ("abc", None), ("4", 4)],
        notes=("far outside", "'abc'", "filled in"),
    ),
    "real numbers": Kind([f"{i / 7:.3f}" for i in range(100)], [("2.5", 2.5), ("-3", -3), (".5", 0.5), ("", None)]),
    "per cent": Kind([f"{i % 40} %" for i in range(100)], [("12 %", 12), ("7%", 7), ("", None), ("30 %", 30)]),
    "dollars": Kind(
        [f"${1000 + 13 * i:,}.50" for i in range(100)],
        [("$1,234.50", 1234.5), ("$1500", 1500), ("-", None), ("1100", 1100)],
    ),
    "another currency": Kind(
        [f"${1000 + 13 * i}" for i in range(100)],
        [("$1200", 1200), ("1200 €", None)],
        notes=("read as missing", "1200 €"),
    ),
    "German decimals": Kind(
        [f"1.{200 + i},{i % 10}" for i in range(100)], [("1.234,5", 1234.5), ("1.250,25", 1250.25), ("", None)]
    ),
    "huge identifiers": Kind(
        [str(9007199254740993 + 2 * (i % 4)) for i in range(100)],
        ["9007199254740993", "9007199254740995", "9007199254740997", "9007199254740999"],
        text=True,
    ),
    "booleans": Kind([("True", "False")[i % 2] for i in range(100)], ["True", "False", "False"], text=True),
    "booleans in other letters": Kind(
        [("True", "False")[i % 3 > 0] for i in range(100)],
        ["true", "FALSE", "1", "0", "maybe", ""],
        text=True,
        notes=("did not see", "filled in"),
    ),
    "small booleans": Kind([("true", "false")[i % 2] for i in range(100)], ["true", "false", "true"], text=True),
    "yes and no": Kind(
        [("yes", "no")[i % 2] for i in range(100)],
        ["yes", " no ", "", " ", "perhaps"],
        text=True,
        notes=("did not see",),
    ),
    "flags asked with booleans": Kind([str(i % 2) for i in range(100)], [("True", 1), ("False", 0), ("False", 0)]),
    "categories": Kind(
        [["red", "green", "blue", "dark red"][i % 4] for i in range(100)],
        ["red", " blue", "dark red", "pink", "n/a", "", "None", "-"],
        text=True,
        notes=("1 value of categories that training did not see", "filled in"),
    ),
    "two classes": Kind([["a", "b", "c"][i % 3] for i in range(99)], ["a", "c", "", "z"], text=True, classes=2),
    "many classes": Kind([["a", "b", "c"][i % 3] for i in range(99)], ["a", "c", "b"], text=True, classes=4),
    "numbers as categories": Kind(
        [str(100 + i % 5) for i in range(100)],
        ["100", "104", "103", "100"],
        text=True,
        settings={"text_columns": ["k"]},
    ),
    "codes with zeros": Kind(
        [f"{1 + i % 5:03}" for i in range(100)],
        ["001", "005", "003"],
        text=True,
        settings={"text_columns": ["k"]},
        pandas_changes_it=True,
    ),
    "numbers that name something": Kind(
        [str(7 * (i % 12) - 20) for i in range(100)],
        [("-20", -20), ("8", 8), ("9", 9), ("8.5", 8.5), ("1e9", 1e9), ("", None)],
        notes=("far outside",),
        settings={"codes": ["k"]},
    ),
    "a word among few numbers": Kind(
        [["1", "2", "3", "more"][i % 4] for i in range(100)], ["1", "more", "3", ""], text=True
    ),
    "dates": Kind(_DATES, [("2024-03-05", days(2024, 3, 5)), ("", None), ("2024-05-01", days(2024, 5, 1))]),
    "dates, day first": Kind(
        [f"{1 + i % 28}.{1 + i % 6}.2024" for i in range(168)],
        [("5.3.2024", days(2024, 3, 5)), ("13.4.2024", days(2024, 4, 13))],
    ),
    "times with zones": Kind(
        [f"{date}T{i % 24:02}:30:00+02:00" for i, date in enumerate(_DATES)],
        [
            ("2024-03-05T12:00:00+02:00", days(2024, 3, 5, 10)),
            ("2024-03-05 10:00:00Z", days(2024, 3, 5, 10)),
            ("2024-04-01T00:00:00-05:30", days(2024, 4, 1, 5.5)),
        ],
    ),
    "free text": Kind(
        _TEXTS,
        ["printer broken again", "  new laptop please", "quite other words", ""],
        text=True,
        settings={"text": "hash"},
        onnx=False,
    ),
    "scores of free text": Kind(
        _TEXTS,
        ["password is lost", "Cannot log-in, LATER", "quite other words", "", "¿Dónde está, naïve? ünß 日本語 a", "--- !"],
        text=True,
        settings={"text": "score"},
        onnx=False,
    ),
    "scores of free text for classes": Kind(
        [f"{word} {i}" for i in range(60) for word in _WORDS],
        ["password is lost", "screen flickers", "quite other words", ""],
        text=True,
        classes=4,
        settings={"text": "score"},
        onnx=False,
    ),
    "gaps leave rows out": Kind(
        [["red", "green", ""][i % 3] for i in range(99)],
        ["red", "", "green", "n/a"],
        text=True,
        settings={"missing": "drop"},
        notes=("2 of 4 rows have no answer",),
    ),
    "missing numbers leave rows out": Kind(
        [str(i % 20) if i % 9 else "" for i in range(100)],
        [("3", 3), ("", None), ("4", 4)],
        settings={"missing": "drop"},
        notes=("1 of 3 rows have no answer",),
    ),
    "classes with gaps": Kind(
        [["a", "b", "c"][i % 3] for i in range(99)], ["a", "", "b"], text=True, classes=3, settings={"missing": "drop"}
    ),
    "classes with missing numbers": Kind(
        [str(i % 20) if i % 9 else "" for i in range(99)],
        [("3", 3), ("", None), ("4", 4)],
        classes=3,
        settings={"missing": "drop"},
        notes=("1 of 3 rows have no answer",),
    ),
    "missing is an error": Kind(
        [str(i % 20) for i in range(100)],
        [("3", 3), ("", None)],
        settings={"missing": "error"},
        refused="missing value",
    ),
    "unseen is an error": Kind(
        [["a", "b"][i % 2] for i in range(100)],
        ["a", "zebra"],
        text=True,
        settings={"unseen": "error"},
        refused="'zebra'",
    ),
    "marks of one's own": Kind(
        [str(i % 30) if i % 8 else "-999" for i in range(100)],
        [("3", 3), ("-999", None)],
        settings={"missing_values": ["-999"]},
        notes=("filled in",),
    ),
    "all missing": Kind([str(i % 30) for i in range(100)], [("", None), ("", None)], notes=("2 missing values",)),
}


_EPOCHS = ("--epochs", "3", "--recipe", "plain")
# Kinds of models: how they are trained, whether ONNX files and 8-bit integers can say them.
MODELS = {
    "network": (("--hidden", "9", *_EPOCHS), True, True),
    "network of f64": (("--hidden", "9,5", "--dtype", "f64", "--activation", "tanh", *_EPOCHS), True, True),
    "distances": (("--layers", "l1-triangle(radius=4):9,dot-softmax:3", *_EPOCHS), True, True),
    "trained radii": (("--layers", "rbf-radius:9,dot-softmax:3", *_EPOCHS), True, True),
    "residual blocks": (("--layers", "dot-relu:5,residual(dot-tanh:7,dot-identity:5),dot-softmax:3", *_EPOCHS), True, False),
    "normalized layers": (("--hidden", "9", "--normalization", "batch", *_EPOCHS), True, True),
    "members": (("--hidden", "9", "--members", "4", *_EPOCHS), True, False),
    "embeddings": (("--hidden", "9", "--number-embedding", "pbld", *_EPOCHS), True, True),
    "fsvc": (("--method", "fsvc"), True, True),
    "sfsvc": (("--method", "sfsvc"), True, True),
    "elm": (("--method", "elm"), True, True),
    "rfm": (("--method", "rfm"), True, False),
    "boosted trees": (("--method", "boost"), True, True),
    "a network and rfm": (("--recipe", "mixed", "--hidden", "9", "--epochs", "3"), True, False),
    "a line and what it leaves": (
        ("--task", "regression", "--line", "possible", "--recipe", "mixed", "--hidden", "9", "--epochs", "3"), True, False,
    ),
    "rows with the same inputs": (("--effort", "best", "--time-limit", "3s", "--task", "regression"), True, False),
    "nearest neighbors": (("--method", "knn"), False, False),
    "calibrated": (("--hidden", "9", "--calibrate", *_EPOCHS), True, True),
    "regression with intervals": (("--hidden", "9", "--task", "regression", "--intervals", "0.8", *_EPOCHS), True, True),
    "quantiles": (("--hidden", "9", "--task", "regression", "--loss", "quantile", "--quantiles", "0.1,0.9", *_EPOCHS), True, False),
}


def rows_of(kind, seed=1):
    """Header and rows of the training table: x, k and the target y."""
    rng = random.Random(seed)
    values = sorted(set(kind.train))
    rows = [["x", "k", "y"]]
    for cell in kind.train:
        x, place = rng.uniform(0, 10), values.index(cell)
        y = f"c{place % kind.classes}" if kind.classes else f"{x + 3 * place / len(values):.4f}"
        rows.append([f"{x:.3f}", cell, y])
    return rows


def twin_rows(kind):
    """The same of rows of which every sixth has a twin; each place has a number of its own. Those that are asked are
    among them."""
    rng = random.Random(2)
    places = [(x, cell) for x, _ in asked_rows(kind)[1:] for cell in (*kind.cells(), 21)]
    places += [(f"{rng.uniform(0, 4):.3f}", f"{rng.uniform(-3, 20):.3f}") for _ in range(300)]
    rows = []
    for place, (x, cell) in enumerate(places):
        own = rng.gauss(0, 1)
        rows += [[x, cell, f"{float(x) + own + rng.gauss(0, 0.1):.4f}"] for _ in range(2 if place < 30 else 1)]
    rng.shuffle(rows)
    return [["x", "k", "y"], *rows]


def asked_rows(kind):
    """Header and rows to be answered."""
    return [["x", "k"], *([f"{1 + 0.5 * i}", cell] for i, cell in enumerate(kind.cells()))]
