"""The package as part of a process: imports, forks, signals, threads of others, types."""

import ctypes.util
import multiprocessing
import os
import platform
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import lamina


def python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_light():
    """The package loads little of the standard library and NumPy that they do not load themselves, and nothing slow."""
    code = """
import numpy, sys
before = set(sys.modules)
import lamina
more = {name for name in set(sys.modules) - before if not name.startswith("lamina.") and name != "lamina"}
heavy = {name.partition(".")[0] for name in sys.modules} & {"sklearn", "scipy", "pandas", "torch", "matplotlib", "joblib"}
print(sorted(heavy), len(more) < 40 or sorted(more))
"""
    assert python(code) == "[] True"


def compute(seed):
    x = np.random.default_rng(seed).normal(size=(400, 64)).astype("f4")
    return float(lamina.cdist(x, threads=4).sum()), float(lamina.layer(x, x, neuron="mul", threads=4).sum())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_processes_started_after_use_compute(method):
    expected = compute(3)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.apply_async(compute, (3,)).get(timeout=60) == expected


def test_fork_while_training_was_used():
    code = """
import os, sys, numpy as np, lamina
net = lamina.Network("dot-tanh:64,dot-identity:1", 32, initialization="he_normal")
x, y = np.random.rand(512, 32), np.random.rand(512, 1)
net.train_step(x, y, threads=2)
child = os.fork()
loss = net.train_step(x, y, threads=2)
if child == 0:
    os._exit(0 if np.isfinite(loss) else 1)
print(os.waitpid(child, 0)[1])
"""
    assert python(code) == "0"


def test_numbers_of_threads_are_limited_as_those_of_openmp():
    assert python("import lamina; print(lamina.threads())", OMP_NUM_THREADS="3") == "3"
    threadpoolctl = pytest.importorskip("threadpoolctl")
    usual = lamina.threads()
    for api in (None, "openmp"):
        with threadpoolctl.threadpool_limits(1, user_api=api):
            assert lamina.threads() == 1
            assert lamina.threads(5) == 5
        assert lamina.threads() == usual
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert lamina.threads() == usual
    assert [info["num_threads"] for info in threadpoolctl.threadpool_info() if info["internal_api"] == "lamina"] == [usual]
    assert lamina.threads(5) == 5
    with pytest.raises(ValueError, match="threads must be at least 0"):
        lamina.threads(-1)


def test_a_threadpoolctl_that_takes_no_others_and_none_at_all():
    for module in ("types.ModuleType('threadpoolctl')", "None"):
        assert python(f"import sys, types; sys.modules['threadpoolctl'] = {module}; import lamina; print(lamina.threads(3))") == "3"


def test_beside_others_in_one_process():
    pytest.importorskip("sklearn")
    expected = compute(5)
    code = """
import numpy as np
from sklearn.cluster import KMeans
try:
    import torch
    torch.rand(500, 500) @ torch.rand(500, 500)
except ImportError:
    pass
KMeans(3, n_init=1).fit(np.random.rand(500, 5))
import sys; sys.path.insert(0, %r)
from test_process import compute
print(compute(5))
KMeans(3, n_init=1).fit(np.random.rand(500, 5))
""" % os.path.dirname(__file__)
    assert python(code) == str(expected)


def test_beside_another_openmp():
    library = ctypes.util.find_library("omp")
    if library is None:
        pytest.skip("beside another OpenMP: libomp is not installed")
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("beside another OpenMP: the one that is installed is for glibc")
    code = "import sys; sys.path.insert(0, %r)\nfrom test_process import compute\nprint(compute(5))" % os.path.dirname(__file__)
    for environment in ({"LD_PRELOAD": library}, {"LD_PRELOAD": library, "OMP_NUM_THREADS": "64"}):
        assert python(code, **environment) == str(compute(5))
    assert python(f"import ctypes; ctypes.CDLL({library!r}, mode=ctypes.RTLD_GLOBAL)\n" + code) == str(compute(5))


def test_control_c_ends_a_fit_with_the_network_so_far():
    pytest.importorskip("sklearn")
    code = """
import os, signal, threading, time, warnings, numpy as np, lamina
x = np.random.rand(500, 5); y = x.sum(1) > 2.5
started = threading.Event()
def interrupt():
    started.wait(); time.sleep(0.1); os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
model = lamina.MLPClassifier(max_iter=10_000_000, tol=0, n_iter_no_change=10_000_000, callbacks=lambda r: started.set())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(x, y)
print([str(w.message) for w in caught], model.score(x, y) > 0.5)
"""
    assert python(code) == "['Training interrupted by user.'] True"


# Each would take minutes, but for the first, whose output tells that it was not finished.
LONG = {
    "cdist": ("x = np.random.rand(3000, 20000).astype('f4'); out = np.full((3000, 3000), np.nan, 'f4')",
              "lamina.cdist(x, out=out)", "np.isnan(out[-1, -1])"),
    "nearest": ("x = np.random.rand(200000, 64)", "lamina.nearest(x, x, 3, threads=1)", "True"),
    "answers": ("net = lamina.Network('dot-relu:4000,dot-relu:4000,dot-identity:1', 8, initialization='he_normal')\n"
                "answers = lamina.BatchPredictor(net); x = np.random.rand(1000000, 8).astype('f4')", "answers(x)", "True"),
    "kneighbors": ("from lamina import NearestNeighbors; x = np.random.rand(200000, 64)",
                   "NearestNeighbors(n_jobs=1).fit(x).kneighbors()", "True"),
    "radius": ("from lamina import NearestNeighbors; x = np.random.rand(200000, 64)",
               "NearestNeighbors(n_jobs=1, radius=0.1).fit(x).radius_neighbors()", "True"),
    "elm": ("from lamina import ELMClassifier; x = np.random.rand(20000, 20); y = x[:, 0] > 0.5",
            "ELMClassifier(8000, C='auto', threads=1).fit(x, y)", "True"),
    "fsvc": ("from lamina import FSVCClassifier; x = np.random.rand(1000000, 20); y = (x[:, 0] * 5).astype(int)",
             "FSVCClassifier(threads=1).fit(x, y)", "True"),
}


@pytest.mark.parametrize("work", LONG)
def test_control_c_ends_what_takes_long(work):
    pytest.importorskip("sklearn")
    before, call, after = LONG[work]
    code = f"""
import os, signal, threading, time, numpy as np, lamina
{before}
def interrupt(used):
    while time.process_time() < used:  # it is at work
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, args=(time.process_time() + 0.4,), daemon=True).start()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    print("ended", {after})
"""
    assert python(code) == "ended True"


# What happens within a single step that takes seconds. The processor time of all threads from Ctrl-C to the end is a
# small part of the step.
LONG_STEPS = {
    "fit": ("model = lamina.MLPRegressor(hidden_layer_sizes=(3000, 3000), batch_size=12000, max_iter=3, n_iter_no_change=10, tol=0)",
            "model.fit(x, y)"),
    "lbfgs": ("model = lamina.MLPRegressor(hidden_layer_sizes=(1500, 1500), solver='lbfgs', max_iter=3)", "model.fit(x, y)"),
    "train": ("data = {'x%d' % i: x[:, i] for i in range(8)}; data['y'] = y",
              "lamina.train(data, 'y', hidden=[3000, 3000], batch=12000, epochs=2, recipe='plain')"),
    "train_step": ("net = lamina.Network('dot-tanh:3000,dot-tanh:3000,dot-identity:1', 8, initialization='he_normal'); "
                   "before = [np.array(part) for part in net.parameters()]", "net.train_step(x, y[:, None])"),
}


@pytest.mark.parametrize("work", LONG_STEPS)
def test_control_c_ends_a_step_in_the_middle(work):
    pytest.importorskip("sklearn")
    before, call = LONG_STEPS[work]
    code = f"""
import os, signal, threading, time, warnings, numpy as np, lamina
x = np.random.default_rng(0).random((12000, 8)).astype("f4"); y = x.sum(1)
{before}
sent = []
def interrupt(used):
    while time.process_time() < used:  # it is at work
        time.sleep(0.01)
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, args=(time.process_time() + 1.0,), daemon=True).start()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        {call}
    except KeyboardInterrupt:
        pass
used = time.process_time() - sent[0]
print("ended" if used < 3 else used)
if {work!r} == "train_step":
    assert all(np.array_equal(*pair) for pair in zip(net.parameters(), before, strict=True))
"""
    assert python(code) == "ended"


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_models_answer_in_processes_started_after_a_fit(method):
    pytest.importorskip("sklearn")
    x = np.random.default_rng(0).random((300, 6))
    models = [
        lamina.MLPClassifier(8, max_iter=3, early_stopping=False, random_state=0),
        lamina.ELMClassifier(20, threads=2),
        lamina.KNeighborsClassifier(3),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = [model.fit(x, x[:, 0] > 0.5) for model in models]
    expected = [model.predict(x) for model in fitted]
    with multiprocessing.get_context(method).Pool(2) as pool:
        for model, answers in zip(fitted, expected):
            np.testing.assert_array_equal(pool.apply_async(model.predict, (x,)).get(timeout=60), answers)


def test_answers_of_a_large_network_come_in_pieces_after_which_control_c_is_heard():
    """By progress: 2**31 products at a time, here of 133 rows."""
    code = """
import os, signal, threading, time, numpy as np, lamina
from lamina import _core
net = lamina.Network("dot-relu:4000,dot-relu:4000,dot-identity:1", 8, initialization="he_normal")
x, out = np.random.rand(100000, 8).astype("f4"), np.full((100000, 1), np.nan, "f4")
def answered():
    return int((~np.isnan(out)).sum())
def interrupt():
    while answered() == 0:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    _core.BatchPredictor(net._core, None, None, None, None, "cpu", 1)(x, "f32", out, "f32")
except KeyboardInterrupt:
    print(0 < answered() < len(x), answered() % (2**31 // (4000 * 8 + 4000 * 4000 + 4000)))
"""
    assert python(code) == "True 0"


def test_no_thread_spins_after_a_call():
    code = """
import resource, time, numpy as np, lamina
x = np.random.rand(2000, 64).astype("f4")
lamina.cdist(x, threads=2)
time.sleep(0.05)
before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
time.sleep(0.5)
print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before < 0.1)
"""
    assert python(code) == "True"


def test_what_it_says_of_itself():
    assert lamina.__version__.count(".") == 2
    assert "cpu" in lamina.describe_backend("cpu")
    assert "adam" in lamina.optimizers() and "relu" in lamina.activations() and "mse" in lamina.losses()
    with pytest.raises(AttributeError, match="nothing"):
        lamina.nothing
    assert set(lamina.__all__) <= set(dir(lamina))
    pytest.importorskip("sklearn")
    assert all(hasattr(lamina, name) for name in lamina.__all__)


def test_the_command_says_of_a_removed_flag_what_to_do(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    command = [sys.executable, "-m", "lamina", "train", str(tmp_path / "t.csv"), "--target", "b", "--sync-steps", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "was removed" in done.stderr and "Leave it out" in done.stderr


def test_import_leaves_the_lock_of_the_interpreter_as_it_was():
    code = "import sys; locked = getattr(sys, '_is_gil_enabled', lambda: True); before = locked(); import lamina; print(before == locked())"
    assert python(code) == "True"


def test_many_threads_answer_with_one_model():
    x = np.random.default_rng(0).random((500, 6))
    net = lamina.Network("dot-relu:32,dot-softmax:3", inputs=6, initialization="glorot_uniform")
    batches, rows = lamina.BatchPredictor(net), net.predictor()
    expected = batches(x)
    wrong = []

    def work(seed):
        for i in np.random.default_rng(seed).integers(0, 480, 100):
            if not np.array_equal(batches(x[i : i + 20]), expected[i : i + 20]):
                wrong.append(i)
            if not np.allclose(rows(x[i].astype("f4")), expected[i], atol=1e-6):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
