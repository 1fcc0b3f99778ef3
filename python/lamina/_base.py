"""Estimators with scikit-learn's contract: perceptrons and networks of distance neurons."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _core
from ._arrays import Array, as_matrix
from ._encoding import TableEncoder, needs_encoding
from ._fitting import Optimizer, Rows, Scaling, Watch, input_scaling, minimise, warn_not_converged, weighted_scaling
from ._models import Model
from ._network import BatchPredictor, Network

try:  # scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks of scikit-learn are not there before its version 1.9."""

    def with_callbacks(method: Any) -> Any:
        """As it is."""
        return method


# scikit-learn's names of what the library calls otherwise.
_ACTIVATIONS = {"logistic": "sigmoid"}
_LOSSES = {"squared_error": "mse", "absolute_error": "mae", "huber": "huber"}
_METRICS = {"manhattan": "l1", "euclidean": "l2", "sqeuclidean": "l2sq"}
_SPARSE_LIMIT_BYTES = 4 << 30


def _takes_minibatches(estimator: Any) -> bool:
    """Whether there is a partial_fit."""
    return bool(estimator.solver != "lbfgs")


class _NetworkEstimator(CallbackSupportMixin, BaseEstimator):
    """What all estimators of networks share. Subclasses say which layers, which targets and what an answer is."""

    _parameter_constraints: dict[str, list[Any]] = {
        "solver": [StrOptions({"lbfgs", *_core.optimizers()})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "learning_rate": [StrOptions({"constant", "invscaling", "adaptive"})],
        "learning_rate_init": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "nesterovs_momentum": ["boolean"],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "beta_1": [Interval(Real, 0, 1, closed="left")],
        "beta_2": [Interval(Real, 0, 1, closed="left")],
        "epsilon": [Interval(Real, 0, None, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), Options(Real, {np.inf})],
        "max_fun": [Interval(Integral, 1, None, closed="left")],
        "scale": [StrOptions({"auto", "standardize", "none"})],
        "missing": [StrOptions({"error", "mean"})],
        "precision": [StrOptions({"auto", "f32", "f64", "bf16"})],
        "device": [StrOptions(set(_core.backends()))],
        "threads": [None, Interval(Integral, 1, None, closed="left")],
        "callbacks": [None, callable, "array-like"],
    }

    # What subclasses define.

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        """The network's text; ``data`` is None while nothing is trained."""
        raise NotImplementedError

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        """Targets or labels, and the outputs of the network."""
        raise NotImplementedError

    def _output(self) -> tuple[str, str]:
        """Loss and output activation by the library's names."""
        raise NotImplementedError

    def _place(self, network: Network, data: _core.Dataset, seed: int) -> None:
        """What first weights depend on data."""

    # Fitting.

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        incremental: bool = False,
        classes: Any = None,
    ) -> Any:
        first = not hasattr(self, "_network") or (not self.warm_start and not incremental)
        if incremental and self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")
        x, y = self._check_x_y(X, y, first)
        targets, labels, outputs = self._encode_targets(y, first, classes)
        weights, total = self._weights_of(y, sample_weight, x)
        rows = Rows(x, targets, labels, weights)
        if weights is not None and (weights == 0).any():
            rows = rows.take(np.flatnonzero(weights > 0))
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        watched = self._eval_rows(eval_set, outputs)
        if self.early_stopping and watched is None:
            rows, watched = self._split(rows, random)
        if first:
            self._x_scaling = input_scaling(rows.x, rows.weights, self.scale) if self._encoder is None else None
            self._y_scaling = self._scaling_of_targets(rows)
        dtype = self._dtype()
        train = self._scaled(rows).dataset(self._x_scaling, dtype, outputs)
        validation = None if watched is None else self._scaled(watched).dataset(self._x_scaling, dtype, outputs)
        loss, output = self._output()
        if first:
            self._make_network(self._starts(rows, train, dtype, outputs), outputs, output, dtype, seed)
        self._train(train, validation, rows, watched, loss, total, seed, incremental)
        self._predictor = BatchPredictor(
            self._network,
            input_scaling=self._x_scaling,
            output_scaling=self._y_scaling,
            backend=self._prediction_backend(),
            threads=self.threads,
        )
        return self

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
        self._optimizer = None
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
            self.loss_, self.n_iter_, converged = minimise(
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
            self.best_loss_ = self.loss_
            if not converged:
                warn_not_converged(self.max_iter, "lbfgs")
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
        )
        context = None if incremental else self._callback_context()
        if context is not None:
            watch.callbacks = (*watch.callbacks, self._epochs_told_to(context))
        if incremental:
            watch.max_iter, watch.callbacks = watch.epochs + 1, self._callbacks_given()
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
            warnings.warn("Training interrupted by user.", stacklevel=4)
        elif not incremental and watch.epochs == self.max_iter and not watch.stuck and not watch.told_to_stop:
            warn_not_converged(self.max_iter, "Stochastic Optimizer")

    def _keep(self, watch: Watch, rows: int, incremental: bool) -> None:
        watch.callbacks = ()  # what was given stays a parameter, not a result
        watch.score = None
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
        by_gradient = solver in ("sgd", "nesterov")
        decay = self.alpha if solver in ("adamw", "lion") else self.alpha / batch / loss_scale
        return {
            "optimizer": solver,
            "learning_rate": self.learning_rate_init * (loss_scale if by_gradient else 1.0),
            "momentum": self.momentum if by_gradient else 0.0,
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

    def _prediction_backend(self) -> str:
        return "cpu" if self.device == "auto" else str(self.device)

    # Input.

    def _check_x(self, X: Any, reset: bool) -> Array:
        if reset:
            self._encoder = TableEncoder(X, self.missing) if needs_encoding(X, self.missing) else None
        if self._encoder is not None:
            names = self._encoder.check(X)
            if reset:
                self.n_features_in_ = len(names)
                if self._encoder.by_name:
                    self.feature_names_in_ = np.asarray(names, dtype=object)
            x = self._encoder.encode(X)
        else:
            x = validate_data(
                self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset, order=None
            )
            x = self._dense(x)
        if reset:
            self._features = x.shape[1]
        return x

    @staticmethod
    def _dense(x: Any) -> Array:
        if not hasattr(x, "toarray"):
            return np.asarray(x)
        size = x.shape[0] * x.shape[1] * x.dtype.itemsize
        if size > _SPARSE_LIMIT_BYTES:
            raise ValueError(
                f"X is sparse and would take {size / 2**30:.1f} GiB as the dense array that lamina needs; the limit is "
                f"{_SPARSE_LIMIT_BYTES >> 30} GiB"
            )
        return np.asarray(x.toarray())

    def _check_x_y(self, X: Any, y: Any, first: bool) -> tuple[Array, Array]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if not first and self._encoder is None and not needs_encoding(X, self.missing):
            x, y = validate_data(
                self, X, y, accept_sparse="csr", multi_output=True, dtype=[np.float64, np.float32], reset=False
            )
            return self._dense(x), y
        if needs_encoding(X, self.missing) or not first:
            x = self._check_x(X, reset=first)
            y = np.asarray(y)
            if len(y) != len(x):
                raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(x), len(y)]}")
            return x, y
        self._encoder = None
        x, y = validate_data(
            self, X, y, accept_sparse="csr", multi_output=True, dtype=[np.float64, np.float32], reset=True
        )
        x = self._dense(x)
        self._features = x.shape[1]
        return x, y

    def _weights_of(self, y: Array, sample_weight: Any, x: Array) -> tuple[Array | None, float]:
        """Weights with the mean 1 over the rows that count, or None; and the sum of those given."""
        class_weight = getattr(self, "class_weight", None)
        if sample_weight is None and class_weight is None:
            return None, float(x.shape[0])
        weights = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        if not (weights > 0).any():
            raise ValueError("Sample weights must contain at least one non-zero number: all of them are zero.")
        total = float(weights.sum())
        if class_weight is not None:
            weights = weights * compute_sample_weight(class_weight, y)
        counted = weights > 0
        return weights * (counted.sum() / weights.sum()), total

    def _split(self, rows: Rows, random: np.random.RandomState) -> tuple[Rows, Rows]:
        numbers = np.arange(rows.x.shape[0])
        train, held = train_test_split(
            numbers, random_state=random, test_size=self.validation_fraction, stratify=rows.labels
        )
        if len(held) < 2:
            raise ValueError(
                "The validation set is too small. Increase 'validation_fraction' or the size of your dataset."
            )
        return rows.take(train), rows.take(held)

    def _eval_rows(self, eval_set: Any, outputs: int) -> Rows | None:
        if eval_set is None:
            return None
        pair = eval_set[0] if isinstance(eval_set, list) else eval_set
        x = self._check_x(pair[0], reset=False)
        targets, labels, _ = self._encode_targets(np.asarray(pair[1]), False, None)
        return Rows(x, targets, labels, None)

    def _scaling_of_targets(self, rows: Rows) -> Scaling | None:
        return None

    def _scaled(self, rows: Rows) -> Rows:
        if self._y_scaling is None or rows.targets is None:
            return rows
        offsets, scales = self._y_scaling
        return Rows(rows.x, (rows.targets - offsets) / scales, None, rows.weights)

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

    # Answers.

    def _outputs_of(self, X: Any) -> Array:
        # An array as fit() saw it needs no more than the look at its shape and the library's own at its numbers.
        if (
            type(X) is np.ndarray
            and "_predictor" in self.__dict__
            and self._encoder is None
            and X.ndim == 2
            and X.dtype.kind == "f"
            and X.shape[1] == self.n_features_in_
            and X.shape[0] > 0
            and "feature_names_in_" not in self.__dict__
        ):
            return self._predictor.of_matrix(*as_matrix(X, "X"))
        check_is_fitted(self)
        return self._predictor(self._check_x(X, reset=False))

    # The parameters in scikit-learn's form.

    def _unscaled(self) -> tuple[list[Array], list[Array]]:
        """Weights and biases of the network that takes raw numbers and answers in the targets' units."""
        layers = range(len(self._network.layers))
        weights = [self._network.weights(layer).T.astype(np.float64) for layer in layers]
        biases = [
            np.zeros(self._network.weights(layer).shape[0]) if bias is None else bias.astype(np.float64)
            for layer in layers
            for bias in (self._network.bias(layer),)
        ]
        if self._x_scaling is not None:
            offsets, scales = self._x_scaling
            weights[0] = weights[0] / scales[:, None]
            biases[0] = biases[0] - offsets @ weights[0]
        if self._y_scaling is not None:
            offsets, scales = self._y_scaling
            weights[-1] = weights[-1] * scales
            biases[-1] = biases[-1] * scales + offsets
        return weights, biases

    def to_model(self) -> Model:
        """The fitted network with its preprocessing, as the program, `lamina.Model` and ONNX know it.

        Columns are called as in the frame that was fitted, or "x0", "x1", ...
        """
        from ._encoding import model_of

        check_is_fitted(self)
        return model_of(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _Classifier(ClassifierMixin, _NetworkEstimator):
    """Targets of classes: two are one output, more are one each, columns of 0 and 1 are one each, too."""

    def _output(self) -> tuple[str, str]:
        if self._multilabel or self.n_outputs_ == 1:
            return "binary_cross_entropy", "sigmoid"
        return "cross_entropy", "softmax"

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to"
                " (n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=4,
            )
            y = column_or_1d(y)
        check_classification_targets(y)
        kind = type_of_target(y)
        if kind == "multiclass-multioutput":
            raise ValueError("y has several columns of more than two classes: only columns of 0 and 1 are supported")
        if first:
            self._multilabel = kind == "multilabel-indicator"
            self.classes_ = np.unique(classes) if classes is not None else unique_labels(y)
            self.n_outputs_ = len(self.classes_) if self._multilabel or len(self.classes_) > 2 else 1
            self.out_activation_ = "softmax" if self.n_outputs_ > 1 and not self._multilabel else "logistic"
        if self._multilabel:
            targets = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
            if targets.ndim != 2 or targets.shape[1] != self.n_outputs_:
                raise ValueError(f"y has the shape {targets.shape}; {self.n_outputs_} columns of 0 and 1 were fitted")
            return targets, None, self.n_outputs_
        labels = np.searchsorted(self.classes_, y)
        labels[labels == len(self.classes_)] = 0
        if (self.classes_[labels] != y).any():
            raise ValueError(
                f"`y` has classes not in `self.classes_`. `self.classes_` has {self.classes_}. 'y' has {np.unique(y)}."
            )
        return None, labels, self.n_outputs_

    def predict_proba(self, X: Any) -> Array:
        """Probability of every class.

        Parameters
        ----------
        X : array or table, (rows, features)

        Returns
        -------
        array, (rows, classes)
            In the order of ``classes_``; float32 unless the network is float64. Of columns of 0 and 1 those of the 1.
        """
        outputs = self._outputs_of(X)
        if self._multilabel:  # never sure: rounding alone would make them 0 or 1
            limits = np.finfo(outputs.dtype)
            return np.clip(outputs, limits.tiny, 1 - limits.epsneg)
        if outputs.shape[1] > 1:
            return outputs
        if len(self.classes_) == 1:
            return np.ones_like(outputs)
        return np.hstack([1 - outputs, outputs])

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithms of `predict_proba`."""
        probability = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            logarithms: Array = np.log(probability)
        return logarithms

    def predict(self, X: Any) -> Array:
        """The class of every row.

        Parameters
        ----------
        X : array or table, (rows, features)

        Returns
        -------
        array, (rows,), or (rows, classes) of 0 and 1 where it was fitted so
        """
        outputs = self._outputs_of(X)
        if self._multilabel:
            return (outputs > 0.5).astype(int)
        if outputs.shape[1] > 1:
            labels = outputs.argmax(axis=1)
        else:
            labels = (outputs[:, 0] > 0.5).astype(int) if len(self.classes_) > 1 else np.zeros(len(outputs), int)
        classes: Array = self.classes_[labels]
        return classes

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Any:
        """Fits the network.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            Copied while it is scaled: what happens to it later does not matter.
        y : array, (rows,) of classes, or (rows, classes) of 0 and 1
        sample_weight : array, (rows,), optional
            How much a row counts in the loss, beside ``class_weight``. Rows of weight 0 are left out.
        eval_set : (X, y) or [(X, y)], optional
            Rows to be watched: their losses are ``validation_loss_curve_``, and early stopping takes them.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, eval_set)

    @available_if(_takes_minibatches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One more pass over some rows, going on from the weights and the optimizer as they are.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All that there will be; needed by the first call.

        Returns
        -------
        self
        """
        if not hasattr(self, "_network") and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._fit(X, y, sample_weight, incremental=True, classes=classes)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class _Regressor(RegressorMixin, _NetworkEstimator):
    """Targets of numbers, one or several, standardized for the network."""

    def _output(self) -> tuple[str, str]:
        return _LOSSES[self.loss], "identity"

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        targets = np.asarray(y, dtype=np.float64)
        if not np.isfinite(targets).all():
            raise ValueError("Input y contains NaN, infinity or a value too large")
        if first:
            self.n_outputs_ = 1 if targets.ndim == 1 else targets.shape[1]
            self.out_activation_ = "identity"
        targets = targets.reshape(len(targets), -1)
        if targets.shape[1] != self.n_outputs_:
            raise ValueError(f"y has {targets.shape[1]} columns, {self.n_outputs_} were fitted")
        return targets, None, self.n_outputs_

    def _scaling_of_targets(self, rows: Rows) -> Scaling | None:
        assert rows.targets is not None
        return weighted_scaling(rows.targets, rows.weights)

    def predict(self, X: Any) -> Array:
        """The values of every row.

        Parameters
        ----------
        X : array or table, (rows, features)

        Returns
        -------
        array, (rows,) or (rows, targets), float64
        """
        outputs = self._outputs_of(X)
        return outputs.ravel() if outputs.shape[1] == 1 else outputs

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, eval_set: Any = None) -> Any:
        """Fits the network.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            Copied while it is scaled: what happens to it later does not matter.
        y : array, (rows,) or (rows, targets)
        sample_weight : array, (rows,), optional
            How much a row counts in the loss. Rows of weight 0 are left out.
        eval_set : (X, y) or [(X, y)], optional
            Rows to be watched: their losses are ``validation_loss_curve_``, and early stopping takes them.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, eval_set)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @available_if(_takes_minibatches)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """One more pass over some rows, going on from the weights and the optimizer as they are.

        The scaling of inputs and targets is that of the first call.
        """
        return self._fit(X, y, sample_weight, incremental=True)


class _Perceptron(_NetworkEstimator):
    """Hidden layers of products."""

    _parameter_constraints: dict[str, list[Any]] = {
        **_NetworkEstimator._parameter_constraints,
        "hidden_layer_sizes": ["array-like", Interval(Integral, 1, None, closed="left")],
        "activation": [StrOptions({"logistic", *_core.activations()} - {"softmax"})],
    }

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        sizes = self.hidden_layer_sizes
        sizes = [int(size) for size in sizes] if hasattr(sizes, "__iter__") else [int(sizes)]
        if any(size <= 0 for size in sizes):
            raise ValueError(f"hidden_layer_sizes must be > 0, got {sizes}.")
        activation = _ACTIVATIONS.get(self.activation, self.activation)
        return ",".join([f"dot-{activation}:{size}" for size in sizes] + [f"dot-{output}:{outputs}"])

    @property
    def coefs_(self) -> list[Array]:
        """Weights of every layer, (inputs, outputs), of the network that takes raw numbers: copies."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no coefs_ before fit()")
        return self._unscaled()[0]

    @property
    def intercepts_(self) -> list[Array]:
        """Biases of every layer of the network that takes raw numbers: copies."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no intercepts_ before fit()")
        return self._unscaled()[1]


class _Distances(_NetworkEstimator):
    """One hidden layer of distances to centres, which start at rows of the data and are trained with their radii."""

    _parameter_constraints: dict[str, list[Any]] = {
        **_NetworkEstimator._parameter_constraints,
        "n_centers": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(set(_METRICS))],
        "kernel": [StrOptions({"triangle", "gaussian"})],
        "radius": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "train_radius": ["boolean"],
    }

    def _layers(self, data: _core.Dataset | None, outputs: int, output: str, seed: int) -> str:
        synapse = _METRICS[self.metric]
        if self.radius == "auto":
            distance = data.mean_distance(synapse, seed) if data is not None else 0.0
            kernel = _core.with_radius_for(self.kernel, distance) if distance > 0 else f"{self.kernel}(radius=1)"
        else:
            kernel = f"{self.kernel}(radius={float(self.radius)!r})"
        suffix = "-radius" if self.train_radius else ""
        return f"{synapse}-{kernel}{suffix}:{int(self.n_centers)},dot-{output}:{outputs}"

    def _starts(self, rows: Rows, train: _core.Dataset, dtype: str, outputs: int) -> _core.Dataset:
        if self.solver != "lbfgs":
            return train
        # A row of weight 2 and the row twice must start alike.
        x = np.unique(rows.x, axis=0)
        return Rows(x, np.zeros((len(x), outputs)), None, None).dataset(self._x_scaling, dtype, outputs)

    def _place(self, network: Network, data: _core.Dataset, seed: int) -> None:
        _core.place_centres(network._core, data, seed)

    @property
    def centers_(self) -> Array:
        """The centres, (n_centers, features), in units of X: a copy."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no centers_ before fit()")
        centres = self._network.weights(0).astype(np.float64)
        if self._x_scaling is not None:
            centres = centres * self._x_scaling[1] + self._x_scaling[0]
        return centres

    @property
    def radii_(self) -> Array:
        """The radius of every centre, in scaled units: a copy."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no radii_ before fit()")
        radii = self._network.radii(0)
        if radii is not None:
            return np.array(radii, np.float64)
        text = self._network.layers[0][0]
        return np.full(int(self.n_centers), float(text.partition("radius=")[2].partition(")")[0].partition(",")[0]))
