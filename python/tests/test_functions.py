"""Distances, layers and neighbors against NumPy in double precision."""

import mmap

import numpy as np
import pytest

import lamina

METRICS = {
    "cityblock": lambda x, y: np.abs(x[:, None] - y[None]).sum(-1),
    "sqeuclidean": lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1),
    "euclidean": lambda x, y: np.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)),
}
DTYPES = ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1"]


def numbers(rows, columns, dtype, seed):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.normal(size=(rows, columns)).astype(dtype)
    return rng.integers(0, 50, (rows, columns)).astype(dtype)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cdist(metric, dtype):
    x, y = numbers(37, 13, dtype, 1), numbers(19, 13, dtype, 2)
    expected = METRICS[metric](x.astype("f8"), y.astype("f8"))
    found = lamina.cdist(x, y, metric)
    if np.dtype(dtype).kind in "iu" and metric != "euclidean":
        assert found.dtype.kind == "i"
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == "f8" else 2e-5)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u8"])
def test_cdist_with_weights_of_columns(metric, dtype):
    distance = pytest.importorskip("scipy.spatial.distance")
    x, y, w = numbers(17, 5, dtype, 1), numbers(9, 5, dtype, 2), np.array([0, 1, 0.5, 3, 2])
    np.testing.assert_allclose(lamina.cdist(x, y, metric, w=w), distance.cdist(x, y, metric, w=w), rtol=1e-5)
    np.testing.assert_allclose(lamina.cdist(x, metric=metric, w=w), distance.cdist(x, x, metric, w=w), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="non-negative"):
        lamina.cdist(x, y, metric, w=-w)
    with pytest.raises(ValueError, match=r"w has shape \(4,\), \(5,\) is needed"):
        lamina.cdist(x, y, metric, w=w[:4])


@pytest.mark.parametrize("metric", ["dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"])
def test_cdist_of_truths(metric, monkeypatch):
    distance = pytest.importorskip("scipy.spatial.distance")
    rng = np.random.default_rng(0)
    x, y = rng.random((9, 40)) < 0.4, rng.random((7, 40)) < 0.6
    x[0], y[0], y[1] = False, False, True
    w = rng.random(40)
    for block in (1 << 25, 8 * 7 * 2):  # all at once, two rows at a time
        monkeypatch.setattr("lamina._boolean._BLOCK_BYTES", block)
        np.testing.assert_allclose(lamina.cdist(x, y, metric), distance.cdist(x, y, metric), rtol=1e-12)
        np.testing.assert_allclose(lamina.cdist(x, y, metric, w=w), distance.cdist(x, y, metric, w=w), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(lamina.cdist(x.astype("i1"), y.astype("f4"), metric), lamina.cdist(x, y, metric))
    out = np.empty((9, 9))
    assert lamina.cdist(x, metric=metric, out=out) is out
    np.testing.assert_array_equal(out, lamina.cdist(x, x, metric))
    if metric in ("dice", "hamming"):
        with pytest.raises(ValueError, match="beside 0 and 1"):
            lamina.cdist(2 * x, y, metric)
    else:
        numbers = x * rng.normal(size=x.shape)
        np.testing.assert_allclose(lamina.cdist(numbers, y, metric), distance.cdist(numbers, y, metric), rtol=1e-12)
    for wrong, words in (((x, y[:, :3]), "columns"), ((x[0], y), "dimensions")):
        with pytest.raises(ValueError, match=words):
            lamina.cdist(*wrong, metric)
    with pytest.raises(ValueError, match="non-negative"):
        lamina.cdist(x, y, metric, w=-w)
    with pytest.raises(ValueError, match="float64"):
        lamina.cdist(x, y, metric, out=np.empty((9, 7), "f4"))


def test_cdist_of_unsigned_integers_of_64_bits():
    x = np.array([[3, 2**40], [7, 2**40 + 1]], np.uint64)
    np.testing.assert_array_equal(lamina.cdist(x, metric="cityblock"), [[0, 5], [5, 0]])
    beyond = np.array([[2**63 + 2**12], [2**63]], np.uint64)  # not int64's
    np.testing.assert_array_equal(lamina.cdist(beyond, metric="cityblock"), [[0, 2.0**12], [2.0**12, 0]])


def test_the_default_metric_is_scipys():
    distance = pytest.importorskip("scipy.spatial.distance")
    x, y = np.random.default_rng(0).normal(size=(2, 7, 3))
    np.testing.assert_allclose(lamina.cdist(x, y), distance.cdist(x, y), rtol=1e-12)
    assert lamina.cdist([[0, 0]], [[3, 4]])[0, 0] == 5


def test_cdist_of_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = numbers(9, 5, "f4", 1).astype(ml_dtypes.bfloat16)
    found = lamina.cdist(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, METRICS["euclidean"](x.astype("f8"), x.astype("f8")), rtol=1e-5)


def test_memory_layouts(tmp_path):
    x = numbers(30, 8, "f4", 1)
    y = numbers(20, 8, "f4", 2)
    expected = lamina.cdist(x, y)
    y.flags.writeable = False
    path = tmp_path / "x.npy"
    np.save(path, x)
    wide = np.zeros((30, 11), "f4")
    wide[:, 2:10] = x
    with open(tmp_path / "raw", "w+b") as file:
        file.write(x.tobytes())
        file.flush()
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        layouts = [
            np.asfortranarray(x),
            np.load(path, mmap_mode="r"),
            wide[:, 2:10],
            np.repeat(x, 2, axis=0)[::2],
            x[::-1][::-1],
            np.frombuffer(mapped, "f4").reshape(30, 8),
            x.tolist(),
        ]
        for layout in layouts:
            np.testing.assert_allclose(lamina.cdist(layout, y), expected, rtol=1e-5)
        del layouts, layout


def test_out_is_written_and_checked():
    x = numbers(6, 3, "f4", 1)
    out = np.empty((6, 6), "f4")
    assert lamina.cdist(x, out=out) is out
    np.testing.assert_array_equal(out, lamina.cdist(x))
    with pytest.raises(ValueError, match="out must be"):
        lamina.cdist(x, out=np.empty((6, 5), "f4"))


def test_same_bits_for_every_number_of_threads_and_slice():
    x, y = numbers(200, 33, "f4", 1), numbers(150, 33, "f4", 2)
    whole = lamina.cdist(x, y, threads=1)
    np.testing.assert_array_equal(whole, lamina.cdist(x, y, threads=3))
    np.testing.assert_array_equal(whole[57:58], lamina.cdist(x[57:58], y))
    layer = lamina.layer(x, y, neuron="mul", threads=1)
    np.testing.assert_array_equal(layer[3:90], lamina.layer(x[3:90], y, neuron="mul", threads=2))


def test_layer():
    x, w = numbers(21, 7, "f8", 1), numbers(5, 7, "f8", 2)
    b = np.arange(5.0)
    np.testing.assert_allclose(lamina.layer(x, w, b, neuron="dot-tanh"), np.tanh(x @ w.T + b), rtol=1e-12)
    distance = METRICS["cityblock"](x, w)
    np.testing.assert_allclose(
        lamina.layer(x, w, neuron="rbf(radius=9)"), np.maximum(0, 1 - distance / (9 * 2.5066)), rtol=1e-11, atol=1e-14
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i4"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 3000, 7), (300, 1500, 10), (3, 40, 40)])
def test_nearest_as_a_stable_sort(metric, dtype, sizes):
    rows, others, k = sizes
    x, y = numbers(rows, 4, dtype, 1), numbers(others, 4, dtype, 2)
    y[others // 2] = y[0]  # ties
    distances, indices = lamina.nearest(x, y, k, metric)
    all_distances = lamina.cdist(x, y, metric)
    expected = np.argsort(all_distances, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(distances, np.take_along_axis(all_distances, expected, 1))
    assert distances.dtype == all_distances.dtype


def test_laplacian_kernel():
    x, y = numbers(8, 3, "f8", 1), numbers(5, 3, "f8", 2)
    np.testing.assert_allclose(lamina.laplacian_kernel(x, y), np.exp(-METRICS["cityblock"](x, y) / 3), rtol=1e-12)
    np.testing.assert_allclose(lamina.laplacian_kernel(x, gamma=2)[0, 0], 1)


BAD = {
    "object": (lambda: np.array([[1, "a"]], object), "type object"),
    "complex": (lambda: np.ones((2, 2), complex), "complex128"),
    "swapped": (lambda: np.ones((2, 2), ">f4"), "byte order"),
    "one dimension": (lambda: np.ones(3), "1 dimensions"),
    "columns": (lambda: np.ones((2, 3)), "3 columns and y 2"),
    "masked": (lambda: np.ma.masked_array(np.ones((2, 2)), [[0, 1], [0, 0]]), "masked"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arrays_are_refused_by_name(case):
    make, sentence = BAD[case]
    with pytest.raises((ValueError, TypeError), match=sentence):
        lamina.cdist(make(), np.ones((4, 2)))


def test_other_bad_input():
    x = np.ones((4, 2))
    with pytest.raises(ValueError, match="metric 'cosine' is none of"):
        lamina.cdist(x, metric="cosine")
    with pytest.raises(ValueError, match="k is 5"):
        lamina.nearest(x, x, 5)
    with pytest.raises(ValueError, match="nan in row 2, column 1"):
        lamina.nearest(np.array([[1, 1], [1, 1], [1, np.nan]]), x, 1)
    with pytest.raises(ValueError, match="cpuu"):
        lamina.cdist(x, backend="cpuu")
    with pytest.raises(lamina.UnsupportedError, match="may not fit"):
        lamina.cdist(np.full((2, 3), 2**62), np.full((2, 3), -(2**62)))
    assert lamina.cdist(np.empty((0, 2)), x).shape == (0, 4)
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        lamina.cdist(sparse.csr_matrix(x), x)


class OnDevice:
    """What says that its memory is elsewhere."""

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **_):
        raise AssertionError("not to be asked for")


@pytest.mark.parametrize("device, says", [(2, "a CUDA GPU"), (10, "a ROCm GPU"), (13, "managed"), (8, "device type 8")])
def test_arrays_of_other_devices_are_refused(device, says):
    x = np.ones((4, 2))
    for call in (lambda a: lamina.cdist(a, x), lambda a: lamina.nearest(x, a, 1), lambda a: lamina.layer(a, x),
                 lambda a: lamina.cdist(x, out=a), lamina.Network("dot-tanh:1", 2).forward):
        with pytest.raises(ValueError, match=f'{says}.*host memory; backend="cuda"'):
            call(OnDevice(device))


class InCudaMemory:
    """Memory of the host that DLPack says is a GPU's: for what must not be read."""

    def __init__(self, array, number=0):
        self.array, self.number, self.shape, self.dtype = array, number, array.shape, array.dtype

    def __dlpack_device__(self):
        return 2, self.number

    def __dlpack__(self, **_):
        import ctypes
        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        device = ctypes.cast(pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int32))
        device[0], device[1] = 2, self.number
        return capsule


@pytest.mark.parametrize("function, more", [(lamina.cdist, {"out": np.empty((4, 4), np.float32)}),
                                            (lamina.layer, {"out": np.empty((4, 4), np.float32)}), (lamina.nearest, {"k": 1})])
def test_memory_of_a_gpu_is_for_backend_cuda(function, more):
    x = np.ones((4, 2), np.float32)

    def call(a, b, **options):
        function(a, b, **more, **options)

    for operands in ((InCudaMemory(x), x), (x, InCudaMemory(x)), (InCudaMemory(x), InCudaMemory(x))):
        with pytest.raises(ValueError, match='is in a CUDA GPU.*backend="cuda"'):
            call(*operands)
    with pytest.raises(ValueError, match="memory of device type 2, number 1"):
        call(InCudaMemory(x, number=1), x, backend="cuda")
    with pytest.raises(ValueError, match="2 columns and . 3: they must have the same"):
        call(InCudaMemory(x), np.ones((4, 3), np.float32), backend="cuda")
    with pytest.raises(ValueError, match="types f32 and f64"):
        call(InCudaMemory(x), np.ones((4, 2)), backend="cuda")
    if "cuda" not in lamina.backends():
        with pytest.raises(lamina.Error, match="cuda"):
            call(InCudaMemory(x), x, backend="cuda")


def test_who_computes_in_host_memory_reads_nothing_of_a_gpu():
    x = np.ones((4, 2), np.float32)
    out = np.empty((4, 4), np.float32)
    with pytest.raises(ValueError, match="backend computes in host memory"):
        lamina._core.distances(InCudaMemory(x), x, "f32", "l1", out, "cpu", 1)
    with pytest.raises(ValueError, match="give out="):
        lamina.cdist(InCudaMemory(x), x, backend="cuda")


def test_tensors_on_a_gpu_are_computed_there():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or "cuda" not in lamina.backends():
        pytest.skip("no GPU, or a package without its kernels")
    x, y, b = torch.rand(300, 70), torch.rand(200, 70), torch.rand(200)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        here = [a.to(dtype) for a in (x, y)]
        there = [a.cuda() for a in here]
        for metric in ("cityblock", "euclidean"):
            found = lamina.cdist(*there, metric, backend="cuda")
            assert found.is_cuda
            np.testing.assert_array_equal(found.cpu().numpy(), lamina.cdist(*here, metric, backend="cuda"))
        out = torch.empty(300, 200, dtype=torch.float64 if dtype == torch.float64 else torch.float32, device="cuda")
        assert lamina.layer(*there, b.cuda(), out=out, backend="cuda") is out
        np.testing.assert_array_equal(out.cpu().numpy(), lamina.layer(*here, b.numpy(), backend="cuda"))
    for found, expected in zip(lamina.nearest(x.cuda(), y.cuda(), 5, backend="cuda"), lamina.nearest(x, y, 5, backend="cuda")):
        np.testing.assert_array_equal(found, expected)
    # What is still being computed on the tensor is waited for.
    big = torch.rand(4096, 4096, device="cuda")
    for _ in range(20):
        big = big @ big / 2048
    np.testing.assert_array_equal(lamina.cdist(big[:10], big[:10], backend="cuda").cpu().numpy(),
                                  lamina.cdist(big[:10].cpu(), big[:10].cpu(), backend="cuda"))


def test_torch_tensors_are_not_copied():
    torch = pytest.importorskip("torch")
    x, y = torch.rand(30, 8), torch.rand(20, 8)
    for function in (lamina.cdist, lamina.layer):
        out = torch.empty(30, 20)
        assert function(x, y, out=out) is out
        np.testing.assert_array_equal(out.numpy(), function(x.numpy(), y.numpy()))
    back = torch.from_dlpack(lamina.cdist(x, y))
    assert back.shape == (30, 20)
    with pytest.raises(ValueError, match="out must be a writeable array"):
        lamina.cdist(x, y, out=torch.empty(30, 20, dtype=torch.float64))
    network = lamina.Network("dot-tanh:3,dot-identity:1", 8, initialization="he_normal")
    answer, row = torch.empty(1), x[0].contiguous()
    network.predictor()(row, answer)
    np.testing.assert_allclose(answer.numpy(), network.forward(x)[0], rtol=1e-6)
    assert torch.from_dlpack(network.weights(0)).data_ptr() == network.weights(0).ctypes.data
    loss = network.train_step(x, torch.zeros(30, 1), learning_rate=0.01)
    assert np.isfinite(loss) and np.isfinite(network.gradients(x, torch.zeros(30, 1))[0])


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.randn(5, 3, requires_grad=True)
    np.testing.assert_allclose(lamina.cdist(x), torch.cdist(x, x).detach().numpy(), rtol=1e-4, atol=1e-6)
    rounded = x.to(torch.bfloat16)
    np.testing.assert_allclose(lamina.cdist(rounded), lamina.cdist(rounded.float()), rtol=1e-5)
