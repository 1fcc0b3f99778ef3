"""Rows in partitions give what all rows in one place give; estimators under dask's and joblib's schedulers."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
import dask.array
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import GridSearchCV

import lamina
import lamina.dask

SETTINGS = {"n_neurons": 60, "precision": "f64", "random_state": 3}


@pytest.fixture(scope="module")
def cluster():
    with dask.config.set({"distributed.worker.daemon": True}):
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as local:
            with distributed.Client(local) as client:
                yield client


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return x, np.array([f"digit {k}" for k in y])


def in_chunks(*arrays):
    return tuple(dask.array.from_array(a, chunks=(250, *(30,) * (a.ndim - 1))) for a in arrays)


def test_classifier_in_partitions(cluster, digits):
    x, y = digits
    weights = np.random.default_rng(0).uniform(0.5, 2, len(x))
    estimator = lamina.ELMClassifier(class_weight={"digit 3": 2.0} | {f"digit {k}": 1.0 for k in range(10) if k != 3}, **SETTINGS)
    whole = estimator.fit(x, y, weights)
    parts = lamina.dask.fit(estimator, *in_chunks(x, y, weights))
    assert parts is not estimator
    np.testing.assert_array_equal(parts.classes_, whole.classes_)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-8)
    chunks = in_chunks(x)[0]
    for method in ("predict", "decision_function"):
        answers = getattr(lamina.dask, method)(parts, chunks)
        assert answers.chunks[0] == chunks.chunks[0]
        np.testing.assert_array_equal(answers.compute(), getattr(parts, method)(x))
    knn = lamina.KNeighborsClassifier(3).fit(x[:500], y[:500])
    np.testing.assert_array_equal(lamina.dask.predict_proba(knn, chunks).compute(), knn.predict_proba(x))


def test_classes_that_few_partitions_have(digits):
    x, y = digits
    order = np.argsort(y, kind="stable")
    estimator = lamina.ELMClassifier(**SETTINGS)
    parts = lamina.dask.fit(estimator, *in_chunks(x[order], y[order]))
    np.testing.assert_allclose(parts.coef_, estimator.fit(x[order], y[order]).coef_, atol=1e-8)


def test_frames(cluster):
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    x, y = load_diabetes(return_X_y=True, as_frame=True)
    estimator = lamina.ELMRegressor(**{**SETTINGS, "C": 10.0})
    whole = estimator.fit(x, y)
    x_parts, y_parts = (frames.from_pandas(part, npartitions=3) for part in (x, y))
    parts = lamina.dask.fit(estimator, x_parts, y_parts)
    assert list(parts.feature_names_in_) == list(x.columns)
    np.testing.assert_allclose(parts.predict(x), whole.predict(x), rtol=1e-6)
    np.testing.assert_array_equal(lamina.dask.predict(parts, x_parts).compute(), parts.predict(x))
    assert isinstance(pandas.Series(parts.predict(x)), pandas.Series)


@pytest.mark.parametrize("centres", ["k-means", "k-medians"])
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_centres_of_clusters(cluster, digits, centres, precision):
    x, y = (a[:300] for a in digits)
    settings = {**SETTINGS, "n_neurons": 8, "precision": precision, "metric": "euclidean", "activation": "gaussian", "radius": 2.0, "centres": centres}
    estimator = lamina.ELMClassifier(**settings)
    whole = estimator.fit(x, y)
    parts = lamina.dask.fit(estimator, *in_chunks(x, y))
    np.testing.assert_allclose(parts.hidden_weights_, whole.hidden_weights_, atol=1e-5 if precision == "f32" else 1e-12)
    if precision == "f64":
        np.testing.assert_allclose(parts.decision_function(x), whole.decision_function(x), atol=1e-6)
    one = lamina.dask.fit(estimator, *(dask.array.from_array(a, chunks=-1) for a in (x, y)))
    np.testing.assert_array_equal(one.hidden_weights_, whole.hidden_weights_)  # the same sums
    assert len(np.unique(whole.hidden_weights_, axis=0)) == 8


def test_centres_without_rows_are_filled_alike(digits):
    """Sums of whole numbers are exact: partitions change no bit."""
    x, y = digits
    few, classes = np.repeat(x[:30], 9, axis=0), np.repeat(y[:30], 9)
    estimator = lamina.ELMClassifier(**{**SETTINGS, "metric": "manhattan", "activation": "triangle", "radius": 90.0, "scale": "none"})
    for centres in ("k-means", "k-medians"):
        estimator.set_params(centres=centres)
        with dask.config.set(scheduler="synchronous"):  # hundreds of small tasks
            parts = lamina.dask.fit(estimator, *(dask.array.from_array(a, chunks=(70, *(64,) * (a.ndim - 1))) for a in (few, classes)))
        np.testing.assert_array_equal(parts.hidden_weights_, estimator.fit(few, classes).hidden_weights_)


def test_what_cannot_be_is_said(digits):
    x, y = digits
    chunks = in_chunks(x, y)
    with pytest.raises(TypeError, match="MLPClassifier cannot be fitted in partitions"):
        lamina.dask.fit(lamina.MLPClassifier(), *chunks)
    with pytest.raises(TypeError, match="X is a ndarray"):
        lamina.dask.fit(lamina.ELMClassifier(), x, y)
    with pytest.raises(ValueError, match="X has 8 partitions, y 1"):
        lamina.dask.fit(lamina.ELMClassifier(), chunks[0], chunks[1].rechunk(-1))
    with pytest.raises(ValueError, match="2000 centers of 1797 rows"):
        lamina.dask.fit(lamina.ELMClassifier(2000, metric="euclidean", centres="k-means"), *chunks)
    with pytest.raises(ValueError, match="is of distances"):
        lamina.dask.fit(lamina.ELMClassifier(centres="k-means"), *chunks)
    with pytest.raises(ValueError, match="needs all rows at once"):
        lamina.dask.fit(lamina.ELMClassifier(C="auto"), *chunks)


def test_searches_under_dask(cluster, digits):
    joblib = pytest.importorskip("joblib")
    x, y = digits
    with warnings.catch_warnings(), joblib.parallel_config("dask"):
        warnings.simplefilter("ignore")
        search = GridSearchCV(lamina.MLPClassifier(max_iter=20, random_state=0), {"hidden_layer_sizes": [(1,), (50,)]}, cv=2)
        found = search.fit(x[:300], y[:300])
    assert found.best_params_ == {"hidden_layer_sizes": (50,)}
