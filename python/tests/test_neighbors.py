"""Neighbors as scikit-learn's own classes find them."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import neighbors as theirs
from sklearn.datasets import load_diabetes, load_digits
from sklearn.pipeline import make_pipeline

import lamina

METRICS = [{"metric": "manhattan"}, {"metric": "euclidean"}, {"p": 1.0}, {}]


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


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_several_targets(rows, weights):
    x, y = rows
    targets = np.stack([np.where(x[:, 0] > 0, "up", "down"), np.where(x[:, 1] > 0, "left", "right"), x[:, 2].round().astype(str)], axis=1)
    ours = lamina.KNeighborsClassifier(4, weights=weights).fit(x, targets)
    reference = theirs.KNeighborsClassifier(4, weights=weights, algorithm="brute").fit(x, targets)
    np.testing.assert_array_equal(ours.predict(y), reference.predict(y))
    for shares, expected in zip(ours.predict_proba(y), reference.predict_proba(y), strict=True):
        np.testing.assert_allclose(shares, expected, rtol=1e-6)
    for classes, expected in zip(ours.classes_, reference.classes_, strict=True):
        np.testing.assert_array_equal(classes, expected)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
def test_all_within_a_radius(rows, metric, sparse):
    from scipy.sparse import csr_matrix

    x, y = (csr_matrix(part) for part in rows) if sparse else rows
    ours = lamina.NearestNeighbors(radius=2.5, **metric).fit(x)
    reference = theirs.NearestNeighbors(radius=2.5, algorithm="brute", **metric).fit(x)
    for queries, radius in ((y, None), (None, 3.0), (y, 0)):
        for found, expected in zip(ours.radius_neighbors(queries, radius, sort_results=True),
                                   reference.radius_neighbors(queries, radius, sort_results=True), strict=True):
            for some, same in zip(found, expected, strict=True):
                np.testing.assert_allclose(some, same, rtol=1e-6)
        for mode in ("distance", "connectivity"):
            graphs = (each.radius_neighbors_graph(queries, radius, mode).toarray() for each in (ours, reference))
            np.testing.assert_allclose(*graphs, rtol=1e-6)
    indices = ours.radius_neighbors(y, 2.5, return_distance=False)
    assert all((np.diff(some) > 0).all() for some in indices)  # by number
    whole = np.array([[0.0], [3.0], [3.5]])
    assert lamina.NearestNeighbors().fit(whole).radius_neighbors(whole[:1], 3.0)[1][0].tolist() == [0, 1]  # at the radius, too


def test_sparse_rows_stay_sparse(rows, monkeypatch):
    from scipy.sparse import random

    import lamina._kept_rows as module

    monkeypatch.setattr(module, "_BLOCK_BYTES", 8 * 300 * 7)  # seven rows at a time
    x, queries = (random(count, 300, 0.05, "csr", random_state=1) for count in (50, 20))
    y = np.arange(50) % 3
    for metric in METRICS:
        ours = lamina.NearestNeighbors(n_neighbors=6, **metric).fit(x)
        assert ours._fit_X.format == "csr"
        dense = lamina.NearestNeighbors(n_neighbors=6, **metric).fit(x.toarray())
        for given, same in ((queries, queries.toarray()), (None, None)):
            for found, expected in zip(ours.kneighbors(given), dense.kneighbors(same), strict=True):
                np.testing.assert_array_equal(found, expected)
    of_sparse = lamina.KNeighborsClassifier(3).fit(x, y).predict_proba(queries)
    np.testing.assert_array_equal(of_sparse, lamina.KNeighborsClassifier(3).fit(x.toarray(), y).predict_proba(queries.toarray()))
    np.testing.assert_array_equal(lamina.KNeighborsRegressor(3).fit(x, y).predict(queries.tocsc()),
                                  lamina.KNeighborsRegressor(3).fit(x.toarray(), y).predict(queries.toarray()))


def test_a_tree_is_made_where_it_pays_and_changes_nothing():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 300, (60000, 2)).astype("f4")  # many are equally near
    by_tree = lamina.NearestNeighbors(n_neighbors=7).fit(x)
    plain = lamina.NearestNeighbors(n_neighbors=7, algorithm="brute").fit(x)
    by_tree.kneighbors(x[:2])
    assert by_tree._tree.tree is None  # two rows do not pay for it
    distances, indices = by_tree.kneighbors(x[::3])
    apart = lamina.cdist(x[::300], x)
    expected = np.argsort(apart, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(indices[::100], expected)
    np.testing.assert_array_equal(distances[::100], np.take_along_axis(apart, expected, 1))
    assert by_tree._tree.tree is not None and plain._tree.tree is None
    again = pickle.loads(pickle.dumps(by_tree))
    np.testing.assert_array_equal(again.kneighbors(x[:9])[1], plain.kneighbors(x[:9])[1])
    for found, expected in zip(lamina.nearest(x[::3], x, 7, "l2"), plain.kneighbors(x[::3]), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_is_said(rows):
    x, _ = rows
    with pytest.raises(ValueError, match="n_neighbors = 61, n_samples_fit = 60"):
        lamina.KNeighborsRegressor(61).fit(x, x[:, 0]).predict(x)
    for name in ("KNeighborsClassifier", "KNeighborsRegressor"):
        nobody = getattr(lamina, name)(weights=np.zeros_like).fit(x, (x[:, 0] > 0).astype(int))
        with pytest.raises(ValueError, match="zero weights"):
            nobody.predict(x)
    assert lamina.NearestNeighbors(leaf_size=5, metric_params={}).fit(x).kneighbors(x[:1], 1)[1] == [[0]]
    with pytest.raises(ValueError, match="no metric of lamina takes any"):
        lamina.NearestNeighbors(metric_params={"p": 3}).fit(x)
    with pytest.raises(ValueError, match="'p' parameter"):
        lamina.NearestNeighbors(p=1.5).fit(x)
    with pytest.raises(TypeError, match="enter integer"):
        lamina.NearestNeighbors().fit(x).kneighbors(x, 2.0)
    with pytest.raises(ValueError, match="n_neighbors > 0. Got -1"):
        lamina.NearestNeighbors().fit(x).kneighbors(x, -1)
    with pytest.raises(ValueError, match="mode is 'distances'"):
        lamina.NearestNeighbors().fit(x).kneighbors_graph(x, mode="distances")
