"""Writes docs/python-api.md from the docstrings of the installed package: scripts/python_api_page.py [--check]."""

import collections
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

TOLD = set()  # the arguments that docstrings tell, once they were looked for


def named(name):
    module, _, name = f"lamina.{name}".rpartition(".")
    return getattr(importlib.import_module(module), name)


def told_arguments():
    """Names of arguments whose types docstrings tell, so that signatures need not."""
    things = [named(name) for _, names in GROUPS for name in names]
    texts = [body(thing) for thing in things] + [body(member) for thing in things if inspect.isclass(thing) for _, member in members(thing)]
    told = [section for text in texts for section in re.findall(r"(?ms)^Parameters:\n(.*?)(?=^[A-Z]\w+:$|\Z)", text)]
    return {name.strip("* ") for head in re.findall(r"(?m)^\S.*", "\n".join(told)) for name in head.partition(" : ")[0].split(",")}


def signature(thing, name):
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"{name}(...)"
    told = TOLD or TOLD.update(told_arguments()) or TOLD
    parameters = [each.replace(annotation=each.empty) if each.name in told else each for each in found.parameters.values()]
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(found.replace(parameters=parameters)))  # annotations are texts
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


def family(names):
    """The estimators in words: "MLP" where both MLPClassifier and MLPRegressor are meant."""
    both = {name: re.sub("Classifier$|Regressor$", "", name) for name in names}
    told = [kind if list(both.values()).count(kind) > 1 else name for name, kind in both.items()]
    return ", ".join(dict.fromkeys(told))


class Once:
    """What several estimators have, each text told once. Where texts of one name differ, each names its estimators."""

    def __init__(self):
        self.texts = {}  # name -> {text: [estimator, ...]}

    def add(self, name, text, estimator):
        self.texts.setdefault(name, {}).setdefault(text.rstrip(), []).append(estimator)

    def block(self, first=""):
        texts = [first] if first else []
        for name in sorted(self.texts):
            several = len(self.texts[name]) > 1
            texts += [(f"# {family(estimators)}\n" if several else "") + text for text, estimators in self.texts[name].items()]
        return fenced("\n\n".join(texts))


def method_text(member, method, estimator):
    """Signature and docstring, without a result that is the estimator itself."""
    head = signature(member, method).removesuffix(f" -> {estimator}")
    text = re.sub(r"\n*^Returns:\nself$", "", body(member), flags=re.MULTILINE)
    return f"{head}\n\n{indented(text)}"


def arguments_of(text):
    """The arguments that the text of a method tells, each as it stands there."""
    section = re.search(r"(?m)^    Parameters:\n((?:(?:    .*)?\n?)*?)(?=^    [A-Z]\w+:$|\Z)", text)
    return re.findall(r"(?m)^    \S.*(?:\n {8}.*)*", section[1]) if section else []


def usual_arguments(methods):
    """Arguments without an explanation that several texts have in the same words."""
    told = collections.Counter(argument for texts in methods.texts.values() for text in texts for argument in arguments_of(text))
    usual = [argument for argument, count in told.items() if count > 1 and " : " in argument and "\n" not in argument]
    names = collections.Counter(argument.partition(" : ")[0] for argument in usual)
    return sorted(argument for argument in usual if names[argument.partition(" : ")[0]] == 1 or told[argument] == max(
        told[other] for other in usual if other.partition(" : ")[0] == argument.partition(" : ")[0]))


def without(text, arguments):
    """The text of a method without these arguments, and without the section where none is left."""
    for argument in arguments:
        text = re.sub(rf"(?m)^{re.escape(argument)}$(?!\n {{8}})\n?", "", text)
    return re.sub(r"(?m)^    Parameters:\n+(?=    [A-Z]\w+:$|\Z)", "", text + "\n").rstrip()


def beside(name, own, earlier):
    """What an estimator has, in words: by the earlier one that differs least where that is shorter."""
    def words(names):
        return ", ".join(f"`{each}`" for each in names)

    nearest = min(earlier, key=lambda other: len(set(own) ^ set(earlier[other])), default=None)
    earlier[name] = own
    if nearest is None or len(set(own) ^ set(earlier[nearest])) > len(own) // 3:
        return words(own)
    more = [each for each in own if each not in earlier[nearest]]
    less = [each for each in earlier[nearest] if each not in own]
    return f"those of `{nearest}`" + (f", and {words(more)}" if more else "") + (f", without {words(less)}" if less else "")


def call_lines(name, thing, earlier):
    """The constructor; of parameters after the * only those that no earlier one has with the same default."""
    parameters = [str(each) for each in inspect.signature(thing).parameters.values()]
    parameters = [re.sub(r": [^=,()]*(?:\([^)]*\))?(?= =)", "", each).replace(" = ", "=") for each in parameters]
    kinds = [each.kind for each in inspect.signature(thing).parameters.values()]
    first = [each for each, kind in zip(parameters, kinds) if kind != inspect.Parameter.KEYWORD_ONLY]
    others = parameters[len(first):]
    nearest = min(earlier, key=lambda other: len(set(parameters) ^ set(earlier[other])), default=None)
    shared = set(others) & set(earlier[nearest]) if nearest else set()
    earlier[name] = parameters
    stars = ["*"] if others else []
    names = {each.partition("=")[0] for each in parameters}
    own = [each for each in others if each not in shared]
    less = [f"`{other}`" for other in (each.partition("=")[0] for each in earlier.get(nearest, [])) if other not in names]
    if nearest is None or 2 * (len(own) + len(less)) > len(others):
        return fenced(f"{name}({', '.join([*first, *stars, *others])})")
    rest = f"- Other parameters: those of `{nearest}`" + (f", without {', '.join(less)}" if less else "") + "."
    return [*fenced(f"{name}({', '.join([*first, *stars, *own, '...'])})"), rest]


def estimator_lines(names):
    """Each estimator with what it alone has, then parameters, attributes and methods, each text once."""
    lines, found = [], {title: Once() for title in ("Parameters", "Attributes", "Methods")}
    calls, attributes_of, methods_of = {}, {}, {}
    for name in names:
        thing = named(name)
        summary, entries = sections(body(thing))
        lines += [f"### {name}", "", summary, "", *call_lines(name, thing, calls)]
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
        attributes = ", ".join(head.partition(" : ")[0] for head, _ in entries.get("Attributes", [])).split(", ")
        methods = [(method, member) for method, member in told if not isinstance(member, property)]
        for method, member in methods:
            found["Methods"].add(method, method_text(member, method, name), name)
        lines += [f"- Attributes: {beside(name, [*attributes, *properties], attributes_of)}.",
                  f"- Methods: {beside(name, [method for method, _ in methods], methods_of)}.", ""]
    lines += ["`fit` and `partial_fit` return the estimator. Arrays of its network are copies. `set_fit_request` and its like are",
              "scikit-learn's (metadata routing). `MLP` stands for `MLPClassifier` and `MLPRegressor`, and so on.", ""]
    usual = usual_arguments(found["Methods"])
    methods, found["Methods"] = found["Methods"], Once()
    for name, texts in methods.texts.items():
        for text, estimators in texts.items():
            for estimator in estimators:
                found["Methods"].add(name, without(text, usual), estimator)
    for title, once in found.items():
        first = "# Arguments, unless a method tells others\n" + "\n".join(each.strip() for each in usual)
        lines += [f"### {title} of estimators", "", *once.block(first if title == "Methods" else "")]
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
            head = "" if body(thing).startswith(f"{name}(") else f"{signature(thing, name)}\n\n"  # functions in C++ tell theirs
            lines += [f"### {name}", "", *fenced(head + body(thing))]
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
