"""C3, H5, H6, M19, M3, M4, M18, M20: training with nothing said but the file."""

import os
import random
import unittest

from lamina_cli import DATA, CliTest, blob_rows, main


def clouds(count=1500, seed=4):
    """Four classes in eight columns, each of two clouds that touch."""
    rng = random.Random(seed)
    centres = [[[rng.gauss(0, 1.6) for _ in range(8)] for _ in range(2)] for _ in range(4)]
    rows = [[f"f{j}x" for j in range(8)] + ["class"]]
    for _ in range(count):
        label = rng.randrange(4)
        centre = rng.choice(centres[label])
        rows.append([f"{value + rng.gauss(0, 1):.4f}" for value in centre] + [f"k{label}"])
    return rows


def rare_rows(count=1500, seed=2):
    """One row in fifty is of the other class, which is hard to tell."""
    rng = random.Random(seed)
    rows = [["amount", "hours", "fraud"]]
    for i in range(count):
        fraud = i % 50 == 0
        rows.append([f"{rng.gauss(0.5 if fraud else 0, 1):.4f}", f"{rng.gauss(0.3 if fraud else 0, 1):.4f}", "yes" if fraud else "no"])
    return rows


class DefaultsTest(CliTest):
    recipe = None

    def small(self, name):
        path = os.path.join(DATA, "small", name)
        if not DATA or not os.path.exists(path):
            self.skipTest("needs LAMINA_DATA")
        return path

    def test_small_data_is_learnt(self):
        """C3: a table of 150 rows got 60 steps, and 63 % where 95 % are easy."""
        for name, least in (("iris.csv", 0.90), ("wine.csv", 0.93), ("wdbc.csv", 0.94)):
            accuracies = []
            for seed in range(1, 6):
                accuracies.append(self.train_json("--data", self.small(name), "--stratify", "--seed", seed)["accuracy"])
            self.assertGreater(sum(accuracies) / 5, least, (name, accuracies))

    def test_epochs_and_batch_follow_the_rows(self):
        """C3, M19"""
        self.write("few.csv", blob_rows(150))
        few = self.train_json("--data", "few.csv", "--recipe", "plain")
        self.write("many.csv", clouds(12000))
        many = self.train_json("--data", "many.csv", "--recipe", "plain", "--hidden", "8")
        self.assertGreater(few["epochs"], 2 * many["epochs"])
        self.assertLess(few["batch"], many["batch"])
        self.assertEqual(self.train_json("--data", "few.csv", "--epochs", "20")["epochs"], 20)
        self.assertEqual(len(self.train_json("--data", "few.csv", "--epochs", "20")["history"]["epochs"]), 20)
        self.assertEqual(self.train_json("--data", "few.csv", "--batch", "7")["batch"], 7)
        again = self.train_json("--data", "few.csv", "--recipe", "plain", "--epochs", "auto", "--batch", "auto", "--patience", "auto")
        self.assertEqual(again["train_loss"], few["train_loss"])

    def test_a_table_without_a_word_has_the_method_for_its_rows(self):
        self.write("blobs.csv", blob_rows(150))
        said = self.succeed("train", "blobs.csv").out
        self.assertIn("method rfm, a kernel machine that keeps the 120 training rows", said)
        self.assertIn("--method backpropagation trains a network", said)
        self.assertIn("(selu, selu, selu, ", self.succeed("train", "blobs.csv", "--method", "backpropagation").out)
        self.write("many.csv", blob_rows(1260))  # of which four fifths are training rows of a kernel machine
        self.assertIn("(selu, selu, selu, ", self.succeed("train", "many.csv").out)
        self.assertNotIn("rfm", self.succeed("train", "many.csv").out)

    def test_a_network_for_a_table_is_trained_by_the_recipe_for_tables(self):
        self.write("blobs.csv", blob_rows(150))
        self.assertIn(", recipe tabular; ", self.succeed("train", "blobs.csv", "--seed", "3", "--scale", "minmax", "--epochs", "3").out)
        self.assertNotIn("tabular", self.succeed("train", "blobs.csv", "--method", "elm").out)
        self.assertIn(", recipe plain; ", self.succeed("train", "blobs.csv", "--recipe", "plain").out)
        self.assertIn("0.00 MB of gradients", self.succeed("train", "blobs.csv", "--plan").out)  # ranks train one layer

    def test_a_flag_changes_what_it_names(self):
        """N6"""
        self.write("blobs.csv", blob_rows(150))
        for said, activations in ((("--hidden", "5"), "(selu, "), (("--epochs", "3"), "(selu, selu, selu, "), (("--batch", "16"), "(selu, selu, selu, "),
                                  (("--patience", "4"), "(selu, selu, selu, "), (("--layers", "dot-relu:5,auto"), "(relu, ")):
            out = self.succeed("train", "blobs.csv", *said).out
            self.assertIn(", recipe tabular; ", out, said)
            self.assertIn(activations, out, said)
            self.assertNotIn("recipe plain", out, said)
        for said, why in ((("--optimizer", "lbfgs"), "lbfgs cannot be combined with"), (("--shards", "2"), "--shards cannot be combined with"), (("--layers", "rbf:5,auto"), "for dot layers")):
            out = self.succeed("train", "blobs.csv", *said).out
            self.assertIn("note: recipe plain instead of tabular: ", out, said)
            self.assertIn(why, out, said)
            self.assertIn(", recipe plain; ", out, said)

    def test_stops_early_and_keeps_the_best_epoch(self):
        """H5"""
        self.write("noise.csv", [["a", "b", "c"]] + [[f"{random.Random(i).random():.4f}", f"{random.Random(-i).random():.4f}", "xy"[i % 7 % 2]]
                                                    for i in range(300)])
        run = self.train_json("--data", "noise.csv", "--recipe", "plain", "--hidden", "64")
        self.assertLess(len(run["history"]["epochs"]), run["epochs"])
        self.assertEqual(run["history"]["stop_reason"], "early_stopping")
        fixed = self.train_json("--data", "noise.csv", "--recipe", "plain", "--hidden", "64", "--epochs", "60", "--learning-rate", "0.05", "--model", "best")
        last = self.train_json("--data", "noise.csv", "--recipe", "plain", "--hidden", "64", "--epochs", "60", "--learning-rate", "0.05", "--keep", "last")
        self.assertLess(fixed["history"]["best_epoch"], 60)
        self.assertNotEqual(fixed["test"]["loss"], last["test"]["loss"])
        self.assertIn("the last one is kept", self.succeed("train", "noise.csv", "--recipe", "plain", "--epochs", "60", "--learning-rate", "0.05", "--keep", "last").out)

    def test_says_what_went_wrong(self):
        """C3, C4, M4, M20"""
        self.write("clouds.csv", clouds())
        short = self.succeed("train", "clouds.csv", "--epochs", "3").out
        self.assertIn("still falling at the end", short)
        self.assertIn("--epochs 6", short)
        self.assertNotIn("still falling", self.succeed("train", "clouds.csv", "--epochs", "150").out)
        self.write("rare.csv", rare_rows())
        said = self.succeed("train", "rare.csv", "--recipe", "plain", "--model", "m").out
        self.assertIn("class 'yes' is never predicted", said)
        self.assertIn("never left that of always answering 'no'", said)
        self.assertIn("--class-weights balanced", said)
        self.assertIn("class 'yes' is never predicted", self.succeed("evaluate", "m", "rare.csv").out)
        self.refuse("train", "clouds.csv", "--optimizer", "adam", "--learning-rate", "1e38", says=("0.001 instead of 1e+38",))

    def test_rare_classes_that_are_told_apart_are_not_called_chance(self):
        """N7: accuracy hardly above that of the frequent class, and most rows of the rare one found."""
        rng = random.Random(3)
        rows = [["a", "b", "state"]]
        for i in range(1000):
            bad = i % 100 == 0
            rows.append([f"{rng.gauss(6 if bad else 0, 1):.4f}", f"{rng.gauss(0, 1):.4f}", "bad" if bad else "ok"])
        self.write("sensor.csv", rows)
        self.assertNotIn("never left", self.succeed("train", "sensor.csv", "--stratify", "--class-weights", "balanced", "--epochs", "20").out)

    def test_few_test_rows_and_overfitting_are_said(self):
        """N7, H9"""
        rng = random.Random(5)
        noise = [[f"x{j}" for j in range(40)] + ["class"]]
        noise += [[f"{rng.gauss(0, 1):.3f}" for _ in range(40)] + [rng.choice(["u", "v"])] for _ in range(120)]
        self.write("noise40.csv", noise)
        said = self.succeed("train", "noise40.csv", "--epochs", "60", "--keep", "last").out
        self.assertIn("the test result is of 24 rows alone", said)
        self.assertIn("learned the training rows by heart", self.succeed("train", "noise40.csv", "--epochs", "60").out)
        self.write("blobs.csv", blob_rows(300))
        well = self.succeed("train", "blobs.csv").out
        self.assertNotIn("alone, and chance", well)
        self.assertNotIn("by heart", well)

    def test_search_ranks_by_the_best_epoch(self):
        """H6"""
        self.write("clouds.csv", clouds(600))
        ranked = self.succeed("search", "clouds.csv", "--vary", "learning-rate=0.001,0.05", "--epochs", "60", "--halving", "0", "--json", "s.json")
        self.assertIn("the best again", ranked.out)
        for trial in self.read_json("s.json")["trials"]:
            self.assertLessEqual(trial["epoch"], trial["epochs"])
        self.assertTrue(any(trial["epoch"] < trial["epochs"] for trial in self.read_json("s.json")["trials"]))

    def test_evaluating_on_rows_of_the_training_is_said(self):
        """M3"""
        self.write("blobs.csv", blob_rows(200))
        self.write("new.csv", blob_rows(50, seed=9))
        self.train("--data", "blobs.csv", "--model", "m")
        self.assertIn("was trained on rows of blobs.csv", self.succeed("evaluate", "m", "blobs.csv").out)
        self.assertNotIn("trained on", self.succeed("evaluate", "m", "new.csv").out)
        self.train("--data", "new.csv", "--recipe", "plain", "--model", "other")
        self.assertIn("m was trained on rows of blobs.csv", self.succeed("compare", "m", "other", "blobs.csv").out)
        self.write("newest.csv", blob_rows(50, seed=11))
        self.assertNotIn("trained on", self.succeed("compare", "m", "other", "newest.csv").out)

    def test_far_inputs_are_said(self):
        """M18"""
        self.write("blobs.csv", blob_rows(200))
        self.write("far.csv", [["a", "b"], [51000, -1], [1, -1]])
        self.train("--data", "blobs.csv", "--model", "m")
        self.assertIn("1 number far outside of those of the training", self.succeed("predict", "m", "far.csv", "--out", "p.csv").out)
        self.assertNotIn("note", self.succeed("predict", "m", "blobs.csv", "--out", "p.csv").out)

    def test_another_model_is_not_overwritten(self):
        """M20"""
        self.write("blobs.csv", blob_rows(60))
        self.write("others.csv", blob_rows(60, seed=8))
        quick = ("--epochs", "2", "--hidden", "3")
        self.train("--data", "blobs.csv", "--model", "m", *quick)
        self.train("--data", "blobs.csv", "--model", "m", "--seed", "2", *quick)
        self.refuse("train", "--data", "others.csv", "--model", "m", *quick, code=2, says=("a model of answer, trained on blobs.csv", "--overwrite"))
        self.train("--data", "others.csv", "--model", "m", "--overwrite", *quick)
        self.write("notes.txt", "mine")
        self.refuse("train", "--data", "others.csv", "--model", "notes.txt", *quick, code=2, says=("a file that is no model", "--overwrite"))


if __name__ == "__main__":
    main()
