"""Networks: layers, parameters, gradients and single steps."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._arrays import Array, as_array, dtype_of, threads_of

# Activations of PyTorch by the library's names, with what makes them the same curve.
_TORCH = {
    "ReLU": "relu",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "SiLU": "silu",
    "Mish": "mish",
    "SELU": "selu",
    "Softplus": "softplus",
    "Identity": "identity",
}


class Network:
    """Layers with their parameters in memory that NumPy views.

    Parameters
    ----------
    layers : str
        "dot-relu:256,dot-softmax:10", "rbf(radius=12)-radius:64,dot-identity:1": neurons as the program writes them, each
        with how many there are. Softmax stands at the end only.
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
        return ",".join(f"{neuron}:{outputs}" for neuron, _, outputs in self.layers)

    def weights(self, layer: int) -> Array:
        """outputs × inputs of a layer: a view, what is written there is the network's."""
        view: Array = self._core.weights(layer)
        return view

    def bias(self, layer: int) -> Array | None:
        """The biases of a layer as a view; None for a layer without."""
        view: Array | None = self._core.bias(layer)
        return view

    def radii(self, layer: int) -> Array | None:
        """The trained radii of a layer as a view; None for a layer without."""
        view: Array | None = self._core.radii(layer)
        return view

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

        The parameters as they are now are read once for the call; `predictor` keeps a copy for many. A row gives the
        same bits in every batch.
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
        flat: Array = steps.gradients()
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
            optimizer="adam", learning_rate, momentum, weight_decay, beta1, beta2, epsilon. Calls with the same loss and
            rule continue the same optimizer.
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
    def from_torch(cls, module: Any) -> Network:
        """The network of a ``torch.nn.Sequential`` of Linear and known activations, its weights copied.

        Known are ReLU, LeakyReLU, Tanh, Sigmoid, SiLU, Mish, SELU, GELU(approximate="tanh"), ELU(alpha=1), Softplus, Identity, and
        Softmax at the end; Dropout and Flatten are passed over. Raises ValueError naming any other.
        """
        layers: list[tuple[Any, str]] = []
        for child in module:
            kind = type(child).__name__
            if kind == "Linear":
                layers.append((child, "identity"))
            elif kind in ("Dropout", "Flatten"):
                continue
            elif not layers:
                raise ValueError(f"{kind} stands before the first Linear")
            else:
                layers[-1] = (layers[-1][0], _from_torch_activation(child))
        if not layers:
            raise ValueError("there is no Linear in it")
        dtype = "f64" if str(layers[0][0].weight.dtype) == "torch.float64" else "f32"
        text = ",".join(
            f"dot-{activation}{'' if linear.bias is not None else '-nobias'}:{linear.out_features}"
            for linear, activation in layers
        )
        network = cls(text, layers[0][0].in_features, dtype=dtype)
        for place, (linear, _) in enumerate(layers):
            network.weights(place)[...] = linear.weight.detach().cpu().numpy()
            bias = network.bias(place)
            if bias is not None:
                bias[...] = linear.bias.detach().cpu().numpy()
        return network

    def to_torch(self) -> Any:
        """A ``torch.nn.Sequential`` that computes the same; ValueError for distances and activations it has not."""
        import torch

        modules: list[Any] = []
        for place, (neuron, inputs, outputs) in enumerate(self.layers):
            synapse, _, activation = neuron.partition("-")
            activation = activation.removesuffix("-nobias")
            if synapse != "dot":
                raise ValueError(f"layer {place} is {neuron}: PyTorch has no layer of distances")
            bias = self.bias(place)
            linear = torch.nn.Linear(inputs, outputs, bias=bias is not None)
            linear.to(torch.float64 if self.dtype == "f64" else torch.float32)
            with torch.no_grad():
                linear.weight.copy_(torch.from_numpy(self.weights(place)))
                if bias is not None:
                    linear.bias.copy_(torch.from_numpy(bias))
            modules.append(linear)
            made = _to_torch_activation(activation)
            if made is not None:
                modules.append(made)
        return torch.nn.Sequential(*modules)

    def copy(self) -> Network:
        """Another network with the same layers and parameters."""
        network = Network(self.text, self.inputs, dtype=self.dtype)
        network._core.parameters()[...] = self._core.parameters()
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


def _from_torch_activation(module: Any) -> str:
    kind = type(module).__name__
    if kind in _TORCH:
        return _TORCH[kind]
    if kind == "LeakyReLU":
        return f"leaky_relu(slope={module.negative_slope!r})"
    if kind == "ELU" and module.alpha == 1:
        return "elu"
    if kind == "GELU" and module.approximate == "tanh":
        return "gelu"
    if kind == "Softmax" and module.dim in (1, -1):
        return "softmax"
    raise ValueError(f"{module!r} has no counterpart in lamina")


def _to_torch_activation(activation: str) -> Any:
    import torch

    name, _, parameters = activation.partition("(")
    for kind, known in _TORCH.items():
        if activation == known:
            return None if kind == "Identity" else getattr(torch.nn, kind)()
    if name == "leaky_relu":
        return torch.nn.LeakyReLU(float(parameters.rstrip(")").partition("=")[2] or 0.01))
    if activation == "elu":
        return torch.nn.ELU()
    if activation == "gelu":
        return torch.nn.GELU(approximate="tanh")
    if activation == "softmax":
        return torch.nn.Softmax(dim=-1)
    raise ValueError(f"PyTorch has no activation {activation}")


class Predictor:
    """Answers for one row at a time, with less than two microseconds around the library's own call.

    Thread-safe; holds a copy of the parameters.

    Parameters
    ----------
    network : Network
    weights : {"exact", "bf16", "i8"}
        In how many bits the weights of products are read.
    """

    def __init__(self, network: Network, weights: str = "exact") -> None:
        core = _core.RowPredictor(network._core, weights)
        self._call = core.__call__
        self.inputs = core.inputs
        self.outputs = core.outputs
        self.dtype = dtype_of(network.dtype)

    def __call__(self, row: Array, out: Array | None = None) -> Array:
        """The outputs for ``row``, a dense array of ``inputs`` numbers of the network's type."""
        if out is None:
            out = np.empty(self.outputs, self.dtype)
        self._call(row, out)
        return out


class BatchPredictor:
    """Answers for batches of raw numbers, the same bits for a row in every batch and on any number of threads.

    Thread-safe (callers wait for one another); holds a copy of the parameters; can be pickled.

    Parameters
    ----------
    network : Network
    input_scaling, output_scaling : (offsets, scales), optional
        A number x becomes (x - offset) / scale before the network, an output y becomes y * scale + offset.
    backend : str
    threads : int, optional
    """

    def __init__(
        self,
        network: Network,
        *,
        input_scaling: tuple[Array, Array] | None = None,
        output_scaling: tuple[Array, Array] | None = None,
        backend: str = "cpu",
        threads: int | None = None,
    ) -> None:
        self.__setstate__((network, input_scaling, output_scaling, backend, threads))

    def __getstate__(self) -> tuple[Any, ...]:
        return self._made_of

    def __setstate__(self, made_of: tuple[Any, ...]) -> None:
        self._made_of = made_of
        network, input_scaling, output_scaling, backend, threads = made_of
        self.inputs: int = network.inputs
        self.outputs: int = network.outputs
        self._out_dtype: str = "f64" if output_scaling is not None else network.dtype
        self._out_type = dtype_of(self._out_dtype)
        self._call = _core.BatchPredictor(
            network._core,
            *(input_scaling or (None, None)),
            *(output_scaling or (None, None)),
            backend,
            threads_of(threads),
        ).__call__

    def __call__(self, x: Any) -> Array:
        """The outputs for the rows of x: (rows, outputs).

        Raises
        ------
        ValueError
            Where x has another number of columns, or a number that is not finite.
        """
        from ._arrays import as_matrix

        array, dtype = as_matrix(x, "x")
        return self.of_matrix(array, dtype)

    def of_matrix(self, array: Array, dtype: str) -> Array:
        """The same for an array as `as_matrix` gives it."""
        out = np.empty((array.shape[0], self.outputs), self._out_type)
        row = self._call(array, dtype, out, self._out_dtype)
        if row >= 0:
            raise ValueError(f"Input X contains NaN, infinity or a value too large for {self._out_type}: row {row}")
        return out
