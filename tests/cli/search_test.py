"""lamina search as a user runs it: rankings, pictures, interruptions, the line that repeats the best trial."""

import csv
import json
import os
import random
import shlex
import shutil
import signal
import time
import unittest

from lamina_cli import DIGITS, GNUPLOT, TIME_LIMIT_SECONDS, CliTest, blob_rows, linear_rows, main

SEARCH_KEYS = {"command", "lamina_version", "data", "hardware", "train_rows", "validation_rows", "stages", "at_once",
               "threads_per_trial", "metric", "load_seconds", "seconds", "left_out", "peak_memory_bytes", "best_command", "default", "trials"}
TRIAL_KEYS = {"rank", "trial", "values", "state", "epochs", "epoch", "validation_accuracy", "validation_loss", "seconds",
              "failure"}


class SearchTest(CliTest):
    def search(self, *arguments):
        return json.loads(self.succeed("search", "--data", DIGITS, "--json", "-", *arguments).out)

    @staticmethod
    def outcome(result):
        """Everything that does not depend on the clock."""
        return [{key: value for key, value in trial.items() if key != "seconds"} for trial in result["trials"]]

    def test_grid(self):
        result = self.search("--epochs", 4, "--hidden", 16, "--vary", "learning-rate=0.0001,0.005", "--vary", "hidden=8|32,16")
        self.assertEqual(set(result), SEARCH_KEYS)
        self.assertEqual(len(result["trials"]), 5, "the default and the grid")
        first = next(trial for trial in result["trials"] if trial["trial"] == 1)
        self.assertEqual(first["values"], {"learning-rate": "auto", "hidden": "16"})
        for rank, trial in enumerate(result["trials"], 1):
            self.assertEqual(set(trial), TRIAL_KEYS)
            self.assertEqual(trial["rank"], rank)
            self.assertEqual(set(trial["values"]), {"learning-rate", "hidden"})
        self.assertEqual(result["trials"][0]["values"]["learning-rate"], "0.005")
        self.assertEqual((result["train_rows"], result["validation_rows"]), (1498, 299))
        self.assertEqual(result["metric"], "accuracy")

    def test_the_line_repeats_the_best_trial(self):
        result = self.search("--epochs", 3, "--vary", "learning-rate=0.002,0.02", "--vary", "hidden=16|24,8",
                             "--vary", "batch=16,64")
        best = result["trials"][0]
        words = shlex.split(result["best_command"])
        self.assertEqual(words[:2], ["lamina", "train"])
        history = self.train_json(*words[2:])["history"]["epochs"]
        self.assertEqual(history[-1]["validation_loss"], best["validation_loss"])
        self.assertEqual(history[-1]["validation_accuracy"], best["validation_accuracy"])

    def test_text_csv_pictures_and_retraining(self):
        result = self.run_program("search", "--data", DIGITS, "--epochs", 3, "--vary", "learning-rate=0.001..0.1:log:3", "--csv",
                                  "r.csv", "--plot", "pictures", "--retrain", "--model", "m.safetensors", "--json", "r.json")
        self.assertEqual(result.code, 0, str(result))
        out = result.out
        self.assertIn("4 trials in 2 stages", out)
        self.assertIn("on 5 folds of 1,797 rows, accuracy of the default", out)
        self.assertIn("lamina train --data", out)
        self.assertIn("training the best on 1,797 training and validation rows", out)
        rows = list(csv.DictReader(self.read("r.csv").splitlines()))
        self.assertEqual([row["rank"] for row in rows], ["1", "2", "3", "4"])
        self.assertEqual({row["learning-rate"] for row in rows}, {"auto", "0.001", "0.01", "0.1"})
        self.assertEqual(float(rows[0]["validation_loss"]), self.read_json("r.json")["trials"][0]["validation_loss"])
        self.assertTrue(os.path.exists(self.path("pictures/curves.csv")))
        self.assertTrue(os.path.exists(self.path("pictures/setting_learning_rate.csv")))
        if GNUPLOT:
            self.assertIn("<svg", self.read("pictures/curves.svg"))
        self.assertGreater(json.loads(self.succeed("evaluate", "--model", "m.safetensors", "--data", DIGITS, "--json",
                                                   "-").out)["accuracy"], 0.9)

    def test_random_trials_are_seeded(self):
        arguments = ("--epochs", 1, "--vary", "learning-rate=0.0001..0.1", "--vary", "activation=relu,tanh", "--random", 6)
        first = self.outcome(self.search(*arguments))
        self.assertEqual(self.outcome(self.search(*arguments)), first)
        self.assertEqual(len({trial["values"]["learning-rate"] for trial in first}), 6)
        self.assertNotEqual(self.outcome(self.search(*arguments, "--seed", 2)), first)

    def test_regression_is_ranked_by_loss(self):
        self.write("x.csv", linear_rows())
        result = json.loads(self.succeed("search", "--data", "x.csv", "--hidden", 0, "--epochs", 5, "--json", "-").out)
        losses = [trial["validation_loss"] for trial in result["trials"] if trial["epochs"] == 5]
        self.assertEqual(result["metric"], "loss")
        self.assertEqual(losses, sorted(losses))

    def test_an_ensemble_of_a_recipes_trials(self):
        self.write("n.csv", linear_rows(400))
        quick = ("--data", "n.csv", "--recipe", "tabular", "--epochs", 12, "--random", 5, "--halving", 0, "--metric", "loss")
        shared = json.loads(self.succeed("search", *quick, "--ensemble", 4, "--model", "m", "--json", "-", "--state", "kept").out)
        ensemble = shared["ensemble"]
        self.assertEqual(shared["trials"][0]["epochs"], 12)
        self.assertLessEqual(ensemble["validation_loss"], ensemble["validation_loss_of_best"])
        self.assertAlmostEqual(sum(part["share"] for part in ensemble["networks"]), 1)
        self.assertLessEqual(len(ensemble["networks"]), 4)
        first = next(trial for trial in shared["trials"] if trial["trial"] == 1)
        self.assertEqual((first["values"]["learning-rate"], first["values"]["dropout"]), ("auto", "0"), "the recipe's own values")
        shown = json.loads(self.succeed("model", "show", "m", "--json", "-").out)
        self.assertEqual((shown["networks"], shown["shares"]), (len(ensemble["networks"]), [part["share"] for part in ensemble["networks"]])
                         if len(ensemble["networks"]) > 1 else (1, []))
        model = self.read("m", "rb")
        self.succeed("search", *quick, "--ensemble", 4, "--model", "m", "--state", "kept")  # it is over: its networks are kept
        self.assertEqual(self.read("m", "rb"), model)
        self.succeed("search", *quick, "--ensemble", 4, "--model", "m2")
        self.assertEqual(self.read("m2", "rb"), model, "trials of memory")

    def test_neighbours_answer_alone(self):
        result = json.loads(self.succeed("search", "--data", DIGITS, "--method", "knn", "--vary", "k=1,3,5", "--ensemble", 3, "--model", "m",
                                         "--json", "-").out)
        self.assertEqual(len(result["ensemble"]["networks"]), 1, "rows of one model are not those of another")
        self.succeed("predict", "m", DIGITS, "--samples", 5, "--out", "answers.csv")
        self.assertEqual(self.read("answers.csv").split()[1:], ["0", "1", "2", "3", "4"])

    def test_a_time_limit(self):
        quick = ("--data", DIGITS, "--hidden", 64, "--epochs", 100000, "--patience", 0)
        result = json.loads(self.succeed("search", *quick, "--time-limit", "1.5s", "--ensemble", 3, "--model", "m", "--json", "-").out)
        self.assertGreater(result["left_out"], 0)
        self.assertTrue(result["ensemble"]["networks"])
        self.assertGreater(json.loads(self.succeed("evaluate", "m", DIGITS, "--json", "-").out)["accuracy"], 0.8)
        none = self.run_program("search", "--data", DIGITS, "--hidden", "2000,2000", "--epochs", 1, "--time-limit", "0.001s",
                                "--ensemble", 2, "--model", "plain")
        self.assertEqual(none.code, 0, str(none))
        self.assertIn("training the plain recipe instead", none.err)
        self.succeed("predict", "plain", DIGITS, "--out", "p.csv")

    def test_what_ensembles_and_limits_refuse(self):
        for said, *arguments in (("--ensemble needs --model", "--ensemble", 3), ("length of time", "--time-limit", "soon"),
                                 ("length of time", "--time-limit", "0m"), ("length of time", "--time-limit", "nanh"),
                                 ("Leave one of them out", "--time-limit", "1m", "--state", "s"),
                                 ("Leave one of them out", "--ensemble", 3, "--model", "m", "--retrain"),
                                 ("--retrain or --ensemble", "--model", "m")):
            self.assertIn(said, self.refuse("search", "--data", DIGITS, *arguments).err)
        self.assertFalse(os.path.exists(self.path("m")))

    def test_diverging_trials_are_last(self):
        result = self.search("--epochs", 2, "--optimizer", "sgd", "--loss", "mse", "--output-activation", "identity", "--vary",
                             "learning-rate=0.001,1e20", "--learning-rate", 0.01)
        self.assertEqual([trial["state"] for trial in result["trials"]], ["done", "stopped", "failed"])
        self.assertIn("diverged", result["trials"][2]["failure"])

    def test_config_file(self):
        self.write("s.toml", f'data = "{DIGITS}"\nepochs = 2\nvary = ["learning-rate=0.01,0.02", "hidden=8|16,8"]\nhalving = 0\n')
        result = json.loads(self.succeed("search", "--config", "s.toml", "--json", "-").out)
        self.assertEqual([trial["epochs"] for trial in result["trials"]], [2, 2, 2, 2, 2])
        config = self.succeed("search", "--config", "s.toml", "--print-config").out
        self.write("again.toml", config)
        self.assertEqual(self.succeed("search", "--config", "again.toml", "--print-config").out, config)

    def names_kept(self, *ends):
        """The names in the folder of the search that end so."""
        try:
            return {name for name in os.listdir(self.path("kept")) if name.endswith(ends)}
        except FileNotFoundError:  # not made yet
            return set()

    def wait_for_progress(self, process, has_come):
        """Until has_come(), or the process has ended; the limit is that of every program of the tests."""
        deadline = time.monotonic() + TIME_LIMIT_SECONDS
        while process.poll() is None and not has_come():
            self.assertLess(time.monotonic(), deadline, "no progress")
            time.sleep(0.001)

    def interrupted(self, how, arguments):
        """The last result of runs that the signals `how` interrupt, each one after more of the search was kept."""
        interruptions = 0
        for attempt in range(9):
            before = self.names_kept(".json", ".checkpoint")
            process = self.start("search", "--data", DIGITS, "--json", "-", "--state", "kept", *arguments)
            if attempt < 8:
                self.wait_for_progress(process, lambda there=before: self.names_kept(".json", ".checkpoint") - there - {"search.json"})
                process.send_signal(how)
            result = self.finish(process)
            if result.code == 0:
                return interruptions, json.loads(result.out)
            self.assertEqual(result.code, 130 if how == signal.SIGINT else -how, str(result))
            if how == signal.SIGINT:
                self.assertIn("the same command goes on from here", result.err)
            interruptions += 1
        self.fail("never done")
        return 0, {}

    def test_interrupted_and_killed_searches_end_the_same(self):
        arguments = ("--epochs", 60, "--hidden", 48, "--batch", 8, "--vary", "learning-rate=0.0005,0.001,0.002,0.004", "--vary",
                     "hidden=32|48,16")
        whole = self.search(*arguments)
        for how in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(how=how):
                shutil.rmtree(self.path("kept"), ignore_errors=True)
                interruptions, result = self.interrupted(how, arguments)
                self.assertEqual(self.outcome(result), self.outcome(whole))
                self.assertGreater(interruptions, 0)
                self.assertEqual(os.listdir(self.path("kept")), ["search.json"])

    def killed_and_taken_over(self, kills, seeded, arguments, expected):
        """A staying worker is stopped while others come and are killed, each after it wrote a file.

        Then the staying worker ends the search.
        """
        shutil.rmtree(self.path("kept"), ignore_errors=True)
        command = ("search", "--data", DIGITS, "--json", "-", "--state", "kept", *arguments)
        staying = self.start(*command)
        self.wait_for_progress(staying, lambda: self.names_kept(".heartbeat"))
        self.assertIsNone(staying.poll())
        staying.send_signal(signal.SIGSTOP)
        killed = 0
        for _ in range(kills):
            before = self.names_kept("")
            signs = seeded.choice(((".heartbeat",), (".claim-1", ".claim-2", ".claim-3", ".claim-4"), (".part", ".json"), (".checkpoint", ".json")))
            other = self.start(*command)
            self.wait_for_progress(other, lambda ends=signs, there=before: self.names_kept(*ends) - there - {"search.json"})
            killed += other.poll() is None
            other.kill()
            self.finish(other)
        staying.send_signal(signal.SIGCONT)
        result = self.finish(staying)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(self.outcome(json.loads(result.out)), self.outcome(expected))
        again = self.search("--state", "kept", *arguments)  # removes what a worker left that was killed at the very end
        self.assertEqual(self.outcome(again), self.outcome(expected))
        self.assertEqual(os.listdir(self.path("kept")), ["search.json"])
        return killed

    def test_workers_that_are_killed_change_nothing(self):
        arguments = ("--epochs", 60, "--hidden", 48, "--batch", 8, "--threads", 1, "--vary", "learning-rate=0.0005,0.001,0.002,0.004",
                     "--vary", "hidden=32|48,16")
        expected = self.search(*arguments)
        kills = int(os.environ.get("LAMINA_KILLS", "4"))
        seeded = random.Random(23)
        for begun in range(0, kills, 2):
            wanted = min(2, kills - begun)
            self.assertEqual(self.killed_and_taken_over(wanted, seeded, arguments, expected), wanted)

    def test_all_workers_print_the_same_ranking(self):
        arguments = ("--epochs", 20, "--threads", 1, "--vary", "learning-rate=0.001,0.002,0.004,0.008", "--state", "kept")
        for _ in range(3):  # each starts anew
            shutil.rmtree(self.path("kept"), ignore_errors=True)
            processes = [self.start("search", "--data", DIGITS, "--json", "-", *arguments) for _ in range(3)]
            results = [self.finish(process) for process in processes]
            for result in results:
                self.assertEqual(result.code, 0, str(result))
            trials = [json.loads(result.out)["trials"] for result in results]
            self.assertEqual(trials[1], trials[0])
            self.assertEqual(trials[2], trials[0])

    def test_a_finished_search_is_not_done_again(self):
        arguments = ("--epochs", 3, "--vary", "learning-rate=0.01,0.02", "--state", "kept")
        first = self.search(*arguments)
        self.assertEqual(self.search(*arguments)["trials"], first["trials"])
        self.refuse("search", "--data", DIGITS, *arguments, "--hidden", 9, code=2, says=("another search", "hidden"))

    def test_wrong_use(self):
        def refuse(*arguments, says=()):
            self.refuse("search", "--data", DIGITS, *arguments, code=2, says=says)

        refuse("--vary", "learning-rat=0.1", says=("unknown setting", "Did you mean 'learning-rate'?"))
        refuse("--vary", "learning-rate=1..0.1:5", says="the range is empty")
        refuse("--vary", "learning-rate=", says="no values")
        refuse("--vary", "learning-rate=0.1..1", says=("number of points", "--random"))
        refuse("--vary", "learning-rate=0.1,x", says=("takes a number", "'x'"))
        refuse("--vary", "learning-rate=0.001..1:10000", "--vary", "momentum=0..0.9:1000",
               says=("10,000,000 trials", "--yes-all 10000000"))
        refuse("--vary", "activation=rellu,tannh", says=("no trial is valid", "rellu"))
        refuse("--split", "1,0,0", says=("validation rows", "--split"))
        refuse("--retrain", says="--model")
        refuse("--memory", "300M", "--recipe", "tabular", says=("--memory is for encoded data", "lamina data encode"))
        refuse("--model", "m.safetensors", says="--retrain")
        refuse("--metric", "f1", says=("--metric", "accuracy"))
        self.refuse("search", code=2, says="--data")
        self.refuse("search", "--data", "no.csv", says="no.csv")
        self.refuse("search", "--data", DIGITS, "--csv", "no/such/r.csv", says="no/such")
        self.refuse("search", "--data", DIGITS, "--state", "/proc/x", says="/proc/x")
        self.refuse("search", "--data", DIGITS, "--plot", "/proc/x", says="/proc/x")
        self.refuse("search", "--data", DIGITS, "--csv", "/proc/r.csv", says="/proc")
        self.write("two.csv", blob_rows())
        self.refuse("search", "--data", "two.csv", "--csv", "two.csv", code=2, says="two.csv")


if __name__ == "__main__":
    main()
