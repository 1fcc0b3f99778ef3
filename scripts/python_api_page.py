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
    text = re.sub(r": Any = ", "=", text)  # what tells nothing
    text = re.sub(r": Any\b| -> (?:Any|None)$", "", text)
    return (name + text).replace("(self, ", "(").replace("(self)", "()")


def body(thing):
    """The docstring, its headings in one line."""
    return re.sub(r"(?m)^(\w+)\n-+$", r"\1:", (inspect.getdoc(thing) or "").strip())


def members(kind):
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or not any(name in base.__dict__ for base in kind.__mro__ if base.__module__.startswith("lamina")):
            continue
        yield name, member


def is_estimator(thing):
    return inspect.isclass(thing) and hasattr(thing, "get_params")


def is_told(kind, name, member):
    """scikit-learn makes set_fit_request and the like, and tells of them itself."""
    return not re.fullmatch(r"set_\w+_request", name) and (isinstance(member, property) or callable(member) and body(member))


def sections(text):
    """The text before the first section of a docstring, and {title: [[head, explanation], ...]}."""
    parts = re.split(r"(?m)^(Parameters|Attributes):\n", text)
    entries = {}
    for title, lines in zip(parts[1::2], parts[2::2]):
        entries[title] = []
        for line in lines.strip().splitlines():
            if line.startswith(" ") or not line:
                entries[title][-1][1] += line + "\n"
            else:
                entries[title].append([line, ""])
    return parts[0].strip(), entries


def fenced(text):
    return ["```text", text, "```", ""]


def indented(text):
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


class Once:
    """What several estimators have, each text told once. Where texts of one name differ, each names its estimators."""

    def __init__(self):
        self.texts = {}  # name -> {text: [estimator, ...]}

    def add(self, name, text, estimator):
        self.texts.setdefault(name, {}).setdefault(text.rstrip(), []).append(estimator)

    def block(self):
        texts = []
        for name in sorted(self.texts):
            several = len(self.texts[name]) > 1
            texts += [(f"# {', '.join(estimators)}\n" if several else "") + text for text, estimators in self.texts[name].items()]
        return fenced("\n\n".join(texts))


def method_text(member, method, estimator):
    """Signature and docstring, without a result that is the estimator itself."""
    head = signature(member, method).removesuffix(f" -> {estimator}")
    text = re.sub(r"\n*^Returns:\nself$", "", body(member), flags=re.MULTILINE)
    return f"{head}\n\n{indented(text)}"


def estimator_lines(names):
    """Each estimator with what it alone has, then parameters, attributes and methods, each text once."""
    lines, found = [], {title: Once() for title in ("Parameters", "Attributes", "Methods")}
    for name in names:
        thing = named(name)
        summary, entries = sections(body(thing))
        call = re.sub(r": [^=,()]*(?:\([^)]*\))?(?= =)", "", signature(thing, name)).replace(" = ", "=")
        lines += [f"### {name}", "", *fenced(call), summary, ""]
        told = [(member, value) for member, value in members(thing) if is_told(thing, member, value)]
        properties = {member: value for member, value in told if isinstance(value, property)}
        for title, each in entries.items():
            for head, explanation in each:
                heads = head.partition(" : ")[0].split(", ")
                of_head = [(attribute, properties.pop(attribute)) for attribute in heads if attribute in properties]
                explained = explanation or "".join(f"    {f'{attribute}: ' * (len(heads) > 1)}{body(value)}\n" for attribute, value in of_head)
                found[title].add(head.partition(" : ")[0], head + "\n" + explained, name)
        for member, value in properties.items():
            found["Attributes"].add(member, f"{member}\n{indented(body(value))}", name)
        if "Attributes" in entries:
            attributes = ", ".join(head.partition(" : ")[0] for head, _ in entries["Attributes"]).split(", ")
            lines += ["Attributes: " + ", ".join(f"`{attribute}`" for attribute in [*attributes, *properties]) + ".", ""]
        methods = [(method, member) for method, member in told if not isinstance(member, property)]
        for method, member in methods:
            found["Methods"].add(method, method_text(member, method, name), name)
        lines += ["Methods: " + ", ".join(f"`{method}`" for method, _ in methods) + ".", ""]
    lines += ["`fit` and `partial_fit` return the estimator. Arrays of its network are copies. `set_fit_request` and its like are",
              "scikit-learn's (metadata routing).", ""]
    for title, once in found.items():
        lines += [f"### {title} of estimators", "", *once.block()]
    return lines


def class_lines(name, thing):
    """The members of a class that is no estimator."""
    texts = []
    for member_name, member in members(thing):
        if is_told(thing, member_name, member):
            head = member_name if isinstance(member, property) else signature(member, member_name)
            texts.append(f"{name}.{head}\n\n{indented(body(member))}")
    return fenced("\n\n".join(texts)) if texts else []


def page():
    lines = ["# The Python package: interface", "", "`scripts/python_api_page.py` makes this page from the docstrings.", ""]
    for title, names in GROUPS:
        lines += [f"## {title}", ""]
        if all(is_estimator(named(name)) for name in names):
            lines += estimator_lines(names)
            continue
        for name in names:
            thing = named(name)
            lines += [f"### {name}", "", *fenced(f"{signature(thing, name)}\n\n{body(thing)}")]
            lines += class_lines(name, thing) if inspect.isclass(thing) else []
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
