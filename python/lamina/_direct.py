"""Networks that are found at once: FSVC, SFSVC, extreme learning machines."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arrays import Array, threads_of
from ._base import _Estimator
from ._fitting import Rows
from ._layers import _ACTIVATIONS, _METRICS
from ._mlp import _CLASS_WEIGHT
from ._network import Network
from ._targets import _ClassTargets, _NumberTargets

_F64_OPERATIONS = 2e10  # of the sums of an extreme learning machine that "auto" still computes in float64


class _DirectClassifier(_ClassTargets):
    """An output for every class; the largest wins, of equal ones the lower class."""

    _one_for_two = False

    def _output(self) -> tuple[str, str]:
        return "mse", "identity"

    def decision_function(self, X: Any) -> Array:
        """The outputs of the network.

        Parameters
        ----------
        X : array or table, (rows, features)

        Returns
        -------
        array, (rows, classes)
            In the order of ``classes_``; of two classes the second less the first, (rows,).
        """
        outputs = self._outputs_of(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        encoded = super()._encode_targets(y, first, classes)
        if self._multilabel:
            raise ValueError("y has several columns: only one with a class in every row is supported")
        return encoded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


class _NoveltyClassifier(_DirectClassifier):
    """Centres by one pass over the rows in their order, each voting for its class."""

    _by_class = False

    _parameter_constraints = {
        **_Estimator._parameter_constraints,
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "overlap": [Interval(Real, 0, 4096, closed="right")],
        "metric": [StrOptions(set(_METRICS))],
        "kernel": [StrOptions({"triangle", "gaussian"})],
        "learning_rate": [Interval(Real, 0, None, closed="left")],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "precision": [StrOptions({"auto", "f32", "f64"})],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Any:
        """Finds the centres.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            The order of the rows matters.
        y : array, (rows,) of classes

        Returns
        -------
        self
        """
        rows, outputs, _ = self._checked_rows(X, y, None, True, None)
        self._find_scalings(rows)
        dtype = "f64" if self.precision == "f64" else "f32"
        found = _core.fit_fsvc(
            rows.dataset(self._x_scaling, dtype, outputs),
            outputs,
            f"{_METRICS[self.metric]}-{self.kernel}(radius=1)",
            0.0 if self.radius == "auto" else float(self.radius),
            float(self.overlap),
            self._by_class,
            float(self.learning_rate),
            int(self.epochs),
            str(self.device),
            threads_of(self.threads),
        )
        if found is None:
            raise KeyboardInterrupt
        core, self.radius_ = found
        self._network = Network._of(core)
        self.n_centers_ = self._network.layers[0][2]
        self._prepare_answers()
        return self

    @property
    def centers_(self) -> Array:
        """The centres, (n_centers_, features), in units of X: a copy."""
        return self._first_weights("centers_")


class FSVCClassifier(_NoveltyClassifier):
    """Fast support vector classifier of R. and I. Dogaru (2007): one pass over the rows finds a network of distances.

    A row becomes a centre where the activations of the centres so far sum to less than ``overlap``. The same rows in the
    same order give the same centres, with any number of threads.

    Parameters
    ----------
    radius : float or "auto"
        Of all centres, in scaled units; "auto" searches for the one that answers every fifth row best.
    overlap : float
        More gives more centres.
    metric : {"manhattan", "euclidean", "sqeuclidean"}
    kernel : {"triangle", "gaussian"}
        What a centre makes of a distance: max(0, 1 - d / (2.5066 r)) or exp(-(d / r)²/2).
    learning_rate : float
        Of the tuning of the output weights by online least mean squares; 0: they stay votes.
    epochs : int
        Passes of the tuning.
    scale, missing, device, threads
        As for `MLPClassifier`.
    precision : {"auto", "f32", "f64"}
        Of the network; "auto" is f32.

    Attributes
    ----------
    classes_ : array
    centers_ : array, (n_centers_, features)
    radius_ : float
    n_centers_, n_features_in_, n_outputs_ : int
    """

    def __init__(
        self,
        radius: float | str = "auto",
        *,
        overlap: float = 1.0,
        metric: str = "manhattan",
        kernel: str = "triangle",
        learning_rate: float = 0.0,
        epochs: int = 1,
        scale: str = "auto",
        missing: str = "error",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.radius = radius
        self.overlap = overlap
        self.metric = metric
        self.kernel = kernel
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.device = device
        self.threads = threads


class SFSVCClassifier(_NoveltyClassifier):
    """Super fast support vector classifier (Dogaru 2016): `FSVCClassifier` with a pass for every class.

    Parameters
    ----------
    radius : float or "auto"
        As for `FSVCClassifier`; of the squared distance, if that is the metric.
    overlap : float
    metric : {"sqeuclidean", "manhattan", "euclidean"}
    kernel, learning_rate, epochs, scale, missing, precision, device, threads
        As for `FSVCClassifier`.

    Attributes
    ----------
    classes_ : array
    centers_ : array, (n_centers_, features)
        Class by class.
    radius_ : float
    n_centers_, n_features_in_, n_outputs_ : int
    """

    _by_class = True

    def __init__(
        self,
        radius: float | str = "auto",
        *,
        overlap: float = 1.0,
        metric: str = "sqeuclidean",
        kernel: str = "triangle",
        learning_rate: float = 0.0,
        epochs: int = 1,
        scale: str = "auto",
        missing: str = "error",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.radius = radius
        self.overlap = overlap
        self.metric = metric
        self.kernel = kernel
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.device = device
        self.threads = threads


class _ExtremeLearning(_Estimator):
    """A hidden layer that is drawn, output weights by ridge regression."""

    _parameter_constraints = {
        **_Estimator._parameter_constraints,
        "n_neurons": [Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions({"logistic", *_core.activations()} - {"softmax"})],
        "weights": [StrOptions({"uniform", "signs", "2bit", "8bit"})],
        "metric": [StrOptions({"dot", *_METRICS})],
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "C": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "precision": [StrOptions({"auto", "f32", "f64", "bf16"})],
    }

    def _neuron(self) -> str:
        activation = _ACTIVATIONS.get(self.activation, self.activation)
        if activation in ("triangle", "gaussian"):
            activation += "(radius=1)" if self.radius == "auto" else f"(radius={float(self.radius)!r})"
        return f"{_METRICS.get(self.metric, self.metric)}-{activation}"

    def _dtype_for(self, rows: int) -> str:
        if self.precision == "auto":
            return "f64" if rows * int(self.n_neurons) ** 2 <= _F64_OPERATIONS else "f32"
        return "f64" if self.precision == "f64" else "f32"

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        rows, outputs, _ = self._checked_rows(X, y, sample_weight, True, None)
        self._find_scalings(rows)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        targets = self._scaled(rows).targets
        if rows.labels is not None:
            targets = np.where(rows.labels[:, None] == np.arange(outputs), 1.0, -1.0)
        dtype = self._dtype_for(len(rows.x))
        found = _core.fit_elm(
            Rows(rows.x, targets, None, rows.weights).dataset(self._x_scaling, dtype, outputs),
            self._neuron(),
            int(self.n_neurons),
            self.radius == "auto",
            self.weights,
            seed,
            0.0 if self.C == "auto" else float(self.C),
            "bf16" if self.precision == "bf16" else "exact",
            str(self.device),
            threads_of(self.threads),
        )
        if found is None:
            raise KeyboardInterrupt
        core, self.C_ = found
        self._network = Network._of(core)
        self._prepare_answers()
        return self

    @property
    def coef_(self) -> Array:
        """The output weights, (n_neurons, outputs), of the network's own numbers: a copy."""
        check_is_fitted(self)
        return self._network.weights(1).T.copy()

    @property
    def hidden_weights_(self) -> Array:
        """The hidden weights, or rows as centres, (n_neurons, features), of scaled rows: a copy."""
        check_is_fitted(self)
        return self._network.weights(0).copy()


class ELMClassifier(_ExtremeLearning, _DirectClassifier):
    """Extreme learning machine for classes: random hidden weights, output weights that solve (I/C + H'H) W = H'T.

    Targets are 1 for the class of a row and -1 for the others. Sample weights are exact: a row of weight 2 and the row
    twice give the same network.

    Parameters
    ----------
    n_neurons : int
        Of the hidden layer.
    activation : str
        "abs", "tanh", "logistic", "relu", ... (``lamina.activations()``); of distances "triangle" or "gaussian".
    weights : {"uniform", "signs", "2bit", "8bit"}
        How hidden weights are drawn from -1 to 1.
    metric : {"dot", "manhattan", "euclidean", "sqeuclidean"}
        Distances have random rows as centres instead of random weights.
    radius : float or "auto"
        Of "triangle" and "gaussian", in scaled units; "auto" by the mean distance of rows.
    C : float or "auto"
        1/C is the ridge. "auto" takes the one whose answers are best with each row left out.
    random_state : int, RandomState or None
    class_weight : dict, "balanced" or None
        Weight of every class, multiplied with the sample weights.
    scale, missing, device, threads
        As for `MLPClassifier`.
    precision : {"auto", "f32", "f64", "bf16"}
        "auto" is f64 while that is a matter of seconds (rows times the square of the neurons up to 2e10), else f32; sums
        are in f64 always.

    Attributes
    ----------
    classes_ : array
    C_ : float
    coef_, hidden_weights_ : array
    n_features_in_, n_outputs_ : int
    """

    _parameter_constraints = {**_ExtremeLearning._parameter_constraints, "class_weight": _CLASS_WEIGHT}

    def __init__(
        self,
        n_neurons: int = 500,
        *,
        activation: str = "abs",
        weights: str = "uniform",
        metric: str = "dot",
        radius: float | str = "auto",
        C: float | str = 1.0,
        random_state: Any = None,
        class_weight: Any = None,
        scale: str = "auto",
        missing: str = "error",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.activation = activation
        self.weights = weights
        self.metric = metric
        self.radius = radius
        self.C = C
        self.random_state = random_state
        self.class_weight = class_weight
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.device = device
        self.threads = threads

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Draws the hidden layer and solves for the output weights.

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


class ELMRegressor(_ExtremeLearning, _NumberTargets):
    """Extreme learning machine for numbers, one or several; see `ELMClassifier`.

    Parameters
    ----------
    n_neurons, activation, weights, metric, radius, C, random_state, scale, missing, precision, device, threads
        As for `ELMClassifier`; the default C is smaller, as numbers are answered by sums of all neurons.

    Attributes
    ----------
    C_ : float
    coef_, hidden_weights_ : array
    n_features_in_, n_outputs_ : int
    """

    def __init__(
        self,
        n_neurons: int = 500,
        *,
        activation: str = "abs",
        weights: str = "uniform",
        metric: str = "dot",
        radius: float | str = "auto",
        C: float | str = 0.01,
        random_state: Any = None,
        scale: str = "auto",
        missing: str = "error",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.n_neurons = n_neurons
        self.activation = activation
        self.weights = weights
        self.metric = metric
        self.radius = radius
        self.C = C
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.precision = precision
        self.device = device
        self.threads = threads

    def _output(self) -> tuple[str, str]:
        return "mse", "identity"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Draws the hidden layer and solves for the output weights.

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
