"""Exact neighbours as a transformer of scikit-learn."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ._arrays import Array
from ._functions import _METRICS, nearest


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The graph of the nearest rows, as scikit-learn's class of this name computes it by brute force.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        What the graph holds: distances, or ones. "distance" includes each row as its own neighbour, and one more.
    n_neighbors : int
    metric : {"cityblock", "euclidean", "sqeuclidean", ...}
        As for `lamina.nearest`.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    n_features_in_, n_samples_fit_ : int
    """

    _parameter_constraints = {
        "mode": [StrOptions({"distance", "connectivity"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(set(_METRICS))],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        metric: str = "cityblock",
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KNeighborsTransformer:
        """Keeps the rows of X: a copy, (rows, features) in float64 or float32."""
        self._fit_X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", copy=True)
        self.n_samples_fit_ = self._fit_X.shape[0]
        self._n_features_out = self.n_samples_fit_
        return self

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Array | tuple[Array, Array]:
        """Distances and numbers of the rows of ``fit`` that are nearest to the rows of X.

        X left out are the rows of ``fit`` themselves, which are then not their own neighbours.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        own = X is None
        rows = self._fit_X if own else validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=False)
        wanted = k + own
        if wanted > self.n_samples_fit_:
            raise ValueError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {len(rows)}"
            )
        threads = self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None
        distances, indices = nearest(rows, self._fit_X, wanted, self.metric, threads=threads)
        if own:
            distances, indices = _without_self(distances, indices)
        return (distances, indices) if return_distance else indices

    def transform(self, X: Any) -> Any:
        """The graph of the rows of X: a sparse matrix in CSR, (rows of X, rows of ``fit``)."""
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        k = self.n_neighbors + (self.mode == "distance")
        found = self.kneighbors(X, n_neighbors=k)
        distances, indices = found
        data = distances.astype(np.float64) if self.mode == "distance" else np.ones(indices.shape)
        starts = np.arange(0, indices.size + 1, k)
        return csr_matrix((data.ravel(), indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit(X).transform(X)``."""
        return self.fit(X).transform(X)


def _without_self(distances: Array, indices: Array) -> tuple[Array, Array]:
    """Each row's list without the row itself (without its last entry where equal rows have pushed it out)."""
    keep = indices != np.arange(len(indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return distances[keep].reshape(shape), indices[keep].reshape(shape)
