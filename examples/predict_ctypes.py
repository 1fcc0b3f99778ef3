"""Answers one row by the shared library alone: predict_ctypes.py LIBRARY MODEL CELL...

Needs no package: the standard library of Python, and liblamina_predict.so.
"""

import ctypes
import sys


class Model:
    """A trained model. Never changes after loading: threads share it."""

    def __init__(self, library, path):
        self._library = ctypes.CDLL(library)
        for name, result, *arguments in (
            ("load", ctypes.c_void_p, ctypes.c_char_p),
            ("free", None, ctypes.c_void_p),
            ("columns", ctypes.c_int64, ctypes.c_void_p),
            ("outputs", ctypes.c_int64, ctypes.c_void_p),
            ("class_of", ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p),
            ("class_name", ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64),
            ("predict_text", ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p),
            ("notes", ctypes.c_char_p),
            ("error", ctypes.c_char_p),
        ):
            call = getattr(self._library, "lamina_" + name)
            call.restype, call.argtypes = result, arguments
            setattr(self, "_" + name, call)
        self._model = self._load(path.encode())
        if not self._model:
            raise ValueError(self._error().decode())

    def __del__(self):
        if getattr(self, "_model", None):
            self._free(self._model)

    def predict(self, row):
        """The outputs of a row of texts ("" is missing), the class or None, and what is to be known of the answer."""
        if len(row) != self._columns(self._model):
            raise ValueError(f"a row of this model has {self._columns(self._model)} columns")
        cells = (ctypes.c_char_p * len(row))(*[cell.encode() for cell in row])
        outputs = (ctypes.c_double * self._outputs(self._model))()
        if self._predict_text(self._model, cells, 1, outputs):
            raise ValueError(self._error().decode())
        name = self._class_name(self._model, self._class_of(self._model, outputs))
        return list(outputs), name and name.decode(), self._notes().decode()


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: predict_ctypes.py LIBRARY MODEL CELL...")
    try:
        outputs, name, notes = Model(sys.argv[1], sys.argv[2]).predict(sys.argv[3:])
    except (OSError, ValueError) as error:
        sys.exit(f"predict_ctypes.py: {error}")
    print(",".join(([name] if name else []) + [f"{value:.9g}" for value in outputs]))
    sys.stderr.write(notes)


if __name__ == "__main__":
    main()
