"""lamina layer: layers over .npy files, slice by slice."""

import array
import json
import os
import random
import resource
import signal
import time
import unittest

from lamina_cli import CliTest, main, read_npy


def npy(descr, rows, cols, data, order="False", shape=None):
    """The bytes of a .npy file."""
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape or (rows, cols)}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def matrix(rows, cols, seed):
    rng = random.Random(seed)
    return [[rng.uniform(-1, 1) for _ in range(cols)] for _ in range(rows)]


def f8(rows):
    return array.array("d", [value for row in rows for value in row]).tobytes()


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
        self.assertEqual(self.layer_json("--config", "run.toml")["slices"], 6)
        self.assertEqual(self.layer_json("--config", "run.toml", "--slice", "130x50")["slices"], 1)
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
            end = time.monotonic() + 30
            while not [name for name in os.listdir(self.folder) if name.startswith("h.npy.") and "weights" not in name]:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.005)
            time.sleep(0.3)
            process.send_signal(number)
            sent = time.monotonic()
            result = self.finish(process)
            self.assertEqual(result.code, 130, str(result))
            self.assertIn("nothing was written", result.err)
            self.assertLess(time.monotonic() - sent, 15)
            self.assertEqual(sorted(self.snapshot()), before)


if __name__ == "__main__":
    main()
