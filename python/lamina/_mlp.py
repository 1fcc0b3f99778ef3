"""Multi-layer perceptrons; see docs/python.md for what is the same as scikit-learn's and what is not."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import StrOptions

from ._layers import _Perceptron
from ._tasks import _LOSSES, _Classifier, _Regressor

_CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]
_LOSS = [StrOptions(set(_LOSSES))]


class MLPClassifier(_Perceptron, _Classifier):
    """Multi-layer perceptron for classes, with the parameters of scikit-learn's.

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
    activation : {"relu", "logistic", "tanh", "identity", ...}
        Any of ``lamina.activations()``, too.
    solver : {"adam", "sgd", "lbfgs", "adamw", "nesterov", "rmsprop", "lion"}
        "lbfgs" (SciPy's) takes all rows at once, in float64 unless ``precision`` says otherwise.
    alpha : float
        Strength of the L2 penalty of weights; of "adamw" and "lion" the decoupled decay.
    batch_size : int or "auto"
        Rows of a minibatch; "auto" is min(200, rows).
    learning_rate : {"constant", "invscaling", "adaptive"}
        As scikit-learn's, of every solver but "lbfgs".
    learning_rate_init : float
    power_t : float
        Exponent of "invscaling".
    max_iter : int
        Epochs at most; iterations of "lbfgs".
    shuffle : bool
    random_state : int, RandomState or None
        The same number gives the same network on the same machine with as many threads.
    tol : float
    verbose : bool
        Prints the loss of every epoch.
    warm_start : bool
        Another ``fit`` goes on from the weights there are.
    momentum, nesterovs_momentum
        Of "sgd".
    early_stopping : bool
        Watches ``validation_fraction`` of the rows, or those of ``eval_set``, and keeps the best weights.
    validation_fraction : float
    beta_1, beta_2, epsilon : float
        Of "adam" and its kin.
    n_iter_no_change : int
        Epochs without an improvement of ``tol`` before training stops.
    max_fun : int
        Calls of the loss by "lbfgs" at most.
    class_weight : dict, "balanced" or None
        Weight of every class, multiplied with the sample weights. ``partial_fit`` refuses "balanced".
    scale : {"auto", "standardize", "none"}
        What happens to the columns of X before the network: "auto" leaves numbers alone that all lie in [-1, 1] and
        standardizes others; columns of a sparse X it divides by their largest size, and zeros stay zeros. ``coefs_``
        and ``intercepts_`` are always those for raw numbers.
    missing : {"error", "mean"}
        What a missing value in X is: refused, or the mean of its column (the most frequent text).
    unseen : {"zero", "error"}
        What a category of X is that training did not have: no category, as the program has it, or refused.
    precision : {"auto", "f32", "f64", "bf16"}
        Of the network; "auto" is f32, and f64 for "lbfgs".
    device : {"auto", "cpu", "cuda", ...}
        Where training computes; "auto" takes a GPU where there is one that is faster.
    threads : int or None
        As many as the process may use; OMP_NUM_THREADS and threadpoolctl are obeyed.
    callbacks : callable, list of callable or None
        Called after every epoch with a dict (epoch, train_loss, validation_loss, ...); True ends training. The
        estimator answers as it is after that epoch.

    Attributes
    ----------
    classes_ : array
    n_features_in_, n_outputs_, n_layers_, n_iter_, t_ : int
    loss_, best_loss_ : float
    loss_curve_ : list of float
        The mean loss of every epoch, without the penalty.
    validation_loss_curve_ : list of float or None
        Of the rows watched.
    validation_scores_, best_validation_score_
        With early stopping: accuracy (with sample weights minus the weighted loss).
    coefs_, intercepts_ : list of array
        Weights (inputs, outputs) and biases of every layer, for raw numbers.
    """

    _parameter_constraints = {**_Perceptron._parameter_constraints, "class_weight": _CLASS_WEIGHT}

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
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.class_weight = class_weight
        self.scale = scale
        self.missing = missing
        self.unseen = unseen
        self.precision = precision
        self.device = device
        self.threads = threads
        self.callbacks = callbacks


class MLPRegressor(_Perceptron, _Regressor):
    """Multi-layer perceptron for numbers, with the parameters of scikit-learn's.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "poisson", "gamma"}
        "poisson" is for counts, "gamma" for amounts above 0: the network gives the logarithm of their mean, and targets
        are divided by their mean inside.
    hidden_layer_sizes : int or sequence of int
    activation : {"relu", "logistic", "tanh", "identity", ...}
        Any of ``lamina.activations()``, too.
    solver : {"adam", "sgd", "lbfgs", "adamw", "nesterov", "rmsprop", "lion"}
        "lbfgs" (SciPy's) takes all rows at once, in float64 unless ``precision`` says otherwise.
    alpha : float
        Strength of the L2 penalty of weights; of "adamw" and "lion" the decoupled decay.
    batch_size : int or "auto"
        Rows of a minibatch; "auto" is min(200, rows).
    learning_rate : {"constant", "invscaling", "adaptive"}
        As scikit-learn's, of every solver but "lbfgs".
    learning_rate_init : float
    power_t : float
        Exponent of "invscaling".
    max_iter : int
        Epochs at most; iterations of "lbfgs".
    shuffle : bool
    random_state : int, RandomState or None
        The same number gives the same network on the same machine with as many threads.
    tol : float
    verbose : bool
        Prints the loss of every epoch.
    warm_start : bool
        Another ``fit`` goes on from the weights there are.
    momentum, nesterovs_momentum
        Of "sgd".
    early_stopping : bool
        Watches ``validation_fraction`` of the rows, or those of ``eval_set``, and keeps the best weights.
    validation_fraction : float
    beta_1, beta_2, epsilon : float
        Of "adam" and its kin.
    n_iter_no_change : int
        Epochs without an improvement of ``tol`` before training stops.
    max_fun : int
        Calls of the loss by "lbfgs" at most.
    scale : {"auto", "standardize", "none"}
        What happens to the columns of X before the network: "auto" leaves numbers alone that all lie in [-1, 1] and
        standardizes others; columns of a sparse X it divides by their largest size, and zeros stay zeros. ``coefs_``
        and ``intercepts_`` are always those for raw numbers.
    missing : {"error", "mean"}
        What a missing value in X is: refused, or the mean of its column (the most frequent text).
    unseen : {"zero", "error"}
        What a category of X is that training did not have: no category, as the program has it, or refused.
    precision : {"auto", "f32", "f64", "bf16"}
        Of the network; "auto" is f32, and f64 for "lbfgs".
    device : {"auto", "cpu", "cuda", ...}
        Where training computes; "auto" takes a GPU where there is one that is faster.
    threads : int or None
        As many as the process may use; OMP_NUM_THREADS and threadpoolctl are obeyed.
    callbacks : callable, list of callable or None
        Called after every epoch with a dict (epoch, train_loss, validation_loss, ...); True ends training. The
        estimator answers as it is after that epoch.

    Attributes
    ----------
    n_features_in_, n_outputs_, n_layers_, n_iter_, t_ : int
    loss_, best_loss_ : float
    loss_curve_ : list of float
        The mean loss of every epoch, of standardized targets and without the penalty.
    validation_loss_curve_ : list of float or None
        Of the rows watched.
    validation_scores_, best_validation_score_
        With early stopping: R², with sample weights minus the weighted loss.
    coefs_, intercepts_ : list of array
        Weights (inputs, outputs) and biases of every layer, for raw numbers.
    """

    _parameter_constraints = {**_Perceptron._parameter_constraints, "loss": _LOSS}

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
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.scale = scale
        self.missing = missing
        self.unseen = unseen
        self.precision = precision
        self.device = device
        self.threads = threads
        self.callbacks = callbacks
