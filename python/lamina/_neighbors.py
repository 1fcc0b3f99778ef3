"""Exact neighbours with scikit-learn's contract, all by `lamina.nearest`."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._arrays import Array
from ._functions import _METRICS, nearest

_MINKOWSKI = {1: "l1", 2: "l2"}  # the metric of a p


class _Neighbors(BaseEstimator):
    """Keeps rows and finds the nearest of them."""

    _parameter_constraints: dict[str, list[Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions({"auto", "brute", "ball_tree", "kd_tree"})],
        "metric": [StrOptions({"minkowski", *_METRICS})],
        "p": [Interval(Integral, 1, 2, closed="both")],
        "n_jobs": [None, Integral],
    }

    def _keep(self, X: Array) -> None:
        self._fit_X = X
        self.n_samples_fit_ = X.shape[0]
        self.effective_metric_ = _MINKOWSKI[self.p] if self.metric == "minkowski" else _METRICS[self.metric]

    def _rows(self, X: Any, reset: bool) -> Array:
        rows: Array = validate_data(self, X, dtype=[np.float64, np.float32], order="C", reset=reset, copy=reset)
        return rows

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Array | tuple[Array, Array]:
        """Distances and numbers of the rows of ``fit`` that are nearest to the rows of X.

        Parameters
        ----------
        X : array, (rows, features), optional
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
        own = X is None
        rows = self._fit_X if own else self._rows(X, reset=False)
        if k + own > self.n_samples_fit_:
            raise ValueError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, n_samples_fit = {self.n_samples_fit_}, "
                f"n_samples = {len(rows)}"
            )
        threads = self.n_jobs if self.n_jobs is not None and self.n_jobs > 0 else None
        found = nearest(rows, self._fit_X, k + own, self.effective_metric_, threads=threads)
        return _without_self(*found) if own else found

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The nearest rows as a sparse matrix in CSR, (rows of X, rows of ``fit``).

        Parameters
        ----------
        X, n_neighbors
            As for `kneighbors`.
        mode : {"connectivity", "distance"}
            What it holds: ones, or distances.
        """
        from scipy.sparse import csr_matrix

        if mode not in ("connectivity", "distance"):
            raise ValueError(f'mode is {mode!r}, but must be "connectivity" or "distance"')
        distances, indices = self._nearest(X, n_neighbors)
        data = distances.astype(np.float64) if mode == "distance" else np.ones(indices.shape)
        starts = np.arange(0, indices.size + 1, indices.shape[1])
        return csr_matrix((data.ravel(), indices.ravel(), starts), shape=(len(indices), self.n_samples_fit_))


class NearestNeighbors(_Neighbors):
    """Exact search for the nearest rows, as scikit-learn's class of this name.

    Parameters
    ----------
    n_neighbors : int
        At most 1,024.
    algorithm : {"auto", "brute", "ball_tree", "kd_tree"}
        Accepted for scikit-learn's sake: all rows are looked at, and all of these give the same answer.
    metric : {"minkowski", "cityblock", "euclidean", "sqeuclidean", ...}
        As for `lamina.nearest`; "minkowski" goes by ``p``.
    p : {1, 2}
        "minkowski" is "cityblock" for 1, "euclidean" for 2.
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
        algorithm: str = "auto",
        metric: str = "minkowski",
        p: int = 2,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Keeps the rows of X: a copy, (rows, features) in float64 or float32."""
        self._keep(self._rows(X, reset=True))
        return self


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Neighbors):
    """The graph of the nearest rows, as scikit-learn's class of this name computes it by brute force.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        What the graph holds: distances, or ones. "distance" includes each row as its own neighbour, and one more.
    n_neighbors, algorithm, metric, p, n_jobs
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
        metric: str = "minkowski",
        p: int = 2,
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KNeighborsTransformer:
        """Keeps the rows of X: a copy, (rows, features) in float64 or float32."""
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


class _Voting(_Neighbors):
    """Answers by the neighbours of a row, each with a weight."""

    _parameter_constraints = {
        **_Neighbors._parameter_constraints,
        "weights": [StrOptions({"uniform", "distance"}), callable, None],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        metric: str = "minkowski",
        p: int = 2,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.metric = metric
        self.p = p
        self.n_jobs = n_jobs

    def _checked(self, X: Any, y: Any) -> Array:
        """Keeps a copy of X; y as an array."""
        x, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", copy=True, multi_output=True)
        self._keep(x)
        y = np.asarray(y)
        return y

    def _voters(self, X: Any) -> tuple[Array, Array]:
        """Weights and numbers of the neighbours, (rows, n_neighbors) each."""
        distances, indices = self._nearest(X)
        if callable(self.weights):
            return np.asarray(self.weights(distances), np.float64), indices
        if self.weights != "distance":
            return np.ones(indices.shape), indices
        same = distances == 0
        with np.errstate(divide="ignore"):
            votes = 1.0 / distances.astype(np.float64)
        # Rows at no distance take the whole vote.
        return np.where(same.any(axis=1)[:, None], same.astype(np.float64), votes), indices


class KNeighborsClassifier(ClassifierMixin, _Voting):
    """The class that most of the nearest rows have, as scikit-learn's class of this name computes it by brute force.

    Parameters
    ----------
    n_neighbors : int
        At most 1,024.
    weights : {"uniform", "distance"}, callable or None
        Of a neighbour's vote: 1, or 1 / distance (rows at distance 0 take the whole vote), or what the callable makes of
        the array of distances, (rows, n_neighbors).
    algorithm, metric, p, n_jobs
        As for `NearestNeighbors`.

    Attributes
    ----------
    classes_ : array
    effective_metric_ : {"l1", "l2", "l2sq"}
    n_features_in_, n_samples_fit_ : int
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Keeps the rows of X and their classes.

        Parameters
        ----------
        X : array, (rows, features)
        y : array, (rows,) of classes

        Returns
        -------
        self
        """
        y = self._checked(X, y)
        if y.ndim > 1 and y.shape[1] > 1:
            raise ValueError("y has several columns: only one with a class in every row is supported")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Shares of the votes.

        Parameters
        ----------
        X : array, (rows, features)
            None: the rows of ``fit``, each without itself.

        Returns
        -------
        array, (rows, classes), float64
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        votes, indices = self._voters(X)
        shape = (len(indices), len(self.classes_))
        cells = self._labels[indices] + shape[1] * np.arange(shape[0])[:, None]
        shares = np.bincount(cells.ravel(), votes.ravel(), shape[0] * shape[1]).reshape(shape)
        total = shares.sum(axis=1, keepdims=True)
        total[total == 0] = 1.0
        result: Array = shares / total
        return result

    def predict(self, X: Any) -> Array:
        """The class of every row, (rows,); of equal shares the first of ``classes_``."""
        shares = self.predict_proba(X)
        classes: Array = self.classes_[shares.argmax(axis=1)]
        return classes


class KNeighborsRegressor(RegressorMixin, _Voting):
    """The mean of the nearest rows' numbers, as scikit-learn's class of this name computes it by brute force.

    Parameters
    ----------
    n_neighbors, weights, algorithm, metric, p, n_jobs
        As for `KNeighborsClassifier`.

    Attributes
    ----------
    effective_metric_ : {"l1", "l2", "l2sq"}
    n_features_in_, n_samples_fit_ : int
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Keeps the rows of X and their numbers.

        Parameters
        ----------
        X : array, (rows, features)
        y : array, (rows,) or (rows, targets)

        Returns
        -------
        self
        """
        self._targets = self._checked(X, y).astype(np.float64)
        return self

    def predict(self, X: Any) -> Array:
        """The numbers of every row.

        Parameters
        ----------
        X : array, (rows, features)
            None: the rows of ``fit``, each without itself.

        Returns
        -------
        array, (rows,) or (rows, targets), float64
        """
        check_is_fitted(self)
        votes, indices = self._voters(X)
        weighted = votes / votes.sum(axis=1, keepdims=True)
        answers: Array = np.einsum("ik,ik...->i...", weighted, self._targets[indices])
        return answers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _without_self(distances: Array, indices: Array) -> tuple[Array, Array]:
    """Each row's list without the row itself (without its last entry where equal rows have pushed it out)."""
    keep = indices != np.arange(len(indices))[:, None]
    keep[keep.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return distances[keep].reshape(shape), indices[keep].reshape(shape)
