"""Rows that are spread over processes: dask arrays and data frames.

Import it by name: ``import lamina.dask``. Whatever scheduler dask has computes: a ``dask.distributed.Client``, or its
threads. A partition must fit the memory of its worker. joblib's backend "dask" needs nothing of this: estimators work
under it as they are.
"""

from __future__ import annotations

from typing import Any, Iterator, cast

import numpy as np

try:
    import dask
    import dask.array
except ImportError:
    raise ImportError("lamina.dask needs dask: pip install 'dask[array]'") from None
from sklearn.base import clone

from . import _core
from ._arrays import Array, threads_of
from ._fitting import Moments, Rows
from ._network import Network


def fit(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fits an extreme learning machine to rows that no single process holds.

    Every partition gives its sums H'H and H'T, which are added up in pairs. The answer is that of ``fit`` for all rows
    in one place, but for rounding. Centers of distances that are rows are rows of the first partition.

    Centers of clusters (``centres="k-means"`` or ``"k-medians"``) need up to 52 passes through all partitions: give an
    X that is persisted, or quick to make. They start at the same rows as in one place. Means differ by rounding,
    medians do not. Where a row is equally near to two centers but for rounding, clusters may differ from there on.

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
    fitted._begin(rows, outputs, lambda network, _, seed: _place(fitted, parts, network, seed))
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


def _place(estimator: Any, parts: list[Any], network: Network, seed: int) -> None:
    """Moves the network's centers to those of clusters of all rows: Lloyd's iterations, as lamina/rbf/clusters.cc."""
    kind, centres = estimator.centres, network.weights(0)
    blocks = [dask.delayed(_features)(estimator, *part) for part in parts]
    rows = dask.compute(*(dask.delayed(len)(block) for block in blocks))
    sample = np.asarray(_core.cluster_sample(sum(rows), kind, len(centres), seed))
    firsts = np.cumsum([0, *rows])
    chosen = [
        dask.delayed(_taken)(block, sample[(first <= sample) & (sample < last)] - first)
        for block, first, last in zip(blocks, firsts, firsts[1:])
    ]
    how = estimator._dtype, kind, str(estimator.device), threads_of(estimator.threads)
    start = np.ascontiguousarray(np.concatenate(dask.compute(*chosen)))
    centres[...] = _core.cluster_start(start, sum(rows), how[0], kind, len(centres), seed, *how[2:])
    before: list[Any] = [None] * len(blocks)
    for _ in range(_core.cluster_iterations):
        now = np.array(centres, order="C")
        assigned = list(dask.persist(*(dask.delayed(_assigned)(block, now, *how) for block in blocks)))
        told = dask.compute(*(dask.delayed(_told)(each, last, len(centres)) for each, last in zip(assigned, before)))
        if not any(changed for changed, _ in told):
            break
        sizes = np.sum([counts for _, counts in told], axis=0)
        for empty in np.flatnonzero(sizes == 0):
            _fill(assigned, sizes, int(empty))
        centres[...] = _middles(blocks, assigned, sizes, None if kind == "k-means" else centres.shape[1])
        before = assigned


def _features(estimator: Any, x: Any, y: Any, weight: Any) -> Array:
    """A partition's rows, scaled."""
    rows = _rows(estimator, x, y, weight)
    return np.array(Rows(rows.x, np.zeros((len(rows.x), 1)), None, None).dataset(estimator._x_scaling, estimator._dtype, 1).features())


def _taken(rows: Array, which: Array) -> Array:
    return rows[which]


def _assigned(rows: Array, centres: Array, dtype: str, kind: str, device: str, threads: int) -> tuple[Array, Array]:
    """The center of every row, and its distance."""
    found: Any = _core.cluster_rows(rows, centres, dtype, kind, device, threads)
    labels, distances = found
    return labels[0], distances[0]


def _told(assigned: tuple[Array, Array], before: tuple[Array, Array] | None, count: int) -> tuple[bool, Array]:
    """Whether a row has another center than before, and how many rows each center has."""
    changed = before is None or not np.array_equal(assigned[0], before[0])
    return changed, np.bincount(assigned[0], minlength=count)


def _fill(assigned: list[Any], sizes: Array, empty: int) -> None:
    """Gives a center without rows the row that is farthest from its own center, the first of several.

    Only centers that have other rows give one away.
    """
    farthest = dask.compute(*(dask.delayed(_farthest)(each, sizes) for each in assigned))
    place = max((i for i, found in enumerate(farthest) if found is not None), key=lambda i: float(farthest[i][0]))
    _, row, centre = farthest[place]
    assigned[place] = dask.delayed(_moved)(assigned[place], row, empty).persist()
    sizes[centre] -= 1
    sizes[empty] = 1


def _farthest(assigned: tuple[Array, Array], sizes: Array) -> tuple[float, int, int] | None:
    labels, distances = assigned
    eligible = sizes[labels] > 1
    if not eligible.any():
        return None
    row = int(np.argmax(np.where(eligible, distances, -1)))
    return float(distances[row]), row, int(labels[row])


def _moved(assigned: tuple[Array, Array], row: int, centre: int) -> tuple[Array, Array]:
    labels, distances = assigned[0].copy(), assigned[1].copy()
    labels[row], distances[row] = centre, 0
    return labels, distances


def _middles(blocks: list[Any], assigned: list[Any], sizes: Array, columns: int | None) -> Array:
    """Means, from the partitions' sums; or the medians of so many columns, each where all of its values meet."""
    if columns is None:
        sums = _added([dask.delayed(_sums_of)(block, each, len(sizes)) for block, each in zip(blocks, assigned)])
        means: Array = dask.compute(sums)[0] / sizes[:, None]
        return means
    medians = []
    for part in np.array_split(np.arange(columns), min(columns, len(blocks))):
        values = [dask.delayed(_columns)(block, part) for block in blocks]
        medians.append(dask.delayed(_medians)(values, assigned, len(sizes)))
    return np.concatenate(dask.compute(*medians), axis=1)


def _sums_of(rows: Array, assigned: tuple[Array, Array], count: int) -> Array:
    sums = _core.cluster_sums(rows, assigned[0], "f32" if rows.dtype == np.float32 else "f64", count)
    return cast(Array, sums)


def _columns(rows: Array, which: Array) -> Array:
    return rows[:, which]


def _medians(parts: list[Array], assigned: list[tuple[Array, Array]], count: int) -> Array:
    values = np.concatenate(parts).astype(np.float64)
    labels = np.concatenate([labels for labels, _ in assigned])
    return np.stack([np.median(values[labels == centre], axis=0) for centre in range(count)])


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
