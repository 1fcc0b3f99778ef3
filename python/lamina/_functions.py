"""Functions on arrays: distances, one layer, nearest rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, dtype_of, require_finite, same_type, threads_of
from ._boolean import BOOLEAN, boolean_distances
from ._device import is_on_gpu, operands, result, vector

_METRICS = {
    "cityblock": "l1",
    "manhattan": "l1",
    "l1": "l1",
    "euclidean": "l2",
    "l2": "l2",
    "sqeuclidean": "l2sq",
    "l2sq": "l2sq",
}


_NUMBERS_OF_PART = 1 << 22


def _numbers(array: Array, dtype: str) -> Array:
    """The array; of bfloat16 as float32."""
    return (array.astype(np.uint32) << 16).view(np.float32) if dtype == "bf16" else array


def metric_name(metric: str, *others: str) -> str:
    """The library's name of a metric; ``others`` may be given, too."""
    if not isinstance(metric, str) or metric not in _METRICS:
        raise ValueError(f"metric {metric!r} is none of {', '.join([*_METRICS, *others])}")
    return _METRICS[metric]


def cdist(
    x: Any,
    y: Any = None,
    metric: str = "euclidean",
    *,
    w: Any = None,
    out: Any = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> Array:
    """Distances between every row of x and every row of y.

    Ctrl-C ends it soon; what was computed by then is in ``out``.

    Parameters
    ----------
    x : array, (n, d)
        NumPy's, or whatever gives its memory by the buffer protocol or DLPack (PyTorch on the CPU). Types: float64,
        float32, float16, bfloat16 (ml_dtypes), int64, int32, int16, int8, uint8; uint64 as int64 where all numbers fit,
        else as float64. Only arrays without dense rows (Fortran order) are copied, once; read-only ones and mapped
        files are not. Arrays of PyTorch or CuPy on the first CUDA GPU need ``backend="cuda"``, which computes them
        there; the other operand may then be in host memory.
    y : array, (m, d), optional
        x itself where it is left out. If the types differ, both become the one that holds all numbers.
    metric : {"euclidean", "cityblock", "sqeuclidean", "dice", "hamming", "jaccard", ...}
        "l2" is another name of the first, "manhattan" and "l1" of the second, "l2sq" of the third. The others, and
        "rogerstanimoto", "russellrao", "sokalsneath" and "yule", are between rows of truths, in float64. A number that
        is not 0 is true; "dice" and "hamming" take only 0 and 1.
    w : array, (d,), optional
        Weights of the columns, as in SciPy, of |x - y| for "cityblock", of (x - y)^2 for "euclidean" and
        "sqeuclidean", of what is counted for truths. Integers are then taken as float64.
    out : array, (n, m), optional
        Where the distances go, and what is returned: of NumPy or, by DLPack, of PyTorch; with ``backend="cuda"`` also
        on the GPU.
    backend : str
        "cpu", "cuda", "auto" or another of ``lamina.backends()``.
    threads : int, optional
        As many as the process may use where it is left out; OMP_NUM_THREADS and threadpoolctl are obeyed.

    Returns
    -------
    array, (n, m)
        NumPy's; where x is on a GPU, that of x's library. float64 for float64, float32 for smaller floating-point
        types. Integers give exact sums in int64 (int32 for 8 bits), but roots ("euclidean") in floating point.

    Raises
    ------
    ValueError
        Where shapes or types do not fit, or a weight is negative.
    lamina.UnsupportedError
        Where integer sums might not fit.

    Examples
    --------
    >>> cdist([[0.0, 0.0], [1.0, 2.0]], [[3.0, 4.0]])
    array([[5.        ],
           [2.82842712]])
    """
    if isinstance(metric, str) and metric in BOOLEAN:
        return boolean_distances(x, y, metric, w, out, backend, threads)
    synapse = metric_name(metric, *BOOLEAN)
    x, y, dtype = operands(x, y, backend)
    if w is not None:
        x, y, dtype = _weighted(x, y, dtype, w, synapse)
    distances = result(out, x, (x.shape[0], y.shape[0]), _core.distance_type(dtype, synapse), backend)
    if x.shape[0] and y.shape[0]:
        _core.distances(x, y, dtype, synapse, distances, backend, threads_of(threads))
    answer: Array = distances if out is None else out
    return answer


def _weighted(x: Any, y: Any, dtype: str, w: Any, synapse: str) -> tuple[Array, Array, str]:
    """Rows whose distances are those of x and y with weights of the columns."""
    if is_on_gpu(x) or is_on_gpu(y):
        raise ValueError('w is for host memory: multiply rows on a GPU by it, or unless by "cityblock" by its root')
    weights = np.asarray(w, np.float64)
    if weights.shape != (x.shape[1],):
        raise ValueError(f"w has shape {weights.shape}, ({x.shape[1]},) is needed: a weight of each column")
    if not (weights >= 0).all():
        raise ValueError("Input weights should be all non-negative")
    factors = weights if synapse == "l1" else np.sqrt(weights)
    kind = np.float64 if dtype[0] in "iu" or dtype == "f64" else np.float32
    same = x is y
    x = (_numbers(x, dtype) * factors).astype(kind)
    return x, x if same else (_numbers(y, dtype) * factors).astype(kind), "f64" if kind is np.float64 else "f32"


def layer(
    x: Any,
    w: Any,
    b: Any = None,
    *,
    neuron: str = "rbf",
    precision: str = "exact",
    out: Any = None,
    backend: str = "cpu",
    threads: int | None = None,
) -> Array:
    """One layer: activation(synapse(x, w) + b).

    Parameters
    ----------
    x : array, (n, d)
    w : array, (m, d)
        A row is a neuron's weights. Types and memory as for `cdist`; mapped files are read slice by slice.
    b : array, (m,), optional
        In the type of the result; one on a GPU is copied.
    neuron : str
        As the program writes it: "rbf" or "rbf(radius=12)" (the L1 triangle of the 2017 paper), "mul" (dot and tanh),
        "dot-relu", "l2-gaussian(radius=2)", ...
    precision : {"exact", "fast", "bf16", "bf16x3"}
        What sums may be computed with; see docs/library.md.
    out, backend, threads
        As for `cdist`.

    Returns
    -------
    array, (n, m)
        float64 for float64, int64 and int32, else float32. The same bits for every number of rows and threads.
    """
    x, w, dtype = operands(x, w, backend, "x", "w")
    outputs = result(out, x, (x.shape[0], w.shape[0]), _core.output_type(dtype), backend)
    if b is not None:
        b = vector(b, "b", _core.output_type(dtype))
    if x.shape[0] and w.shape[0]:
        _core.layer(x, w, b, dtype, neuron, precision, outputs, backend, threads_of(threads))
    answer: Array = outputs if out is None else out
    return answer


def nearest(
    x: Any, y: Any, k: int, metric: str = "cityblock", *, backend: str = "cpu", threads: int | None = None
) -> tuple[Array, Array]:
    """The k nearest rows of y for every row of x, exactly.

    Distances are never stored. For up to 16 columns in float32 or float64, backend "cpu" makes a tree where it pays;
    the answer is the same.

    Parameters
    ----------
    x : array, (n, d)
    y : array, (m, d)
        Types and memory as for `cdist`. Arrays on a GPU are not searched for NaN.
    k : int
        From 1 to m, at most 1024.
    metric, backend, threads
        As for `cdist`.

    Returns
    -------
    distances : array, (n, k)
        NumPy's, ascending, in the type that `cdist` gives.
    indices : array of int64, (n, k)
        Rows of y; of equal distances the lower index first.

    Raises
    ------
    ValueError
        Where shapes or types do not fit, k is out of range, or a number is not finite.
    """
    return nearest_by(x, y, k, metric, backend=backend, threads=threads)


def nearest_by(
    x: Any, y: Any, k: int, metric: str, *, backend: str = "cpu", threads: int | None = None, tree: Any = None
) -> tuple[Array, Array]:
    """`nearest`, by a tree over y that was made before."""
    synapse = metric_name(metric)
    x, y, dtype = operands(x, y, backend)
    for name, array in (("x", x), ("y", y)):
        if not is_on_gpu(array):
            require_finite(array, dtype, name)
    k = int(k)
    if not 1 <= k <= y.shape[0]:
        raise ValueError(f"k is {k}, but must be from 1 to the {y.shape[0]} rows of y")
    distances = np.empty((x.shape[0], k), dtype_of(_core.distance_type(dtype, synapse)))
    indices = np.empty((x.shape[0], k), np.int64)
    if x.shape[0]:
        _core.nearest(x, y, k, dtype, synapse, distances, indices, backend, threads_of(threads), tree)
    return distances, indices


def laplacian_kernel(
    x: Any, y: Any = None, gamma: float | None = None, *, backend: str = "cpu", threads: int | None = None
) -> Array:
    """exp(-gamma |x - y|_1) for every row of x and every row of y, as scikit-learn's function of that name.

    Parameters
    ----------
    x : array, (n, d)
    y : array, (m, d), optional
        x itself where it is left out. Integers are taken as float64.
    gamma : float, optional
        1 / d where it is left out.
    backend, threads
        As for `cdist`.

    Returns
    -------
    array, (n, m)
        float64 for float64, else float32.
    """
    x, y, dtype = same_type(x, y)
    if dtype[0] in "iu":
        x, y = x.astype(np.float64), y.astype(np.float64)
    else:
        x, y = _numbers(x, dtype), _numbers(y, dtype)
    kernel = cdist(x, y, "cityblock", backend=backend, threads=threads)
    rows = max(1, _NUMBERS_OF_PART // max(1, kernel.shape[1]))
    for begin in range(0, len(kernel), rows):  # NumPy does not look for Ctrl-C by itself
        part = kernel[begin : begin + rows]
        part *= -(1.0 / x.shape[1] if gamma is None else gamma)
        np.exp(part, out=part)
    return kernel


__all__ = ["cdist", "laplacian_kernel", "layer", "nearest"]
