"""Multi-layer perceptrons; see docs/python.md for what is the same as scikit-learn's and what is not."""

from __future__ import annotations

from typing import Any

from ._layers import _Perceptron
from ._parameters import documented, keep
from ._tasks import _Classifier, _Regressor



@documented
class MLPClassifier(_Perceptron, _Classifier):
    """Multi-layer perceptron for classes, with the parameters of scikit-learn's."""

    def __init__(
        self,
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
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
class MLPRegressor(_Perceptron, _Regressor):
    """Multi-layer perceptron for numbers, with the parameters of scikit-learn's."""

    def __init__(
        self,
        loss: str = "squared_error",
        hidden_layer_sizes: Any = (100,),
        activation: str = "relu",
        *,
        solver: str = "adam",
        alpha: float = 0.0001,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
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
