#!/usr/bin/env python3
"""Usage: kill_runs.py PROGRAM [--kills N] [--seed N] [COMMAND...]: kills runs (SIGKILL) at random moments, N in all.

Commands are train, search, layer, a rank of a job that trains (rank_openmpi, rank_mpich), and one of two searches that
share a folder (worker). By default all run whose launcher is there.

After each kill every file that has its name is old or new, whole. The next run works; that of a job has another number
of ranks. It ends with the same bits as one that nobody killed, and leaves no part of a file. The search that was not
killed does all that is left. Exit status 1 at the first run that does not.
"""

import argparse
import functools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from mpi_jobs import LAUNCHERS, OPEN_MPI, pid_of_rank  # noqa: E402

TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5 - 2},{i % 3}\n" for i in range(600))
TRAIN = ("train", "--data", "t.csv", "--hidden", "32", "--epochs", "60", "--patience", "0", "--batch", "16", "--threads", "1")
SEARCH = ("search", "--data", "t.csv", "--hidden", "8", "--vary", "learning-rate=0.003,0.01,0.03,0.1", "--epochs", "12", "--batch", "16",
          "--threads", "1", "--retrain", "--overwrite", "--state", "state", "--model", "m")
SHARDED = (*TRAIN, "--epochs", "400", "--shards", "8")
LAYER = ("layer", "--x", "x.npy", "--neuron", "rbf", "--radius", "12", "--neurons", "300", "--out", "out.npy", "--threads", "1")


class Broken(Exception):
    pass


class Folder:
    def __init__(self, program):
        self.program = program
        self.path = tempfile.mkdtemp(prefix="lamina-kill-")
        with open(self.at("t.csv"), "w") as file:
            file.write(TABLE)
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (20000, 40), }"
        head += " " * ((-len(head) - 11) % 64) + "\n"
        values = random.Random(1).randbytes(40000)
        with open(self.at("x.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
            file.write(b"".join(bytes((value, 0, 128, 63)) for value in values) * 20)  # floats of 1 and a little

    def at(self, name):
        return os.path.join(self.path, name)

    def start(self, *arguments, ranks=()):
        return subprocess.Popen([*ranks, self.program, *arguments], cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, env={**os.environ, **OPEN_MPI, "LAMINA_TUNE": "off"})

    def run(self, *arguments, ranks=()):
        process = self.start(*arguments, ranks=ranks)
        _, err = process.communicate(timeout=600)
        if process.returncode != 0:
            raise Broken(f"lamina {' '.join(arguments)}: exit {process.returncode}: {err.decode(errors='replace')}")

    def kill(self, after_seconds, *arguments):
        """Whether it was still running."""
        process = self.start(*arguments)
        time.sleep(after_seconds)
        process.kill()
        process.communicate()
        return process.returncode < 0

    def tensors(self, name):
        """A model's numbers: its header says which settings made it."""
        with open(self.at(name), "rb") as file:
            content = file.read()
        return content[8 + int.from_bytes(content[:8], "little"):]

    def leftovers(self):
        return [name for _, _, names in os.walk(self.path) for name in names if name.endswith((".part", ".lamina-lock"))]

    def remove(self, *names):
        for name in names:
            if os.path.isdir(self.at(name)):
                shutil.rmtree(self.at(name))
            elif os.path.exists(self.at(name)):
                os.remove(self.at(name))


def content(folder, name):
    with open(folder.at(name), "rb") as file:
        return file.read()


def kill_train(folder, moment, expected):
    command = (*TRAIN, "--model", "m", "--checkpoint", "kept", "--checkpoint-epochs", "1", "--overwrite")
    killed = folder.kill(moment, *command)
    if os.path.exists(folder.at("m")) and folder.tensors("m") != expected:
        raise Broken("the model is neither there nor whole")
    if os.path.exists(folder.at("kept")):
        folder.run("train", "--resume", "kept", "--model", "m", "--overwrite")
    else:
        folder.run(*command)
    return killed


def kill_search(folder, moment, expected):
    killed = folder.kill(moment, *SEARCH)
    if os.path.exists(folder.at("m")) and folder.tensors("m") != expected:
        raise Broken("the model is neither there nor whole")
    folder.run(*SEARCH)
    return killed


def kill_layer(folder, moment, expected):
    with open(folder.at("out.npy"), "wb") as file:
        file.write(b"old")
    killed = folder.kill(moment, *LAYER)
    if content(folder, "out.npy") not in (b"old", expected):
        raise Broken("the output is neither old nor new")
    folder.run(*LAYER)
    return killed


def kill_rank(folder, moment, expected, launcher):
    command = (*SHARDED, "--model", "m", "--checkpoint", "kept", "--checkpoint-epochs", "1", "--overwrite")
    job = folder.start(*command, ranks=(launcher, "-n", "2"))
    time.sleep(moment)
    pid = pid_of_rank(folder.program, folder.path, int(moment * 1000) % 2)
    killed = pid is not None
    if killed:
        os.kill(pid, signal.SIGKILL)
    job.communicate(timeout=600)
    killed = killed and job.returncode != 0
    if os.path.exists(folder.at("m")) and folder.tensors("m") != expected:
        raise Broken("the model is neither there nor whole")
    command = ("train", "--resume", "kept", "--model", "m", "--overwrite") if os.path.exists(folder.at("kept")) else command
    folder.run(*command, ranks=(launcher, "-n", "3"))
    return killed


def kill_worker(folder, moment, expected):
    def worker(*more):
        return (*SEARCH[:SEARCH.index("--retrain")], "--state", "state", *more)

    other = folder.start(*worker())
    time.sleep(moment / 8)
    process = folder.start(*worker("--retrain", "--overwrite", "--model", "m"))
    time.sleep(moment * 7 / 8)
    other.kill()
    other.communicate()
    _, err = process.communicate(timeout=600)
    if process.returncode != 0:
        raise Broken(f"the other search: exit {process.returncode}: {err.decode(errors='replace')}")
    killed, left = other.returncode < 0, folder.leftovers()
    if len(left) > killed:  # one write of the killed worker may have begun when nobody looked any more
        raise Broken(f"left behind by two workers: {left}")
    if left:  # that is for the next run
        folder.run(*worker("--retrain", "--overwrite", "--model", "m"))
    return killed


# Name: how it is killed, the command that is not, what starts its ranks, and what it writes.
RUNS = {"train": (kill_train, (*TRAIN, "--model", "m"), (), "m"), "search": (kill_search, SEARCH, (), "m"), "layer": (kill_layer, LAYER, (), "out.npy"),
        "worker": (kill_worker, SEARCH, (), "m")}
for mpi, launcher_of_mpi in LAUNCHERS.items():
    if shutil.which(launcher_of_mpi):
        RUNS[f"rank_{mpi}"] = (functools.partial(kill_rank, launcher=launcher_of_mpi), (*SHARDED, "--model", "m"), (launcher_of_mpi, "-n", "2"), "m")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("commands", nargs="*", choices=[*RUNS, []], metavar="COMMAND")
    options = parser.parse_args()
    chosen = options.commands or list(RUNS)
    source = random.Random(options.seed)
    status = 0
    for i, name in enumerate(chosen):
        kill, whole, ranks, output = RUNS[name]
        folder = Folder(os.path.abspath(options.program))
        read = folder.tensors if output == "m" else lambda file, at=folder: content(at, file)
        try:
            start = time.monotonic()
            folder.run(*whole, ranks=ranks)
            seconds = time.monotonic() - start
            expected = read(output)
            number = options.kills // len(chosen) + (i < options.kills % len(chosen))
            in_time = 0
            for n in range(number):
                folder.remove("m", "kept", "state", "m.checkpoint")
                moment = source.uniform(0, seconds)
                try:
                    in_time += kill(folder, moment, expected)
                    if read(output) != expected:
                        raise Broken("the next run ended with other bits")
                    if folder.leftovers():
                        raise Broken(f"left behind: {folder.leftovers()}")
                except Broken as failure:
                    print(f"{name}, kill {n + 1} after {moment:.3f} of {seconds:.3f} s: {failure}")
                    status = 1
                    break
            print(f"{name}: {in_time} of {number} killed while they ran ({seconds:.2f} s each)", flush=True)
        finally:
            shutil.rmtree(folder.path, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
