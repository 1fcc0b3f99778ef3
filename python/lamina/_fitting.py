"""What fitting an estimator is made of: scaling, the loop over epochs with scikit-learn's rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Callable

import numpy as np

from . import _core
from ._arrays import Array, as_matrix, dtype_of, threads_of
from ._network import Network
from ._sparse import Scaling, compressed, is_sparse, scaling_of

STOP, BEST = 1, 2  # what an epoch's callback answers to the library


@dataclass
class Moments:
    """What scalings are made of. Those of other rows can be added."""

    weight: float
    mean: Array
    squares: Array  # sums of squared distances from the mean
    least: float
    greatest: float
    precision: float  # eps of the rows' type

    @classmethod
    def of(cls, x: Array, weights: Array | None) -> Moments:
        """Those of the columns of x, in double precision."""
        mean = np.average(x, axis=0, weights=weights) if weights is not None else x.mean(axis=0, dtype=np.float64)
        mean = np.asarray(mean, np.float64)
        squares = np.zeros_like(mean)
        block = max(1, (1 << 20) // max(1, x.shape[1]))
        for begin in range(0, x.shape[0], block):
            apart = x[begin : begin + block] - mean
            rows = None if weights is None else weights[begin : begin + block]
            squares += np.einsum("ij,ij->j", apart, apart) if rows is None else rows @ (apart * apart)
        _require_scalable(x if weights is None else x[weights > 0], squares)
        weight = float(x.shape[0] if weights is None else weights.sum())
        precision = float(np.finfo(x.dtype).eps)
        return cls(weight, mean, squares, float(x.min(initial=np.inf)), float(x.max(initial=-np.inf)), precision)

    def __add__(self, other: Moments) -> Moments:
        weight = self.weight + other.weight
        share = other.weight / weight
        apart = other.mean - self.mean
        return Moments(
            weight,
            self.mean + share * apart,
            self.squares + other.squares + self.weight * share * apart**2,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
            max(self.precision, other.precision),
        )

    def scaling(self) -> Scaling:
        """Mean and standard deviation of every column; a constant column has the scale 1.

        Columns whose spread is only that of rounding count as constant.
        """
        scale = np.sqrt(self.squares / self.weight)
        scale[scale <= 10 * self.precision * np.abs(self.mean)] = 1.0
        scale[scale == 0] = 1.0
        return self.mean, scale


def _require_scalable(x: Array, squares: Array) -> None:
    """ValueError for columns of x whose squares are beyond double precision, on either side."""
    for column in np.flatnonzero(~np.isfinite(squares)):
        raise ValueError(f"Column {column} has values too large to scale: divide them by a number of their size.")
    for column in np.flatnonzero(squares < 1e-290):
        if x[:, column].min() < x[:, column].max():
            raise ValueError(f"Column {column} has values too small to scale: multiply them by a number first.")


def weighted_scaling(x: Array, weights: Array | None) -> Scaling:
    """`Moments.scaling` of the columns of x."""
    return Moments.of(x, weights).scaling()


def minmax_scaling(x: Array) -> Scaling:
    """Least value and span of every column of x; a constant column has the scale 1."""
    least = np.asarray(x.min(axis=0), np.float64)
    span = np.asarray(x.max(axis=0), np.float64) - least
    span[span == 0] = 1.0
    return least, span


def stays_as_it_is(how: str, least: float, greatest: float) -> bool:
    """Whether inputs in that range are not scaled: "none", or "auto" and all of them in [-1, 1]."""
    return how == "none" or (how == "auto" and -1 <= least and greatest <= 1)


def input_scaling(x: Any, weights: Array | None, how: str, auto: str = "standardize") -> Scaling | None:
    """None where the numbers stay as they are; `auto` is what "auto" is elsewhere. Zeros of sparse x stay zeros."""
    if is_sparse(x):
        return scaling_of(x, how)
    if x.size and stays_as_it_is(how, x.min(), x.max()):
        return None
    kind = auto if how == "auto" else how
    return minmax_scaling(x) if kind == "minmax" else weighted_scaling(x, weights)


@dataclass
class Rows:
    """Rows to train on or to be watched, checked and encoded."""

    x: Any  # an array, or sparse: compressed rows as `_sparse.canonical` gives them
    targets: Array | None  # (rows, outputs), or
    labels: Array | None  # a class a row
    weights: Array | None
    groups: Array | None = None  # whole numbers, for who leaves rows out by them
    times: Array | None = None  # whole numbers in the order of the times, for who asks earlier rows about later ones
    soft: Array | None = None  # (rows, outputs): what a teacher says, learned in the place of targets and labels

    def take(self, rows: Array) -> Rows:
        """Some of them."""

        def part(whole: Array | None) -> Array | None:
            return None if whole is None else whole[rows]

        parts = (self.targets, self.labels, self.weights, self.groups, self.times, self.soft)
        return Rows(self.x[rows], *map(part, parts))

    def taught(self) -> Rows:
        """The same with the teacher's numbers as targets."""
        return self if self.soft is None else replace(self, targets=self.soft, labels=None, soft=None)

    def dataset(self, scaling: Scaling | None, dtype: str, outputs: int) -> _core.Dataset:
        """Scaled copies for the library."""
        targets = None if self.targets is None else np.ascontiguousarray(self.targets, dtype_of(dtype))
        labels = None if self.labels is None else np.ascontiguousarray(self.labels, np.int32)
        weights = None if self.weights is None else np.ascontiguousarray(self.weights, np.float64)
        if is_sparse(self.x):
            return _core.sparse_dataset(compressed(self.x, scaling, dtype), targets, labels, outputs, weights)
        x, x_dtype = as_matrix(self.x, "X")
        offsets, scales = scaling or (None, None)
        return _core.Dataset(x, x_dtype, offsets, scales, dtype, targets, labels, outputs, weights)


@dataclass
class Watch:
    """scikit-learn's rules for when training has gone on long enough, and the curves that it keeps."""

    tol: float
    patience: float
    by_validation: bool
    max_iter: int
    first_epoch: int = 0
    score: Callable[[_core.EpochRecord], float] | None = None
    loss_scale: float = 1.0
    verbose: bool = False
    callbacks: tuple[Callable[[dict[str, Any]], Any], ...] = ()
    epoch_done: Callable[[], None] | None = None  # before the callbacks
    loss_curve: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    validation_scores: list[float] = field(default_factory=list)
    best_loss: float = np.inf
    best_score: float = -np.inf
    without_improvement: int = 0
    epochs: int = 0
    stuck: bool = False  # no improvement for `patience` epochs
    told_to_stop: bool = False  # by a callback

    def __call__(self, record: _core.EpochRecord) -> int:
        """One epoch is done; what the library shall do."""
        self.epochs += 1
        answer = 0
        loss = record.train_loss * self.loss_scale
        self.loss_curve.append(loss)
        if record.validation_loss == record.validation_loss:
            self.validation_losses.append(record.validation_loss * self.loss_scale)
        if self.verbose:
            print(f"Iteration {self.epochs}, loss = {loss:.8f}")
        if self.by_validation and self.score is not None:
            score = self.score(record)
            self.validation_scores.append(score)
            improved = score >= self.best_score + self.tol
            if score > self.best_score:
                self.best_score = score
                answer = BEST
        else:
            improved = loss <= self.best_loss - self.tol
            self.best_loss = min(self.best_loss, loss)
        self.without_improvement = 0 if improved else self.without_improvement + 1
        if self.epoch_done is not None:
            self.epoch_done()
        told = [callback(self._record(record, loss)) for callback in self.callbacks]
        self.told_to_stop = any(isinstance(said, (bool, np.bool_)) and bool(said) for said in told)
        self.stuck = self.without_improvement > self.patience
        return answer | (STOP if self.stuck or self.told_to_stop else 0)

    def _record(self, record: _core.EpochRecord, loss: float) -> dict[str, Any]:
        return {
            "epoch": self.epochs,
            "epochs": self.max_iter,
            "train_loss": loss,
            "train_accuracy": record.train_accuracy,
            "validation_loss": record.validation_loss * self.loss_scale,
            "validation_accuracy": record.validation_accuracy,
            "learning_rate": record.learning_rate,
            "train_seconds": record.train_seconds,
            "samples_per_second": record.samples_per_second,
        }


@dataclass
class Optimizer:
    """A rule of the library with scikit-learn's ways to change its learning rate, and what it knows so far."""

    rule: dict[str, Any]
    learning_rate: str  # "constant", "invscaling", "adaptive"
    power_t: float
    state: _core.OptimizerState | None = None
    samples: int = 0  # seen so far
    rate: float = 0.0
    runs: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "state": None}  # moments are not kept in files: they are found again in some steps

    def run(
        self, network: Network, train: _core.Dataset, validation: _core.Dataset | None, watch: Watch, options: dict[str, Any]
    ) -> bool:
        """Trains until `watch` says stop or all epochs are done; False after Ctrl-C."""
        backend, threads = options.pop("backend"), threads_of(options.pop("threads"))
        seed = options.pop("seed")
        if self.rate == 0:
            self.rate = self.rule["learning_rate"]
        while watch.epochs < watch.max_iter and not watch.told_to_stop:
            if self.learning_rate == "invscaling":
                self.rate = self.rule["learning_rate"] / (self.samples + 1) ** self.power_t
            left = watch.max_iter - watch.epochs
            before = watch.epochs
            given = {
                **self.rule,
                **options,
                "learning_rate": self.rate,
                "epochs": 1 if self.learning_rate == "invscaling" else left,
                "seed": (seed + self.runs) % 2**63,
            }
            self.runs += 1
            interrupted, self.state = _core.fit(
                network._core, train, validation, given, watch, self.state, backend, threads
            )
            self.samples += len(train) * (watch.epochs - before)
            if interrupted:
                return False
            if watch.stuck:
                if self.learning_rate != "adaptive" or self.rate <= 1e-6:
                    break
                self.rate /= 5.0
                watch.without_improvement = 0
                watch.stuck = False
        return True
