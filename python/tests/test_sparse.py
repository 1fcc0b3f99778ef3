"""Sparse matrices: compressed rows stay so, and answers are those of dense arrays."""

import resource
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import lamina

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def texts(rows, columns, seed=0, per_row=20):
    """Rows like those of tf-idf, of length 1, and a class by their words."""
    rng = np.random.default_rng(seed)
    words = (columns * rng.random((rows, per_row)) ** 3).astype(np.int32)
    values = rng.random((rows, per_row))
    x = sp.csr_matrix((values.ravel(), words.ravel(), np.arange(rows + 1) * per_row), shape=(rows, columns))
    x.sum_duplicates()
    x = sp.diags(1 / np.sqrt(x.multiply(x).sum(axis=1)).A1) @ x
    told = np.asarray(x.tocsr()[:, : columns // 20].sum(axis=1)).ravel()
    return x.tocsr(), told > np.median(told)


@pytest.mark.parametrize("options", [
    {}, {"solver": "lbfgs", "max_iter": 20}, {"precision": "f64"}, {"hidden_layer_sizes": ()}, {"early_stopping": True},
    {"solver": "sgd", "learning_rate": "adaptive"},
])
def test_answers_are_those_of_dense_rows(options):
    x, y = texts(500, 300)
    options = {"hidden_layer_sizes": (16,), "max_iter": 8, "random_state": 0, **options}
    sparse, dense = lamina.MLPClassifier(**options).fit(x, y), lamina.MLPClassifier(**options).fit(x.toarray(), y)
    assert sparse._x_scaling is None and dense._x_scaling is None
    np.testing.assert_allclose(sparse.predict_proba(x), dense.predict_proba(x.toarray()), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(sparse.predict_proba(x), sparse.predict_proba(x.toarray()), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(sparse.predict_proba(x)[7:8], sparse.predict_proba(x[7:8]))
    assert sparse.score(x, y) == sparse.score(x.toarray(), y) > 0.5


def test_numbers_and_parts_of_the_rows():
    x, y = texts(400, 200)
    target = np.asarray(x.sum(axis=1)).ravel() * 3
    sparse, dense = (lamina.MLPRegressor(hidden_layer_sizes=(8,), max_iter=5, random_state=0) for _ in range(2))
    for begin in range(0, 400, 100):
        part = x[begin : begin + 100]
        sparse.partial_fit(part, target[begin : begin + 100], sample_weight=np.arange(1.0, 101))
        dense.partial_fit(part.toarray(), target[begin : begin + 100], sample_weight=np.arange(1.0, 101))
    np.testing.assert_allclose(sparse.predict(x), dense.predict(x.toarray()), rtol=1e-4)


def test_watched_rows_and_classes_that_come_later():
    x, y = texts(300, 100)
    options = dict(hidden_layer_sizes=(8,), max_iter=4, random_state=0)
    sparse = lamina.MLPClassifier(**options).fit(x[:200], y[:200], eval_set=(x[200:], y[200:]))
    dense = lamina.MLPClassifier(**options).fit(x[:200].toarray(), y[:200], eval_set=(x[200:].toarray(), y[200:]))
    np.testing.assert_allclose(sparse.validation_loss_curve_, dense.validation_loss_curve_, rtol=1e-5)
    parts = lamina.MLPClassifier(**options).partial_fit(x[y], y[y], classes=[False, True]).partial_fit(x, y)
    assert parts.predict_proba(x).shape == (300, 2) and parts.n_iter_ == 2


@pytest.mark.parametrize("make", [sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.coo_array, sp.lil_matrix])
def test_every_kind_of_sparse_matrix_is_taken(make):
    x, y = texts(60, 40)
    options = dict(hidden_layer_sizes=(5,), max_iter=3, random_state=0)
    expected = lamina.MLPClassifier(**options).fit(x, y).predict_proba(x)
    np.testing.assert_array_equal(lamina.MLPClassifier(**options).fit(make(x), y).predict_proba(make(x)), expected)


def test_doubles_are_added_and_columns_sorted():
    starts, columns = np.array([0, 3, 5]), np.array([2, 0, 2, 3, 1])
    x = sp.csr_matrix((np.array([0.1, 0.2, 0.3, 0.4, 0.5]), columns, starts), shape=(2, 4))
    options = dict(hidden_layer_sizes=(3,), max_iter=3, random_state=0)
    found = lamina.MLPClassifier(**options).fit(x, [0, 1])
    dense = lamina.MLPClassifier(**options).fit(x.toarray(), [0, 1])
    np.testing.assert_allclose(found.predict_proba(x), dense.predict_proba(x.toarray()), rtol=1e-6)
    np.testing.assert_array_equal(x.indices, columns)  # what was given is as it was


def test_scaling_keeps_zeros():
    x, y = texts(300, 50)
    x = x * 1000
    model = lamina.MLPClassifier((8,), max_iter=5, random_state=0).fit(x, y)
    offsets, scales = model._x_scaling
    assert not offsets.any() and (scales == abs(x).max(axis=0).toarray().ravel()).all()
    np.testing.assert_allclose(model.predict_proba(x), model.predict_proba(x.toarray()), rtol=1e-5)
    with pytest.raises(ValueError, match='"standardize".*zeros.*"auto"'):
        lamina.MLPClassifier(scale="standardize").fit(x, y)
    dense = lamina.MLPClassifier((8,), max_iter=5, random_state=0).fit(x.toarray(), y)  # standardized
    np.testing.assert_allclose(dense.predict_proba(x), dense.predict_proba(x.toarray()), rtol=1e-4, atol=1e-6)


def test_what_is_not_finite_is_refused():
    x, y = texts(30, 20)
    model = lamina.MLPClassifier((4,), max_iter=2).fit(x, y)
    for number in (np.nan, np.inf):
        wrong = x.copy()
        wrong.data[3] = number
        with pytest.raises(ValueError, match="NaN|infinity"):
            lamina.MLPClassifier((4,)).fit(wrong, y)
        with pytest.raises(ValueError, match="NaN|infinity"):
            model.predict(wrong)
    huge = x.copy()
    huge.data[:] = 1e300
    with pytest.raises(ValueError, match="row 0.*f32"):
        lamina.MLPClassifier((4,), scale="none").fit(huge, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(x[:, :7])


def test_wide_rows_never_become_one_dense_matrix():
    """3,000 rows of 100,000 columns are 1.2 GB as float32."""
    x, y = texts(3000, 100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = lamina.MLPClassifier((4,), max_iter=1, batch_size=50, random_state=0)
    model.fit(x, y).predict(x)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # KiB
