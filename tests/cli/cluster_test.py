"""lamina over the ranks of an MPI job: the same bits for any number, and ranks that fail, hang, die and differ."""

import functools
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from lamina_cli import DIGITS, PROGRAM, SOURCE, TIME_LIMIT_SECONDS, CliTest, blob_rows, main
from mpi_jobs import LAUNCHERS, OPEN_MPI, pid_of_rank

WIDE = ("--hidden", "4096")  # a gradient of 1.2 MB
TRAIN = ("train", "--data", DIGITS, "--recipe", "plain", "--hidden", "48", "--batch", "100", "--epochs", "3", "--threads", "1")


def installed():
    """The MPI libraries that lamina has a plug-in for here and whose launcher is there."""
    plugins = os.path.dirname(os.path.realpath(PROGRAM))
    return [mpi for mpi, launcher in LAUNCHERS.items()
            if shutil.which(launcher) and os.path.exists(os.path.join(plugins, f"lamina_mpi_{mpi}.so"))]


def on_each_mpi(test):
    @functools.wraps(test)
    def run(self):
        for mpi in installed():
            with self.subTest(mpi=mpi):
                test(self, mpi)
    return run


class RankTest(CliTest):
    def start_ranks(self, mpi, *groups, folders=None, variables=None):
        """mpirun with the groups (ranks, arguments), in a process group of its own; folders and variables by group."""
        command = [LAUNCHERS[mpi]]
        for i, (ranks, arguments) in enumerate(groups):
            command += [":"] if i > 0 else []
            command += ["-n", str(ranks)] + (["-wdir", self.path(folders[i])] if folders else [])
            command += ["env", variables[i]] if variables else []
            command += [PROGRAM, *map(str, arguments)]
        process = subprocess.Popen(command, cwd=self.folder, text=True, errors="backslashreplace", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                   env={**os.environ, **OPEN_MPI, "LAMINA_TUNE": "off"})
        self.addCleanup(self._end, process)
        return process

    def run_ranks(self, mpi, *groups, **options):
        return self.finish(self.start_ranks(mpi, *groups, **options))

    def pid_of_rank(self, rank):
        """The process of a rank of a job that runs in this test's folder."""
        pid = pid_of_rank(PROGRAM, self.folder, rank)
        self.assertIsNotNone(pid, f"no process of rank {rank}")
        return pid

    def wait_for(self, condition, what):
        deadline = time.time() + TIME_LIMIT_SECONDS
        while not condition():
            self.assertLess(time.time(), deadline, what)
            time.sleep(0.01)

    def model_of(self, *arguments):
        self.train(*TRAIN[1:], "--overwrite", "--model", "m.safetensors", *arguments)
        return self.read("m.safetensors", "rb")


class ClusterTest(RankTest):
    @on_each_mpi
    def test_the_same_model_from_any_number_of_ranks(self, mpi):
        alone = self.model_of("--shards", 8)
        for ranks in (1, 2, 3, 4):
            result = self.run_ranks(mpi, (ranks, (*TRAIN, "--shards", 8, "--overwrite", "--model", "m.safetensors", "--json", "r.json")))
            self.assertEqual(result.code, 0, str(result))
            self.assertEqual(self.read("m.safetensors", "rb"), alone, f"{ranks} ranks")
            if ranks > 1:
                self.assertEqual(result.out.count("parameters"), 1, str(result))  # one rank prints
                self.assertEqual(self.read_json("r.json")["ranks"]["ranks"], ranks)
        self.run_ranks(mpi, (2, (*TRAIN, "--overwrite", "--model", "m.safetensors")))  # 8 shards where nothing is said
        self.assertEqual(self.read("m.safetensors", "rb"), alone)

    @on_each_mpi
    def test_ranks_that_keep_their_share_of_the_rows(self, mpi):
        self.succeed("data", "encode", DIGITS, "--output", "d")
        for data in (("--data", DIGITS), ("d",)):
            train = ("train", *data, *TRAIN[3:], "--shard-data", "--overwrite", "--model", "m.safetensors")
            self.succeed(*train)
            alone = self.read("m.safetensors", "rb")
            for ranks in (2, 3):
                result = self.run_ranks(mpi, (ranks, (*train, "--json", "r.json")))
                self.assertEqual(result.code, 0, str(result))
                self.assertEqual(self.read("m.safetensors", "rb"), alone, f"{ranks} ranks")
                self.assertEqual(self.read_json("r.json")["train_rows"], 1078)
        shutil.rmtree(self.path("d"))
        result = self.run_ranks(mpi, (3, (*TRAIN, "--shard-data", "--batch", 4)))
        self.assertEqual(result.err.count("lamina: error:"), 1, str(result))
        self.assertIn("a batch of 4 rows has none of some of the 8 shards", result.err)

    @on_each_mpi
    def test_a_rank_that_is_killed_ends_the_job_and_others_go_on(self, mpi):
        arguments = (*TRAIN, "--epochs", 100, "--shards", 8, "--overwrite", "--model", "m.safetensors")
        self.train(*arguments[1:])
        whole = self.read("m.safetensors", "rb")
        os.remove(self.path("m.safetensors"))
        process = self.start_ranks(mpi, (2, (*arguments, "--checkpoint-epochs", 1)))
        self.wait_for(lambda: os.path.exists(self.path("m.safetensors.checkpoint")), "a checkpoint")
        os.kill(self.pid_of_rank(1), signal.SIGKILL)
        result = self.finish(process)
        self.assertNotEqual(result.code, 0, str(result))
        self.assertFalse(os.path.exists(self.path("m.safetensors")))
        result = self.run_ranks(mpi, (3, ("train", "--resume", "m.safetensors.checkpoint", "--overwrite", "--checkpoint-epochs", 0)))
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.read("m.safetensors", "rb"), whole)
        os.remove(self.path("m.safetensors.checkpoint"))

    @on_each_mpi
    def test_a_rank_that_hangs_is_named(self, mpi):
        process = self.start_ranks(mpi, (2, (*TRAIN, "--epochs", 100000, "--checkpoint", "c", "--checkpoint-epochs", 1,
                                             "--rank-timeout", 2)))
        self.wait_for(lambda: os.path.exists(self.path("c")), "a checkpoint")
        stopped = self.pid_of_rank(1)
        os.kill(stopped, signal.SIGSTOP)
        result = self.finish(process)
        if os.path.exists(f"/proc/{stopped}"):
            os.kill(stopped, signal.SIGKILL)
        self.assertNotEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"rank 0 of 2 on host \S+ waited 2 s for rank 1 of 2 on host \S+ in epoch \d+, step \d+")
        os.remove(self.path("c"))

    @on_each_mpi
    def test_what_all_ranks_find_wrong_is_said_once(self, mpi):
        for arguments, says in (((*TRAIN, "--shards", 2), "3 ranks share 2 shards"),
                                (("train", "--data", DIGITS, "--method", "sfsvc"), "no sums that ranks could share"),
                                (("train", "--data", "no.csv"), "no.csv"),
                                (("train", "--no-such-flag"), "--no-such-flag"),
                                (("search", "--data", DIGITS), "--state")):
            result = self.run_ranks(mpi, (3, arguments))
            self.assertNotEqual(result.code, 0, str(result))
            self.assertEqual(result.err.count("lamina: error:"), 1, str(result))
            self.assertIn(says, result.err)

    @on_each_mpi
    def test_ranks_that_differ_are_named(self, mpi):
        for name, rows in (("a", blob_rows(seed=1)), ("b", blob_rows(seed=2))):
            os.makedirs(self.path(name), exist_ok=True)
            self.write(f"{name}/x.csv", rows)
        os.makedirs(self.path("empty"), exist_ok=True)
        train = ("train", "--data", "x.csv", "--recipe", "plain", "--epochs", 2)
        result = self.run_ranks(mpi, (1, train), (1, train), folders=["a", "b"])
        self.assertNotEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"the data must be the same on all ranks: rank 0 of 2 on host \S+ .*, rank 1 of 2 on host")
        rows = blob_rows(seed=1)
        for row in rows[1:9]:  # some of them are training rows
            row[0] = "1.5"
        os.makedirs(self.path("c"), exist_ok=True)
        self.write("c/x.csv", rows)
        result = self.run_ranks(mpi, (2, (*train, "--shard-data")), (1, (*train, "--shard-data")), folders=["a", "c"])
        self.assertNotEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"must be the same on all ranks: rank 0 of 3 on host \S+ .*, rank 2 of 3 on host")
        result = self.run_ranks(mpi, (1, train), (1, (*train, "--seed", 7)), folders=["a", "a"])
        self.assertRegex(result.err, "the settings must be the same on all ranks")
        result = self.run_ranks(mpi, (1, train), (1, train), folders=["a", "a"], variables=["LAMINA_ISA=", "LAMINA_ISA=scalar"])
        self.assertRegex(result.err, r"the backend must be the same on all ranks: .* has cpu \(\w+\), .* has cpu \(SCALAR\)")
        result = self.run_ranks(mpi, (1, train), (1, train), folders=["a", "empty"])
        self.assertNotEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"rank 1 of 2 on host \S+: .*x\.csv")

    @on_each_mpi
    def test_ranks_of_a_search_share_its_trials(self, mpi):
        arguments = ("search", "--data", DIGITS, "--recipe", "plain", "--epochs", 6, "--threads", 1, "--vary", "learning-rate=0.001,0.002,0.004,0.008",
                     "--vary", "hidden=16|32")
        alone = json.loads(self.succeed(*arguments, "--json", "-").out)["trials"]
        outcome = [{key: value for key, value in trial.items() if key != "seconds"} for trial in alone]
        shutil.rmtree(self.path("kept"), ignore_errors=True)
        result = self.run_ranks(mpi, (3, (*arguments, "--state", "kept", "--json", "r.json")))
        self.assertEqual(result.code, 0, str(result))
        trials = self.read_json("r.json")["trials"]
        self.assertEqual([{key: value for key, value in trial.items() if key != "seconds"} for trial in trials], outcome)
        self.assertEqual(os.listdir(self.path("kept")), ["search.json"])

    @on_each_mpi
    def test_an_extreme_learning_machine_from_any_number_of_ranks(self, mpi):
        arguments = ("train", "--data", DIGITS, "--method", "elm", "--hidden", "150", "--threads", "1", "--shards", "8", "--overwrite",
                     "--model", "m.safetensors")
        self.succeed(*arguments)
        alone = self.read("m.safetensors", "rb")
        for ranks in (2, 3):
            result = self.run_ranks(mpi, (ranks, arguments))
            self.assertEqual(result.code, 0, str(result))
            self.assertEqual(self.read("m.safetensors", "rb"), alone, f"{ranks} ranks")

    @on_each_mpi
    def test_a_kernel_machine_from_any_number_of_ranks(self, mpi):
        self.write("x.csv", blob_rows(60))
        arguments = ("train", "--data", "x.csv", "--method", "rfm", "--threads", "1", "--overwrite", "--model", "m.safetensors")
        self.succeed(*arguments)
        alone = self.read("m.safetensors", "rb")
        result = self.run_ranks(mpi, (2, arguments))
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.read("m.safetensors", "rb"), alone)

    @on_each_mpi
    def test_centres_of_clusters_from_any_number_of_ranks(self, mpi):
        self.succeed("data", "encode", DIGITS, "--output", "d", "--split", "1,0,0")
        for method in ("k-means", "k-medians"):
            centres = ("centres", "--x", "d/train_inputs.npy", "--method", method, "--count", "40", "--iterations", "4", "--threads", "1",
                       "--out", "c.npy")
            self.succeed(*centres, "--shards", "8")
            alone = self.read("c.npy", "rb")
            for ranks in (2, 3):
                os.remove(self.path("c.npy"))
                result = self.run_ranks(mpi, (ranks, (*centres, "--json", "r.json")))
                self.assertEqual(result.code, 0, str(result))
                self.assertEqual(result.out.count("wrote c.npy"), 1, str(result))
                self.assertEqual(self.read_json("r.json")["ranks"]["ranks"], ranks)
                self.assertEqual(self.read("c.npy", "rb"), alone, f"{ranks} ranks by {method}")
        result = self.run_ranks(mpi, (3, (*centres, "--shards", "2")))
        self.assertNotEqual(result.code, 0, str(result))
        self.assertEqual(result.err.count("3 ranks share 2 shards of the rows"), 1, str(result))

    @on_each_mpi
    def test_models_with_centres_of_clusters_from_any_number_of_ranks(self, mpi):
        train = ("train", "--data", DIGITS, "--threads", "1", "--shards", "8", "--overwrite", "--model", "m.safetensors", "--centres")
        for method in ((*train, "k-means", "--method", "elm", "--hidden", "60", "--neuron", "l2-gaussian"),
                       (*train, "k-medians", "--layers", "l1-triangle:40,dot-softmax:10", "--recipe", "plain", "--epochs", "2")):
            self.succeed(*method)
            alone = self.read("m.safetensors", "rb")
            for ranks in (2, 3):
                result = self.run_ranks(mpi, (ranks, method))
                self.assertEqual(result.code, 0, str(result))
                self.assertEqual(self.read("m.safetensors", "rb"), alone, f"{ranks} ranks of {method}")

    @on_each_mpi
    def test_a_layer_from_any_number_of_ranks(self, mpi):
        self.succeed("data", "encode", DIGITS, "--output", "d", "--split", "1,0,0")
        layer = ("layer", "--x", "d/train_inputs.npy", "--neurons", "50", "--radius", "30", "--threads", "1", "--out", "h.npy")
        self.succeed(*layer)
        alone = self.read("h.npy", "rb")
        os.remove(self.path("h.npy"))
        for ranks in (2, 3):
            result = self.run_ranks(mpi, (ranks, (*layer, "--json", "r.json")))
            self.assertEqual(result.code, 0, str(result))
            self.assertEqual(result.out.count("wrote h.npy"), 1, str(result))
            self.assertEqual(self.read("h.npy", "rb"), alone, f"{ranks} ranks")
            self.assertEqual(self.read_json("r.json")["ranks"]["ranks"], ranks)
            os.remove(self.path("h.npy"))
        os.remove(self.path("r.json"))
        before = sorted(os.listdir(self.folder))
        result = self.run_ranks(mpi, (1, layer), (1, (*layer[:2], "no.npy", *layer[3:])))
        self.assertNotEqual(result.code, 0, str(result))
        self.assertIn("no.npy", result.err)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        shutil.rmtree(self.path("d"))

    @on_each_mpi
    def test_encoded_data_and_rounded_exchanges(self, mpi):
        self.succeed("data", "encode", DIGITS, "--output", "d")
        train = ("train", "d", *TRAIN[3:], "--shards", "8", "--overwrite", "--model", "m.safetensors")
        self.succeed(*train)
        alone = self.read("m.safetensors", "rb")
        self.assertEqual(self.run_ranks(mpi, (3, train)).code, 0)
        self.assertEqual(self.read("m.safetensors", "rb"), alone)
        models = []
        for _ in range(2):
            result = self.run_ranks(mpi, (2, (*train, "--gradients", "bf16", "--json", "r.json")))
            self.assertEqual(result.code, 0, str(result))
            models.append(self.read("m.safetensors", "rb"))
        self.assertEqual(*models)
        self.assertNotEqual(models[0], alone)
        self.assertGreater(self.read_json("r.json")["accuracy"], 0.5)  # of ten classes, after three epochs
        shutil.rmtree(self.path("d"))

    @on_each_mpi
    def test_network_and_plan(self, mpi):
        result = self.run_ranks(mpi, (2, ("bench", "network", "--json", "n.json")))
        self.assertEqual(result.code, 0, str(result))
        network = self.read_json("n.json")
        self.assertGreater(network["bytes_per_second"], 1e6)
        self.assertGreater(network["latency_seconds"], 0)
        result = self.run_ranks(mpi, (2, (*TRAIN, "--plan", "--json", "p.json")))
        self.assertEqual(result.code, 0, str(result))
        plan = self.read_json("p.json")
        self.assertTrue(plan["network_measured"])
        self.assertEqual([row["ranks"] for row in plan["times"]], [1, 2, 4, 8, 16])


class NamespacesTest(RankTest):
    def test_hosts_with_a_slow_link_give_the_same_bits(self):
        for network in ((), WIDE):
            alone = self.model_of(*network, "--shards", 8)
            for mpi in installed():
                os.remove(self.path("m.safetensors"))
                # timeout(1) ends all of them, and the script clears up
                run = subprocess.run(["timeout", str(TIME_LIMIT_SECONDS), os.path.join(SOURCE, "scripts", "namespaces"), "-n", "2", "-r", "0.5",
                                      "-m", mpi, PROGRAM, *map(str, TRAIN), *network, "--shards", "8", "--overwrite", "--model",
                                      "m.safetensors", "--json", "r.json"],
                                     cwd=self.folder, text=True, stdin=subprocess.DEVNULL, capture_output=True,
                                     env={**os.environ, "LAMINA_TUNE": "off"})
                if run.returncode == 77:
                    self.skipTest(run.stderr.strip())
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                told = self.read_json("r.json")["ranks"]
                self.assertEqual(told["hosts"], ["node0", "node1"])
                self.assertEqual(self.read("m.safetensors", "rb"), alone)
                self.assertGreater(told["waited_seconds"], 0)
                if network:  # its gradient travels in parts
                    self.assertEqual(told["overlap"], "")
                    self.assertGreater(told["exchange_seconds"], told["waited_seconds"])
                else:
                    self.assertIn("too small", told["overlap"])


class WithoutMpiTest(CliTest):
    def test_a_plug_in_that_is_missing(self):
        environment = {**os.environ, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4", "LAMINA_MPI_PLUGIN": "/no/such.so"}
        self.refuse(*TRAIN, says=("OMPI_COMM_WORLD_SIZE=4", "/no/such.so", "--mpi off"), env=environment)
        self.succeed(*TRAIN, "--quiet", "--mpi", "off", env=environment)

    def test_a_plan_for_one_process(self):
        plan = json.loads(self.succeed(*TRAIN, "--plan", "--plan-ranks", 6, "--latency-us", 0, "--bandwidth-gbits", 1000000, "--json",
                                       "-").out)
        self.assertEqual([row["ranks"] for row in plan["times"]], [1, 2, 4, 6])
        for row in plan["times"]:  # nothing but computing counts on such a network
            expected = plan["fixed_seconds"] + -(-plan["shards"] // row["ranks"]) * plan["shard_seconds"]
            self.assertAlmostEqual(row["compute_seconds"], expected)
            self.assertLess(row["exchange_seconds"], 1e-5)
        slow = json.loads(self.succeed(*TRAIN, "--plan", "--latency-us", 1e6, "--json", "-").out)
        self.assertIn("will not make this training faster", slow["advice"])
        self.assertIn("speed-up", self.succeed(*TRAIN, "--plan").out)


if __name__ == "__main__":
    if not installed():
        NamespacesTest = unittest.skip("no plug-in for an MPI whose mpirun is here")(NamespacesTest)
        ClusterTest = unittest.skip("no plug-in for an MPI whose mpirun is here")(ClusterTest)
    main()
