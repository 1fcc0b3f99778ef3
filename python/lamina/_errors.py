"""Errors of the library as Python's own kinds, each with the library's sentence."""

from __future__ import annotations


class Error(Exception):
    """Any failure that the library reports.

    Attributes
    ----------
    code : str
        What kind it is: ``"invalid_argument"``, ``"not_found"``, ``"io"``, ``"bad_data"``, ``"bad_model"``,
        ``"diverged"``, ``"unsupported"``, ``"resource"`` or ``"network"``.
    file, line, column, value, remedy, setting
        Where it happened and how to get past it, as far as that is known (``""`` and 0 otherwise).
    """

    code: str = ""
    file: str = ""
    line: int = 0
    column: str = ""
    value: str = ""
    remedy: str = ""
    setting: str = ""


class InvalidArgumentError(Error, ValueError):
    """A setting or array that cannot be used."""


class BadDataError(Error, ValueError):
    """Data whose content is wrong."""


class BadModelError(Error, ValueError):
    """A model file whose content is wrong."""


class NotFoundError(Error, FileNotFoundError):
    """A file that does not exist."""


class UnknownColumnError(Error, ValueError, LookupError):
    """A column or class that the data do not have."""


class IoError(Error, OSError):
    """Reading or writing failed."""


class DivergedError(Error, ArithmeticError):
    """Training produced a loss that is not a number."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not possible with this build, backend or device."""


class ResourceError(Error, MemoryError):
    """Out of memory, or of another resource."""


_KINDS: dict[str, type[Error]] = {
    "invalid_argument": InvalidArgumentError,
    "bad_data": BadDataError,
    "bad_model": BadModelError,
    "not_found": NotFoundError,
    "io": IoError,
    "diverged": DivergedError,
    "unsupported": UnsupportedError,
    "resource": ResourceError,
    "network": IoError,
}


def make(
    code: str, text: str, file: str, line: int, column: str, value: str, remedy: str, setting: str
) -> Error:
    """The exception for an error of the library; called by the extension module."""
    from ._words import in_python, shown

    kind = _KINDS.get(code, Error)
    said = text.removeprefix(shown(file))
    if kind is NotFoundError and any(f" {name}" in said for name in ("column", "class")):
        kind = UnknownColumnError
    error = kind(in_python(text))
    error.code, error.file, error.line, error.column = code, file, line, column
    error.value, error.remedy, error.setting = value, in_python(remedy), setting
    return error
