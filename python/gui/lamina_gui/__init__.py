"""The program ``lamina-gui`` of this package: what the command of that name starts."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lamina-gui")


def main() -> NoReturn:
    """Becomes the program, with the arguments of this process."""
    os.execv(PATH, [PATH, *sys.argv[1:]])
