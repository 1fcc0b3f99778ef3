"""The static file: it needs nothing of a system, answers as the program does, and says what it leaves out."""

import os
import shutil
import subprocess
import unittest

from lamina_cli import DIGITS, PROGRAM, TIME_LIMIT_SECONDS, CliTest, main

STATIC = os.environ.get("LAMINA_STATIC", "")
MOST_BYTES = 15_000_000
ALONE = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]

def may_be_alone():
    return subprocess.run([*ALONE, "chroot", "/", "true"], capture_output=True, check=False).returncode == 0

@unittest.skipUnless(STATIC, "no static file in this build")
@unittest.skipUnless(may_be_alone(), "needs root or user namespaces")
class StaticFileTest(CliTest):
    def setUp(self):
        super().setUp()
        self.root = self.path("root")
        os.makedirs(self.root)
        shutil.copy(STATIC, os.path.join(self.root, "lamina"))
        shutil.copy(DIGITS, os.path.join(self.root, "digits.csv.gz"))

    def alone(self, *words):
        """Runs it in a root where there is nothing else: no libraries, no /proc, no /tmp."""
        done = subprocess.run([*ALONE, "chroot", self.root, "/lamina", *words], capture_output=True, text=True, check=False,
                              timeout=TIME_LIMIT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read_alone(self, name):
        with open(os.path.join(self.root, name), "rb") as file:
            return file.read()

    def test_works_alone(self):
        train = ("--epochs", "3", "--hidden", "16", "--recipe", "plain", "--threads", "1")
        self.alone("train", "digits.csv.gz", *train, "--model", "m.safetensors")
        self.succeed("train", DIGITS, *train, "--model", "m.safetensors")
        self.alone("predict", "m.safetensors", "digits.csv.gz", "--out", "answers.csv")
        self.succeed("predict", "m.safetensors", DIGITS, "--out", "answers.csv")
        with open(self.path("answers.csv"), "rb") as file:
            self.assertEqual(self.read_alone("answers.csv"), file.read())
        self.alone("export", "m.safetensors", "--onnx", "--out", "m.onnx")
        self.succeed("export", "m.safetensors", "--onnx", "--out", "m.onnx")
        with open(self.path("m.onnx"), "rb") as file:
            self.assertEqual(self.read_alone("m.onnx"), file.read())
        said = self.alone("search", "digits.csv.gz", *train, "--vary", "learning-rate=0.001..0.1:log:2")
        self.assertIn("learning-rate", said)

    def test_says_what_it_leaves_out(self):
        said = self.alone("devices")
        self.assertRegex(said, r"(?m)^GPU +none: the static file opens no libraries")
        self.assertRegex(said, r"(?m)^  cpu +cpu: ")
        if "BLAS     on" in self.succeed("--version").out:
            self.assertRegex(said, r"(?m)^  blas +not available: .* the static file opens no libraries")

    def test_is_one_file_of_its_own(self):
        with open(STATIC, "rb") as file:
            self.assertNotIn(b"/lib64/ld-linux", file.read(4096))  # no loader is asked for
        small = self.path("stripped")
        subprocess.run(["strip", "-o", small, STATIC], check=True)
        self.assertLess(os.path.getsize(small), MOST_BYTES)
        self.assertEqual(self.alone("--version").splitlines()[0], self.succeed("--version").out.splitlines()[0])

if __name__ == "__main__":
    main()
