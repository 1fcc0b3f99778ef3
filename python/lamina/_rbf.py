"""Networks of distance neurons learned by gradients."""

from __future__ import annotations

from typing import Any

from ._layers import _Distances
from ._parameters import documented, keep
from ._tasks import _Classifier, _Regressor


@documented
class RBFClassifier(_Distances, _Classifier):
    """Network of distance neurons for classes: every neuron answers to rows near its center."""

    def __init__(
        self,
        n_centers: int = 100,
        *,
        metric: str = "manhattan",
        kernel: str = "triangle",
        radius: float | str = "auto",
        train_radius: bool = True,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.01,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        max_fun: int = 15000,
        class_weight: Any = None,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
        callbacks: Any = None,
    ) -> None:
        keep(self, locals())


@documented
class RBFRegressor(_Distances, _Regressor):
    """Network of distance neurons for numbers: every neuron answers to rows near its center."""

    def __init__(
        self,
        n_centers: int = 100,
        *,
        metric: str = "manhattan",
        kernel: str = "triangle",
        radius: float | str = "auto",
        train_radius: bool = True,
        loss: str = "squared_error",
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.01,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Any = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        max_fun: int = 15000,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
        callbacks: Any = None,
    ) -> None:
        keep(self, locals())
