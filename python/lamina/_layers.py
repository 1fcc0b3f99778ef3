"""Which layers the networks learned by gradients have."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from . import _core
from ._arrays import Array
from ._base import _Estimator
from ._fitting import Rows
from ._gradient import _NetworkEstimator
from ._network import Network
from ._parameters import Attribute, Parameter, choice, or_auto, real, whole, yes_or_no

# scikit-learn's names of what the library calls otherwise.
_ACTIVATIONS = {"logistic": "sigmoid"}
METRICS = {"manhattan": "l1", "euclidean": "l2", "sqeuclidean": "l2sq"}


ACTIVATION = Parameter(
    '{"relu", "logistic", "tanh", "identity", ...}',
    "Any of ``lamina.activations()``, too.",
    [StrOptions({*_ACTIVATIONS, *_core.activations()} - {"softmax"})],
)
KERNEL = choice(
    *("triangle", "gaussian"),
    text="What a neuron makes of a distance: max(0, 1 - d / (2.5066 r)) or exp(-(d / r)²/2) (docs/library.md).",
)


class _Perceptron(_NetworkEstimator):
    """Hidden layers of products."""

    _takes_sparse = True

    _parameters = {
        "hidden_layer_sizes": Parameter(
            "int or sequence of int", "", ["array-like", Interval(Integral, 1, None, closed="left")]
        ),
        "activation": ACTIVATION,
        "scale": _Estimator._parameters["scale"]._replace(
            text='Columns of X before the network: "auto" leaves numbers alone that all lie in '
            '[-1, 1] and standardizes others; columns of a sparse X it divides by their largest size, and zeros stay '
            'zeros. ``coefs_`` and ``intercepts_`` are always those for raw numbers.'
        ),
    }
    _results = dict.fromkeys(
        ("coefs_", "intercepts_"),
        Attribute("list of array", "Weights (inputs, outputs) and biases of every layer, for raw numbers."),
    )

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        sizes = self.hidden_layer_sizes
        sizes = list(sizes) if hasattr(sizes, "__iter__") else [sizes]
        if not all(isinstance(size, Integral) for size in sizes):
            raise ValueError(f"hidden_layer_sizes must be whole numbers, got {sizes}.")
        if any(size <= 0 for size in sizes):
            raise ValueError(f"hidden_layer_sizes must be > 0, got {sizes}.")
        activation = _ACTIVATIONS.get(self.activation, self.activation)
        return ",".join([f"dot-{activation}:{size}" for size in sizes] + [f"dot-{output}:{outputs}"])

    @property
    def coefs_(self) -> list[Array]:
        """Weights of every layer, (inputs, outputs), for raw numbers: copies."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no coefs_ before fit()")
        return self._unscaled()[0]

    @property
    def intercepts_(self) -> list[Array]:
        """Biases of every layer, for raw numbers: copies."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no intercepts_ before fit()")
        return self._unscaled()[1]


class _Distances(_NetworkEstimator):
    """One hidden layer of distances to centers, which start at rows of the data and are trained with their radii."""

    _parameters = {
        "n_centers": whole(1, "Neurons of the hidden layer."),
        "metric": choice(*METRICS),
        "kernel": KERNEL,
        "radius": or_auto(
            real(0, closed="neither"),
            'Where all radii start, in scaled units; "auto" is the mean distance of rows divided by 2.5066.',
        ),
        "train_radius": yes_or_no("Every neuron has a radius of its own that is trained."),
    }
    _results = dict.fromkeys(
        ("centers_", "radii_"), Attribute("array", "Centers in units of X, radii in scaled units.")
    )

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        synapse = METRICS[self.metric]
        if self.radius == "auto":
            kernel = f"{self.kernel}(radius=1)"
            kernel = data.with_radius(f"{synapse}-{kernel}", seed) if data is not None else kernel
        else:
            kernel = f"{self.kernel}(radius={float(self.radius)!r})"
        suffix = "-radius" if self.train_radius else ""
        return f"{synapse}-{kernel}{suffix}:{int(self.n_centers)},dot-{output}:{outputs}"

    def _starts(self, rows: Rows, train: _core.Dataset, dtype: str, outputs: int) -> _core.Dataset:
        if self.solver != "lbfgs":
            return train
        # A row of weight 2 and the row twice must start alike.
        x = np.unique(rows.x, axis=0)
        return Rows(x, np.zeros((len(x), outputs)), None, None).dataset(self._x_scaling, dtype, outputs)

    def _place(self, network: Network, data: _core.Dataset, seed: int) -> None:
        _core.place_centres(network._core, data, seed)

    @property
    def centers_(self) -> Array:
        """The centers, (n_centers, features), in units of X: a copy."""
        return self._first_weights("centers_")

    @property
    def radii_(self) -> Array:
        """The radius of every center, in scaled units: a copy."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no radii_ before fit()")
        radii = self._network.radii(0)
        if radii is not None:
            return np.array(radii, np.float64)
        text = self._network.layers[0][0]
        return np.full(int(self.n_centers), float(text.partition("radius=")[2].partition(")")[0].partition(",")[0]))
