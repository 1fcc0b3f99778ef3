"""Kernel machines with learned weights of the columns: recursive feature machines."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import column_or_1d
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arrays import Array, threads_of
from ._base import _Estimator
from ._direct import _DirectClassifier
from ._fitting import Rows
from ._layers import METRICS
from ._network import Network
from ._parameters import Attribute, Parameter, choice, documented, keep, or_auto, real, whole
from ._predictors import BatchPredictor, LeafPredictor
from ._targets import CLASS_WEIGHT, _NumberTargets

_F64_ROWS = 2000  # up to which "auto" answers in float64


def _numbers_of(given: Any, name: str) -> Array | None:
    """A whole number for each different one, in their order."""
    if given is None:
        return None
    given = column_or_1d(given)
    missing = [value is None or value != value for value in given]
    if any(missing):
        raise ValueError(f"{name}: row {missing.index(True)} has none.")
    return np.unique(given, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _order_of(times: Any) -> Array | None:
    if times is not None and any(isinstance(time, str) for time in column_or_1d(times)):
        raise ValueError("times are text, whose order is not known: give numbers or dates, or texts as groups.")
    return _numbers_of(times, "times")


class _KernelMachine(_Estimator):
    """RBF neurons at all rows, output weights and weights of the columns that are solved for."""

    _parameters = {
        "metric": choice("auto", "manhattan", "euclidean"),
        "power": or_auto(
            real(0, most=2, closed="right"),
            'Up to 1 for Manhattan distances, up to 2 for Euclidean ones. "auto", of both: the best of four kernels.',
        ),
        "feature_weights": choice(
            *("diagonal", "none", "full"),
            text="Weights of the columns: the root of the answer's mean squared slope along each; 1; or, of Euclidean "
            "distances, a matrix of the slopes' products.",
        ),
        "rounds": whole(0, "Rounds in which they are learned.", most=100),
        "ridge": or_auto(real(0), "Added to the kernel's diagonal."),
        "radius": or_auto(real(0, closed="neither"), "L, in units of the distance between scaled rows."),
        "max_seconds": Parameter(
            "float or None",
            "No other kernel or round is tried after them.",
            [None, Interval(Real, 0, None, closed="neither")],
        ),
        "prune": real(
            0,
            "Share by which the mean squared error may grow for fewer neurons; 0: all rows are neurons.",
            most=1,
            closed="both",
        ),
        "class_weight": CLASS_WEIGHT,
        "precision": choice(
            *("auto", "f32", "f64"), text='Type of the answers; "auto" is f64 up to 2,000 rows. Solved in f64 always.'
        ),
    }
    _results = {
        "kernel_": Attribute(
            "dict",
            "distance, power, radius (L), ridge, round; neurons, and growth of the error where some were dropped; "
            "solver of the systems, and why_processor where the device has none.",
        ),
        "left_out_error_": Attribute(
            "float", "Mean square of the errors of rows left out, of standardized targets where those are numbers."
        ),
        "column_weights_": Attribute("array"),
        "dual_coef_": Attribute("array"),
    }

    _most_rows = 0  # of one machine; 0: the library's

    def _neuron(self) -> str:
        if self.feature_weights == "full" and self.metric == "manhattan":
            raise ValueError('feature_weights="full" is for Euclidean distances alone: metric="euclidean" or "auto"')
        if self.metric == "auto" and self.power == "auto":
            return "auto"
        if self.metric == "auto" or self.power == "auto":
            raise ValueError('metric and power are a kernel together: give both, or leave both "auto"')
        return f"{METRICS[self.metric]}-laplace(power={float(self.power)!r})"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, times: Any = None) -> Any:
        """Chooses and solves.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
        y : array, (rows,) of classes; numbers may be (rows, targets)
        sample_weight : array, (rows,), optional
        groups : array, (rows,), optional
            Rows of one group are left out together where choices are made.
        times : array, (rows,), optional
            Numbers or dates, instead of groups: rows of earlier times then answer later ones.

        Returns
        -------
        self
        """
        if groups is not None and times is not None:
            raise ValueError("groups and times say both what is left out: give one of them.")
        left_out = _numbers_of(groups, "groups"), _order_of(times)
        rows, outputs, _ = self._checked_rows(X, y, sample_weight, True, None, *left_out)
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
            0.0 if self.radius == "auto" else float(self.radius),
            float(self.max_seconds or 0),
            float(self.prune),
            threads_of(self.threads),
            rows.groups,
            rows.times,
            self._most_rows,
            str(self.device),
        )
        core, found = fitted
        self._network = Network._of(core)
        others = [Network._of(other) for other in found["others"]]
        self._leaves = (others, Network._of(found["gates"])) if others else None
        said = ("distance", "power", "radius", "ridge", "round", "neurons", "growth", "solver", "why_processor")
        self.kernel_ = {name: found[name] for name in said}
        self.left_out_error_ = found["left_out_error"]
        self.column_weights_ = np.asarray(found["feature_weights"])
        self._prepare_answers()
        return self

    def _prepare_answers(self) -> None:
        super()._prepare_answers()
        if self._leaves is not None and isinstance(self._predictor, BatchPredictor):
            self._predictor = LeafPredictor(self._predictor, *self._leaves)

    @property
    def dual_coef_(self) -> Array:
        """The output weights, (neurons, outputs), of the network's own numbers: a copy (of leaves: of the first)."""
        check_is_fitted(self)
        return self._network.weights(len(self._network.layers) - 1).T.copy()


@documented
class RFMClassifier(_KernelMachine, _DirectClassifier):
    """Kernel machine for classes, exp(-(|s (x - z)| / L)^power) at every row, with learned weights s of the columns.

    Kernel, width, ridge and the round of column weights are those that answer each row best from all others. Copies
    of a row are left out together; rows that recur are not. Probabilities fit those answers, too. Sample weights are
    exact, as in `ELMClassifier`. Above 700 rows the choices are made on as many of them, evenly spread, and refined
    with all. Memory grows with the square of the rows, time with the cube. Above 20,000 rows, machines in the leaves
    of a tree answer together.
    """

    def __init__(
        self,
        *,
        metric: str = "auto",
        power: float | str = "auto",
        feature_weights: str = "diagonal",
        rounds: int = 3,
        ridge: float | str = "auto",
        radius: float | str = "auto",
        max_seconds: float | None = None,
        prune: float = 0.0,
        class_weight: Any = None,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        keep(self, locals())

    def _output(self) -> tuple[str, str]:
        return "cross_entropy", "softmax"

    def predict_proba(self, X: Any) -> Array:
        """Probability of every class.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)

        Returns
        -------
        array, (rows, classes)
            In the order of ``classes_``.
        """
        return self._outputs_of(X)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))


@documented
class RFMRegressor(_KernelMachine, _NumberTargets):
    """Kernel machine for numbers, one or several; see `RFMClassifier`."""

    def __init__(
        self,
        *,
        metric: str = "auto",
        power: float | str = "auto",
        feature_weights: str = "diagonal",
        rounds: int = 3,
        ridge: float | str = "auto",
        radius: float | str = "auto",
        max_seconds: float | None = None,
        prune: float = 0.0,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        keep(self, locals())

    def _output(self) -> tuple[str, str]:
        return "mse", "identity"
