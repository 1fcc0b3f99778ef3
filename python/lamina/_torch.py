"""Networks of PyTorch: which of its modules the library computes, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array

if TYPE_CHECKING:
    from ._network import Network

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


def layers_of(module: Any) -> tuple[list[tuple[Array, Array | None]], str]:
    """Weights and biases of the Linears of a Sequential, and the layers as `Network` takes them."""
    parameters: list[tuple[Array, Array | None]] = []
    activations: list[str] = []
    for child in module:
        kind = type(child).__name__
        if kind == "Linear":
            parameters.append((_numbers(child.weight), None if child.bias is None else _numbers(child.bias)))
            activations.append("identity")
        elif kind in ("Dropout", "Flatten"):
            continue
        elif not parameters:
            raise ValueError(f"{kind} stands before the first Linear")
        elif kind == "BatchNorm1d":
            if activations[-1] != "identity":
                raise ValueError("BatchNorm1d can be folded into a Linear before it, not into one behind it")
            parameters[-1] = _folded(child, *parameters[-1])
        else:
            activations[-1] = _from_torch_activation(child)
    if not parameters:
        raise ValueError("there is no Linear in it")
    text = ",".join(
        f"dot-{activation}{'' if bias is not None else '-nobias'}:{len(weights)}"
        for (weights, bias), activation in zip(parameters, activations)
    )
    return parameters, text


def _numbers(tensor: Any) -> Array:
    numbers: Array = tensor.detach().cpu().numpy()
    return numbers


def _folded(normalization: Any, weights: Array, bias: Array | None) -> tuple[Array, Array]:
    """The Linear that answers as one with a BatchNorm1d behind it does by its running statistics."""
    if normalization.running_mean is None:
        raise ValueError("BatchNorm1d without running statistics answers by the other rows of a batch")
    factor = 1 / np.sqrt(_numbers(normalization.running_var).astype(np.float64) + normalization.eps)
    shift = np.zeros_like(factor) - _numbers(normalization.running_mean) + (0 if bias is None else bias)
    if normalization.affine:
        factor *= _numbers(normalization.weight)
    shift *= factor
    if normalization.affine:
        shift += _numbers(normalization.bias)
    return (factor[:, None] * weights).astype(weights.dtype), shift.astype(weights.dtype)


def module_of(network: Network) -> Any:
    """A Sequential with copies of the parameters."""
    import torch

    modules: list[Any] = []
    for place, (neuron, inputs, outputs) in enumerate(network.layers):
        synapse, _, activation = neuron.partition("-")
        activation = activation.removesuffix("-nobias")
        if synapse != "dot":
            raise ValueError(f"layer {place} is {neuron}: PyTorch has no layer of distances")
        bias = network.bias(place)
        linear = torch.nn.Linear(inputs, outputs, bias=bias is not None)
        linear.to(torch.float64 if network.dtype == "f64" else torch.float32)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(network.weights(place)))
            if bias is not None:
                linear.bias.copy_(torch.from_numpy(bias))
        modules.append(linear)
        made = _to_torch_activation(activation)
        if made is not None:
            modules.append(made)
    return torch.nn.Sequential(*modules)


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
