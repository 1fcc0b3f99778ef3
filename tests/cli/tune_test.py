"""lamina tune: plans found, stored per device, listed, moved, forgotten and ignored."""

import array
import json
import os
import re
import random
import signal
import time
import unittest

from lamina_cli import WINDOWS, CliTest, blob_rows, is_deaf, main, with_slashes

SMALL = "l1-identity:f32:forward:20x30x40"
QUICK = ("--milliseconds", "1")


class TuneTest(CliTest):
    def start(self, *arguments, **options):
        """The program with a profile folder of the test's own."""
        environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
        environment.pop("LAMINA_TUNE", None)
        environment.update(options.pop("environment", {}))
        return super().start(*arguments, env=environment, **options)

    def tune_json(self, *arguments):
        return json.loads(self.succeed("tune", *arguments, "--json", "-").out)

    def profile(self, *arguments):
        """Path of the profile that would be used."""
        return with_slashes(self.tune_json("--list", *arguments)["profile"])

    @staticmethod
    def without_checksum(text):
        """As earlier versions wrote it."""
        return re.sub(r"checksum: [0-9a-f]{8}\n$", "", text)

    def store(self, *entries, threads="1"):
        """Puts entries (problem, plan) into the profile through a file, as from another machine of the same kind."""
        self.succeed("tune", "--export", "moved.profile", "--threads", threads)
        text = self.without_checksum(self.read("moved.profile")) + "".join(f"{problem} | {plan} | 2.000\n" for problem, plan in entries)
        self.succeed("tune", "--import", self.write("moved.profile", text), "--threads", threads)
        os.remove(self.path("moved.profile"))

    def test_a_tuned_problem_is_stored_listed_and_forgotten(self):
        result = self.succeed("tune", SMALL, "dot-tanh:u8:forward:20x30x40", "--threads", "1", *QUICK)
        for part in ("before us", "after us", "gain", "cpu: ", "1 thread", SMALL, "dot-tanh:u8:forward:20x30x40",
                     "2 plans in ", ".profile"):
            self.assertIn(part, result.out)
        path = self.profile("--threads", "1")
        self.assertTrue(path.startswith(self.path("cache") + "/lamina/cpu-"), path)
        self.assertTrue(path.endswith("-1.profile"), path)
        self.assertEqual([name for name in self.snapshot() if name.endswith("profile")], [path[len(self.folder) + 1:]])
        listed = self.succeed("tune", "--list", "--threads", "1").out
        self.assertEqual(with_slashes(listed), path + "\n" + self.read(path))
        lines = self.read(path).splitlines()
        self.assertEqual(lines[0], "lamina tuning profile 1")
        self.assertEqual([line.split(":")[0] for line in lines[1:4]], ["kernels", "device", "backend"])
        self.assertTrue(lines[4].startswith(SMALL + " | "))
        self.assertTrue(lines[5].startswith("dot-identity:u8:forward:20x30x40 | "))  # of any activation
        # Plans of one thread are not those of another number of threads.
        self.assertIn("no plans stored", self.succeed("tune", "--list", "--threads", "2").out)
        self.assertIn("removed", self.succeed("tune", "--forget", "--threads", "1").out)
        self.assertFalse(os.path.exists(path))
        self.assertIn("there was none", self.succeed("tune", "--forget", "--threads", "1").out)
        answer = json.loads(self.succeed("tune", "--forget", "--threads", "1", "--json", "-").out)
        self.assertEqual((answer["command"], answer["removed"]), ("tune forget", False))
        self.assertIn("no plans stored", self.succeed("tune", "--list", "--threads", "1").out)

    def test_plans_of_a_lesser_instruction_set_are_kept_apart(self):
        whole = {"environment": {"LAMINA_ISA": ""}}
        lesser = {"environment": {"LAMINA_ISA": "scalar"}}
        if not json.loads(self.succeed("devices", "--json", "-", **lesser).out)["isa_left_out"]:
            self.skipTest("this processor has no more than the least instruction set")
        self.succeed("tune", SMALL, "--threads", "1", *QUICK, **lesser)
        self.assertIn("no plans stored", self.succeed("tune", "--list", "--threads", "1", **whole).out)
        self.assertIn(SMALL, self.succeed("tune", "--list", "--threads", "1", **lesser).out)

    def test_tuning_again_replaces_and_adds(self):
        self.succeed("tune", SMALL, "--threads", "1", *QUICK)
        self.succeed("tune", SMALL.replace("identity", "triangle(radius=3)"), "--threads", "1", *QUICK)
        self.assertEqual(len(self.tune_json("--list", "--threads", "1")["results"]), 1)
        self.succeed("tune", SMALL.replace("f32", "f32-fast"), "--threads", "1", *QUICK)
        problems = [row["problem"] for row in self.tune_json("--list", "--threads", "1")["results"]]
        self.assertEqual(problems, [SMALL, SMALL.replace("f32", "f32-fast")])

    def test_json(self):
        result = self.tune_json(SMALL, "--threads", "1", *QUICK)
        self.assertEqual((result["command"], len(result["results"])), ("tune", 1))
        self.assertIn("lamina_version", result)
        row = result["results"][0]
        self.assertEqual(sorted(row), ["estimate_seconds", "gain", "left_out", "measured", "plan", "problem", "seconds"])
        self.assertEqual((row["problem"], row["measured"]), (SMALL, 12))
        self.assertGreater(row["seconds"], 0)
        self.assertAlmostEqual(row["gain"], row["estimate_seconds"] / row["seconds"])
        self.assertGreaterEqual(row["gain"], 1)
        listed = self.tune_json("--list", "--threads", "1")
        self.assertEqual(listed["profile"], result["profile"])
        self.assertEqual([(r["problem"], r["plan"]) for r in listed["results"]], [(row["problem"], row["plan"])])
        self.assertIn(SMALL, self.succeed("tune", SMALL, "--threads", "1", *QUICK, "--json", "r.json").out)
        self.assertEqual(self.read_json("r.json")["results"][0]["problem"], SMALL)

    def test_exhaustive_tries_more(self):
        few = self.tune_json(SMALL, "--threads", "1", *QUICK)["results"][0]["measured"]
        every = self.tune_json(SMALL, "--threads", "1", *QUICK, "--level", "exhaustive")["results"][0]["measured"]
        self.assertGreater(every, few)

    def test_estimate_measures_and_stores_nothing(self):
        result = self.tune_json("--level", "estimate", SMALL)["results"][0]
        self.assertEqual((result["measured"], result["plan"]), (0, "estimate"))
        self.assertNotIn("plans in", self.succeed("tune", "--level", "estimate", SMALL).out)
        self.assertEqual(self.snapshot(), {})

    def test_a_profile_moves_to_a_machine_of_its_kind(self):
        self.succeed("tune", SMALL, "--threads", "1", *QUICK)
        path = self.profile("--threads", "1")
        stored = self.read(path)
        self.assertEqual(self.succeed("tune", "--export", "e.profile", "--threads", "1").out, "")
        self.assertEqual(self.read("e.profile"), stored)
        self.succeed("tune", "--forget", "--threads", "1")
        self.assertIn("1 plans", self.succeed("tune", "--import", "e.profile", "--threads", "1").out)
        again = json.loads(self.succeed("tune", "--import", "e.profile", "--threads", "1", "--json", "-").out)
        self.assertEqual((again["command"], again["plans"]), ("tune import", 1))
        self.assertEqual(self.read(path), stored)
        # Importing adds to what is there.
        self.store((SMALL.replace("f32", "f64"), "tile=4x1 depth=256"))
        rows = self.tune_json("--list", "--threads", "1")["results"]
        self.assertEqual([row["problem"] for row in rows], [SMALL, SMALL.replace("f32", "f64")])
        self.assertEqual((rows[1]["plan"], rows[1]["gain"]), ("tile=4x1 depth=256", 2.0))

    def test_foreign_and_damaged_files_are_not_imported(self):
        self.succeed("tune", SMALL, "--threads", "1", *QUICK)
        whole = self.read(self.profile("--threads", "1"))
        text = self.without_checksum(whole)
        self.assertEqual(whole.count("\n"), text.count("\n") + 1)
        for what, number, says in (
                (text.replace("device: ", "device: Other "), 3, "another device"),
                (text.replace("kernels: ", "kernels: 9"), 2, "another device"),
                (text.replace("1 thread", "7 threads"), 4, "another device"),
                (text.replace("profile 1", "profile 2"), 1, "version"),
                (text.replace("f32", "f31"), 5, "f31"),
                (text.replace(" | 1", " | -1"), 5, SMALL),
                (text + "kernel=tile\n", 6, "kernel=tile"),
                (text + SMALL + " | kernel=fast | 1.0\n", 6, "kernel=fast"),
                (text[:-3], 5, "cut off"), (whole[:-3], 6, "cut off"), (whole.replace(" | 1", " | 7"), 6, "checksum"), ("", 1, "version"), ("a,b\n", 1, "version")):
            with self.subTest(says=says, number=number):
                self.write("bad.profile", what)
                self.refuse("tune", "--import", "bad.profile", "--threads", "1", code=1,
                            says=(f"bad.profile:{number}: ", says, "lamina tune"))
        self.refuse("tune", "--import", "absent.profile", code=1, says="absent.profile")
        self.refuse("tune", "--import", self.folder, code=1, says=self.folder)
        self.refuse("tune", "--export", "none/e.profile", code=1, says="none")
        self.succeed("tune", "--forget", "--threads", "1")
        self.write("bad.profile", text.replace("device: ", "device: Other "))
        self.refuse("tune", "--import", "bad.profile", "--threads", "1", code=1, says="another device")
        self.assertEqual(self.tune_json("--list", "--threads", "1")["results"], [])

    def test_typos_are_named_and_nothing_is_stored(self):
        for arguments, code, says in ((["--level", "messure", SMALL], 2, "'measure'"),
                                      (["--levle", "measure"], 2, "'--level'"),
                                      (["l1-identiy:f32:forward:2x3x4"], 2, "'identity'"),
                                      (["l1-identity:f31:forward:2x3x4"], 2, "f31"),
                                      (["l1-identity:f32-quick:forward:2x3x4"], 2, "f32-quick"),
                                      (["l1-identity:f32:forwards:2x3x4"], 2, "forwards"),
                                      (["l1-identity:f32:forward:2x3"], 2, "2x3"),
                                      (["l1-identity:f32:forward:0x3x4"], 2, "at least one"),
                                      (["--milliseconds", "0", SMALL], 2, "--milliseconds"),
                                      (["--threads", "-1", SMALL], 2, "--threads"),
                                      (["--backend", "cpuu", SMALL], 2, "'cpu'"),
                                      (["--backend", "blas", SMALL], 1, "blas"),
                                      (["l1-identity:u8:weight_gradient:2x3x4"], 1, "f32 or f64"),
                                      ([SMALL, "l1-identity:u8:weight_gradient:2x3x4", *QUICK], 1, "f32 or f64"),
                                      (["--inputs", "0", "--sweep"], 2, "--inputs"),
                                      (["--json", "none/r.json", SMALL], 1, "none")):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.refuse("tune", *arguments, code=code, says=says).out.count("forward"), 0)

    def test_one_thing_at_a_time(self):
        actions = (["--list"], ["--forget"], ["--export", "e"], ["--import", "e"], ["--sweep"])
        for i, first in enumerate(actions):
            for second in actions[i + 1:]:
                self.refuse("tune", *first, *second, code=2, says=(first[0], second[0], "excludes"))
            self.refuse("tune", *first, SMALL, code=2, says=(first[0], "problem", "excludes"))

    def test_tuning_can_be_forbidden(self):
        off = {"environment": {"LAMINA_TUNE": "off"}}
        for arguments in ([SMALL], ["--level", "estimate", SMALL], ["--list"], ["--forget"], ["--export", "e"],
                          ["--import", "e"]):
            self.refuse("tune", *arguments, code=2, says=("LAMINA_TUNE=off", "Unset"), **off)
        problem = "dot-identity:f32:forward:100x60x40"
        self.store((problem, "kernel=dots"))
        bench = ["bench", "layer", problem, "--threads", "1", "--rounds", "1", "--round-seconds", "0", "--json", "-"]
        self.assertIn("unpacked", json.loads(self.succeed(*bench).out)["results"][0]["plan"])
        self.assertNotIn("unpacked", json.loads(self.succeed(*bench, **off).out)["results"][0]["plan"])
        # Nor is a damaged one looked at.
        self.write(self.profile("--threads", "1"), "nonsense\n")
        self.succeed(*bench, **off)

    def test_no_folder_for_profiles(self):
        nowhere = {"environment": {"XDG_CACHE_HOME": "", "HOME": ""}}
        self.refuse("tune", "--list", code=1, says="XDG_CACHE_HOME", **nowhere)
        self.succeed("bench", "layer", SMALL, "--rounds", "1", "--round-seconds", "0", **nowhere)
        home = {"environment": {"XDG_CACHE_HOME": "relative", "HOME": self.folder}}  # a relative one does not count
        self.succeed("tune", SMALL, "--threads", "1", *QUICK, **home)
        self.assertEqual(len(os.listdir(self.path(".cache/lamina"))), 1)

    def test_a_folder_that_cannot_be_made(self):
        self.write("cache", "a file")
        self.refuse("tune", SMALL, "--threads", "1", *QUICK, code=1, says=self.path("cache"))

    def test_stored_plans_change_no_result_but_its_rounding(self):
        rng = random.Random(4)
        for name, rows in (("x.npy", 130), ("w.npy", 50)):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, 20), }}".ljust(117) + "\n"
            data = array.array("f", [rng.uniform(-1, 1) for _ in range(rows * 20)]).tobytes()
            self.write(name, b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)
        layer = ["layer", "--quiet", "--x", "x.npy", "--w", "w.npy", "--radius", "9", "--out", "h.npy", "--threads",
                 "1"]
        self.succeed(*layer)
        expected = self.read("h.npy", "rb")
        for plan in ("kernel=dots", "kernel=tile tile=3x1 depth=256 cache=4096 threads=1", "tile=99x99 depth=1 cache=1",
                     "kernel=onednn threads=999 asymmetry=4"):
            self.store(("l1-identity:f32:forward:130x50x20", plan))
            self.succeed(*layer)
            self.assertEqual(self.read("h.npy", "rb"), expected, plan)  # the same bits
            self.store(*((f"{synapse}-identity:f32:{direction}:130x50x20", plan) for synapse in ("dot", "l1")
                         for direction in ("forward", "input_gradient", "weight_gradient")))
            problems = [f"{synapse}-identity:f32:{direction}:130x50x20" for synapse in ("dot", "l1")
                        for direction in ("forward", "input_gradient", "weight_gradient")]
            self.succeed("bench", "layer", *problems, "--threads", "1", "--rounds", "1", "--round-seconds", "0")

    def test_a_damaged_profile_is_ignored_with_a_warning(self):
        self.write("points.csv", blob_rows())
        self.train("--data", "points.csv", "--model", "m.safetensors", "--epochs", "3")
        predict = ["predict", "--model", "m.safetensors", "--data", "points.csv", "--out"]
        self.succeed(*predict, "expected.csv")
        path = self.profile()
        os.makedirs(os.path.dirname(path))
        self.write(path, "lamina tuning profile 1\nnonsense\n")
        bench = ["bench", "layer", SMALL, "--rounds", "1", "--round-seconds", "0"]
        train = ["train", "--quiet", "--data", "points.csv", "--model", "m2.safetensors", "--epochs", "3"]
        for arguments in ([*predict, "got.csv"], bench, train, ["tune", "--list"]):
            result = self.run_program(*arguments)
            self.assertEqual(result.code, 0, str(result))
            self.assertEqual(result.err.count("\n"), 1, str(result))
            for part in ("lamina: warning: ", f"{path}:2: ", "ignored", "Run lamina tune again."):
                self.assertIn(part, result.err)
        self.assertEqual(self.read("got.csv"), self.read("expected.csv"))
        # Tuning puts a good one in its place.
        self.assertEqual(self.run_program("tune", SMALL, *QUICK).code, 0)
        self.succeed(*bench)
        # A file of somebody else's is neither replaced nor removed.
        self.write(path, "nonsense\n")
        for arguments in (("tune", SMALL, *QUICK), ("tune", "--forget")):
            result = self.run_program(*arguments)
            self.assertEqual(result.code, 1, str(result))
            self.assertIn(f"{path}: is there and is no tuning profile", result.err)
        self.assertEqual(self.read(path), "nonsense\n")

    def test_plans_that_cannot_be_stored_are_told_before_any_is_measured(self):
        self.write("file", "no folder")
        for cache, told in (("file", "file"), ("file/below", "file"), ("/proc/self", "/proc/self"), ("/proc/none/below", "/proc")):
            where = os.path.join(self.folder, cache)
            result = self.refuse("tune", code=1, says=os.path.join(self.folder, told), environment={"XDG_CACHE_HOME": where})
            self.assertEqual(result.out, "", "nor the title of what would be measured")
        self.succeed("tune", "--level", "estimate", SMALL, environment={"XDG_CACHE_HOME": self.path("file")})

    def test_control_c_stores_nothing(self):
        self.succeed("tune", SMALL, *QUICK)
        for number in (signal.SIGINT,) if WINDOWS else (signal.SIGINT, signal.SIGTERM):
            before = self.snapshot()
            process = self.start("tune", "--milliseconds", "50")  # the usual problems: a minute
            line = ""
            while not line.startswith("dot-"):
                line = process.stdout.readline()
                self.assertNotEqual(line, "")
            process.send_signal(number)
            result = self.finish(process)
            self.assertEqual(result.code, 130, str(result))
            self.assertIn("nothing was stored", result.err)
            self.assertEqual(self.snapshot(), before)

    def test_control_c_is_heard_while_candidates_are_verified_and_in_the_sweep(self):
        for arguments in (["--level", "exhaustive", "dot-identity:f32:forward:1024x1024x1024"], ["--sweep"]):
            process = self.start("tune", *arguments)
            while is_deaf(process):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            result = self.finish(process)
            self.assertEqual(result.code, 130, str(result))
            self.assertIn("interrupted", result.err)
            self.assertEqual(self.snapshot(), {})


if __name__ == "__main__":
    main()
