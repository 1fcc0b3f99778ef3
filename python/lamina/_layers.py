"""Which layers the networks learnt by gradients have."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from . import _core
from ._arrays import Array
from ._fitting import Rows
from ._gradient import _NetworkEstimator
from ._network import Network

# scikit-learn's names of what the library calls otherwise.
_ACTIVATIONS = {"logistic": "sigmoid"}
_METRICS = {"manhattan": "l1", "euclidean": "l2", "sqeuclidean": "l2sq"}


class _Perceptron(_NetworkEstimator):
    """Hidden layers of products."""

    _takes_sparse = True

    _parameter_constraints: dict[str, list[Any]] = {
        **_NetworkEstimator._parameter_constraints,
        "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions({"logistic", *_core.activations()} - {"softmax"})],
    }

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
        """Weights of every layer, (inputs, outputs), of the network that takes raw numbers: copies."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no coefs_ before fit()")
        return self._unscaled()[0]

    @property
    def intercepts_(self) -> list[Array]:
        """Biases of every layer of the network that takes raw numbers: copies."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no intercepts_ before fit()")
        return self._unscaled()[1]


class _Distances(_NetworkEstimator):
    """One hidden layer of distances to centres, which start at rows of the data and are trained with their radii."""

    _parameter_constraints: dict[str, list[Any]] = {
        **_NetworkEstimator._parameter_constraints,
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(set(_METRICS))],
        "kernel": [StrOptions({"triangle", "gaussian"})],
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "train_radius": ["boolean"],
    }

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        synapse = _METRICS[self.metric]
        if self.radius == "auto":
            distance = data.mean_distance(synapse, seed) if data is not None else 0.0
            kernel = _core.with_radius_for(self.kernel, distance) if distance > 0 else f"{self.kernel}(radius=1)"
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
        """The centres, (n_centers, features), in units of X: a copy."""
        return self._first_weights("centers_")

    @property
    def radii_(self) -> Array:
        """The radius of every centre, in scaled units: a copy."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no radii_ before fit()")
        radii = self._network.radii(0)
        if radii is not None:
            return np.array(radii, np.float64)
        text = self._network.layers[0][0]
        return np.full(int(self.n_centers), float(text.partition("radius=")[2].partition(")")[0].partition(",")[0]))
