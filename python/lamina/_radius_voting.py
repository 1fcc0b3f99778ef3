"""Classes and numbers by the rows within a radius, with scikit-learn's contract."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils.validation import check_is_fitted

from ._arrays import Array
from ._kept_rows import as_objects
from ._parameters import Attribute, Parameter, documented, keep
from ._radius import FindsWithin
from ._voting import RESULTS_OF_CLASSES, Votes


class _VoteWithin(FindsWithin, Votes):
    """By the neighbors within a radius."""

    def _voters(self, X: Any) -> tuple[Array, Array, Array]:
        """The number of each row's neighbors, then their weights and numbers, one row's after the other's."""
        starts, indices, distances = self._within(X, None, False)
        counts = np.diff(starts)
        if callable(self.weights):
            given = self.weights(as_objects(distances, starts))
            votes = np.concatenate([np.zeros(0), *(np.asarray(each, np.float64).ravel() for each in given)])
        elif self.weights == "distance":
            row = np.repeat(np.arange(len(counts)), counts)
            same = distances == 0
            taken = np.zeros(len(counts), bool)
            taken[row[same]] = True
            with np.errstate(divide="ignore"):
                votes = 1.0 / distances.astype(np.float64)
            votes = np.where(taken[row], same.astype(np.float64), votes)  # rows at no distance take the whole vote
        else:
            votes = np.ones(len(indices))
        if len(votes) != len(indices):
            raise ValueError(f"weights gave {len(votes)} numbers for {len(indices)} neighbors")
        return counts, votes, indices


@documented
class RadiusNeighborsClassifier(ClassifierMixin, _VoteWithin):
    """The class that most of the rows within a radius have, as scikit-learn's class of this name."""

    _parameters = {
        "outlier_label": Parameter(
            'label, "most_frequent", list of labels or None',
            "The class of a row without neighbors, one for each target; None: an error.",
            [Integral, str, "array-like", None],
        )
    }
    _results = {
        **RESULTS_OF_CLASSES,
        "outlier_label_": Attribute("list of labels or None", "One for each target."),
    }

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        outlier_label: Any = None,
        metric_params: None = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> RadiusNeighborsClassifier:
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
        self.outlier_label_ = self._outlier_labels()
        return self

    def _outlier_labels(self) -> list[Any] | None:
        given = self.outlier_label
        targets = self._targets_of_classes()
        if given is None:
            return None
        if isinstance(given, str) and given == "most_frequent":
            return [classes[np.bincount(labels).argmax()] for labels, classes in targets]
        several = hasattr(given, "__len__") and not isinstance(given, str)
        outliers = list(given) if several else [given] * len(targets)
        if len(outliers) != len(targets):
            raise ValueError(
                f"The length of outlier_label: {given} is inconsistent with the output length: {len(targets)}"
            )
        for (_, classes), label in zip(targets, outliers, strict=True):
            if hasattr(label, "__len__") and not isinstance(label, str):
                raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {label}.")
            if np.append(classes, label).dtype != classes.dtype:
                raise TypeError(f"The dtype of outlier_label {label} is inconsistent with classes {classes} in y.")
        return outliers

    def predict_proba(self, X: Any) -> Any:
        """Shares of the votes; a row without neighbors is of the outlier's class, if that is one of ``classes_``.

        Parameters
        ----------
        X : array, sparse matrix or None
            As for `radius_neighbors`.

        Returns
        -------
        array, (rows, classes), float64
            In the order of ``classes_``; of several targets a list of such arrays.
        """
        check_is_fitted(self)
        counts, votes, indices = self._voters(X)
        alone = np.flatnonzero(counts == 0)
        if len(alone) and self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {alone!r}, you can try using larger radius, giving a label for "
                "outliers, or considering removing them from your dataset."
            )
        row = np.repeat(np.arange(len(counts)), counts)
        shares = []
        for target, (labels, classes) in enumerate(self._targets_of_classes()):
            shape = (len(counts), len(classes))
            share = np.bincount(labels[indices] + shape[1] * row, votes, shape[0] * shape[1]).reshape(shape)
            if len(alone):
                self._place_outliers(share, alone, classes, target)
            total = share.sum(axis=1, keepdims=True)
            total[total == 0] = 1.0
            shares.append(share / total)
        return shares if self.outputs_2d_ else shares[0]

    def _place_outliers(self, share: Array, alone: Array, classes: Array, target: int) -> None:
        assert self.outlier_label_ is not None
        label = self.outlier_label_[target]
        which = np.flatnonzero(classes == label)
        if len(which) == 1:
            share[alone, which[0]] = 1.0
        else:
            warnings.warn(
                f"Outlier label {label} is not in training classes. All class probabilities of outliers will be "
                "assigned with 0.",
                stacklevel=3,
            )

    def predict(self, X: Any) -> Array:
        """The class of every row, (rows,) or (rows, targets); of equal shares the first of ``classes_``."""
        shares = self.predict_proba(X)
        answers = []
        for target, share in enumerate(shares if self.outputs_2d_ else [shares]):
            answer = self._targets_of_classes()[target][1][share.argmax(axis=1)]
            without = (share == 0).all(axis=1)
            if without.any() and self.outlier_label_ is not None:
                answer[without] = self.outlier_label_[target]
            answers.append(answer)
        return np.stack(answers, axis=1) if self.outputs_2d_ else answers[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


@documented
class RadiusNeighborsRegressor(RegressorMixin, _VoteWithin):
    """The mean of the numbers of the rows within a radius, as scikit-learn's class of this name."""

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: str = "minkowski",
        metric_params: None = None,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> RadiusNeighborsRegressor:
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
        """The numbers of every row; NaN, with a warning, where a row has no neighbors.

        Parameters
        ----------
        X : array, sparse matrix or None
            As for `radius_neighbors`.

        Returns
        -------
        array, (rows,) or (rows, targets), float64
        """
        check_is_fitted(self)
        counts, votes, indices = self._voters(X)
        row = np.repeat(np.arange(len(counts)), counts)
        total = np.bincount(row, votes, len(counts))
        if (total[counts > 0] == 0).any():
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        columns = self._targets.reshape(len(self._targets), -1).T
        with np.errstate(invalid="ignore"):  # no neighbors: 0 / 0
            answers = np.stack([np.bincount(row, votes * of[indices], len(counts)) / total for of in columns], axis=1)
        if (counts == 0).any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.", stacklevel=2
            )
        return answers if self._targets.ndim > 1 else answers[:, 0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
