"""Places that cannot be written: found before training where possible, and never half a file."""

import itertools
import os
import re
import shutil
import struct
import subprocess
import time
import unittest

from lamina_cli import DIGITS, PROGRAM, TIME_LIMIT_SECONDS, CliTest, main

TRAIN = ["train", "--data", DIGITS, "--hidden", "8", "--epochs", "1"]
NEVER_ENDING = ["train", "--data", DIGITS, "--epochs", "100000000"]


class OutputTest(CliTest):
    def test_missing_folder_is_found_before_training(self):
        for flag in ("--model", "--history", "--history-json", "--checkpoint", "--json"):
            with self.subTest(flag=flag):
                self.refuse(*NEVER_ENDING, flag, "absent/file", says="absent")
        self.succeed(*TRAIN, "--model", "m.safetensors")
        self.refuse("predict", "--model", "m.safetensors", "--data", DIGITS, "--out", "absent/x.csv", says="absent")
        self.refuse("evaluate", "--model", "m.safetensors", "--data", DIGITS, "--json", "absent/x.json", says="absent")
        self.refuse("devices", "--json", "absent/x.json", says="absent")
        self.refuse("bench", "train", "--json", "absent/x.json", says="absent")

    def test_folder_as_file(self):
        os.mkdir(self.path("folder"))
        for flag in ("--model", "--history", "--history-json", "--checkpoint", "--json"):
            self.refuse(*NEVER_ENDING, flag, "folder", says=("folder", "directory"))
        self.write("plain", "x")
        self.refuse(*NEVER_ENDING, "--model", "plain/m.safetensors", says="plain")
        self.refuse("data", "fetch", "mnist", "--folder", "plain/x", code=1, says=("plain/x", "cannot make the folder"))

    def test_unwritable_folder_is_found_before_training(self):
        folder = "/proc"
        if os.geteuid() != 0:
            folder = self.path("locked")
            os.mkdir(folder, 0o500)
        for flag in ("--model", "--history", "--checkpoint", "--json"):
            with self.subTest(flag=flag):
                result = self.refuse(*NEVER_ENDING, flag, f"{folder}/x", says=folder)
                self.assertEqual(result.out, "")

    def test_same_file_for_two_outputs(self):
        self.refuse(*NEVER_ENDING, "--model", "x", "--history", "x", code=2, says="x: --model would overwrite the file of --history")
        self.refuse(*NEVER_ENDING, "--model", "x", "--checkpoint", "./x", code=2, says="x")
        self.refuse(*NEVER_ENDING, "--history", "x", "--json", "x", code=2, says="x")

    def test_output_over_the_data(self):
        shutil.copy(DIGITS, self.path("d.csv.gz"))
        self.refuse("train", "--data", "d.csv.gz", "--model", "d.csv.gz", "--epochs", "1", code=2, says="d.csv.gz")
        self.succeed(*TRAIN, "--model", "m.safetensors")
        self.refuse("predict", "--model", "m.safetensors", "--data", "d.csv.gz", "--out", "d.csv.gz", code=2, says="d.csv.gz")
        self.refuse("predict", "--model", "m.safetensors", "--data", "d.csv.gz", "--out", "m.safetensors", code=2,
                    says="m.safetensors")

    def files_of(self, *command):
        """(flags of files that the command reads, flags of files that it writes), as its help shows them."""
        read, written = [], []
        for flag, words in re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+) FILE(?: \[[^]]*\])?(?: REQUIRED)?\s+(\w+)",
                                      self.succeed(*command, "--help").out):
            (written if words in ("Write", "Keep") else read).append(flag)
        return read, written

    def prepare_inputs(self):
        """Files that can be read before the others are compared with them: a configuration and a checkpoint."""
        self.write("config", "seed = 1\n")
        self.succeed(*TRAIN, "--checkpoint", "checkpoint", "--checkpoint-epochs", "1")

    def test_no_output_replaces_an_input_or_another_output(self):
        self.prepare_inputs()
        content = {"--config": "config", "--resume": "checkpoint"}
        needed = {"train": {"--data": DIGITS},
                  "search": {"--data": DIGITS, "--retrain": None, "--model": "m"},
                  "evaluate": {"--data": DIGITS, "--model": "m"},
                  "predict": {"--data": DIGITS, "--model": "m", "--out": "o"},
                  "layer": {"--x": "x", "--out": "o", "--neurons": 3}}
        pairs = 0
        for command, flags in needed.items():
            read, written = self.files_of(command)
            for one, other in [*itertools.product(written, read), *itertools.combinations(written, 2)]:
                if (one, other) == ("--checkpoint", "--resume"):  # to go on in the same file is how it is used
                    continue
                given = dict(flags)
                if "--w" in (one, other):
                    given.pop("--neurons")
                if other == "--resume":  # its own is not taken from it
                    given["--checkpoint"] = "kept"
                pairs += 1
                for kind in ("same", "dotted", "link"):
                    with self.subTest(command=command, written=one, other=other, kind=kind):
                        shutil.copy(self.path(content.get(other, "config")), self.path("victim"))
                        name = {"same": "victim", "dotted": "./victim", "link": "link"}[kind]
                        if kind == "link":
                            os.symlink("victim", self.path("link"))
                        arguments = itertools.chain.from_iterable(
                            (flag, value) if value is not None else (flag,)
                            for flag, value in {**given, other: "victim", one: name}.items())
                        says = (f"{one} would overwrite the file of {other}", f" {name}: ") if other in read else (
                            one, other, " would overwrite the file of ")
                        self.refuse(command, *arguments, code=2, says=says)
                        for made in ("victim", "link"):
                            if os.path.lexists(self.path(made)):
                                os.remove(self.path(made))
        self.assertGreater(pairs, 60)

    def test_json_over_what_other_commands_read(self):
        shutil.copy(DIGITS, self.path("d.csv.gz"))
        self.write("problems.txt", "8-4-2-1 16\n")
        self.succeed(*TRAIN, "--model", "m.safetensors")
        over = ("--json", "./d.csv.gz")
        self.refuse("data", "show", "d.csv.gz", *over, code=2, says="--json would overwrite")
        self.refuse("bench", "data", "d.csv.gz", *over, code=2, says="--json would overwrite")
        self.refuse("bench", "train", "--problems", "problems.txt", "--json", "problems.txt", code=2,
                    says="--json would overwrite")
        self.refuse("tune", "--export", "plans", "--json", "plans", code=2, says="--export would overwrite the file of --json")
        self.refuse("tune", "--import", "problems.txt", "--json", "problems.txt", code=2, says="--json would overwrite")
        for arguments in (("--out", "m.safetensors"), ("--out", "o", "--json", "m.safetensors"), ("--out", "o", "--json", "o")):
            self.refuse("export", "--onnx", "m.safetensors", *arguments, code=2, says="would overwrite")

    def test_output_over_a_file_of_a_folder_of_data(self):
        self.write("config", "")
        for folder, data, name in (("idx", "idx", "train-images-idx3-ubyte"), ("idx", "mnist:idx", "t10k-labels-idx1-ubyte.gz"),
                                   ("kdd", "kddcup99:kdd", "corrected.gz")):
            os.makedirs(self.path(folder), exist_ok=True)
            victim = self.write(os.path.join(folder, name), "not read before the names are compared")
            for command in (["train"], ["search"], ["predict", "--model", "config"], ["evaluate", "--model", "config"]):
                with self.subTest(data=data, command=command):
                    flag = {"train": "--model", "search": "--csv", "predict": "--out"}.get(command[0], "--json")
                    self.refuse(*command, "--data", data, flag, victim, code=2, says=(f"{flag} would overwrite", "--data"))

    def test_outputs_beside_the_inputs(self):
        os.mkdir(self.path("folder"))
        shutil.copy(DIGITS, self.path("folder/d.csv.gz"))
        for _ in range(2):  # the second time over the first one's
            self.succeed("train", "--data", "folder/d.csv.gz", "--hidden", "8", "--epochs", "1", "--model", "folder/m",
                         "--history", "folder/h", "--checkpoint", "folder/c", "--checkpoint-epochs", "1")
        self.succeed("train", "--resume", "folder/c", "--epochs", "2", "--model", "folder/m", "--history", "folder/h")

    def test_existing_files_are_replaced_whole(self):
        self.write("m.safetensors", "old" * 100000)
        self.write("h.csv", "old" * 100000)
        self.succeed(*TRAIN, "--model", "m.safetensors", "--overwrite", "--history", "h.csv")
        self.assertEqual(self.read("h.csv").count("\n"), 2)
        self.succeed("evaluate", "--model", "m.safetensors", "--data", DIGITS)
        self.assertNoPartFiles()

    @unittest.skipUnless(os.path.exists("/dev/full"), "full device: no /dev/full")
    def test_full_device(self):
        for flag in ("--model", "--history", "--json"):
            with self.subTest(flag=flag):
                self.refuse(*TRAIN, flag, "/dev/full", code=1, says=("/dev/full", "No space left", "Free space"))
        self.refuse(*TRAIN, "--checkpoint", "/dev/full", "--checkpoint-epochs", "1", code=1, says="/dev/full")
        self.succeed(*TRAIN, "--model", "m.safetensors")
        self.refuse("predict", "--model", "m.safetensors", "--data", DIGITS, "--out", "/dev/full", code=1, says="/dev/full")

    def test_full_disk(self):
        disk = self.path("disk")
        os.mkdir(disk)
        if not shutil.which("mount") or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk],
                                                       capture_output=True, check=False).returncode != 0:
            self.skipTest("full disk: mounting a small tmpfs is not permitted here")
        self.addCleanup(subprocess.run, ["umount", disk], check=False)
        self.succeed(*TRAIN, "--model", "disk/m.safetensors")
        before = self.read("disk/m.safetensors", "rb")
        self.refuse("train", "--data", DIGITS, "--hidden", "512", "--epochs", "1", "--model", "disk/m.safetensors", code=1,
                    says=("disk/m.safetensors", "No space left"))
        self.assertEqual(self.read("disk/m.safetensors", "rb"), before)

    def test_standard_error_that_takes_nothing(self):
        """The exit codes stay those of the errors, whoever listens."""
        cases = {2: ("train", "--data", DIGITS, "--hiden", "8"), 1: ("train", "--data", "absent.csv"), 0: ("--version",)}
        for code, arguments in cases.items():
            with self.subTest(arguments=arguments, stream="closed"):
                shell = ["sh", "-c", 'exec "$@" 2>&-', "sh", PROGRAM, *arguments]
                self.assertEqual(subprocess.run(shell, cwd=self.folder, stdout=subprocess.DEVNULL, check=False).returncode, code)
            if os.path.exists("/dev/full"):
                with self.subTest(arguments=arguments, stream="full"), open("/dev/full", "w") as full:
                    self.assertEqual(subprocess.run([PROGRAM, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=full,
                                                    check=False).returncode, code)

    def test_what_is_called_like_a_part_stays(self):
        others = sorted(["m.safetensors.4194303.part", "m.safetensors.part", "m.safetensors.lamina-0123456789abcdef.part", "other.4194303.part"])
        for name in others:
            self.write(name, "mine")
        self.succeed(*TRAIN, "--model", "m.safetensors")
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if name.endswith(".part")), others)

    def test_equal_runs_write_equal_files(self):
        for name in ("a", "b"):
            os.mkdir(self.path(name))
            shutil.copy(DIGITS, self.path(f"{name}/d.csv.gz"))
            subprocess.run([PROGRAM, "train", "--data", "d.csv.gz", "--hidden", "8", "--epochs", "2", "--model", "m"],
                           cwd=self.path(name), check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.read("a/m", "rb"), self.read("b/m", "rb"))

    def test_an_input_that_is_cut_short_meanwhile(self):
        """A mapped file that another program shortens is an error that names it."""
        rows, inputs = 40_000, 2048  # seconds of computing, little to write: the file is cut in the middle of it on any machine
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {inputs}), }}"
        head += " " * ((-len(head) - 11) % 64) + "\n"
        with open(self.path("x.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
            file.truncate(10 + len(head) + rows * inputs * 4)
        process = self.start("layer", "--x", "x.npy", "--radius", "9", "--neurons", "1024", "--out", "o.npy", "--threads", "1")
        # Its weights are drawn from the mapped samples. A part of the output is there before, to see whether it can be.
        deadline = time.monotonic() + TIME_LIMIT_SECONDS
        while time.monotonic() < deadline and not any(name.startswith("o.npy.weights") for name in os.listdir(self.folder)):
            time.sleep(0.002)
        os.truncate(self.path("x.npy"), 4096)
        result = self.finish(process)
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("x.npy: was cut short while it was read", result.err)
        self.assertEqual(sorted(os.listdir(self.folder)), ["x.npy"])

    def test_result_into_a_pipe(self):
        process = self.start(*TRAIN, "--quiet", "--json", "/dev/stdout")
        result = self.finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn('"accuracy"', result.out)

    def test_time_of_failure(self):
        self.refuse(*NEVER_ENDING, "--model", "absent/m")  # that it ends at all shows that nothing was trained


if __name__ == "__main__":
    main()
