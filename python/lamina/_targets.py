"""Targets of classes and of numbers, and answers in their terms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels

from ._arrays import Array
from ._base import _Estimator
from ._fitting import Rows, weighted_scaling
from ._parameters import Attribute, Parameter
from ._sparse import Scaling

_SUM_MAY_BE_OFF = 0.01  # of probabilities written with few digits


def _require_soft(soft: Array, shape: tuple[int, int]) -> None:
    """ValueError for a teacher's numbers that are not (rows, columns), or not all finite."""
    if soft.shape != shape:
        raise ValueError(f"soft_target has the shape {soft.shape}, and {shape} is needed")
    wrong = np.flatnonzero(~np.isfinite(soft).all(axis=1))
    if wrong.size:
        raise ValueError(f"row {wrong[0]} of soft_target has a number that is missing or infinite")


CLASS_WEIGHT = Parameter(
    'dict, "balanced" or None',
    "Weight of every class, multiplied with the sample weights.",
    [dict, StrOptions({"balanced"}), None],
)


class _ClassTargets(ClassifierMixin, _Estimator):
    """An output a class, where one is enough for two; columns of 0 and 1 are one each, too."""

    _one_for_two = True
    _results = {"classes_": Attribute("array")}

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to"
                " (n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
            y = column_or_1d(y)
        check_classification_targets(y)
        kind = type_of_target(y)
        if kind == "multiclass-multioutput":
            raise ValueError("y has several columns of more than two classes: only columns of 0 and 1 are supported")
        if first:
            self._multilabel = kind == "multilabel-indicator"
            self.classes_ = np.unique(classes) if classes is not None else unique_labels(y)
            self.n_outputs_ = len(self.classes_) if self._multilabel or len(self.classes_) > 1 + self._one_for_two else 1
            self.out_activation_ = "softmax" if self.n_outputs_ > 1 and not self._multilabel else "logistic"
        if self._multilabel:
            targets = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
            if targets.ndim != 2 or targets.shape[1] != self.n_outputs_:
                raise ValueError(f"y has the shape {targets.shape}; {self.n_outputs_} columns of 0 and 1 were fitted")
            return targets, None, self.n_outputs_
        labels = np.searchsorted(self.classes_, y)
        labels[labels == len(self.classes_)] = 0
        if (self.classes_[labels] != y).any():
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes_}. 'y' has {np.unique(y)}."
            )
        return None, labels, self.n_outputs_

    def _encode_soft(self, soft: Array, rows: int) -> Array:
        _require_soft(soft, (rows, len(self.classes_)))
        wrong = np.flatnonzero((soft < 0).any(axis=1))
        if wrong.size:
            raise ValueError(f"row {wrong[0]} of soft_target has a probability below 0: {soft[wrong[0]].min():g}")
        if self._multilabel:
            if (soft > 1).any():
                raise ValueError(f"soft_target has a probability above 1: {soft.max():g}")
            return soft
        sums = soft.sum(axis=1)
        wrong = np.flatnonzero(np.abs(sums - 1) > _SUM_MAY_BE_OFF)
        if wrong.size:
            raise ValueError(f"the probabilities of row {wrong[0]} of soft_target sum to {sums[wrong[0]]:g}, not 1")
        soft = soft / sums[:, np.newaxis]
        return soft if self.n_outputs_ > 1 else soft[:, -1:]

    def predict(self, X: Any) -> Array:
        """The class of every row.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)

        Returns
        -------
        array, (rows,), or (rows, classes) of 0 and 1 where it was fitted so
        """
        outputs = self._outputs_of(X)
        if self._multilabel:
            return (outputs > 0.5).astype(int)
        if outputs.shape[1] > 1:
            labels = outputs.argmax(axis=1)
        else:
            labels = (outputs[:, 0] > 0.5).astype(int) if len(self.classes_) > 1 else np.zeros(len(outputs), int)
        classes: Array = self.classes_[labels]
        return classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class _NumberTargets(RegressorMixin, _Estimator):
    """One number or several, standardized for the network."""

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        targets = np.asarray(y, dtype=np.float64)
        if not np.isfinite(targets).all():
            raise ValueError("Input y contains NaN, infinity or a value too large")
        if first:
            self.n_outputs_ = 1 if targets.ndim == 1 else targets.shape[1]
            self.out_activation_ = "identity"
        targets = targets.reshape(len(targets), -1)
        if targets.shape[1] != self.n_outputs_:
            raise ValueError(f"y has {targets.shape[1]} columns, {self.n_outputs_} were fitted")
        return targets, None, self.n_outputs_

    def _encode_soft(self, soft: Array, rows: int) -> Array:
        soft = soft.reshape(len(soft), -1) if soft.ndim == 1 else soft
        _require_soft(soft, (rows, self.n_outputs_))
        targets = self._encode_targets(soft, False, None)[0]
        assert targets is not None
        return targets

    def _scaling_of_targets(self, rows: Rows) -> Scaling | None:
        assert rows.targets is not None
        return weighted_scaling(rows.targets, rows.weights)

    def predict(self, X: Any) -> Array:
        """The values of every row.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)

        Returns
        -------
        array, (rows,) or (rows, targets), float64
        """
        outputs = self._outputs_of(X)
        return outputs.ravel() if outputs.shape[1] == 1 else outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
