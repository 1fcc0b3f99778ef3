"""Networks of PyTorch: which of its modules the library computes, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def text_of(module: Any) -> tuple[list[Any], str]:
    """The Linears of a Sequential, and the layers as `Network` takes them."""
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
    text = ",".join(
        f"dot-{activation}{'' if linear.bias is not None else '-nobias'}:{linear.out_features}"
        for linear, activation in layers
    )
    return [linear for linear, _ in layers], text


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
