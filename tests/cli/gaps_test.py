"""Missing and unseen values of rows to predict: what the model does with them, and what --missing and --unseen do."""

import csv
import unittest

from lamina_cli import CliTest, main, read_npy

QUICK = ("--epochs", "2", "--split", "1,0,0", "--hidden", "3")
STRICT = ("--missing", "error", "--unseen", "error")
ROWS = [["size", "colour", "y"]] + [[i % 7 + i / 100, ("red", "green")[i % 2], ("no", "yes")[i // 2 % 2]] for i in range(24)]
GAPS = [["size", "colour", "y"], [1.5, "red", "no"], ["", "red", "yes"], [2.5, "", "no"], [3.5, "green", "yes"]]
NEW = [["size", "colour", "y"], [1.5, "blue", "no"], [2.5, "red", "yes"], [3.5, "green", "maybe"]]


class GapsTest(CliTest):
    def model(self, *arguments):
        self.write("train.csv", ROWS)
        self.write("gaps.csv", GAPS)
        self.write("new.csv", NEW)
        self.train("--data", "train.csv", "--model", "m", *QUICK, *arguments)

    def predict(self, data, *arguments):
        """(lines of the predictions, what was said)"""
        said = self.succeed("predict", "--model", "m", "--data", data, "--out", "p.csv", *arguments).out
        with open(self.path("p.csv"), newline="") as file:
            return list(csv.reader(file)), said

    def test_a_model_that_drops_rows_answers_the_others(self):
        self.model("--missing", "drop")
        answers, said = self.predict("gaps.csv")
        self.assertEqual(len(answers), 5)
        self.assertEqual([answer == [""] for answer in answers], [False, False, True, True, False])
        self.assertIn("2 of 4 rows have no answer", said)
        self.assertIn("line 3, column 'size'", said)
        answers, _ = self.predict("gaps.csv", "--probabilities")
        self.assertEqual(answers[2], ["", "", ""])
        self.assertNotIn("", answers[1] + answers[4])

    def test_its_own_training_file(self):
        self.write("own.csv", ROWS[:5] + [["", "red", "yes"]] + ROWS[5:])
        self.train("--data", "own.csv", "--missing", "drop", "--model", "m", *QUICK)
        answers, _ = self.predict("own.csv")
        self.assertEqual([i for i, answer in enumerate(answers) if answer == [""]], [5])
        result = self.succeed("evaluate", "--model", "m", "--data", "own.csv", "--json", "e.json")
        self.assertIn("1 of 25 rows were left out", result.out)
        self.assertEqual((self.read_json("e.json")["samples"], self.read_json("e.json")["left_out"]), (24, 1))

    def test_answers_that_are_arrays(self):
        self.model("--missing", "drop")
        self.succeed("predict", "--model", "m", "--data", "gaps.csv", "--out", "p.npy")
        _, shape, classes = read_npy(self.read("p.npy", "rb"))
        self.assertEqual(shape, (4, 1))
        self.assertEqual([label < 0 for label in classes], [False, True, True, False])
        self.succeed("predict", "--model", "m", "--data", "gaps.csv", "--out", "p.npy", "--probabilities")
        values = read_npy(self.read("p.npy", "rb"))[2]
        self.assertEqual([value != value for value in values], [False] * 2 + [True] * 4 + [False] * 2)

    def test_answers_on_standard_output(self):
        self.model("--missing", "drop")
        result = self.run_program("predict", "--model", "m", "--data", "gaps.csv")
        self.assertEqual(result.code, 0)
        self.assertEqual(list(csv.reader(result.out.splitlines()))[2:4], [[""], [""]])
        self.assertIn("2 of 4 rows have no answer", result.err)

    def test_missing_beside_a_strict_model(self):
        self.model(*STRICT)
        self.refuse("predict", "--model", "m", "--data", "gaps.csv", says=("gaps.csv:3", "'size'", "--missing drop", "--missing mean"))
        self.refuse("evaluate", "--model", "m", "--data", "gaps.csv", says=("gaps.csv:3", "--missing drop"))
        dropped, said = self.predict("gaps.csv", "--missing", "drop")
        self.assertEqual([answer == [""] for answer in dropped], [False, False, True, True, False])
        self.assertIn("2 of 4", said)
        filled, said = self.predict("gaps.csv", "--missing", "mean", "--probabilities")
        self.assertNotIn("", sum(filled, []))
        self.assertNotIn("no answer", said)
        mean = sum(row[0] for row in ROWS[1:]) / 24
        self.write("filled.csv", [GAPS[0], GAPS[1], [mean, "red", "yes"], [2.5, "red", "no"], GAPS[4]])
        expected, _ = self.predict("filled.csv", "--probabilities")
        if filled[3][1:] != expected[3][1:]:  # the most frequent color: both are equally frequent
            self.write("filled.csv", [GAPS[0], GAPS[1], [mean, "red", "yes"], [2.5, "green", "no"], GAPS[4]])
            expected, _ = self.predict("filled.csv", "--probabilities")
        for answer, want in zip(filled[1:], expected[1:]):
            for a, b in zip(answer[1:], want[1:]):
                self.assertAlmostEqual(float(a), float(b), delta=1e-6)
        result = self.succeed("evaluate", "--model", "m", "--data", "gaps.csv", "--missing", "drop")
        self.assertIn("2 of 4 rows were left out", result.out)

    def test_missing_beside_a_model_that_drops_or_fills(self):
        self.model("--missing", "drop")
        self.refuse("predict", "--model", "m", "--data", "gaps.csv", "--missing", "error", says="gaps.csv:3")
        self.assertNotIn([""], self.predict("gaps.csv", "--missing", "mean")[0])
        self.model("--missing", "mean")
        self.assertNotIn([""], self.predict("gaps.csv")[0])
        self.assertIn([""], self.predict("gaps.csv", "--missing", "drop")[0])

    def test_means_that_the_model_does_not_keep(self):
        self.model("--scale", "none", "--missing", "error")
        self.refuse("predict", "--model", "m", "--data", "gaps.csv", "--missing", "mean",
                    says=("gaps.csv:3", "'size'", "no mean", "--missing drop"))
        self.model("--scale", "none", "--missing", "mean")
        self.assertNotIn([""], self.predict("gaps.csv", "--missing", "mean")[0])

    def test_unseen_beside_a_strict_model(self):
        self.model(*STRICT)
        for command in ("predict", "evaluate"):
            self.refuse(command, "--model", "m", "--data", "new.csv", says=("new.csv:2", "'blue'", "--unseen zero"))
        answers, said = self.predict("new.csv", "--unseen", "zero")
        self.assertEqual(len(answers), 4)
        self.assertIn("1 value of categories that training did not see", said)
        result = self.succeed("evaluate", "--model", "m", "--data", "new.csv", "--unseen", "zero")
        self.assertIn("maybe", result.out)
        self.model("--unseen", "zero")
        self.refuse("predict", "--model", "m", "--data", "new.csv", "--unseen", "error", says="'blue'")

    def test_unknown_choices(self):
        self.model()
        for command in ("predict", "evaluate"):
            self.refuse(command, "--model", "m", "--data", "gaps.csv", "--missing", "dorp", code=2, says=("--missing", "drop"))
            self.refuse(command, "--model", "m", "--data", "gaps.csv", "--unseen", "nul", code=2, says=("--unseen", "zero"))

    def test_targets_that_have_no_later_row(self):
        """The last row has no next one: its target is missing whatever the policy, and nothing can fill it in."""
        rows = [["day", "price"]] + [[i, 100 + i % 5 + i / 10] for i in range(30)]
        self.write("days.csv", rows)
        for missing in ("drop", "mean"):
            with self.subTest(missing=missing):
                self.train("--data", "days.csv", "--derive", "tomorrow=next_change:price,before=previous:price", "--target",
                           "tomorrow", "--missing", missing, "--model", "m", *QUICK)
                answers, _ = self.predict("days.csv")
                empty = [i for i, answer in enumerate(answers) if answer == [""]]
                self.assertEqual(empty, [1] if missing == "drop" else [])
                self.succeed("evaluate", "--model", "m", "--data", "days.csv", "--json", "e.json")
                self.assertEqual(self.read_json("e.json")["left_out"], 2 if missing == "drop" else 1)


if __name__ == "__main__":
    main()
