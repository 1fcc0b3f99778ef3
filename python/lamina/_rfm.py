"""Kernel machines with learned weights of the columns: recursive feature machines."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arrays import Array, threads_of
from ._base import _Estimator
from ._direct import _DirectClassifier
from ._fitting import Rows
from ._layers import _METRICS
from ._mlp import _CLASS_WEIGHT
from ._network import Network
from ._targets import _NumberTargets

_F64_ROWS = 2000  # up to which "auto" answers in float64


class _KernelMachine(_Estimator):
    """RBF neurons at all rows, output weights and weights of the columns that are solved for."""

    _parameter_constraints = {
        **_Estimator._parameter_constraints,
        "metric": [StrOptions({"auto", "manhattan", "euclidean"})],
        "power": [StrOptions({"auto"}), Interval(Real, 0, 2, closed="right")],
        "feature_weights": [StrOptions({"none", "diagonal"})],
        "rounds": [Interval(Integral, 0, 100, closed="both")],
        "ridge": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "max_seconds": [None, Interval(Real, 0, None, closed="neither")],
        "precision": [StrOptions({"auto", "f32", "f64"})],
    }

    def _neuron(self) -> str:
        if self.metric == "auto" and self.power == "auto":
            return "auto"
        if self.metric == "auto" or self.power == "auto":
            raise ValueError('metric and power are a kernel together: give both, or leave both "auto"')
        return f"{_METRICS[self.metric]}-laplace(power={float(self.power)!r})"

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        rows, outputs, _ = self._checked_rows(X, y, sample_weight, True, None)
        self._find_scalings(rows)
        of_classes = rows.labels is not None
        targets = self._scaled(rows).targets
        if rows.labels is not None:
            targets = (rows.labels[:, None] == np.arange(outputs)).astype(np.float64)
        many = len(rows.x) > _F64_ROWS
        dtype = "f32" if self.precision == "f32" or (self.precision == "auto" and many) else "f64"
        fitted: Any = _core.fit_kernels(
            Rows(rows.x, targets, None, rows.weights).dataset(self._x_scaling, dtype, outputs),
            of_classes,
            self._neuron(),
            self.feature_weights,
            int(self.rounds),
            -1.0 if self.ridge == "auto" else float(self.ridge),
            float(self.max_seconds or 0),
            threads_of(self.threads),
        )
        core, found = fitted
        self._network = Network._of(core)
        self.kernel_ = {name: found[name] for name in ("distance", "power", "radius", "ridge", "round")}
        self.left_out_error_ = found["left_out_error"]
        self.column_weights_ = np.asarray(found["feature_weights"])
        self._prepare_answers()
        return self

    @property
    def dual_coef_(self) -> Array:
        """The output weights, (rows, outputs), of the network's own numbers: a copy."""
        check_is_fitted(self)
        return self._network.weights(len(self._network.layers) - 1).T.copy()


class RFMClassifier(_KernelMachine, _DirectClassifier):
    """Kernel machine for classes, exp(-(|s (x - z)| / L)^power) at every row, with learned weights s of the columns.

    Solved for at once. Kernel, width, ridge and the round of column weights are those that answer each row best from all
    others (equal rows are left out together). Probabilities fit those answers, too. Sample weights are exact: a row of
    weight 2 and the row twice give the same machine. Memory grows with the square of the rows, time with the cube; at most
    20,000. Above 1,500 rows the choices are made on as many of them, evenly spread.

    Parameters
    ----------
    metric : {"auto", "manhattan", "euclidean"}
    power : float or "auto"
        Up to 1 of Manhattan distances, up to 2 of Euclidean ones. "auto", of both: the best of four kernels.
    feature_weights : {"diagonal", "none"}
        Of the columns: the root of the answer's mean squared slope along each, or 1.
    rounds : int
        In which they are learned.
    ridge : float or "auto"
        Added to the kernel's diagonal.
    max_seconds : float or None
        After which no other kernel or round is tried.
    class_weight : dict, "balanced" or None
        Weight of every class, multiplied with the sample weights.
    scale, missing, device, threads
        As for `MLPClassifier`; the solving is done on the CPU.
    precision : {"auto", "f32", "f64"}
        Of the answers; "auto" is f64 up to 2,000 rows. Solved in f64 always.

    Attributes
    ----------
    classes_ : array
    kernel_ : dict
        distance, power, radius (L), ridge, round.
    left_out_error_ : float
        Mean square of the errors of rows left out.
    column_weights_ : array
    dual_coef_ : array
    n_features_in_, n_outputs_ : int
    """

    _parameter_constraints = {**_KernelMachine._parameter_constraints, "class_weight": _CLASS_WEIGHT}

    def __init__(
        self,
        *,
        metric: str = "auto",
        power: float | str = "auto",
        feature_weights: str = "diagonal",
        rounds: int = 3,
        ridge: float | str = "auto",
        max_seconds: float | None = None,
        class_weight: Any = None,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.power = power
        self.feature_weights = feature_weights
        self.rounds = rounds
        self.ridge = ridge
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.scale = scale
        self.missing = missing
        self.unseen = unseen
        self.precision = precision
        self.device = device
        self.threads = threads

    def _output(self) -> tuple[str, str]:
        return "cross_entropy", "softmax"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Chooses and solves.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
        y : array, (rows,) of classes
        sample_weight : array, (rows,), optional

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict_proba(self, X: Any) -> Array:
        """The probability of every class.

        Parameters
        ----------
        X : array or table, (rows, features)

        Returns
        -------
        array, (rows, classes)
            In the order of ``classes_``.
        """
        return self._outputs_of(X)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))


class RFMRegressor(_KernelMachine, _NumberTargets):
    """Kernel machine for numbers, one or several; see `RFMClassifier`.

    Parameters
    ----------
    metric, power, feature_weights, rounds, ridge, max_seconds, scale, missing, precision, device, threads
        As for `RFMClassifier`.

    Attributes
    ----------
    kernel_ : dict
    left_out_error_ : float
        Mean square of the errors of rows left out, of standardized targets.
    column_weights_ : array
    dual_coef_ : array
    n_features_in_, n_outputs_ : int
    """

    def __init__(
        self,
        *,
        metric: str = "auto",
        power: float | str = "auto",
        feature_weights: str = "diagonal",
        rounds: int = 3,
        ridge: float | str = "auto",
        max_seconds: float | None = None,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.power = power
        self.feature_weights = feature_weights
        self.rounds = rounds
        self.ridge = ridge
        self.max_seconds = max_seconds
        self.scale = scale
        self.missing = missing
        self.unseen = unseen
        self.precision = precision
        self.device = device
        self.threads = threads

    def _output(self) -> tuple[str, str]:
        return "mse", "identity"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Chooses and solves.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
        y : array, (rows,) or (rows, targets)
        sample_weight : array, (rows,), optional

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)
