"""What fitting promises beside scikit-learn's checks: classes, messages, callbacks, Ctrl-C, counts, probabilities."""

import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor

import lamina

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_classes_of_a_later_partial_fit_are_those_of_the_first():
    model = lamina.MLPClassifier(solver="sgd").partial_fit([[3.0, 2.0]], [0], classes=[0, 1])
    model.partial_fit([[3.0, 2.0]], [1], classes=[1, 0])
    with pytest.raises(ValueError, match="not the same as on last call to partial_fit"):
        model.partial_fit([[3.0, 2.0]], [1], classes=[1, 2])


def test_balanced_weights_are_not_those_of_one_call():
    with pytest.raises(ValueError, match="balanced.*one call of partial_fit"):
        model = lamina.MLPClassifier(class_weight="balanced")
        model.partial_fit([[3.0, 2.0]], [0], classes=[0, 1]).partial_fit([[3.0, 2.0]], [0])


@pytest.mark.parametrize("y", [np.repeat([0, 1], 75), np.repeat([0, 1, 3], 50), np.repeat(np.arange(5), 30)])
def test_a_warm_start_is_of_the_same_classes(iris, y):
    model = lamina.MLPClassifier(2, max_iter=3, warm_start=True, random_state=0).fit(*iris)
    before = model.predict_proba(iris[0])
    with pytest.raises(ValueError, match=re.escape(f"Previously got [0 1 2], `y` has {np.unique(y)}")):
        model.fit(iris[0], y)
    np.testing.assert_array_equal(model.predict_proba(iris[0]), before)


def test_lbfgs_says_what_ended_it(iris):
    for options, said in (({"max_fun": 10}, "max_fun=10"), ({"max_iter": 3}, r"Maximum iterations \(3\) reached")):
        with pytest.warns(ConvergenceWarning, match=f"lbfgs: .*{said}"):
            lamina.MLPClassifier(solver="lbfgs", random_state=0, **options).fit(*iris)


def test_a_class_too_rare_to_be_split_is_called_by_its_name():
    x = np.random.default_rng(0).normal(size=(30, 3))
    y = np.array(["False"] * 29 + ["True"])
    with pytest.raises(ValueError, match="'True'"):
        lamina.MLPClassifier(early_stopping=True).fit(x, y)


def test_callbacks_can_ask_the_network_of_their_epoch(iris):
    x, y = iris
    answers, models = [], []

    def watch(record):
        answers.append(models[0].predict_proba(x[:5]))

    models.append(lamina.MLPClassifier(8, max_iter=4, random_state=0, callbacks=watch))
    models[0].fit(x, y)
    assert len(answers) == 4 and not np.array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[3], models[0].predict_proba(x[:5]))
    short = lamina.MLPClassifier(8, max_iter=2, random_state=0).fit(x, y)
    np.testing.assert_array_equal(answers[1], short.predict_proba(x[:5]))


def test_probabilities_keep_the_digits_that_float32_has_not():
    x, y = load_breast_cancer(return_X_y=True)
    model = lamina.MLPClassifier(random_state=0).fit(x, y)
    sure = model.predict_proba(x)
    assert sure.dtype == np.float64 and len(np.unique(sure[:, 1])) > 0.95 * len(np.unique(x, axis=0))
    logits = np.log(sure[:, 1]) - np.log(sure[:, 0])
    network = model.to_model().network
    weights = [network.weights(layer).astype(float) for layer in range(2)]
    scaled = (x - model._x_scaling[0]) / model._x_scaling[1]
    hidden = np.maximum(0, scaled @ weights[0].T + network.bias(0))
    expected = (hidden @ weights[1].T + network.bias(1)).ravel()
    near = np.abs(expected) < 30  # beyond, 1 - p has no digits left
    np.testing.assert_allclose(logits[near], expected[near], rtol=1e-4, atol=1e-4)
    many = lamina.MLPClassifier(random_state=0).fit(*load_iris(return_X_y=True))
    np.testing.assert_allclose(many.predict_proba(load_iris().data).sum(axis=1), 1, rtol=1e-14)


def test_counts_have_a_log_link():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (2000, 2))
    y = rng.poisson(np.exp(1 + x @ [1.0, -0.5]))
    linear = PoissonRegressor(alpha=1e-6).fit(x, y)
    options = dict(loss="poisson", hidden_layer_sizes=(), solver="lbfgs", alpha=1e-6, tol=1e-8, max_iter=500)
    model = lamina.MLPRegressor(**options).fit(x, y)
    np.testing.assert_allclose(model.predict(x), linear.predict(x), rtol=1e-3)
    np.testing.assert_allclose(model.to_model().predict(x), model.predict(x), rtol=1e-5)
    assert model.out_activation_ == "exp"
    hidden = lamina.MLPRegressor(loss="poisson", max_iter=100, early_stopping=True, random_state=0).fit(x, y)
    assert (hidden.predict(x) > 0).all() and abs(hidden.predict(x).mean() / y.mean() - 1) < 0.1
    for loss, wrong in (("poisson", -1), ("gamma", 0)):
        with pytest.raises(ValueError, match=f'"{loss}".*row 7'):
            lamina.MLPRegressor(loss=loss).fit(x, np.where(np.arange(2000) == 7, wrong, y + 1.0))
    with pytest.raises(ValueError, match="row 0"):
        lamina.MLPRegressor(loss="poisson").fit(x, y, eval_set=(x, -1.0 - y))


def test_answers_of_counts_are_the_programs(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    x = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    model = lamina.MLPRegressor(loss="poisson", max_iter=20, random_state=0).fit(x, np.round(np.exp(x.sum(1) + 1)))
    (tmp_path / "m.onnx").write_bytes(model.to_model().to_onnx())
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx")
    given = {entry.name: x[:, [place]].astype("f4") for place, entry in enumerate(session.get_inputs())}
    if len(given) == 1:
        given = {session.get_inputs()[0].name: x.astype("f4")}
    np.testing.assert_allclose(np.ravel(session.run(None, given)[0]), model.predict(x), rtol=1e-4)


def test_shapes_are_told_as_scikit_learn_tells_them():
    pandas = pytest.importorskip("pandas")
    for model in (lamina.MLPClassifier(missing="mean"), lamina.ELMClassifier(missing="mean")):
        with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
            model.fit(np.arange(6.0), [0, 1] * 3)
        fitted = model.fit(np.arange(12.0).reshape(6, 2), [0, 1] * 3)
        with pytest.raises(ValueError, match="Reshape your data"):
            fitted.predict(np.arange(2.0))
        with pytest.raises(ValueError, match="Found array with 0 sample"):
            fitted.predict(np.empty((0, 2)))
    frame = pandas.DataFrame({"t": list("abab"), "n": [1.0, 2.0, 3.0, 4.0]})
    model = lamina.MLPClassifier(4, max_iter=2).fit(frame, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        model.predict(frame[:0])


def test_remedies_are_parameters_of_estimators():
    pandas = pytest.importorskip("pandas")
    frame, y = pandas.DataFrame({"t": list("abab"), "n": [1.0, 2.0, 3.0, 4.0]}), [0, 1, 0, 1]
    model = lamina.MLPClassifier(4, max_iter=2, unseen="error").fit(frame, y)
    with pytest.raises(ValueError, match="'zz'.*unseen='zero'"):
        model.predict(frame.assign(t="zz"))
    gaps = frame.assign(n=np.nan)
    for wrong in (lambda: model.predict(gaps), lambda: lamina.ELMClassifier(4).fit(gaps, y)):
        with pytest.raises(ValueError, match=r"'n': missing value.* missing='mean', or leave the rows out\.") as caught:
            wrong()
        assert "drop" not in str(caught.value) and "drop" not in caught.value.remedy
    with pytest.raises(ValueError, match="lacks 1 input column: 't'") as caught:
        model.predict(frame[["n"]])
    assert "by_position" not in str(caught.value)


def test_rows_of_a_frame_of_numbers_go_the_short_way(iris, monkeypatch):
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame(iris[0], columns=["a", "b", "c", "d"])
    model = lamina.MLPClassifier(4, max_iter=5, random_state=0).fit(x, iris[1])
    expected = model.predict_proba(x)

    def long_way(*arguments, **named):
        raise AssertionError("validate_data")

    monkeypatch.setattr("lamina._base.validate_data", long_way)
    np.testing.assert_array_equal(model.predict_proba(x[3:4]), expected[3:4])
    np.testing.assert_array_equal(model.predict_proba(x), expected)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(x.assign(a=np.nan))


def test_control_c_ends_lbfgs_with_the_network_so_far():
    """The signal comes inside of an evaluation that goes over several blocks of rows."""
    code = """
import os, signal, warnings, numpy as np, lamina, lamina._lbfgs as lbfgs
lbfgs._BLOCK_PRODUCTS, lbfgs._BLOCK_ROWS = 30_000, 1
x = np.random.default_rng(0).normal(size=(2000, 5)); y = x.sum(1) > 0
calls = []
step = lamina._core.Steps.step
class Steps:
    def __init__(self, *arguments): self.inner = lamina._core.Steps(*arguments)
    def gradients(self): return self.inner.gradients()
    def step(self, *arguments):
        calls.append(0)
        if len(calls) == 200: os.kill(os.getpid(), signal.SIGINT)
        return self.inner.step(*arguments)
class Core:
    def __getattr__(self, name): return Steps if name == "Steps" else getattr(lamina._core, name)
lbfgs._core = Core()
model = lamina.MLPClassifier(solver="lbfgs", tol=0, max_iter=10_000_000, max_fun=10_000_000, random_state=0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(x, y)
print([str(w.message) for w in caught], model.score(x, y) > 0.8, len(calls), model.n_iter_ > 0, model.loss_ < 0.6)
"""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['Training interrupted by user.'] True 200 True True"


def test_blocks_of_rows_change_nothing(iris, monkeypatch):
    import lamina._lbfgs as lbfgs

    weights = np.linspace(0.5, 2, 150)
    options = dict(solver="lbfgs", max_iter=15, random_state=0)
    whole = lamina.MLPClassifier(8, **options).fit(*iris, sample_weight=weights)
    monkeypatch.setattr(lbfgs, "_BLOCK_PRODUCTS", 1500)
    monkeypatch.setattr(lbfgs, "_BLOCK_ROWS", 1)
    parts = lamina.MLPClassifier(8, **options).fit(*iris, sample_weight=weights)
    np.testing.assert_allclose(parts.predict_proba(iris[0]), whole.predict_proba(iris[0]), rtol=1e-5, atol=1e-7)


def test_a_loss_that_is_no_number_is_an_error_that_says_so(iris):
    x, y = iris
    model = lamina.MLPRegressor(activation="identity", solver="sgd", learning_rate_init=1e4, scale="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(lamina.DivergedError, match="(?i)rate"):
            model.fit(100 * x, y)


@pytest.mark.parametrize("size", [1e300, 1e-200])
def test_numbers_beyond_scaling_are_refused(size):
    x = np.random.default_rng(0).normal(size=(40, 3))
    model = lamina.MLPRegressor(hidden_layer_sizes=(4,), max_iter=2)
    said = "too large to scale" if size > 1 else "too small to scale"
    with pytest.raises(ValueError, match=said):
        model.fit(x, x[:, 0] * size)
    x[:, 1] *= size
    with pytest.raises(ValueError, match=f"Column 1 has values {said}"):
        model.set_params(scale="standardize").fit(x, x[:, 0])
    one = np.zeros(40)
    one[0] = 1
    model.set_params(scale="none").fit(np.clip(x, -1, 1), x[:, 0], sample_weight=one)  # nothing to scale by


@pytest.mark.parametrize("weights", [{0: -1}, {0: np.nan}, {0: np.inf}, {0: 0, 1: 0}])
def test_class_weights_that_are_none_are_refused(weights):
    x = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="class_weight"):
        lamina.MLPClassifier((4,), max_iter=2, class_weight=weights).fit(x, x[:, 0] > 0)


@pytest.mark.parametrize(("weight", "said"), [(1e308, "too large"), (1e-310, "too small")])
def test_sample_weights_without_a_sum_are_refused(weight, said):
    x = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match=said):
        lamina.MLPClassifier((4,), max_iter=2).fit(x, x[:, 0] > 0, sample_weight=np.full(40, weight))


def test_hidden_layers_are_whole_numbers():
    x = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="whole numbers"):
        lamina.MLPClassifier((2.5,), max_iter=2).fit(x, x[:, 0] > 0)
    assert lamina.MLPClassifier((np.int32(3),), max_iter=2).fit(x, x[:, 0] > 0).coefs_[0].shape == (3, 3)


@pytest.mark.parametrize("classes", [2, 3])
def test_sure_soft_targets_are_the_labels(iris, classes):
    x, y = iris[0][iris[1] < classes], iris[1][iris[1] < classes]
    options = dict(hidden_layer_sizes=(8,), max_iter=20, random_state=0)
    by_labels = lamina.MLPClassifier(**options).fit(x, y)
    by_teacher = lamina.MLPClassifier(**options).fit(x, y, soft_target=np.eye(classes)[y])
    np.testing.assert_array_equal(by_labels.predict_proba(x), by_teacher.predict_proba(x))


def test_soft_targets_are_learnt_in_the_place_of_targets(iris):
    x, y = iris
    soft = np.full((len(y), 3), 0.1) + 0.7 * np.eye(3)[y]
    taught = lamina.MLPClassifier(max_iter=300, random_state=0).fit(x, y, soft_target=soft)
    sure = lamina.MLPClassifier(max_iter=300, random_state=0).fit(x, y)
    assert 0.65 < taught.predict_proba(x).max(axis=1).mean() < 0.8 < sure.predict_proba(x).max(axis=1).mean()
    number = lamina.MLPRegressor(max_iter=300, random_state=0).fit(x, y, soft_target=y + 1.0)
    assert abs(number.predict(x).mean() - 2) < 0.3


def test_soft_targets_that_do_not_fit_are_refused(iris):
    x, y = iris
    good = np.eye(3)[y]

    def refuse(said, spoiled, model=lamina.MLPClassifier):
        with pytest.raises(ValueError, match=said):
            model(max_iter=1).fit(x, y, soft_target=spoiled)

    refuse(r"shape \(150, 2\)", good[:, :2])
    refuse(r"shape \(149, 3\)", good[:149])
    for said, value in (("missing or infinite", np.nan), ("below 0", -0.1), ("sum to 1.5", 0.5)):
        spoiled = good.copy()
        spoiled[4, 2] = value
        refuse("row 4", spoiled)
        refuse(said, spoiled)
    refuse("shape", np.zeros((150, 2)), lamina.MLPRegressor)
