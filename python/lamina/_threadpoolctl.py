"""Tells threadpoolctl, where it is installed, of lamina's threads: they are limited as those of OpenMP are."""

from __future__ import annotations

import os

from . import _core

try:
    import threadpoolctl
except ImportError:
    threadpoolctl = None

if hasattr(threadpoolctl, "register"):  # since 3.2

    class LaminaController(threadpoolctl.LibController):
        user_api = "openmp"  # what limits ask for who speak of threads in loops
        internal_api = "lamina"
        filename_prefixes = (os.path.basename(_core.__file__).lower(),)

        def get_num_threads(self) -> int:
            return _core.threads()

        def set_num_threads(self, num_threads: int) -> None:
            _core.limit_threads(num_threads)

        def get_version(self) -> str:
            return _core.version()

    threadpoolctl.register(LaminaController)
