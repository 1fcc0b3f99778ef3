"""The program ``lamina`` of this package: what the command of that name starts, without loading the library."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lamina")


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    if not os.access(PATH, os.X_OK):
        sys.exit(f"lamina: error: {PATH}: this package was built without the program (LAMINA_PYTHON_PROGRAM=OFF).")
    os.execv(PATH, [PATH, *sys.argv[1:]])
