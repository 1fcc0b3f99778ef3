"""``python -m lamina``: trains and predicts with files, by the flags of the program ``lamina``."""

from __future__ import annotations

import argparse
import logging
import sys
from typing import Any

from . import Error, Model, __version__, _core, describe_backend, train
from ._words import in_python, list_items, shown


def _flags(given: list[str], parser: argparse.ArgumentParser) -> dict[str, str | bool]:
    """--name value, --name=value, and --name alone for what is switched on."""
    settings: dict[str, str | bool] = {}
    place = 0
    while place < len(given):
        flag, equals, value = given[place].partition("=")
        place += 1
        known = (*_core.setting_names(), *_core.removed_names())  # train() says what became of the latter
        if not flag.startswith("--") or flag[2:] not in known:
            parser.error(f"unknown argument: {shown(flag)}. The settings are: {', '.join(_core.setting_names())}")
        if equals:
            settings[flag[2:]] = value
        elif place < len(given) and not given[place].startswith("--"):
            settings[flag[2:]] = given[place]
            place += 1
        else:
            settings[flag[2:]] = True
    return settings


def _train(data: str, given: list[str], parser: argparse.ArgumentParser) -> None:
    settings = _flags(given, parser)
    target = settings.pop("target", None)
    named: dict[str, Any] = {name.replace("-", "_"): value for name, value in settings.items()}
    result = train(data, None if target is None else list_items(str(target)), **named)
    print("\n".join(result.notes))
    wrote = f"; wrote {shown(str(settings['model']))}" if "model" in settings else ""
    print(f"{len(result.history)} epochs, {result.stop_reason}{wrote}")


def _predict(model: str, data: str, out: str) -> None:
    answers = Model.load(model)._core.predict_file(data, csv=True)
    for note in answers["notes"]:
        print(f"note: {in_python(note)}", file=sys.stderr)
    if out == "-":
        csv = answers["csv"]
        sys.stdout.write("".join(shown(line) + "\n" for line in csv.splitlines()) if sys.stdout.isatty() else csv)
        return
    with open(out, "w", encoding="utf-8") as file:
        file.write(answers["csv"])


def main(arguments: list[str] | None = None) -> int:
    """The exit status: 0, 1 for a failure, 2 for a setting that cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m lamina", description=__doc__)
    parser.add_argument("--version", action="version", version=f"lamina {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    trained = commands.add_parser(
        "train", help="a model from a file: --target, --model and every setting of lamina train"
    )
    trained.add_argument("data")
    predicted = commands.add_parser("predict", help="answers to the rows of a file, as CSV")
    predicted.add_argument("model")
    predicted.add_argument("data")
    predicted.add_argument("--out", default="-", help="a file; standard output where it is left out")
    commands.add_parser("devices", help="what computes here")
    given, rest = parser.parse_known_args(arguments)
    if rest and given.command != "train":
        parser.error(f"unknown arguments: {shown(' '.join(rest))}")
    logging.getLogger("lamina").addHandler(logging.NullHandler())  # the notes are printed
    try:
        if given.command == "train":
            _train(given.data, rest, parser)
        elif given.command == "predict":
            _predict(given.model, given.data, given.out)
        else:
            print(describe_backend())
    except Error as error:
        print(f"lamina: error: {error}", file=sys.stderr)
        return 2 if error.code == "invalid_argument" else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
