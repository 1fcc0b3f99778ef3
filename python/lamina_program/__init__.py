"""The program ``lamina`` of this package: what the command of that name starts, without loading the library."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import NoReturn

IS_WINDOWS = os.name == "nt"
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lamina.exe" if IS_WINDOWS else "lamina")


def main() -> NoReturn:
    """Becomes the program (on Windows: runs it), with the arguments of this process."""
    if not os.access(PATH, os.X_OK):
        sys.exit(f"lamina: error: {PATH}: this package was built without the program (LAMINA_PYTHON_PROGRAM=OFF).")
    if IS_WINDOWS:  # where another process would begin, for which nobody waits
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the program's
        sys.exit(subprocess.call([PATH, *sys.argv[1:]]))
    os.execv(PATH, [PATH, *sys.argv[1:]])
