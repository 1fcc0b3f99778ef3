"""Sparse matrices of SciPy as the library takes them: compressed rows, dense only batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, with_type

Scaling = tuple[Array, Array]  # offsets and scales, a number for every column


def is_sparse(x: Any) -> bool:
    """Whether it is a matrix or array of scipy.sparse."""
    return hasattr(x, "nnz") and hasattr(x, "toarray")


def canonical(x: Any) -> Any:
    """``x`` in compressed rows whose columns ascend and are there once: doubles are added. Itself where it is so."""
    x = x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


def scaling_of(x: Any, how: str) -> Scaling | None:
    """What keeps zeros zero: None, or of every column the largest size as its scale."""
    if how == "standardize":
        raise ValueError(
            'scale="standardize" would make numbers of the zeros of a sparse X: use scale="auto", which divides every '
            'column by its largest size, "none", or give X.toarray()'
        )
    size = np.abs(x.data)
    if how == "none" or not size.size or size.max() <= 1:
        return None
    largest = np.zeros(x.shape[1])
    np.maximum.at(largest, x.indices, size)
    largest[largest == 0] = 1.0
    return np.zeros(x.shape[1]), largest


def compressed(x: Any, scaling: Scaling | None, dtype: str) -> _core.SparseRows:
    """Scaled copies of the rows of a canonical ``x`` for a network of type ``dtype``."""
    values, values_dtype = with_type(np.ascontiguousarray(x.data), "X")
    columns = np.ascontiguousarray(x.indices, np.int32)
    starts = np.ascontiguousarray(x.indptr, np.int64)
    offsets, scales = scaling or (None, None)
    return _core.SparseRows(values, values_dtype, columns, starts, x.shape[1], offsets, scales, dtype)
