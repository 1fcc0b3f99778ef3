"""Exact neighbors with scikit-learn's contract, all by `lamina.nearest` and `lamina.cdist`."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from ._arrays import Array
from ._functions import nearest_by
from ._kept_rows import KeepsRows, blocks, dense_rows, require_mode
from ._parameters import choice, documented, keep, whole
from ._radius import FindsWithin


class FindsNearest(KeepsRows):
    """Finds the nearest of the rows that it keeps."""

    _parameters = {"n_neighbors": whole(1, "At most 1,024.")}

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Array | tuple[Array, Array]:
        """Distances and numbers of the rows of ``fit`` that are nearest to the rows of X.

        Parameters
        ----------
        X : array or sparse matrix, (rows, features), optional
            Left out: the rows of ``fit``, which are then not their own neighbors.
        n_neighbors : int, optional
            ``n_neighbors`` of the constructor where it is left out.
        return_distance : bool

        Returns
        -------
        distances : array, (rows, n_neighbors)
            Ascending; only with ``return_distance``.
        indices : array of int64, (rows, n_neighbors)
            The lower first where distances are equal.
        """
        distances, indices = self._nearest(X, n_neighbors)
        return (distances, indices) if return_distance else indices

    def _nearest(self, X: Any, n_neighbors: int | None = None) -> tuple[Array, Array]:
        check_is_fitted(self)
        k: Any = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(k, Integral):
            raise TypeError(f"n_neighbors does not take {type(k)} value, enter integer value")
        if k < 1:
            raise ValueError(f"Expected n_neighbors > 0. Got {k}")
        k = int(k)
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

    def _nearest_of_blocks(self, rows: Any, k: int) -> tuple[Array, Array]:
        """The same where rows are sparse: few of them are dense at a time."""
        distances, indices = [], []
        for begin in blocks(rows):
            x = dense_rows(rows, begin)
            best: tuple[Array, Array] | None = None
            for other in blocks(self._fit_X):
                y = dense_rows(self._fit_X, other)
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
        require_mode(mode)
        distances, indices = self._nearest(X, n_neighbors)
        data = distances.astype(np.float64) if mode == "distance" else np.ones(indices.shape)
        starts = np.arange(0, indices.size + 1, indices.shape[1])
        return csr_matrix((data.ravel(), indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))


@documented
class NearestNeighbors(FindsWithin, FindsNearest):
    """Exact search for the nearest rows, as scikit-learn's class of this name."""

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
        keep(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Keeps the rows of X: a copy, (rows, features) in float64 or float32; a sparse matrix stays one, in CSR."""
        self._keep(self._rows(X, reset=True))
        return self


@documented
class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, FindsNearest):
    """The graph of the nearest rows, as scikit-learn's class of this name computes it by brute force."""

    _parameters = {
        "mode": choice(
            *("distance", "connectivity"),
            text='What the graph holds: distances, or ones. "distance" has each row as its own neighbor, and one more.',
        )
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
        keep(self, locals())

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


def _without_self(distances: Array, indices: Array) -> tuple[Array, Array]:
    """Each row's list without the row itself (without its last entry where equal rows have pushed it out)."""
    keep = indices != np.arange(len(indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return distances[keep].reshape(shape), indices[keep].reshape(shape)
