"""Radius search and what answers by it, as scikit-learn's own classes do."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from scipy.sparse import csr_matrix
from sklearn import neighbors as theirs

import lamina

METRICS = [{"metric": "manhattan"}, {"metric": "euclidean"}, {}]


def squares(distances):
    return np.array([1 / (1 + each**2) for each in distances], object)


@pytest.fixture(scope="module")
def rows():
    """Rows, some twice, and queries, some at no distance and one far away."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(90, 3)), rng.normal(size=(30, 3))
    return np.concatenate([x, x[:7]]), np.concatenate([y, x[5:9], [[40.0, 0, 0]]])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weights", ["uniform", "distance", squares, None])
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_classes_and_numbers(rows, weights, metric, sparse):
    x, queries = rows
    rng = np.random.default_rng(1)
    names, numbers = rng.choice(["up", "down", "left"], len(x)), rng.normal(size=len(x))
    options = {"radius": 1.2, "weights": weights, **metric}
    kept, asked = (csr_matrix(part) if sparse else part for part in (x, queries))
    ours = lamina.RadiusNeighborsClassifier(outlier_label="down", **options).fit(kept, names)
    # (By brute force scikit-learn looks for the label among numbers of classes.)
    reference = theirs.RadiusNeighborsClassifier(outlier_label="down", algorithm="ball_tree", **options).fit(x, names)
    for given, same in ((asked, queries), (None, None)):
        np.testing.assert_allclose(ours.predict_proba(given), reference.predict_proba(same), rtol=1e-9)
        np.testing.assert_array_equal(ours.predict(given), reference.predict(same))
    assert ours.predict(asked)[-1] == "down"  # nobody is near
    for targets in (numbers, np.stack([numbers, -numbers, numbers**2], axis=1)):
        ours = lamina.RadiusNeighborsRegressor(**options).fit(kept, targets)
        # (By brute force scikit-learn takes products, by which a row may lie 1e-8 away from itself.)
        reference = theirs.RadiusNeighborsRegressor(algorithm="ball_tree", **options).fit(x, targets)
        with pytest.warns(UserWarning, match="no neighbors within specified radius; predicting NaN"):
            found, expected = ours.predict(asked), reference.predict(queries)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        assert np.isnan(found[-1]).all() and not np.isnan(found[:-5]).all()


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_several_targets(rows, weights):
    x, queries = rows
    targets = np.stack([(x[:, 0] > 0).astype(int), x[:, 1].round().astype(int)], axis=1)
    for outlier in ("most_frequent", 1, [0, -1], [0, 77]):
        options = {"radius": 1.5, "weights": weights, "outlier_label": outlier}
        ours = lamina.RadiusNeighborsClassifier(**options).fit(x, targets)
        reference = theirs.RadiusNeighborsClassifier(algorithm="ball_tree", **options).fit(x, targets)
        assert ours.outlier_label_ == reference.outlier_label_
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, expected = ours.predict_proba(queries), reference.predict_proba(queries)
        told = [str(each.message) for each in caught]
        assert len(told) == 2 * (outlier == [0, 77]) and all(each == told[0] for each in told)
        for share, same in zip(found, expected, strict=True):
            np.testing.assert_allclose(share, same, rtol=1e-9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(ours.predict(queries), reference.predict(queries))


def refusal(kind, options, x, y, queries):
    try:
        kind(**options).fit(x, y).predict(queries)
    except (TypeError, ValueError) as error:
        return type(error), str(error)[:40]
    return None


@pytest.mark.parametrize("outlier", [None, 1.5, "up", [0, 1], [[0, 1]], [[0], [1]]], ids=str)
def test_refusals_are_those_of_scikit_learn(rows, outlier):
    x, queries = rows
    y = (x[:, 0] > 0).astype(int)
    options = {"radius": 1.0, "outlier_label": outlier}
    found = refusal(lamina.RadiusNeighborsClassifier, options, x, y, queries)
    expected = refusal(theirs.RadiusNeighborsClassifier, {**options, "algorithm": "brute"}, x, y, queries)
    assert found is not None and expected is not None and found[0] in (expected[0], *expected[0].__bases__)
    if "parameter" not in expected[1]:
        assert found[1] == expected[1]


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_tree_changes_nothing(metric, dtype):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 150, (9000, 2)).astype(dtype)  # many at exactly the radius, and rows that are there twice
    by_tree = lamina.NearestNeighbors(radius=3, **metric).fit(x)
    plain = lamina.NearestNeighbors(radius=3, algorithm="brute", **metric).fit(x)
    by_tree._tree.asked = 1 << 40  # so many rows were asked for that one has paid
    some = x[::9]
    for queries in (some, some[:1]):
        for options in ({}, {"sort_results": True}):
            for found, expected in zip(by_tree.radius_neighbors(queries, **options), plain.radius_neighbors(queries, **options)):
                for each, same in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(each, same)
                    assert each.dtype == same.dtype
    assert by_tree._tree.tree is not None and plain._tree.tree is None
    graphs = [each.radius_neighbors_graph(None, 1.0) for each in (by_tree, plain)]
    assert (graphs[0] != graphs[1]).nnz == 0 and graphs[0].diagonal().sum() == 0 < graphs[0].nnz


def test_a_radius_of_nearly_all_rows_asks_no_tree():
    x = np.random.default_rng(0).normal(size=(20000, 2))
    model = lamina.NearestNeighbors(radius=1e9).fit(x)
    model._tree.asked = 1 << 40
    assert model._within_by_tree(x[:3], np.full(3, 1e9), False, False) is None
    assert model._within_by_tree(x[:3], np.full(3, 1e-3), False, False) is not None
    assert [len(each) for each in model.radius_neighbors(x[:3], return_distance=False)] == [20000] * 3


def test_a_radius_of_each_row(rows):
    x, queries = rows
    radii = np.linspace(0.1, 3, len(queries))
    found = lamina.NearestNeighbors().fit(x).radius_neighbors(queries, radii, return_distance=False)
    expected = theirs.NearestNeighbors(algorithm="ball_tree").fit(x).radius_neighbors(queries, radii, return_distance=False)
    for each, same in zip(found, expected, strict=True):
        np.testing.assert_array_equal(each, np.sort(same))
    assert lamina.NearestNeighbors().fit(x).radius_neighbors(queries, -1.0, return_distance=False)[0].size == 0
