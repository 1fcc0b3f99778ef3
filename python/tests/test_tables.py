"""The ordinary tables of tests/first_hour, by path through lamina.train and Model.predict."""

import pathlib
import sys

import pytest

import lamina

MADE = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/first_hour"
sys.path.insert(0, str(MADE))
from tables import all_tables  # noqa: E402


def settings_of(flags):
    """["--target", "price"] as keyword arguments."""
    return {name[2:].replace("-", "_"): value for name, value in zip(flags[::2], flags[1::2])}


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.file)
def test_a_table_opens_trains_and_answers(table, tmp_path):
    path = tmp_path / table.file
    path.write_bytes(table.content)
    result = lamina.train(str(path), recipe="plain", **settings_of(table.flags))
    assert result.model.targets == [table.target]
    assert bool(result.model.classes) == (table.task == "classification")
    sheet = {name: value for name, value in settings_of(table.flags).items() if name == "sheet"}  # a model keeps none
    assert len(result.model.predict(str(path), **sheet)) in (table.rows, table.rows + table.extra_rows)
