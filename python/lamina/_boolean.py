"""Distances between rows of truths: all by how many columns are true in both, in one of them, in none."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Array, as_array, threads_of
from ._device import is_on_gpu

_BLOCK_BYTES = 1 << 25  # of distances that are computed at a time


class Counts(NamedTuple):
    """Columns, or what they weigh, of every row of x with every row of y."""

    both: Array
    only_x: Array
    only_y: Array
    neither: Array

    @property
    def different(self) -> Array:
        """The number of columns that are true in exactly one of the two."""
        return self.only_x + self.only_y

    @property
    def all(self) -> Array:
        """The number of all columns."""
        return self.both + self.different + self.neither


def _share(part: Array, whole: Array) -> Array:
    """NaN where there is nothing to have a share of."""
    with np.errstate(invalid="ignore"):
        shares: Array = part / whole
    return shares


def _share_or_0(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def _yule(counts: Counts) -> Array:
    mixed = counts.only_x * counts.only_y
    return _share_or_0(2 * mixed, counts.both * counts.neither + mixed)


# As SciPy defines them.
BOOLEAN: dict[str, Callable[[Counts], Array]] = {
    "dice": lambda c: _share(c.different, 2 * c.both + c.different),
    "hamming": lambda c: _share(c.different, c.all),
    "jaccard": lambda c: _share_or_0(c.different, c.both + c.different),
    "rogerstanimoto": lambda c: _share(2 * c.different, c.all + c.different),
    "russellrao": lambda c: _share(c.all - c.both, c.all),
    "sokalsneath": lambda c: _share(2 * c.different, c.both + 2 * c.different),
    "yule": _yule,
}


_BY_NUMBERS = ("dice", "hamming")  # SciPy has answers by numbers, too


def _truths(rows: Any, name: str, metric: str) -> Array:
    """The rows as booleans: whether a number is not 0."""
    if is_on_gpu(rows):
        raise ValueError(f"{name} is on a GPU: metric {metric!r} is computed in host memory")
    array = as_array(rows, name)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, 2 are needed")
    truths: Array = array != 0
    if metric in _BY_NUMBERS and not ((array == 1) | ~truths).all():
        raise ValueError(f"{name} has numbers beside 0 and 1: metric {metric!r} is for rows of truths, as {name} != 0")
    return truths


def boolean_distances(x: Any, y: Any, metric: str, w: Any, out: Any, backend: str, threads: int | None) -> Array:
    """`cdist` by a metric of ``BOOLEAN``."""
    of_x = _truths(x, "x", metric)
    of_y = of_x if y is None else _truths(y, "y", metric)
    if of_x.shape[1] != of_y.shape[1]:
        raise ValueError(f"x has {of_x.shape[1]} columns and y {of_y.shape[1]}: they must be as many")
    weights = np.ones(of_x.shape[1]) if w is None else np.asarray(w, np.float64)
    if weights.shape != (of_x.shape[1],):
        raise ValueError(f"w has shape {weights.shape}, ({of_x.shape[1]},) is needed: a weight of each column")
    if not (weights >= 0).all():
        raise ValueError("Input weights should be all non-negative")
    shape = (len(of_x), len(of_y))
    fits = isinstance(out, np.ndarray) and out.shape == shape and out.dtype == np.float64 and out.flags.c_contiguous
    if out is not None and not fits:
        raise ValueError(f"out must be a C-contiguous array of NumPy of float64 and shape {shape} for metric {metric!r}")
    distances = np.empty(shape) if out is None else out
    right_sides = [of_y.astype(np.float64), (~of_y).astype(np.float64)]  # what nothing counts for is 0, not nearly so
    step = max(1, _BLOCK_BYTES // (8 * max(1, shape[1])))
    for begin in range(0, shape[0], step):
        rows = slice(begin, min(begin + step, shape[0]))
        parts = [np.empty((rows.stop - rows.start, shape[1])) for _ in range(4)]
        for part, (left, right) in zip(parts, itertools.product((of_x[rows], ~of_x[rows]), right_sides), strict=True):
            if part.size:
                _core.distances(left * weights, right, "f64", "dot", part, backend, threads_of(threads))
        distances[rows] = BOOLEAN[metric](Counts(*parts))
    return distances
