"""Little memory, very wide tables, very long names: an answer or an error, soon."""

import gzip
import os
import resource
import struct
import unittest

from lamina_cli import CliTest, main

TABLE = "a,b,y\n" + "".join(f"{i % 7},{i % 5 - 2},{i % 3}\n" for i in range(90))
MIB = 1 << 20


def address_space(mib):
    def limit():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads take 8 MiB each
        resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB))
    return limit


SANITIZED = "LAMINA_TEST_SLOWNESS" in os.environ  # address space without end is what sanitizers are built on


class LimitsTest(CliTest):
    def test_more_threads_than_can_be_started(self):
        """Whatever variable asks for them: libgomp ends a process that cannot start them all."""
        self.write("t.csv", TABLE)
        backend = "blas" if "BLAS     on" in self.succeed("--version").out else "threads"
        for variable in ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS"):
            for value in ("100000", "2147483647") + (("100000,100000",) if variable == "OMP_NUM_THREADS" else ()):
                for more in ({}, {"OMP_WAIT_POLICY": "passive"}):
                    with self.subTest(variable=variable, value=value, **more):
                        environment = {**os.environ, "LAMINA_TUNE": "off", variable: value, **more}
                        if not more:
                            environment.pop("OMP_WAIT_POLICY", None)
                        self.train("--data", "t.csv", "--folds", "2", "--epochs", "1", "--metrics", "all", "--backend", backend,
                                   "--model", "m", "--overwrite", env=environment)

    @unittest.skipIf(SANITIZED, "sanitizers")
    def test_little_address_space(self):
        """OpenBLAS asks for its buffers for ever where it gets none, which must not happen before it is needed."""
        self.write("t.csv", TABLE)
        for mib in (150, 200, 250, 300, 350):
            with self.subTest(mib=mib):
                self.succeed("--version", preexec_fn=address_space(mib))
        self.succeed("devices", preexec_fn=address_space(300))
        self.succeed("train", "--quiet", "--data", "t.csv", "--epochs", "1", "--threads", "1", preexec_fn=address_space(350))

    @unittest.skipIf(SANITIZED, "sanitizers")
    def test_little_address_space_for_openblas(self):
        if "BLAS     on" not in self.succeed("--version").out:
            self.skipTest("built without CBLAS")
        self.write("t.csv", TABLE)
        self.refuse("train", "--data", "t.csv", "--epochs", "1", "--backend", "blas", says=("backend blas is not available", "MiB"),
                    preexec_fn=address_space(350))
        self.assertRegex(self.succeed("devices", preexec_fn=address_space(350)).out, r"blas +not available: .*MiB")

    @unittest.skipIf(SANITIZED, "sanitizers")
    def test_little_address_space_for_what_decompresses(self):
        self.write("t.csv.gz", gzip.compress(b"1,2\n" * (1 << 25), 1))
        self.refuse("data", "show", "t.csv.gz", code=1, says=("t.csv.gz", "not enough memory to decompress"), preexec_fn=address_space(150))

    def test_more_columns_than_are_read(self):
        row = b",".join([b"1"] * 10_000_000) + b"\n"
        self.write("wide.csv", row + row)
        self.refuse("data", "show", "wide.csv", code=1, says=("wide.csv:1:", "10,000,000 columns", "--separator"))

    def test_more_classes_than_memory_is_for(self):
        """Rows times classes is what it would take; refused before any of it is taken."""
        with open("/proc/meminfo", encoding="ascii") as file:
            memory_bytes = int(next(line.split()[1] for line in file if line.startswith("MemTotal"))) * 1024
        count = int(memory_bytes ** 0.5)
        self.write("t.csv", "x,y\n" + "".join(f"{i % 7},c{i // 2}\n" for i in range(count)))
        for command in (("train",), ("search",)):
            with self.subTest(command=command):
                self.refuse(*command, "--data", "t.csv", "--epochs", "1", code=1,
                            says=("t.csv", f"{count:,} encoded rows would take", "classes of 'y'", "are free", "--class-map"))

    def test_samples_that_no_table_has(self):
        self.write("t.csv", TABLE)
        self.train("--data", "t.csv", "--epochs", "1", "--model", "m.safetensors")
        for command in ("predict", "evaluate"):
            for samples in (1 << 63, 1 << 64, 10**30, -1):
                with self.subTest(command=command, samples=samples):
                    self.refuse(command, "--model", "m.safetensors", "--data", "t.csv", "--samples", samples, code=2,
                                says=("--samples", str(samples)))

    def test_targets_too_large_to_scale(self):
        self.write("t.csv", "x,y\n" + "".join(f"{i},{(-1) ** i * 1.5e308}\n" for i in range(40)))
        result = self.refuse("train", "--data", "t.csv", "--task", "regression", "--epochs", "1", says="--target-scale none")
        self.assertNotIn("--scale", result.err)

    def test_names_that_are_too_long(self):
        self.write("t.csv", TABLE)
        long = "n" * 300
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }"
        head += " " * ((-len(head) - 11) % 64) + "\n"
        self.write("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(80))
        for command in (("data", "show", long), ("train", "--data", long), ("train", "--data", "t.csv", "--model", long),
                        ("train", "--data", "t.csv", "--checkpoint", long), ("train", "--config", long),
                        ("predict", "--model", long, "--data", "t.csv"), ("search", "--data", "t.csv", "--state", long),
                        ("layer", "--x", "x.npy", "--neurons", "3", "--out", long), ("data", "fetch", "mnist", "--folder", long)):
            with self.subTest(command=command):
                result = self.refuse(*command, says="too long")
                self.assertNotIn("filesystem error", result.err)


if __name__ == "__main__":
    main()
