"""Training with every setting of the program's command ``lamina train``."""

from __future__ import annotations

import json
import logging
import os
from typing import Any, Callable, Iterator

import numpy as np

from . import _core
from ._models import Model
from ._tables import as_columns, class_values, make_table
from ._words import in_python, setting_texts


_LOGGER = logging.getLogger("lamina")


class History:
    """What happened epoch by epoch; a sequence of dicts.

    Attributes
    ----------
    epochs : list of dict
        "epoch", "learning_rate", "train_loss", "train_accuracy", "validation_loss", "validation_accuracy",
        "train_seconds", "validation_seconds", "samples_per_second"; NaN where it makes no sense.
    best_epoch : int
        By validation loss, else by training loss; 0 where there was none.
    """

    def __init__(self, epochs: list[dict[str, Any]], best_epoch: int) -> None:
        self.epochs = epochs
        self.best_epoch = best_epoch

    def __len__(self) -> int:
        return len(self.epochs)

    def __getitem__(self, place: int) -> dict[str, Any]:
        return self.epochs[place]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.epochs)

    def to_pandas(self) -> Any:
        """A pandas frame, a row an epoch."""
        import pandas

        return pandas.DataFrame(self.epochs).set_index("epoch")

    def plot(self, axes: Any = None) -> Any:
        """Losses over epochs, with matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot

            axes = pyplot.gca()
        epochs = [record["epoch"] for record in self]
        for name, label in (("train_loss", "training"), ("validation_loss", "validation")):
            values = [record[name] for record in self]
            if any(value == value for value in values):
                axes.plot(epochs, values, label=label)
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss")
        axes.legend()
        return axes

    def __repr__(self) -> str:
        return f"History({len(self)} epochs, best {self.best_epoch})"


class TrainResult:
    """What came out of `train`.

    Attributes
    ----------
    model : Model
    history : History
    stop_reason : str
        "epochs", "early_stopping", "converged" (L-BFGS), "folds" (effort="best") or "interrupted".
    test : dict or None
        The evaluation of the test rows as the program writes it, where there are any.
    report : dict
        What ``lamina train --json`` writes, but for the history: network, backend, rows, decisions, remarks, times,
        settings, test.
    notes : list of str
        What was decided without being asked for, in the program's words; then the remarks on the result. Decisions are
        the task, columns left out, and values filled in, unseen or left out. ``logging`` has them, too (logger
        "lamina"): decisions as information, remarks as warnings.
    """

    def __init__(
        self,
        model: Model,
        history: History,
        stop_reason: str,
        test: dict[str, Any] | None,
        notes: list[str] | None = None,
        report: dict[str, Any] | None = None,
    ) -> None:
        self.model = model
        self.history = history
        self.stop_reason = stop_reason
        self.test = test
        self.notes = notes or []
        self.report = report or {}

    def __repr__(self) -> str:
        return f"TrainResult({self.model!r}, {len(self.history)} epochs, {self.stop_reason})"


def train(
    data: Any,
    target: str | list[str] | None = None,
    *,
    test: Any = None,
    validation: Any = None,
    on_epoch: Callable[[dict[str, Any]], Any] | None = None,
    on_progress: Callable[[int, int, int, int], Any] | None = None,
    **settings: Any,
) -> TrainResult:
    """One training run from a table or file to a model, as ``lamina train`` does it.

    Parameters
    ----------
    data : frame of pandas or polars, Arrow table, dict of columns, list of dicts, 2-d array; or the path of a file
        (CSV, .xlsx, .ods, .npy).
        Rows with their target. Texts are read as cells of a file: dates, amounts such as "$1,200" and marks of missing
        values. A pandas ``category``, or a column that ``text_columns`` names, stays text. Columns of numbers are not
        copied before they are encoded.
    target : str or list of str, optional
        The column to be predicted; the last one where it is left out.
    test, validation : as ``data``, optional
        Rows to be tested with, or watched while training.
    on_epoch : callable, optional
        Called with the dict of `History` after each epoch; True stops training.
    on_progress : callable, optional
        Called some times a second with epoch, epochs, step, steps.
    **settings
        Every setting of ``lamina train`` by its name, with ``_`` for ``-``: effort="best", time_limit="60s",
        hidden=[64, 32], epochs=20, learning_rate=0.01, model="out.safetensors", ... ``lamina.settings()`` lists them.

    Returns
    -------
    TrainResult

    Raises
    ------
    ValueError
        For settings and data that cannot be used, with the program's sentence.

    Notes
    -----
    Ctrl-C ends the run after its step, or cuts a long one short. The result then has the model so far and stop_reason
    "interrupted".
    """
    data, test, validation = as_columns(data), as_columns(test), as_columns(validation)
    targets = [target] if isinstance(target, str) else target
    texts = setting_texts(settings if targets is None else {"target": targets, **settings})
    if isinstance(data, (str, os.PathLike)):
        others = {"data": data, "test": test, "validation": validation}
        texts += [(name, os.fspath(path)) for name, path in others.items() if path is not None]
        tables: list[_core.Table | None] = [None, None, None]
    else:
        texts.append(("data", "the table"))
        named = ((data, "the table"), (test, "the test table"), (validation, "the validation table"))
        tables = [None if rows is None else make_table(rows, name) for rows, name in named]
    call: Callable[[dict[str, Any]], bool] | None = None
    if on_epoch is not None:
        asked = on_epoch

        def call(record: dict[str, Any]) -> bool:
            said = asked(record)
            return isinstance(said, (bool, np.bool_)) and bool(said)

    done: Any = _core.train(texts, tables[0], tables[1], tables[2], call, on_progress)
    core, epochs, best, reason, report, notes = done
    told = json.loads(report)
    notes, remarks = [in_python(note) for note in notes], [in_python(remark) for remark in told["remarks"]]
    for note in notes:
        _LOGGER.log(logging.WARNING if ": warning: " in note else logging.INFO, "%s", note)
    for remark in remarks:
        _LOGGER.warning("%s", remark)
    values = None
    if core.class_names and not isinstance(data, (str, os.PathLike)) and "class_map" not in settings:
        values = class_values(data, core.target_names[0], core.class_names)
    return TrainResult(Model(core, values), History(epochs, best), reason, told.get("test"), [*notes, *remarks], told)


def settings() -> list[str]:
    """The names of the settings that `train` takes."""
    return [name.replace("-", "_") for name in _core.setting_names()]
