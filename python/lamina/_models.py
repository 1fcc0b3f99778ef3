"""Models: a network with its preprocessing, and the files of them."""

from __future__ import annotations

import json
import logging
import os
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, threads_of
from ._network import Network
from ._tables import as_columns, make_table
from ._words import in_python, setting_texts

PathLike = str | os.PathLike[str]
_LOGGER = logging.getLogger("lamina")


class Model:
    """A trained network with its preprocessing, as the program's model files hold it.

    Models come from `load`, from `lamina.train` and from estimators (``estimator.to_model()``). They do not change.
    """

    def __init__(self, core: _core.Model, class_values: Array | None = None) -> None:
        self._core = core
        self._class_values = class_values  # of the column that was trained on, in its type; None: the names

    @classmethod
    def load(cls, path: PathLike) -> Model:
        """The model in a file of the program, of `save`, or of the desktop application.

        Raises
        ------
        FileNotFoundError
            Where there is no such file.
        ValueError
            Where the file is no model, naming what is wrong.
        """
        return cls(_core.Model.load(os.fspath(path)))

    def save(self, path: PathLike) -> None:
        """Writes the file (safetensors), whole or not at all. Everything that reads lamina's models reads it."""
        self._core.save(os.fspath(path))

    def to_onnx(self) -> bytes:
        """The bytes of an ONNX file that computes the same on raw rows, preprocessing included."""
        return self._core.to_onnx()

    def to_c(self, name: str, table: Any = None, *, int8: bool = False) -> dict[str, str]:
        """The text of two files of C99, "NAME.h" and "NAME.c", that turn raw rows into the model's answers.

        Parameters
        ----------
        name : str
            Name of the files, and begin of every name in them: "digits" gives `digits_predict`.
        table : as for `predict_outputs`, optional
            Rows whose answers the source tests itself with (-DNAME_SELF_TEST); made up where it is left out.
        int8 : bool
            Weights and activations in 8 bits, whole numbers alone, measured on the rows of `table`.

        Returns
        -------
        dict of str
            The texts by the names of the files.
        """
        if table is None or isinstance(table, (str, os.PathLike)):
            files: dict[str, str] = self._core.to_c(name, None, "" if table is None else os.fspath(table), int8)
        else:
            files = self._core.to_c(name, make_table(as_columns(table)), "", int8)
        return files

    def to_html(self, title: str = "", table: Any = None, *, weights: str = "", int8: bool = False) -> str:
        """The text of one HTML page with a form, answers and what they depend on; any browser opens it, offline.

        Parameters
        ----------
        title : str
            Title of the page; the names of the targets where it is left out.
        table : as for `predict_outputs`, optional
            Rows in the page, by which it checks its answers when it opens; made up where it is left out.
        weights : str
            "bf16", "f16" or "i8" keep weights in fewer bits, for a smaller page; else as the model has them.
        int8 : bool
            Weights and activations in 8 bits, to the bit as `to_c(int8=True)` computes them.

        Returns
        -------
        str
            Write it into a file with the encoding UTF-8.
        """
        if table is None or isinstance(table, (str, os.PathLike)):
            page: str = self._core.to_html(title, None, "" if table is None else os.fspath(table), weights, int8)
        else:
            page = self._core.to_html(title, make_table(as_columns(table)), "", weights, int8)
        return page

    def distill(
        self,
        table: Any,
        *,
        hidden: list[int] | None = None,
        epochs: int | None = None,
        made_up: int | None = None,
        seed: int = 1,
        backend: str = "auto",
        threads: int | None = None,
    ) -> Model:
        """One network that learns what this model answers, as ``lamina distill`` makes it.

        That of an ensemble answers in one network's time.

        Parameters
        ----------
        table : as for `predict_outputs`
            Rows such as the model was trained on, those themselves among them; they need no target.
        hidden, epochs : optional
            Those of the network; by recipe ``tabular`` where they are left out.
        made_up : int, optional
            Rows that are made up near those; by default four a row, fewer of large tables.
        seed : int
        backend : str
        threads : int, optional

        Returns
        -------
        Model
            Its ``training["distilled"]`` has the rows, and how well it agrees with its teacher.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C ends it, and there is no model.
        """
        options = _core.DistillOptions(hidden or [], epochs, made_up, seed, backend, threads_of(threads))
        if isinstance(table, (str, os.PathLike)):
            return Model(self._core.distill(None, os.fspath(table), options), self._class_values)
        return Model(self._core.distill(make_table(as_columns(table)), "", options), self._class_values)

    @property
    def classes(self) -> list[str]:
        """The names of the classes; empty for regression."""
        return self._core.class_names

    @property
    def targets(self) -> list[str]:
        """The names of the target columns."""
        return self._core.target_names

    @property
    def columns(self) -> list[str]:
        """The names of the input columns, in the order of training."""
        return self._core.input_columns

    @property
    def network(self) -> Network:
        """A copy of the network. An ensemble has several: see `networks`."""
        return Network._of(self._core.network())

    @property
    def networks(self) -> list[Network]:
        """Copies of all networks; an ensemble answers with the sum of theirs times `shares`."""
        return [Network._of(network) for network in self._core.networks()]

    @property
    def shares(self) -> list[float]:
        """What part of the answer each of `networks` has; together 1."""
        return list(self._core.shares)

    @property
    def training(self) -> dict[str, Any]:
        """How it was trained: settings by their names, and what came out."""
        return dict(json.loads(self._core.training) or {})

    @property
    def column_weights(self) -> dict[str, float]:
        """How much each column counts in distances, as a kernel machine (``method="rfm"``) has learned it.

        The largest is 1: an importance at no cost. Empty for other models.
        """
        weights: list[float] = self._core.learned_weights
        return dict(zip(self.columns, weights))

    def _answers(
        self,
        table: Any,
        backend: str,
        threads: int | None,
        missing: str,
        unseen: str,
        by_position: bool,
        reading: dict[str, Any],
    ) -> dict[str, Any]:
        options = (backend, threads_of(threads), missing, unseen, by_position)
        if isinstance(table, (str, os.PathLike)):
            texts = setting_texts(reading)
            answers: dict[str, Any] = self._core.predict_file(os.fspath(table), *options, texts)
        elif reading:
            raise TypeError(f"{next(iter(reading))} says how a file is read, and the rows are none")
        else:
            answers = self._core.predict(make_table(as_columns(table)), *options)
        for note in answers["notes"]:
            told = " filled in (" in note or (note.startswith("the file: ") and "--sheet" not in note)
            _LOGGER.log(logging.INFO if told else logging.WARNING, "%s", in_python(note))
        return answers

    def predict_outputs(
        self,
        table: Any,
        *,
        backend: str = "auto",
        threads: int | None = None,
        missing: str = "",
        unseen: str = "",
        by_position: bool = False,
        **reading: Any,
    ) -> Array:
        """What the network says to every row: (rows, outputs) in float64, regression in units of the targets.

        Parameters
        ----------
        table : frame of pandas or polars, Arrow table, dict of columns, list of dicts, 2-d array; or the path of a file
            Raw rows with the columns of training, by name; arrays by place, with dates as days since 1970. Texts are
            read as cells of a file.
        missing : str, optional
            "error", "drop" (no answer to the row) or "mean"; by default as the model was trained.
        unseen : str, optional
            "error" or "zero", for categories that training did not see; by default as the model was trained.
        by_position : bool
            Take the columns in the order of the training data, whatever their names.
        **reading
            How a file is read, as of `lamina.train`: sheet="Data", header_line=4, encoding="latin-2", ...

        Returns
        -------
        array, (rows, outputs)
            NaN for rows that the model leaves out because a value is missing.

        Notes
        -----
        What the program tells beside its answers goes to the logger "lamina". Warnings are values that training did not
        see, odd cells and rows without an answer. What was filled in is information.
        """
        outputs: Array = self._answers(table, backend, threads, missing, unseen, by_position, reading)["outputs"]
        return outputs

    def predict(
        self,
        table: Any,
        *,
        backend: str = "auto",
        threads: int | None = None,
        missing: str = "",
        unseen: str = "",
        by_position: bool = False,
        **reading: Any,
    ) -> Array:
        """The class of every row, or the values of the targets; parameters and notes as of `predict_outputs`.

        Returns
        -------
        array, (rows,) of classes; or (rows,) or (rows, targets) of float64
            Classes have the type of the column that `lamina.train` was given, and None where there is no answer. Models
            of files answer with names (str) and "".
        """
        answers = self._answers(table, backend, threads, missing, unseen, by_position, reading)
        if self.classes:
            found: Array = answers["classes"].ravel()
            if self._class_values is None:
                return np.array([*self.classes, ""])[found]
            if (found >= 0).all():
                return self._class_values[found]
            return np.array([*self._class_values.tolist(), None], dtype=object)[found]
        outputs: Array = answers["outputs"]
        return outputs.ravel() if outputs.shape[1] == 1 else outputs

    def rows(self) -> RowModel:
        """For one row of numbers at a time, with as little around it as possible."""
        return RowModel(_core.ModelRows(self._core))

    def __getstate__(self) -> tuple[bytes, Array | None]:
        return to_bytes(self._core), self._class_values

    def __setstate__(self, state: tuple[bytes, Array | None]) -> None:
        content, self._class_values = state
        self._core = from_bytes(content)

    def __repr__(self) -> str:
        return f"Model({self._core.shape_text}, classes={self.classes}, columns={len(self.columns)})"


class RowModel:
    """Answers for one raw row of numbers; thread-safe."""

    def __init__(self, core: _core.ModelRows) -> None:
        self._call = core.__call__
        self.inputs = core.inputs
        self.outputs = core.outputs

    def __call__(self, row: Array, out: Array | None = None) -> Array:
        """The outputs for ``row``, a dense array of ``inputs`` float64, NaN for what is missing."""
        if out is None:
            out = np.empty(self.outputs)
        self._call(row, out)
        return out


def to_bytes(core: _core.Model) -> bytes:
    """The bytes of the model's file."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        core.save(path)
        with open(path, "rb") as file:
            return file.read()


def from_bytes(content: bytes) -> _core.Model:
    """The model of such bytes."""
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(content)
        file.flush()
        return _core.Model.load(file.name)
