"""Tables of pandas, polars, Arrow or dicts of columns as the library takes them."""

from __future__ import annotations

from typing import Any, Iterable

import numpy as np

from . import _core
from ._arrays import Array, as_array, with_type


def is_table(data: Any) -> bool:
    """Whether ``data`` has named columns: a frame of pandas or polars, an Arrow table, a dict."""
    return isinstance(data, dict) or (hasattr(data, "columns") and not isinstance(data, np.ndarray))


def column_names(data: Any) -> list[str]:
    """The names of the columns as text."""
    if isinstance(data, dict):
        return [str(name) for name in data]
    if hasattr(data, "column_names"):  # Arrow
        return [str(name) for name in data.column_names]
    return [str(name) for name in data.columns]


def _columns(data: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(data, dict):
        return ((str(name), values) for name, values in data.items())
    if hasattr(data, "column_names"):
        return ((str(name), data.column(name)) for name in data.column_names)
    if hasattr(data, "get_column"):  # polars
        return ((name, data.get_column(name)) for name in data.columns)
    return ((str(name), data.iloc[:, place]) for place, name in enumerate(data.columns))


def _values(column: Any) -> Array:
    """A column as a 1-d NumPy array; of objects for text."""
    if hasattr(column, "to_pandas") and not hasattr(column, "iloc"):  # Arrow and polars
        column = column.to_numpy() if hasattr(column, "to_numpy") else column
    if hasattr(column, "iloc"):  # pandas: its own kinds of missing become NaN
        kind = getattr(column.dtype, "kind", "O")
        if kind in "iufb" and not isinstance(column.dtype, np.dtype):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy())
    return as_array(column, "a column")


def _is_missing(value: Any) -> bool:
    return value is None or value != value or str(value) in ("", "<NA>", "NaT")


def texts(values: Array) -> tuple[Array, list[str]]:
    """Codes and categories in order of first appearance; -1 is a missing text."""
    categories: dict[str, int] = {}
    codes = np.empty(len(values), np.int32)
    seen: dict[Any, int] = {}
    for row, value in enumerate(values.tolist()):
        try:
            codes[row] = seen[value]
        except KeyError:
            code = -1 if _is_missing(value) else categories.setdefault(str(value), len(categories))
            if value == value:
                seen[value] = code
            codes[row] = code
    return codes, list(categories)


def is_text(values: Array) -> bool:
    """Whether a column is text: strings, or objects of which one is a string."""
    return values.dtype.kind in "USO" or values.dtype.kind == "T"


def make_table(data: Any, source: str = "the table", extra: dict[str, Array] | None = None) -> _core.Table:
    """The library's table of ``data``: numbers are viewed, not copied, where the library has their type.

    Parameters
    ----------
    data : frame of pandas or polars, Arrow table, dict of columns, or 2-d array
        The columns of an array are called "x0", "x1", ...
    source : str
        What messages call it.
    extra : dict, optional
        Columns to be added behind the others.
    """
    table = _core.Table(source)
    if not is_table(data):
        array = as_array(data, source)
        if array.ndim != 2:
            raise ValueError(f"{source} has {array.ndim} dimensions, 2 are needed: rows and columns")
        columns: Iterable[tuple[str, Any]] = ((f"x{j}", array[:, j]) for j in range(array.shape[1]))
    else:
        columns = _columns(data)
    for name, column in [*columns, *(extra or {}).items()]:
        _add(table, name, _values(column))
    return table


def _add(table: _core.Table, name: str, values: Array) -> None:
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions, 1 is needed")
    if values.dtype.kind == "M":
        days = values.astype("datetime64[us]")
        numbers = days.astype(np.int64) / 86_400e6
        numbers[np.isnat(days)] = np.nan
        table.add_numbers(name, numbers, "f64", True)
    elif is_text(values):
        found = _numbers_among(values)
        if found is not None:
            table.add_numbers(name, found, "f64")
        else:
            table.add_texts(name, *texts(values))
    elif values.dtype.kind in "iufb":
        array, dtype = with_type(values, f"column {name!r}")
        table.add_numbers(name, array, dtype)
    else:
        raise ValueError(f"column {name!r} is of type {values.dtype}, which is neither numbers, dates nor text")


def _numbers_among(values: Array) -> Array | None:
    """Objects that are numbers or missing, as float64; None where one is a text."""
    if values.dtype.kind != "O" or any(isinstance(value, (str, bytes)) for value in values):
        return None
    return np.array([np.nan if _is_missing(value) else float(value) for value in values])
