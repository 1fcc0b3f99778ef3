"""What estimators' parameters and attributes are told with: once, for checks and docstrings alike."""

from __future__ import annotations

import inspect
import textwrap
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from sklearn.utils._param_validation import Interval, StrOptions

_T = TypeVar("_T")


class Parameter(NamedTuple):
    """A parameter of constructors: its type in words, what it is, and scikit-learn's constraints of it."""

    kind: str
    text: str
    checks: list[Any]


class Attribute(NamedTuple):
    """A result of ``fit``: its type in words, and what it is."""

    kind: str
    text: str = ""


def choice(*names: str, text: str = "", also: str = "") -> Parameter:
    """One of ``names``; ``also``: the default in words that stands beside them."""
    listed = "{" + ", ".join(f'"{name}"' for name in names) + "}"
    return Parameter(listed + also, text, [StrOptions(set(names))])


def whole(least: int, text: str = "", most: int | None = None) -> Parameter:
    """A whole number from ``least`` to ``most``."""
    return Parameter("int", text, [Interval(Integral, least, most, closed="left" if most is None else "both")])


def real(least: float, text: str = "", most: float | None = None, closed: str = "left") -> Parameter:
    """A number from ``least`` to ``most``, either of which counts where ``closed`` says so."""
    return Parameter("float", text, [Interval(Real, least, most, closed=closed)])


def yes_or_no(text: str = "") -> Parameter:
    """True or False."""
    return Parameter("bool", text, ["boolean"])


def or_auto(parameter: Parameter, text: str = "") -> Parameter:
    """``parameter``, or "auto"."""
    return Parameter(f'{parameter.kind} or "auto"', text or parameter.text, [StrOptions({"auto"}), *parameter.checks])


RANDOM_STATE = Parameter("int, RandomState or None", "", ["random_state"])


def keep(estimator: object, given: dict[str, Any]) -> None:
    """The arguments of a constructor, its ``locals()``, as attributes: what scikit-learn wants of every one."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


def documented(kind: type[_T]) -> type[_T]:
    """Gives an estimator the checks of its constructor's parameters, and a docstring that tells them and its results.

    The rows are those of ``_parameters`` and ``_results`` of the class and its bases.
    """
    rows: dict[str, Parameter] = {}
    facts: dict[str, Attribute] = {}
    for base in reversed(kind.__mro__):
        rows |= vars(base).get("_parameters", {})
        facts |= vars(base).get("_results", {})
    names = [name for name in inspect.signature(kind.__init__).parameters if name != "self"]
    kind._parameter_constraints = {name: rows[name].checks for name in names}  # type: ignore[attr-defined]
    if kind.__doc__:
        sections = [("Parameters", {name: rows[name] for name in names}), ("Attributes", facts)]
        kind.__doc__ = "\n".join([inspect.cleandoc(kind.__doc__), *(_section(*section) for section in sections), ""])
    return kind


def _section(title: str, rows: Any) -> str:
    """A section of a docstring as numpydoc has it; neighbors with one text share it."""
    heads: list[tuple[list[str], str, str]] = []
    for name, row in rows.items():
        if heads and heads[-1][1:] == (row.kind, row.text):
            heads[-1][0].append(name)
        else:
            heads.append(([name], row.kind, row.text))
    lines = ["", title, "-" * len(title)]
    for names, kind, text in heads:
        lines.append(", ".join(names) + (f" : {kind}" if kind else ""))
        lines += textwrap.wrap(text, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)
