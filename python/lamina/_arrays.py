"""Arrays of any origin as the extension module takes them: row-major, of the machine's byte order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The library's names of element types. bf16 is that of ml_dtypes, which neither buffers nor DLPack know.
_NAMES: dict[np.dtype[Any], str] = {
    np.dtype(np.float64): "f64",
    np.dtype(np.float32): "f32",
    np.dtype(np.float16): "f16",
    np.dtype(np.int64): "i64",
    np.dtype(np.int32): "i32",
    np.dtype(np.int16): "i16",
    np.dtype(np.int8): "i8",
    np.dtype(np.uint8): "u8",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
# Types that the library lacks, and the next one that holds their numbers.
_WIDER: dict[np.dtype[Any], Any] = {np.dtype(np.uint16): np.int32, np.dtype(np.uint32): np.int64, np.dtype(np.bool_): np.uint8}


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy type of the library's ``name``."""
    return _DTYPES[name]


def threads_of(threads: int | None) -> int:
    """``None`` is 0 for the library: as many as there are."""
    return 0 if threads is None else threads


def as_array(a: Any, name: str) -> Array:
    """``a`` as a NumPy array: itself, or a view by DLPack or the buffer protocol; lists are copied.

    Refused by name: sparse matrices, masked arrays, arrays that are not in host memory, objects.
    """
    if type(a) is np.ndarray:
        return a
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: fill its gaps first, with {name}.filled(value)")
    if isinstance(a, np.ndarray):
        return a
    if hasattr(a, "toarray") and hasattr(a, "nnz"):
        raise TypeError(f"{name} is sparse: give {name}.toarray()")
    require_host_memory(a, name)
    if type(a).__module__.partition(".")[0] == "torch":
        return _from_torch(a)
    if hasattr(a, "__dlpack__") and not hasattr(a, "__array__"):
        return np.from_dlpack(a)
    return np.asarray(a)


# What holds an array, by DLPack's number of the device, and how its owner brings it into host memory. Pinned memory of
# CUDA (3) and ROCm (11) is host memory.
_HOST_DEVICES = (1, 3, 11)
_DEVICES = {2: "a CUDA GPU", 10: "a ROCm GPU", 13: "managed CUDA memory"}


def require_host_memory(a: Any, name: str) -> None:
    """Refuses arrays of a device, with the way into host memory."""
    if not hasattr(a, "__dlpack_device__"):
        return
    device, number = a.__dlpack_device__()
    if device in _HOST_DEVICES:
        return
    owner = type(a).__module__.partition(".")[0]
    remedy = {"torch": f"{name}.cpu()", "cupy": f"{name}.get()"}.get(owner, "it in host memory")
    raise ValueError(
        f"{name} is in {_DEVICES.get(device, f'memory of device type {device}')} (number {number}): give {remedy}; "
        'backend="cuda" computes on the GPU (`cdist`, `layer` and `nearest` where it is, others by copying it there)'
    )


def _from_torch(tensor: Any) -> Array:
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":
        import torch

        bits: Array = tensor.view(torch.int16).numpy().view(np.uint16)
        return bits.view(_bfloat16())
    return np.asarray(tensor.numpy())


def _bfloat16() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError("arrays of bfloat16 need the package ml_dtypes: pip install ml_dtypes") from None
    return np.dtype(ml_dtypes.bfloat16)


def as_matrix(a: Any, name: str) -> tuple[Array, str]:
    """``a`` as a 2-d array with dense rows, and the library's name of its type.

    Arrays whose rows are dense are not copied (slices of rows, read-only ones and mapped files, too). Others, as those
    in Fortran order, are copied once.
    """
    array = as_array(a, name)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, 2 are needed: rows and columns")
    array, dtype = with_type(array, name)
    dense = array.strides[1] == array.itemsize or array.shape[1] <= 1
    regular = array.shape[0] <= 1 or (
        array.strides[0] >= array.shape[1] * array.itemsize and array.strides[0] % array.itemsize == 0
    )
    return (array if dense and regular else np.ascontiguousarray(array)), dtype


def with_type(array: Array, name: str) -> tuple[Array, str]:
    """The array in a type that the library has, and the library's name of it."""
    dtype = array.dtype
    known = _NAMES.get(dtype)
    if known is not None:
        return array, known
    if not dtype.isnative:
        raise ValueError(
            f"{name} is of type {dtype.str}, not of this machine's byte order: give {name}.astype({name}.dtype"
            ".newbyteorder('='))"
        )
    if dtype.name == "bfloat16":
        return array.view(np.uint16), "bf16"
    if dtype == np.uint64:
        fits = array.size == 0 or array.max() <= np.iinfo(np.int64).max
        array = array.astype(np.int64 if fits else np.float64)
        return array, _NAMES[array.dtype]
    if dtype in _WIDER:
        array = array.astype(_WIDER[dtype])
        return array, _NAMES[array.dtype]
    raise ValueError(
        f"{name} is of type {dtype}, which is none of {', '.join(str(known) for known in _NAMES)} and bfloat16"
    )


def require_finite(array: Array, dtype: str, name: str) -> None:
    """Refuses NaN and infinite numbers, naming the first."""
    if dtype[0] in "iu":
        return
    numbers = array if dtype != "bf16" else (array.astype(np.uint32) << 16).view(np.float32)
    if numbers.size == 0 or np.isfinite(numbers.dot(np.zeros(numbers.shape[1], numbers.dtype))).all():
        return  # a NaN or infinity times 0 is a NaN: one pass, without an array of flags
    row, column = np.argwhere(~np.isfinite(numbers))[0]
    raise ValueError(f"{name} has {numbers[row, column]} in row {row}, column {column}: it must be finite")


def same_type(x: Any, y: Any, x_name: str = "x", y_name: str = "y") -> tuple[Array, Array, str]:
    """Two matrices of one type: that which holds the numbers of both."""
    x_array, x_dtype = as_matrix(x, x_name)
    y_array, y_dtype = (x_array, x_dtype) if y is None else as_matrix(y, y_name)
    if x_array.shape[1] != y_array.shape[1]:
        raise ValueError(
            f"{x_name} has {x_array.shape[1]} columns and {y_name} {y_array.shape[1]}: they must have the same"
        )
    if x_dtype == y_dtype:
        return x_array, y_array, x_dtype
    if "bf16" in (x_dtype, y_dtype):
        raise ValueError(f"{x_name} and {y_name} are of types {x_dtype} and {y_dtype}: give both in one")
    common = np.result_type(x_array.dtype, y_array.dtype)
    name = _NAMES[common]
    return x_array.astype(common, copy=False), y_array.astype(common, copy=False), name


def output(out: Any, shape: tuple[int, int], dtype: str) -> Array:
    """``out`` as a view of its memory, or a new array of that shape and type."""
    wanted = _DTYPES[dtype]
    if out is None:
        return np.empty(shape, wanted)
    is_array = isinstance(out, np.ndarray) or hasattr(out, "__dlpack__")
    view = as_array(out, "out") if is_array else None
    if view is None or view.shape != shape or view.dtype != wanted or not view.flags.writeable:
        raise ValueError(f"out must be a writeable array of shape {shape} and type {wanted}")
    return view
