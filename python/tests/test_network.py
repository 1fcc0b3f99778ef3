"""Networks against NumPy: forward passes, gradients, steps, views, pickles, PyTorch."""

import copy
import pickle
import threading

import numpy as np
import pytest

import lamina

LAYERS = "dot-tanh:6,dot-identity:3"


def make(dtype="f64", layers=LAYERS):
    return lamina.Network(layers, inputs=4, dtype=dtype, initialization="glorot_normal", seed=3)


def by_hand(net, x):
    return np.tanh(x @ net.weights(0).T + net.bias(0)) @ net.weights(1).T + net.bias(1)


@pytest.mark.parametrize("dtype,tolerance", [("f64", 1e-12), ("f32", 1e-5)])
def test_forward(dtype, tolerance):
    net = make(dtype)
    x = np.random.default_rng(0).normal(size=(50, 4))
    expected = by_hand(net, x)
    np.testing.assert_allclose(net.forward(x), expected, rtol=tolerance, atol=tolerance)
    predictor = net.predictor()
    row = np.ascontiguousarray(x[7], predictor.dtype)
    np.testing.assert_allclose(predictor(row), expected[7], rtol=tolerance, atol=tolerance)
    out = np.empty(3, predictor.dtype)
    assert predictor(row, out) is out


def test_parameters_are_views():
    net = make()
    weights = net.weights(0)
    weights[...] = 0
    assert (net.weights(0) == 0).all()
    net.bias(1)[...] = 5
    assert (net.forward(np.ones((1, 4))) == 5 + net.weights(1) @ np.tanh(net.bias(0))).all()
    del net
    assert (weights == 0).all()  # the view keeps the network


def test_gradients_are_those_of_differences():
    net = make()
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(9, 4)), rng.normal(size=(9, 3))
    weight = rng.uniform(0.5, 2, 9)
    for sample_weight in (None, weight):
        _, gradients = net.gradients(x, y, sample_weight=sample_weight)
        gradients = [gradient.copy() for gradient in gradients]
        factor = 1 if sample_weight is None else weight.sum() / len(weight)
        for parameter, gradient in zip(net.parameters(), gradients):
            flat, slopes = parameter.reshape(-1), gradient.reshape(-1)
            for place in range(0, flat.size, 5):
                before = flat[place]
                losses = []
                for step in (1e-6, -1e-6):
                    flat[place] = before + step
                    losses.append(net.gradients(x, y, sample_weight=sample_weight)[0])
                flat[place] = before
                assert slopes[place] == pytest.approx(factor * (losses[0] - losses[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_train_step_is_gradient_descent():
    net = make()
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    first, gradients = net.gradients(x, y)
    expected = [p - 0.01 * g for p, g in zip(net.parameters(), gradients)]
    assert net.train_step(x, y, optimizer="sgd", learning_rate=0.01) == pytest.approx(first)
    for found, wanted in zip(net.parameters(), expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    losses = [net.train_step(x, y, optimizer="adam", learning_rate=0.02) for _ in range(300)]
    assert losses[-1] < first / 3
    assert net.train_step(np.vstack([x, x]), np.vstack([y, y]), optimizer="adam", learning_rate=0.02) < first / 3


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies(duplicate):
    net = lamina.Network("rbf(radius=2)-radius:5,dot-softmax:3", 4, initialization="he_normal", seed=7)
    net.radii(0)[2] = 3
    other = duplicate(net)
    x = np.random.default_rng(0).normal(size=(4, 4)).astype("f4")
    np.testing.assert_array_equal(net.forward(x), other.forward(x))
    other.weights(0)[...] = 0
    assert net.weights(0).any()


@pytest.mark.parametrize("row", [None, [1.0, 2.0], "text", object()])
def test_predictor_says_what_a_row_is(row):
    predictor = lamina.Network("dot-relu:3", inputs=2).predictor()
    with pytest.raises(TypeError, match=f"an array of float32 with 2 numbers is needed, not {type(row).__name__}"):
        predictor(row)


def test_batch_predictor_scales_and_gives_the_same_bits():
    net = make("f32")
    x = np.random.default_rng(0).normal(5, 3, size=(3000, 4))
    scaling = (np.full(4, 5.0), np.full(4, 3.0))
    predictor = lamina.BatchPredictor(net, input_scaling=scaling, output_scaling=(np.ones(3), np.full(3, 2.0)))
    whole = predictor(x)
    np.testing.assert_allclose(whole, 2 * by_hand(net, (x - 5) / 3) + 1, rtol=1e-4, atol=1e-4)
    rows = np.vstack([predictor(x[i : i + 1]) for i in range(40)])
    np.testing.assert_array_equal(rows, whole[:40])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(predictor))(x), whole)
    x[2500, 1] = np.inf
    with pytest.raises(ValueError, match="row 2500"):
        predictor(x)


def test_threads_share_predictors():
    net = make("f32")
    x = np.random.default_rng(0).normal(size=(500, 4)).astype("f4")
    batch, single = lamina.BatchPredictor(net), net.predictor()
    expected = batch(x)
    wrong = []

    def work():
        for i in range(50):
            if not np.array_equal(batch(x), expected) or not np.allclose(single(x[i]), expected[i], atol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_bad_input():
    with pytest.raises(ValueError, match="'tanhh' is not known|tanhh"):
        lamina.Network("dot-tanhh:3", 4)
    net = make()
    with pytest.raises(IndexError, match="layer 2"):
        net.weights(2)
    with pytest.raises(ValueError, match=r"x has the shape \(2, 3\)"):
        net.gradients(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="5"):
        net.forward(np.ones((2, 5)))
    with pytest.raises(ValueError, match="no such option"):
        net.train_step(np.ones((2, 4)), np.ones((2, 3)), learning_rat=1.0)
    with pytest.raises(ValueError, match="4 elements"):
        net.predictor()(np.ones(5))
