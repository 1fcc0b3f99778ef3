"""Every system call on files fails once, in turn, as do allocations and system limits. The old file or the new one
stays, whole; the error names the file; the next run works. tests/faults/fail_calls.c makes the faults."""

import errno
import os
import resource
import shutil
import unittest

from lamina_cli import CRASH, CliTest, main

LIBRARY = os.environ.get("LAMINA_FAULTS", "")
SANITIZED = "LAMINA_TEST_SLOWNESS" in os.environ  # address space without end is what sanitizers are built on
EVERY = os.environ.get("LAMINA_FAULT_RUNS") == "all"  # every allocation rather than some of them
TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5 - 2},{i % 3}\n" for i in range(90))
FAILURES = {"open": (errno.EIO, errno.EMFILE), "read": (errno.EIO,), "write": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
            "fsync": (errno.EIO,), "rename": (errno.EIO, errno.ENOSPC), "link": (errno.EIO,), "mmap": (errno.ENOMEM,),
            "fallocate": (errno.ENOSPC, errno.EDQUOT), "ftruncate": (errno.EIO,), "close": (errno.EIO,)}
HARMLESS = {"read": (0, errno.EINTR), "write": (0, errno.EINTR), "fallocate": (errno.EINTR, errno.EOPNOTSUPP)}
MOST_CALLS = 400


class FaultsTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "LAMINA_TUNE": "on", "XDG_CACHE_HOME": self.path("cache")}
        self.write("t.csv", TABLE)
        self.succeed("train", "--data", "t.csv", "--hidden", "4", "--epochs", "2", "--batch", "16", "--model", "m.safetensors")
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }"
        head += " " * ((-len(head) - 11) % 64) + "\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(5 * 4 * 4))
        self.succeed("tune", "--export", "plans", "--threads", "1", env=self.environment)
        head = self.read("plans").partition("checksum: ")[0]  # a file written by hand has none
        self.write("plans", head + "dot-identity:f32:forward:8x8x8 | estimate | 2.000\n")

    # command: its outputs, which are the same bytes in every run
    COMMANDS = {
        ("train", "--data", "t.csv", "--hidden", "4", "--epochs", "2", "--batch", "16", "--model", "out.safetensors", "--checkpoint",
         "kept", "--checkpoint-epochs", "1", "--threads", "1", "--overwrite"): ("out.safetensors",),
        ("predict", "--model", "m.safetensors", "--data", "t.csv", "--out", "out.csv", "--threads", "1"): ("out.csv",),
        ("export", "--onnx", "m.safetensors", "--out", "out.onnx"): ("out.onnx",),
        ("layer", "--x", "x.npy", "--neuron", "mul", "--neurons", "3", "--out", "out.npy", "--threads", "1"): ("out.npy",),
        ("search", "--data", "t.csv", "--hidden", "2", "--vary", "learning-rate=0.01,0.1", "--epochs", "2", "--batch", "32", "--halving",
         "2", "--first-epochs", "1", "--state", "state", "--lease", "1", "--retrain", "--model", "best.safetensors", "--threads", "1",
         "--overwrite"): ("best.safetensors",),
        ("tune", "--export", "out.profile", "--threads", "1"): ("out.profile",),
        ("tune", "--import", "plans", "--threads", "1"): (),
    }

    def prepare(self, outputs):
        """Old files, and folders of the program's own as if it had never run."""
        for name in outputs:
            self.write(name, b"old")
        for name in ("state", "cache"):
            shutil.rmtree(self.path(name), ignore_errors=True)
            os.mkdir(self.path(name))

    def contents(self, outputs):
        """A snapshot of the outputs, and of the plans where the command stores them."""
        plans = {name: content for name, content in self.snapshot().items() if name.startswith("cache/") and content is not None}
        return {**{name: self.read(name, "rb") for name in outputs}, **plans}

    def whole_run(self, command, outputs):
        """Contents of its files after a run that nothing disturbs, and the names in its folder."""
        self.prepare(outputs)
        self.succeed(*command, env=self.environment)
        return self.contents(outputs), sorted(os.listdir(self.folder))

    def check_run(self, what, result, outputs, new, names):
        """After any run: whole files, nothing left, and an error where something is missing."""
        self.assertIsNone(CRASH.search(result.err), what)
        self.assertIn(result.code, (0, 1), what)
        self.assertEqual(sorted(os.listdir(self.folder)), names, what)
        now = self.contents(outputs)
        for name, content in now.items():
            self.assertIn(content, (b"old", new.get(name)), f"{name} is neither old nor new: {what}")
        if result.code == 0:
            self.assertEqual(now, new, what)
        else:
            self.assertIn("lamina: error: ", result.err, what)

    def run_with(self, command, fault):
        mark = os.path.join(self.folder + "-mark")
        if os.path.exists(mark):
            os.remove(mark)
        libraries = " ".join((LIBRARY, os.environ.get("LD_PRELOAD", "")))
        result = self.run_program(*command, env={**self.environment, "LD_PRELOAD": libraries, "LAMINA_FAULT": f"{fault} {mark}"})
        came = os.path.exists(mark)
        if came:
            os.remove(mark)
        return result, came

    def check(self, command, outputs, faults, must_succeed):
        new, names = self.whole_run(command, outputs)
        failed = runs = 0
        for kind, codes in faults.items():
            for code in codes:
                for number in range(1, MOST_CALLS):
                    self.prepare(outputs)
                    result, came = self.run_with(command, f"{kind} {number} {code}")
                    if not came:
                        break
                    runs += 1
                    what = f"{kind} {number} {errno.errorcode.get(code, 'short')} {command}: {result}"
                    self.check_run(what, result, outputs, new, names)
                    if result.code != 0:
                        failed += 1
                        self.assertFalse(must_succeed, what)
                        self.assertTrue(any(name in result.err for name in names), f"no file is named: {what}")
                    if "search" in command:  # goes on from what the fault left of its state
                        self.succeed(*command, env=self.environment)
                        self.assertEqual(self.contents(outputs), new, what)
                else:
                    self.fail(f"{kind} fails on and on: {command}")
        self.assertEqual(self.whole_run(command, outputs)[0], new)
        return runs, failed

    @unittest.skipUnless(os.path.exists(LIBRARY), "faults: the preloaded library was not built")
    def test_every_failure_leaves_the_old_file_or_the_new_one(self):
        total = 0
        for command, outputs in self.COMMANDS.items():
            with self.subTest(command=command):
                runs, failed = self.check(command, outputs, FAILURES, False)
                self.assertGreater(failed, 5)
                total += runs
        self.assertGreater(total, 200)

    @unittest.skipUnless(os.path.exists(LIBRARY), "faults: the preloaded library was not built")
    def test_a_folder_whose_name_cannot_be_exchanged_is_the_old_one_or_the_new_one(self):
        encode = ("data", "encode", "t.csv", "--output", "e", "--seed")
        folders = []
        for seed in ("1", "2"):
            self.succeed(*encode, seed, env=self.environment)
            folders.append({name: content for name, content in self.snapshot().items() if name.startswith("e/")})
        results = []
        for code in (errno.EIO, errno.EINVAL, errno.ENOSYS):  # the last two: of a file system that cannot
            for number in range(1, MOST_CALLS):
                shutil.rmtree(self.path("e"))
                self.succeed(*encode, "1", env=self.environment)
                result, came = self.run_with((*encode, "2"), f"rename {number} {code}")
                if not came:
                    break
                results.append(result.code)
                now = {name: content for name, content in self.snapshot().items() if name.startswith("e/")}
                self.assertEqual(now, folders[result.code == 0], f"rename {number} {errno.errorcode[code]}: {result}")
                self.assertFalse([name for name in os.listdir(self.folder) if "lamina-" in name], str(result))
        self.assertIn(0, results)  # the exchange failed, and the two names were changed one after the other
        self.assertIn(1, results)

    @unittest.skipUnless(os.path.exists(LIBRARY), "faults: the preloaded library was not built")
    def test_short_and_interrupted_calls_are_continued(self):
        for command, outputs in self.COMMANDS.items():
            with self.subTest(command=command):
                runs, _ = self.check(command, outputs, HARMLESS, True)
                self.assertGreater(runs, 1)

    @unittest.skipUnless(os.path.exists(LIBRARY), "faults: the preloaded library was not built")
    def test_memory_that_is_refused(self):
        """An allocation fails: the program says so, and files are whole, old or new.

        Some allocations, spread over the run, are tried; all of them with LAMINA_FAULT_RUNS=all.
        """
        for command, outputs in self.COMMANDS.items():
            new, names = self.whole_run(command, outputs)
            number, runs = 0, 0
            while True:
                number = number + 1 if EVERY else number * 5 // 4 + 1
                self.prepare(outputs)
                result, came = self.run_with(command, f"alloc {number} {errno.ENOMEM}")
                if not came:
                    break
                runs += 1
                with self.subTest(command=command, number=number):
                    self.check_run(f"allocation {number}: {result}", result, outputs, new, names)
            self.assertGreater(runs, 5)

    def check_limit(self, command, outputs, new, names, limit, value):
        """A run to which the system allows that much of something. Whether it succeeded."""
        self.prepare(outputs)
        result = self.run_program(*command, env=self.environment, preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
        with self.subTest(command=command, limit=limit, value=value):
            self.check_run(f"{limit} {value} {command}: {result}", result, outputs, new, names)
        return result.code == 0

    def test_few_descriptors(self):
        for command, outputs in self.COMMANDS.items():
            new, names = self.whole_run(command, outputs)
            few = [number for number in range(4, 17) if self.check_limit(command, outputs, new, names, resource.RLIMIT_NOFILE, number)]
            self.assertIn(16, few)

    def test_files_of_limited_size(self):
        for command, outputs in self.COMMANDS.items():
            new, names = self.whole_run(command, outputs)
            sizes = (0, 1, 100, 1000, 3000, 1 << 20)
            enough = [size for size in sizes if self.check_limit(command, outputs, new, names, resource.RLIMIT_FSIZE, size)]
            self.assertEqual(enough[-1:], [1 << 20])
            self.assertNotIn(1, enough)

    def starts_within(self, mib):
        """Whether the loader has room for the program and its libraries. Without it the program cannot say anything."""
        limits = (mib << 20, mib << 20)
        return self.run_program("--version", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits)).code == 0

    @unittest.skipIf(SANITIZED, "sanitizers")
    def test_little_address_space(self):
        least = next(mib for mib in range(20, 1000, 4) if self.starts_within(mib))
        for command, outputs in self.COMMANDS.items():
            new, names = self.whole_run(command, outputs)
            for mib in (least, least + 20, least + 60, least + 100, 4096):
                fits = self.check_limit(command, outputs, new, names, resource.RLIMIT_AS, mib << 20)
            self.assertTrue(fits, "4 GiB are enough")


if __name__ == "__main__":
    main()
