"""Networks learned by gradients: epochs of minibatches or L-BFGS, with scikit-learn's rules and callbacks."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, Options

from . import _core
from ._arrays import Array
from ._base import _Estimator
from ._fitting import Optimizer, Rows, Watch
from ._lbfgs import Minimum, minimise, warn_not_converged
from ._network import Network
from ._parameters import RANDOM_STATE, Attribute, Parameter, choice, or_auto, real, whole, yes_or_no

try:  # scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks of scikit-learn are not there before its version 1.9."""

    def with_callbacks(method: Any) -> Any:
        """As it is."""
        return method


_LBFGS = "lbfgs"  # SciPy's, no update rule
_DECAY_APART = " and ".join(f'"{name}"' for name in _core.optimizers() if _core.update_rule(name)["decay_apart"])
_INTERRUPTED = "Training interrupted by user."


class _NetworkEstimator(CallbackSupportMixin, _Estimator):
    """What all estimators of such networks share. Subclasses say which layers, which targets and what an answer is."""

    _parameters = {
        "random_state": RANDOM_STATE._replace(
            text="The same number: the same network on the same machine with as many threads."
        ),
        "precision": choice(
            *("auto", "f32", "f64", "bf16"), text='Type of the network; "auto" is f32, and f64 for "lbfgs".'
        ),
        "solver": choice(
            *dict.fromkeys(("adam", "sgd", _LBFGS, *_core.optimizers())),
            text='"lbfgs" (SciPy\'s) takes all rows at once, in float64 unless ``precision`` says otherwise.',
        ),
        "alpha": real(0, f"Strength of the L2 penalty of weights; of {_DECAY_APART} the decoupled decay."),
        "batch_size": or_auto(whole(1, 'Rows of a minibatch; "auto" is min(200, rows).')),
        "learning_rate": choice(
            *("constant", "invscaling", "adaptive"), text='As scikit-learn\'s, of every solver but "lbfgs".'
        ),
        "learning_rate_init": real(0, closed="neither"),
        "power_t": real(0, 'Exponent of "invscaling".'),
        "max_iter": whole(1, 'Epochs at most; iterations of "lbfgs".'),
        "shuffle": yes_or_no(),
        "tol": real(0),
        "verbose": Parameter("bool", "Prints the loss of every epoch.", ["verbose"]),
        "warm_start": yes_or_no("Another ``fit`` goes on from the weights there are."),
        "momentum": real(0, 'For "sgd" and "nesterov".', most=1),
        "nesterovs_momentum": yes_or_no('Makes "sgd" with momentum "nesterov".'),
        "early_stopping": yes_or_no(
            "Watches ``validation_fraction`` of the rows, or ``eval_set``, and keeps the best weights."
        ),
        "validation_fraction": real(0, most=1),
        "beta_1": real(0, 'For "adam" and its kin.', most=1),
        "beta_2": real(0, 'For "adam" and its kin.', most=1),
        "epsilon": real(0, 'For "adam" and its kin.', closed="neither"),
        "n_iter_no_change": Parameter(
            "int or infinity",
            "Epochs without an improvement of ``tol`` before training stops.",
            [Interval(Integral, 1, None, closed="left"), Options(Real, {np.inf})],
        ),
        "max_fun": whole(1, 'Calls of the loss by "lbfgs" at most.'),
        "callbacks": Parameter(
            "callable, list of callable or None",
            "Called after every epoch with a dict (epoch, train_loss, validation_loss, ...); True ends training. The "
            "estimator then answers as after that epoch.",
            [None, callable, "array-like"],
        ),
    }
    _results = {
        "n_layers_": Attribute("int"),
        "n_iter_": Attribute("int"),
        "t_": Attribute("int"),
        "loss_": Attribute("float"),
        "best_loss_": Attribute("float"),
        "loss_curve_": Attribute("list of float"),
        "validation_loss_curve_": Attribute("list of float or None", "Losses of the rows watched."),
        "validation_scores_": Attribute("list of float or None"),
        "best_validation_score_": Attribute("float or None"),
    }

    # What subclasses define.

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        """The network's text; ``data`` is None while nothing is trained."""
        raise NotImplementedError

    def _place(self, network: Network, data: _core.Dataset, seed: int) -> None:
        """What first weights depend on data."""

    def _require_classes(self, y: Any, classes: Any, incremental: bool) -> None:
        """ValueError where a later call is about other classes than the first one."""

    # Fitting.

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None, soft_target: Any = None
    ) -> Any:
        """Fits the network.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            Copied while it is scaled. Sparse matrices become dense batch by batch for perceptrons, as a whole for
            networks of distances (up to 4 GiB).
        y : array, (rows,) of classes, or (rows, classes) of 0 and 1; of numbers (rows,) or (rows, targets)
        sample_weight : array, (rows,), optional
            How much a row counts in the loss, beside ``class_weight``. Rows of weight 0 are left out.
        eval_set : (X, y) or [(X, y)], optional
            Validation rows, for ``validation_loss_curve_`` and early stopping. The last pair of a list decides, as in
            XGBoost. Refused with ``solver="lbfgs"``, which has no epochs.
        soft_target : array, (rows, classes) or (rows,) or (rows, targets), optional
            A teacher's answers, learned in the place of ``y``: probabilities in the order of the sorted classes, or
            numbers. ``y`` still names the classes, and scores validation rows.

        Returns
        -------
        self

        Raises
        ------
        lamina.DivergedError
            Where the loss or a weight is no longer finite, which scikit-learn trains on with; an ArithmeticError that
            names epoch, step and remedy.
        """
        return self._fit(X, y, sample_weight, eval_set, soft_target=soft_target)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        incremental: bool = False,
        classes: Any = None,
        soft_target: Any = None,
    ) -> Any:
        first = not hasattr(self, "_network") or (not self.warm_start and not incremental)
        self._refuse_unwatched(eval_set)
        if incremental and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")
        if not first:
            self._require_classes(y, classes, incremental)
        rows, outputs, total = self._checked_rows(
            X, y, sample_weight, first, classes, soft_target=soft_target
        )
        if rows.weights is not None:
            rows.weights = rows.weights * (len(rows.weights) / rows.weights.sum())
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        watched = self._eval_rows(eval_set, outputs)
        if self.early_stopping and watched is None:
            rows, watched = self._split(rows, random)
        if first:
            self._find_scalings(rows)
        dtype = self._dtype()
        train = self._scaled(rows.taught()).dataset(self._x_scaling, dtype, outputs)
        validation = None if watched is None else self._scaled(watched).dataset(self._x_scaling, dtype, outputs)
        loss, output = self._output()
        if first:
            self._make_network(self._starts(rows, train, dtype, outputs), outputs, output, dtype, seed)
        self._train(train, validation, rows, watched, loss, total, seed, incremental)
        self._prepare_answers()
        return self

    def _refuse_unwatched(self, eval_set: Any) -> None:
        """L-BFGS has no epochs: what is asked for after each would not happen."""
        if isinstance(eval_set, list) and not eval_set:
            raise ValueError("eval_set is an empty list: give (X, y), or a list of them whose last one decides")
        given = {
            "eval_set": eval_set is not None,
            "early_stopping": self.early_stopping,
            "callbacks": bool(self._callbacks_given()) or hasattr(self, "_skl_callbacks"),
        }
        refused = [name for name, is_given in given.items() if is_given]
        if self.solver == "lbfgs" and refused:
            raise ValueError(f'solver="lbfgs" has no epochs, so {" and ".join(refused)} cannot be obeyed: use another solver')

    def _starts(self, rows: Rows, train: _core.Dataset, dtype: str, outputs: int) -> _core.Dataset:
        """The rows that first weights may depend on."""
        return train

    def _make_network(self, train: _core.Dataset, outputs: int, output: str, dtype: str, seed: int) -> None:
        self._network = Network(
            self._layers(train, outputs, output, seed),
            self._features,
            dtype=dtype,
            initialization="glorot_uniform",
            seed=seed,
        )
        self._place(self._network, train, seed)
        self._optimizer: Optimizer | None = None
        self.n_layers_ = len(self._network.layers) + 1
        self.t_ = 0
        self.loss_curve_: list[float] = []
        self._watch_kept: Watch | None = None

    def _train(
        self,
        train: _core.Dataset,
        validation: _core.Dataset | None,
        rows: Rows,
        watched: Rows | None,
        loss: str,
        total_weight: float,
        seed: int,
        incremental: bool,
    ) -> None:
        loss_scale = 0.5 if loss == "mse" else 1.0
        if self.solver == "lbfgs":
            found = self._minimise(train, rows, loss, loss_scale, total_weight)
            if found.interrupted:
                warnings.warn(_INTERRUPTED, stacklevel=4)
            elif found.why_not:
                warn_not_converged("lbfgs", found.why_not)
            return
        batch = min(200 if self.batch_size == "auto" else int(self.batch_size), len(train))
        if self._optimizer is None or not incremental:
            self._optimizer = Optimizer(self._rule(loss_scale, batch), self.learning_rate, self.power_t)
        kept = self._watch_kept if incremental else None
        watch = kept or Watch(
            tol=self.tol,
            patience=self.n_iter_no_change,
            by_validation=self.early_stopping,
            max_iter=self.max_iter,
            score=None if watched is None else self._scorer(watched, loss),
            loss_scale=loss_scale,
            verbose=bool(self.verbose),
            callbacks=self._callbacks_given(),
            epoch_done=self._forget_answers,
        )
        context = None if incremental else self._callback_context()
        if context is not None:
            watch.callbacks = (*watch.callbacks, self._epochs_told_to(context))
        if incremental:
            watch.max_iter, watch.callbacks = watch.epochs + 1, self._callbacks_given()
            watch.epoch_done = self._forget_answers
            watch.told_to_stop = watch.stuck = False  # this call is one epoch whatever the last one was told
        done = self._optimizer.run(
            self._network,
            train,
            validation,
            watch,
            {
                "loss": loss,
                "batch": batch,
                "shuffle": bool(self.shuffle),
                "precision": "bf16" if self.precision == "bf16" else "exact",
                "seed": seed,
                "backend": self._backend(),
                "threads": self.threads,
            },
        )
        self._keep(watch, len(train), incremental)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)
        if not done:
            warnings.warn(_INTERRUPTED, stacklevel=4)
        elif not incremental and watch.epochs == self.max_iter and not watch.stuck and not watch.told_to_stop:
            warn_not_converged("Stochastic Optimizer", f"Maximum iterations ({self.max_iter}) reached")

    def _minimise(self, train: _core.Dataset, rows: Rows, loss: str, loss_scale: float, total_weight: float) -> Minimum:
        found = minimise(
            self._network,
            train,
            rows.weights,
            loss=loss,
            loss_scale=loss_scale,
            penalty=self.alpha / total_weight,
            max_iter=self.max_iter,
            max_fun=self.max_fun,
            tol=self.tol,
            threads=self.threads,
        )
        self.loss_: float = found.loss
        self.best_loss_: float | None = found.loss
        self.n_iter_ = found.iterations
        return found

    def _keep(self, watch: Watch, rows: int, incremental: bool) -> None:
        watch.callbacks = ()  # what was given stays a parameter, not a result
        watch.score = watch.epoch_done = None
        self._watch_kept = watch if incremental else None
        self.n_iter_ = watch.epochs
        self.t_ += rows * (1 if incremental else watch.epochs)
        self.loss_curve_ = [*self.loss_curve_, *watch.loss_curve] if self.warm_start and not incremental else list(
            watch.loss_curve
        )
        self.loss_ = self.loss_curve_[-1] if self.loss_curve_ else np.nan
        self.best_loss_ = None if self.early_stopping else watch.best_loss
        self.validation_scores_ = list(watch.validation_scores) if self.early_stopping else None
        self.best_validation_score_ = watch.best_score if self.early_stopping else None
        self.validation_loss_curve_ = list(watch.validation_losses) or None

    def _rule(self, loss_scale: float, batch: int) -> dict[str, Any]:
        # scikit-learn's squared error is half of the library's: so are the gradients, and the rate is for its own.
        solver = "nesterov" if self.solver == "sgd" and self.nesterovs_momentum and self.momentum > 0 else self.solver
        rule = _core.update_rule(solver)
        decay = self.alpha if rule["decay_apart"] else self.alpha / batch / loss_scale
        return {
            "optimizer": solver,
            "learning_rate": self.learning_rate_init * (loss_scale if rule["grows_with_gradient"] else 1.0),
            "momentum": self.momentum if rule["momentum"] else 0.0,
            "weight_decay": decay,
            "beta1": self.beta_1,
            "beta2": self.beta_2,
            "epsilon": self.epsilon / loss_scale,
        }

    def _callbacks_given(self) -> tuple[Any, ...]:
        if self.callbacks is None:
            return ()
        return tuple(self.callbacks) if hasattr(self.callbacks, "__iter__") else (self.callbacks,)

    def _callback_context(self) -> Any:
        """scikit-learn's context of callbacks, begun; None where nobody listens."""
        if not hasattr(self, "_skl_callbacks"):
            return None
        context = self._init_callback_context(max_subtasks=self.max_iter)
        context.call_on_fit_task_begin(estimator=self)
        return context

    def _epochs_told_to(self, context: Any) -> Any:
        def epoch_done(record: dict[str, Any]) -> bool:
            epoch = context.subcontext(task_name="epoch")
            epoch.call_on_fit_task_begin(estimator=self)
            return bool(epoch.call_on_fit_task_end(estimator=self, metadata=record))

        return epoch_done

    def _dtype(self) -> str:
        if self.precision == "auto":
            return "f64" if self.solver == "lbfgs" else "f32"
        return "f64" if self.precision == "f64" else "f32"

    def _backend(self) -> str:
        return str(self.device)

    def _split(self, rows: Rows, random: np.random.RandomState) -> tuple[Rows, Rows]:
        numbers = np.arange(rows.x.shape[0])
        classes = None if rows.labels is None else self.classes_[rows.labels]
        train, held = train_test_split(
            numbers, random_state=random, test_size=self.validation_fraction, stratify=classes
        )
        if len(held) < 2:
            raise ValueError(
                "The validation set is too small. Increase 'validation_fraction' or the size of your dataset."
            )
        return rows.take(train), rows.take(held)

    def _eval_rows(self, eval_set: Any, outputs: int) -> Rows | None:
        if eval_set is None:
            return None
        pair = eval_set[-1] if isinstance(eval_set, list) else eval_set  # the last one decides, as in XGBoost
        x = self._check_x(pair[0], reset=False)
        targets, labels, _ = self._encode_targets(np.asarray(pair[1]), False, None)
        return Rows(x, targets, labels, None)

    def _scorer(self, watched: Rows, loss: str) -> Any:
        if watched.weights is not None:
            return lambda record: -record.validation_loss  # the only one that weights count in
        if watched.labels is not None:
            return lambda record: record.validation_accuracy
        if loss != "mse":
            return lambda record: -record.validation_loss
        targets = self._scaled(watched).targets
        assert targets is not None
        variance = float(targets.var(axis=0).sum()) or 1.0
        return lambda record: 1.0 - record.validation_loss / variance
