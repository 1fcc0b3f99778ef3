"""What estimators answer and take, beside scikit-learn's own checks (test_checks.py)."""

import pickle
import warnings

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_iris, make_blobs, make_multilabel_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lamina

NETWORKS = [lamina.MLPClassifier, lamina.MLPRegressor, lamina.RBFClassifier, lamina.RBFRegressor]


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return train_test_split(x, y, random_state=0)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_digits(digits):
    x, x_test, y, y_test = digits
    for estimator in (lamina.MLPClassifier(random_state=1), lamina.RBFClassifier(n_centers=256, random_state=1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert estimator.fit(x, y).score(x_test, y_test) > 0.95


def test_regression():
    x, y = load_diabetes(return_X_y=True)
    for estimator in (lamina.MLPRegressor(alpha=1, early_stopping=True), lamina.RBFRegressor(early_stopping=True)):
        assert cross_val_score(estimator, x, y, cv=3).mean() > 0.3


def test_coefficients_are_those_for_raw_numbers(digits):
    x, _, y, _ = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = lamina.MLPClassifier((30, 20), activation="tanh", max_iter=5, precision="f64").fit(x, y)
        numbers = lamina.MLPRegressor(hidden_layer_sizes=9, max_iter=5, precision="f64").fit(x, 1000.0 * y + 5)
    a = x
    for weights, biases in zip(fitted.coefs_[:-1], fitted.intercepts_):
        a = np.tanh(a @ weights + biases)
    z = a @ fitted.coefs_[-1] + fitted.intercepts_[-1]
    np.testing.assert_array_equal(fitted.classes_[z.argmax(1)], fitted.predict(x))
    hidden = np.maximum(0, x @ numbers.coefs_[0] + numbers.intercepts_[0])
    np.testing.assert_allclose((hidden @ numbers.coefs_[1] + numbers.intercepts_[1]).ravel(), numbers.predict(x), rtol=1e-9)
    assert fitted.n_layers_ == 4 and fitted.t_ == 5 * len(x) and len(fitted.loss_curve_) == fitted.n_iter_ == 5


def test_one_step_is_scikit_learns():
    """From the same weights, one step of either solver over all rows gives the same weights."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (40, 5))
    cases = [
        (MLPClassifier, lamina.MLPClassifier, rng.integers(0, 3, 40)),
        (MLPClassifier, lamina.MLPClassifier, rng.integers(0, 2, 40)),
        (MLPRegressor, lamina.MLPRegressor, rng.normal(size=40)),
    ]
    for theirs, ours, y in cases:
        if y.dtype.kind == "f":
            y = (y - y.mean()) / y.std()  # lamina's standardizes: then nothing is left to be scaled
        for solver in ("sgd", "adam"):
            options = dict(
                hidden_layer_sizes=(7,), activation="tanh", solver=solver, alpha=0.3, batch_size=40, max_iter=1,
                learning_rate_init=0.1, random_state=0, epsilon=1e-15,  # where it stands differs
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                a = theirs(**options).fit(x, y)
                b = ours(**options, precision="f64").fit(x, y)
                # Again, from weights that are set: both keep them with warm_start.
                a.set_params(warm_start=True), b.set_params(warm_start=True)
                for layer in range(2):
                    a.coefs_[layer][...] = b._network.weights(layer).T
                    a.intercepts_[layer][...] = b._network.bias(layer)
                a.fit(x, y), b.fit(x, y)
            for layer in range(2):
                np.testing.assert_allclose(b._network.weights(layer).T, a.coefs_[layer], rtol=1e-6, atol=1e-9)
                np.testing.assert_allclose(b._network.bias(layer), a.intercepts_[layer], rtol=1e-6, atol=1e-9)


def test_learning_rates_change_as_scikit_learns(digits):
    x, _, y, _ = digits
    rates = {}
    for how in ("constant", "invscaling", "adaptive"):
        seen = rates[how] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            lamina.MLPClassifier(
                solver="sgd", learning_rate=how, learning_rate_init=0.05, max_iter=40, tol=0.05, n_iter_no_change=2,
                callbacks=lambda record: seen.append(record["learning_rate"]), random_state=0,
            ).fit(x, y)
    assert len(set(rates["constant"])) == 1
    expected = [0.05 / (1 + len(x) * epoch) ** 0.5 for epoch in range(len(rates["invscaling"]))]
    np.testing.assert_allclose(rates["invscaling"], expected)
    assert rates["adaptive"][-1] < 0.05 / 4 and set(np.round(np.log(0.05 / np.array(rates["adaptive"])) / np.log(5), 6) % 1) == {0}


def test_partial_fit_and_warm_start(digits):
    x, x_test, y, y_test = digits
    model = lamina.MLPClassifier(random_state=0)
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit(x, y)
    for _ in range(15):
        for begin in range(0, len(x), 500):
            model.partial_fit(x[begin : begin + 500], y[begin : begin + 500], classes=np.arange(10))
    assert model.score(x_test, y_test) > 0.9
    with pytest.raises(ValueError, match="classes_"):
        model.partial_fit(x[:5], np.full(5, 11))
    with pytest.raises(ValueError, match="early_stopping"):
        lamina.MLPClassifier(early_stopping=True).partial_fit(x, y, classes=np.arange(10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warm = lamina.MLPClassifier(max_iter=3, warm_start=True, random_state=0).fit(x, y)
        first = warm.loss_
        assert warm.fit(x, y).loss_ < first and len(warm.loss_curve_) == 6


def test_class_and_sample_weights():
    x, y = make_blobs(300, centers=2, cluster_std=8, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in (lamina.MLPClassifier(random_state=0), lamina.RBFClassifier(random_state=0)):
            plain = model.fit(x, y).predict(x)
            by_class = clone(model).set_params(class_weight={0: 100, 1: 1}).fit(x, y).predict(x)
            by_row = clone(model).fit(x, y, sample_weight=np.where(y == 0, 100, 1)).predict(x)
            assert (by_class == 0).sum() > (plain == 0).sum()
            np.testing.assert_array_equal(by_class, by_row)
            left_out = clone(model).fit(x, y, sample_weight=(y == 0).astype(float))
            assert (left_out.predict(x) == 0).all()


def test_callbacks_eval_set_and_early_stopping(digits):
    x, x_test, y, y_test = digits
    seen = []
    model = lamina.MLPClassifier(max_iter=50, callbacks=[lambda r: seen.append(r) or (True if len(seen) == 3 else None)])
    model.fit(x, y, eval_set=(x_test, y_test))
    assert [record["epoch"] for record in seen] == [1, 2, 3] and model.n_iter_ == 3
    assert len(model.validation_loss_curve_) == 3 and seen[2]["validation_accuracy"] > 0.5
    stopped = lamina.MLPClassifier(early_stopping=True, n_iter_no_change=3, learning_rate_init=0.01, random_state=0).fit(x, y)
    assert stopped.n_iter_ < 200 and stopped.best_validation_score_ == max(stopped.validation_scores_) > 0.9
    assert stopped.best_loss_ is None
    bar = lamina.ProgressBar(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lamina.MLPClassifier(max_iter=2, callbacks=bar).fit(x, y)


def test_callbacks_of_scikit_learn(digits):
    pytest.importorskip("sklearn.callback")
    x, _, y, _ = digits

    class Recorder:
        def __init__(self):
            self.calls = []

        def setup(self, estimator, context):
            self.calls.append("setup")

        def teardown(self, estimator, context):
            self.calls.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.calls.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            self.calls.append(f"end {context.task_name}")
            return metadata is not None and metadata["epoch"] == 2

    recorder = Recorder()
    model = lamina.MLPClassifier().set_callbacks(recorder).fit(x, y)
    epochs = ["begin epoch", "end epoch"] * 2
    assert recorder.calls == ["setup", "begin fit", *epochs, "end fit", "teardown"] and model.n_iter_ == 2
    again = pickle.loads(pickle.dumps(model.set_callbacks()))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_several_outputs():
    x, y = make_regression(200, 6, n_targets=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = lamina.MLPRegressor(learning_rate_init=0.01, random_state=0).fit(x, y)
        assert model.predict(x).shape == (200, 3) and model.score(x, y) > 0.9
        x, y = make_multilabel_classification(200, 10, n_classes=4, random_state=0)
        labels = lamina.MLPClassifier(learning_rate_init=0.01, random_state=0).fit(x, y)
    assert labels.predict(x).shape == labels.predict_proba(x).shape == (200, 4)
    assert (labels.predict(x) == y).mean() > 0.9


def test_tables_with_text_and_missing_values(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour, size = rng.choice(["red", "green"], 300), rng.normal(10, 3, 300)
    data = pandas.DataFrame({"colour": colour, "size": size})
    y = np.where((colour == "red") ^ (size > 10), "yes", "no")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = lamina.MLPClassifier(learning_rate_init=0.01, random_state=0).fit(data, y)
    assert model.score(data, y) > 0.93 and list(model.feature_names_in_) == ["colour", "size"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(data), model.predict_proba(data))
    exported = model.to_model()
    exported.save(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(lamina.Model.load(tmp_path / "model.safetensors").predict(data), model.predict(data))
    data.loc[0, "size"] = np.nan
    with pytest.raises(ValueError, match="size"):
        model.predict(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        filled = lamina.MLPClassifier(missing="mean", max_iter=50, random_state=0).fit(data, y)
        numbers = lamina.MLPRegressor(missing="mean", max_iter=50, random_state=0).fit([[1.0], [np.nan], [3.0]] * 9, [1, 2, 3] * 9)
    assert filled.predict(data).shape == (300,) and np.isfinite(numbers.predict([[np.nan]])).all()


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_of_others_are_those_of_pandas(library):
    pandas, other = pytest.importorskip("pandas"), pytest.importorskip(library)
    rng = np.random.default_rng(0)
    columns = {"colour": rng.choice(["red", "green"], 200).tolist(), "size": rng.normal(10, 3, 200).tolist()}
    y = np.array(columns["size"]) > 10
    table = (other.DataFrame if library == "polars" else other.table)(columns)
    for estimator in (lamina.MLPClassifier(max_iter=5, random_state=0), lamina.ELMClassifier(30, random_state=0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            expected = clone(estimator).fit(pandas.DataFrame(columns), y)
            found = clone(estimator).fit(table, y)
        assert list(found.feature_names_in_) == ["colour", "size"]
        np.testing.assert_array_equal(found._outputs_of(table), expected._outputs_of(pandas.DataFrame(columns)))


@pytest.mark.parametrize("kind", NETWORKS)
def test_models_of_estimators(kind, tmp_path):
    x, y = load_diabetes(return_X_y=True) if "Regressor" in kind.__name__ else load_digits(n_class=3, return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator = kind(max_iter=20, scale="standardize", random_state=0).fit(x, y)
    model = estimator.to_model()
    model.save(tmp_path / "m.safetensors")
    model = lamina.Model.load(tmp_path / "m.safetensors")
    predicted = model.predict(x)
    if "Regressor" in kind.__name__:
        np.testing.assert_allclose(predicted, estimator.predict(x), rtol=1e-4)
    else:
        assert (predicted.astype(int) == estimator.predict(x)).all()


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_searches_and_pipelines(digits, backend):
    joblib = pytest.importorskip("joblib")
    x, _, y, _ = digits
    pipeline = make_pipeline(StandardScaler(), lamina.MLPClassifier(max_iter=30, random_state=0))
    with warnings.catch_warnings(), joblib.parallel_config(backend, n_jobs=2):
        warnings.simplefilter("ignore")
        found = GridSearchCV(pipeline, {"mlpclassifier__hidden_layer_sizes": [(1,), (50,)]}, cv=2).fit(x[:400], y[:400])
    assert found.best_params_ == {"mlpclassifier__hidden_layer_sizes": (50,)}


def test_same_bits(digits):
    x, x_test, y, _ = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = lamina.MLPClassifier(max_iter=5, random_state=3).fit(x, y)
        other = lamina.MLPClassifier(max_iter=5, random_state=3).fit(np.asfortranarray(x), y)
    whole = model.predict_proba(x_test)
    np.testing.assert_array_equal(whole, other.predict_proba(x_test))
    np.testing.assert_array_equal(whole[::-1], model.predict_proba(x_test[::-1]))
    np.testing.assert_array_equal(whole[7:8], model.predict_proba(x_test[7:8]))


def test_bf16_and_other_solvers(digits):
    x, x_test, y, y_test = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for options in ({"precision": "bf16"}, {"solver": "adamw"}, {"solver": "lion"},
                        {"activation": "gelu"}, {"solver": "lbfgs"}):
            assert lamina.MLPClassifier(max_iter=60, random_state=0, **options).fit(x, y).score(x_test, y_test) > 0.9


def test_bad_input():
    x, y = np.ones((10, 3)), np.arange(10) % 2
    with pytest.raises(ValueError, match="X has 2 features, but MLPClassifier is expecting 3"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            lamina.MLPClassifier(max_iter=2).fit(x, y).predict(np.ones((4, 2)))
    with pytest.raises(ValueError, match="NaN"):
        lamina.MLPClassifier(max_iter=2).fit(np.full((10, 3), np.nan), y)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        lamina.RBFRegressor().predict(x)
    with pytest.raises(ValueError, match="solver"):
        lamina.MLPClassifier(solver="adm").fit(x, y)
    with pytest.raises(AttributeError):
        lamina.MLPClassifier().coefs_
    with pytest.raises(ValueError, match="zero"):
        lamina.MLPRegressor().fit(x, y, sample_weight=np.zeros(10))


def test_the_last_of_eval_set_decides_and_lbfgs_refuses(digits):
    x, x_test, y, y_test = digits
    options = dict(max_iter=3, random_state=0, hidden_layer_sizes=(8,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        by_list = lamina.MLPClassifier(**options).fit(x, y, eval_set=[(x, y), (x_test, y_test)])
        by_pair = lamina.MLPClassifier(**options).fit(x, y, eval_set=(x_test, y_test))
    assert by_list.validation_loss_curve_ == by_pair.validation_loss_curve_
    for more, given, name in (({}, {"eval_set": (x, y)}, "eval_set"), ({"early_stopping": True}, {}, "early_stopping"),
                              ({"callbacks": [print]}, {}, "callbacks")):
        with pytest.raises(ValueError, match=f"lbfgs.*{name}"):
            lamina.MLPClassifier(solver="lbfgs", **more).fit(x, y, **given)


ALL = [
    lamina.MLPClassifier(6, max_iter=2), lamina.MLPRegressor(hidden_layer_sizes=6, max_iter=2), lamina.ELMClassifier(12), lamina.ELMRegressor(12),
    lamina.FSVCClassifier(), lamina.KNeighborsClassifier(3), lamina.KNeighborsRegressor(3),
]


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_pickles_keep_answers(model, iris):
    x, y = iris
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(model).fit(x, y)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        whole = pickle.dumps(fitted, protocol)
        again = pickle.loads(whole)
        np.testing.assert_array_equal(again.predict(x), fitted.predict(x))
        assert again.get_params() == fitted.get_params()
        for size in (1, len(whole) // 2, len(whole) - 1):
            with pytest.raises(Exception):  # an error, not the end of the process
                pickle.loads(whole[:size])


# No parameter that is a number takes one that is not finite: by its name, before anything is computed.
@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_numbers_that_are_not_finite_are_refused_by_name(model, iris):
    found = {}
    for name, value in model.get_params().items():
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            continue
        for number in (float("nan"), float("inf"), -float("inf")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    clone(model).set_params(**{name: number}).fit(*iris)
            except (ValueError, TypeError) as error:
                if name not in str(error):
                    found[name, number] = str(error)
            else:
                found[name, number] = "taken"
    allowed = {("n_iter_no_change", float("inf"))}  # as in scikit-learn: never
    assert not {key: text for key, text in found.items() if key not in allowed}


def test_callbacks_of_numpy_stop_and_progress_bars_are_pickled(digits):
    x, _, y, _ = digits
    stopped = lamina.MLPClassifier((8,), random_state=0, callbacks=lambda record: np.bool_(True)).fit(x, y)
    assert stopped.n_iter_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        shown = lamina.MLPClassifier((8,), max_iter=2, random_state=0, callbacks=[lamina.ProgressBar(2)]).fit(x, y)
    again = pickle.loads(pickle.dumps(shown))
    np.testing.assert_array_equal(again.predict(x), clone(shown).set_params(callbacks=None, max_iter=2).fit(x, y).predict(x))


def test_foreign_types_of_numbers_in_fit_and_predict():
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = x.sum(1)
    for kind in (">f8", ">f4", np.longdouble):
        model = lamina.MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=20, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(x.astype(kind), y)
        np.testing.assert_allclose(model.predict(x.astype(kind)), model.predict(x), rtol=1e-4)


def test_a_category_of_one_row_is_answered():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    data = pandas.DataFrame({"t": rng.choice(["a", "b"], 90), "x": rng.normal(size=90)})
    data.loc[0, "t"] = "once"
    y = np.where(data["t"] == "a", 1, 0)
    for model in (lamina.MLPClassifier((8,), solver="lbfgs"), lamina.ELMClassifier(20), lamina.RBFClassifier(8, max_iter=5)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert np.isfinite(cross_val_score(model, data, y, cv=3)).all()
            fitted = clone(model).set_params(unseen="error").fit(data[1:], y[1:])
        with pytest.raises(ValueError, match="once"):
            fitted.predict(data)
