"""The page of a model (lamina export --html), its engine run by node: another door of the same answers."""

import json
import math
import os
import shutil
import subprocess

from lamina_cli import SOURCE

NODE = shutil.which("node") or shutil.which("nodejs")
DOOR = os.path.join(SOURCE, "tests", "cli", "page_door.js")
NO_NODE = "there is no node (Debian: apt install nodejs)"
# What an answer may differ by, times 1 + its size + the scale of its target. It is the program's rounding, as that
# computes in the network's type; the page computes in double.
BOUND = 1e-6


def ask_page(page, *arguments, typed=None):
    """What tests/cli/page_door.js says; `typed`: lists of rows, each asked by itself."""
    done = subprocess.run([NODE, DOOR, page, *arguments], input=None if typed is None else json.dumps(typed),
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def check_page(test, model, data, expected, names=None, bound=BOUND, flags=()):
    """The page of `model`, exported with `flags`, answers the rows of the file `data` as the program did: `expected`
    outputs, NaN for none, and `names` of classes."""
    test.succeed("export", "--html", model, *flags, "-o", "page.html")
    page = test.path("page.html")
    checked = ask_page(page, "check")
    test.assertGreater(checked["rows"], 0)
    test.assertLessEqual(checked["difference"], bound, "rows that the page checks itself with")
    said = ask_page(page, test.path(data))
    test.assertIn("answers", said, said)
    test.assertEqual(len(said["answers"]), len(expected))
    for i, (answer, wanted) in enumerate(zip(said["answers"], expected)):
        if math.isnan(wanted[0]):
            test.assertIn("error", answer, f"row {i}")
            continue
        test.assertIn("outputs", answer, f"row {i}: {answer}, the program: {wanted}")
        largest = max(abs(value) for value in wanted)
        for j, (one, two) in enumerate(zip(answer["outputs"], wanted)):
            size = 1 + largest + (checked["scales"][j] if checked["scales"] else 0)
            test.assertLessEqual(abs(one - two), bound * size, f"row {i}: {answer}, the program: {wanted}")
    if names is not None:
        test.assertEqual([answer.get("name", "") for answer in said["answers"]], names)
    return said
