#!/usr/bin/env python3
"""Usage: soak.py PROGRAM [--seconds N] [--seed N]: random runs of the program on random tables, one after the other, for N seconds (default 60);
every one must end within its time, with a result or with an error that was thought of. Then a training of many epochs, whose
memory must not grow. With a program of the preset asan it is the soak test that releases get. Exit status 1 and the commands in case
something is found."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

CRASH = re.compile(r"terminate called|Sanitizer|runtime error:|Segmentation|core dumped|basic_string|\[json\.exception|check failed")
WORDS = ("red", "green", "blue", "", "NA", "7", "-0.5", "1e9", "2024-02-29", "12,5", "ä", "\"q\"")


def table(source):
    """A CSV file of up to 200 rows, seldom a damaged one."""
    columns = source.randint(1, 6)
    kinds = [source.choice("nnwdx") for _ in range(columns)]
    rows = [",".join(f"{'abcdef'[j]}" for j in range(columns))]
    for i in range(source.choice((1, 3, 30, 200))):
        fields = {"n": f"{source.gauss(0, 10):.3f}", "w": source.choice(WORDS[:3]), "d": f"2024-01-{i % 28 + 1:02}",
                  "x": source.choice(WORDS)}
        rows.append(",".join(f'"{fields[kind]}"' if "," in fields[kind] else fields[kind].replace('"', "") for kind in kinds))
    text = "\n".join(rows) + "\n"
    if source.random() < 0.1:
        at = source.randrange(len(text))
        text = text[:at] + source.choice(("\0", ",", "\n", "\"", "")) + text[at + 1:]
    return text.encode()


def commands(source):
    """Commands of one round: a model and what is done with it."""
    train = ["train", "--data", "t.csv", "--epochs", str(source.randint(1, 5)), "--model", "m", "--threads", str(source.randint(1, 3)),
             "--overwrite", "--batch", str(source.choice((1, 7, 32))), "--seed", str(source.randint(0, 9))]
    for flag, values in (("--hidden", ("1", "3,4", "64")), ("--optimizer", ("adam", "sgd", "lion")), ("--scale", ("minmax", "log", "none")),
                         ("--backend", ("serial", "threads", "blas", "cpu")), ("--method", ("elm", "fsvc", "knn")), ("--neuron", ("rbf", "mul")),
                         ("--missing", ("drop", "mean", "error")), ("--dtype", ("f64", "f32")), ("--patience", ("0", "2")),
                         ("--derive", ("p=previous:a", "l=log:a")), ("--learning-rate", ("0.1", "1e9"))):
        if source.random() < 0.2:
            train += [flag, source.choice(values)]
    yield ["data", "show", "t.csv"]
    yield train
    yield ["model", "show", "m"]
    yield ["predict", "--model", "m", "--data", "t.csv", "--out", "p.csv"]
    yield ["evaluate", "--model", "m", "--data", "t.csv"]
    yield ["export", "--onnx", "m", "--out", "m.onnx"]


def run_one(program, folder, command):
    """None, or what is wrong."""
    try:
        done = subprocess.run([program, *command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False,
                              env={**os.environ, "LAMINA_TUNE": "off"})
    except subprocess.TimeoutExpired:
        return "still running after 300 s"
    err = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2) or CRASH.search(err) or (done.returncode != 0 and "lamina: error: " not in err):
        return f"exit {done.returncode}: {err[-4000:]}"
    return None


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


def memory_grows(program, folder, epochs):
    """None, or how the memory of a long training grew between its first epochs and its last."""
    with open(os.path.join(folder, "long.csv"), "w", encoding="ascii") as file:
        file.write("a,b,y\n" + "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(60)))
    process = subprocess.Popen([program, "train", "--data", "long.csv", "--hidden", "4", "--epochs", str(epochs), "--patience", "0", "--batch", "16",
                                "--threads", "1"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               env={**os.environ, "LAMINA_TUNE": "off"})
    seen = []
    while process.poll() is None:
        time.sleep(0.1)
        try:
            seen.append(resident_kib(process.pid))
        except (OSError, TypeError):  # it has just ended
            break
    process.wait()
    # The history keeps 72 bytes an epoch, and twice that while it grows; nothing else may stay.
    allowed = 4096 + epochs * 72 * 3 // 1024
    early, late = (max(seen[: len(seen) // 4 + 1], default=0), max(seen, default=0))
    print(f"training of {epochs} epochs: {early} KiB at first, {late} KiB at most")
    return None if process.returncode == 0 and late - early <= allowed else f"exit {process.returncode}, {early} to {late} KiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=100_000)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    folder = tempfile.mkdtemp(prefix="lamina-soak-")
    runs = done = seed = 0
    try:
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            seed = options.seed + runs
            source = random.Random(seed)
            with open(os.path.join(folder, "t.csv"), "wb") as file:
                file.write(table(source))
            for command in commands(source):
                wrong = run_one(program, folder, command)
                done += 1
                if wrong is not None:
                    print(f"--seed {seed}: lamina {' '.join(command)}\n{wrong}")
                    return 1
            runs += 1
        print(f"{done} runs of the program on {runs} tables, nothing found")
        wrong = memory_grows(program, folder, options.epochs)
        if wrong is not None:
            print(f"memory grows: {wrong}")
            return 1
        return 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
