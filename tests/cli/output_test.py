"""Places that cannot be written: found before training where possible, and never half a file."""

import os
import shutil
import subprocess
import time
import unittest

from lamina_cli import DIGITS, CliTest, main

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
        self.refuse(*NEVER_ENDING, "--model", "x", "--history", "x", code=2, says="'x'")
        self.refuse(*NEVER_ENDING, "--model", "x", "--checkpoint", "./x", code=2, says="x")
        self.refuse(*NEVER_ENDING, "--history", "x", "--json", "x", code=2, says="x")

    def test_output_over_the_data(self):
        shutil.copy(DIGITS, self.path("d.csv.gz"))
        self.refuse("train", "--data", "d.csv.gz", "--model", "d.csv.gz", "--epochs", "1", code=2, says="d.csv.gz")
        self.succeed(*TRAIN, "--model", "m.safetensors")
        self.refuse("predict", "--model", "m.safetensors", "--data", "d.csv.gz", "--out", "d.csv.gz", code=2, says="d.csv.gz")
        self.refuse("predict", "--model", "m.safetensors", "--data", "d.csv.gz", "--out", "m.safetensors", code=2,
                    says="m.safetensors")

    def test_existing_files_are_replaced_whole(self):
        self.write("m.safetensors", "old" * 100000)
        self.write("h.csv", "old" * 100000)
        self.succeed(*TRAIN, "--model", "m.safetensors", "--history", "h.csv")
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

    def test_result_into_a_pipe(self):
        process = self.start(*TRAIN, "--quiet", "--json", "/dev/stdout")
        result = self.finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn('"accuracy"', result.out)

    def test_time_of_failure(self):
        start = time.monotonic()
        self.refuse(*NEVER_ENDING, "--model", "absent/m")
        self.assertLess(time.monotonic() - start, 5)


if __name__ == "__main__":
    main()
