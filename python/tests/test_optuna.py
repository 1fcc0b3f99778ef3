"""Trials of Optuna end where the pruner says so, and nothing else stops."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
optuna = pytest.importorskip("optuna")

import lamina
import lamina.optuna


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 4))
    return x, x[:, 0] + x[:, 1] > 0


@pytest.mark.parametrize("metric, direction", [("validation_loss", "minimize"), ("validation_accuracy", "maximize")])
def test_estimators(rows, metric, direction, tmp_path):
    x, y = rows
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        rate = (0.01, 1e-7)[trial.number % 2]  # the second learns nothing
        model = lamina.MLPClassifier(
            (8,), learning_rate_init=rate, max_iter=20, random_state=0, callbacks=lamina.optuna.Pruning(trial, metric)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(x[:300], y[:300], eval_set=(x[300:], y[300:]))
        return model.validation_loss_curve_[-1] if direction == "minimize" else model.score(x[300:], y[300:])

    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal.log")))
    pruner = optuna.pruners.MedianPruner(n_startup_trials=1, n_warmup_steps=3)
    study = optuna.create_study(direction=direction, pruner=pruner, storage=storage)
    study.optimize(objective, n_trials=2)
    done, pruned = study.trials
    assert done.state.name == "COMPLETE" and len(done.intermediate_values) == 20
    assert pruned.state.name == "PRUNED" and 3 <= len(pruned.intermediate_values) < 20


def test_train_and_epochs_without_the_number(rows):
    x, y = rows
    table = {"a": x[:, 0], "b": x[:, 1], "y": y.astype(float)}
    study = optuna.create_study()
    trial = study.ask()
    lamina.train(table, "y", epochs=3, task="regression", on_epoch=lamina.optuna.Pruning(trial))
    assert sorted(study.trials[0].intermediate_values) == [1, 2, 3]
    with pytest.raises(ValueError, match="no validation_loss; it has .*train_loss"):
        lamina.MLPClassifier(max_iter=2, callbacks=lamina.optuna.Pruning(study.ask())).fit(x, y)
