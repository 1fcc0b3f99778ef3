"""Networks of PyTorch: which of its modules the library computes, by name. Nothing is translated inexactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from ._arrays import Array

if TYPE_CHECKING:
    from ._network import Network

# Activations of PyTorch without parameters by the library's names.
_TORCH = {
    "ReLU": "relu",
    "Tanh": "tanh",
    "Sigmoid": "sigmoid",
    "SiLU": "silu",
    "Mish": "mish",
    "SELU": "selu",
    "Softplus": "softplus",
}
_SOFTPLUS_THRESHOLD = 20  # from there on PyTorch answers x for log(1 + exp(x)): apart by 2e-9


def layers_of(module: Any, residual: type | None = None) -> tuple[list[tuple[Array, Array | None]], str]:
    """Weights and biases of the Linears of a Sequential, and the layers as `Network` takes them."""
    parameters: list[tuple[Array, Array | None]] = []
    activations: list[str | None] = []
    blocks: list[tuple[int, int]] = []  # the first layer of each and the one behind its last
    before = ""  # the activation behind the last Linear
    _refuse_global_hooks()
    for name, child in _children(module, "", residual):
        kind = type(child).__name__
        if child is _BEGIN:
            blocks.append((len(parameters), -1))
            before = "the beginning of a residual block"
        elif child is _END:
            first, _ = blocks.pop()
            if first == len(parameters):
                raise ValueError(f"{name} has no Linear in it")
            blocks.append((first, len(parameters)))
            before = "a residual block"
        elif kind == "Linear":
            if before == "Softmax":
                raise ValueError(f"{name} stands behind a Softmax, which can only be the last")
            parameters.append(_linear(name, child, parameters))
            activations.append(None)
            before = ""
        elif kind in ("Identity", "Dropout") or (kind == "Flatten" and _keeps_rows(name, child)):
            continue
        elif not parameters:
            raise ValueError(f"{name} stands before the first Linear")
        elif kind == "BatchNorm1d":
            if before or not parameters:
                raise ValueError(f"{name}: a BatchNorm1d can be folded into a Linear before it, not into one behind it")
            parameters[-1] = _folded(name, child, *parameters[-1])
        else:
            activation = _from_torch_activation(name, child)
            if before:
                raise ValueError(f"{name} stands behind {before}: a layer has one activation")
            activations[-1] = activation
            before = kind
    if not parameters:
        raise ValueError("there is no Linear in it")
    texts = [
        f"dot-{activation or 'identity'}{'' if bias is not None else '-nobias'}:{len(weights)}"
        for (weights, bias), activation in zip(parameters, activations)
    ]
    for first, end in reversed(blocks):
        texts[first:end] = [f"residual({','.join(texts[first:end])})"]
    return parameters, ",".join(texts)


_BEGIN = object()  # of a residual block, among its modules
_END = object()


def _children(module: Any, path: str, residual: type | None) -> Iterator[tuple[str, Any]]:
    """The modules of a Sequential and of those inside it, in order, each with what messages call it."""
    import torch

    from ._torch_residual import Residual

    if not isinstance(module, torch.nn.Sequential):
        raise ValueError(f"{type(module).__name__} is no torch.nn.Sequential: only its modules' order is known")
    name = f"module {path}" if path else "the module"
    adds = isinstance(module, Residual) or (residual is not None and isinstance(module, residual))
    _refuse_changed(name, module, type(module) if adds else torch.nn.Sequential)
    if adds:
        _try_residual(name, module)
        yield name, _BEGIN
    for key, child in module._modules.items():
        place = f"{path}.{key}" if path else key
        if isinstance(child, torch.nn.Sequential):
            if adds and (isinstance(child, Residual) or (residual is not None and isinstance(child, residual))):
                raise ValueError(f"module {place} is a residual block inside one")
            yield from _children(child, place, residual)
            continue
        name = f"module {place} ({type(child).__name__})"
        _refuse_changed(name, child, getattr(torch.nn, type(child).__name__, None))
        yield name, child
    if adds:
        yield name, _END


def _try_residual(name: str, block: Any) -> None:
    """Refuses a block whose forward() is not its input plus what its modules make of it."""
    import torch

    weights = next((child.weight for child in block.modules() if type(child) is torch.nn.Linear), None)
    if weights is None:
        raise ValueError(f"{name} has no Linear in it")
    x = torch.linspace(-3, 3, 5 * weights.shape[1], dtype=weights.dtype, device=weights.device).reshape(5, -1)
    training = block.training
    try:
        block.eval()
        with torch.no_grad():
            same = torch.equal(block(x), x + torch.nn.Sequential.forward(block, x))
    except RuntimeError as error:
        raise ValueError(f"{name} cannot be a residual block: {error}") from error
    finally:
        block.train(training)
    if not same:
        raise ValueError(f"{name} does not answer x plus what its modules make of x")


def _refuse_changed(name: str, module: Any, known: Any) -> None:
    """Refuses what may answer otherwise than the class of torch.nn does: other classes, own calls, hooks."""
    if known is None or not (type(module) is known or (_is_sequential(known) and _calls(type(module)) == _calls(known))):
        raise ValueError(f"{name} is of {type(module).__module__}.{type(module).__qualname__}, which is none of torch.nn")
    if "forward" in module.__dict__:
        raise ValueError(f"{name} has a forward() of its own, which cannot be translated")
    hooks = [key for key, value in module.__dict__.items() if key.endswith("_hooks") and value]
    if hooks:
        raise ValueError(f"{name} has {', '.join(hooks)}, which cannot be translated: remove the hooks first")
    for key, parameter in module.__dict__.get("_parameters", {}).items():
        if getattr(parameter, "_backward_hooks", None):
            raise ValueError(f"{name} has a hook on {key}, which cannot be translated: remove it first")


def _refuse_global_hooks() -> None:
    from torch.nn.modules import module

    hooks = [key for key, value in vars(module).items() if key.startswith("_global_") and key.endswith("_hooks") and value]
    if hooks:
        raise ValueError(f"PyTorch has hooks for every module ({', '.join(hooks)}), which cannot be translated")


def _is_sequential(kind: Any) -> bool:
    return bool(kind.__name__ == "Sequential")


def _calls(kind: Any) -> tuple[Any, ...]:
    return kind.forward, kind.__call__, kind.__iter__


def _keeps_rows(name: str, flatten: Any) -> bool:
    if (flatten.start_dim, flatten.end_dim) not in ((1, -1), (1, 1)):
        raise ValueError(f"{name}: only Flatten(1, -1) leaves rows as they are, not {flatten!r}")
    return True


def _linear(name: str, linear: Any, before: list[tuple[Array, Array | None]]) -> tuple[Array, Array | None]:
    weights = _numbers(linear.weight, name)
    if before and (before[-1][0].shape[0] != weights.shape[1] or before[-1][0].dtype != weights.dtype):
        given = f"{before[-1][0].shape[0]} outputs in {before[-1][0].dtype}"
        raise ValueError(f"{name} takes {weights.shape[1]} inputs in {weights.dtype}, the Linear before it has {given}")
    return weights, None if linear.bias is None else _numbers(linear.bias, name)


def _numbers(tensor: Any, name: str) -> Array:
    kind = str(tensor.dtype).removeprefix("torch.")
    if kind not in ("float32", "float64"):
        raise ValueError(f"{name} has parameters in {kind}: a network computes in float32 or float64")
    if tensor.device.type == "meta":
        raise ValueError(f"{name} has parameters without values (device meta)")
    numbers: Array = tensor.detach().cpu().numpy()
    return numbers


def _folded(name: str, normalization: Any, weights: Array, bias: Array | None) -> tuple[Array, Array]:
    """The Linear that answers as one with a BatchNorm1d behind it does by its running statistics."""
    if normalization.running_mean is None:
        raise ValueError(f"{name} is without running statistics: it answers by the other rows of a batch")
    if normalization.num_features != len(weights):
        raise ValueError(f"{name} is of {normalization.num_features} features, the Linear before it has {len(weights)}")
    factor = 1 / np.sqrt(_numbers(normalization.running_var, name).astype(np.float64) + normalization.eps)
    shift = np.zeros_like(factor) - _numbers(normalization.running_mean, name) + (0 if bias is None else bias)
    if normalization.weight is not None:
        factor *= _numbers(normalization.weight, name)
    shift *= factor
    if normalization.bias is not None:
        shift += _numbers(normalization.bias, name)
    return (factor[:, None] * weights).astype(weights.dtype), shift.astype(weights.dtype)


def module_of(network: Network) -> Any:
    """A Sequential with copies of the parameters."""
    import torch

    from ._torch_residual import Residual

    modules: list[Any] = []
    starts: list[int] = []  # of the modules of every layer
    for place, (neuron, inputs, outputs) in enumerate(network.layers):
        synapse, _, activation = neuron.partition("-")
        activation = activation.removesuffix("-nobias")
        if synapse != "dot":
            raise ValueError(f"layer {place} is {neuron}: PyTorch has no layer of distances")
        starts.append(len(modules))
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
        if count := network._core.residual[place]:
            first = starts[-count]
            modules[first:] = [Residual(*modules[first:])]
            starts[-count:] = [first] * count
    return torch.nn.Sequential(*modules)


def _from_torch_activation(name: str, module: Any) -> str:
    kind = type(module).__name__
    if kind == "Softplus" and (module.beta != 1 or module.threshold < _SOFTPLUS_THRESHOLD):
        raise ValueError(f"{name}: only Softplus(beta=1, threshold={_SOFTPLUS_THRESHOLD}) is known, not {module!r}")
    if kind in _TORCH:
        return _TORCH[kind]
    if kind == "LeakyReLU" and module.negative_slope > 0:
        return f"leaky_relu(slope={float(module.negative_slope)!r})"
    if kind == "ELU" and module.alpha > 0:
        return f"elu(alpha={float(module.alpha)!r})"
    if kind == "GELU" and module.approximate == "tanh":
        return "gelu"
    if kind == "Softmax" and module.dim in (1, -1):
        return "softmax"
    raise ValueError(f"{name}: {module!r} has no counterpart in lamina")


def _to_torch_activation(activation: str) -> Any:
    import torch

    name, _, given = activation.partition("(")
    parameters = dict(pair.split("=") for pair in given.rstrip(")").split(",") if pair)
    if activation == "identity":
        return None
    for kind, known in _TORCH.items():
        if activation == known:
            return getattr(torch.nn, kind)()
    if name == "leaky_relu":
        return torch.nn.LeakyReLU(float(parameters.get("slope", 0.01)))
    if name == "elu":
        return torch.nn.ELU(float(parameters.get("alpha", 1.0)))
    if activation == "gelu":
        return torch.nn.GELU(approximate="tanh")
    if activation == "softmax":
        return torch.nn.Softmax(dim=-1)
    raise ValueError(f"PyTorch has no activation {activation}")
