"""Exact neighbours with scikit-learn's contract, all by `lamina.nearest` and `lamina.cdist`."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._arrays import Array, as_matrix, threads_of
from ._functions import _METRICS, cdist, nearest_by

_MINKOWSKI = {1: "l1", 2: "l2"}  # the metric of a p
_BLOCK_BYTES = 1 << 25  # of rows that are dense at a time, and of distances


class _KeptTree:
    """A tree over rows, which is made as soon as it would have paid for those whose neighbours were looked for."""

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


class _Neighbors(BaseEstimator):
    """Keeps rows and finds the nearest of them."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions({"auto", "brute", "ball_tree", "kd_tree"})],
        "metric": [StrOptions({"minkowski", *_METRICS})],
        "p": [Options(Real, set(_MINKOWSKI))],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "metric_params": [dict, None],
        "n_jobs": [None, Integral],
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

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Array | tuple[Array, Array]:
        """Distances and numbers of the rows of ``fit`` that are nearest to the rows of X.

        Parameters
        ----------
        X : array or sparse matrix, (rows, features), optional
            Left out: the rows of ``fit`` themselves, which are then not their own neighbours.
        n_neighbors : int, optional
            ``n_neighbors`` of the constructor where it is left out.
        return_distance : bool

        Returns
        -------
        distances : array, (rows, n_neighbors)
            Ascending; only with ``return_distance``.
        indices : array of int64, (rows, n_neighbors)
            Of equal distances the lower first.
        """
        distances, indices = self._nearest(X, n_neighbors)
        return (distances, indices) if return_distance else indices

    def _nearest(self, X: Any, n_neighbors: int | None = None) -> tuple[Array, Array]:
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k < 1:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        own = X is None
        rows = self._asked_rows(X)
        if k + own > self.n_samples_fit_:
            raise ValueError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {rows.shape[0]}"
            )
        if issparse(rows) or issparse(self._fit_X):
            found = self._nearest_of_blocks(rows, k + own)
        else:
            tree = self._tree_for(rows)
            found = nearest_by(rows, self._fit_X, k + own, self.effective_metric_, threads=self._threads(), tree=tree)
        return _without_self(*found) if own else found

    def _threads(self) -> int | None:
        return self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None

    def _tree_for(self, rows: Array) -> Any:
        """The tree over the rows of ``fit``; None where it does not pay."""
        if rows.dtype != self._fit_X.dtype or self.algorithm == "brute":
            return None
        return self._tree.over(self._fit_X, self.effective_metric_, len(rows), threads_of(self._threads()))

    def _nearest_of_blocks(self, rows: Any, k: int) -> tuple[Array, Array]:
        """The same where rows are sparse: few of them are dense at a time."""
        distances, indices = [], []
        for begin in _blocks(rows):
            x = _dense(rows, begin)
            best: tuple[Array, Array] | None = None
            for other in _blocks(self._fit_X):
                y = _dense(self._fit_X, other)
                near, which = nearest_by(x, y, min(k, len(y)), self.effective_metric_, threads=self._threads())
                which += other.start
                if best is not None:
                    near, which = np.hstack([best[0], near]), np.hstack([best[1], which])
                order = np.argsort(near, axis=1, kind="stable")[:, :k]
                best = np.take_along_axis(near, order, 1), np.take_along_axis(which, order, 1)
            assert best is not None
            distances.append(best[0])
            indices.append(best[1])
        return np.concatenate(distances), np.concatenate(indices)

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The nearest rows as a sparse matrix in CSR, (rows of X, rows of ``fit``).

        Parameters
        ----------
        X, n_neighbors
            As for `kneighbors`.
        mode : {"connectivity", "distance"}
            What it holds: ones, or distances.
        """
        _require_mode(mode)
        distances, indices = self._nearest(X, n_neighbors)
        data = distances.astype(np.float64) if mode == "distance" else np.ones(indices.shape)
        starts = np.arange(0, indices.size + 1, indices.shape[1])
        return csr_matrix((data.ravel(), indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))


class _Radius(_Neighbors):
    """Finds all rows that are no farther than a radius, too."""

    _parameter_constraints = {
        **_Neighbors._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="both"), None],
    }

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Array | tuple[Array, Array]:
        """Distances and numbers of all rows of ``fit`` that are no farther than a radius from the rows of X.

        Parameters
        ----------
        X : array or sparse matrix, (rows, features), optional
            Left out: the rows of ``fit`` themselves, which are then not their own neighbours.
        radius : float, optional
            ``radius`` of the constructor where it is left out; a row at exactly this distance is within it.
        return_distance : bool
        sort_results : bool
            Nearest first, of equal distances the lower number; else by number.

        Returns
        -------
        distances : array of arrays, (rows,)
            Only with ``return_distance``.
        indices : array of arrays of int64, (rows,)
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        starts, indices, distances = self._within(X, radius, sort_results)
        of_rows = _as_objects(indices, starts)
        return (_as_objects(distances, starts), of_rows) if return_distance else of_rows

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """The rows within a radius as a sparse matrix in CSR, (rows of X, rows of ``fit``).

        Parameters
        ----------
        X, radius, sort_results
            As for `radius_neighbors`.
        mode : {"connectivity", "distance"}
            What it holds: ones, or distances.
        """
        _require_mode(mode)
        starts, indices, distances = self._within(X, radius, sort_results)
        data = distances.astype(np.float64) if mode == "distance" else np.ones(len(indices))
        return csr_matrix((data, indices, starts), shape=(len(starts) - 1, self.n_samples_fit_))

    def _within(self, X: Any, radius: float | None, sort_results: bool) -> tuple[Array, Array, Array]:
        """Where the neighbours of each row begin, (rows + 1,), and the numbers and distances of all of them."""
        check_is_fitted(self)
        rows = self._asked_rows(X)
        reach = self.radius if radius is None else radius
        counts: list[Array] = [np.zeros(1, np.int64)]
        found: list[tuple[Array, Array]] = []
        for block in _blocks(rows, self.n_samples_fit_):
            x = _dense(rows, block)
            own = block.start if X is None else -1
            parts = [self._near_pairs(x, other, reach, own) for other in _blocks(self._fit_X)]
            row, index, distance = (np.concatenate([part[i] for part in parts]) for i in range(3))
            order = np.lexsort((index, distance, row) if sort_results else (index, row))
            counts.append(np.bincount(row, minlength=len(x)))
            found.append((index[order], distance[order]))
        if not found:
            return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
        indices, distances = (np.concatenate([part[i] for part in found]) for i in range(2))
        return np.cumsum(np.concatenate(counts)), indices, distances

    def _near_pairs(self, x: Array, other: slice, reach: float, own: int) -> tuple[Array, Array, Array]:
        """Rows of x, rows of ``fit`` in a block and their distances, where those are near. ``own``: the row of ``fit``
        that is the first of x, which is not its own neighbour; -1 where x are others."""
        apart = cdist(x, _dense(self._fit_X, other), self.effective_metric_, threads=self._threads())
        near = apart <= reach
        if own >= 0:
            itself = np.arange(own, own + len(x))
            inside = (other.start <= itself) & (itself < other.stop)
            near[np.flatnonzero(inside), itself[inside] - other.start] = False
        row, index = np.nonzero(near)
        return row, index + other.start, apart[row, index]


class NearestNeighbors(_Radius):
    """Exact search for the nearest rows, as scikit-learn's class of this name.

    Parameters
    ----------
    n_neighbors : int
        At most 1,024.
    radius : float
        Of `radius_neighbors`.
    algorithm : {"auto", "brute", "ball_tree", "kd_tree"}
        All of these give the same answer. A tree over rows of few columns is made once so many neighbours were asked
        for that it pays; "brute" keeps none from call to call.
    metric : {"minkowski", "cityblock", "euclidean", "sqeuclidean", ...}
        As for `lamina.nearest`; "minkowski" goes by ``p``.
    p : {1, 2}
        "minkowski" is "cityblock" for 1, "euclidean" for 2.
    leaf_size, metric_params
        Accepted for scikit-learn's sake: the first changes nothing, the second must be None or empty.
    n_jobs : int or None
        Threads; None and negative numbers are as many as the process may use.

    Attributes
    ----------
    effective_metric_ : {"l1", "l2", "l2sq"}
    n_features_in_, n_samples_fit_ : int
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Keeps the rows of X: a copy, (rows, features) in float64 or float32; a sparse matrix stays one, in CSR."""
        self._keep(self._rows(X, reset=True))
        return self


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Neighbors):
    """The graph of the nearest rows, as scikit-learn's class of this name computes it by brute force.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        What the graph holds: distances, or ones. "distance" includes each row as its own neighbour, and one more.
    n_neighbors, algorithm, leaf_size, metric, p, metric_params, n_jobs
        As for `NearestNeighbors`.

    Attributes
    ----------
    effective_metric_ : {"l1", "l2", "l2sq"}
    n_features_in_, n_samples_fit_ : int
    """

    _parameter_constraints = {
        **_Neighbors._parameter_constraints,
        "mode": [StrOptions({"distance", "connectivity"})],
    }

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KNeighborsTransformer:
        """Keeps the rows of X: a copy, (rows, features) in float64 or float32; a sparse matrix stays one, in CSR."""
        self._keep(self._rows(X, reset=True))
        self._n_features_out = self.n_samples_fit_
        return self

    def transform(self, X: Any) -> Any:
        """The graph of the rows of X: a sparse matrix in CSR, (rows of X, rows of ``fit``)."""
        check_is_fitted(self)
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit(X).transform(X)``."""
        return self.fit(X).transform(X)

def _require_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f'mode is {mode!r}, but must be "connectivity" or "distance"')


def _blocks(rows: Any, columns: int = 0) -> list[slice]:
    """Stretches of the rows that are dense at a time: all of an array unless distances to so many columns are kept."""
    count = rows.shape[0]
    width = max(columns, rows.shape[1] if issparse(rows) else 0)
    step = count if width == 0 else max(1, _BLOCK_BYTES // (8 * width))
    return [slice(begin, min(begin + step, count)) for begin in range(0, count, max(1, step))]


def _dense(rows: Any, block: slice) -> Array:
    part = rows[block]
    dense: Array = part.toarray() if issparse(part) else part
    return dense


def _as_objects(values: Array, starts: Array) -> Array:
    objects = np.empty(len(starts) - 1, object)
    objects[:] = np.split(values, starts[1:-1]) if len(objects) else []
    return objects


def _without_self(distances: Array, indices: Array) -> tuple[Array, Array]:
    """Each row's list without the row itself (without its last entry where equal rows have pushed it out)."""
    keep = indices != np.arange(len(indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return distances[keep].reshape(shape), indices[keep].reshape(shape)
