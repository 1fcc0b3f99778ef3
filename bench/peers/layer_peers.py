"""What other libraries offer for the layers that layer_cpu races.

Each function gets a layer (L1, L2, tanh(dot)), samples, weights and the number of threads, and yields its peers.
"""
import contextlib
import math
import os
import sys
from dataclasses import dataclass
from typing import Callable

# Synapses a call of slow peers is cut to: half a second pair by pair, a tenth of a second for the paper's strided loop.
PAIRWISE_SYNAPSES, PAPER_SYNAPSES = 2_000_000_000, 32_000_000


@dataclass
class Peer:
    name: str
    call: Callable  # first samples to compute -> outputs, samples x neurons
    most_synapses: float = math.inf

    def rows(self, samples, neurons, inputs):
        return int(max(1, min(samples, self.most_synapses // (neurons * inputs))))


@contextlib.contextmanager
def silence():
    """Discards what anybody in this process writes to standard error."""
    saved = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def wrong(layer, x, w, result, whole):
    """What is wrong with the result for the samples x, or nothing. `whole`: lamina's result for these or more."""
    import numpy
    rows = len(x)
    if result.shape != (rows, len(w)):
        return f"its shape is {result.shape}"
    # Rounding errors of f32 sums grow like sqrt(inputs) * eps * sum of |terms|; a wrong term is far beyond.
    terms = numpy.abs(x[:1].astype(float) * w) if layer == "tanh(dot)" else numpy.abs(x[:1].astype(float) - w)
    scale = numpy.sqrt((terms ** 2).sum(axis=1)).max() if layer == "L2" else terms.sum(axis=1).max()
    tolerance = 4 * math.sqrt(x.shape[1]) * numpy.finfo(numpy.float32).eps * scale
    random = numpy.random.default_rng(2)
    for i, j in [(0, 0), (rows - 1, len(w) - 1), *zip(random.integers(rows, size=100), random.integers(len(w), size=100))]:
        a, b = x[i].astype(float), w[j].astype(float)
        expected = {"L1": numpy.abs(a - b).sum(), "L2": numpy.linalg.norm(a - b), "tanh(dot)": numpy.tanh(a @ b)}[layer]
        if not abs(result[i, j] - expected) <= tolerance:
            return f"[{i}, {j}] is {result[i, j]}, not {expected}"
    if whole is not None and not (largest := numpy.abs(result - whole[:rows]).max()) <= 2 * tolerance:
        return f"it differs from lamina's by {largest}"
    return None


def torch_peers(layer, x, w, threads):
    # With NumPy 2, a PyTorch built for NumPy 1 says at length that it lacks from_numpy() and numpy(). dlpack works.
    with silence():
        import torch
        torch.set_num_threads(threads)
        tx, tw = torch.from_dlpack(x), torch.from_dlpack(w)
        torch.cdist(tx[:1], tw[:1])
    out = sys.modules["numpy"].from_dlpack
    if layer == "tanh(dot)":
        yield Peer(f"PyTorch {torch.__version__} tanh(x @ w.T)", lambda rows: out(torch.tanh(tx[:rows] @ tw.T)))
    else:
        p = 1 if layer == "L1" else 2
        yield Peer(f"PyTorch {torch.__version__} cdist p={p}", lambda rows: out(torch.cdist(tx[:rows], tw, p=p)),
                   PAIRWISE_SYNAPSES if p == 1 else math.inf)


def scipy_peers(layer, x, w, threads):
    import scipy
    from scipy.spatial.distance import cdist
    if layer != "tanh(dot)":
        metric = "cityblock" if layer == "L1" else "euclidean"
        yield Peer(f"SciPy {scipy.__version__} cdist {metric} (f64, 1 thread)", lambda rows: cdist(x[:rows], w, metric),
                   PAIRWISE_SYNAPSES)


def sklearn_peers(layer, x, w, threads):
    import sklearn
    from sklearn.metrics.pairwise import pairwise_distances
    if layer == "L1":
        yield Peer(f"scikit-learn {sklearn.__version__} manhattan, n_jobs={threads}",
                   lambda rows: pairwise_distances(x[:rows], w, "manhattan", n_jobs=threads), PAIRWISE_SYNAPSES)
    elif layer == "L2":
        yield Peer(f"scikit-learn {sklearn.__version__} euclidean", lambda rows: pairwise_distances(x[:rows], w, "euclidean"))


def faiss_peers(layer, x, w, threads):
    import faiss
    import numpy
    faiss.omp_set_num_threads(threads)
    name = f"faiss {faiss.__version__} pairwise_distances"
    if layer == "L1":
        yield Peer(name + " L1", lambda rows: faiss.pairwise_distances(x[:rows], w, faiss.METRIC_L1), PAIRWISE_SYNAPSES)
    elif layer == "L2":
        def root(rows):
            squares = faiss.pairwise_distances(x[:rows], w, faiss.METRIC_L2)
            return numpy.sqrt(numpy.maximum(squares, 0, out=squares), out=squares)
        yield Peer(name + " L2, NumPy root", root)


def numba_peers(layer, x, w, threads):
    """A loop as one would write it today; hidden_rbf and hidden_mul of the 2017 paper (II.B): features x samples."""
    import numba
    import numpy
    numba.set_num_threads(threads)
    term, last = {"L1": (lambda a, b: abs(a - b), lambda total: total),
                  "L2": (lambda a, b: (a - b) * (a - b), lambda total: math.sqrt(total)),
                  "tanh(dot)": (lambda a, b: a * b, lambda total: math.tanh(total))}[layer]
    fast_term, term, last = numba.njit(term, fastmath=True), numba.njit(term), numba.njit(last)

    @numba.njit(parallel=True, fastmath=True)
    def contiguous(x, w):
        out = numpy.empty((x.shape[0], w.shape[0]), numpy.float32)
        for i in numba.prange(x.shape[0]):
            for j in range(w.shape[0]):
                total = numpy.float32(0)
                for k in range(x.shape[1]):
                    total += fast_term(x[i, k], w[j, k])
                out[i, j] = last(total)
        return out

    @numba.njit
    def paper(weights, samples, h, rows):
        for i in range(rows):
            for j in range(weights.shape[1]):
                d = 0.0
                for k in range(samples.shape[0]):
                    d += term(samples[k, i], weights[k, j])
                h[j, i] = last(d)
        return h

    name = f"Numba {numba.__version__}"
    yield Peer(name + " parallel, fast-math, contiguous", lambda rows: contiguous(x[:rows], w), PAIRWISE_SYNAPSES)
    if layer != "L2":
        xt, wt = x.T.astype(numpy.float64, order="C"), w.T.astype(numpy.float64, order="C")
        h = numpy.empty((w.shape[0], x.shape[0]))
        yield Peer(name + " 2017 paper's loop (f64, 1 thread)", lambda rows: paper(wt, xt, h, rows)[:, :rows].T, PAPER_SYNAPSES)


def numpy_peers(layer, x, w, threads):
    import numpy
    if layer == "tanh(dot)":
        yield Peer(f"NumPy {numpy.__version__} tanh(x @ w.T)", lambda rows: numpy.tanh(x[:rows] @ w.T))


def jax_peers(layer, x, w, threads):
    """JAX takes as many threads as the process has cores, whatever is asked."""
    import jax
    import numpy
    from jax import numpy as jnp
    function = {"tanh(dot)": lambda a, b: jnp.tanh(a @ b.T),
                "L1": lambda a, b: jax.lax.map(lambda row: jnp.abs(row - b).sum(axis=1), a)}.get(layer)
    if function is None:
        return
    compiled, jx, jw = jax.jit(function), jnp.asarray(x), jnp.asarray(w)
    name = f"JAX {jax.__version__} {'tanh(x @ w.T)' if layer == 'tanh(dot)' else 'map of |x - w|'}"
    yield Peer(name, lambda rows: numpy.asarray(jax.block_until_ready(compiled(jx[:rows], jw))),
               PAIRWISE_SYNAPSES if layer == "L1" else math.inf)


def onnx_model(weights, activations, biases=None):
    """The bytes of a network of Gemm layers, any number of rows."""
    from onnx import TensorProto, helper, numpy_helper
    nodes, numbers, name = [], [], "x"
    for i, (w, activation) in enumerate(zip(weights, activations)):
        numbers.append(numpy_helper.from_array(w, f"w{i}"))
        inputs = [name, f"w{i}"]
        if biases:
            numbers.append(numpy_helper.from_array(biases[i], f"b{i}"))
            inputs.append(f"b{i}")
        nodes += [helper.make_node("Gemm", inputs, [f"z{i}"], transB=1), helper.make_node(activation, [f"z{i}"], [f"a{i}"])]
        name = f"a{i}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["rows", size])
            for n, size in (("x", weights[0].shape[1]), (name, weights[-1].shape[0]))]
    model = helper.make_model(helper.make_graph(nodes, "layers", ends[:1], ends[1:], numbers),
                              opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def onnx_session(model, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def onnxruntime_peers(layer, x, w, threads):
    import onnxruntime
    if layer == "tanh(dot)":
        session = onnx_session(onnx_model([w], ["Tanh"]), threads)
        yield Peer(f"onnxruntime {onnxruntime.__version__} Gemm, Tanh", lambda rows: session.run(None, {"x": x[:rows]})[0])


LIBRARIES = {"PyTorch": torch_peers, "SciPy": scipy_peers, "scikit-learn": sklearn_peers, "faiss": faiss_peers,
             "Numba": numba_peers, "NumPy": numpy_peers, "JAX": jax_peers, "onnxruntime": onnxruntime_peers}
