"""Rows that are spread over processes: dask arrays and data frames.

Import it by name: ``import lamina.dask``. What computes is whatever scheduler dask has, a ``dask.distributed.Client`` or
its threads; a partition must fit the memory of its worker. joblib's backend "dask" needs nothing of this: estimators work
under it as they are.
"""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

try:
    import dask
    import dask.array
except ImportError:
    raise ImportError("lamina.dask needs dask: pip install 'dask[array]'") from None
from sklearn.base import clone

from ._arrays import Array
from ._fitting import Moments, Rows


def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fits an extreme learning machine to rows that no single process holds.

    Every partition gives its sums H'H and H'T, which are added up in pairs; the answer is that of ``fit`` for all rows in
    one place, but for rounding (of distances, centres are rows of the first partition).

    Parameters
    ----------
    estimator : ELMClassifier or ELMRegressor
        Left as it is. Its ``C`` must be a number.
    X : dask array or frame, (rows, features)
        All columns numbers.
    y : dask array or series, (rows,) or (rows, targets)
        In the same partitions as X.
    sample_weight : dask array or series, (rows,), optional

    Returns
    -------
    A fitted clone of the estimator.

    Raises
    ------
    ValueError
        Where partitions do not fit one another, or there are none.
    TypeError
        For other estimators.
    """
    from ._elm import _ExtremeLearning

    if not isinstance(estimator, _ExtremeLearning):
        raise TypeError(
            f"{type(estimator).__name__} cannot be fitted in partitions: ELMClassifier and ELMRegressor can; use fit() of"
            " the estimator on rows of one process"
        )
    parts = list(_partitions(X, y, sample_weight))
    fitted = clone(estimator)
    # Nothing but a look at the first partition is computed here: names and numbers of columns, classes.
    x_head, y_head, weight_head = dask.compute(*parts[0])
    classes = None
    if hasattr(fitted, "decision_function"):
        classes = np.unique(np.concatenate(dask.compute(*(dask.delayed(np.unique)(part[1]) for part in parts))))
    rows, outputs, _ = fitted._checked_rows(x_head, y_head, weight_head, True, classes)
    if fitted._encoder is not None:
        raise ValueError("X has columns that are no numbers, or missing values: encode them before, with dask or dask-ml")
    moments = _added([dask.delayed(_moments)(fitted, *part) for part in parts])
    fitted._take_scalings(*dask.compute(moments)[0])
    fitted._begin(rows, outputs)
    sums = _added([dask.delayed(_sums)(fitted, *part) for part in parts])
    fitted._solve(dask.compute(sums)[0])
    return fitted


def predict(estimator: Any, X: Any) -> Any:
    """What ``estimator.predict`` answers, partition by partition: a dask array, computed when it is asked for.

    Parameters
    ----------
    estimator : fitted estimator
        Any of lamina's; it travels to the workers as a pickle.
    X : dask array or frame, (rows, features)

    Returns
    -------
    dask array, (rows,) or (rows, outputs)
    """
    return _answers(estimator, "predict", X)


def predict_proba(estimator: Any, X: Any) -> Any:
    """What ``estimator.predict_proba`` answers, (rows, classes), as `predict`."""
    return _answers(estimator, "predict_proba", X)


def decision_function(estimator: Any, X: Any) -> Any:
    """What ``estimator.decision_function`` answers, as `predict`."""
    return _answers(estimator, "decision_function", X)


def _blocks(a: Any, name: str) -> list[Any]:
    """Its partitions, delayed; all columns of a row in one."""
    if not hasattr(a, "to_delayed"):
        raise TypeError(f"{name} is a {type(a).__name__}, but must be a dask array or frame")
    if getattr(a, "ndim", 0) == 2 and hasattr(a, "rechunk"):
        a = a.rechunk({1: -1})
    return list(np.ravel(np.asarray(a.to_delayed(), dtype=object)))


def _partitions(X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
    x_blocks, y_blocks = _blocks(X, "X"), _blocks(y, "y")
    weight_blocks = [None] * len(x_blocks) if sample_weight is None else _blocks(sample_weight, "sample_weight")
    if not len(x_blocks) == len(y_blocks) == len(weight_blocks) > 0:
        raise ValueError(
            f"X has {len(x_blocks)} partitions, y {len(y_blocks)} and sample_weight {len(weight_blocks)}: they must have the"
            " same, and at least one"
        )
    yield from zip(x_blocks, y_blocks, weight_blocks)


def _rows(estimator: Any, x: Any, y: Any, weight: Any) -> Rows:
    rows: Rows = estimator._checked_rows(x, y, weight, False, None)[0]
    return rows


def _moments(estimator: Any, x: Any, y: Any, weight: Any) -> tuple[Moments, Moments | None]:
    rows = _rows(estimator, x, y, weight)
    return Moments.of(rows.x, rows.weights), None if rows.targets is None else Moments.of(rows.targets, rows.weights)


def _sums(estimator: Any, x: Any, y: Any, weight: Any) -> Array:
    sums: Array = estimator._sums_of(_rows(estimator, x, y, weight))
    return sums


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, tuple):
        return tuple(_add(one, other) for one, other in zip(a, b))
    return None if a is None else a + b


def _added(parts: list[Any]) -> Any:
    """Their sum, pair by pair, so that few of them are in memory at once."""
    while len(parts) > 1:
        pairs = [dask.delayed(_add)(a, b) for a, b in zip(parts[::2], parts[1::2])]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def _answers(estimator: Any, method: str, X: Any) -> Any:
    call = dask.delayed(_answer, pure=True)
    told = dask.delayed(estimator)
    sizes = X.chunks[0] if hasattr(X, "chunks") else None
    blocks = _blocks(X, "X")
    example = _answer(estimator, method, _example(X))
    parts = []
    for place, block in enumerate(blocks):
        rows = np.nan if sizes is None else sizes[place]
        parts.append(
            dask.array.from_delayed(call(told, method, block), (rows, *example.shape[1:]), dtype=example.dtype)
        )
    return dask.array.concatenate(parts)


def _example(X: Any) -> Any:
    """One row of X's kind."""
    if hasattr(X, "_meta_nonempty"):
        return X._meta_nonempty.iloc[:1]
    return np.zeros((1, X.shape[1]), X.dtype)


def _answer(estimator: Any, method: str, x: Any) -> Array:
    answer: Array = getattr(estimator, method)(x)
    return answer


__all__ = ["decision_function", "fit", "predict", "predict_proba"]
