"""Every system call on files fails once, in turn: the old file or the new one stays, whole, the error names the file, and the
next run works. The faults come from tests/faults/fail_calls.c, preloaded."""

import errno
import os
import unittest

from lamina_cli import CRASH, CliTest, main

LIBRARY = os.environ.get("LAMINA_FAULTS", "")
TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5 - 2},{i % 3}\n" for i in range(90))
FAILURES = {"open": (errno.EIO, errno.EMFILE), "read": (errno.EIO,), "write": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
            "fsync": (errno.EIO,), "rename": (errno.EIO, errno.ENOSPC), "mmap": (errno.ENOMEM,),
            "fallocate": (errno.ENOSPC, errno.EDQUOT), "close": (errno.EIO,)}
HARMLESS = {"read": (0, errno.EINTR), "write": (0, errno.EINTR), "fallocate": (errno.EINTR, errno.EOPNOTSUPP)}
MOST_CALLS = 200


@unittest.skipUnless(os.path.exists(LIBRARY), "faults: the preloaded library was not built")
class FaultsTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("t.csv", TABLE)
        self.succeed("train", "--data", "t.csv", "--hidden", "4", "--epochs", "2", "--batch", "16", "--model", "m.safetensors")
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }"
        head += " " * ((-len(head) - 11) % 64) + "\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(5 * 4 * 4))

    # command: its outputs, which are the same bytes in every run
    COMMANDS = {
        ("train", "--data", "t.csv", "--hidden", "4", "--epochs", "2", "--batch", "16", "--model", "out.safetensors", "--checkpoint",
         "kept", "--checkpoint-epochs", "1", "--threads", "1", "--overwrite"): ("out.safetensors",),
        ("predict", "--model", "m.safetensors", "--data", "t.csv", "--out", "out.csv", "--threads", "1"): ("out.csv",),
        ("export", "--onnx", "m.safetensors", "--out", "out.onnx"): ("out.onnx",),
        ("layer", "--x", "x.npy", "--neuron", "mul", "--neurons", "3", "--out", "out.npy", "--threads", "1"): ("out.npy",),
    }

    def run_with(self, command, fault):
        mark = os.path.join(self.folder + "-mark")
        if os.path.exists(mark):
            os.remove(mark)
        environment = {**os.environ, "LAMINA_TUNE": "off", "LD_PRELOAD": LIBRARY, "LAMINA_FAULT": f"{fault} {mark}"}
        result = self.run_program(*command, env=environment)
        came = os.path.exists(mark)
        if came:
            os.remove(mark)
        self.assertIsNone(CRASH.search(result.err), f"{fault} {command}: {result}")
        self.assertIn(result.code, (0, 1), f"{fault} {command}: {result}")
        return result, came

    def check(self, command, outputs, faults, must_succeed):
        self.succeed(*command)
        new = {name: self.read(name, "rb") for name in outputs}
        names = sorted(os.listdir(self.folder))
        failed = runs = 0
        for kind, codes in faults.items():
            for code in codes:
                for number in range(1, MOST_CALLS):
                    for name in outputs:
                        self.write(name, b"old")
                    result, came = self.run_with(command, f"{kind} {number} {code}")
                    if not came:
                        break
                    runs += 1
                    what = f"{kind} {number} {errno.errorcode.get(code, 'short')} {command}: {result}"
                    now = {name: self.read(name, "rb") for name in outputs}
                    self.assertEqual(sorted(os.listdir(self.folder)), names, what)
                    for name in outputs:
                        self.assertIn(now[name], (b"old", new[name]), f"{name} is neither old nor new: {what}")
                    if result.code == 0:
                        self.assertEqual(now, new, what)
                        continue
                    failed += 1
                    self.assertFalse(must_succeed, what)
                    self.assertIn("lamina: error: ", result.err, what)
                    self.assertTrue(any(name in result.err for name in names), f"no file is named: {what}")
                else:
                    self.fail(f"{kind} fails on and on: {command}")
        self.succeed(*command)
        self.assertEqual({name: self.read(name, "rb") for name in outputs}, new)
        return runs, failed

    def test_every_failure_leaves_the_old_file_or_the_new_one(self):
        total = 0
        for command, outputs in self.COMMANDS.items():
            with self.subTest(command=command):
                runs, failed = self.check(command, outputs, FAILURES, False)
                self.assertGreater(failed, 5)
                total += runs
        self.assertGreater(total, 60)

    def test_short_and_interrupted_calls_are_continued(self):
        for command, outputs in self.COMMANDS.items():
            with self.subTest(command=command):
                runs, _ = self.check(command, outputs, HARMLESS, True)
                self.assertGreater(runs, 3)

    def test_memory_that_is_refused(self):
        """Some of the allocations, spread over the run: an error and a whole file, old or new."""
        for command, outputs in self.COMMANDS.items():
            self.succeed(*command)
            new = {name: self.read(name, "rb") for name in outputs}
            names = sorted(os.listdir(self.folder))
            number, runs = 0, 0
            while True:
                number = number * 5 // 4 + 1
                for name in outputs:
                    self.write(name, b"old")
                result, came = self.run_with(command, f"alloc {number} {errno.ENOMEM}")
                if not came:
                    break
                runs += 1
                with self.subTest(command=command, number=number):
                    what = f"allocation {number}: {result}"
                    self.assertEqual(sorted(os.listdir(self.folder)), names, what)
                    for name in outputs:
                        self.assertIn(self.read(name, "rb"), (b"old", new[name]), what)
                    self.assertEqual(result.code == 0, "lamina: error: " not in result.err, what)
            self.assertGreater(runs, 5)


if __name__ == "__main__":
    main()
