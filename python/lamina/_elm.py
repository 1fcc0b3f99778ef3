"""Extreme learning machines: a hidden layer that is drawn, output weights by ridge regression."""

from __future__ import annotations

import warnings
from typing import Any, Callable, cast

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._arrays import Array, threads_of
from ._base import _Estimator
from ._direct import _DirectClassifier
from ._fitting import Moments, Rows, stays_as_it_is
from ._layers import _ACTIVATIONS, ACTIVATION, METRICS
from ._network import Network
from ._parameters import RANDOM_STATE, Attribute, choice, documented, keep, or_auto, real, whole
from ._targets import CLASS_WEIGHT, _NumberTargets

_F64_OPERATIONS = 2e10  # of the sums that "auto" still computes in float64


class _ExtremeLearning(_Estimator):
    """A hidden layer that is drawn, output weights by ridge regression."""

    _parameters = {
        "n_neurons": whole(1, "Neurons of the hidden layer."),
        "activation": ACTIVATION._replace(
            kind="str",
            text='"abs", "tanh", "logistic", "relu", ... (``lamina.activations()``); with distances "triangle" or '
            '"gaussian".',
        ),
        "weights": choice(*_core.hidden_weights(), text="How hidden weights are drawn from -1 to 1."),
        "metric": choice(*("dot", *METRICS), text="Distances have rows as centers instead of random weights."),
        "centres": choice(
            *_core.centre_choices(),
            text="Centers of distances: random rows, or clusters of the rows (whatever their weights) by squared "
            "Euclidean distances and means, or Manhattan distances and medians. ``partial_fit`` takes its first rows.",
        ),
        "radius": or_auto(
            real(0, closed="neither"),
            'For "triangle" and "gaussian", in scaled units; "auto" by the mean distance of rows.',
        ),
        "C": or_auto(
            real(0, closed="neither"),
            '1/C is the ridge; "auto": the best one for answers to each row left out.',
        ),
        "random_state": RANDOM_STATE,
        "class_weight": CLASS_WEIGHT,
        "precision": choice(
            *("auto", "f32", "f64", "bf16"),
            text='"auto": f64 up to 2e10 rows times squared neurons (seconds), else f32; sums are always in f64.',
        ),
    }
    _results = {
        "C_": Attribute("float"),
        "coef_": Attribute("array, (n_neurons, outputs)"),
        "hidden_weights_": Attribute("array, (n_neurons, features)"),
    }

    def _neuron(self) -> str:
        activation = _ACTIVATIONS.get(self.activation, self.activation)
        if activation in ("triangle", "gaussian"):
            activation += "(radius=1)" if self.radius == "auto" else f"(radius={float(self.radius)!r})"
        return f"{METRICS.get(self.metric, self.metric)}-{activation}"

    def _dtype_for(self, rows: int) -> str:
        if self.precision == "auto":
            return "f64" if rows * int(self.n_neurons) ** 2 <= _F64_OPERATIONS else "f32"
        return "f64" if self.precision == "f64" else "f32"

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Draws the hidden layer and solves for the output weights.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
        y : array, (rows,) of classes; numbers may be (rows, targets)
        sample_weight : array, (rows,), optional

        Returns
        -------
        self
        """
        rows, outputs, _ = self._checked_rows(X, y, sample_weight, True, None)
        self._find_scalings(rows)
        self._dtype = self._dtype_for(len(rows.x))
        data = self._dataset(rows, outputs)
        network = self._drawn(data, outputs)
        c = 0.0 if self.C == "auto" else float(self.C)
        found = _core.solve_elm(network._core, data, c, self._products(), str(self.device), threads_of(self.threads))
        self._network, self.C_ = network, found
        self.__dict__.pop("_sums", None)
        self._prepare_answers()
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Any:
        first = "_sums" not in self.__dict__
        if first and "_network" in self.__dict__:
            warnings.warn(
                f"fit() of {type(self).__name__} keeps no sums of its rows: partial_fit() begins anew with those given now",
                UserWarning,
                stacklevel=4,
            )
        rows, outputs, _ = self._checked_rows(X, y, sample_weight, first, classes)
        if first:
            self._find_scalings(rows)
            sums = self._summed(self._begin(rows, outputs))
        else:
            sums = self._sums + self._sums_of(rows)
        self._solve(sums)
        return self

    # Sums over rows, from which the output weights follow; scalings are known.

    def _take_scalings(self, inputs: Moments, targets: Moments | None) -> None:
        """Those of rows that are not at hand."""
        stay = stays_as_it_is(self.scale, inputs.least, inputs.greatest)
        self._x_scaling = None if stay else inputs.scaling()
        self._y_scaling = None if targets is None else targets.scaling()

    def _begin(
        self, rows: Rows, outputs: int, place: Callable[[Network, _core.Dataset, int], None] | None = None
    ) -> _core.Dataset:
        """The rows, scaled. Draws the hidden layer; for distances its centers are rows, or what ``place`` finds.

        ``place`` gets (network, rows, seed) and moves the centers to those of clusters.
        """
        if self.C == "auto":
            raise ValueError('C="auto" needs all rows at once: find it by fit() on some of them, and give that number')
        self._dtype = self._dtype_for(len(rows.x))
        data = self._dataset(rows, outputs)
        self._network = self._drawn(data, outputs, place)
        return data

    def _sums_of(self, rows: Rows) -> Array:
        """To be added to those of other rows."""
        return self._summed(self._dataset(rows, self._network.outputs))

    def _summed(self, data: _core.Dataset) -> Array:
        sums = _core.elm_sums(
            self._network._core, data, self._products(), str(self.device), threads_of(self.threads)
        )
        return cast(Array, sums)

    def _solve(self, sums: Array) -> None:
        _core.solve_elm_sums(self._network._core, sums, float(self.C), str(self.device), threads_of(self.threads))
        self._sums, self.C_ = sums, float(self.C)
        self._prepare_answers()

    # What both ways are made of.

    def _dataset(self, rows: Rows, outputs: int) -> _core.Dataset:
        targets = self._scaled(rows).targets
        if rows.labels is not None:
            targets = np.where(rows.labels[:, None] == np.arange(outputs), 1.0, -1.0)
        return Rows(rows.x, targets, None, rows.weights).dataset(self._x_scaling, self._dtype, outputs)

    def _drawn(
        self,
        data: _core.Dataset,
        outputs: int,
        place: Callable[[Network, _core.Dataset, int], None] | None = None,
    ) -> Network:
        if self.centres != "rows" and self.metric == "dot":
            raise ValueError(f'centres="{self.centres}" is of distances: give metric="euclidean" or "manhattan", say')
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        any_radius = self.radius == "auto"
        drawn = _core.draw_elm(data, outputs, self._neuron(), int(self.n_neurons), any_radius, self.weights, seed)
        network = Network._of(drawn)
        if self.centres != "rows":
            (place or self._place)(network, data, seed)
        return network

    def _place(self, network: Network, data: _core.Dataset, seed: int) -> None:
        """Moves the centers to those of clusters."""
        _core.place_clusters(network._core, data, self.centres, seed, str(self.device), threads_of(self.threads))

    def _products(self) -> str:
        """The precision of H'H's products."""
        return "bf16" if self.precision == "bf16" else "exact"

    @property
    def coef_(self) -> Array:
        """The output weights, (n_neurons, outputs), of the network's own numbers: a copy."""
        check_is_fitted(self)
        return self._network.weights(1).T.copy()

    @property
    def hidden_weights_(self) -> Array:
        """The hidden weights, or rows as centers, (n_neurons, features), of scaled rows: a copy."""
        check_is_fitted(self)
        return self._network.weights(0).copy()


@documented
class ELMClassifier(_ExtremeLearning, _DirectClassifier):
    """Extreme learning machine for classes: random hidden weights, output weights that solve (I/C + H'H) W = H'T.

    Targets are 1 for the class of a row and -1 for the others. Sample weights are exact: a row of weight 2 and the row
    twice give the same network.
    """

    def __init__(
        self,
        n_neurons: int = 500,
        *,
        activation: str = "abs",
        weights: str = "uniform",
        metric: str = "dot",
        centres: str = "rows",
        radius: float | str = "auto",
        C: float | str = 1.0,
        random_state: Any = None,
        class_weight: Any = None,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        keep(self, locals())

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Adds rows: the network is then that of all rows that ``partial_fit`` was given, without those of ``fit``.

        The first call draws the hidden layer and finds the scaling, which later rows share. Sums of 8 bytes for every
        pair of neurons are kept, in pickles too.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All of them; needed in the first call unless every class is in it.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, classes)


@documented
class ELMRegressor(_ExtremeLearning, _NumberTargets):
    """Extreme learning machine for numbers, one or several; see `ELMClassifier`.

    The default C is smaller, as numbers are answered by sums of all neurons.
    """

    def __init__(
        self,
        n_neurons: int = 500,
        *,
        activation: str = "abs",
        weights: str = "uniform",
        metric: str = "dot",
        centres: str = "rows",
        radius: float | str = "auto",
        C: float | str = 0.01,
        random_state: Any = None,
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

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Adds rows, as `ELMClassifier.partial_fit` does.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.

        Returns
        -------
        self
        """
        return self._partial_fit(X, y, sample_weight, None)
