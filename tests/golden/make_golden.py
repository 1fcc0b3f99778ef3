"""Usage: make_golden.py PROGRAM: trains the models of this folder anew and writes what PROGRAM answers with them.

Run once, with the program of commit a529370; README.md says why the files stay as they are.
"""

import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.abspath(sys.argv[1])
ROWS, ASKED = 120, 12
COMMON = ("--epochs", "25", "--batch", "8", "--learning-rate", "0.02", "--threads", "1", "--seed", "3", "--split", "1,0,0")


def classes(rng):
    """Three clouds of points."""
    rows = [["a", "b", "kind"]]
    for i in range(ROWS):
        c = i % 3
        rows.append([f"{rng.gauss(3 * c, 1):.4f}", f"{rng.gauss(-2 * c, 1):.4f}", ("pear", "apple", "plum")[c]])
    return rows


def two_classes(rng):
    return [row[:2] + ["kind" if i == 0 else "yes" if row[2] == "plum" else "no"] for i, row in enumerate(classes(rng))]


def values(rng):
    """A smooth function of two numbers, far from 0, and a second one."""
    rows = [["x1", "x2", "y", "z"]]
    for _ in range(ROWS):
        a, b = rng.uniform(-3, 3), rng.uniform(0, 10)
        rows.append([f"{a:.5f}", f"{b:.5f}", f"{1000 + 30 * a - 2 * b * b:.4f}", f"{math.sin(a) + b:.5f}"])
    return rows


def decades(rng):
    """Sizes and prices over six decades, of both signs."""
    rows = [["size", "debt", "price"]]
    for _ in range(ROWS):
        a, b = rng.uniform(0, 14), rng.uniform(-7, 7)
        rows.append([f"{math.exp(a):.6g}", f"{math.copysign(math.expm1(abs(b)), b):.6g}",
                     f"{math.exp(0.7 * a + 0.2 * b):.6g}"])
    return rows


def categories(rng):
    """Numbers and texts in turn, with gaps."""
    rows = [["colour", "n1", "city", "n2", "up"]]
    for i in range(ROWS):
        colour, n1 = rng.choice(("red", "green", "blue")), rng.gauss(100, 15)
        city = ("Z\u00fcrich", "L'Aquila", "\"a,b\"")[i % 3]
        up = (colour == "red") != (n1 > 100)
        rows.append([colour, f"{n1:.3f}", city, f"{rng.uniform(0, 1):.4f}", "up" if up else "down"])
    for i in range(4, ROWS, 7):
        rows[i][1 + i % 3] = ""
    return rows


def days(rng):
    """Prices of two shares, day by day."""
    rows = [["day", "share", "open", "close"]]
    price = {"A": 50.0, "B": 8.0}
    for i in range(ROWS // 2):
        for share in "AB":
            start = price[share]
            price[share] *= 1 + rng.gauss(0, 0.02)
            rows.append([f"2024-{1 + i // 28:02}-{1 + i % 28:02}", share, f"{start:.4f}", f"{price[share]:.4f}"])
    return rows


def images(rng):
    """4 x 4 pixels: a bright row or a bright column."""
    pixels, labels = [], []
    for i in range(ROWS):
        at, dark = rng.randrange(4), [rng.randrange(90) for _ in range(16)]
        for k in range(4):
            dark[4 * at + k if i % 2 else 4 * k + at] += 160
        pixels += dark
        labels.append(i % 2)
    return pixels, labels


CASES = {
    "classes": (classes, ("--hidden", "5")),
    "one-output": (two_classes, ("--hidden", "4", "--loss", "binary_cross_entropy", "--activation", "tanh", "--dtype", "f64")),
    "bipolar": (classes, ("--hidden", "5", "--activation", "bipolar_sigmoid", "--loss", "mse", "--scale", "minmax")),
    "minmax": (values, ("--target", "y", "--drop", "z", "--hidden", "6", "--scale", "minmax", "--target-scale", "minmax")),
    "targets": (values, ("--target", "y,z", "--hidden", "6", "--scale", "none", "--target-scale", "standardize",
                         "--dtype", "f64")),
    "log": (decades, ("--target", "price", "--task", "regression", "--hidden", "6", "--scale", "log", "--target-scale", "log")),
    "onehot": (categories, ("--hidden", "6", "--missing", "mean", "--unseen", "zero")),
    "ordinal": (categories, ("--hidden", "6", "--missing", "mean", "--unseen", "zero", "--encode", "ordinal", "--dtype", "f64")),
    "derive": (days, ("--derive", "before=previous:close,up=change:close:2,trend=mean:close:3,gap=difference:close:open,"
                      "part=ratio:open:close,weekday=weekday:day,month=month:day,size=log:close", "--series-by", "share",
                      "--order-by", "day", "--drop", "day", "--target", "close", "--task", "regression",
                      "--target-scale", "standardize", "--missing", "mean", "--hidden", "5")),
    "rbf": (classes, ("--layers", "l1-triangle(radius=4):6,dot-softmax:3")),
    "radius": (classes, ("--layers", "l2-gaussian(radius=2)-radius:6,dot-softmax:3")),
    "images": (images, ("--hidden", "4")),
}


def write_images(folder, pixels, labels):
    os.mkdir(folder)
    with open(os.path.join(folder, "train-images-idx3-ubyte"), "wb") as file:
        file.write(struct.pack(">4i", 0x803, len(labels), 4, 4) + bytes(pixels))
    with open(os.path.join(folder, "train-labels-idx1-ubyte"), "wb") as file:
        file.write(struct.pack(">2i", 0x801, len(labels)) + bytes(labels))


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(",".join(row) + "\n" for row in rows)


def main():
    folder = tempfile.mkdtemp(prefix="lamina-golden-")
    os.chdir(folder)
    environment = {**os.environ, "LAMINA_TUNE": "off"}
    for name, (make, arguments) in CASES.items():
        made = make(random.Random(name))
        asked = name + (".idx3-ubyte" if make is images else ".csv")
        if make is images:
            write_images("train", *made)
            with open(asked, "wb") as file:
                file.write(struct.pack(">4i", 0x803, ASKED, 4, 4) + bytes(made[0][: 16 * ASKED]))
            data = "train"
        else:
            data = "train.csv"
            write_rows(data, made)
            write_rows(asked, made[: ASKED + 1])
        model = name + ".safetensors"
        for command in (["train", "--quiet", "--data", data, "--model", model, *arguments, *COMMON],
                        ["predict", "--model", model, "--data", asked, "--backend", "serial", "--threads", "1",
                         "--probabilities", "--out", name + ".answers.csv"]):
            print("lamina", *command)
            subprocess.run([PROGRAM, *command], check=True, env=environment, stdout=subprocess.DEVNULL)
        shutil.rmtree("train", ignore_errors=True)
        for file in (model, asked, name + ".answers.csv"):
            shutil.copy(file, FOLDER)
    shutil.rmtree(folder)


main()
