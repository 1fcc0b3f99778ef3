"""Tables of pandas, polars, Arrow or dicts of columns as the library takes them."""

from __future__ import annotations

import datetime
import numbers
from collections import Counter
from typing import Any, Iterable

import numpy as np

from . import _core
from ._arrays import Array, as_array, with_type


_MOST_EXACT = 2**53  # whole numbers below have a double each


def is_table(data: Any) -> bool:
    """Whether ``data`` has named columns: a frame of pandas or polars, an Arrow table, a dict."""
    return isinstance(data, dict) or (hasattr(data, "columns") and not isinstance(data, np.ndarray))


def as_columns(data: Any) -> Any:
    """Rows as dict of columns: of a list of dicts, and of one dict of values, which is one row. Others as they are."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(row, dict) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        return {name: _cells([row.get(name) for row in data]) for name in names}
    if isinstance(data, dict) and data and all(_is_value(value) for value in data.values()):
        return {name: _cells([value]) for name, value in data.items()}
    return data


def _is_value(value: Any) -> bool:
    return value is None or isinstance(value, (str, bytes, bool, numbers.Number, datetime.date)) or np.ndim(value) == 0


def _cells(values: list[Any]) -> Array:
    """What stands there, not what NumPy makes of mixed types: 1 and "a" stay a number and a text."""
    array = np.empty(len(values), object)
    array[:] = values
    kinds = {type(value) for value in values}
    return np.array(values) if len(kinds) == 1 and kinds <= {int, float, str} else array


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
        name = type(column.dtype).__name__
        if name == "BooleanDtype":
            return np.asarray(column.to_numpy(dtype=object, na_value=None))
        if name == "CategoricalDtype":  # text, whatever its categories are
            return np.array([None if value != value or value is None else str(value) for value in column.tolist()], object)
        if name == "DatetimeTZDtype":
            return np.asarray(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        if name == "PeriodDtype":
            return np.asarray(column.dt.to_timestamp().to_numpy())
        kind = getattr(column.dtype, "kind", "O")
        if kind in "iufb" and not isinstance(column.dtype, np.dtype):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.asarray(column.to_numpy())
    return as_array(column, "a column")


def _is_missing(value: Any) -> bool:
    return value is None or str(value) == "<NA>" or value != value or str(value) in ("", "<NA>", "NaT")


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
            if code >= 0:
                seen[value] = code
            codes[row] = code
    return codes, list(categories)


def is_text(values: Array) -> bool:
    """Whether a column is text: strings, or objects of which one is a string."""
    return values.dtype.kind in "USO" or values.dtype.kind == "T"


def class_values(data: Any, target: str, classes: list[str]) -> Array | None:
    """The classes as values of the column ``target``, in its type.

    None where they are texts, or where a class is the name of no value.
    """
    column = next((values for name, values in _columns(data) if name == target), None) if is_table(data) else None
    if column is None:
        return None
    values = np.asarray(column)
    if values.dtype.kind not in "iufbO":
        return None
    by_name: dict[str, Any] = {}
    for value in set(value for value in values.tolist() if not _is_missing(value)):
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        by_name[str(int(value)) if plain and int(value) == value and values.dtype.kind != "O" else str(value)] = value
    if any(name not in by_name for name in classes) or all(isinstance(value, str) for value in by_name.values()):
        return None
    return np.array([by_name[name] for name in classes], values.dtype)


def refuse_doubles(data: Any, source: str) -> None:
    """ValueError naming the columns of a table that share a name: names decide, and one of them would be lost."""
    if not is_table(data):
        return
    names = column_names(data)
    doubles = [name for name, count in Counter(names).items() if count > 1]
    if doubles:
        raise ValueError(f"{source} has several columns called {', '.join(map(repr, doubles))}: give each a name of its own")


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
    table = _core.Table(source, is_table(data))
    if not is_table(data):
        array = as_array(data, source)
        if array.ndim != 2:
            raise ValueError(f"{source} has {array.ndim} dimensions, 2 are needed: rows and columns")
        columns: Iterable[tuple[str, Any]] = ((f"x{j}", array[:, j]) for j in range(array.shape[1]))
    else:
        columns = _columns(data)
    refuse_doubles(data, source)
    for name, column in [*columns, *(extra or {}).items()]:
        named = is_table(data) and name not in (extra or {})
        _add(table, name, _values(column), named, _is_category(column))
    return table


def _is_category(column: Any) -> bool:
    return type(getattr(column, "dtype", None)).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def _as_texts(values: Array) -> Array:
    """Booleans as files have them, and whole numbers of which a double would lose digits; others as they are."""
    if values.dtype.kind == "b" or (
        values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size
        and (int(values.max()) > _MOST_EXACT or int(values.min()) < -_MOST_EXACT)
    ):
        return np.array([str(value) for value in values.tolist()], object)
    if values.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in values):
        huge = (isinstance(value, int) and abs(value) > _MOST_EXACT for value in values)
        if any(huge) or any(isinstance(value, (bool, np.bool_)) for value in values):
            return np.array([None if _is_missing(value) else str(value) for value in values], object)
    return values


def _add(table: _core.Table, name: str, values: Array, named: bool, stays_text: bool) -> None:
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions, 1 is needed")
    if named:
        values = _as_texts(values)
    if values.dtype.kind == "O":
        values = _dates_among(values)
    if values.dtype.kind == "m":  # a duration is a number of days
        numbers = values.astype("timedelta64[us]").astype(np.int64) / 86_400e6
        numbers[np.isnat(values)] = np.nan
        table.add_numbers(name, numbers, "f64")
    elif values.dtype.kind == "M":
        days = values.astype("datetime64[us]")
        numbers = days.astype(np.int64) / 86_400e6
        numbers[np.isnat(days)] = np.nan
        table.add_numbers(name, numbers, "f64", True)
    elif is_text(values):
        found = _numbers_among(name, values)
        if found is not None:
            table.add_numbers(name, found, "f64")
        else:
            table.add_texts(name, *texts(values), stays_text)
    elif values.dtype.kind in "iufb":
        if values.dtype.kind == "u" and values.dtype.itemsize == 8 or values.dtype == np.longdouble:
            values = values.astype(np.float64)  # the next type that has their size
        elif not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        array, dtype = with_type(values, f"column {name!r}")
        table.add_numbers(name, array, dtype)
    else:
        raise ValueError(f"column {name!r} is of type {values.dtype}, which is neither numbers, dates nor text")


def _numbers_among(name: str, values: Array) -> Array | None:
    """Objects that are numbers or missing, as float64; None where one is a text."""
    if values.dtype.kind != "O" or any(isinstance(value, (str, bytes)) for value in values):
        return None
    try:
        return np.array([np.nan if _is_missing(value) else float(value) for value in values])
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} holds what is neither a number, a date nor text: {error}") from None


def _dates_among(values: Array) -> Array:
    """Objects that are dates or missing, as datetime64; others as they are. Times with a zone become UTC."""
    if not any(isinstance(value, datetime.date) for value in values):
        return values
    if any(not isinstance(value, datetime.date) and not _is_missing(value) for value in values):
        return values

    def naive(value: Any) -> Any:
        if _is_missing(value):
            return np.datetime64("NaT")
        zoned = isinstance(value, datetime.datetime) and value.tzinfo is not None
        return np.datetime64(value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if zoned else value)

    return np.array([naive(value) for value in values], "datetime64[us]")
