#!/usr/bin/env python3
"""Usage: soak.py PROGRAM [--seconds N] [--seed N] [--epochs N] [--keep FOLDER]: random runs of the program.

They last N seconds (default 60), one after the other. Then comes a training of many epochs, whose memory must not grow.

Commands, flags, their types and choices are those of the program's own --help. Data is made at random, a fifth of it
damaged. Models that came out of earlier runs answer, are explained and exported.

A run must end within its time with exit status 0, 1 or 2. Where it is not 0, a sentence must say what is wrong. A run
must need no more than 4 GiB, leave no *.part file, and write a model that `model show` reads. Anything else is a
finding: its folder and command are kept (default: build/soak-findings), and the exit status is 1. With a program of the
preset asan it is the soak test that releases get.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from lamina_cli import CRASH  # noqa: E402

TIME_LIMIT_SECONDS = 180
MEMORY_LIMIT_BYTES = 4 << 30
FLAG = re.compile(r"^  (?:-\w,)?(--[\w-]+)(?:,--no-[\w-]+)?(?: ([A-Z][\w,.]*))?(?::(\S+?))?(?:=(\S*))?(?: REQUIRED)?(?:  +(.*))?$")
# Flags that would make a run long, wait for others or write outside of its folder.
LEFT_OUT = {"--help", "--version", "--mpi", "--rank-timeout", "--plan", "--plan-ranks", "--state", "--lease", "--config", "--resume", "--plot", "--model", "--data", "--profile", "--export", "--import", "--sweep"}
# Flags that bound a run, with the values to choose from; others take theirs from the pools below.
BOUNDED = {"--epochs": "1 2 3 auto", "--trials": "1 2 3", "--threads": "1 2 3", "--samples": "0 1 2 50", "--hidden": "1 3 8,4 16 auto",
           "--folds": "2 3 5", "--members": "1 2 3", "--bootstrap": "10", "--repeats": "1 2", "--rounds": "1 2",
           "--ensemble": "1 2 3", "--time-limit": "1s 2s", "--method": "backpropagation fsvc sfsvc elm knn", "--backend": "serial threads cpu blas auto",
           "--iterations": "1 2 5", "--rows": "1 5", "--memory": "1 64kB 1MiB 10MB", "--milliseconds": "1 2", "--level": "estimate measure"}
INTEGERS = ["0", "1", "2", "3", "5", "16"]
NUMBERS = ["0", "1", "0.5", "0.1", "0.01", "0.9", "2", "1e-3"]
WRONG = ["-1", "9223372036854775807", "nan", "inf", "1e30", "1e-300", "x", ""]
WORD = re.compile(r"[a-z0-9_]+(?:[.-][a-z0-9_]+)*")


class Flag:
    def __init__(self, name, kind, check, default, text):
        self.name, self.kind, self.check, self.default, self.text = name, kind, check, default, text

    def value(self, rng, columns):
        """A value to give, None for a flag that takes none."""
        if self.kind is None:
            return None
        if rng.random() < 0.05:
            return rng.choice(WRONG)
        if self.name in BOUNDED:
            return rng.choice(BOUNDED[self.name].split())
        if self.kind.startswith("INT"):
            return rng.choice(INTEGERS)
        if self.kind.startswith(("FLOAT", "SECONDS", "NUMBER")):
            return rng.choice(NUMBERS)
        if self.kind in ("FILE", "FOLDER", "PATH"):
            return f"out{rng.randrange(3)}" + rng.choice(["", ".csv", ".npy", ".json", ".safetensors"])
        if self.check and self.check.startswith("{"):
            return rng.choice(self.check.strip("{}").split(","))
        if self.kind.startswith("A,B"):
            return ",".join(rng.sample(columns, min(len(columns), rng.randint(1, 2))))
        words = WORD.findall(self.text) + 4 * [self.default or "1"]
        return rng.choice(words)


def help_of(program, command):
    text = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True).stdout
    flags, last = {}, None
    for line in text.splitlines():
        found = FLAG.match(line)
        if found:
            last = Flag(*found.groups()[:4], found.group(5) or "")
            flags[last.name] = last
        elif last and line.startswith(" " * 30):
            last.text += " " + line.strip()
    return {name: flag for name, flag in flags.items() if name not in LEFT_OUT}


def damage(rng, content):
    content = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if content:
            at = rng.randrange(len(content))
            kind = rng.randrange(4)
            if kind == 0:
                del content[at:]
            elif kind == 1:
                content[at] = rng.randrange(256)
            elif kind == 2:
                content[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
            else:
                del content[at:at + rng.randint(1, 40)]
    return bytes(content)


def table(rng):
    """A CSV with columns of several kinds, the target last, and the columns' names."""
    rows, kinds = rng.choice([0, 1, 2, 5, 30, 120]), [rng.choice("nnnitdmc") for _ in range(rng.randint(1, 8))]
    make = {
        "n": lambda: f"{rng.gauss(0, 3):.4g}", "i": lambda: str(rng.randrange(5)), "t": lambda: rng.choice(["a", "b b", "\"c,d\"", "é", "x" * 40]),
        "d": lambda: f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}", "m": lambda: rng.choice(["", "NA", f"{rng.random():.3f}"]),
        "c": lambda: "7"}
    names = [f"c{i}" for i in range(len(kinds))] + ["y"]
    target = rng.choice([lambda: rng.choice("pq"), lambda: f"{rng.random():.3f}", lambda: str(rng.randrange(3)), lambda: ""])
    separator = rng.choice([",", ",", ",", ";", "\t"])
    lines = [separator.join(names)] if rng.random() < 0.9 else []
    lines += [separator.join([*(make[kind]() for kind in kinds), target()]) for _ in range(rows)]
    return ("\n".join(lines) + "\n").encode(), names


def matrix(rng, cols):
    rows = rng.choice([0, 1, 3, 40, 200])
    kind = rng.choice(["<f4", "<f8", "|u1", "<i2"])
    code = {"<f4": "f", "<f8": "d", "|u1": "B", "<i2": "h"}[kind]
    values = [rng.random() if code in "fd" else rng.randrange(100) for _ in range(rows * cols)]
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values)


class Soak:
    def __init__(self, arguments, models):
        self.program = str(arguments.program)
        self.keep = arguments.keep
        self.rng = random.Random(arguments.seed)
        self.models = models  # a folder for those that came out
        os.environ["XDG_CACHE_HOME"] = str(models / "cache")  # plans of `tune`
        self.codes = collections.Counter()
        self.findings = 0
        self.commands = {name: help_of(self.program, name.split()) for name in (
            "train", "search", "predict", "evaluate", "explain", "compare", "drift", "layer", "neighbours", "centres", "export", "model show",
            "data show", "tune")}

    def file(self, folder, name, content):
        if self.rng.random() < 0.2:
            content = damage(self.rng, content)
        (folder / name).write_bytes(content)
        return name

    def model(self, folder):
        """A model of an earlier run, with its data beside it as known.csv."""
        known = sorted(self.models.glob("*.safetensors"))
        if not known:
            (folder / "none.safetensors").write_bytes(b"")
            return "none.safetensors"
        chosen = self.rng.choice(known)
        shutil.copy(chosen.with_suffix(".csv"), folder / "known.csv")
        return self.file(folder, "m.safetensors", chosen.read_bytes())

    def inputs(self, command, folder):
        """Arguments that a command needs, and the columns there are."""
        rng, columns = self.rng, ["c0", "y"]
        if command in ("layer", "neighbours", "centres"):
            cols = rng.choice([1, 3, 17])
            arguments = ["--x", self.file(folder, "x.npy", matrix(rng, cols))]
            if command == "layer":
                arguments += ["--w", self.file(folder, "w.npy", matrix(rng, cols)), "--out", "out.npy"]
            if command == "neighbours":
                arguments += ["--y", self.file(folder, "y.npy", matrix(rng, cols)), "--out", "out.npy"]
            if command == "centres":
                arguments += ["--count", str(rng.choice([1, 2, 9])), "--out", "out.npy"]
            return arguments, columns
        if command == "tune":
            return ["l1-identity:f32:forward:16x16x16", "--milliseconds", "1"], columns
        content, columns = table(rng)
        data = self.file(folder, "data.csv", content)
        if command == "train":
            return ["--data", data, "--model", "new.safetensors"], columns
        if command == "search":
            return ["--data", data, "--vary", "learning-rate=0.01,0.1", "--epochs", "1", "--model", "new.safetensors",
                    rng.choice(["--retrain", "--ensemble=2"])], columns
        if command == "data show":
            return [data], columns
        if command in ("export", "model show"):
            return [self.model(folder), *(["--onnx", "--out", "m.onnx"] if command == "export" else [])], columns
        models = [self.model(folder) for _ in range(2 if command == "compare" else 1)]
        known = (folder / "known.csv").exists() and rng.random() < 0.7
        return [*models, "known.csv" if known else data], columns

    def run(self, arguments, folder):
        """Exit status (None: too long), standard error, peak memory."""
        with open(folder / "stderr", "wb") as errors, open(folder / "stdout", "wb") as output:
            process = subprocess.Popen([self.program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
            late = threading.Event()
            timer = threading.Timer(TIME_LIMIT_SECONDS, lambda: (late.set(), process.kill()))
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        return None if late.is_set() else process.returncode, (folder / "stderr").read_text(errors="replace"), usage.ru_maxrss * 1024

    def wrong(self, code, errors, memory, folder):
        if code is None:
            return f"more than {TIME_LIMIT_SECONDS} s"
        if code not in (0, 1, 2):
            return f"exit status {code}"
        if CRASH.search(errors):
            return "the text of a crash"
        if code != 0 and not errors.strip():
            return f"exit status {code} without a word"
        if memory > MEMORY_LIMIT_BYTES:
            return f"{memory >> 20} MiB"
        if list(folder.rglob("*.part*")):
            return "an unfinished file was left"
        return None

    def once(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="lamina-soak-"))
        command = self.rng.choice([*self.commands, "train", "train", "predict"])
        arguments, columns = self.inputs(command, folder)
        flags = [flag for name, flag in self.commands[command].items() if not any(name == given.split("=")[0] for given in arguments)]
        for flag in self.rng.sample(flags, min(len(flags), self.rng.choice([0, 1, 1, 2, 3, 6]))):
            value = flag.value(self.rng, columns)
            arguments += [flag.name] if value is None else [f"{flag.name}={value}"]
        if command == "train" and not any(argument.startswith("--epochs") for argument in arguments):
            arguments += ["--epochs", "2"]
        arguments = [*command.split(), *arguments]
        code, errors, memory = self.run(arguments, folder)
        reason = self.wrong(code, errors, memory, folder)
        made = folder / "new.safetensors"
        if reason is None and code == 0 and made.exists():
            if subprocess.run([self.program, "model", "show", made], capture_output=True, check=False).returncode != 0:
                reason = "model show refuses the model"
            else:
                name = self.models / str(self.rng.randrange(30))
                shutil.copy(made, name.with_suffix(".safetensors"))
                shutil.copy(folder / "data.csv", name.with_suffix(".csv"))
        self.codes[(command, code)] += 1
        if reason is not None:
            self.findings += 1
            self.keep.mkdir(parents=True, exist_ok=True)
            kept = self.keep / f"{time.strftime('%Y%m%d-%H%M%S')}-{self.findings}"
            shutil.move(folder, kept)
            (kept / "command").write_text(f"{shlex.join([self.program, *arguments])}\n")
            print(f"FOUND: {reason}: {kept}: lamina {shlex.join(arguments)}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)

    def report(self):
        by_code = collections.Counter()
        for (_, code), count in self.codes.items():
            by_code[code] += count
        for command in self.commands:
            counts = {code: count for (name, code), count in self.codes.items() if name == command}
            print(f"{command:12s} " + ", ".join(f"{count} x exit {code}" for code, count in sorted(counts.items(), key=str)))
        print(f"{sum(by_code.values())} runs, {self.findings} findings")


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
    parser.add_argument("program", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=100_000)
    parser.add_argument("--keep", type=lambda name: pathlib.Path(name).resolve(), default=ROOT / "build/soak-findings")
    arguments = parser.parse_args()
    os.environ.update(OMP_WAIT_POLICY="passive", ASAN_OPTIONS="detect_leaks=1:max_allocation_size_mb=4096:allocator_may_return_null=1:quarantine_size_mb=16")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="lamina-soak-") as folder:
        soak = Soak(arguments, pathlib.Path(folder))
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            soak.once()
        soak.report()
        wrong = memory_grows(str(arguments.program), folder, arguments.epochs) if arguments.epochs else None
        if wrong is not None:
            print(f"memory grows: {wrong}")
        return 1 if soak.findings or wrong is not None else 0


if __name__ == "__main__":
    sys.exit(main())
