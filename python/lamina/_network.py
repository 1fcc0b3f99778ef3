"""Networks: layers, parameters, gradients and single steps."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from . import _core
from ._arrays import Array, as_array, dtype_of, threads_of
from ._predictors import BatchPredictor, Predictor


class Network:
    """Layers with their parameters in memory that NumPy views.

    Parameters
    ----------
    layers : str
        "dot-relu:256,dot-softmax:10", "rbf(radius=12)-radius:64,dot-identity:1": neurons as the program writes them,
        and how many. Softmax stands at the end only. ``residual(dot-relu:64,dot-identity:64)`` is a block of hidden
        layers whose input is added to its output.
    inputs : int
        Features of a row.
    dtype : {"f32", "f64"}
    initialization : str, optional
        One of ``lamina.initializations()``; weights are zero where it is left out.
    seed : int

    Examples
    --------
    >>> net = Network("dot-tanh:8,dot-identity:1", inputs=3, initialization="glorot_uniform")
    >>> net.weights(0).shape
    (8, 3)
    >>> net.forward([[0.1, 0.2, 0.3]]).shape
    (1, 1)
    """

    def __init__(
        self,
        layers: str,
        inputs: int,
        *,
        dtype: str = "f32",
        initialization: str | None = None,
        seed: int = 1,
    ) -> None:
        self._core = _core.Network(layers, int(inputs), dtype)
        self._steps: dict[Any, _core.Steps] = {}
        if initialization is not None:
            self._core.initialize(initialization, seed)

    @classmethod
    def _of(cls, core: _core.Network) -> Network:
        network = cls.__new__(cls)
        network._core = core
        network._steps = {}
        return network

    @property
    def layers(self) -> list[tuple[str, int, int]]:
        """(neuron, inputs, outputs) of every layer."""
        return self._core.layers

    @property
    def inputs(self) -> int:
        """Features of a row."""
        return self.layers[0][1]

    @property
    def outputs(self) -> int:
        """Outputs of the last layer."""
        return self.layers[-1][2]

    @property
    def dtype(self) -> str:
        """ "f32" or "f64"."""
        return self._core.dtype

    @property
    def text(self) -> str:
        """What the constructor takes as ``layers``."""
        return str(self._core.text)

    def weights(self, layer: int) -> Array:
        """outputs × inputs of a layer: a view, what is written there is the network's."""
        return cast(Array, self._core.weights(layer))

    def bias(self, layer: int) -> Array | None:
        """The biases of a layer as a view; None for a layer without."""
        return cast("Array | None", self._core.bias(layer))

    def radii(self, layer: int) -> Array | None:
        """The trained radii of a layer as a view; None for a layer without."""
        return cast("Array | None", self._core.radii(layer))

    def parameters(self) -> list[Array]:
        """All parameters as views, layer by layer: weights, bias, radii."""
        views = []
        for layer in range(len(self.layers)):
            views += [view for view in (self.weights(layer), self.bias(layer), self.radii(layer)) if view is not None]
        return views

    def _rows(self, a: Any, columns: int, name: str) -> Array:
        array = np.ascontiguousarray(as_array(a, name), dtype=dtype_of(self.dtype))
        if array.ndim != 2 or array.shape[1] != columns:
            raise ValueError(f"{name} has the shape {array.shape}, (rows, {columns}) is needed")
        return array

    def forward(self, x: Any, *, backend: str = "cpu", threads: int | None = None) -> Array:
        """The outputs for the rows of x: (rows, outputs) in the network's type.

        Reads the parameters once; `predictor` keeps a copy for many calls. A row gives the same bits in every batch.
        """
        return BatchPredictor(self, backend=backend, threads=threads)(x)

    def predictor(self, weights: str = "exact") -> Predictor:
        """For one row at a time; ``weights`` "exact", "bf16" or "i8" as in docs/library.md."""
        return Predictor(self, weights)

    def gradients(
        self, x: Any, y: Any, *, loss: str = "mse", sample_weight: Any = None, threads: int | None = None
    ) -> tuple[float, list[Array]]:
        """Loss of a batch, and its gradient by every parameter.

        Parameters
        ----------
        x : array, (rows, inputs)
        y : array, (rows, outputs)
        loss : str
            One of ``lamina.losses()``; "mse" is summed over outputs and averaged over rows (docs/library.md).
        sample_weight : array, (rows,), optional
            The loss is their weighted mean; the gradient is that of the weighted sum divided by the rows.

        Returns
        -------
        float
        list of array
            As `parameters`, valid until the next call.
        """
        steps = self._steps_for(loss, {}, threads)
        value = self._step(steps, x, y, sample_weight, update=False)
        flat = cast(Array, steps.gradients())
        views = []
        for layer, (weights, bias, radius) in enumerate(self._core.offsets()):
            for start, parameter in (
                (weights, self.weights(layer)),
                (bias, self.bias(layer)),
                (radius, self.radii(layer)),
            ):
                if parameter is not None:
                    views.append(flat[start : start + parameter.size].reshape(parameter.shape))
        return value, views

    def train_step(
        self,
        x: Any,
        y: Any,
        *,
        loss: str = "mse",
        sample_weight: Any = None,
        threads: int | None = None,
        **rule: Any,
    ) -> float:
        """One step of an optimizer on a batch; returns the loss before it.

        Parameters
        ----------
        **rule
            optimizer="adam", learning_rate, momentum, weight_decay, beta1, beta2, epsilon. Calls with one loss and rule
            continue one optimizer.
        """
        return self._step(self._steps_for(loss, rule, threads), x, y, sample_weight, update=True)

    def _steps_for(self, loss: str, rule: dict[str, Any], threads: int | None) -> _core.Steps:
        key = (loss, tuple(sorted(rule.items())), threads)
        if key not in self._steps:
            self._steps[key] = _core.Steps(self._core, loss, rule, "cpu", threads_of(threads))
        return self._steps[key]

    def _step(self, steps: _core.Steps, x: Any, y: Any, sample_weight: Any, update: bool) -> float:
        x = self._rows(x, self.inputs, "x")
        y = self._rows(y, self.outputs, "y")
        if sample_weight is not None:
            sample_weight = np.ascontiguousarray(sample_weight, dtype=dtype_of(self.dtype))
        return steps.step(x, y, sample_weight, update)

    @classmethod
    def from_torch(cls, module: Any, *, residual: type | None = None) -> Network:
        """The network of a ``torch.nn.Sequential`` of Linear and known activations, its weights copied.

        It answers as the module does after ``module.eval()``. One activation may follow each Linear: ReLU, LeakyReLU
        with a positive slope, Tanh, Sigmoid, SiLU, Mish, SELU, GELU(approximate="tanh"), ELU, or Softplus with its
        defaults; at the end also Softmax. BatchNorm1d behind a Linear is folded into it. Identity, Dropout and Flatten
        are passed over, a Sequential inside is taken as its modules. ValueError names whatever else there is: other
        modules and parameters, two activations in a row, classes of one's own, hooks.

        ``residual``: a subclass of Sequential whose ``forward(x)`` is x plus what its modules, the first a Linear, make
        of x. It is tried on some rows before it is believed. The blocks of `to_torch` are known.
        """
        from ._torch import layers_of

        parameters, text = layers_of(module, residual)
        first = parameters[0][0]
        network = cls(text, first.shape[1], dtype="f64" if first.dtype == np.float64 else "f32")
        for place, (weights, bias) in enumerate(parameters):
            network.weights(place)[...] = weights
            own = network.bias(place)
            if own is not None and bias is not None:
                own[...] = bias
        return network

    def to_torch(self) -> Any:
        """A ``torch.nn.Sequential`` that computes the same; ValueError for distances and activations it has not."""
        from ._torch import module_of

        return module_of(self)

    def copy(self) -> Network:
        """Another network with the same layers and parameters."""
        network = Network(self.text, self.inputs, dtype=self.dtype)
        cast(Array, network._core.parameters())[...] = self._core.parameters()
        return network

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> Network:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "layers": self.text,
            "inputs": self.inputs,
            "dtype": self.dtype,
            "parameters": [np.array(view) for view in self.parameters()],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._core = _core.Network(state["layers"], state["inputs"], state["dtype"])
        self._steps = {}
        for view, saved in zip(self.parameters(), state["parameters"]):
            view[...] = saved

    def __repr__(self) -> str:
        return f"Network({self.text!r}, inputs={self.inputs}, dtype={self.dtype!r})"
