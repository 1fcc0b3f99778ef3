"""What networks learned by gradients answer: classes or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target

from . import _core
from ._arrays import Array
from ._fitting import Rows
from ._gradient import _NetworkEstimator
from ._parameters import Attribute, choice
from ._sparse import Scaling
from ._targets import CLASS_WEIGHT, _ClassTargets, _NumberTargets

# scikit-learn's names of what the library calls otherwise; all losses of numbers with one output each.
_RENAMED = {"mse": "squared_error", "mae": "absolute_error"}
_LOSSES = {_RENAMED.get(name, name): name for name in _core.losses_of_numbers()}


def _takes_minibatches(estimator: Any) -> bool:
    """Whether there is a partial_fit."""
    return bool(estimator.solver != "lbfgs")


class _Classifier(_ClassTargets, _NetworkEstimator):
    """Two classes are one output, more are one each, columns of 0 and 1 are one each, too."""

    _answers_in_double = True
    _parameters = {
        "class_weight": CLASS_WEIGHT._replace(text=f'{CLASS_WEIGHT.text} ``partial_fit`` refuses "balanced".')
    }
    _results = {
        "loss_curve_": Attribute("list of float", "The mean loss of every epoch, without the penalty."),
        **dict.fromkeys(
            ("validation_scores_", "best_validation_score_"),
            Attribute("", "With early stopping: accuracy (with sample weights minus the weighted loss)."),
        ),
    }

    def _require_classes(self, y: Any, classes: Any, incremental: bool) -> None:
        if incremental:
            if self.class_weight == "balanced":
                raise ValueError(
                    'class_weight="balanced" would be of the rows of one call of partial_fit: give a dict, or'
                    ' weights of the classes by sklearn.utils.class_weight.compute_class_weight("balanced", ...)'
                )
            if classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
                )
            return
        if not self._multilabel and type_of_target(y) in ("binary", "multiclass"):
            found = np.unique(np.asarray(y))
            if not np.array_equal(self.classes_, found):
                raise ValueError(
                    "warm_start can only be used where `y` has the same classes as in the previous call to fit."
                    f" Previously got {self.classes_}, `y` has {found}"
                )

    def _output(self) -> tuple[str, str]:
        if self._multilabel or self.n_outputs_ == 1:
            return "binary_cross_entropy", "sigmoid"
        return "cross_entropy", "softmax"

    def predict_proba(self, X: Any) -> Array:
        """Probability of every class.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)

        Returns
        -------
        array, (rows, classes), float64
            In the order of ``classes_``. For a column of 0 and 1, the probability of the 1.
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
        """The logarithm of `predict_proba`."""
        probability = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(probability)
        return logarithms

    @available_if(_takes_minibatches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One more pass over some rows, going on from the weights and the optimizer as they are.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All that there will be, the same in every call; the first one needs them.

        Returns
        -------
        self
        """
        if not hasattr(self, "_network") and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._fit(X, y, sample_weight, incremental=True, classes=classes)


class _Regressor(_NumberTargets, _NetworkEstimator):
    """Numbers, one or several."""

    _parameters = {
        "loss": choice(
            *_LOSSES,
            text='"poisson" is for counts, "gamma" for amounts above 0: the network gives the logarithm of their mean. '
            'Targets are divided by their mean inside.',
        )
    }
    _results = {
        "loss_curve_": Attribute(
            "list of float", "The mean loss of every epoch, of standardized targets and without the penalty."
        ),
        **dict.fromkeys(
            ("validation_scores_", "best_validation_score_"),
            Attribute("", "With early stopping: R², with sample weights minus the weighted loss."),
        ),
    }

    def _output(self) -> tuple[str, str]:
        loss = _LOSSES[self.loss]
        return loss, _core.loss_of_numbers(loss)[0]

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        targets, labels, outputs = super()._encode_targets(y, first, classes)
        output, log_link, positive = _core.loss_of_numbers(_LOSSES[self.loss])
        self.out_activation_ = output
        assert targets is not None
        if log_link:
            wrong = np.flatnonzero(((targets <= 0) if positive else (targets < 0)).any(axis=1))
            if wrong.size:
                raise ValueError(
                    f'loss="{self.loss}" needs targets {"above 0" if positive else "of 0 or more"}: row {wrong[0]} of y'
                    f" has {targets[wrong[0]].min():g}"
                )
        return targets, labels, outputs

    def _scaling_of_targets(self, rows: Rows) -> Scaling | None:
        if not _core.loss_of_numbers(_LOSSES[self.loss])[1]:
            return super()._scaling_of_targets(rows)
        assert rows.targets is not None
        # The logarithm of the mean is what the network need not learn.
        mean = np.atleast_1d(np.average(rows.targets, axis=0, weights=rows.weights))
        mean[mean == 0] = 1.0
        return np.zeros_like(mean), mean

    @available_if(_takes_minibatches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One more pass over some rows, going on from the weights and the optimizer as they are.

        The scaling of inputs and targets is that of the first call.
        """
        return self._fit(X, y, sample_weight, incremental=True)
