"""No command removes or replaces what it did not make.

A person's files and folders stand under every name that it touches.
"""

import os
import re
import shutil
import struct

from lamina_cli import CURL, DATA, CliTest, blob_rows, main

PATHS = re.compile(r"(?m)^  (?:-\w,)?(--[\w-]+) (?:FILE|FOLDER|PATH)\b")
# Flags that name what is read, whatever the command; all other FILE, FOLDER and PATH are written.
READ = {"--data", "--test", "--validation", "--cost-matrix", "--start-from", "--config", "--resume", "--x", "--y", "--w", "--bias",
        "--first", "--second", "--problems", "--rows", "--peer-script", "--import", "--int8"}
# Flags that the command refuses, and a command that is for MPI jobs.
UNUSED = {("search", "--checkpoint"), ("search", "--out-of-fold"), ("bench", "network", "--json")}
# What is appended to, or refused where it is no socket: serve_test.py.
IN_SERVE = {("serve", "--access-log"), ("serve", "--socket")}
TRAIN = ("--data", "t.csv", "--epochs", "2", "--threads", "1", "--hidden", "3")
SEARCH = ("search", "--data", "t.csv", "--epochs", "2", "--threads", "1", "--vary", "learning-rate=0.01,0.02", "--halving", "0",
          "--check-folds", "0")
QUICK = ("--rounds", "1", "--round-seconds", "0", "--threads", "1")
# Every command that writes, with each flag that says where at least once.
COMMANDS = (
    ("train", *TRAIN, "--checkpoint-epochs", "1", "--model", "o.m", "--history", "o.h", "--history-json", "o.hj", "--json", "o.j",
     "--plot", "o.p", "--report", "o.r"),
    ("train", *TRAIN, "--checkpoint-epochs", "1", "--checkpoint", "o.c"),
    ("train", *TRAIN, "--folds", "2", "--out-of-fold", "o.f"),
    ("distill", "m", "t.csv", "--epochs", "1", "--threads", "1", "--out", "o.m", "--json", "o.j"),
    (*SEARCH, "--state", "o.s", "--csv", "o.c", "--plot", "o.p", "--json", "o.j", "--ensemble", "2", "--model", "o.m"),
    (*SEARCH, "--retrain", "--model", "o.m", "--history", "o.h", "--history-json", "o.hj"),
    ("evaluate", "m", "t.csv", "--plot", "o.p", "--report", "o.r", "--json", "o.j"),
    ("predict", "m", "t.csv", "--out", "o.csv", "--json", "o.j"),
    ("predict", "m", "t.csv", "--out", "o.npy"),
    ("compare", "m", "n", "t.csv", "--json", "o.j"),
    ("explain", "m", "t.csv", "--out", "o.csv", "--plot", "o.p", "--report", "o.r", "--json", "o.j", "--repeats", "1"),
    ("drift", "m", "t.csv", "--json", "o.j"),
    ("layer", "--x", "x.npy", "--neurons", "3", "--radius", "1", "--out", "o.npy", "--w-out", "o.w.npy", "--json", "o.j"),
    ("neighbours", "--x", "x.npy", "--y", "x.npy", "--k", "2", "--out", "o.npy", "--distances", "o.d.npy", "--json", "o.j"),
    ("centres", "--x", "x.npy", "--count", "2", "--out", "o.npy", "--json", "o.j"),
    ("devices", "--json", "o.j"),
    ("data", "fetch", "mnist", "--base-url", f"file://{DATA}/mnist", "--folder", "o.f", "--json", "o.j"),
    ("data", "show", "t.csv", "--json", "o.j"),
    ("data", "encode", "t.csv", "--output", "o.e", "--json", "o.j"),
    ("tune", "dot-tanh:f32:forward:2x3x4", "--milliseconds", "1", "--threads", "1", "--json", "o.j"),
    ("tune", "--export", "o.profile", "--threads", "1"),
    ("bench", "train", "--net", "4-3-2", "--batch", "16", "--json", "o.j", *QUICK),
    ("bench", "factor", "--rows", "8", "--rounds", "1", "--json", "o.j"),
    ("bench", "layer", "dot-tanh:f32:forward:2x3x4", "--json", "o.j", *QUICK),
    ("bench", "predict", "--net", "4-3-2", "--seconds", "0.01", "--json", "o.j"),
    ("model", "show", "m", "--json", "o.j"),
    ("export", "m", "--onnx", "--out", "o.onnx", "--json", "o.j"),
    ("export", "m", "--weights", "i8", "--out", "o.m"),
    ("export", "m", "--csv", "--out", "o.w"),
    ("export", "m", "--npy", "--out", "o.w"),
    ("export", "m", "--c", "m", "--out", "o.w"),
)
# What takes long is tried with what stands in its way before the work.
LONG = (("bench", "data", "t.csv", "--json", "o.j"), ("bench", "peak", "--json", "o.j"), ("bench", "scaling", "--json", "o.j"),
        ("bench", "matrix", "--out", "o.b"), ("bench", "paper-2016", "--quick", "--out", "o.b"), ("bench", "paper-2017", "--quick", "--out", "o.b"))
# How far it gets depends on the clock: tried with what its first model writes.
BEST = ("train", "--data", "t.csv", "--threads", "1", "--effort", "best", "--time-limit", "0.1s", "--state", "o.s", "--model", "o.m")
IN_REPORTS = ("report.md", "report.json", "table-1.csv", "figure-5.svg")
MINE = b"a person's"
BESIDE = (".old", ".part", ".4194303.part", ".4194303-1.part", ".lamina-0123456789abcdef.part", ".lamina-0123456789abcdef.download",
          ".ranks.part", ".bak", "~")


class OthersFilesTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        self.environment.pop("LAMINA_TUNE", None)
        self.write("t.csv", blob_rows(60))
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (12, 3), }".ljust(117) + "\n"
        self.write("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
                   struct.pack("<36f", *(i * 0.37 % 1 for i in range(36))))
        for name in ("m", "n"):
            self.train(*TRAIN, "--seed", str(ord(name)), "--model", name)
        self.inputs = set(self.snapshot())

    def clear(self):
        for name in os.listdir(self.folder):
            if name not in self.inputs:
                path = self.path(name)
                (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.remove)(path)

    def run_with(self, planted, arguments):
        """Runs the command with a person's things in its way, which must be there afterwards.

        `planted` is {path: "file", "folder" or "link"}.
        """
        self.clear()
        self.write("somebodys", MINE)
        for path, kind in planted.items():
            os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
            if kind == "file":
                self.write(path, MINE)
            elif kind == "folder":
                os.makedirs(self.path(path + "/sub"))
                self.write(path + "/sub/important", MINE)
            else:
                os.symlink(self.path("somebodys"), self.path(path))
        result = self.run_program(*arguments, env=self.environment)
        what = f"lamina {arguments} beside {planted}: {result}"
        self.assertIn(result.code, (0, 1, 2), what)
        self.assertEqual(self.read("somebodys", "rb"), MINE, what)
        for path, kind in planted.items():
            if kind == "link":
                self.assertTrue(os.path.islink(self.path(path)) or path in arguments, what)
                continue
            self.assertFalse(os.path.islink(self.path(path)), what)
            held = self.path(path if kind == "file" else path + "/sub/important")
            self.assertTrue(os.path.isfile(held), f"gone: {what}")
            with open(held, "rb") as file:
                self.assertEqual(file.read(), MINE, what)
        return result, what

    def refused(self, planted, arguments):
        result, what = self.run_with(planted, arguments)
        self.assertIn(result.code, (1, 2), what)
        self.assertIn("lamina: error: ", result.err, what)
        self.assertTrue(any(os.path.basename(path) in result.err or path.split("/")[0] + ": " in result.err for path in planted), what)

    def try_command(self, arguments):
        self.clear()
        clean = self.run_program(*arguments, env=self.environment)
        self.assertEqual(clean.code, 0, f"lamina {arguments}: {clean}")
        made = sorted(name for name, content in self.snapshot().items() if name not in self.inputs and content is not None)
        named = {word for word in arguments if word.startswith("o.")}
        # Beside each of them, whatever a temporary or an older one could be called.
        beside = [name + ending for name in sorted({*made, *named}) for ending in BESIDE]
        beside = [path for path in beside if "/" not in path or path.split("/")[0] not in named or arguments[:2] != ("data", "encode")]
        for kind in ("file", "folder", "link"):
            result, what = self.run_with({path: kind for path in beside}, arguments)
            self.assertEqual(result.code, 0, what)
        for name in sorted(named):
            for kind in ("file", "folder", "link"):
                result, what = self.run_with({name + ".lamina-lock": kind}, arguments)
                self.assertTrue(result.code == 0 or name + ".lamina-lock" in result.err, what)
        # In the place of each: what the user named is replaced as documented, all else is not.
        for i, path in enumerate(made):
            kinds = ("file", "folder", "link") if i < 2 else (("file", "folder", "link")[i % 3],)
            for kind in kinds:
                if path not in named or kind == "folder":
                    self.refused({path: kind}, arguments)
                elif kind == "link":
                    self.run_with({path: kind}, arguments)
        for name in sorted(named - set(made)):  # folders
            self.refused({name: "file"}, arguments)

    def test_everything_that_a_command_touches(self):
        for arguments in COMMANDS:
            if "fetch" in arguments and not (DATA and CURL):
                continue
            with self.subTest(command=" ".join(arguments)):
                self.try_command(arguments)

    def test_reports_are_refused_before_the_work(self):
        for arguments in LONG:
            with self.subTest(command=" ".join(arguments)):
                if "o.b" in arguments:
                    for name in IN_REPORTS:
                        self.refused({"o.b/" + name: "file"}, arguments)
                else:
                    self.refused({"o.j": "folder"}, arguments)

    def test_a_folder_of_best_runs_keeps_what_is_no_part_of_it(self):
        for path in ("o.s/run.json", "o.s/model-01-fold-01.safetensors", "o.m"):
            for kind in ("file", "folder"):
                with self.subTest(path=path, kind=kind):
                    self.refused({path: kind}, BEST)

    def test_pictures_are_refused_before_training(self):
        flags = ("--model", "o.m", "--plot", "o.p")
        for more in ((), ("--folds", "2"), ("--target", "a")):
            for name in ("loss.csv", "loss.gp", "loss.svg", "loss.png", "truth.csv", "residuals.svg", "confusion.png", "accuracy.gp"):
                what = ("train", *TRAIN, *more, *flags)
                with self.subTest(command=what, name=name):
                    result, _ = self.run_with({"o.p/" + name: "file"}, what)
                    classes = "--target" not in more
                    meant = name.startswith(("loss", "confusion", "accuracy") if classes else ("loss", "truth", "residuals"))
                    self.assertEqual(os.path.exists(self.path("o.m")), not meant, str(result))
                    if meant:
                        self.assertIn(name, result.err)
        self.clear()
        nowhere = {**self.environment, "TMPDIR": self.path("nowhere")}
        result = self.run_program("train", *TRAIN, *flags, env=nowhere)
        self.assertIn("TMPDIR", result.err)
        self.assertFalse(os.path.exists(self.path("o.m")), str(result))

    def test_pictures_are_refused_before_searching_and_explaining(self):
        for arguments, names in (
            ((*SEARCH, "--csv", "o.c", "--plot", "o.p"), ("curves.svg", "curves.csv", "setting_learning_rate.png")),
            (("explain", "m", "t.csv", "--out", "o.c", "--plot", "o.p"), ("importance.gp", "dependence-1.svg", "dependence-2.csv")),
            (("explain", "m", "t.csv", "--out", "o.c", "--rows", "0,1", "--dependence", "a", "--plot", "o.p"), ("row-2.png",)),
        ):
            for name in names:
                with self.subTest(command=arguments, name=name):
                    self.refused({"o.p/" + name: "file"}, arguments)
                    self.assertFalse(os.path.exists(self.path("o.c")))
            self.clear()
            result = self.run_program(*arguments, env={**self.environment, "TMPDIR": self.path("nowhere")})
            self.assertIn("TMPDIR", result.err)
            self.assertFalse(os.path.exists(self.path("o.c")), str(result))

    def test_every_flag_that_names_an_output_is_tried(self):
        tried = set()
        for arguments in (*COMMANDS, *LONG, BEST):
            command = arguments[:2] if arguments[0] in ("bench", "data", "model") else arguments[:1]
            tried |= {(*command, word) for word in arguments if word.startswith("--")}
        found = set()
        for path in self.commands():
            text = self.succeed(*path, "--help").out
            for flag in PATHS.findall(text):
                reads = flag in READ or (flag == "--model" and path[0] not in ("train", "search"))
                found |= set() if reads else {(*path, flag)}
        self.assertGreater(len(found), 40)
        self.assertEqual(found - tried - UNUSED, IN_SERVE)

    def commands(self, *path):
        """Every command of the program that has no others below it."""
        text = self.succeed(*path, "--help").out
        below = [name for block in re.findall(r"(?ms)^Subcommands:\n(.*?)(?:^\S|\Z)", text)
                 for name in re.findall(r"(?m)^  ([a-z][\w-]*)", block)]
        return [leaf for name in below for leaf in self.commands(*path, name)] if below else [path]


if __name__ == "__main__":
    main()
