"""The notebooks and the examples of the pages run; the page of the interface is that of the docstrings; types hold."""

import doctest
import inspect
import pathlib
import re
import subprocess
import sys
import warnings

import pytest

import lamina

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert all("outputs" in cell for cell in notebook.cells if cell.cell_type == "code")
    assert not any(cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells), "kept without outputs"


def code_blocks():
    for page in sorted((ROOT / "docs").glob("python*.md")):
        for number, block in enumerate(re.findall(r"(?ms)^```python\n(.*?)^```$", page.read_text())):
            yield pytest.param(block, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("block", code_blocks())
def test_examples_of_the_pages(block, tmp_path, monkeypatch):
    for needed in re.findall(r"(?m)^\s*(?:import|from) (\w+)", block):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "a page", "exec"), {})


def test_tutorial_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    """Percents may differ a little from processor to processor; all else is as shown."""
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    steps = re.findall(r"(?m)^```python\n((?:.*\n)*?)^```\n\n((?:    .*\n)+)", (ROOT / "docs/tutorial.md").read_text())
    assert len(steps) > 3
    (tmp_path / "data").symlink_to(ROOT / "data")
    monkeypatch.chdir(tmp_path)
    names = {}
    percent = r"[\d.]+(?=%)|(?<=epoch )\d+ of \d+"
    for code, shown in steps:
        exec(compile(code, "the tutorial", "exec"), names)
        printed, shown = capsys.readouterr().out.splitlines(), [line[4:] for line in shown.splitlines()]
        assert [re.sub(percent, "#", line) for line in printed] == [re.sub(percent, "#", line) for line in shown]
        for one, other in zip(re.findall(r"[\d.]+(?=%)", "".join(printed)), re.findall(r"[\d.]+(?=%)", "".join(shown)), strict=True):
            assert abs(float(one) - float(other)) < 2.5


def test_examples_of_docstrings():
    for module in (lamina._functions, lamina._network):
        assert doctest.testmod(module, extraglobs={"lamina": lamina}, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_page_of_the_interface_is_current():
    for needed in ("dask", "optuna"):
        pytest.importorskip(needed)
    done = subprocess.run([sys.executable, ROOT / "scripts/python_api_page.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_parameters_of_the_pages_are_those_of_the_classes():
    sklearn_neural_network = pytest.importorskip("sklearn.neural_network")
    page = (ROOT / "docs/python-from-scikit-learn.md").read_text()
    told = set(re.findall(r"(?m)^\| `(\w+)`", page))
    for name in ("MLPClassifier", "MLPRegressor"):
        parameters = set(getattr(lamina, name)().get_params()) | set(getattr(sklearn_neural_network, name)().get_params())
        assert parameters <= told, f"{name}: {sorted(parameters - told)} are not in the table"


def test_types(tmp_path):
    pytest.importorskip("mypy")
    example = tmp_path / "example.py"
    example.write_text((ROOT / "python/tests/typed_example.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(example)],
        capture_output=True, text=True, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_the_package(tmp_path):
    """By the settings in pyproject.toml, which say what is not checked and why."""
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path), "lamina"],
        capture_output=True, text=True, cwd=ROOT / "python",
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", lamina.__all__)
def test_docstrings_of_estimators_tell_every_parameter_and_result(name):
    sklearn_datasets = pytest.importorskip("sklearn.datasets")
    kind = getattr(lamina, name)
    if not hasattr(kind, "get_params"):
        return
    summary, _, sections = kind.__doc__.partition("\nParameters\n----------\n")
    assert summary.strip().partition("\n")[0].endswith(".") and sections
    parameters, _, results = sections.partition("\nAttributes\n----------\n")
    heads = [line.partition(" : ")[0] for line in parameters.splitlines() if line and not line.startswith(" ")]
    assert ", ".join(heads).split(", ") == list(inspect.signature(kind).parameters)
    assert set(kind._parameter_constraints) == set(inspect.signature(kind).parameters)
    x, y = sklearn_datasets.make_blobs(40, 3, centers=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = kind().fit(x, y)
    heads = [line.partition(" : ")[0] for line in results.splitlines() if line and not line.startswith(" ")]
    told = ", ".join(heads).split(", ")
    assert {name for name in vars(fitted) if name.endswith("_") and not name.startswith("_")} - set(told) <= {"out_activation_"}
    assert [name for name in told if not hasattr(fitted, name)] == []
