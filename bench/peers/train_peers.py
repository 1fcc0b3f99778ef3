#!/usr/bin/python3
"""Usage: train_peers.py NAME SETTINGS REQUEST.json: times one peer in a process of its own, prints one line of JSON.

Started by train_cpu, which sets the environment that SETTINGS ("default" or "best") ask for before a library is loaded.
REQUEST has net, batch, rounds, seconds, threads, folder, rows, test_rows and accuracy. The folder holds raw f32 train.x
and test.x, and i32 train.y and test.y; null stands for random numbers. Accuracy is null, or has rows, epochs, batch and
learning_rate.
"""
import functools
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Callable

SCALED_ROWS = 60_000


class NotInstalled(Exception):
    pass


@dataclass
class Training:
    """A peer ready to train: what one step does, how many rows it takes, and its accuracy after some training."""
    description: str
    step: Callable
    rows: int
    steps: int = 1  # that a call of `step` does
    accuracy: Callable = None  # wanted -> share of the test rows; None: not comparable


def median_seconds(training, request):
    """Seconds for SCALED_ROWS samples, median of the rounds, and the steps of the shortest round."""
    step, batch = training.step, training.rows
    step()
    seconds, fewest = [], math.inf
    for _ in range(request["rounds"]):
        steps, start = 0, time.perf_counter()
        while steps == 0 or time.perf_counter() - start < request["seconds"]:
            step()
            steps += 1
        seconds.append((time.perf_counter() - start) * SCALED_ROWS / (steps * batch))
        fewest = min(fewest, steps * training.steps)
    return statistics.median(seconds), fewest


def torch_peer(settings, request):
    try:
        import torch
    except ImportError as error:
        raise NotInstalled(f"PyTorch is not installed ({error})") from error
    net, batch, rows, best = request["net"], request["batch"], request["rows"], settings == "best"
    if best:
        torch.set_num_threads(request["threads"])
        torch.set_flush_denormal(True)
    torch.manual_seed(1)

    def load(name, shape, dtype):
        return torch.from_file(os.path.join(request["folder"], name), size=math.prod(shape), dtype=dtype).reshape(shape)

    def part(name, count):
        if request["folder"]:
            return load(name + ".x", (count, net[0]), torch.float32), load(name + ".y", (count,), torch.int32).long()
        return torch.rand(count, net[0]), torch.randint(net[-1], (count,))

    x, labels = part("train", rows)
    y = torch.eye(net[-1])[labels]

    def model():
        layers = []
        for inputs, outputs in zip(net, net[1:]):
            layers += [torch.nn.Linear(inputs, outputs), torch.nn.Sigmoid()]
            torch.nn.init.xavier_uniform_(layers[-2].weight)
            torch.nn.init.zeros_(layers[-2].bias)
        return torch.nn.Sequential(*layers)

    def stepper(module, size, rate, rows):
        try:
            optimizer = torch.optim.SGD(module.parameters(), lr=rate, **({"fused": True} if best else {}))
        except (TypeError, RuntimeError):  # older versions have no fused SGD, or none on the CPU
            optimizer = torch.optim.SGD(module.parameters(), lr=rate)
        state = {"at": rows, "order": None, "x": None, "y": None}

        def step():
            if state["at"] + size > rows:
                state.update(at=0, order=torch.randperm(rows))
                if best:  # rows are put in order once an epoch instead of once a step
                    state.update(x=x[state["order"]], y=y[state["order"]])
            at = state["at"]
            state["at"] = at + size
            if best:
                inputs, targets = state["x"][at:at + size], state["y"][at:at + size]
            else:
                chosen = state["order"][at:at + size]
                inputs, targets = x[chosen], y[chosen]
            optimizer.zero_grad()
            ((module(inputs) - targets) ** 2).sum(dim=1).mean().backward()
            optimizer.step()
        return step

    def accuracy(wanted):
        torch.manual_seed(1)
        module = model()
        step = stepper(module, wanted["batch"], wanted["learning_rate"], wanted["rows"])
        for _ in range(wanted["epochs"] * (wanted["rows"] // wanted["batch"])):
            step()
        test_x, test_labels = part("test", request["test_rows"])
        with torch.no_grad():
            return (module(test_x).argmax(dim=1) == test_labels).double().mean().item()

    size, threads = min(batch, rows), torch.get_num_threads()
    return Training(f"PyTorch {torch.__version__}, {threads} thread{'' if threads == 1 else 's'}",
                    stepper(model(), size, 0.05, rows), size, accuracy=accuracy)


def jax_peer(settings, request):
    """One compiled function a step; "best" gathers the rows of an epoch at once, as PyTorch's does."""
    try:
        import jax
        import numpy
        from jax import numpy as jnp
    except ImportError as error:
        raise NotInstalled(f"JAX is not installed ({error})") from error
    net, rows = request["net"], request["rows"]
    x, labels = arrays(request, numpy, "train", rows)
    y = numpy.eye(net[-1], dtype=numpy.float32)[labels]
    rng = numpy.random.default_rng(1)
    parameters = [(jnp.asarray(rng.uniform(-limit, limit, (b, a)), jnp.float32), jnp.zeros(b, jnp.float32))
                  for a, b in zip(net, net[1:]) for limit in [math.sqrt(6 / (a + b))]]

    def loss(layers, inputs, targets):
        for weights, bias in layers:
            inputs = jax.nn.sigmoid(inputs @ weights.T + bias)
        return ((inputs - targets) ** 2).sum(axis=1).mean()

    @functools.partial(jax.jit, donate_argnums=0)
    def train(layers, inputs, targets):
        return jax.tree_util.tree_map(lambda p, g: p - 0.05 * g, layers, jax.grad(loss)(layers, inputs, targets))

    size, best = min(request["batch"], rows), settings == "best"
    state = {"at": rows, "order": None, "x": None, "y": None, "layers": parameters}

    def step():
        if state["at"] + size > rows:
            state.update(at=0, order=rng.permutation(rows))
            if best:
                state.update(x=x[state["order"]], y=y[state["order"]])
        at = state["at"]
        state["at"] = at + size
        chosen = state["order"][at:at + size]
        inputs, targets = (state["x"][at:at + size], state["y"][at:at + size]) if best else (x[chosen], y[chosen])
        state["layers"] = jax.block_until_ready(train(state["layers"], inputs, targets))

    return Training(f"JAX {jax.__version__}", step, size)


def arrays(request, numpy, name, count):
    width, classes = request["net"][0], request["net"][-1]
    if request["folder"]:
        path = os.path.join(request["folder"], name)
        return numpy.fromfile(path + ".x", numpy.float32).reshape(count, width), numpy.fromfile(path + ".y", numpy.int32)
    rng = numpy.random.default_rng(1)
    return rng.random((count, width), dtype=numpy.float32), rng.integers(classes, size=count)


def sklearn_peer(settings, request):
    try:
        import numpy
        import sklearn
        from sklearn.neural_network import MLPClassifier
    except ImportError as error:
        raise NotInstalled(f"scikit-learn is not installed ({error})") from error
    batch = min(request["batch"], request["rows"])
    rows = min(request["rows"], max(batch, 1024 // batch * batch))  # of one call: partial_fit is an epoch
    x, y = arrays(request, numpy, "train", request["rows"])
    x, y = x[:rows], y[:rows]
    net = MLPClassifier(tuple(request["net"][1:-1]), activation="logistic", solver="sgd", batch_size=batch, momentum=0,
                        alpha=0, learning_rate_init=0.05, shuffle=settings == "default")
    net.partial_fit(x, y, classes=numpy.arange(request["net"][-1]))
    return Training(f"scikit-learn {sklearn.__version__}, NumPy {numpy.__version__}", lambda: net.partial_fit(x, y), rows,
                    steps=rows // batch)


def numpy_peer(settings, request):
    """What a user writes by hand: the same formulas as lamina's, so its accuracy can be compared, too."""
    try:
        import numpy
    except ImportError as error:
        raise NotInstalled(f"NumPy is not installed ({error})") from error
    net, rows = request["net"], request["rows"]
    x, labels = arrays(request, numpy, "train", rows)
    y = numpy.eye(net[-1], dtype=numpy.float32)[labels]
    rng = numpy.random.default_rng(1)

    def parameters():
        limits = [math.sqrt(6 / (a + b)) for a, b in zip(net, net[1:])]
        return [[rng.uniform(-limit, limit, (b, a)).astype(numpy.float32), numpy.zeros(b, numpy.float32)]
                for limit, a, b in zip(limits, net, net[1:])]

    def forward(layers, inputs):
        activations = [inputs]
        for weights, bias in layers:
            activations.append(1 / (1 + numpy.exp(-(activations[-1] @ weights.T + bias))))
        return activations

    def stepper(layers, size, rate, rows):
        state = {"at": rows, "order": None}

        def step():
            if state["at"] + size > rows:
                state.update(at=0, order=rng.permutation(rows))
            chosen = state["order"][state["at"]:state["at"] + size]
            state["at"] += size
            activations = forward(layers, x[chosen])
            delta = 2 * (activations[-1] - y[chosen]) * activations[-1] * (1 - activations[-1])
            for i in reversed(range(len(layers))):
                below = activations[i]
                gradient, bias_gradient = delta.T @ below, delta.sum(axis=0)
                if i > 0:
                    delta = (delta @ layers[i][0]) * below * (1 - below)
                layers[i][0] -= numpy.float32(rate / size) * gradient
                layers[i][1] -= numpy.float32(rate / size) * bias_gradient
        return step

    def accuracy(wanted):
        layers = parameters()
        step = stepper(layers, wanted["batch"], wanted["learning_rate"], wanted["rows"])
        for _ in range(wanted["epochs"] * (wanted["rows"] // wanted["batch"])):
            step()
        test_x, test_labels = arrays(request, numpy, "test", request["test_rows"])
        return float((forward(layers, test_x)[-1].argmax(axis=1) == test_labels).mean())

    size = min(request["batch"], rows)
    return Training(f"NumPy {numpy.__version__}, formulas by hand", stepper(parameters(), size, 0.05, rows), size,
                    accuracy=accuracy)


def libxsmm_times(settings, request):
    """libxsmm-dnn's own benchmark of an MLP (tests/mlp/mlp_example.c, installed as xsmm_dnn_mlp): ReLU, random data."""
    program = os.environ.get("LIBXSMM_DNN_MLP") or shutil.which("xsmm_dnn_mlp")
    if not program:
        raise NotInstalled("its program xsmm_dnn_mlp is not on the PATH, and LIBXSMM_DNN_MLP does not name it")
    batch = request["batch"]
    sizes = [*request["net"][:-1], (request["net"][-1] + 63) // 64 * 64]  # it wants whole blocks of outputs
    work = sum((4 if i == 0 else 6) * a * b for i, (a, b) in enumerate(zip(sizes, sizes[1:]))) * batch
    steps = max(1, int(request["seconds"] * 200e9 / work))
    block = "64" if settings == "best" else "32"
    seconds = []
    for _ in range(request["rounds"]):
        done = subprocess.run([program, str(steps), str(batch), "3", "A", "32" if batch % 32 == 0 else str(batch), block, "16",
                               "0", *map(str, sizes)], capture_output=True, text=True, check=True)
        found = re.search(r"^PERFDUMP,BP,([^,]*),.*?([0-9.eE+-]+),[0-9.eE+-]+\s*$", done.stdout, re.MULTILINE)
        seconds.append(float(found.group(2)) * SCALED_ROWS / batch)
    return {"description": f"libxsmm {found.group(1)}, ReLU, {'-'.join(map(str, sizes))}, blocks of {block}",
            "seconds": statistics.median(seconds), "steps": steps}


def times(make):
    """The result of a peer: its training, timed."""
    def result(settings, request):
        training = make(settings, request)
        seconds, steps = median_seconds(training, request)
        found = {"description": training.description, "seconds": seconds, "steps": steps}
        if request["accuracy"] and training.accuracy:
            found["accuracy"] = training.accuracy(request["accuracy"])
        return found
    return result


TRAININGS = {"PyTorch": torch_peer, "JAX": jax_peer, "scikit-learn": sklearn_peer, "NumPy": numpy_peer}
PEERS = {**{name: times(make) for name, make in TRAININGS.items()}, "libxsmm-dnn": libxsmm_times}


def main():
    name, settings, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    result = {"library": name, "settings": settings, "description": "", "seconds": None, "steps": 0, "accuracy": None,
              "reason": ""}
    try:
        result.update(PEERS[name](settings, request))
    except NotInstalled as error:
        result["reason"] = str(error)
    except Exception as error:  # pylint: disable=broad-except
        result["reason"] = f"failed: {type(error).__name__}: {error}"[:300]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
