"""lamina.exe under Wine, beside this system's program: the same bits, and what Windows does in ways of its own."""

import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

from lamina_cli import DIGITS, PROGRAM, TIME_LIMIT_SECONDS, CliTest, Result, main, read_safetensors

EXE = os.environ.get("LAMINA_EXE", "")
MOST_BYTES = 15_000_000
# Part of every Windows 10.
SYSTEM_LIBRARIES = r"(?i)^(KERNEL32|msvcrt|SHELL32|ADVAPI32|WS2_32|MSWSOCK|PSAPI|api-ms-win-[\w-]+)\.dll$"
TRAIN = ("train", "digits.csv.gz", "--epochs", "3", "--hidden", "16", "--recipe", "plain", "--threads", "1")


@unittest.skipUnless(os.path.exists(EXE), "no lamina.exe was built (scripts/windows)")
@unittest.skipUnless(shutil.which("wine"), "needs wine")
class WindowsTest(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copy(DIGITS, self.path("digits.csv.gz"))
        self.environment = {**os.environ, "LAMINA_TUNE": "off", "WINEDEBUG": "-all"}
        self.environment.setdefault("WINEPREFIX", os.path.join(os.path.dirname(os.path.dirname(EXE)), "wine"))
        self.environment.pop("DISPLAY", None)

    def begin(self, *words, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen(["wine", *words], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self._end, process)
        return process

    def windows(self, *words, code=0, isa=None):
        """lamina.exe; its exit code must be this."""
        if isa:
            self.environment["LAMINA_ISA"] = isa
        process = self.begin(EXE, *words)
        out, err = process.communicate(timeout=TIME_LIMIT_SECONDS)
        self.environment.pop("LAMINA_ISA", None)
        self.assertEqual(process.returncode, code, f"lamina.exe {words}: {Result(process.returncode, out, err)}")
        return Result(process.returncode, out, err)

    def tensors(self, name):
        return read_safetensors(self.read(name, "rb"))[1]

    def test_the_same_bits(self):
        scalar = {**os.environ, "LAMINA_TUNE": "off", "LAMINA_ISA": "scalar"}
        self.windows(*TRAIN, "--model", "w.safetensors", isa="scalar")
        self.succeed(*TRAIN, "--model", "l.safetensors", env=scalar)
        self.assertEqual(self.tensors("w.safetensors"), self.tensors("l.safetensors"))
        self.windows("predict", "w.safetensors", "digits.csv.gz", "--out", "w.csv", isa="scalar")
        self.succeed("predict", "l.safetensors", "digits.csv.gz", "--out", "l.csv", env=scalar)
        self.assertEqual(self.read("w.csv", "rb"), self.read("l.csv", "rb"))
        self.windows("export", "l.safetensors", "--onnx", "--out", "w.onnx")
        self.succeed("export", "l.safetensors", "--onnx", "--out", "l.onnx")
        self.assertEqual(self.read("w.onnx", "rb"), self.read("l.onnx", "rb"))

    def test_every_instruction_set(self):
        """What the stack does to wide vectors shows here."""
        self.windows("train", "digits.csv.gz", "--hidden", "64,32", "--epochs", "8", "--model", "w.safetensors")
        accuracy = {}
        for isa in ("scalar", "avx2", "avx512_bf16"):
            said = self.windows("evaluate", "w.safetensors", "digits.csv.gz", isa=isa).out
            accuracy[isa] = re.search(r"(\d+\.\d+) ?%", said)[1]
        self.assertGreater(float(accuracy["scalar"]), 90)
        self.assertEqual(len(set(accuracy.values())), 1, accuracy)

    def test_names_and_places(self):
        names = ["Größe äöü 数据.csv", "with blank.csv", os.path.join(*["a long folder of sixty characters in its name, for many of them"] * 5, "deep.csv")]
        for name in names:
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, "a,b,y\r\n" + "".join(f"{i},{i * i % 7},{i % 2}\r\n" for i in range(60)))
            windows_name = "Z:" + self.path(name).replace("/", "\\")
            model = windows_name + ".safetensors"
            said = self.windows("train", windows_name, "--epochs", "2", "--model", model)
            self.assertTrue(os.path.exists(self.path(name + ".safetensors")), said)
            self.windows("predict", model, windows_name, "--out", windows_name + ".answers.csv")
            self.assertEqual(self.read(name + ".answers.csv", "rb").count(b"\n"), 61)
        rooted = self.path("with blank.csv")  # "/folder/name", which is no flag
        self.windows("predict", rooted + ".safetensors", rooted, "--out", rooted + ".again.csv")
        missing = self.windows("train", "C:\\not\\there.csv", code=1).err
        self.assertIn("C:\\not\\there.csv", missing)
        self.assertIn("No such file", missing)
        self.assertNoPartFiles()

    def test_a_file_that_another_program_holds(self):
        self.windows(*TRAIN, "--model", "m.safetensors")
        holder = self.begin("cmd", "/c", "set /p wait= > answers.csv", stdin=subprocess.PIPE)
        while not os.path.exists(self.path("answers.csv")):
            self.assertIsNone(holder.poll())
        said = self.windows("predict", "m.safetensors", "digits.csv.gz", "--out", "answers.csv", code=1).err
        self.assertIn("answers.csv", said)
        self.assertIn("another program has it open", said)
        self.assertIn("Excel", said)
        self.assertNoPartFiles()
        holder.communicate("\n", timeout=TIME_LIMIT_SECONDS)
        self.windows("predict", "m.safetensors", "digits.csv.gz", "--out", "answers.csv")

    def test_interrupted(self):
        process = self.begin(EXE, *TRAIN, "--epochs", "100000", "--model", "m.safetensors")
        for _ in range(6):
            self.assertTrue(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIME_LIMIT_SECONDS)
        self.assertEqual(process.returncode, 130, Result(process.returncode, out, err))
        self.assertIn("--resume m.safetensors.checkpoint", err)
        self.assertEqual(glob.glob(self.path("*.part")), [])

    def test_the_service_listens_at_ports(self):
        """What it answers is tested by serve_test.py (scripts/windows --test)."""
        self.windows(*TRAIN, "--model", "m.safetensors")
        self.assertIn("listens at ports alone", self.windows("serve", "m.safetensors", "--socket", "s", code=1).err)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            said = self.windows("serve", "m.safetensors", "--port", str(taken.getsockname()[1]), code=1).err
        self.assertIn("Address already in use", said)
        self.assertIn("choose another --port", said)
        process = self.begin(EXE, "serve", "m.safetensors", "--port", "0")
        while "listening at http://127.0.0.1:" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIME_LIMIT_SECONDS)
        self.assertEqual((process.returncode, err), (0, ""), out)

    def test_says_what_it_leaves_out(self):
        said = self.windows("devices").out
        self.assertRegex(said, r"(?m)^GPU +none: the program for Windows opens no libraries")
        self.assertRegex(said, r"(?m)^  cpu +cpu: ")
        self.assertIn("the program for Windows opens no libraries", self.windows(*TRAIN, "--backend", "cuda", code=1).err)

    def test_is_one_file_of_its_own(self):
        self.assertLess(os.path.getsize(EXE), MOST_BYTES)
        headers = subprocess.run(["objdump", "-p", EXE], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r"DLL Name: (\S+)", headers)
        self.assertTrue(needed)
        for library in needed:
            self.assertRegex(library, SYSTEM_LIBRARIES)
        first = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
        self.assertEqual(self.windows("--version").out.splitlines()[0], first)


if __name__ == "__main__":
    main()
