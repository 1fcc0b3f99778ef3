"""All rows at once by SciPy's L-BFGS; the loss is summed over blocks of rows, between which Ctrl-C is heard."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from . import _core
from ._arrays import Array, dtype_of, threads_of
from ._network import Network

_BLOCK_PRODUCTS = 200_000_000  # of parameters and rows: some hundredths of a second
_BLOCK_ROWS = 256  # at least: each block writes a gradient of all parameters
_BLOCK_BYTES = 128 << 20  # of inputs, at most
_BLOCK_VALUES = 30_000_000  # of values of sparse rows and neurons: the same time


@dataclass
class Minimum:
    """Where L-BFGS ended."""

    loss: float
    iterations: int
    why_not: str  # what ended it before it had converged; "": nothing
    interrupted: bool


class _Objective:
    """Loss and gradient by all parameters, as SciPy asks for them."""

    def __init__(
        self, network: Network, data: _core.Dataset, weights: Array | None, loss: str, loss_scale: float, penalty: float
    ) -> None:
        self.network, self.data, self.loss = network, data, loss
        self.targets = cast(Array, data.targets())
        self.weights = None if weights is None else np.ascontiguousarray(weights, dtype_of(network.dtype))
        self.total = float(len(data)) if self.weights is None else float(self.weights.sum(dtype=np.float64))
        self.loss_scale, self.penalty = loss_scale, penalty
        self.value = np.nan  # of the last call
        self.block = 1  # rows at a time

    def start(self) -> Array:
        """The network's parameters."""
        raise NotImplementedError

    def store(self, flat: Array) -> None:
        """Gives the network these."""
        raise NotImplementedError

    def add_block(self, steps: _core.Steps, x: Array, begin: int) -> float:
        """The summed loss of a block; its gradients, of its mean, are in ``steps``."""
        rows = slice(begin, begin + len(x))
        weights = None if self.weights is None else self.weights[rows]
        weight = len(x) if weights is None else float(weights.sum(dtype=np.float64))
        return steps.step(x, self.targets[rows], weights, False) * weight

    def blocks(self) -> Iterator[tuple[int, int, float]]:
        """Yields each block: its first row, its rows, and the share of its mean gradient in that of all rows."""
        rows = len(self.data)
        for begin in range(0, rows, self.block):
            count = min(self.block, rows - begin)
            yield begin, count, count * self.loss_scale / rows


class _DenseObjective(_Objective):
    """The loss over rows that are dense, or become so."""

    def __init__(self, threads: int | None, *given: Any) -> None:
        super().__init__(*given)
        core = self.network._core
        self.steps = _core.Steps(core, self.loss, {}, "cpu", threads_of(threads))
        self.parameters = cast(Array, core.parameters())
        self.scratch = np.empty(self.parameters.size)
        self.decays = _decays(self.network)
        row_bytes = self.network.inputs * self.parameters.itemsize
        rows = max(_BLOCK_ROWS, _BLOCK_PRODUCTS // self.parameters.size)
        self.block = max(1, min(len(self.data), rows, _BLOCK_BYTES // row_bytes))
        self.dense = _core.Blocks(self.data, self.block)

    def start(self) -> Array:
        return self.parameters.astype(np.float64)

    def store(self, flat: Array) -> None:
        self.parameters[...] = flat

    def __call__(self, flat: Array) -> tuple[float, Array]:
        self.parameters[...] = flat
        value, gradient = 0.0, np.zeros(flat.size)
        for begin, count, share in self.blocks():
            value += self.add_block(self.steps, cast(Array, self.dense.rows(begin, count)), begin)
            np.multiply(cast(Array, self.steps.gradients()), share, out=self.scratch)
            gradient += self.scratch
        decayed = np.multiply(self.decays, flat, out=self.scratch)
        self.value = self.loss_scale * value / self.total + 0.5 * self.penalty * float(decayed @ decayed)
        decayed *= self.penalty
        gradient += decayed
        return self.value, gradient


class _SparseObjective(_Objective):
    """The loss over sparse rows. The first layer's products pass over the stored values, and its weights lie transposed
    in the vector of parameters. ``tail`` is the network from its sums on."""

    def __init__(self, threads: int | None, *given: Any) -> None:
        super().__init__(*given)
        self.threads = threads_of(threads)
        network = self.network
        self.shape = (network.inputs, network.layers[0][2])
        self.tail = Network(network.text, self.shape[1], dtype=network.dtype)
        self.steps = _core.Steps(self.tail._core, self.loss, {}, "cpu", self.threads, True)
        _, self.behind, _ = self.tail._core.offsets()[0]  # the first weights, which nobody reads
        self.rest = cast(Array, self.tail._core.parameters())[self.behind :]
        self.decays = _decays(self.tail)[self.behind :]
        self.first = self.shape[0] * self.shape[1]
        of_row = self.data.value_count() / len(self.data) * self.shape[1] + self.rest.size
        self.block = min(len(self.data), max(_BLOCK_ROWS, int(_BLOCK_VALUES / of_row)))
        self.sums = np.empty((self.block, self.shape[1]), dtype_of(network.dtype))

    def start(self) -> Array:
        for own, others in zip(self.tail.parameters()[1:], self.network.parameters()[1:], strict=True):
            own[...] = others
        flat = np.empty(self.first + self.rest.size)
        flat[: self.first].reshape(self.shape)[...] = self.network.weights(0).T
        flat[self.first :] = self.rest
        return flat

    def store(self, flat: Array) -> None:
        self.network.weights(0)[...] = flat[: self.first].reshape(self.shape).T
        self.rest[...] = flat[self.first :]
        for own, others in zip(self.tail.parameters()[1:], self.network.parameters()[1:], strict=True):
            others[...] = own

    def __call__(self, flat: Array) -> tuple[float, Array]:
        self.rest[...] = flat[self.first :]
        weights, decayed = flat[: self.first], np.where(self.decays, flat[self.first :], 0.0)
        gradient = flat * self.penalty
        gradient[self.first :] = decayed * self.penalty
        of_first, of_rest = gradient[: self.first].reshape(self.shape), gradient[self.first :]
        value = 0.0
        for begin, count, share in self.blocks():
            sums = self.sums[:count]
            _core.sparse_sums(self.data, begin, weights.reshape(self.shape), sums, self.threads)
            value += self.add_block(self.steps, sums, begin)
            delta = cast(Array, self.steps.first_delta(count))
            _core.add_sparse_gradient(self.data, begin, delta, share, of_first, self.threads)
            of_rest += share * cast(Array, self.steps.gradients())[self.behind :]
        squares = float(weights @ weights) + float(decayed @ decayed)
        self.value = self.loss_scale * value / self.total + 0.5 * self.penalty * squares
        return self.value, gradient


def _decays(network: Network) -> Array:
    """Which of ``Network._core.parameters()`` are weights."""
    weights: Array = np.zeros(len(cast(Array, network._core.parameters())), dtype=bool)
    for layer, (start, _, _) in enumerate(network._core.offsets()):
        weights[start : start + network.weights(layer).size] = True
    return weights


def minimise(
    network: Network,
    data: _core.Dataset,
    weights: Array | None,
    *,
    loss: str,
    loss_scale: float,
    penalty: float,
    max_iter: int,
    max_fun: int,
    tol: float,
    threads: int | None,
) -> Minimum:
    """Trains the network by SciPy's L-BFGS. After Ctrl-C it has the parameters of the last iteration.

    ``penalty`` is the factor of half the sum of the squares of all weights.
    """
    from scipy.optimize import minimize

    kind = _SparseObjective if data.is_sparse() else _DenseObjective
    objective = kind(threads, network, data, weights, loss, loss_scale, penalty)
    last: dict[str, Any] = {"x": objective.start(), "fun": np.nan, "nit": 0}

    def iteration_done(x: Array) -> None:  # a copy that SciPy made
        last.update(x=x, fun=objective.value, nit=last["nit"] + 1)

    try:
        found = minimize(
            objective,
            last["x"],
            method="L-BFGS-B",
            jac=True,
            callback=iteration_done,
            options={"maxfun": max_fun, "maxiter": max_iter, "gtol": tol},
        )
    except KeyboardInterrupt:
        objective.store(last["x"])
        return Minimum(float(last["fun"]), last["nit"], "", True)
    objective.store(found.x)
    if not np.isfinite(found.x).all():
        raise ValueError("Solver produced non-finite parameter weights: scale the inputs.")
    why = ""
    if not found.success:
        why = (
            f"Maximum iterations ({max_iter}) reached"
            if found.nit >= max_iter
            else f"Maximum calls of the loss (max_fun={max_fun}) reached"
            if found.nfev >= max_fun
            else f"The line search found no better weights ({found.message})"
        )
    return Minimum(float(found.fun), int(found.nit), why, False)


def warn_not_converged(what: str, why: str) -> None:
    """scikit-learn's warning."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(f"{what}: {why} and the optimization hasn't converged yet.", ConvergenceWarning, stacklevel=4)
