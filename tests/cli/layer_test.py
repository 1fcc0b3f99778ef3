"""lamina layer: layers over .npy files, slice by slice."""

import array
import json
import os
import random
import resource
import signal
import struct
import time
import unittest

from lamina_cli import TIME_LIMIT_SECONDS, CliTest, main, read_npy


def npy(descr, rows, cols, data, order="False", shape=None):
    """The bytes of a .npy file."""
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape or (rows, cols)}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def matrix(rows, cols, seed):
    rng = random.Random(seed)
    return [[rng.uniform(-1, 1) for _ in range(cols)] for _ in range(rows)]


def f8(rows):
    return array.array("d", [value for row in rows for value in row]).tobytes()


CODES = {"<f8": "d", "<f4": "f", "<f2": "e", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b", "|u1": "B"}


def typed(descr, rows):
    """The bytes of a .npy file of that type."""
    flat = [value for row in rows for value in row]
    return npy(descr, len(rows), len(rows[0]), struct.pack(f"<{len(flat)}{CODES[descr]}", *flat))


def stored(descr, row):
    """The numbers as that type holds them."""
    code = f"{len(row)}{CODES[descr]}"
    return list(struct.unpack(code, struct.pack(code, *row)))


def integers(rows, cols, least, most, seed):
    """Random ones, both ends among them."""
    rng = random.Random(seed)
    return [[rng.choice((least, most, rng.randint(least, most))) for _ in range(cols)] for _ in range(rows)]


SYNAPSES = {"dot": lambda x, w: sum(a * b for a, b in zip(x, w)),
            "l1": lambda x, w: sum(abs(a - b) for a, b in zip(x, w)),
            "l2sq": lambda x, w: sum((a - b) ** 2 for a, b in zip(x, w)),
            "l2": lambda x, w: sum((a - b) ** 2 for a, b in zip(x, w)) ** 0.5}
EPSILON = {"<f4": 2.0**-23, "<f8": 2.0**-52}


class LayerTest(CliTest):
    def setUp(self):
        super().setUp()
        self.x = matrix(130, 20, 1)
        self.w = matrix(50, 20, 2)
        self.write("x.npy", npy("<f8", 130, 20, f8(self.x)))
        self.write("w.npy", npy("<f8", 50, 20, f8(self.w)))
        self.files = ["--x", "x.npy", "--w", "w.npy", "--out", "h.npy"]
        self.rbf = [*self.files, "--radius", "5"]

    def layer_json(self, *arguments):
        return json.loads(self.succeed("layer", *arguments, "--json", "-").out)

    def test_rbf_is_equations_1_and_2_of_the_paper(self):
        self.succeed("layer", *self.rbf, "--neuron", "rbf")
        descr, shape, values = read_npy(self.read("h.npy", "rb"))
        self.assertEqual((descr, shape), ("<f8", (130, 50)))
        for i in (0, 77, 129):
            for j in (0, 49):
                distance = sum(abs(a - b) for a, b in zip(self.x[i], self.w[j]))
                self.assertAlmostEqual(values[i * 50 + j], max(0, 1 - distance / (2.5066 * 5)), places=12)
        self.assertGreater(max(values), 0)

    def test_same_file_for_every_slicing_and_thread_count(self):
        for neuron in (["--radius", "5"], ["--neuron", "mul"]):
            self.succeed("layer", *self.files, *neuron)
            expected = self.read("h.npy", "rb")
            for slicing in (["--slice", "130x50"], ["--slice", "48x50"], ["--slice", "130x25"], ["--slice", "100x25"],
                            ["--memory", "68M", "--asymmetry", "4"]):
                for threads in ("1", "2"):
                    self.succeed("layer", *self.files, *neuron, *slicing, "--threads", threads)
                    self.assertEqual(self.read("h.npy", "rb"), expected, (neuron, slicing, threads))

    def test_fortran_order(self):
        self.succeed("layer", *self.rbf)
        expected = self.read("h.npy", "rb")
        self.write("xt.npy", npy("<f8", 130, 20, f8(zip(*self.x)), "True"))
        self.write("wt.npy", npy("<f8", 50, 20, f8(zip(*self.w)), "True"))
        self.succeed("layer", "--x", "xt.npy", "--w", "wt.npy", "--out", "h.npy", "--radius", "5", "--slice", "48x25")
        self.assertEqual(self.read("h.npy", "rb"), expected)

    def test_text_and_json_say_what_was_done(self):
        text = self.succeed("layer", *self.rbf, "--slice", "48x25").out
        for part in ("130 samples x 20 inputs", "50 neurons l1-triangle(radius=5)", "6 slices (3 x 2)", "synapses/s",
                     "t_syn", "peak resident memory", "wrote h.npy"):
            self.assertIn(part, text)
        self.assertNotIn("\r", text)
        result = self.layer_json(*self.rbf, "--slice", "48x25", "--memory", "1G")
        self.assertEqual((result["command"], result["slices"], result["slice_samples"], result["slice_neurons"]),
                         ("layer", 6, 48, 25))
        self.assertEqual((result["dtype"], result["output_dtype"], result["budget_bytes"]), ("f64", "f64", 10**9))
        self.assertEqual(result["slice_bytes"], 8 * (20 * 25 + 48 * 20 + 48 * 25))
        self.assertGreater(result["peak_memory_bytes"], 1e6)
        self.assertEqual(self.succeed("layer", "--quiet", *self.rbf).out, "")

    def test_random_centres_are_rows_and_can_be_kept(self):
        random_centres = ["--x", "x.npy", "--neurons", "30", "--radius", "5", "--seed", "7", "--out", "h.npy"]
        text = self.succeed("layer", *random_centres, "--w-out", "centres.npy").out
        self.assertIn("wrote centres.npy", text)
        _, shape, values = read_npy(self.read("centres.npy", "rb"))
        self.assertEqual(shape, (30, 20))
        rows = {tuple(values[j * 20:(j + 1) * 20]) for j in range(30)}
        self.assertEqual(len(rows), 30)
        self.assertTrue(rows <= {tuple(row) for row in self.x})
        expected = self.read("h.npy", "rb")
        self.succeed("layer", *random_centres)
        self.assertEqual(self.read("h.npy", "rb"), expected)
        self.succeed("layer", "--x", "x.npy", "--w", "centres.npy", "--radius", "5", "--out", "h.npy")
        self.assertEqual(self.read("h.npy", "rb"), expected)
        self.assertEqual(sorted(self.snapshot()), ["centres.npy", "h.npy", "w.npy", "x.npy"])

    def test_settings_from_a_file(self):
        self.write("run.toml", 'x = "x.npy"\nw = "w.npy"\nout = "h.npy"\nradius = 5\nslice = "48x25"\n')
        self.refuse("layer", "--config", "run.toml", code=2, says=("run.toml", "the command line alone decides", "--out h.npy"))
        self.assertEqual(self.layer_json("--config", "run.toml", "--out", "h.npy")["slices"], 6)
        self.assertEqual(self.layer_json("--config", "run.toml", "--slice", "130x50", "--out", "h.npy")["slices"], 1)
        printed = self.succeed("layer", *self.rbf, "--print-config").out
        self.write("printed.toml", printed)
        self.assertEqual(self.succeed("layer", "--config", "printed.toml", "--print-config").out, printed)
        self.write("bad.toml", "x = 1.5\nradios = 3\n")
        self.refuse("layer", "--config", "bad.toml", code=2, says=("bad.toml:1:", "wrong type"))
        self.write("bad.toml", "radios = 3\n")
        self.refuse("layer", "--config", "bad.toml", code=2, says=("bad.toml:1:", "'radius'"))
        self.refuse("layer", "--config", "run.toml", "--out", "run.toml", code=2, says="--config")

    def test_shapes_and_types_that_do_not_match_name_both(self):
        self.write("w3.npy", npy("<f8", 50, 3, f8(matrix(50, 3, 2))))
        self.refuse("layer", *self.rbf, "--w", "w3.npy", code=2,
                    says=("x.npy is 130 x 20 f64", "w3.npy is 50 x 3 f64"))
        self.write("w4.npy", npy("<f4", 50, 20, f8(self.w)[:4000]))
        self.refuse("layer", *self.rbf, "--w", "w4.npy", code=2, says=("130 x 20 f64", "50 x 20 f32"))
        self.write("b.npy", npy("<f8", 0, 0, f8([[1] * 49]), shape="(49,)"))
        self.refuse("layer", *self.files, "--neuron", "mul", "--bias", "b.npy", code=2, says=("b.npy", "50 neurons"))

    def test_integers_are_summed_exactly(self):
        for descr, least, most, out in (("|u1", 0, 255, "<f4"), ("|i1", -128, 127, "<f4"),
                                        ("<i2", -32768, 32767, "<f4"),
                                        ("<i4", -(2**26), 2**26, "<f8"), ("<i8", -(2**26), 2**26, "<f8")):
            x, w = integers(61, 37, least, most, 3), integers(29, 37, least, most, 4)
            self.write("xi.npy", typed(descr, x))
            self.write("wi.npy", typed(descr, w))
            for name, synapse in SYNAPSES.items():
                arguments = ["--x", "xi.npy", "--w", "wi.npy", "--neuron", f"{name}-identity", "--out", "hi.npy"]
                with self.subTest(type=descr, synapse=name):
                    self.succeed("layer", "--quiet", *arguments)
                    whole = self.read("hi.npy", "rb")
                    got_type, shape, values = read_npy(whole)
                    self.assertEqual((got_type, shape), (out, (61, 29)))
                    for i, row in enumerate(x):
                        for j, weights in enumerate(w):
                            exact = synapse(row, weights)  # then rounded to the type of the output
                            got = values[i * 29 + j]
                            if name == "l2":
                                self.assertLessEqual(abs(got - exact), EPSILON[out] * exact)
                            else:
                                self.assertEqual(got, float(exact) if out == "<f8" else stored("<f4", [exact])[0])
                    for other in (["--slice", "48x16"], ["--threads", "1"], ["--backend", "serial"],
                                  ["--precision", "fast"]):
                        self.succeed("layer", "--quiet", *arguments, *other)
                        self.assertEqual(self.read("hi.npy", "rb"), whole, other)

    def test_half_precision(self):
        x = [stored("<f2", row) for row in matrix(61, 37, 3)]
        w = [stored("<f2", row) for row in matrix(29, 37, 4)]
        self.write("xh.npy", typed("<f2", x))
        self.write("wh.npy", typed("<f2", w))
        for name, synapse in SYNAPSES.items():
            result = self.layer_json("--x", "xh.npy", "--w", "wh.npy", "--neuron", f"{name}-identity", "--out",
                                     "hh.npy")
            self.assertEqual((result["dtype"], result["output_dtype"]), ("f16", "f32"))
            _, _, values = read_npy(self.read("hh.npy", "rb"))
            for i, row in enumerate(x):
                for j, weights in enumerate(w):
                    terms = sum(abs(a) + abs(b) for a, b in zip(row, weights)) + 1
                    self.assertLessEqual(abs(values[i * 29 + j] - synapse(row, weights)), 40 * EPSILON["<f4"] * terms)

    def test_fast_precision_stays_within_its_bound(self):
        for descr, out in (("<f8", "<f8"), ("<f4", "<f4"), ("<f2", "<f4")):
            x, w = ([stored(descr, row) for row in rows] for rows in (self.x, self.w))
            self.write("x.npy", typed(descr, x))
            self.write("w.npy", typed(descr, w))
            result = self.layer_json(*self.files, "--neuron", "l1-identity", "--precision", "fast")
            self.assertEqual(result["precision"], "fast")
            whole = self.read("h.npy", "rb")
            got_type, _, values = read_npy(whole)
            self.assertEqual(got_type, out)
            for i, row in enumerate(x):
                for j, weights in enumerate(w):
                    magnitude = sum(abs(a) + abs(b) for a, b in zip(row, weights))
                    self.assertLessEqual(abs(values[i * 50 + j] - SYNAPSES["l1"](row, weights)),
                                         2 * (20 + 2) * EPSILON[out] * magnitude)
            self.succeed("layer", "--quiet", *self.files, "--neuron", "l1-identity", "--precision", "fast", "--slice",
                         "48x16")
            self.assertEqual(self.read("h.npy", "rb"), whole)
            # Nothing else is computed in another way.
            self.succeed("layer", "--quiet", *self.files, "--neuron", "mul")
            exact = self.read("h.npy", "rb")
            self.succeed("layer", "--quiet", *self.files, "--neuron", "mul", "--precision", "fast")
            self.assertEqual(self.read("h.npy", "rb"), exact)

    def test_integer_sums_that_may_not_fit_leave_nothing(self):
        for descr, least, most, inputs, neuron, says in (
                ("<i8", -(2**62), 2**62, 1, "l1-identity", ("l1 sums of i64 over 1 inputs", "i64", "f64")),
                ("<i8", -(2**40), 2**40, 3, "mul", ("dot sums of i64 over 3 inputs", "1099511627776")),
                ("<i4", -(2**31), -(2**31), 2, "dot-identity", ("dot sums of i32 over 2 inputs", "2147483648")),
                ("|u1", 255, 255, 33026, "dot-identity", ("dot sums of u8 over 33026 inputs", "i32", "255")),
                ("|i1", -128, -128, 131072, "dot-identity", ("dot sums of i8 over 131072 inputs", "128"))):
            with self.subTest(type=descr, neuron=neuron):
                self.write("xi.npy", typed(descr, [[least] * inputs] * 2))
                self.write("wi.npy", typed(descr, [[most] * inputs] * 2))
                arguments = ["--x", "xi.npy", "--w", "wi.npy", "--neuron", neuron, "--out", "hi.npy"]
                self.refuse("layer", *arguments, code=1, says=(*says, "may not fit"))
        # The data decide, not the type: smaller numbers of the same many inputs do fit.
        self.write("xi.npy", typed("|u1", [[200] * 33026] * 2))
        self.write("wi.npy", typed("|u1", [[199] * 33026, [0] * 33026]))
        self.succeed("layer", "--quiet", "--x", "xi.npy", "--w", "wi.npy", "--neuron", "dot-identity", "--out",
                     "hi.npy")
        fitting = [stored("<f4", [200 * 199 * 33026])[0], 0.0]
        self.assertEqual(list(read_npy(self.read("hi.npy", "rb"))[2]), 2 * fitting)

    def test_integers_that_do_not_match_or_cannot_be_drawn(self):
        self.write("xi.npy", typed("|u1", integers(60, 20, 0, 255, 1)))
        self.write("wi.npy", typed("|i1", integers(50, 20, -128, 127, 2)))
        self.refuse("layer", *self.rbf, "--x", "xi.npy", code=2, says=("60 x 20 u8", "50 x 20 f64"))
        self.refuse("layer", *self.rbf, "--x", "xi.npy", "--w", "wi.npy", code=2, says=("60 x 20 u8", "50 x 20 i8"))
        self.write("wi.npy", typed("|u1", integers(50, 19, 0, 255, 2)))
        self.refuse("layer", *self.rbf, "--x", "xi.npy", "--w", "wi.npy", code=2, says=("60 x 20 u8", "50 x 19 u8"))
        self.refuse("layer", "--x", "xi.npy", "--neurons", "9", "--neuron", "mul", "--out", "h.npy", code=2,
                    says=("fractions", "u8"))
        self.refuse("layer", *self.rbf, "--x", "xi.npy", "--backend", "blas", code=(1, 2), says="")
        self.succeed("layer", "--quiet", "--x", "xi.npy", "--neurons", "9", "--radius", "900", "--out", "h.npy",
                     "--w-out", "c.npy")
        self.assertIn(b"'|u1'", self.read("c.npy", "rb")[:128])

    def test_npy_files_that_cannot_be_used(self):
        for content, says in ((npy(">f8", 130, 20, f8(self.x)), "astype('<f4')"),
                              (npy("<c16", 65, 20, f8(self.x)), "<c16"),
                              (npy("|b1", 1, 4, b"abcd"), "|b1"),
                              (npy("<f8", 0, 0, f8(self.x), shape="(2600,)"), "reshape(1, -1)"),
                              (npy("<f8", 0, 0, f8(self.x), shape="(13, 10, 20)"), "(13, 10, 20)"),
                              (npy("<f8", 131, 20, f8(self.x)), "truncated"),
                              (npy("<f8", 0, 20, b""), "holds no data"),
                              (b"", "empty"), (b"a,b\n1,2\n", "NUMPY")):
            with self.subTest(says=says):
                self.write("bad.npy", content)
                self.refuse("layer", *self.rbf, "--x", "bad.npy", code=1, says=("bad.npy", says))
        self.refuse("layer", *self.rbf, "--x", "absent.npy", code=1, says="absent.npy")
        self.refuse("layer", *self.rbf, "--w", self.folder, code=1, says="directory")

    def test_settings_that_cannot_be_used(self):
        for arguments, says in ((["--radius", "0"], "positive"), (["--radius", "-3"], "positive"),
                                (["--radius", "nan"], "positive"), (["--radius", "inf"], "positive"),
                                (["--neuron", "mul"], "tanh has none"), (["--neuron", "rbv"], "dot-tanh"),
                                (["--neuron", "l1-triangel"], "triangle"), (["--memory", "lots"], "600M"),
                                (["--memory", "0"], "1 byte"), (["--asymmetry", "0"], "asymmetry"),
                                (["--slice", "48"], "4096x1024"), (["--slice", "48x-1"], "4096x1024"),
                                (["--precision", "best"], "fast"), (["--backend", "gpuu"], "cpu"),
                                (["--threads", "5000"], "4096"), (["--neurons", "3"], "--w"),
                                (["--w-out", "c.npy"], "--w-out"), (["--out", "x.npy"], "--x"),
                                (["--out", ""], "--out"), (["--json", "h.npy"], "--out")):
            with self.subTest(arguments=arguments):
                self.refuse("layer", *self.rbf, *arguments, code=2, says=says)
        self.refuse("layer", *self.files, code=2, says="--radius")
        self.refuse("layer", "--x", "x.npy", "--out", "h.npy", "--radius", "5", code=2, says="--neurons")
        self.refuse("layer", "--x", "x.npy", "--out", "h.npy", "--radius", "5", "--neurons", "131", code=2,
                    says=("131", "130"))
        self.refuse("layer", *self.rbf, "--raduis", "5", code=2, says="'--radius'")

    def test_a_budget_too_small_names_the_least_and_that_is_enough(self):
        result = self.refuse("layer", *self.rbf, "--memory", "50M", code=1, says="at least")
        least = int(result.err.split("at least ")[1].split(" bytes")[0].replace(",", ""))
        self.assertEqual(least, 64 * 2**20 + 8 * (20 * 16 + 48 * 20 + 48 * 16))
        self.refuse("layer", *self.rbf, "--memory", least - 1, code=1, says="at least")
        self.succeed("layer", *self.rbf, "--memory", least)

    def test_an_output_larger_than_the_disk_or_allowed_leaves_nothing(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

        self.refuse("layer", *self.rbf, code=1, says=("h.npy", "reserve", "52,128 bytes"), preexec_fn=small_files)
        self.refuse("layer", *self.rbf, "--out", "/dev/full", code=1, says="regular file")
        self.refuse("layer", *self.rbf, "--out", "none/h.npy", code=1, says="none")
        self.write("h.npy", "old")
        self.refuse("layer", *self.rbf, code=1, says="reserve", preexec_fn=small_files)

    def test_control_c_leaves_nothing_behind(self):
        rows = 8000  # half a minute and more of plain loops
        self.write("big.npy", npy("<f4", rows, 1000, bytes(rows * 4000)))
        for number, neurons in ((signal.SIGINT, ["--neurons", "7000"]), (signal.SIGTERM, ["--w", "big.npy"])):
            before = sorted(self.snapshot())
            process = self.start("layer", "--x", "big.npy", "--radius", "5", "--out", "h.npy", "--backend", "serial",
                                 *neurons)
            end = time.monotonic() + TIME_LIMIT_SECONDS
            while not [name for name in os.listdir(self.folder) if name.startswith("h.npy.") and "weights" not in name]:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.005)
            time.sleep(0.3)
            process.send_signal(number)
            result = self.finish(process)
            self.assertEqual(result.code, 130, str(result))
            self.assertIn("nothing was written", result.err)
            self.assertEqual(sorted(self.snapshot()), before)


if __name__ == "__main__":
    main()
