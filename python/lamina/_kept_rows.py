"""Rows that estimators keep to look for neighbors among them."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Options, StrOptions
from sklearn.utils.validation import validate_data

from . import _core
from ._arrays import Array, as_matrix, threads_of
from ._functions import _METRICS
from ._parameters import Attribute, Parameter, choice, whole

_MINKOWSKI = {1: "l1", 2: "l2"}  # the metric of a p
_BLOCK_BYTES = 1 << 25  # of rows that are dense at a time, and of distances


class _KeptTree:
    """A tree over rows, which is made as soon as it would have paid for those whose neighbors were looked for."""

    def __init__(self) -> None:
        self.tree: Any = None
        self.asked = 0

    def over(self, kept: Array, metric: str, asked: int, threads: int) -> Any:
        """The tree over ``kept`` for so many more rows; None where it does not pay."""
        self.asked += asked
        if self.tree is None:
            rows, dtype = as_matrix(kept, "X")
            self.tree = _core.neighbour_tree(rows, dtype, metric, self.asked, threads)
        return self.tree

    def __getstate__(self) -> dict[str, Any]:
        return {"tree": None, "asked": self.asked}


class KeepsRows(BaseEstimator):
    """Keeps rows, and a tree over them where it pays."""

    _parameters = {
        "algorithm": choice(
            *("auto", "brute", "ball_tree", "kd_tree"),
            text='All give the same answer. A tree over rows of few columns is made once it pays for the neighbors '
            'asked for; "brute" keeps none from call to call.',
        ),
        "metric": Parameter(
            '{"minkowski", "cityblock", "euclidean", "sqeuclidean", ...}',
            'As for `lamina.nearest`; "minkowski" goes by ``p``.',
            [StrOptions({"minkowski", *_METRICS})],
        ),
        "p": Parameter(
            "{1, 2}", '"minkowski" is "cityblock" for 1, "euclidean" for 2.', [Options(Real, set(_MINKOWSKI))]
        ),
        "leaf_size": whole(1, "Accepted for scikit-learn's sake: it changes nothing."),
        "metric_params": Parameter("dict or None", "Accepted for scikit-learn's sake: None or empty.", [dict, None]),
        "n_jobs": Parameter(
            "int or None",
            "Threads; None and negative numbers are as many as the process may use.",
            [None, Integral],
        ),
    }
    _results = {
        "effective_metric_": Attribute('{"l1", "l2", "l2sq"}'),
        "n_features_in_": Attribute("int"),
        "n_samples_fit_": Attribute("int"),
    }

    def _keep(self, X: Any) -> None:
        self._fit_X = X
        self.n_samples_fit_ = X.shape[0]
        if self.metric_params:
            raise ValueError(f"metric_params is {self.metric_params}: no metric of lamina takes any; give p itself")
        self.effective_metric_ = _MINKOWSKI[self.p] if self.metric == "minkowski" else _METRICS[self.metric]
        self._tree = _KeptTree()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows(self, X: Any, reset: bool) -> Any:
        return validate_data(
            self, X, dtype=[np.float64, np.float32], accept_sparse="csr", order="C", reset=reset, copy=reset
        )

    def _asked_rows(self, X: Any) -> Any:
        return self._fit_X if X is None else self._rows(X, reset=False)

    def _threads(self) -> int | None:
        return self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None

    def _tree_for(self, rows: Array) -> Any:
        """The tree over the rows of ``fit``; None where it does not pay."""
        if rows.dtype != self._fit_X.dtype or self.algorithm == "brute":
            return None
        return self._tree.over(self._fit_X, self.effective_metric_, len(rows), threads_of(self._threads()))


def require_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'mode is {mode!r}, but must be "connectivity" or "distance"')


def blocks(rows: Any, columns: int = 0) -> list[slice]:
    """Stretches of the rows that are dense at a time: all of an array unless distances to so many columns are kept."""
    count = rows.shape[0]
    width = max(columns, rows.shape[1] if issparse(rows) else 0)
    step = count if width == 0 else max(1, _BLOCK_BYTES // (8 * width))
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, max(1, step))]


def dense_rows(rows: Any, block: slice) -> Array:
    part = rows[block]
    rows_of: Array = part.toarray() if issparse(part) else part
    return rows_of


def as_objects(values: Array, starts: Array) -> Array:
    objects = np.empty(len(starts) - 1, object)
    objects[:] = np.split(values, starts[1:-1]) if len(objects) else []
    return objects
