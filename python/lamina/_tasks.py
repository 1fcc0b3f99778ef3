"""What networks learnt by gradients answer: classes or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if

from ._arrays import Array
from ._gradient import _NetworkEstimator, with_callbacks
from ._targets import _ClassTargets, _NumberTargets

# scikit-learn's names of what the library calls otherwise.
_LOSSES = {"squared_error": "mse", "absolute_error": "mae", "huber": "huber"}


def _takes_minibatches(estimator: Any) -> bool:
    """Whether there is a partial_fit."""
    return bool(estimator.solver != "lbfgs")


class _Classifier(_ClassTargets, _NetworkEstimator):
    """Two classes are one output, more are one each, columns of 0 and 1 are one each, too."""

    def _output(self) -> tuple[str, str]:
        if self._multilabel or self.n_outputs_ == 1:
            return "binary_cross_entropy", "sigmoid"
        return "cross_entropy", "softmax"

    def predict_proba(self, X: Any) -> Array:
        """Probability of every class.

        Parameters
        ----------
        X : array or table, (rows, features)

        Returns
        -------
        array, (rows, classes)
            In the order of ``classes_``; float32 unless the network is float64. Of columns of 0 and 1 those of the 1.
        """
        outputs = self._outputs_of(X)
        if self._multilabel:  # never sure: rounding alone would make them 0 or 1
            limits = np.finfo(outputs.dtype)
            return np.clip(outputs, limits.tiny, 1 - limits.epsneg)
        if outputs.shape[1] > 1:
            return outputs
        if len(self.classes_) == 1:
            return np.ones_like(outputs)
        return np.hstack([1 - outputs, outputs])

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of `predict_proba`."""
        probability = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(probability)
        return logarithms

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Any:
        """Fits the network.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            Copied while it is scaled: what happens to it later does not matter.
        y : array, (rows,) of classes, or (rows, classes) of 0 and 1
        sample_weight : array, (rows,), optional
            How much a row counts in the loss, beside ``class_weight``. Rows of weight 0 are left out.
        eval_set : (X, y) or [(X, y)], optional
            Rows to be watched: their losses are ``validation_loss_curve_``, and early stopping takes them. The last pair of a
            list decides, as in XGBoost. Refused with ``solver="lbfgs"``, which has no epochs.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, eval_set)

    @available_if(_takes_minibatches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One more pass over some rows, going on from the weights and the optimizer as they are.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All that there will be; needed by the first call.

        Returns
        -------
        self
        """
        if not hasattr(self, "_network") and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._fit(X, y, sample_weight, incremental=True, classes=classes)


class _Regressor(_NumberTargets, _NetworkEstimator):
    """Numbers, one or several."""

    def _output(self) -> tuple[str, str]:
        return _LOSSES[self.loss], "identity"

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Any:
        """Fits the network.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            Copied while it is scaled: what happens to it later does not matter.
        y : array, (rows,) or (rows, targets)
        sample_weight : array, (rows,), optional
            How much a row counts in the loss. Rows of weight 0 are left out.
        eval_set : (X, y) or [(X, y)], optional
            Rows to be watched: their losses are ``validation_loss_curve_``, and early stopping takes them. The last pair of a
            list decides, as in XGBoost. Refused with ``solver="lbfgs"``, which has no epochs.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, eval_set)

    @available_if(_takes_minibatches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One more pass over some rows, going on from the weights and the optimizer as they are.

        The scaling of inputs and targets is that of the first call.
        """
        return self._fit(X, y, sample_weight, incremental=True)
