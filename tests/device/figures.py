"""The figures of bench/results/2026-11-25-zen4-2cores/microcontrollers.md: figures.py PROGRAM [PYTHON].

PROGRAM is lamina, and PYTHON an interpreter that has emlearn and scikit-learn. Writes into the working folder.
"""

import os
import subprocess
import sys

import devices
from lamina_cli import DIGITS

LAYERS = {"products": "dot-relu:64,dot-softmax:10", "distances": "l1-triangle(radius=20):64,dot-softmax:10"}
CALLS = (
    ("", "predict(row, (double *)outputs)", ("double", "double")),
    ("8", "predict(row, (int32_t *)outputs)", ("double", "int32_t")),
    ("8", "integers(row, (int32_t *)outputs)", ("int8_t", "int32_t")),
)
EMLEARN = """
import csv, gzip, sys
import emlearn
from sklearn.neural_network import MLPClassifier
rows = [[float(cell) for cell in row] for row in list(csv.reader(gzip.open(sys.argv[1], "rt")))[1:]]
network = MLPClassifier((64,), max_iter=60, random_state=1)
network.fit([[x / 16 for x in row[:-1]] for row in rows], [int(row[-1]) for row in rows])
emlearn.convert(network, method="inline").save(name="other", file="other_network.h")
open("other.h", "w").write("void other_row(const float *x, float *out);\\n")
open("other.c", "w").write('#include "other_network.h"\\n#include "other.h"\\n'
                           "void other_row(const float *x, float *out) { other_regress(x, 64, out, 10); }\\n")
print(emlearn.includedir)
"""


def lamina(*arguments):
    subprocess.run([sys.argv[1], *arguments], check=True, stdout=subprocess.DEVNULL)


def main():
    here = os.getcwd()
    for name, layers in LAYERS.items():
        lamina("train", DIGITS, "--recipe", "plain", "--layers", layers, "--epochs", "15", "--seed", "1", "--model", name, "--overwrite")
        lamina("export", "--c", name, name, "--data", DIGITS, "-o", here)
        lamina("export", "--c", name + "8", name, "--int8", "--data", DIGITS, "-o", here)
    include = devices.run(sys.argv[2], "-c", EMLEARN, DIGITS).splitlines()[-1] if len(sys.argv) > 2 else ""
    for core in devices.CORES:
        print(f"{core}: flash, memory, instructions a row")
        for name in LAYERS:
            for suffix, call, types in CALLS:
                found = devices.measure(core, f"{here}/{name}{suffix}.c", f"{name}{suffix}_{call}", types, f"{here}/program")
                print(f"  {name}{suffix}_{call.partition('(')[0]:<9} {found}")
        if include:
            found = devices.measure(core, f"{here}/other.c", "other_row(row, (float *)outputs)", ("float", "float"), f"{here}/program",
                                    ("-I" + include, "-w"))
            print(f"  emlearn {found}")
    for march in ("rv32i", "rv32imac"):
        for name in LAYERS:
            call = f"{name}8_{CALLS[2][1]}"
            print(march, name, devices.riscv_instructions(march, f"{here}/{name}8.c", call, CALLS[2][2], f"{here}/program"))


if __name__ == "__main__":
    main()
