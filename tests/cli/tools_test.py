"""lamina devices, data and bench."""

import csv
import functools
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import unittest

from lamina_cli import DATA, DIGITS, PROGRAM, CliTest, blob_rows, main

BENCH = ["bench", "train", "--net", "8-4-2", "--batch", "4", "--rounds", "2", "--round-seconds", "0.01"]


class DevicesTest(CliTest):
    def test_text(self):
        text = self.succeed("devices").out
        for part in ("CPU", "cores", "caches", "vectors", "memory", "GPU", "backends", "serial", "(auto)"):
            self.assertIn(part, text)

    def test_json(self):
        self.succeed("devices", "--json", "d.json")
        result = self.read_json("d.json")
        for key in ("cpu_name", "logical_cores", "l1d_bytes", "l2_bytes", "vector_instructions", "memory_total_bytes",
                    "memory_available_bytes", "gpus", "gpu_reason", "backends", "command", "lamina_version"):
            self.assertIn(key, result)
        self.assertEqual([entry["name"] for entry in result["backends"]][-1], "serial")
        self.assertGreater(result["memory_total_bytes"], result["memory_available_bytes"])


class InstructionLevelTest(CliTest):
    """LAMINA_ISA lets this machine stand for a lesser one."""

    def at(self, level):
        return {"env": {**os.environ, "LAMINA_TUNE": "off", "LAMINA_ISA": level}}

    def devices(self, level):
        return json.loads(self.succeed("devices", "--json", "-", **self.at(level)).out)

    def test_devices_say_what_is_used_and_what_is_left_out(self):
        everything = self.devices("")
        self.assertIsNone(everything["isa"])
        self.assertEqual(everything["isa_left_out"], [])
        self.assertEqual(everything["kernel_targets_not_built"], [])  # tests are built with the kernels of all processors
        levels = everything["isa_levels"]
        self.assertEqual(levels[0], "scalar")
        for level in levels:
            result = self.devices(level)
            text = self.succeed("devices", **self.at(level)).out
            self.assertEqual(result["isa"], level)
            self.assertIn(f"LAMINA_ISA {level}: ", text)
            left_out = [target for target in everything["kernel_targets"] if target not in result["kernel_targets"]]
            for name in ("byte", "bf16"):
                key = f"{name}_products"
                self.assertIn(f"{name} products {'yes' if result[key] else 'no'}", text)
                self.assertLessEqual(result[key], everything[key])
                left_out += [f"{name} products"] if result[key] < everything[key] else []
            tiles = [name for name in ("bf16", "byte") if result[f"{name}_tiles"]]
            left_out += [f"{name} tiles" for name in ("bf16", "byte") if result[f"{name}_tiles"] < everything[f"{name}_tiles"]]
            line = re.search(r"(?m)^tiles +(.*)$", text).group(1)
            self.assertEqual(line.startswith("of " + tiles[0] if tiles else "none: "), True, line)
            self.assertIn(result["why_no_tiles"], line)
            self.assertEqual(result["isa_left_out"], left_out)
            self.assertTrue(set(result["kernel_targets"]) <= set(everything["kernel_targets"]), "restricts only")
            for part in left_out:
                self.assertIn(part, text)
            cpu = next(entry for entry in result["backends"] if entry["name"] == "cpu")
            self.assertTrue(cpu["description"].startswith("cpu: " + result["kernel_targets"][0]), cpu)
            self.assertEqual(f"(LAMINA_ISA={level})" in cpu["description"], left_out != [])
        self.assertEqual(len(self.devices("scalar")["kernel_targets"]), 1)

    def test_unknown_names_are_refused(self):
        for command in (["devices"], ["train", "--data", DIGITS, "--backend", "cpu", "--epochs", "1"]):
            self.refuse(*command, code=2, says=("LAMINA_ISA", "'avx51'", "Did you mean 'avx512'?", "scalar"),
                        **self.at("avx51"))

    def test_bf16_trains_alike_at_every_level(self):
        command = ["train", "--data", DIGITS, "--backend", "cpu", "--precision", "bf16", "--hidden", "128", "--epochs", "12",
                   "--seed", "1"]
        accuracies = []
        for level in self.devices("")["isa_levels"]:
            text = self.succeed(*command, **self.at(level)).out
            self.assertEqual(text.count("bf16 without hardware"), 0 if self.devices(level)["bf16_products"] else 1, text)
            result = json.loads(self.succeed(*command, "--json", "-", **self.at(level)).out)
            accuracies.append(result["accuracy"])
        self.assertGreater(min(accuracies), 0.9)
        self.assertLess(max(accuracies) - min(accuracies), 0.01)

    def test_exact_training_says_nothing_of_bf16(self):
        text = self.succeed("train", "--data", DIGITS, "--epochs", "1", **self.at("scalar")).out
        self.assertNotIn("bf16", text)


class ShowTest(CliTest):
    def test_columns(self):
        self.write("x.csv", "id,day,colour,value\n1,2020-01-01,red,1.5\n2,2020-01-02,,\n3,2020-01-05,blue,-2\n")
        text = self.succeed("data", "show", "x.csv").out
        self.assertIn("3 rows, 4 columns", text)
        self.assertIn("2 different", text)
        result = json.loads(self.succeed("data", "show", "x.csv", "--json", "-").out)
        columns = {column["name"]: column for column in result["columns"]}
        self.assertEqual(columns["value"]["missing"], 1)
        self.assertEqual((columns["value"]["minimum"], columns["value"]["maximum"]), (-2, 1.5))
        self.assertEqual(columns["colour"]["categories"], 2)

    def test_digits_and_declared_header(self):
        self.assertIn("1,797 rows, 65 columns", self.succeed("data", "show", DIGITS).out)
        self.write("x.csv", "a;b\n1;2\n")
        self.assertIn("1 row", self.succeed("data", "show", "x.csv", "--header", "yes").out)
        self.assertIn("2 rows", self.succeed("data", "show", "x.csv", "--header", "no", "--separator", ";").out)
        self.refuse("data", "show", "x.csv", "--header", "maybe", code=2, says=("--header", "maybe"))

    @unittest.skipUnless(DATA, "MNIST: LAMINA_DATA is not set")
    def test_mnist(self):
        text = self.succeed("data", "show", os.path.join(DATA, "mnist")).out
        self.assertIn("60,000 rows", text)
        self.assertIn("10,000 test rows", text)


class QuietServer(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class FetchTest(CliTest):
    def serve(self, folder):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietServer, directory=folder))
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/"

    def setUp(self):
        super().setUp()
        if not shutil.which("curl"):
            self.skipTest("data fetch: curl is not installed")
        self.environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}

    def fetch(self, *arguments):
        return self.run_program("data", "fetch", *arguments, env=self.environment)

    def test_unknown_set(self):
        self.refuse("data", "fetch", "mnits", code=2, says=("'mnits'", "'mnist'", "kddcup99"))

    @unittest.skipUnless(DATA, "download of MNIST: LAMINA_DATA is not set")
    def test_download_and_again(self):
        url = self.serve(os.path.join(DATA, "mnist"))
        result = self.fetch("mnist", "--base-url", url, "--json", "r.json")
        self.assertEqual((result.code, result.err), (0, ""), str(result))
        self.assertEqual(self.read_json("r.json")["downloaded_files"], 4)
        self.assertEqual(len(os.listdir(self.path("mnist"))), 4)
        digest = hashlib.sha256(self.read("mnist/t10k-labels-idx1-ubyte.gz", "rb")).hexdigest()
        self.assertTrue(digest.startswith("f7ae60f92e00ec6d"))
        with open(self.path("mnist/t10k-labels-idx1-ubyte.gz"), "r+b") as file:
            file.truncate(100)
        result = self.fetch("mnist", "--base-url", url.rstrip("/"), "--json", "r.json")
        self.assertIn("mnist/t10k-labels-idx1-ubyte.gz: is there and is not the file to download", result.err)
        os.remove(self.path("mnist/t10k-labels-idx1-ubyte.gz"))
        result = self.fetch("mnist", "--base-url", url.rstrip("/"), "--json", "r.json")
        self.assertEqual(self.read_json("r.json")["downloaded_files"], 1, str(result))
        self.assertEqual(result.out.count("already there"), 3)
        self.assertIn("lamina train --data mnist", result.out)
        self.assertNoPartFiles()

    def test_wrong_content_is_not_kept(self):
        os.mkdir(self.path("www"))
        for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"):
            self.write(f"www/{name}", gzip.compress(b"nonsense"))
        result = self.fetch("mnist", "--base-url", self.serve(self.path("www")), "--folder", "out")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("train-images-idx3-ubyte.gz", result.err)
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_no_server(self):
        result = self.fetch("mnist", "--base-url", "http://127.0.0.1:9/", "--folder", "out")
        self.assertEqual(result.code, 1, str(result))
        for part in ("train-images-idx3-ubyte.gz", "http://127.0.0.1:9/", "by hand"):
            self.assertIn(part, result.err)

    def test_folder_that_cannot_be_made(self):
        self.write("file", "x")
        result = self.fetch("mnist", "--base-url", "http://127.0.0.1:9/", "--folder", "file")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("file", result.err)


class BenchTest(CliTest):
    def test_table(self):
        text = self.succeed(*BENCH, "--backend", "serial,cpu").out
        self.assertIn("GFLOP/s count 4 w for the first layer and 6 w for the others", text)
        rows = [line.split() for line in text.splitlines() if line.startswith("8-4-2")]
        self.assertEqual([row[2] for row in rows], ["serial", "cpu"])
        self.assertEqual([row[-1] for row in rows], ["yes", "yes"])

    def test_json(self):
        result = json.loads(self.succeed(*BENCH, "--backend", "serial", "--json", "-").out)
        self.assertIn("hardware", result)
        (row,) = result["results"]
        for key in ("network", "batch", "dtype", "backend", "threads", "verified", "seconds_per_60000_samples",
                    "samples_per_second", "gflops", "share_of_peak", "fma_peak_gflops"):
            self.assertIn(key, row)
        self.assertIs(row["verified"], True)
        self.assertEqual((row["network"], row["batch"]), ("8-4-2", 4))

    def test_bad_networks_and_flags(self):
        for net in ("8", "8-0-2", "8-x", "8--2", "", "-1-2", "8-99999999999999999999"):
            with self.subTest(net=net):
                self.refuse("bench", "train", f"--net={net}", "--batch", "4", code=2)
        self.refuse("bench", "train", "--net", "8-x", "--json", "r.json", code=2, says=("8-x", "784-1024-10"))
        self.refuse(*BENCH, "--backend", "serail", code=2, says=("'serail'", "serial"))
        self.refuse(*BENCH, "--activation", "rellu", code=2, says="rellu")
        self.refuse(*BENCH, "--rounds", "0", code=2, says="--rounds")
        self.refuse("bench", "train", "--batch", "0", code=2, says="--batch")

    def test_problem_file(self):
        self.write("p.txt", "# a comment\n8-4-2 4\n\n6-3 2  # another\n")
        result = json.loads(self.succeed("bench", "train", "--problems", "p.txt", "--rounds", "1", "--round-seconds", "0.01",
                                         "--backend", "serial", "--json", "-").out)
        self.assertEqual([(row["network"], row["batch"]) for row in result["results"]], [("8-4-2", 4), ("6-3", 2)])
        for line in ("8-4-2", "8-4-2 x", "8-x-2 4", "8-4-2 0", "8-4-2 4 5"):
            self.write("p.txt", f"8-4-2 4\n\n{line}\n")
            with self.subTest(line=line):
                before = self.refuse("bench", "train", "--problems", "p.txt", "--rounds", "1", "--round-seconds", "0.01",
                                     "--backend", "serial", code=2, says=("p.txt:3:", line.split()[0]))
                self.assertEqual(before.out, "", "found only after measuring the lines before it")
        self.write("p.txt", "# nothing\n")
        self.refuse("bench", "train", "--problems", "p.txt", says="p.txt")
        self.refuse("bench", "train", "--problems", "absent.txt", says="absent.txt")

    def test_inputs_of_a_data_set(self):
        digits = ["bench", "train", "--data", DIGITS, "--batch", "32", "--rounds", "1", "--round-seconds", "0.01"]
        text = self.succeed(*digits, "--net", "64-70-10", "--json", "r.json").out
        self.assertIn(f"Training step on {DIGITS}", text)
        result = json.loads(self.read("r.json"))
        self.assertEqual(result["data"], DIGITS)
        self.assertTrue(result["results"] and all(row["verified"] for row in result["results"]))
        self.assertIsNone(json.loads(self.succeed(*BENCH, "--backend", "serial", "--json", "-").out)["data"])
        before = self.refuse(*digits, "--net", "63-70-10", code=2, says=("64 inputs", "63-70-10", "Begin the network"))
        self.assertEqual(before.out, "")
        shutil.copy(DIGITS, self.path("d.csv.gz"))
        self.refuse("bench", "train", "--data", "d.csv.gz", "--json", "d.csv.gz", says=("--data", "d.csv.gz"))
        self.refuse("bench", "train", "--data", "absent.csv", says="absent.csv")


class BenchLayerTest(CliTest):
    SHORT = ("--rounds", "1", "--round-seconds", "0.001")

    def test_json(self):
        problems = ["l1-triangle(radius=9):f32:forward:9x7x11", "dot-tanh:f64:weight_gradient:9x7x11",
                    "l2-identity:f32:input_gradient:9x7x11"]
        result = json.loads(self.succeed("bench", "layer", *problems, *self.SHORT, "--json", "-").out)
        self.assertEqual([row["problem"] for row in result["results"]], problems)
        for row in result["results"]:
            self.assertTrue(row["verified"], row)
            self.assertGreater(row["synapses_per_second"], 0)
            self.assertAlmostEqual(row["t_syn_ns"] * row["synapses_per_second"] / 1e9, 1, places=6)
            self.assertIn("share_of_limit", row)

    def test_bad_problems(self):
        for problem, says in (("l1-triangle:f32:forward:9x7", "three sizes"), ("l3-tanh:f32:forward:9x7x1", "l3"),
                              ("l1-triangle(radius=0):f32:forward:9x7x1", "radius"), ("dot-tanh:f32:forward:0x7x1", "0x7x1"),
                              ("dot-tanh:f33:forward:9x7x1", "f33"), ("dot-tanh", "four parts")):
            with self.subTest(problem=problem):
                self.refuse("bench", "layer", problem, *self.SHORT, code=2, says=says)
        self.refuse("bench", "layer", "l1-tanh:u8:weight_gradient:9x7x1", *self.SHORT, code=1, says="u8")
        self.refuse("bench", "layer", "l1-tanh:f32:forward:9x7x1", "--backend", "blas", *self.SHORT, code=1, says="blas")


class BenchPeakTest(CliTest):
    def test_limits(self):
        self.succeed("bench", "peak", "--json", "p.json")
        result = self.read_json("p.json")
        self.assertGreaterEqual(len(result["limits"]), 6)
        for row in result["limits"]:
            self.assertGreater(row["synapses_per_second"], 1e6)
        self.assertGreater(result["memory"][0]["read_bytes_per_second"], 1e8)


class BenchFactorTest(CliTest):
    def test_sizes_and_types(self):
        self.assertRegex(self.succeed("bench", "factor", "--rows", "100", "--rounds", "2", "--threads", "1").out, r"100 f64 .* yes\n")
        for flags in ((), ("--inverse",)):
            out = self.succeed("bench", "factor", "--rows", "40,300", "--rounds", "2", "--threads", "2", *flags, "--json", "-").out
            results = json.loads(out)["results"]
            self.assertEqual([(r["rows"], r["dtype"]) for r in results], [(40, "f32"), (40, "f64"), (300, "f32"), (300, "f64")])
            for row in results:
                self.assertTrue(row["verified"], row)
                self.assertEqual(row["inverse"], flags != ())
                self.assertAlmostEqual(row["share_of_peak"], row["gflops"] / row["fma_peak_gflops"])
                self.assertGreater(row["share_of_peak"], 0)

    def test_wrong_use(self):
        for flags in (("--rows", "0"), ("--rows", "some"), ("--rows", "60000"), ("--dtype", "f16"), ("--rounds", "0"), ("--threads", "-1")):
            self.refuse("bench", "factor", *flags, code=2, says=flags[0])
        self.refuse("bench", "factor", "--rows", "10", "--json", "no/such/r.json", says="no/such")


class BenchPredictTest(CliTest):
    def test_rows_of_a_call(self):
        for flags in ((), ("--together", "64"), ("--together", "7", "--weights", "bf16", "--zeros", "0.8")):
            done = self.succeed("bench", "predict", "--net", "40-300-3", "--seconds", "0.01", *flags, "--json", "-")
            result = json.loads(done.out)["results"][0]
            self.assertTrue(result["verified"], result)
            self.assertEqual(result["together"], int(flags[1]) if flags else 1)

    def test_wrong_use(self):
        for rows in ("0", "65", "some"):
            self.refuse("bench", "predict", "--together", rows, code=2, says="--together")


class BenchDataTest(CliTest):
    def test_digits(self):
        self.assertIn("verified: yes", self.succeed("bench", "data", DIGITS, "--rounds", "2").out)
        result = json.loads(self.succeed("bench", "data", DIGITS, "--rounds", "2", "--json", "-").out)
        self.assertEqual((result["rows"], result["columns"], result["inputs"]), (1797, 65, 64))
        self.assertTrue(result["verified"])
        self.assertGreater(result["rows_per_second"], 1000)

    def test_wrong_use(self):
        self.refuse("bench", "data", code=2, says="FILE")
        self.refuse("bench", "data", "no.csv", code=1, says="no.csv")
        self.refuse("bench", "data", DIGITS, "--rounds", "0", code=2, says="--rounds")
        self.refuse("bench", "data", DIGITS, "--json", "no/such/r.json", says="no/such")


class BenchMatrixTest(CliTest):
    def test_peers_of_a_program_alone(self):
        alone = self.path("lamina")
        shutil.copy(PROGRAM, alone)
        done = subprocess.run([alone, "bench", "matrix", "--peers", "--out", "m"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("bench/peers/matrix_peers, which runs the other libraries, is not with this program", done.stderr)
        self.assertFalse(os.path.exists(self.path("m")))


class BenchPaper2017Test(CliTest):
    SHORT = ("bench", "paper-2017", "--quick", "--seconds", "0.001", "--threads", "2")

    def test_files(self):
        # Without gnuplot, as the study takes long; its files are drawn afterwards, as the program says.
        done = self.run_program(*self.SHORT, "--out", "study", env={**os.environ, "PATH": self.folder})
        self.assertEqual((done.code, done.err), (0, ""), str(done))
        out = done.out
        self.assertIn("apt-get install gnuplot-nox", out)
        self.assertIn("study/report.md", out)
        self.assertIn("ns a synapse", out)
        result = self.read_json("study/report.json")
        tables = ["classifiers", "figure-4", "table-1", "table-2", "table-3", "table-4", "table-5", "sweep", "measurements"]
        self.assertEqual(sorted(result["tables"]), sorted(tables))
        self.assertIn("cores", result["hardware"])
        for row in result["tables"]["measurements"]["rows"]:
            self.assertTrue(row["verified"] == "yes" or row["reason"], row)
        for name in tables:
            with open(self.path(f"study/{name}.csv"), newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), len(result["tables"][name]["rows"]), name)
            self.assertEqual({row["hardware"] for row in rows}, {result["hardware"]})
        text = self.read("study/report.md")
        for part in ("Fig. 4", "Table I.", "Table II.", "Table III.", "Table IV.", "Table V.", "Fig. 5", "Fig. 6", "Fig. 7"):
            self.assertIn(part, text)
        for figure in ("figure-5", "figure-6", "figure-7"):
            self.assertEqual(sorted(result["figures"]), ["figure-5", "figure-6", "figure-7"])
            self.assertTrue(os.path.exists(self.path(f"study/{figure}.gp")))

    def test_bad_settings(self):
        self.refuse("bench", "paper-2017", code=2, says="--out")
        self.refuse(*self.SHORT, "--out", "study", "--backend", "cqu", code=2, says="cpu")
        self.write("file", "x")
        self.refuse(*self.SHORT, "--out", "file", says="file")


if __name__ == "__main__":
    main()
