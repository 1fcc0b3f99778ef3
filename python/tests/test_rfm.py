"""Kernel machines beside the same thing in NumPy, and beside xRFM where that and PyTorch are installed."""

import pickle

import numpy as np
import pytest

import lamina

datasets = pytest.importorskip("sklearn.datasets")

KERNELS = ((1, 1.0), (2, 1.0), (2, 1.4), (1, 0.7))
METRICS = {1: "manhattan", 2: "euclidean"}


def tables():
    """Ten, standardized: (name, rows, targets), up to 130 rows; classes as 1 and 0 a class."""
    made = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "wdbc": datasets.load_breast_cancer(return_X_y=True),
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "friedman1": datasets.make_friedman1(130, n_features=7, noise=0.5, random_state=1),
        "friedman2": datasets.make_friedman2(130, noise=30, random_state=1),
        "friedman3": datasets.make_friedman3(130, noise=0.05, random_state=1),
        "moons": datasets.make_moons(130, noise=0.3, random_state=1),
        "groups": datasets.make_classification(130, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=1),
        "swiss roll": datasets.make_swiss_roll(130, noise=0.2, random_state=1),
    }
    for name, (x, y) in made.items():
        rows = np.random.default_rng(0).permutation(len(x))[:130]
        x, y = x[rows], y[rows]
        targets = (y[:, None] == np.unique(y)).astype(float) if len(np.unique(y)) < 5 else y[:, None]
        yield name, (x - x.mean(0)) / x.std(0), (targets - targets.mean(0)) / targets.std(0)


def distances(a, b, p):
    apart = np.abs(a[:, None] - b[None])
    return apart.sum(2) if p == 1 else np.sqrt((apart**2).sum(2))


def sketch(x, y, p, q, scale, ridge, rounds=3, full=False):
    """The best round: (error of rows left out, round, s as a matrix, alpha)."""
    s, best = np.eye(x.shape[1]), None
    for number in range(rounds + 1):
        z = x @ s
        d = distances(z, z, p)
        k = np.exp(-((d / scale) ** q))
        inverse = np.linalg.inv(k + ridge * np.eye(len(x)))
        alpha = inverse @ y
        error = ((alpha / np.diag(inverse)[:, None]) ** 2).mean()
        if best is None or error < best[0]:
            best = (error, number, s, alpha)
        if number > 0 and error > 1.1 * best[0]:
            break
        far = d > 1e-9
        w = k * far * np.where(far, d, 1) ** (q - p) * (-q / scale**q)
        apart = z[:, None] - z[None]
        slopes = np.einsum("ij,ijk,jc->ick", w, np.sign(apart) if p == 1 else apart, alpha) @ s.T
        if full:
            products = np.einsum("icj,ick->jk", slopes, slopes)
            s = np.linalg.cholesky(products / np.diag(products).max() + 1e-6 * np.eye(len(products)))
        else:
            squares = (slopes**2).sum((0, 1))
            s = np.diag(np.sqrt(np.maximum(squares / squares.max(), 1e-6)))
    return best


def near(found, wanted):
    return np.abs(found - wanted).max() <= 1e-3 * np.abs(wanted).max()


@pytest.mark.parametrize("full", [False, True])
def test_ten_tables_are_answered_as_in_numpy(full):
    for name, x, y in tables():
        train, new = slice(0, 100), slice(100, None)
        for p, q in KERNELS if not full else KERNELS[1:3]:
            fixed = {"metric": METRICS[p], "power": q, "radius": 3.0, "ridge": 0.01, "scale": "none", "precision": "f64"}
            model = lamina.RFMRegressor(**fixed, feature_weights="full" if full else "diagonal").fit(x[train], y[train])
            mean, deviation = y[train].mean(0), y[train].std(0)
            error, number, s, alpha = sketch(x[train], (y[train] - mean) / deviation, p, q, 3.0, 0.01, full=full)
            answers = np.exp(-((distances(x[new] @ s, x[train] @ s, p) / 3.0) ** q)) @ alpha * deviation + mean
            assert near(model.predict(x[new]).reshape(answers.shape), answers), (name, p, q)
            assert model.kernel_["round"] == number, (name, p, q)
            np.testing.assert_allclose(model.left_out_error_, error, rtol=1e-6)
            lengths = np.sqrt((s**2).sum(1))
            np.testing.assert_allclose(model.column_weights_, lengths / lengths.max(), rtol=1e-5)


@pytest.mark.parametrize("diagonal", [True, False])
def test_xrfm_with_the_same_settings_gives_the_same_answers(diagonal):
    torch = pytest.importorskip("torch", reason="xRFM needs PyTorch, which is not among the tests' requirements")
    rfm = pytest.importorskip("xrfm.rfm_src", reason="xRFM is not among the tests' requirements")
    for name, x, y in tables():
        x, y = x[:130], y[:, :1]  # its classes of several columns are other numbers
        train, new = slice(0, 100), slice(100, None)
        mean, deviation = y[train].mean(0), y[train].std(0)
        for exponent, bandwidth in ((1.0, 10.0), (1.4, 3.0)):
            model = lamina.RFMRegressor(
                metric="euclidean", power=exponent, radius=bandwidth, ridge=1e-3, rounds=5, scale="none", precision="f64",
                feature_weights="diagonal" if diagonal else "full",
            ).fit(x[train], y[train])  # fmt: skip
            peer = rfm.RFM(kernel="l2", bandwidth=bandwidth, exponent=exponent, diag=diagonal, device="cpu", verbose=False)
            rows = [torch.tensor(part, dtype=torch.float64) for part in (x[train], (y[train] - mean) / deviation)]
            settings = {"iters": model.kernel_["round"], "reg": 1e-3, "return_best_params": False, "early_stop_rfm": False}
            peer.fit(tuple(rows), tuple(rows), **settings)
            answers = peer.predict(torch.tensor(x[new], dtype=torch.float64)).numpy() * deviation + mean
            assert near(model.predict(x[new]).reshape(answers.shape), answers), (name, exponent)


def test_the_device_solves_or_says_why_not():
    x = np.random.default_rng(1).normal(size=(60, 3))
    here = lamina.RFMRegressor(device="cpu").fit(x, x[:, 0])
    assert here.kernel_["solver"] == "processor" and here.kernel_["why_processor"] == ""
    there = lamina.RFMRegressor(device="cuda")
    if "cuda" not in lamina.backends():
        with pytest.raises(ValueError, match="cuda"):
            there.fit(x, x[:, 0])
        return
    try:
        there.fit(x, x[:, 0])
    except lamina.Error as error:
        assert "cuda" in str(error), error  # compiled, and without a GPU or its driver
        return
    assert there.kernel_["solver"].startswith("cuda") or there.kernel_["why_processor"]
    np.testing.assert_allclose(there.predict(x), here.predict(x), rtol=1e-6, atol=1e-6)


def test_fewer_neurons_answer_nearly_as_well():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (900, 2))
    y = np.sin(3 * x[:, 0]) + x[:, 1] + rng.uniform(-0.5, 0.5, 900)
    new = rng.uniform(-1, 1, (3000, 2))
    truth = np.sin(3 * new[:, 0]) + new[:, 1]
    whole, fewer = lamina.RFMRegressor().fit(x, y), lamina.RFMRegressor(prune=0.02).fit(x, y)
    assert whole.kernel_["neurons"] == 900 and whole.kernel_["growth"] == 0
    assert fewer.kernel_["neurons"] < 150 and fewer.kernel_["growth"] <= 0.02
    assert fewer.dual_coef_.shape == (fewer.kernel_["neurons"], 1)
    noise = 1 / 12
    errors = [np.mean((model.predict(new) - truth) ** 2) + noise for model in (whole, fewer)]
    assert errors[1] < 1.04 * errors[0]
    labels = y > 0
    classes = lamina.RFMClassifier(prune=0.05).fit(x, labels)
    assert classes.kernel_["neurons"] < 300 and classes.score(x, labels) > 0.85
    for bad in (-0.1, 1.5, "some"):
        with pytest.raises(ValueError, match="prune"):
            lamina.RFMRegressor(prune=bad).fit(x, y)


class InLeaves(lamina.RFMRegressor):
    _most_rows = 300


class ClassesInLeaves(lamina.RFMClassifier):
    _most_rows = 300


def test_leaves_answer_together_through_every_door(tmp_path):
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (800, 2))
    y = np.sin(4 * (x[:, 0] + x[:, 1])) + 0.1 * rng.normal(size=800)
    new = rng.uniform(-1, 1, (400, 2))
    for model, whole, target in (
        (InLeaves(prune=0.05), lamina.RFMRegressor(), y),
        (ClassesInLeaves(prune=0.05), lamina.RFMClassifier(), np.where(y > 0, "up", "down")),
    ):
        asked = "predict" if target is y else "predict_proba"
        answers, wanted = (getattr(one.fit(x, target), asked)(new) for one in (model, whole))
        assert len(model._leaves[0]) == 3
        assert np.mean((answers - wanted) ** 2) < 0.01
        # One row is answered as among many, a copy by pickle as the first, and the saved model as both.
        parts = np.concatenate([model.predict(new[i : i + 1]) for i in range(20)])
        assert (parts == model.predict(new)[:20]).all()
        assert (pickle.loads(pickle.dumps(model)).predict(new) == model.predict(new)).all()
        path = tmp_path / "leaves.safetensors"
        model.to_model().save(path)
        of_model = lamina.Model.load(path).predict_outputs(new)
        np.testing.assert_allclose(np.asarray(of_model).reshape(answers.shape), answers, rtol=2e-5, atol=2e-6)


def test_full_weights_are_for_euclidean_distances():
    x = np.random.default_rng(1).uniform(-1, 1, (80, 3))
    y = np.sin(4 * (x[:, 0] + x[:, 1]))
    full, diagonal = lamina.RFMRegressor(feature_weights="full").fit(x, y), lamina.RFMRegressor().fit(x, y)
    assert full.kernel_["distance"] == "l2" and full.left_out_error_ < diagonal.left_out_error_ / 2
    assert full.column_weights_.shape == (3,) and full.column_weights_[2] < 0.3 < full.column_weights_[:2].min()
    with pytest.raises(ValueError, match="Euclidean distances alone"):
        lamina.RFMRegressor(feature_weights="full", metric="manhattan", power=1.0).fit(x, y)
