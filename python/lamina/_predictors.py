"""Networks prepared for answers: one row at a time, or batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import Array, as_matrix, dtype_of, threads_of
from ._sparse import canonical, compressed, is_sparse

if TYPE_CHECKING:
    from ._network import Network


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
        try:
            self._call(row, out)
        except TypeError:
            if isinstance(row, np.ndarray):  # then it is out
                raise
            needed = f"an array of {self.dtype} with {self.inputs} numbers is needed"
            raise TypeError(f"{needed}, not {type(row).__name__}") from None
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
    dtype : {"f32", "f64"}, optional
        Type of the answers; the network's where it is left out, and "f64" where outputs are scaled. The last activation
        is computed in float64.
    """

    def __init__(
        self,
        network: Network,
        *,
        input_scaling: tuple[Array, Array] | None = None,
        output_scaling: tuple[Array, Array] | None = None,
        backend: str = "cpu",
        threads: int | None = None,
        dtype: str | None = None,
    ) -> None:
        self.__setstate__((network, input_scaling, output_scaling, backend, threads, dtype))

    def __getstate__(self) -> tuple[Any, ...]:
        return self._made_of

    def __setstate__(self, made_of: tuple[Any, ...]) -> None:
        self._made_of = made_of
        network, input_scaling, output_scaling, backend, threads, dtype = made_of
        self.inputs: int = network.inputs
        self.outputs: int = network.outputs
        self._out_dtype: str = dtype or ("f64" if output_scaling is not None else network.dtype)
        self._out_type = dtype_of(self._out_dtype)
        scalings = (*(input_scaling or (None, None)), *(output_scaling or (None, None)))
        core = _core.BatchPredictor(
            network._core, scalings[0], scalings[1], scalings[2], scalings[3], backend, threads_of(threads)
        )
        self._call, self._sparse = core.__call__, core.sparse

    def __call__(self, x: Any) -> Array:
        """The outputs for the rows of x, an array or a sparse matrix: (rows, outputs).

        Raises
        ------
        ValueError
            Where x has another number of columns, or a number that is not finite.
        """
        if is_sparse(x):
            return self._of_sparse(canonical(x))
        array, dtype = as_matrix(x, "x")
        return self.of_matrix(array, dtype)

    def _of_sparse(self, x: Any) -> Array:
        network, input_scaling = self._made_of[:2]
        out = np.empty((x.shape[0], self.outputs), self._out_type)
        self._sparse(compressed(x, input_scaling, network.dtype), out, self._out_dtype)
        return out

    def of_matrix(self, array: Array, dtype: str) -> Array:
        """The same for an array as `as_matrix` gives it."""
        out = np.empty((array.shape[0], self.outputs), self._out_type)
        row = self._call(array, dtype, out, self._out_dtype)
        if row >= 0:
            raise ValueError(f"Input X contains NaN, infinity or a value too large for {self._out_type}: row {row}")
        return out


class LeafPredictor:
    """Answers of several networks whose shares go by the row: the gates' outputs over their sum.

    `first` answers for the first network, as the others will.
    """

    def __init__(self, first: BatchPredictor, others: list[Network], gates: Network) -> None:
        network, input_scaling, output_scaling, backend, threads, dtype = first._made_of
        self._leaves = [first]
        for other in others:
            leaf = BatchPredictor.__new__(BatchPredictor)
            leaf.__setstate__((other, input_scaling, output_scaling, backend, threads, dtype))
            self._leaves.append(leaf)
        self._gates = BatchPredictor(gates, input_scaling=input_scaling, backend=backend, threads=threads, dtype="f64")
        self.inputs, self.outputs = network.inputs, network.outputs

    def __call__(self, x: Any) -> Array:
        """The outputs for the rows of x, an array or a sparse matrix: (rows, outputs)."""
        return self._joined(x.tocsr() if is_sparse(x) else np.asarray(x))

    def of_matrix(self, array: Array, dtype: str) -> Array:
        """The same for an array as `as_matrix` gives it."""
        return self._joined(array)

    def _joined(self, x: Any) -> Array:
        gates = self._gates(x)
        shares = gates / gates.sum(axis=1, keepdims=True)
        answers = np.zeros((x.shape[0], self.outputs))
        for leaf, of_leaf in zip(self._leaves, shares.T):
            asked = np.flatnonzero(of_leaf)
            if len(asked) > 0:
                answers[asked] += of_leaf[asked, None] * leaf(x[asked])
        return answers.astype(self._leaves[0]._out_type, copy=False)
