"""Neighbours as scikit-learn's own classes find them."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import neighbors as theirs
from sklearn.datasets import load_diabetes, load_digits
from sklearn.pipeline import make_pipeline

import lamina

METRICS = [{"metric": "manhattan"}, {"metric": "euclidean"}, {"p": 1}, {}]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 5)), rng.normal(size=(20, 5))


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_neighbours(rows, metric):
    x, y = rows
    ours = lamina.NearestNeighbors(n_neighbors=4, **metric).fit(x)
    reference = theirs.NearestNeighbors(n_neighbors=4, algorithm="brute", **metric).fit(x)
    for queries, k in ((y, None), (None, 3)):
        for found, expected in zip(ours.kneighbors(queries, k), reference.kneighbors(queries, k)):
            np.testing.assert_allclose(found, expected, rtol=1e-7)
    for mode in ("distance", "connectivity"):
        np.testing.assert_allclose(
            ours.kneighbors_graph(y, mode=mode).toarray(), reference.kneighbors_graph(y, mode=mode).toarray(), rtol=1e-7
        )
        transformed, expected = (
            kind(mode=mode, n_neighbors=4, **metric).fit(x).transform(y)
            for kind in (lamina.KNeighborsTransformer, theirs.KNeighborsTransformer)
        )
        np.testing.assert_allclose(transformed.toarray(), expected.toarray(), rtol=1e-7)


def inverse_squares(distances):
    return 1 / (1 + distances**2)


@pytest.mark.parametrize("weights", ["uniform", "distance", inverse_squares, None])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_classes_and_numbers(weights, metric):
    options = {"n_neighbors": 6, "weights": weights, **metric}
    for load, name in ((load_digits, "KNeighborsClassifier"), (load_diabetes, "KNeighborsRegressor")):
        x, y = load(return_X_y=True)
        x = np.concatenate([x[:300], x[:20]])  # some rows twice, as far from a query
        y = np.concatenate([y[:300], y[100:120]])
        queries = np.concatenate([load(return_X_y=True)[0][300:400], x[:10]])  # and rows at no distance
        ours = getattr(lamina, name)(**options).fit(x, y)
        reference = getattr(theirs, name)(algorithm="brute", **options).fit(x, y)
        np.testing.assert_array_equal(ours.kneighbors(queries)[1], np.argsort(exact(ours, x, queries), kind="stable")[:, :6])
        # scikit-learn has another order of equal distances: only where it is clear which are the nearest.
        ordered = np.sort(exact(ours, x, queries))
        clear = ordered[:, 5] < ordered[:, 6]
        assert clear.sum() > 60
        if name == "KNeighborsClassifier":
            np.testing.assert_allclose(
                ours.predict_proba(queries)[clear], reference.predict_proba(queries)[clear], rtol=1e-6
            )
        np.testing.assert_allclose(ours.predict(queries)[clear], reference.predict(queries)[clear], rtol=1e-6)


def exact(estimator, x, queries):
    apart = queries[:, None] - x[None]
    return np.abs(apart).sum(-1) if estimator.effective_metric_ == "l1" else np.sqrt((apart**2).sum(-1))


def test_names_of_classes_and_several_numbers(rows):
    x, y = rows
    names = np.where(x[:, 0] > 0, "up", "down")
    classifier = lamina.KNeighborsClassifier(1).fit(x, names)
    np.testing.assert_array_equal(classifier.predict(x), names)
    both = lamina.KNeighborsRegressor(3).fit(x, np.stack([x[:, 0], -x[:, 0]], axis=1)).predict(y)
    np.testing.assert_allclose(both[:, 0], -both[:, 1])
    in_pipeline = make_pipeline(lamina.KNeighborsTransformer(n_neighbors=5), theirs.KNeighborsClassifier(3, metric="precomputed"))
    np.testing.assert_array_equal(in_pipeline.fit(x, names).predict(y), lamina.KNeighborsClassifier(3).fit(x, names).predict(y))


def test_what_cannot_be_is_said(rows):
    x, _ = rows
    with pytest.raises(ValueError, match="n_neighbors = 61, n_samples_fit = 60"):
        lamina.KNeighborsRegressor(61).fit(x, x[:, 0]).predict(x)
    with pytest.raises(ValueError, match="several columns"):
        lamina.KNeighborsClassifier().fit(x, (x > 0).astype(int))
    with pytest.raises(ValueError, match="mode is 'distances'"):
        lamina.NearestNeighbors().fit(x).kneighbors_graph(x, mode="distances")
