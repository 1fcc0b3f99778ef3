"""Operands of functions on arrays: in host memory, or in that of a CUDA GPU, where they are then computed in place.

Arrays on a GPU are those of PyTorch, CuPy and whatever speaks DLPack.
"""

from __future__ import annotations

from typing import Any

from ._arrays import Array, as_array, as_matrix, dtype_of, output, require_host_memory, same_type

_CUDA = 2  # DLPack's number
# The library's names of element types, by what PyTorch and CuPy call them.
_NAMES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}


def _owner(a: Any) -> str:
    return type(a).__module__.partition(".")[0]


def is_on_gpu(a: Any) -> bool:
    """Whether it is an array in a CUDA GPU's memory."""
    return hasattr(a, "__dlpack_device__") and int(a.__dlpack_device__()[0]) == _CUDA


def _on_gpu(a: Any, name: str, backend: str) -> tuple[Any, str]:
    """The matrix as its owner's array, without a graph behind it, and the library's name of its type."""
    if backend != "cuda":
        require_host_memory(a, name)
    if len(a.shape) != 2:
        raise ValueError(f"{name} has {len(a.shape)} dimensions, 2 are needed: rows and columns")
    dtype = str(a.dtype).rpartition(".")[2]  # "torch.float32"
    if dtype not in _NAMES:
        raise ValueError(f"{name} is of type {dtype}, which is none of {', '.join(_NAMES)}")
    return (a.detach() if _owner(a) == "torch" else a), _NAMES[dtype]


def operands(x: Any, y: Any, backend: str, x_name: str = "x", y_name: str = "y") -> tuple[Any, Any, str]:
    """Two matrices of one type, each where it is; on a GPU none is converted."""
    if not is_on_gpu(x) and not is_on_gpu(y):
        return same_type(x, y, x_name, y_name)
    x_matrix, x_dtype = _on_gpu(x, x_name, backend) if is_on_gpu(x) else as_matrix(x, x_name)
    if y is None:
        return x_matrix, x_matrix, x_dtype
    y_matrix, y_dtype = _on_gpu(y, y_name, backend) if is_on_gpu(y) else as_matrix(y, y_name)
    if x_matrix.shape[1] != y_matrix.shape[1]:
        raise ValueError(
            f"{x_name} has {x_matrix.shape[1]} columns and {y_name} {y_matrix.shape[1]}: they must have the same"
        )
    if x_dtype != y_dtype:
        raise ValueError(f"{x_name} and {y_name} are of types {x_dtype} and {y_dtype}: give both in one")
    return x_matrix, y_matrix, x_dtype


def result(out: Any, x: Any, shape: tuple[int, int], dtype: str, backend: str) -> Any:
    """``out``, or a new matrix where ``x`` is."""
    if out is not None and is_on_gpu(out):
        view, out_dtype = _on_gpu(out, "out", backend)
        if tuple(view.shape) != shape or out_dtype != dtype:
            raise ValueError(f"out must be an array of shape {shape} and type {_DTYPES[dtype]}")
        return view
    if out is not None or not is_on_gpu(x):
        return output(out, shape, dtype)
    if _owner(x) == "torch":
        import torch

        return torch.empty(shape, dtype=getattr(torch, _DTYPES[dtype]), device=x.device)
    if _owner(x) == "cupy":
        import cupy

        with x.device:
            return cupy.empty(shape, _DTYPES[dtype])
    raise ValueError(f"give out=, an array of shape {shape} and type {_DTYPES[dtype]} that the result goes to")


def vector(a: Any, name: str, dtype: str) -> Array:
    """A vector in host memory; one of a GPU is copied."""
    if is_on_gpu(a):
        a = a.detach().cpu() if _owner(a) == "torch" else a.get() if _owner(a) == "cupy" else a
    array: Array = as_array(a, name).astype(dtype_of(dtype), order="C", copy=False)
    return array
