"""A progress bar for callbacks."""

from __future__ import annotations

import sys
from typing import Any, TextIO


class ProgressBar:
    """A callback that shows how far training is: tqdm's bar where it is installed (in notebooks, too), else a line.

    Parameters
    ----------
    epochs : int, optional
        How many there will be; not known where it is left out.
    file : text stream, optional
        Where the line goes; the standard error where it is left out.

    Examples
    --------
    >>> lamina.MLPClassifier(max_iter=50, callbacks=[ProgressBar(50)]).fit(x, y)  # doctest: +SKIP
    """

    def __init__(self, epochs: int | None = None, file: TextIO | None = None) -> None:
        self.epochs = epochs
        self.file = file
        self._bar: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"epochs": self.epochs, "file": None, "_bar": None}  # streams and bars stay where they are

    def __call__(self, record: dict[str, Any]) -> None:
        """One epoch is done."""
        try:
            from tqdm.auto import tqdm
        except ImportError:
            file = self.file or sys.stderr
            of = "" if self.epochs is None else f" of {self.epochs}"
            file.write(f"\repoch {record['epoch']}{of}, loss {record['train_loss']:.6g}  ")
            if record["epoch"] == self.epochs:
                file.write("\n")
            file.flush()
            return
        if self._bar is None or record["epoch"] == 1:
            self._bar = tqdm(total=self.epochs, unit="epoch", file=self.file)
        self._bar.update(record["epoch"] - self._bar.n)
        self._bar.set_postfix(loss=record["train_loss"])
        if record["epoch"] == self.epochs:
            self._bar.close()
