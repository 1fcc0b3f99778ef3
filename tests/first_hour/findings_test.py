"""N1 to N14 of the trials: silent wrong answers, files that did not open, a flag that changed the network."""

import json
import random
import unittest

from lamina_cli import DIGITS, CliTest, blob_rows, main


def flowers(count=150, seed=3):
    rng = random.Random(seed)
    rows = [["sepal_length", "sepal_width", "petal_length", "petal_width", "species"]]
    for i in range(count):
        k = i % 3
        rows.append([f"{rng.gauss(5 + k, .3):.1f}", f"{rng.gauss(3, .3):.1f}", f"{rng.gauss(1.5 + 2 * k, .3):.1f}",
                     f"{rng.gauss(.2 + k, .1):.1f}", ("setosa", "versicolor", "virginica")[k]])
    return rows


class FindingsTest(CliTest):
    recipe = None

    def flower_model(self):
        self.write("flowers.csv", flowers())
        self.train("--data", "flowers.csv", "--recipe", "plain", "--model", "m")

    def test_a_header_binds_by_name_or_is_refused(self):
        """N1"""
        self.flower_model()
        self.write("swap.csv", "petal_width,petal_length,sepal_width,sepal_length\n0.2,1.4,3.5,5.1\n")
        self.assertIn("setosa", self.succeed("predict", "m", "swap.csv").out)
        self.write("near.csv", "petal_widths,petal_lengths,sepal_widths,sepal_lengths\n0.2,1.4,3.5,5.1\n")
        self.refuse("predict", "m", "near.csv", says=("petal_width", "petal_widths", "--by-position"))
        self.write("other.csv", "temperature,humidity,price,weight\n5.1,3.5,1.4,0.2\n")
        self.refuse("predict", "m", "other.csv", says=("sepal_length", "temperature", "--by-position"))
        self.assertIn("setosa", self.succeed("predict", "m", "other.csv", "--by-position").out)
        self.write("none.csv", "5.1,3.5,1.4,0.2\n5.0,3.4,1.5,0.2\n")
        self.assertEqual(self.succeed("predict", "m", "none.csv").out.count("setosa"), 2)

    def test_a_word_among_rows_to_predict_costs_its_row_at_most(self):
        """N2"""
        self.flower_model()
        rows = flowers(6)
        rows[3][0] = "abc"
        self.write("six.csv", rows)
        said = self.succeed("predict", "m", "six.csv", "--out", "p.csv").out
        self.assertEqual(len(self.read("p.csv").splitlines()), 7)
        self.assertIn("sepal_length", said)
        self.assertIn("abc", said)

    def test_odd_cells_are_missing_counted_and_named(self):
        """N2"""
        rows = blob_rows(400)
        for row in (7, 90, 200, 301):
            rows[row][0] = "error"
        self.write("sensor.csv", rows)
        said = self.succeed("train", "sensor.csv", "--recipe", "plain").out
        for fact in ("4", "'error'", "--text-columns a"):
            self.assertIn(fact, said)
        self.refuse("train", "sensor.csv", "--strict", says=("sensor.csv:8",))

    def test_windows_1252_opens_and_is_said(self):
        """N3"""
        text = "Größe,Umsatz €\n" + "".join(f"{i % 50},{3 * (i % 50)}.5\n" for i in range(200))
        self.write("german.csv", text.encode("cp1252"))
        self.assertIn("--encoding", self.succeed("train", "german.csv", "--recipe", "plain", "--model", "m").out)
        self.assertIn("Umsatz €", self.succeed("model", "show", "m").out)

    def test_names_with_commas_and_blanks(self):
        """Questions of a survey are names of columns; what a decision names can be copied into a shell."""
        rng = random.Random(5)
        rows = [['"Who, roughly?"', "How many [h]", '"How often? (1 = never, 5 = daily)"']]
        rows += [[rng.choice("ab"), "off" if i % 50 == 7 else i * 37 % 101 + 0.5, i * 37 % 101 * 2] for i in range(200)]
        self.write("survey.csv", rows)
        target = '"How often? (1 = never, 5 = daily)"'
        given = ("--target", target, "--drop", '"Who, roughly?"', "--recipe", "plain", "--model", "m")
        said = self.succeed("train", "survey.csv", *given).out
        self.assertIn("--text-columns 'How many [h]'", said)
        self.assertIn("--drop 'How many [h]'", said)
        shown = self.succeed("model", "show", "m").out
        self.assertIn(f"--target '{target}'", shown)
        self.assertIn("""--drop '"Who, roughly?"'""", shown)
        self.succeed("predict", "m", "survey.csv", "--keep-columns", '"Who, roughly?"', "--out", "p.csv")
        found = self.read("p.csv")
        self.assertTrue(found.startswith('"Who, roughly?","How often? (1 = never, 5 = daily)"'), found[:80])

    def test_free_text_is_hashed_or_the_flag_is_named(self):
        """N5"""
        rng = random.Random(4)
        words = "the a of screen printer mail server login page for user network at office".split()
        rows = [["channel", "subject", "priority"]]
        for i in range(600):
            more = rng.sample(("down", "crash", "outage") if i % 2 else ("wish", "colour", "thanks"), 2)
            rows.append([rng.choice(("mail", "web")), " ".join(rng.sample(words, 5) + more), "high" if i % 2 else "low"])
        self.write("tickets.csv", rows)
        result = self.succeed("train", "tickets.csv", "--json", "r.json").out
        self.assertTrue(self.read_json("r.json")["accuracy"] >= 0.9 or "--text hash" in result, result)

    def test_a_flag_keeps_the_recipe(self):
        """N6"""
        self.write("blobs.csv", blob_rows(150))
        for said in (("--epochs", "20"), ("--hidden", "64"), ("--patience", "5")):
            self.assertIn("recipe tabular", self.succeed("train", "blobs.csv", *said).out, said)

    def test_rare_classes_that_are_found_bring_no_remark(self):
        """N7: better than always answering 'ok', by balanced accuracy far better."""
        rng = random.Random(9)
        rows = [["a", "b", "state"]]
        for _ in range(3000):
            middle, state = (2.2, "worn") if rng.random() < 1 / 30 else (0, "ok")
            rows.append([f"{rng.gauss(middle, 1):.3f}", f"{rng.gauss(middle, 1):.3f}", state])
        self.write("rare.csv", rows)
        said = self.succeed("train", "rare.csv", "--recipe", "plain", "--class-weights", "balanced").out
        self.assertNotIn("never left that of always answering", said)

    def test_a_search_knows_the_default(self):
        """N9: trial 1 is the default, and the best is held against it on folds."""
        self.write("flowers.csv", flowers())
        found = json.loads(self.succeed("search", "flowers.csv", "--vary", "learning-rate=0.01,0.4", "--epochs", "12", "--json", "-").out)
        first = next(trial for trial in found["trials"] if trial["trial"] == 1)
        self.assertEqual(first["values"], {"learning-rate": "auto"})
        self.assertIn("tabular", found["best_command"])
        best = found["trials"][0]["trial"]
        self.assertIn("the default, trial 1, is the best" if best == 1 else "on 5 folds of 150 rows", found["default"]["text"])
        self.assertFalse(found["default"]["better"], "nothing is better than right")

    def test_a_novelty_classifier_needs_no_flags(self):
        """N13: the digits within a point of the 98.9 % that were found by hand."""
        accuracies = [json.loads(self.succeed("train", DIGITS, "--method", "fsvc", "--seed", seed, "--json", "-").out)["accuracy"]
                      for seed in (1, 2, 3)]
        self.assertGreater(sum(accuracies) / 3, 0.979, accuracies)

    def test_a_wide_table_is_learnt(self):
        """Medium: 360 rows of 2,000 columns, of which five tell."""
        rng = random.Random(4)
        rows = [[f"g{j}" for j in range(2000)] + ["state"]]
        for _ in range(360):
            values = [rng.gauss(0, 1) for _ in range(2000)]
            rows.append([f"{value:.3f}" for value in values] + ["ill" if sum(values[100:105]) > 0 else "well"])
        self.write("wide.csv", rows)
        result = json.loads(self.succeed("train", "wide.csv", "--folds", "5", "--json", "-").out)["cross_validation"]
        accuracy = next(metric["value"] for metric in result["metrics"] if metric["name"] == "accuracy")
        self.assertGreater(accuracy, 0.9)
        said = self.succeed("train", "wide.csv").out
        self.assertIn("tells nothing of the target by itself", said)
        self.assertIn("--select all", said)

    def test_missing_markers_are_the_same_in_text_and_numbers(self):
        """N14"""
        markers = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "nan", "NaN", "-", "--", ".", "?", "")
        rows = [["size", "city", "y"]] + [[i % 37, ("Rome", "Oslo")[i % 2], i % 37 + 0.5] for i in range(400)]
        for i, marker in enumerate(markers):
            rows[20 + 3 * i][0] = rows[21 + 3 * i][1] = marker
        self.write("gaps.csv", rows)
        self.succeed("data", "show", "gaps.csv", "--json", "s.json")
        self.assertEqual([column["missing"] for column in self.read_json("s.json")["columns"]], [len(markers), len(markers), 0])


if __name__ == "__main__":
    main()
