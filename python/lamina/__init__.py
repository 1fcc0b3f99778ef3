"""lamina: neural layers at the speed of the hardware.

Estimators keep scikit-learn's contract: `MLPClassifier`, `MLPRegressor`, `RBFClassifier`, `RBFRegressor`,
`FSVCClassifier`, `SFSVCClassifier`, `ELMClassifier`, `ELMRegressor`, `RFMClassifier`, `RFMRegressor`,
`KNeighborsClassifier`, `KNeighborsRegressor`, `KNeighborsTransformer`, `NearestNeighbors`,
`RadiusNeighborsClassifier`, `RadiusNeighborsRegressor`. Functions on arrays: `cdist`, `layer`, `nearest`,
`laplacian_kernel`. The library's own parts: `Network`, `Model`, `Predictor`, `train`. `lamina.dask` takes rows in many
processes.

This file gathers the public names and leaves the work to the modules beside it. Functions, networks and models are
imported first. Estimators follow when somebody asks for one, since scikit-learn takes a second to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _threadpoolctl as _threadpoolctl
from ._core import (
    activations,
    backends,
    describe_backend,
    initializations,
    losses,
    optimizers,
    threads,
)
from ._core import version as _version
from ._errors import (
    BadDataError,
    BadModelError,
    DivergedError,
    Error,
    InvalidArgumentError,
    IoError,
    NotFoundError,
    ResourceError,
    UnknownColumnError,
    UnsupportedError,
)
from ._functions import cdist, laplacian_kernel, layer, nearest
from ._models import Model, RowModel
from ._network import Network
from ._predictors import BatchPredictor, Predictor
from ._progress import ProgressBar
from ._training import History, TrainResult, settings, train

if TYPE_CHECKING:
    from ._direct import FSVCClassifier, SFSVCClassifier
    from ._elm import ELMClassifier, ELMRegressor
    from ._mlp import MLPClassifier, MLPRegressor
    from ._neighbors import KNeighborsTransformer, NearestNeighbors
    from ._radius_voting import RadiusNeighborsClassifier, RadiusNeighborsRegressor
    from ._rbf import RBFClassifier, RBFRegressor
    from ._rfm import RFMClassifier, RFMRegressor
    from ._voting import KNeighborsClassifier, KNeighborsRegressor

__version__: str = _version()

# These need scikit-learn, which takes a second to be imported: only when somebody asks for them.
_LAZY = {
    "ELMClassifier": "_elm",
    "ELMRegressor": "_elm",
    "FSVCClassifier": "_direct",
    "SFSVCClassifier": "_direct",
    "MLPClassifier": "_mlp",
    "MLPRegressor": "_mlp",
    "RBFClassifier": "_rbf",
    "RBFRegressor": "_rbf",
    "RFMClassifier": "_rfm",
    "RFMRegressor": "_rfm",
    "KNeighborsClassifier": "_voting",
    "KNeighborsRegressor": "_voting",
    "KNeighborsTransformer": "_neighbors",
    "NearestNeighbors": "_neighbors",
    "RadiusNeighborsClassifier": "_radius_voting",
    "RadiusNeighborsRegressor": "_radius_voting",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'lamina' has no attribute {name!r}")
    import importlib

    try:
        module = importlib.import_module(f".{_LAZY[name]}", __name__)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == "sklearn":
            raise ImportError(f"lamina.{name} needs scikit-learn: pip install 'lamina[sklearn]'") from None
        raise
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "BadDataError",
    "BadModelError",
    "BatchPredictor",
    "DivergedError",
    "ELMClassifier",
    "ELMRegressor",
    "Error",
    "FSVCClassifier",
    "History",
    "InvalidArgumentError",
    "IoError",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "MLPClassifier",
    "MLPRegressor",
    "Model",
    "NearestNeighbors",
    "Network",
    "NotFoundError",
    "Predictor",
    "ProgressBar",
    "RBFClassifier",
    "RBFRegressor",
    "RFMClassifier",
    "RFMRegressor",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "ResourceError",
    "RowModel",
    "SFSVCClassifier",
    "TrainResult",
    "UnknownColumnError",
    "UnsupportedError",
    "__version__",
    "activations",
    "backends",
    "cdist",
    "describe_backend",
    "initializations",
    "laplacian_kernel",
    "layer",
    "losses",
    "nearest",
    "optimizers",
    "settings",
    "threads",
    "train",
]
