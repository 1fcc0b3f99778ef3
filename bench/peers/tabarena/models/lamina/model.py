"""lamina.train as a model of AutoGluon, which TabArena runs in bags of folds."""

from __future__ import annotations

import time

import pandas as pd
from autogluon.common.utils.pandas_utils import get_approximate_df_mem_usage
from autogluon.core.constants import REGRESSION
from autogluon.core.models import AbstractModel

TARGET = "target of lamina"


class LaminaModel(AbstractModel):
    """Hyperparameters are settings of lamina.train: recipe="mixed", hidden=[128, 128].

    None of them: the model that suits the rows (a kernel machine, a network, or both). `X_val` chooses the epoch.
    """

    ag_key = "LAMINA"
    ag_name = "lamina"
    seed_name = "seed"
    _supported_problem_types = ("binary", "multiclass", "regression")
    default_resources_physical_cores_only = True

    def _fit(self, X, y, X_val=None, y_val=None, time_limit=None, num_cpus=1, num_gpus=0, **kwargs):
        import lamina

        begun = time.monotonic()
        settings = self._get_model_params()
        X = self.preprocess(X, y=y, is_train=True)
        validation = None if X_val is None else _with_target(self.preprocess(X_val), y_val)
        settings.setdefault("split", [1, 0, 0] if validation is not None else [0.85, 0.15, 0])  # no rows to test with

        def is_late(_):
            return time_limit is not None and time.monotonic() - begun > 0.9 * time_limit

        trained = lamina.train(_with_target(X, y), TARGET, validation=validation, on_epoch=is_late, threads=int(num_cpus),
                               task="regression" if self.problem_type == REGRESSION else "classification", **settings)
        self.model = trained.model

    def _predict_proba(self, X, num_cpus=1, **kwargs):
        outputs = self.model.predict_outputs(self.preprocess(X), threads=int(num_cpus))
        if self.problem_type == REGRESSION:
            return outputs.ravel()
        known = [int(name) for name in self.model.classes]  # AutoGluon numbers the classes, and a fold may lack one
        outputs = pd.DataFrame(outputs, columns=known).reindex(columns=range(self.num_classes), fill_value=0.0).to_numpy()
        return self._convert_proba_to_unified_form(outputs)

    def _get_default_stopping_metric(self):
        return self.eval_metric

    @classmethod
    def _estimate_memory_usage_static(cls, *, X, **kwargs):
        """Kernels among 10,000 rows at most, in float64 three times; the table as text and as numbers."""
        rows = min(len(X), 10_000)
        return int(2e8 + 24 * rows**2 + 10 * get_approximate_df_mem_usage(X).sum())

    def _more_tags(self):
        return {"can_refit_full": False}


def _with_target(X, y):
    return X.assign(**{TARGET: y})
