"""The program's sentences with parameters of Python in the place of its flags, and its settings of such."""

from __future__ import annotations

import csv
import re
from typing import Any

from . import _core

# Words that may stand behind a flag without being its value.
_NO_VALUES = frozenset(
    (
        "a all allows and are as be can cannot do does for from goes has have help if in is it may means must needs no not"
        " of on or out says takes than that the to was where which with"
    ).split()
)
_OTHER = {"by-position": "by_position=True"}  # of Model.predict


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ",".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(_item(_text(item)) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _item(text: str) -> str:
    """An item of a list in a text: in quotes where it has commas, as a field of a CSV file."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def list_items(text: str) -> list[str]:
    """The items of such a list."""
    return [item.strip() for item in next(csv.reader([text], skipinitialspace=True))]


def setting_texts(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Parameters of Python as the program's settings, by name and text."""
    return [(name.replace("_", "-"), _text(value)) for name, value in settings.items()]


def shown(text: str) -> str:
    """The text on one line as a terminal may get it: what steers it stands there as "\\x1B" or "\\u202E"."""
    said: str = _core.shown(text)
    return said


def in_python(text: str) -> str:
    """The sentence on one line as a terminal may get it, with the parameters of Python in place of flags.

    "--max-categories 5" becomes "max_categories=5", and "--strict" becomes "strict". Flags without a parameter stay as
    they are.
    """

    def parameter(found: re.Match[str]) -> str:
        flag, value = found[1], found[2]
        if flag in _OTHER:
            return _OTHER[flag] + ("" if value is None else f" {value}")
        if flag not in _core.setting_names() and flag not in _core.removed_names():
            return found[0]
        name = flag.replace("-", "_")
        ends = found.string[found.end() :].startswith(")")  # "(else --missing-indicator no)"
        if value is None or (value in _NO_VALUES and not ends):
            return name if value is None else f"{name} {value}"
        if value.startswith("'"):  # a word of a shell
            items = list_items(value[1:-1].replace("'\\''", "'"))
            return f"{name}={items if len(items) > 1 or ',' in items[0] else items[0]!r}"
        try:
            float(value)
        except ValueError:
            value = repr(value)
        return f"{name}={value}"

    word = r"'(?:[^']|'\\'')*'|[^\s,;:()]*[^\s,;:().?!](?:\.(?=\)))?"
    return re.sub(rf"--([a-z][a-z-]*[a-z])(?: ({word}))?", parameter, shown(text))
