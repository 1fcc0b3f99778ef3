"""What all estimators share: input, weights of rows, scaling, answers of the fitted network."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight, check_array, check_consistent_length, check_is_fitted, validate_data

from . import _core
from ._arrays import Array, as_matrix
from ._encoding import TableEncoder, needs_encoding
from ._fitting import Rows, input_scaling
from ._models import Model
from ._network import Network
from ._parameters import Attribute, Parameter, choice
from ._predictors import BatchPredictor, LeafPredictor
from ._sparse import Scaling, canonical, is_sparse
from ._tables import is_table

_SPARSE_LIMIT_BYTES = 4 << 30


def _holds_texts(X: Any) -> bool:
    values = np.asarray(X)
    kind = values.dtype.kind
    return kind in "UST" or kind == "O" and any(isinstance(value, str) for value in values.flat)


class _Estimator(BaseEstimator):
    """Checks and scales rows, and answers by a network of the library. Subclasses fit it."""

    _network: Network
    _leaves: tuple[list[Network], Network] | None = None  # other networks, and the gates by which all answer
    _predictor: BatchPredictor | LeafPredictor
    _encoder: TableEncoder | None
    _auto_scale = "standardize"  # what scale="auto" is for numbers beyond [-1, 1]
    _answers_in_double = False  # of a network of float32, too
    _takes_sparse = False  # without making all of it dense

    _parameters = {
        "scale": choice(
            *("auto", "standardize", "none"),
            text='Columns of X before the network: "auto" leaves numbers alone that all lie in [-1, 1] and '
            'standardizes others.',
        ),
        "missing": choice(
            *("error", "mean"),
            text="Missing values in X: refused, or the mean of their column (the most frequent text).",
        ),
        "unseen": choice(
            *("zero", "error"),
            text="Categories that training did not have: none, as in the program, or refused.",
        ),
        "device": Parameter(
            '{"auto", "cpu", "cuda", ...}',
            'Where training computes; "auto": on a GPU where there is one that is faster.',
            [StrOptions(set(_core.backends()))],
        ),
        "threads": Parameter(
            "int or None",
            "As many as the process may use; OMP_NUM_THREADS and threadpoolctl are obeyed.",
            [None, Interval(Integral, 1, None, closed="left")],
        ),
    }
    _results = {"n_features_in_": Attribute("int"), "n_outputs_": Attribute("int")}

    # What subclasses define.

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        """Targets or labels, and the outputs of the network."""
        raise NotImplementedError

    def _output(self) -> tuple[str, str]:
        """Loss and output activation by the library's names."""
        raise NotImplementedError

    # What fitting begins and ends with.

    def _checked_rows(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        first: bool,
        classes: Any,
        groups: Array | None = None,
        times: Array | None = None,
        soft_target: Any = None,
    ) -> tuple[Rows, int, float]:
        """The rows that count, the outputs of the network, and the sum of the weights given."""
        x, y = self._check_x_y(X, y, first)
        targets, labels, outputs = self._encode_targets(y, first, classes)
        weights, total = self._weights_of(y, sample_weight, x)
        check_consistent_length(x, groups, times)
        soft = None if soft_target is None else self._encode_soft(np.asarray(soft_target, np.float64), x.shape[0])
        rows = Rows(x, targets, labels, weights, groups, times, soft)
        if weights is not None and (weights == 0).any():
            rows = rows.take(np.flatnonzero(weights > 0))
        return rows, outputs, total

    def _encode_soft(self, soft: Array, rows: int) -> Array:
        """A teacher's numbers for the rows of X as the network learns them: (rows, outputs)."""
        raise NotImplementedError

    def _find_scalings(self, rows: Rows) -> None:
        self._x_scaling = (
            input_scaling(rows.x, rows.weights, self.scale, self._auto_scale) if self._encoder is None else None
        )
        self._y_scaling = self._scaling_of_targets(rows)

    def _prepare_answers(self) -> None:
        self._predictor = BatchPredictor(
            self._network,
            input_scaling=self._x_scaling,
            output_scaling=self._y_scaling,
            backend="cpu" if self.device == "auto" else str(self.device),
            threads=self.threads,
            dtype="f64" if self._answers_in_double else None,
        )

    def _forget_answers(self) -> None:
        """Those of the network as it was before an epoch."""
        self.__dict__.pop("_predictor", None)

    # Input.

    def _check_x(self, X: Any, reset: bool) -> Any:
        if needs_encoding(X, self.missing) or not (reset or self._encoder is None):
            X = self._with_gaps(X, reset)
        if reset:
            self._encoder = TableEncoder(X, self.missing, getattr(self, "unseen", "zero")) if needs_encoding(X, self.missing) else None
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
            x = self._taken(x)
        if reset:
            self._features = x.shape[1]
        return x

    def _with_gaps(self, X: Any, reset: bool) -> Any:
        """An array checked as scikit-learn does it, but for missing values and texts; tables as they are."""
        if is_table(X) or is_sparse(X):
            return X
        dtype = None if _holds_texts(X) else "numeric"
        return validate_data(self, X, dtype=dtype, ensure_all_finite="allow-nan", reset=reset)

    def _taken(self, x: Any) -> Any:
        """What comes of `validate_data`, as the estimator computes with it."""
        if not is_sparse(x):
            return np.asarray(x)
        if self._takes_sparse:
            return canonical(x)
        size = x.shape[0] * x.shape[1] * x.dtype.itemsize
        if size > _SPARSE_LIMIT_BYTES:
            raise ValueError(
                f"X is sparse and would take {size / 2**30:.1f} GiB as the dense array that lamina needs; the limit is "
                f"{_SPARSE_LIMIT_BYTES >> 30} GiB"
            )
        return np.asarray(x.toarray())

    def _check_x_y(self, X: Any, y: Any, first: bool) -> tuple[Any, Array]:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        if not first and self._encoder is None and not needs_encoding(X, self.missing):
            x, y = validate_data(
                self, X, y, accept_sparse="csr", multi_output=True, dtype=[np.float64, np.float32], reset=False
            )
            return self._taken(x), y
        if needs_encoding(X, self.missing) or not first:
            x = self._check_x(X, reset=first)
            y = np.asarray(check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator=self))
            if len(y) != len(x):
                raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(x), len(y)]}")
            return x, y
        self._encoder = None
        x, y = validate_data(
            self, X, y, accept_sparse="csr", multi_output=True, dtype=[np.float64, np.float32], reset=True
        )
        x = self._taken(x)
        self._features = x.shape[1]
        return x, y

    def _weights_of(self, y: Array, sample_weight: Any, x: Any) -> tuple[Array | None, float]:
        """Weights of rows and classes multiplied, or None; and the sum of those given for rows."""
        class_weight = getattr(self, "class_weight", None)
        if sample_weight is None and class_weight is None:
            return None, float(x.shape[0])
        weights = _check_sample_weight(sample_weight, x, dtype=np.float64, ensure_non_negative=True)
        if not (weights > 0).any():
            raise ValueError("Sample weights must contain at least one non-zero number: all of them are zero.")
        with np.errstate(over="ignore"):
            total = float(weights.sum())
        if not 1e-290 < total < np.inf:
            raise ValueError(f"Sample weights are too {'small' if total < 1 else 'large'}: their sum is {total}.")
        if class_weight is not None:
            weights = weights * compute_sample_weight(class_weight, y)
            if not np.isfinite(weights).all() or (weights < 0).any() or not (weights > 0).any():
                raise ValueError("class_weight must have finite numbers of 0 or more, and one above 0.")
        return weights, total

    def _scaling_of_targets(self, rows: Rows) -> Scaling | None:
        return None

    def _scaled(self, rows: Rows) -> Rows:
        if self._y_scaling is None or rows.targets is None:
            return rows
        offsets, scales = self._y_scaling
        return Rows(rows.x, (rows.targets - offsets) / scales, None, rows.weights)

    # Answers.

    def _outputs_of(self, X: Any) -> Array:
        # Numbers as fit() saw them need no more than the look at their shape and the library's own at the numbers.
        if "_predictor" in self.__dict__ and self._encoder is None:
            x = self._plain(X)
            if (
                type(x) is np.ndarray
                and x.ndim == 2
                and x.dtype.kind == "f"
                and x.dtype.isnative
                and x.dtype.itemsize <= 8
                and x.shape[1] == self.n_features_in_
                and x.shape[0] > 0
            ):
                return self._predictor.of_matrix(*as_matrix(x, "X"))
        check_is_fitted(self)
        if "_network" in self.__dict__ and "_predictor" not in self.__dict__:  # asked by a callback
            self._prepare_answers()
        return self._predictor(self._check_x(X, reset=False))

    def _plain(self, X: Any) -> Any:
        """X, or the numbers of a frame with the columns that were fitted; None where names must be looked at."""
        names = self.__dict__.get("feature_names_in_")
        if names is None:
            return X
        if type(X) is np.ndarray or not hasattr(X, "to_numpy"):
            return None
        columns = list(getattr(X, "columns", ()))
        return X.to_numpy() if columns == names.tolist() else None

    # The parameters in scikit-learn's form.

    def _first_weights(self, name: str) -> Array:
        """The weights of the first layer in units of X."""
        if "_network" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before fit()")
        weights = self._network.weights(0).astype(np.float64)
        if self._x_scaling is not None:
            weights = weights * self._x_scaling[1] + self._x_scaling[0]
        return weights

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
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
