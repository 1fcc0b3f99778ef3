"""C source on devices: the self-tests in emulators, sizes, and that distances need fewer instructions where nothing
multiplies. Compilers and emulators that are not there are skipped by name.
"""

import os
import shutil
import unittest

import devices
from lamina_cli import DIGITS, CliTest, main

INTEGERS = ("int8_t", "int32_t")
LAYERS = {"products": "dot-relu:64,dot-softmax:10", "triangles": "l1-triangle(radius=20):64,dot-softmax:10"}


class DeviceTest(CliTest):
    def export(self, name, layers, *arguments):
        self.train("--data", DIGITS, "--layers", layers, "--epochs", "2", "--seed", "1", "--model", name + ".model")
        self.succeed("export", "--c", name, name + ".model", "--data", DIGITS, "-o", "source", *arguments)
        return self.path(f"source/{name}.c")

    def require(self, *tools):
        if devices.lacking(*tools):
            self.skipTest("there is no " + " and no ".join(devices.lacking(*tools)))

    def test_self_tests_on_cortex_m(self):
        self.require(devices.ARM, devices.QEMU_ARM)
        for name, arguments in (("integers", ("--int8",)), ("floats", ())):
            for kind, layers in LAYERS.items():
                source = self.export(f"{kind}_{name}", layers, *arguments)
                for core in devices.CORES:
                    with self.subTest(network=kind, numbers=name, core=core):
                        said = devices.self_test(core, source, f"{kind}_{name}", self.path("test"))
                        self.assertRegex(said, r": \d\d+ rows, 0 wrong answers")

    def test_sizes_on_cortex_m0(self):
        self.require(devices.ARM, devices.QEMU_ARM)
        source = self.export("m", LAYERS["products"], "--int8")
        flash, variables, instructions = devices.measure("Cortex-M0", source, "m_integers(row, (int32_t *)outputs)", INTEGERS, self.path("m"))
        self.assertLess(flash, 8192)  # and what measures is part of it
        self.assertLess(variables, 256)  # the row and its answer
        self.assertIn("(RAM): 168 bytes", self.read("source/m.h"))
        self.assertLess(instructions, 60_000)

    def test_distances_where_nothing_multiplies(self):
        self.require(devices.RISCV, devices.QEMU_RISCV)
        if not os.path.exists(devices.PICOLIBC):
            self.skipTest("there is no picolibc-riscv64-unknown-elf")
        took = {}
        for kind, layers in LAYERS.items():
            source = self.export(kind, layers, "--int8")
            took[kind] = devices.riscv_instructions("rv32i", source, f"{kind}_integers(row, (int32_t *)outputs)", INTEGERS, self.path("m"))
        self.assertLess(3 * took["triangles"], took["products"])

    def test_compiles_for_other_devices(self):
        compilers = (("avr-gcc", ("-mmcu=atmega328p",)), (devices.RISCV, ("-march=rv32imac", "-mabi=ilp32", "-isystem", devices.PICOLIBC)))
        self.require(*[name for name, _ in compilers if not any(shutil.which(other) for other, _ in compilers)])
        for arguments in (("--int8",), ()):
            source = self.export("m", LAYERS["triangles"].replace("64", "8"), *arguments)
            for compiler, flags in compilers:
                if shutil.which(compiler):
                    with self.subTest(compiler=compiler, arguments=arguments):
                        devices.run(compiler, *flags, *devices.STRICT, "-Os", "-c", source, "-o", self.path("m.o"))


if __name__ == "__main__":
    main()
