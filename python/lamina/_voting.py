"""Classes and numbers by the nearest rows, with scikit-learn's contract."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._arrays import Array
from ._kept_rows import KeepsRows
from ._neighbors import FindsNearest
from ._parameters import Attribute, Parameter, documented, keep


RESULTS_OF_CLASSES = {
    "classes_": Attribute("array", "For several targets a list of arrays."),
    "outputs_2d_": Attribute("bool", "Whether there are several targets."),
}


class Votes(KeepsRows):
    """Answers by the neighbors of a row, each with a weight."""

    _parameters = {
        "weights": Parameter(
            '{"uniform", "distance"}, callable or None',
            "Weight of a neighbor's vote: 1, or 1 / distance (rows at distance 0 take the whole vote). A callable makes "
            "it of the distances, (rows, n_neighbors); within a radius they are an array of arrays, one a row.",
            [StrOptions({"uniform", "distance"}), callable, None],
        )
    }

    def _checked(self, X: Any, y: Any) -> Array:
        """Keeps a copy of X; y as an array."""
        x, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], accept_sparse="csr", order="C", copy=True, multi_output=True
        )
        self._keep(x)
        targets: Array = np.asarray(y)
        return targets

    def _keep_classes(self, y: Array) -> None:
        """``classes_`` and what class each row is of."""
        check_classification_targets(y)
        self.outputs_2d_ = y.ndim > 1 and y.shape[1] > 1
        columns = y.T if self.outputs_2d_ else [column_or_1d(y, warn=True)]
        found = [np.unique(column, return_inverse=True) for column in columns]
        self._labels = [labels for _, labels in found]
        self.classes_: Any = [classes for classes, _ in found] if self.outputs_2d_ else found[0][0]

    def _targets_of_classes(self) -> list[tuple[Array, Array]]:
        """Labels and classes of every target."""
        return list(zip(self._labels, self.classes_ if self.outputs_2d_ else [self.classes_], strict=True))


class _NearestVote(FindsNearest, Votes):
    """By a number of neighbors."""

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float = 2,
        metric_params: None = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def _voters(self, X: Any) -> tuple[Array, Array]:
        """Weights and numbers of the neighbors, (rows, n_neighbors) each."""
        distances, indices = self._nearest(X)
        if callable(self.weights):
            votes = np.asarray(self.weights(distances), np.float64)
            if (votes == 0).all(axis=1).any():
                raise ValueError(
                    "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case "
                    "if you are using a user-defined function."
                )
            return votes, indices
        if self.weights != "distance":
            return np.ones(indices.shape), indices
        same = distances == 0
        with np.errstate(divide="ignore"):
            votes = 1.0 / distances.astype(np.float64)
        # Rows at no distance take the whole vote.
        return np.where(same.any(axis=1)[:, None], same.astype(np.float64), votes), indices


@documented
class KNeighborsClassifier(ClassifierMixin, _NearestVote):
    """The class that most of the nearest rows have, as scikit-learn's class of this name computes it by brute force."""

    _results = RESULTS_OF_CLASSES

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Keeps the rows of X and their classes.

        Parameters
        ----------
        X : array or sparse matrix, (rows, features)
        y : array, (rows,) of classes, or (rows, targets)

        Returns
        -------
        self
        """
        self._keep_classes(self._checked(X, y))
        return self

    def predict_proba(self, X: Any) -> Any:
        """Shares of the votes.

        Parameters
        ----------
        X : array, sparse matrix or None
            As for `kneighbors`.

        Returns
        -------
        array, (rows, classes), float64
            In the order of ``classes_``; of several targets a list of such arrays.
        """
        check_is_fitted(self)
        votes, indices = self._voters(X)
        totals = votes.sum(axis=1, keepdims=True)
        shares = []
        for labels, classes in self._targets_of_classes():
            shape = (len(indices), len(classes))
            cells = labels[indices] + shape[1] * np.arange(shape[0])[:, None]
            shares.append(np.bincount(cells.ravel(), votes.ravel(), shape[0] * shape[1]).reshape(shape) / totals)
        return shares if self.outputs_2d_ else shares[0]

    def predict(self, X: Any) -> Array:
        """The class of every row, (rows,) or (rows, targets); of equal shares the first of ``classes_``."""
        shares = self.predict_proba(X)
        if not self.outputs_2d_:
            classes: Array = self.classes_[shares.argmax(axis=1)]
            return classes
        return np.stack([each[share.argmax(axis=1)] for each, share in zip(self.classes_, shares)], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


@documented
class KNeighborsRegressor(RegressorMixin, _NearestVote):
    """The mean of the nearest rows' numbers, as scikit-learn's class of this name computes it by brute force."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Keeps the rows of X and their numbers.

        Parameters
        ----------
        X : array or sparse matrix, (rows, features)
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
        X : array, sparse matrix or None
            As for `kneighbors`.

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
