"""Networks that are found at once, against loops and closed forms in NumPy."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import cross_val_score, train_test_split

import lamina


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    return train_test_split(x / 8 - 1, y, random_state=0)


def novel_rows(x, radius, overlap, distance):
    centres = [0]
    for i in range(1, len(x)):
        activations = np.maximum(0, 1 - distance(x[centres] - x[i]) / (2.5066 * radius))
        if activations.sum() < overlap:
            centres.append(i)
    return np.array(centres)


def city_block(apart):
    return np.abs(apart).sum(axis=1)


def squares(apart):
    return (apart * apart).sum(axis=1)


def test_fsvc_is_the_authors_loop(digits):
    x, x_test, y, y_test = digits
    found = lamina.FSVCClassifier(radius=7.6, precision="f64").fit(x, y)
    centres = novel_rows(x, 7.6, 1.0, city_block)
    np.testing.assert_array_equal(found.centers_, x[centres])
    votes = np.maximum(0, 1 - np.array([city_block(x[centres] - row) for row in x_test]) / (2.5066 * 7.6))
    scores = votes @ (y[centres][:, None] == np.arange(10))
    np.testing.assert_allclose(found.decision_function(x_test), scores, atol=1e-12)
    np.testing.assert_array_equal(found.predict(x_test), scores.argmax(axis=1))
    assert found.score(x_test, y_test) > 0.95 and found.n_centers_ == len(centres) and found.radius_ == 7.6


def test_sfsvc_goes_class_by_class(digits):
    x, x_test, y, y_test = digits
    names = np.array([f"digit {k}" for k in range(10)])
    found = lamina.SFSVCClassifier(radius=8.0, precision="f64").fit(x, names[y])
    rows = [np.flatnonzero(y == k)[novel_rows(x[y == k], 8.0, 1.0, squares)] for k in range(10)]
    np.testing.assert_array_equal(found.centers_, x[np.concatenate(rows)])
    assert found.score(x_test, names[y_test]) > 0.95


def test_radii_are_found_and_tuning_helps(digits):
    x, x_test, y, y_test = digits
    for kind in (lamina.FSVCClassifier, lamina.SFSVCClassifier):
        plain = kind().fit(x, y)
        assert plain.score(x_test, y_test) > 0.85 and plain.n_centers_ <= 0.6 * len(x)
    coarse = lamina.FSVCClassifier(radius=12.0).fit(x, y)
    tuned = lamina.FSVCClassifier(radius=12.0, learning_rate=0.05, epochs=5).fit(x, y)
    assert tuned.score(x_test, y_test) > coarse.score(x_test, y_test)


@pytest.mark.parametrize("rows", [1300, 60])  # more and fewer than neurons
def test_elm_is_a_ridge_regression(digits, rows):
    x, x_test, y, _ = digits
    weights = np.random.default_rng(0).uniform(0.5, 2, rows)
    found = lamina.ELMClassifier(100, C=0.1, random_state=3).fit(x[:rows], y[:rows], sample_weight=weights)
    network = found._network
    assert network.dtype == "f64"

    def hidden(rows):
        return np.abs(rows @ network.weights(0).T + network.bias(0))

    h, t = hidden(x[:rows]), np.where(y[:rows, None] == np.arange(10), 1.0, -1.0)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.solve(np.eye(100) / 0.1 + (root * h).T @ (root * h), (root * h).T @ (root * t))
    np.testing.assert_allclose(found.coef_, expected, atol=1e-8)
    np.testing.assert_allclose(found.decision_function(x_test), hidden(x_test) @ expected, atol=1e-7)


def test_elm_answers_well_and_chooses_c(digits):
    x, x_test, y, y_test = digits
    for options in ({}, {"C": "auto"}, {"activation": "tanh", "weights": "signs"}, {"class_weight": "balanced"}):
        assert lamina.ELMClassifier(random_state=1, **options).fit(x, y).score(x_test, y_test) > 0.93
    distances = lamina.ELMClassifier(metric="manhattan", activation="triangle", C=1e3, random_state=1)
    assert distances.fit(x, y).score(x_test, y_test) > 0.95
    assert pickle.loads(pickle.dumps(distances)).score(x_test, y_test) == distances.score(x_test, y_test)


def test_elm_regression():
    x, y = load_diabetes(return_X_y=True)
    assert cross_val_score(lamina.ELMRegressor(100, C="auto", random_state=1), x, y, cv=3).mean() > 0.3
    both = lamina.ELMRegressor(50, random_state=1).fit(x, np.stack([y, -y], axis=1))
    np.testing.assert_allclose(both.predict(x)[:, 0], -both.predict(x)[:, 1])


@pytest.mark.parametrize("metric", ["dot", "manhattan"])
def test_rows_that_come_later_are_added(digits, metric):
    x, _, y, _ = digits
    weights = np.random.default_rng(0).uniform(0.5, 2, len(x))
    activation = "abs" if metric == "dot" else "triangle"
    model = lamina.ELMClassifier(80, C=0.1, metric=metric, activation=activation, radius=9.0, scale="none", random_state=3)
    for begin in range(0, len(x), 400):
        part = slice(begin, begin + 400)
        model.partial_fit(x[part], y[part], classes=np.arange(10), sample_weight=weights[part])
        if begin == 400:  # goes on where it was
            model = pickle.loads(pickle.dumps(model))
    hidden, _ = hidden_of(model, x, metric)
    root, targets = np.sqrt(weights)[:, None], np.where(y[:, None] == np.arange(10), 1.0, -1.0)
    expected = np.linalg.solve(np.eye(80) / 0.1 + (root * hidden).T @ (root * hidden), (root * hidden).T @ (root * targets))
    np.testing.assert_allclose(model.coef_, expected, atol=1e-7)
    with pytest.raises(ValueError, match="classes_"):
        model.partial_fit(x[:5], np.full(5, 11))
    with pytest.warns(UserWarning, match="begins anew"):
        model.fit(x, y).partial_fit(x[:400], y[:400])
    np.testing.assert_array_equal(model.coef_, lamina.ELMClassifier(**model.get_params()).partial_fit(x[:400], y[:400]).coef_)
    with pytest.raises(ValueError, match="needs all rows at once"):
        lamina.ELMRegressor(C="auto").partial_fit(x, y)
    numbers = lamina.ELMRegressor(30, scale="standardize", random_state=1)
    assert numbers.partial_fit(x[:600], y[:600]).partial_fit(x[600:], y[600:]).score(x, y) > 0.3


def hidden_of(model, x, metric):
    network = model._network
    if metric == "dot":
        return np.abs(x @ network.weights(0).T + network.bias(0)), network
    apart = np.abs(x[:, None] - network.weights(0)[None]).sum(-1)
    return np.maximum(0, 1 - apart / (2.5066 * 9.0)), network


def test_groups_are_left_out_together():
    rng = np.random.default_rng(4)
    groups = np.repeat(rng.permutation(20), 12)
    level = rng.uniform(-5, 5, 20)[groups]
    x = np.c_[groups + rng.uniform(-0.1, 0.1, 240), rng.uniform(-1, 1, 240)]
    y = level + x[:, 1]
    alone = lamina.RFMRegressor().fit(x, y)
    grouped = lamina.RFMRegressor().fit(x, y, groups=groups)
    assert alone.left_out_error_ < grouped.left_out_error_ / 3
    names = np.array([f"m{g}" for g in groups])
    np.testing.assert_array_equal(lamina.RFMRegressor().fit(x, y, groups=names).left_out_error_, grouped.left_out_error_)
    weights = np.where(np.arange(240) % 4 == 0, 0.0, 1.0)  # rows of no weight have no group either
    kept = weights > 0
    some = lamina.RFMRegressor(scale="none").fit(x, y, sample_weight=weights, groups=names)
    np.testing.assert_allclose(some.left_out_error_, lamina.RFMRegressor(scale="none").fit(x[kept], y[kept], groups=groups[kept]).left_out_error_, rtol=1e-9)
    labels = (y > 0).astype(int)
    model = lamina.RFMClassifier().fit(x, labels, groups=groups)
    assert model.left_out_error_ > lamina.RFMClassifier().fit(x, labels).left_out_error_
    with pytest.raises(ValueError, match="belong to one group"):
        lamina.RFMRegressor().fit(x, y, groups=np.zeros(240))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        lamina.RFMRegressor().fit(x, y, groups=groups[:-1])
    with pytest.raises(ValueError, match="row 3 has none"):
        lamina.RFMRegressor().fit(x, y, groups=np.where(np.arange(240) == 3, np.nan, groups))


def test_earlier_times_answer_later_ones():
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, (160, 2))
    days = rng.permutation(160) // 4
    y = x[:, 0] + days / 20  # nothing that one may know tells it
    alone, timed = lamina.RFMRegressor(scale="none").fit(x, y), lamina.RFMRegressor(scale="none").fit(x, y, times=days)
    assert alone.left_out_error_ < timed.left_out_error_ / 1.2
    dates = np.datetime64("2020-02-27") + days * np.timedelta64(1, "D")
    for others in (dates, days * 3.5 - 7, [date.item() for date in dates]):  # the order alone counts
        assert lamina.RFMRegressor(scale="none").fit(x, y, times=others).left_out_error_ == timed.left_out_error_
    # What the program says of --split-by: the second half, a row by all rows of earlier days.
    order = np.argsort(days, kind="stable")
    fixed = {"metric": "manhattan", "power": 1.0, "feature_weights": "none", "ridge": 0.1, "scale": "none"}
    one = lamina.RFMRegressor(**fixed).fit(x, y, times=days)
    z, mean, squares = (y - y.mean()) / y.std(), 0.0, []
    kernel = np.exp(-np.abs(x[:, None] - x[None]).sum(-1) / one.kernel_["radius"])
    for row in order[80:]:
        past = np.flatnonzero(days < days[row])
        alpha = np.linalg.solve(kernel[np.ix_(past, past)] + 0.1 * np.eye(len(past)), z[past] - mean)
        squares.append((kernel[row, past] @ alpha - z[row]) ** 2)
    np.testing.assert_allclose(one.left_out_error_, np.mean(squares), rtol=1e-9)
    weights = np.where(np.arange(160) % 4 == 0, 0.0, 1.0)
    some = lamina.RFMRegressor(scale="none").fit(x, y, sample_weight=weights, times=days)
    rest = lamina.RFMRegressor(scale="none").fit(x[weights > 0], y[weights > 0], times=days[weights > 0])
    np.testing.assert_allclose(some.left_out_error_, rest.left_out_error_, rtol=1e-9)
    assert lamina.RFMClassifier().fit(x, y > 1, times=days).score(x, y > 1) > 0.8
    for bad, message in (
        ({"times": np.zeros(160)}, "have the same time"),
        ({"times": days[:-1]}, "inconsistent numbers of samples"),
        ({"times": np.where(np.arange(160) == 3, np.nan, days)}, "times: row 3 has none"),
        ({"times": days.astype(str)}, "times are text"),
        ({"times": days, "groups": days}, "give one of them"),
    ):
        with pytest.raises(ValueError, match=message):
            lamina.RFMRegressor().fit(x, y, **bad)


def test_a_model_tells_the_weights_of_its_columns():
    rng = np.random.default_rng(4)
    kind = rng.choice(["a", "b"], 200)
    frame = {"noise": rng.uniform(-1, 1, 200), "kind": kind, "signal": rng.uniform(-1, 1, 200)}
    frame["y"] = np.sin(3 * frame["signal"]) + (kind == "a")
    model = lamina.train(frame, "y").model
    assert list(model.column_weights) == model.columns == ["noise", "kind", "signal"]
    assert max(model.column_weights.values()) == 1
    assert model.column_weights["noise"] < 0.3 * min(model.column_weights["signal"], model.column_weights["kind"])
    assert lamina.train(frame, "y", method="backpropagation", epochs=1).model.column_weights == {}


def test_models_are_the_programs(digits, tmp_path):
    x, x_test, y, _ = digits
    for estimator in (lamina.FSVCClassifier(radius=7.6), lamina.ELMClassifier(50, random_state=1)):
        model = estimator.fit(x, y).to_model()
        model.save(tmp_path / "model.safetensors")
        answers = lamina.Model.load(tmp_path / "model.safetensors").predict({f"x{j}": x_test[:, j] for j in range(64)})
        np.testing.assert_array_equal(np.asarray(answers).astype(int).ravel(), estimator.predict(x_test))


def test_what_cannot_be_is_said(digits):
    x, _, y, _ = digits
    with pytest.raises(ValueError, match="every one of the first .* rows became a center"):
        lamina.FSVCClassifier(radius=1e-9).fit(x, y)
    with pytest.raises(ValueError, match="class '3' has no center among the 19: the radius 15 is too large. Try radius="):
        lamina.FSVCClassifier(radius=15.0).fit(x, y)
    with pytest.raises(ValueError, match="only one with a class in every row"):
        lamina.ELMClassifier().fit(x, np.eye(10, dtype=int)[y][:, [0, 1]] + np.eye(10, dtype=int)[y][:, [2, 3]])
