"""ONNX files, run by onnxruntime in tests/cli/run_onnx.py: another door of the same answers."""

import functools
import os
import unittest

from talker import Talker

PYTHON = os.environ.get("LAMINA_ONNX_PYTHON", "")
needs_onnx = unittest.skipUnless(PYTHON, "onnxruntime: LAMINA_ONNX_PYTHON is not set")
_RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_onnx.py")
_runner = functools.cache(lambda python: Talker(python, _RUN))


def ask_onnx(path, inputs, python=PYTHON):
    """What run_onnx.py says of the file `path` and its `inputs`: name -> rows."""
    return _runner(python).ask({"model": path, "inputs": inputs})
