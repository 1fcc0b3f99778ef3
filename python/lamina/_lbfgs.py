"""All rows at once by SciPy's L-BFGS; the loss is summed over blocks of rows, between which Ctrl-C is heard."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, threads_of
from ._network import Network

_BLOCK_PRODUCTS = 200_000_000  # of parameters and rows: some hundredths of a second
_BLOCK_ROWS = 256  # at least: each block writes a gradient of all parameters
_BLOCK_BYTES = 128 << 20  # of inputs, at most


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
        self,
        network: Network,
        data: _core.Dataset,
        weights: Array | None,
        loss: str,
        loss_scale: float,
        penalty: float,
        threads: int | None,
    ) -> None:
        self.steps = _core.Steps(network._core, loss, {}, "cpu", threads_of(threads))
        self.targets: Array = data.targets()
        self.parameters: Array = network._core.parameters()
        self.weights = None if weights is None else np.ascontiguousarray(weights, self.parameters.dtype)
        self.loss_scale, self.penalty = loss_scale, penalty
        self.value = np.nan  # of the last call
        self.scratch = np.empty(self.parameters.size)
        self.decays = np.zeros(self.parameters.size, bool)
        for layer, (start, _, _) in enumerate(network._core.offsets()):
            self.decays[start : start + network.weights(layer).size] = True
        row_bytes = network.inputs * self.parameters.itemsize
        rows = max(_BLOCK_ROWS, _BLOCK_PRODUCTS // self.parameters.size)
        self.block = max(1, min(len(data), rows, _BLOCK_BYTES // row_bytes))
        self.blocks = _core.Blocks(data, self.block)

    def __call__(self, flat: Array) -> tuple[float, Array]:
        self.parameters[...] = flat
        value, gradient = 0.0, np.zeros(flat.size)
        rows = len(self.targets)
        for begin in range(0, rows, self.block):
            count = min(self.block, rows - begin)
            weights = None if self.weights is None else self.weights[begin : begin + count]
            weight = count if weights is None else float(weights.sum(dtype=np.float64))
            targets = self.targets[begin : begin + count]
            value += self.steps.step(self.blocks.rows(begin, count), targets, weights, False) * weight
            np.multiply(self.steps.gradients(), float(count), out=self.scratch)
            gradient += self.scratch
        total = rows if self.weights is None else float(self.weights.sum(dtype=np.float64))
        gradient *= self.loss_scale / rows
        decayed = np.multiply(self.decays, flat, out=self.scratch)
        self.value = self.loss_scale * value / total + 0.5 * self.penalty * float(decayed @ decayed)
        decayed *= self.penalty
        gradient += decayed
        return self.value, gradient


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

    objective = _Objective(network, data, weights, loss, loss_scale, penalty, threads)
    start = objective.parameters.astype(np.float64)
    last: dict[str, Any] = {"x": start, "fun": np.nan, "nit": 0}

    def iteration_done(x: Array) -> None:
        last.update(x=x.copy(), fun=objective.value, nit=last["nit"] + 1)

    try:
        found = minimize(
            objective,
            start,
            method="L-BFGS-B",
            jac=True,
            callback=iteration_done,
            options={"maxfun": max_fun, "maxiter": max_iter, "gtol": tol},
        )
    except KeyboardInterrupt:
        objective.parameters[...] = last["x"]
        return Minimum(float(last["fun"]), last["nit"], "", True)
    objective.parameters[...] = found.x
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
