"""Networks whose centers are found at once: FSVC and SFSVC."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context

from . import _core
from ._arrays import Array, threads_of
from ._layers import KERNEL, METRICS
from ._network import Network
from ._parameters import Attribute, choice, documented, keep, or_auto, real, whole
from ._targets import _ClassTargets


class _DirectClassifier(_ClassTargets):
    """An output for every class; the largest wins, of equal ones the lower class."""

    _one_for_two = False

    def _output(self) -> tuple[str, str]:
        return "mse", "identity"

    def decision_function(self, X: Any) -> Array:
        """The outputs of the network.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)

        Returns
        -------
        array, (rows, classes)
            In the order of ``classes_``; of two classes the second less the first, (rows,).
        """
        outputs = self._outputs_of(X)
        return outputs[:, 1] - outputs[:, 0] if outputs.shape[1] == 2 else outputs

    def _encode_targets(self, y: Array, first: bool, classes: Any) -> tuple[Array | None, Array | None, int]:
        encoded = super()._encode_targets(y, first, classes)
        if self._multilabel:
            raise ValueError("y has several columns: only one with a class in every row is supported")
        return encoded

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


class _NoveltyClassifier(_DirectClassifier):
    """Centers by one pass over the rows in their order, each voting for its class."""

    _by_class = False
    _auto_scale = "minmax"  # one radius for all columns

    _parameters = {
        "radius": or_auto(
            real(0, closed="neither"),
            'Radius of all centers, in scaled units (squared ones for squared distances); "auto": the one that answers '
            'every fifth row best.',
        ),
        "overlap": or_auto(
            real(0, most=4096, closed="right"),
            'More gives more centers; "auto": 1, or found with the radius.',
        ),
        "metric": choice(*METRICS),
        "kernel": KERNEL,
        "learning_rate": real(
            0, "Tunes output weights by online least mean squares; 0: they stay votes."
        ),
        "epochs": whole(1, "Passes of the tuning."),
        "scale": choice(
            *("auto", "minmax", "standardize", "none"),
            text='"auto" leaves numbers alone that all lie in [-1, 1], else it is "minmax": one radius serves all '
            'columns.',
        ),
        "precision": choice(*("auto", "f32", "f64"), text='Type of the network; "auto" is f32.'),
    }
    _results = {
        "centers_": Attribute("array, (n_centers_, features)", "In units of X; of SFSVC class by class."),
        "radius_": Attribute("float"),
        "overlap_": Attribute("float"),
        "n_centers_": Attribute("int"),
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Any:
        """Finds the centers.

        Parameters
        ----------
        X : array, sparse matrix or table, (rows, features)
            The order of the rows matters.
        y : array, (rows,) of classes

        Returns
        -------
        self
        """
        rows, outputs, _ = self._checked_rows(X, y, None, True, None)
        self._find_scalings(rows)
        dtype = "f64" if self.precision == "f64" else "f32"
        found: Any = _core.fit_fsvc(
            rows.dataset(self._x_scaling, dtype, outputs),
            [str(name) for name in self.classes_],
            f"{METRICS[self.metric]}-{self.kernel}(radius=1)",
            0.0 if self.radius == "auto" else float(self.radius),
            0.0 if self.overlap == "auto" else float(self.overlap),
            self._by_class,
            float(self.learning_rate),
            int(self.epochs),
            str(self.device),
            threads_of(self.threads),
        )
        core, self.radius_, self.overlap_ = found
        self._network = Network._of(core)
        self.n_centers_ = self._network.layers[0][2]
        self._prepare_answers()
        return self

    @property
    def centers_(self) -> Array:
        """The centers, (n_centers_, features), in units of X: a copy."""
        return self._first_weights("centers_")


@documented
class FSVCClassifier(_NoveltyClassifier):
    """Fast support vector classifier of R. and I. Dogaru (2007): one pass over the rows finds a network of distances.

    A row becomes a center where the activations of the centers so far sum to less than ``overlap``. The same rows in
    the same order give the same centers, with any number of threads.
    """

    def __init__(
        self,
        radius: float | str = "auto",
        *,
        overlap: float | str = "auto",
        metric: str = "manhattan",
        kernel: str = "triangle",
        learning_rate: float = 0.0,
        epochs: int = 1,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        keep(self, locals())


@documented
class SFSVCClassifier(_NoveltyClassifier):
    """Super fast support vector classifier (Dogaru 2016): `FSVCClassifier` with a pass for every class."""

    _by_class = True

    def __init__(
        self,
        radius: float | str = "auto",
        *,
        overlap: float | str = "auto",
        metric: str = "sqeuclidean",
        kernel: str = "triangle",
        learning_rate: float = 0.0,
        epochs: int = 1,
        scale: str = "auto",
        missing: str = "error",
        unseen: str = "zero",
        precision: str = "auto",
        device: str = "cpu",
        threads: int | None = None,
    ) -> None:
        keep(self, locals())
