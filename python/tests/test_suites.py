"""The tests of scikit-learn and SciPy, run against lamina: `bench/peers/suites` and its list of what fails."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUITES = re.findall(r"^## (\w+): ", (ROOT / "bench/peers/suites.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("suite", SUITES)
def test_what_fails_is_listed_with_its_reason(suite):
    done = subprocess.run([sys.executable, "-B", ROOT / "bench/peers/suites", suite], text=True, capture_output=True)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
