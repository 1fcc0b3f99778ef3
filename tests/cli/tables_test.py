"""Training on CSV tables of every kind: values, classes, text, dates, gaps, weights, parts; also IDX and stocks."""

import csv
import io
import json
import os
import random
import unittest

from lamina_cli import DATA, DIGITS, CliTest, blob_rows, digits_rows, linear_rows, main

LINEAR = ["--hidden", "0", "--learning-rate", "0.05", "--batch", "16"]


class TablesTest(CliTest):
    def evaluate(self, data, *arguments, model="m.safetensors"):
        return json.loads(self.succeed("evaluate", "--model", model, "--data", data, "--json", "-", *arguments).out)

    def predict(self, data, *arguments, model="m.safetensors"):
        self.succeed("predict", "--model", model, "--data", data, "--out", "answers.csv", *arguments)
        return list(csv.reader(io.StringIO(self.read("answers.csv"))))

    def test_regression_answers_in_target_units(self):
        self.write("line.csv", linear_rows())
        result = self.train_json("--data", "line.csv", *LINEAR, "--epochs", "60", "--model", "m.safetensors")
        self.assertEqual(result["loss"], "mse")
        self.assertGreater(result["test"]["r2"], 0.9)
        metrics = self.evaluate("line.csv")
        self.assertGreater(metrics["r2"], 0.9)
        for key in ("mse", "rmse", "mae", "r2", "samples", "targets"):
            self.assertIn(key, metrics)
        self.write("new.csv", "x1,x2\n0,0\n1,0\n0,5\n")
        header, *answers = self.predict("new.csv")
        self.assertEqual(header, ["y"])
        for (answer,), truth in zip(answers, (100, 130, 0)):
            self.assertAlmostEqual(float(answer), truth, delta=8)
        self.assertIn("R\u00b2", self.succeed("evaluate", "--model", "m.safetensors", "--data", "line.csv").out)

    def test_dates_are_shown_as_dates(self):
        self.write("days.csv", "day,y\n2024-02-28,1\n2024-02-29,2\n2024-03-01 12:00:00,3\n")
        self.assertIn("2024-02-28 to 2024-03-01 12:00:00", self.succeed("data", "show", "days.csv").out)
        column = json.loads(self.succeed("data", "show", "days.csv", "--json", "-").out)["columns"][0]
        self.assertEqual((column["kind"], column["minimum"]), ("date", 19781))

    def test_several_targets(self):
        rows = [row + [str(i % 7 + 0.5)] for i, row in enumerate(linear_rows())]
        rows[0][-1] = "z"
        self.write("two.csv", rows)
        self.train("--data", "two.csv", "--target", "y,z", *LINEAR, "--epochs", "5", "--model", "m.safetensors")
        self.assertEqual(self.predict("two.csv")[0], ["y", "z"])
        self.assertEqual([target["name"] for target in self.evaluate("two.csv")["targets"]], ["y", "z"])

    def test_two_classes_with_one_output(self):
        self.write("blobs.csv", blob_rows())
        result = self.train_json("--data", "blobs.csv", "--hidden", "4", "--loss", "binary_cross_entropy", "--epochs",
                                 "40", "--learning-rate", "0.05", "--model", "m.safetensors")
        self.assertEqual(result["outputs"], 1)
        self.assertGreater(result["accuracy"], 0.9)
        table = self.predict("blobs.csv", "--probabilities")
        self.assertEqual(table[0], ["answer", "p_no", "p_yes"])
        for answer, no, yes in table[1:]:
            self.assertAlmostEqual(float(no) + float(yes), 1, places=6)
            self.assertEqual(answer, "yes" if float(yes) > float(no) else "no")

    def text_rows(self):
        rng = random.Random(1)
        rows = [["colour", "day", "size", "price"]]
        for i in range(160):
            colour = rng.choice(["red", "green", "blue"])
            size = rng.uniform(0, 5)
            price = {"red": 10, "green": 30, "blue": 90}[colour] + 5 * size + 0.5 * (i % 28)
            rows.append([colour, f"2021-03-{1 + i % 28:02}", f"{size:.3f}", f"{price:.3f}"])
        return rows

    def test_text_columns_and_dates(self):
        self.write("shop.csv", self.text_rows())
        for encode, inputs in (("onehot", 5), ("ordinal", 3)):
            result = self.train_json("--data", "shop.csv", "--encode", encode, *LINEAR, "--epochs", "60", "--model",
                                     "m.safetensors")
            self.assertEqual(result["inputs"], inputs)
            if encode == "onehot":
                self.assertGreater(result["test"]["r2"], 0.9)
        calendar = ("--recipe", "tabular", "--epochs", "2")  # two of the week beside
        self.assertEqual(self.train_json("--data", "shop.csv", *calendar)["inputs"], 7)
        self.assertEqual(self.train_json("--data", "shop.csv", *calendar, "--dates", "days")["inputs"], 5)
        self.assertEqual(self.train_json("--data", "shop.csv", "--method", "rfm")["inputs"], 7)
        self.write("new.csv", 'day,colour,size\n2021-03-05,"red",1\n2021-03-05,blue,1\n')
        red, blue = (float(row[0]) for row in self.predict("new.csv")[1:])
        self.assertLess(red, blue)

    def test_numbers_that_name_something(self):
        rng = random.Random(2)
        effects = [rng.gauss(0, 1) for _ in range(60)]
        rows = [["school", "age", "mark"]]
        for _ in range(1200):
            school, age = rng.randrange(60), rng.randrange(8, 18)
            rows.append([school + 100, age, f"{effects[school] + 0.1 * age + rng.gauss(0, 0.5):.3f}"])
        self.write("marks.csv", rows)
        rfm = ("--method", "rfm")
        said = "its numbers name something: 60 of 60 have an input each  (else --codes none)"
        errors = {}
        for name, flags, inputs in (("found", (), 62), ("named", ("--codes", "school"), 62), ("none", ("--codes", "none"), 2)):
            result = self.train_json("--data", "marks.csv", *rfm, *flags)
            self.assertEqual(result["inputs"], inputs, name)
            errors[name] = result["test"]["loss"]
        self.assertEqual(errors["found"], errors["named"])
        self.assertLess(errors["found"], errors["none"])
        self.assertIn(said, self.succeed("train", "--data", "marks.csv", *rfm).out)
        self.assertNotIn("name something", self.succeed("train", "--data", "marks.csv", *rfm, "--group", "age").out)
        self.assertEqual(self.train_json("--data", "marks.csv", *LINEAR, "--epochs", "2")["inputs"], 2)  # recipe plain
        self.refuse("train", "--data", "marks.csv", "--target", "school", "--codes", "mark", code=1,
                    says=("marks.csv", "'mark'", "whole numbers up to 16,777,216", "--codes"))
        self.refuse("train", "--data", "marks.csv", "--codes", "schol", code=1, says=("'schol'", "school"))

    def test_text_column_whose_test_file_holds_only_numbers(self):
        rows = [["code", "x", "y"]] + [[("a", "b", "7")[i % 3], str(i), str(i * 1.5)] for i in range(60)]
        self.write("train.csv", rows)
        self.write("test.csv", [rows[0]] + [row for row in rows[1:] if row[0] == "7"])
        result = self.train_json("--data", "train.csv", "--test", "test.csv", "--validation", "test.csv", *LINEAR,
                                 "--use", "x", "--epochs", "2", "--model", "m.safetensors")
        self.assertEqual((result["inputs"], result["test_rows"]), (4, 20))
        self.assertEqual(self.evaluate("test.csv")["samples"], 20)

    def test_unseen_categories(self):
        self.write("shop.csv", self.text_rows())
        self.write("new.csv", "colour,day,size,price\nred,2021-03-01,1,10\npink,2021-03-01,1,10\n")
        command = ["--data", "shop.csv", *LINEAR, "--epochs", "2", "--model", "m.safetensors"]
        self.train(*command, "--unseen", "error")
        self.refuse("predict", "--model", "m.safetensors", "--data", "new.csv", "--out", "x.csv", code=1,
                    says=("new.csv:3:", "'colour'", "'pink'", "--unseen zero"))
        self.train(*command, "--unseen", "zero")
        self.assertEqual(len(self.predict("new.csv")), 3)
        self.assertEqual(self.evaluate("new.csv")["unseen_values"], 1)
        self.assertIn("note: 1 value", self.succeed("evaluate", "--model", "m.safetensors", "--data", "new.csv").out)

    def test_missing_values(self):
        rows = linear_rows(60)
        rows[5][0] = ""
        rows[9][1] = "NA"
        self.write("gaps.csv", rows)
        command = ["--data", "gaps.csv", *LINEAR, "--epochs", "3"]
        self.refuse("train", *command, "--model", "m.safetensors", "--missing", "error", code=1,
                    says=("gaps.csv:", "column 'x", "--missing drop", "--missing mean"))
        self.assertEqual(self.total_rows(self.train_json(*command, "--missing", "drop")), 58)
        self.assertEqual(self.total_rows(self.train_json(*command, "--missing", "mean", "--model", "m.safetensors")), 60)
        self.write("new.csv", "x1,x2\n,3\n1,\n")
        self.assertEqual(len(self.predict("new.csv")), 3)
        rows[7][2] = ""
        self.write("gaps.csv", rows)
        self.assertEqual(self.total_rows(self.train_json(*command, "--missing", "mean")), 59)
        self.refuse("train", *command, "--missing", "error", says=("gaps.csv:", "--missing drop"))
        self.assertEqual(self.total_rows(self.train_json(*command, "--missing", "drop")), 57)

    def test_prediction_keeps_the_number_of_rows(self):
        rows = linear_rows(40)
        rows[5][0] = ""
        self.write("gaps.csv", rows)
        self.train("--data", "gaps.csv", *LINEAR, "--epochs", "1", "--missing", "drop", "--model", "m.safetensors")
        # A row left out would shift the answers after it.
        said = self.succeed("predict", "--model", "m.safetensors", "--data", "gaps.csv", "--out", "x.csv").out
        self.assertIn("1 of 40 rows have no answer", said)
        self.assertIn("line 6", said)
        lines = self.read("x.csv").splitlines()
        self.assertEqual((len(lines), lines[5]), (41, '""'))
        self.assertEqual(lines.count('""'), 1)

    @staticmethod
    def total_rows(result):
        return result["train_rows"] + result["validation_rows"] + result["test_rows"]

    def test_weights(self):
        rows = [rows + [str(1 + i % 3)] for i, rows in enumerate(blob_rows())]
        rows[0][-1] = "w"
        self.write("blobs.csv", rows)
        command = ["--data", "blobs.csv", "--target", "answer", "--hidden", "4", "--epochs", "3"]
        plain = self.train_json(*command, "--drop", "w")
        weighted = self.train_json(*command, "--weight-column", "w")
        self.assertEqual((plain["inputs"], weighted["inputs"]), (2, 2))
        self.assertNotEqual(plain["train_loss"], weighted["train_loss"])
        classes = self.train_json(*command, "--drop", "w", "--class-weights", "yes=5,no=1")
        self.assertNotEqual(plain["train_loss"], classes["train_loss"])
        self.train_json(*command, "--drop", "w", "--class-weights", "balanced")
        self.refuse("train", *command, "--drop", "w", "--class-weights", "yess=5", says="'yes'")
        self.refuse("train", *command, "--weight-column", "ww", says="'w'")
        rows[4][-1] = "-1"
        self.write("blobs.csv", rows)
        self.refuse("train", *command, "--weight-column", "w", "--split", "1,0,0", says=("blobs.csv:5:", "'w'"))

    def test_separate_files_and_parts(self):
        rows = digits_rows(600)
        self.write("train.csv", rows[:301])
        self.write("validation.csv", rows[:1] + rows[301:401])
        self.write("test.csv", rows[:1] + rows[401:])
        result = self.train_json("--data", "train.csv", "--validation", "validation.csv", "--test", "test.csv", "--hidden",
                                 "16", "--epochs", "2")
        self.assertEqual([result[f"{part}_rows"] for part in ("train", "validation", "test")], [300, 100, 200])
        result = self.train_json("--data", "train.csv", "--test", "test.csv", "--hidden", "16", "--epochs", "1")
        self.assertEqual([result[f"{part}_rows"] for part in ("train", "validation", "test")], [250, 50, 200])
        result = self.train_json("--data", "train.csv", "--split", "0.8,0.2,0", "--hidden", "16", "--epochs", "1")
        self.assertEqual([result[f"{part}_rows"] for part in ("train", "validation", "test")], [240, 60, 0])
        self.assertIn("accuracy", result)
        result = self.train_json("--data", "train.csv", "--split", "1,0,0", "--hidden", "16", "--epochs", "1")
        self.assertNotIn("accuracy", result)

    def test_samples_and_stratify(self):
        command = ["--data", DIGITS, "--hidden", "8", "--epochs", "1", "--samples", "200"]
        first = self.train_json(*command)
        self.assertEqual(self.total_rows(first), 200)
        other = self.train_json(*command, "--random-samples")
        self.assertEqual(self.total_rows(other), 200)
        self.assertNotEqual(first["train_loss"], other["train_loss"])
        self.train_json(*command, "--stratify")
        self.write("rare.csv", blob_rows(100) + [["40", "-30", "rare"]] * 5)
        result = self.train_json("--data", "rare.csv", "--stratify", "--hidden", "4", "--epochs", "1")
        rare = [row for row in result["test"]["classes"] if row["name"] == "rare"]
        self.assertEqual(rare[0]["support"], 1)

    def test_stratify_on_values_is_refused(self):
        self.write("line.csv", linear_rows(50))
        self.refuse("train", "--data", "line.csv", "--stratify", *LINEAR, says=("--stratify", "class"))
        self.write("gap.csv", blob_rows(30) + [["1", "1", ""]])
        self.refuse("train", "--data", "gap.csv", "--stratify", "--missing", "error", says=("gap.csv:32", "--missing drop"))
        self.train("--data", "gap.csv", "--stratify", "--epochs", "1")
        self.train("--data", "gap.csv", "--stratify", "--missing", "drop", "--epochs", "1")

    def test_byte_order_mark_crlf_quotes_and_tabs(self):
        lines = [",".join(row) for row in blob_rows(60)]
        self.write("plain.csv", "\n".join(lines) + "\n")
        plain = self.train_json("--data", "plain.csv", "--epochs", "2")
        self.write("windows.csv", "\ufeff" + "\r\n".join(lines))
        self.assertEqual(self.train_json("--data", "windows.csv", "--epochs", "2")["train_loss"], plain["train_loss"])
        self.write("tabs.tsv", "\n".join(lines).replace(",", "\t"))
        self.assertEqual(self.train_json("--data", "tabs.tsv", "--epochs", "2")["train_loss"], plain["train_loss"])
        self.write("quoted.csv", "\n".join(f'"{line}"'.replace(",", '","') for line in lines))
        self.assertEqual(self.train_json("--data", "quoted.csv", "--epochs", "2")["train_loss"], plain["train_loss"])
        self.assertEqual(self.train_json("--data", "windows.csv", "--target", "answer", "--epochs", "1")["outputs"], 2)

    def test_class_names_with_separators_survive(self):
        self.write("odd.csv", blob_rows(60, ('"a, ""b"""', "ü")))
        self.train("--data", "odd.csv", "--epochs", "10", "--model", "m.safetensors")
        self.assertEqual({row[0] for row in self.predict("odd.csv")[1:]}, {'a, "b"', "ü"})

    @unittest.skipUnless(DATA, "MNIST: LAMINA_DATA is not set")
    def test_mnist_folder(self):
        result = self.train_json("--data", os.path.join(DATA, "mnist"), "--samples", "2000", "--hidden", "32", "--epochs",
                                 "3", "--model", "m.safetensors")
        self.assertEqual((result["inputs"], result["test_rows"]), (784, 10000))
        self.assertGreater(result["accuracy"], 0.8)
        data = os.path.join(DATA, "mnist", "t10k-images-idx3-ubyte.gz")
        self.assertEqual(len(self.predict(data, "--samples", "10")), 11)
        self.assertEqual(len(self.predict(os.path.join(DATA, "mnist"), "--samples", "10")), 11)

    @unittest.skipUnless(DATA, "stock prices: LAMINA_DATA is not set")
    def test_the_network_of_2018_on_stock_prices(self):
        stocks = os.path.join(DATA, "stocks", "all_stocks_5yr.csv.gz")
        result = self.train_json(
            "--data", stocks, "--samples", "2000", "--target", "close", "--drop", "Name,date", "--layers",
            "dot-bipolar_sigmoid(gain=1,threshold=0):4,dot-bipolar_sigmoid(gain=1,threshold=0):2,dot-bipolar_sigmoid:1",
            "--loss", "mse", "--target-scale", "minmax", "--optimizer", "sgd", "--learning-rate", "0.05", "--momentum",
            "0.5", "--weight-decay", "1e-6", "--batch", "1", "--epochs", "4", "--model", "m.safetensors")
        self.assertEqual(result["network"], "4-4-2-1")
        self.assertGreater(result["test"]["r2"], 0.8)
        result = self.train_json("--data", stocks, "--samples", "500", "--target", "close", "--drop", "Name", "--hidden",
                                 "4,2", "--activation", "bipolar_sigmoid", "--output-activation", "bipolar_sigmoid",
                                 "--gain", "1", "--threshold", "0", "--optimizer", "sgd", "--batch", "1", "--epochs", "1")
        self.assertEqual(result["network"], "5-4-2-1")


if __name__ == "__main__":
    main()
