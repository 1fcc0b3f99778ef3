"""Trials of Optuna that end early where an epoch shows that they lead nowhere.

Import it by name: ``import lamina.optuna``. Studies, samplers, pruners and storages are Optuna's own; see
docs/python.md.
"""

from __future__ import annotations

from typing import Any

try:
    import optuna
except ImportError:
    raise ImportError("lamina.optuna needs optuna: pip install optuna") from None


class Pruning:
    """A callback of estimators, and ``on_epoch`` of `lamina.train`.

    Reports every epoch to a trial, and ends a pruned one.

    Parameters
    ----------
    trial : optuna.Trial
    metric : str
        What is reported: "validation_loss", "validation_accuracy", "train_loss" or "train_accuracy". The first two need
        ``eval_set``, or validation rows of `lamina.train`. The direction is the study's.

    Raises
    ------
    optuna.TrialPruned
        Out of ``fit`` or ``train``, after an epoch where the study's pruner says so.
    ValueError
        Where an epoch has no such number.
    """

    def __init__(self, trial: optuna.trial.Trial, metric: str = "validation_loss") -> None:
        self.trial = trial
        self.metric = metric

    def __call__(self, record: dict[str, Any]) -> None:
        """One epoch is done."""
        value = record.get(self.metric)
        if value is None or value != value:
            known = sorted(name for name, number in record.items() if isinstance(number, float) and number == number)
            raise ValueError(f"an epoch has no {self.metric}; it has {', '.join(known)}: give fit() an eval_set")
        self.trial.report(float(value), int(record["epoch"]))
        if self.trial.should_prune():
            raise optuna.TrialPruned(f"{self.metric} {value:g} in epoch {record['epoch']}")


__all__ = ["Pruning"]
