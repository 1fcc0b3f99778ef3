"""Backend cuda as a plug-in: what opens it, what is said without it, and the whole program on an emulated GPU."""

import os
import shutil
import subprocess
import unittest

from lamina_cli import DIGITS, PROGRAM, CliTest, main

EMULATED = os.environ.get("LAMINA_EMULATED_CUDA", "")
OTHER = os.environ.get("LAMINA_OTHER_CUDA", "")
WITHOUT = {**os.environ, "LAMINA_TUNE": "off"}
WITHOUT.pop("LAMINA_CUDA_PLUGIN", None)


def opened(path):
    return {**WITHOUT, "LAMINA_CUDA_PLUGIN": path}


class WithoutTest(CliTest):
    def reason(self, environment):
        self.succeed("train", DIGITS, "--epochs", "1", "--hidden", "4", "--recipe", "plain", "--model", "m", "--overwrite",
                     env=environment)  # auto goes on without
        said = self.refuse("predict", "m", DIGITS, "--backend", "cuda", env=environment).err
        self.assertIn("backend cuda is not available", said)
        self.assertIn(said.strip().split("not available: ")[1][:30], self.succeed("devices", env=environment).out)
        return said

    def test_switched_off(self):
        self.assertIn("LAMINA_CUDA_PLUGIN=off", self.reason(opened("off")))

    def test_not_there(self):
        self.assertIn("no.so cannot be opened", self.reason(opened("/no.so")))

    @unittest.skipUnless(os.environ.get("LAMINA_FAULTS"), "no library to stand for the driver in this build")
    def test_not_installed(self):
        """A copy of the program in a folder of its own, beside a driver, says how to get it."""
        alone = self.path("lamina")
        shutil.copy(PROGRAM, alone)
        shutil.copy(os.environ["LAMINA_FAULTS"], self.path("libcuda.so.1"))
        out = subprocess.run([alone, "devices"], env={**WITHOUT, "LD_LIBRARY_PATH": self.folder}, capture_output=True,
                             text=True, check=True).stdout
        self.assertRegex(out, r"cuda +not available: the kernels for GPUs \(lamina_cuda.so\) are not installed")
        self.assertIn("pip install 'lamina[cuda]'", out)

    def test_a_file_that_is_none(self):
        with open(self.path("text.so"), "w", encoding="utf-8") as file:
            file.write("no library")
        self.assertIn("text.so cannot be opened", self.reason(opened(self.path("text.so"))))
        library = os.environ.get("LAMINA_FAULTS")
        if library:
            self.assertIn("has no function LaminaCudaFunctions", self.reason(opened(library)))

    @unittest.skipUnless(OTHER, "no emulated GPU in this build")
    def test_of_another_version(self):
        version = self.succeed("--version").out.splitlines()[0].split()[1]
        self.assertRegex(self.reason(opened(OTHER)), rf"is of another lamina \(it has 0.0.9-1, this one {version}-\d+\)")


@unittest.skipUnless(EMULATED, "no emulated GPU in this build")
class EmulatedTest(CliTest):
    def test_devices(self):
        self.assertRegex(self.succeed("devices", env=opened(EMULATED)).out, r"cuda +cuda: emulated GPU.*\(auto\)")

    def test_trains_and_answers_as_serial(self):
        settings = ["--epochs", "2", "--hidden", "12", "--recipe", "plain", "--dtype", "f64"]
        for backend in ("cuda", "serial"):
            self.succeed("train", DIGITS, *settings, "--backend", backend, "--model", backend, env=opened(EMULATED))
            self.succeed("predict", backend, DIGITS, "--probabilities", "--backend", backend, "--out", backend + ".csv",
                         env=opened(EMULATED))
        rows = [self.read(name + ".csv").splitlines() for name in ("cuda", "serial")]
        self.assertEqual(rows[0][0], rows[1][0])
        for ours, theirs in zip(rows[0][1:], rows[1][1:], strict=True):
            ours, theirs = ours.split(","), theirs.split(",")
            self.assertEqual(ours[0], theirs[0])
            for a, b in zip(ours[1:], theirs[1:], strict=True):
                self.assertAlmostEqual(float(a), float(b), delta=1e-8)

    def write_products(self, count):
        """rows.csv: so many rows of a, b and a number made of both."""
        with open(self.path("rows.csv"), "w", encoding="utf-8") as file:
            file.write("a,b,y\n")
            for i in range(count):
                a, b = i % 11 / 5 - 1, i * i % 13 / 6 - 1
                file.write(f"{a:.4f},{b:.4f},{a * b + a:.4f}\n")

    def test_folds_side_by_side_answer_as_serial(self):
        """Recipe tabular with its schedule: answers to rows left out, fold after fold on the processor."""
        self.write_products(150)
        settings = ["--recipe", "tabular", "--folds", "5", "--epochs", "3", "--hidden", "16,8", "--dtype", "f64", "--batch", "16"]
        said = {}
        for backend in ("cuda", "serial"):
            said[backend] = self.succeed("train", "rows.csv", *settings, "--backend", backend, "--out-of-fold", backend + ".csv",
                                         env=opened(EMULATED)).out
        for fold in range(1, 6):
            self.assertEqual(said["cuda"].count(f"fold {fold}"), said["serial"].count(f"fold {fold}"))
        rows = [self.read(name + ".csv").splitlines() for name in ("cuda", "serial")]
        self.assertEqual(len(rows[0]), 151)
        for ours, theirs in zip(rows[0][1:], rows[1][1:], strict=True):
            ours, theirs = ours.split(","), theirs.split(",")
            self.assertEqual(ours[:3], theirs[:3])
            self.assertAlmostEqual(float(ours[3]), float(theirs[3]), delta=1e-7)

    def test_a_kernel_machine_is_the_processors(self):
        self.write_products(120)
        said = {}
        for backend in ("cuda", "cpu", "auto"):
            said[backend] = self.succeed("train", "rows.csv", "--method", "rfm", "--backend", backend, "--model", backend,
                                         env=opened(EMULATED)).out
            self.succeed("predict", backend, "rows.csv", "--backend", "cpu", "--out", backend + ".csv", env=opened(EMULATED))
        self.assertIn("systems solved by cuda: cuSOLVER", said["cuda"])
        for backend in ("cpu", "auto"):  # auto: so few rows are the processor's
            self.assertNotIn("systems solved", said[backend])
        answers = [[float(line.split(",")[-1]) for line in self.read(name + ".csv").splitlines()[1:]] for name in ("cuda", "cpu")]
        self.assertEqual(len(answers[0]), 120)
        for ours, theirs in zip(*answers, strict=True):
            self.assertAlmostEqual(ours, theirs, delta=1e-4)

    def test_each_kernel_is_timed_once(self):
        timed = ["bench", "layer", "l1-identity:f32:forward:33x17x9", "--kernel", "each", "--rounds", "1", "--round-seconds", "0"]
        out = self.succeed(*timed, "--backend", "cuda", env=opened(EMULATED)).out
        for kernel in ("large", "medium", "small"):
            self.assertEqual(out.count(f"kernel {kernel} "), 1, kernel)
        refused = self.refuse(*timed, "--backend", "cpu", env=opened(EMULATED))
        self.assertIn("--backend cuda", refused.err)
        self.assertEqual(refused.out, "")

    def test_limits_are_measured(self):
        out = self.succeed("bench", "layer", "l1-identity:f32:forward:33x17x9", "--backend", "cuda", "--rounds", "1",
                           "--round-seconds", "0", env=opened(EMULATED)).out
        self.assertRegex(out, r"cuda.*yes")


if __name__ == "__main__":
    main()
