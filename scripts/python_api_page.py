"""Writes docs/python-api.md from the docstrings of the installed package: scripts/python_api_page.py [--check]."""

import importlib
import inspect
import pathlib
import re
import sys

import lamina

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/python-api.md"
GROUPS = [
    ("Functions on arrays", ["cdist", "layer", "nearest", "laplacian_kernel"]),
    ("Estimators", ["MLPClassifier", "MLPRegressor", "RBFClassifier", "RBFRegressor", "FSVCClassifier", "SFSVCClassifier", "ELMClassifier",
                    "ELMRegressor", "RFMClassifier", "RFMRegressor", "KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors",
                    "KNeighborsTransformer",
                    "RadiusNeighborsClassifier", "RadiusNeighborsRegressor"]),
    ("Networks", ["Network", "Predictor", "BatchPredictor"]),
    ("Models and training", ["train", "settings", "TrainResult", "History", "Model", "RowModel", "ProgressBar"]),
    ("Errors", ["Error"]),
    ("Rows in many processes", ["dask.fit", "dask.predict", "dask.predict_proba", "dask.decision_function"]),
    ("Searches", ["optuna.Pruning"]),
    ("Names", ["activations", "losses", "optimizers", "initializations", "backends", "describe_backend", "threads"]),
]
# Also in lamina, and told with Error.
TOLD_ELSEWHERE = {name for name in lamina.__all__ if name.endswith("Error")} | {"__version__"}


def named(name):
    module, _, name = f"lamina.{name}".rpartition(".")
    return getattr(importlib.import_module(module), name)


def signature(thing, name):
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return f"{name}(...)"
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)  # annotations are texts
    return (name + text).replace("(self, ", "(").replace("(self)", "()")


def body(thing):
    return (inspect.getdoc(thing) or "").strip()


def members(kind):
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or not any(name in base.__dict__ for base in kind.__mro__ if base.__module__.startswith("lamina")):
            continue
        yield name, member


def page():
    lines = ["# The Python package: interface", "", "Made from the docstrings by `scripts/python_api_page.py`.", ""]
    for title, names in GROUPS:
        lines += [f"## {title}", ""]
        for name in names:
            thing = named(name)
            lines += [f"### {name}", "", "```text", signature(thing, name), "", body(thing), "```", ""]
            if not inspect.isclass(thing):
                continue
            for member_name, member in members(thing):
                if isinstance(member, property) or callable(member) and body(member):
                    head = member_name if isinstance(member, property) else signature(member, member_name)
                    lines += ["```text", f"{name}.{head}", "", *[f"    {line}".rstrip() for line in body(member).splitlines()], "```", ""]
    missing = set(lamina.__all__) - TOLD_ELSEWHERE - {name for _, names in GROUPS for name in names}
    if missing:
        sys.exit(f"scripts/python_api_page.py: no group has {sorted(missing)}")
    lines += ["Kinds of `Error`: " + ", ".join(f"`{name}`" for name in sorted(TOLD_ELSEWHERE - {"__version__", "Error"})) + ".", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    text = page()
    if "--check" not in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit(f"{PAGE.name} is not what the docstrings say: run scripts/python_api_page.py")
