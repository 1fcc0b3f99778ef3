"""A CSV file of 500 MB is read, trained on and answered within a small multiple of its size and reading time."""

import os
import random
import shutil
import unittest

from lamina_cli import CliTest, main

COLUMNS = 100
BLOCK_ROWS = 2000
MEGABYTES = 500


@unittest.skipIf("LAMINA_TEST_SLOWNESS" in os.environ, "huge file: with sanitizers it takes minutes")
class HugeTest(CliTest):
    def measured(self, *arguments):
        """Its output, the most memory it had in bytes, and the processor time it took in seconds."""
        process = self.start(*arguments, stdout=None, stderr=None)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0, str(arguments))
        return used.ru_maxrss * 1024, used.ru_utime + used.ru_stime

    def test_memory_and_time_follow_the_size(self):
        if shutil.disk_usage(self.folder).free < 4 * MEGABYTES << 20:
            self.skipTest("huge file: the temporary folder has less than 2 GB")
        rng = random.Random(1)
        block = "".join(",".join(f"{rng.random() * 9:.3f}" for _ in range(COLUMNS)) + f",{'ab'[i % 2]}\n" for i in range(BLOCK_ROWS)).encode()
        path = self.path("huge.csv")
        try:
            with open(path, "wb") as file:
                file.write((",".join(f"x{i}" for i in range(COLUMNS)) + ",y\n").encode())
                for _ in range((MEGABYTES << 20) // len(block)):
                    file.write(block)
            size = os.path.getsize(path)
            self.assertGreater(size, 490 << 20)
            first, _ = self.measured("data", "show", "huge.csv")
            self.assertLess(first, 4 * size)
            memory, seconds = self.measured("train", "--data", "huge.csv", "--hidden", "4", "--epochs", "1", "--batch", "4096", "--quiet",
                                            "--scale", "none", "--model", "m")
            self.assertLess(memory, 4 * size)
            self.assertLess(seconds, 120)
            memory, seconds = self.measured("predict", "--model", "m", "--data", "huge.csv", "--out", "answers.csv")
            self.assertLess(memory, 4 * size)
            self.assertLess(seconds, 120)
            with open(self.path("answers.csv"), "rb") as answers:
                rows = sum(piece.count(b"\n") for piece in iter(lambda: answers.read(1 << 20), b""))
            self.assertEqual(rows, 1 + (MEGABYTES << 20) // len(block) * BLOCK_ROWS)
        finally:
            os.remove(path)


if __name__ == "__main__":
    main()
