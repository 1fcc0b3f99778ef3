"""Running the program lamina in tests: each in an empty folder of its own, with a time limit and its output kept."""

import gzip
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("LAMINA_PROGRAM", "")
SOURCE = os.environ.get("LAMINA_SOURCE", "")
DATA = os.environ.get("LAMINA_DATA", "")
WINDOWS = os.environ.get("LAMINA_WINDOWS", "0") == "1"  # the program is that for Windows, under Wine (scripts/windows)
CURL, GNUPLOT = (None if WINDOWS else shutil.which(program) for program in ("curl", "gnuplot"))  # Wine has neither
DIGITS = os.path.join(SOURCE, "data", "digits.csv.gz")
TIME_LIMIT_SECONDS = 300 * int(os.environ.get("LAMINA_TEST_SLOWNESS", "1"))
SAY_THE_RECIPE = ("--recipe", "--effort", "--config", "--resume", "--help", "-h", "--method")  # or take none
SKIPPED_CODE = 77  # tells ctest that nothing could run

# Marks of a crash rather than of an error that was thought of.
CRASH = re.compile(r"terminate called|Sanitizer|runtime error:|Segmentation|core dumped|std::|basic_string|\[json\.exception")


def is_deaf(process):
    """Whether the program does not catch SIGINT yet (/proc/PID/status); False once it has ended."""
    try:
        with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
    except (OSError, StopIteration):
        return False
    return process.poll() is None and not int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1)


def with_slashes(text):
    """Paths that the program wrote, with / on Windows, too."""
    return re.sub(r"\\(?!x[0-9A-F]{2})", "/", text) if WINDOWS else text


class Result:
    """Exit code (negative: killed by that signal) and output of one run."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class CliTest(unittest.TestCase):
    """self.folder is an empty folder, the working folder of the program."""

    # "train", "search" and "data encode" get this where a test names no network: one quick layer. None: the default.
    recipe = "plain"

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="lamina-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        """Text, bytes or rows of fields (as CSV) into a file of the folder; returns the name."""
        if isinstance(content, list):
            content = "".join(",".join(str(field) for field in row) + "\n" for row in content)
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return name

    def read(self, name, mode="r"):
        with open(self.path(name), mode) as file:
            return file.read()

    def read_json(self, name):
        return json.loads(self.read(name))

    def snapshot(self):
        """Every file of the folder with its content."""
        found = {}
        for root, folders, files in os.walk(self.folder):
            for name in folders:
                found[os.path.relpath(os.path.join(root, name), self.folder)] = None
            for name in files:
                with open(os.path.join(root, name), "rb") as file:
                    found[os.path.relpath(os.path.join(root, name), self.folder)] = file.read()
        return found

    def start(self, *arguments, **options):
        """A running program: subprocess.Popen in the folder, without the plans that this machine has stored."""
        options.setdefault("env", {**os.environ, "LAMINA_TUNE": "off"})
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        words = [str(argument) for argument in arguments]
        says_it = any(word.split("=")[0] in SAY_THE_RECIPE for word in words)
        command = [words[:n] for n in (1, 2) if words[:n] in (["train"], ["search"], ["data", "encode"])]
        if self.recipe and command and not says_it:
            words[len(command[0]) : len(command[0])] = ["--recipe", self.recipe]
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, text=True,
                                   errors="backslashreplace", **options)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.kill()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait()

    def finish(self, process):
        try:
            out, err = process.communicate(timeout=TIME_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"still running after {TIME_LIMIT_SECONDS} s: {process.args}")
        if WINDOWS and err is not None:
            err = re.sub(r".*no pictures: gnuplot is missing.*\n", "", with_slashes(err))
        return Result(process.returncode, out, err)

    def run_program(self, *arguments, **options):
        return self.finish(self.start(*arguments, **options))

    def succeed(self, *arguments, **options):
        """Runs it; the exit code must be 0 and standard error empty."""
        result = self.run_program(*arguments, **options)
        self.assertEqual((result.code, result.err), (0, ""), f"lamina {arguments}: {result}")
        return result

    def refuse(self, *arguments, code=(1, 2), says=(), **options):
        """Runs it; it must fail as documented, say all of `says` on standard error, and leave no file behind."""
        before = self.snapshot()
        result = self.run_program(*arguments, **options)
        what = f"lamina {arguments}: {result}"
        self.assertIn(result.code, (code,) if isinstance(code, int) else code, what)
        self.assertIn("lamina: error: ", result.err, what)
        self.assertIsNone(CRASH.search(result.err), what)
        for part in (says,) if isinstance(says, str) else says:
            self.assertIn(part, result.err, what)
        after = self.snapshot()
        self.assertEqual(sorted(before), sorted(after), f"files came or went: {what}")
        self.assertEqual(before, after, f"a file was changed: {what}")
        return result

    def train(self, *arguments, **options):
        """lamina train --quiet ..., which must print nothing."""
        result = self.succeed("train", "--quiet", *arguments, **options)
        self.assertEqual(result.out, "")
        return result

    def layers_of(self, model):
        """The layers that a model's file describes."""
        metadata, _ = read_safetensors(self.read(model, "rb"))
        return json.loads(metadata["lamina"])["network"]["layers"]

    def train_json(self, *arguments):
        """The result of a training run."""
        return json.loads(self.succeed("train", "--json", "-", *arguments).out)

    def assertNoPartFiles(self):
        self.assertEqual([name for name in self.snapshot() if ".part" in name], [])


def digits_rows(count=None):
    """Header and rows of the bundled digits as lists of text."""
    with gzip.open(DIGITS, "rt") as file:
        rows = [line.rstrip("\n").split(",") for line in file]
    return rows[: 1 + count] if count else rows


def linear_rows(count=200, seed=5):
    """x1, x2, y = 100 + 30 x1 - 20 x2: a regression that a linear layer learns."""
    rng = random.Random(seed)
    rows = [["x1", "x2", "y"]]
    for _ in range(count):
        a, b = rng.uniform(-3, 3), rng.uniform(0, 10)
        rows.append([f"{a:.5f}", f"{b:.5f}", f"{100 + 30 * a - 20 * b:.4f}"])
    return rows


def blob_rows(count=120, classes=("no", "yes"), seed=3):
    """a, b, answer: a cloud of points per class."""
    rng = random.Random(seed)
    rows = [["a", "b", "answer"]]
    for i in range(count):
        c = i % len(classes)
        rows.append([f"{rng.gauss(4 * c, 1):.4f}", f"{rng.gauss(-3 * c, 1):.4f}", classes[c]])
    return rows


def stripe_rows(count=600, seed=5):
    """a, b, c, answer: in which stripe the sum of a and b lies. Trees that ask about sums are better."""
    rng = random.Random(seed)
    rows = [["a", "b", "c", "answer"]]
    for _ in range(count):
        a, b, c = (round(rng.gauss(0, 1), 4) for _ in range(3))
        rows.append([a, b, c, "odd" if (a + b) // 0.8 % 2 else "even"])
    return rows


def read_safetensors(content):
    """(metadata, {tensor name: bytes}) of a file's bytes."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    data = content[8 + length :]
    metadata = header.pop("__metadata__", {})
    return metadata, {name: data[slice(*entry["data_offsets"])] for name, entry in header.items()}


def write_safetensors(metadata, header, data):
    """The bytes of a file as another program writes it, without a checksum; `header` holds the tensor entries."""
    text = json.dumps({"__metadata__": {key: metadata[key] for key in metadata if key != "crc32"}, **header}).encode()
    return struct.pack("<Q", len(text)) + text + data


def read_npy(content):
    """(type, shape, flat values) of a .npy file's bytes."""
    assert content[:8] == b"\x93NUMPY\x01\x00", content[:8]
    (length,) = struct.unpack("<H", content[8:10])
    assert (10 + length) % 64 == 0, length
    header = eval(content[10 : 10 + length], {"__builtins__": {}})  # pylint: disable=eval-used
    assert header["fortran_order"] is False, header
    code = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i"}[header["descr"]]
    data = content[10 + length :]
    count = 1
    for size in header["shape"]:
        count *= size
    return header["descr"], header["shape"], struct.unpack(f"<{count}{code}", data)


def skip_what_windows_has_not():
    """Skips what windows_skips.py says of the tests of the calling file; a name that is no test's is a mistake."""
    from windows_skips import SKIPS  # pylint: disable=import-outside-toplevel

    module = sys.modules["__main__"]
    file = os.path.splitext(os.path.basename(module.__file__))[0]
    skips = SKIPS.get(file, {})
    if isinstance(skips, str):
        print(f"SKIPPED {file}: {skips}")
        sys.exit(SKIPPED_CODE)
    for name, reason in skips.items():
        case, _, test = name.partition(".")
        owner = getattr(module, case)
        if test:
            setattr(owner, test, unittest.skip(reason)(getattr(owner, test)))
        else:
            setattr(module, case, unittest.skip(reason)(owner))


def main():
    """Runs the tests of the calling file; says what was skipped; exit code 77 if that was everything."""
    if not os.access(PROGRAM, os.X_OK) or not os.path.exists(DIGITS):
        sys.exit("set LAMINA_PROGRAM to the program and LAMINA_SOURCE to the source folder")
    # What ignores signals by itself (nohup, a script's background) hands that on to the programs under test.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXCPU):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    if WINDOWS:
        skip_what_windows_has_not()
    run = unittest.main(verbosity=2, exit=False)
    for test, reason in run.result.skipped:
        print(f"SKIPPED {test.id()}: {reason}")
    if not run.result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED_CODE if run.result.testsRun and len(run.result.skipped) == run.result.testsRun else 0)
