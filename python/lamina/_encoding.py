"""Columns of text and missing values, by the library's own encoder; models with their preprocessing."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import Any, Iterator, cast

import numpy as np

from . import _core
from ._arrays import Array
from ._errors import Error
from ._models import Model
from ._sparse import is_sparse
from ._tables import _columns, _values, column_names, is_table, is_text, make_table, refuse_doubles

_TARGET = "target"


def needs_encoding(X: Any, missing: str) -> bool:
    """Whether X has columns of text or dates, or may miss values."""
    if missing != "error":
        return not is_sparse(X)
    if not is_table(X) or is_sparse(X):
        return False
    refuse_doubles(X, "X")
    return any(is_text(values) or values.dtype.kind in "Mm" for values in (_values(column) for _, column in _columns(X)))


def _unused_name(names: list[str]) -> str:
    name = _TARGET
    while name in names:
        name += "_"
    return name


# Remedies that estimators do not have, and what is left of them.
_NOT_HERE = (
    (re.compile(r"leave the rows out with missing='drop'"), "leave the rows out"),
    (re.compile(r" ?by_position=True takes [^.]*\."), ""),
)


@contextmanager
def _in_estimators_words() -> Iterator[None]:
    """Errors of the library with the remedies that estimators have."""

    def said(text: str) -> str:
        for other, here in _NOT_HERE:
            text = other.sub(here, text)
        return text

    try:
        yield
    except Error as error:
        error.args = (said(str(error)),)
        error.remedy = said(error.remedy)
        raise


class TableEncoder:
    """Tables as rows of numbers: texts one-hot, numbers standardized, gaps filled, as the program does it."""

    def __init__(self, X: Any, missing: str, unseen: str = "zero") -> None:
        self.by_name = is_table(X)
        self.names = column_names(X) if self.by_name else [f"x{j}" for j in range(np.shape(X)[1])]
        rows = len(next(iter(_columns(X)))[1]) if self.by_name else len(X)
        target = _unused_name(self.names)
        table = make_table(X, "X", {target: np.arange(rows, dtype=np.float64)})
        with _in_estimators_words():
            self._core = _core.Encoder(table, target, missing, unseen)

    def check(self, X: Any) -> list[str]:
        """The names of the columns; ValueError where a table has no rows."""
        if is_table(X) and len(next(iter(_columns(X)), ("", ()))[1]) == 0:
            shape = (0, len(self.names))
            raise ValueError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
        return self.names

    def encode(self, X: Any) -> Array:
        """(rows, numbers) in float64; errors name row and column."""
        with _in_estimators_words():
            return cast(Array, self._core.encode(make_table(X, "X")))

    @property
    def preprocessor(self) -> dict[str, Any]:
        """As it stands in a model's file."""
        return dict(json.loads(self._core.json))

    def __getstate__(self) -> dict[str, Any]:
        return {"by_name": self.by_name, "names": self.names, "json": self._core.json}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.by_name, self.names = state["by_name"], state["names"]
        self._core = _core.Encoder.from_json(state["json"])


def model_of(estimator: Any) -> Model:
    """The fitted network of an estimator with what stands around it."""
    if estimator._encoder is not None:
        node = estimator._encoder.preprocessor
    else:
        names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
        names = names or [f"x{j}" for j in range(estimator.n_features_in_)]
        numbers = np.vstack([np.zeros(len(names)), np.ones(len(names))])
        columns = dict(zip(names, numbers.T))
        target = _unused_name(names)
        encoder = _core.Encoder(make_table(columns, "X", {target: np.array([0.0, 1.0])}), target, "error", "zero")
        node = json.loads(encoder.json)
        offsets, scales = estimator._x_scaling or (np.zeros(len(names)), np.ones(len(names)))
        for column, offset, scale in zip(node["inputs"], offsets, scales):
            column.update(offset=float(offset), scale=float(scale), fill=float(offset))
    _set_targets(node, estimator)
    loss, _ = estimator._output()
    others, gates = estimator._leaves or ((), None)
    core = _core.Model.from_network(
        estimator._network._core, loss, json.dumps(node), [other._core for other in others], gates and gates._core
    )
    return Model(core)


def _set_targets(node: dict[str, Any], estimator: Any) -> None:
    template = node["targets"][0]
    count = estimator.n_outputs_
    if hasattr(estimator, "classes_") and not estimator._multilabel:
        node["task"] = "classification"
        node["classes"] = [str(name) for name in estimator.classes_]
        node["single_output"] = count == 1
        template.update(offset=0.0, scale=1.0)
        return
    offsets, scales = estimator._y_scaling or (np.zeros(count), np.ones(count))
    node["targets"] = [
        {
            **template,
            "name": template["name"] if count == 1 else f"{template['name']}{place}",
            "position": template["position"] + place,
            "offset": float(offset),
            "scale": float(scale),
            "fill": float(offset),
        }
        for place, (offset, scale) in enumerate(zip(offsets, scales))
    ]
    node["columns"] = template["position"] + count
