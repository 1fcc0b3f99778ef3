"""What other libraries offer for the layers that layer_cpu races.

Each function gets a layer (L1, L2, tanh(dot)), the samples, the weights and the number of threads, and yields its peers.
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


def torch_peers(layer, x, w, threads):
    # A PyTorch built for NumPy 1 says at length that it cannot do from_numpy() and numpy() beside NumPy 2. dlpack works.
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
    """A loop as one would write it today, and hidden_rbf and hidden_mul of the 2017 paper (section II.B): features x samples."""
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


LIBRARIES = {"PyTorch": torch_peers, "SciPy": scipy_peers, "scikit-learn": sklearn_peers, "faiss": faiss_peers,
             "Numba": numba_peers, "NumPy": numpy_peers}
