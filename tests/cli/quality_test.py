"""Folds, metrics, comparisons, explanations, drift, calibration and intervals as a user meets them."""

import csv
import io
import json
import random

from lamina_cli import CliTest, blob_rows, linear_rows, main, read_safetensors


def noisy_rows(count=240, seed=5):
    """group, x1, x2, color, y: numbers with noise, a text column that matters."""
    rng = random.Random(seed)
    rows = [["group", "x1", "x2", "color", "y"]]
    for i in range(count):
        a, b, color = rng.uniform(-3, 3), rng.uniform(-3, 3), rng.choice(("red", "blue"))
        rows.append([i // 4, f"{a:.5f}", f"{b:.5f}", color, f"{10 * a + (20 if color == 'red' else 0) + rng.gauss(0, 3):.4f}"])
    return rows


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


class FoldsTest(CliTest):
    def test_every_row_is_answered_once_and_the_model_is_of_all(self):
        self.write("x.csv", blob_rows(150, ("no", "yes", "maybe")))
        result = self.train_json("--data", "x.csv", "--folds", "5", "--epochs", "10", "--out-of-fold", "oof.csv", "--model", "m",
                                 "--metrics", "accuracy,auc")
        found = result["cross_validation"]
        rows = table(self.read("oof.csv"))
        self.assertEqual([row["row"] for row in rows], [str(i) for i in range(150)])
        self.assertEqual({row["fold"] for row in rows}, set("12345"))
        right = sum(row["answer"] == row["predicted"] for row in rows) / 150
        accuracy, auc = found["metrics"]
        self.assertAlmostEqual(accuracy["value"], right)
        self.assertAlmostEqual(accuracy["mean"], right, places=6)  # folds of 30 rows each
        self.assertLess(accuracy["low"], right + 1e-9)
        self.assertEqual(auc["name"], "auc")
        self.assertIn("5 folds: accuracy ", self.succeed("model", "show", "m").out)
        self.assertEqual(result["train_rows"], 150)
        self.assertEqual(result["validation_rows"], 0)
        metadata, _ = read_safetensors(self.read("m", "rb"))
        self.assertEqual(len(json.loads(metadata["lamina"])["training"]["cross_validation"]["folds"]), 5)
        again = self.train_json("--data", "x.csv", "--folds", "5", "--epochs", "10", "--metrics", "accuracy,auc")
        self.assertEqual(again["cross_validation"], found)
        text = self.succeed("train", "x.csv", "--folds", "3", "--epochs", "3").out
        for part in ("fold 3/3: ", "mean ± spread", "all out-of-fold answers"):
            self.assertIn(part, text)

    def test_groups_stay_together_and_are_no_input(self):
        self.write("x.csv", noisy_rows())
        result = self.train_json("--data", "x.csv", "--folds", "4", "--group", "group", "--epochs", "5", "--out-of-fold", "oof.csv",
                                 "--model", "m")
        self.assertEqual(result["inputs"], 4)  # x1, x2 and two colors
        folds = {}
        for row, answer in zip(noisy_rows()[1:], table(self.read("oof.csv"))):
            folds.setdefault(row[0], set()).add(answer["fold"])
        self.assertTrue(all(len(found) == 1 for found in folds.values()))
        alone = self.train_json("--data", "x.csv", "--folds", "4", "--fold", "2", "--group", "group", "--epochs", "5")
        self.assertEqual(alone["test_rows"], 60)

    def test_methods_without_epochs_have_folds(self):
        self.write("x.csv", blob_rows(90))
        result = self.train_json("--data", "x.csv", "--folds", "3", "--method", "knn", "--model", "m")
        self.assertGreater(result["cross_validation"]["metrics"][0]["mean"], 0.9)
        self.assertEqual(self.succeed("predict", "m", "x.csv").out.count("\n"), 91)

    def test_bad_input(self):
        self.write("two.csv", "x,y\n1,a\n2,b\n")
        self.write("x.csv", noisy_rows(40))
        self.write("rare.csv", blob_rows(40) + [["1", "1", "rare"]])
        self.write("constant.csv", "x,y\n" + "".join(f"{i}.5,3\n" for i in range(30)))
        self.refuse("train", "two.csv", "--folds", "5", code=2, says=("--folds 5", "there are 2 rows"))
        self.refuse("train", "x.csv", "--folds", "1", code=2, says="--folds")
        self.refuse("train", "x.csv", "--folds", "11", "--group", "group", code=2, says=("--folds 11", "'group' has 10 groups"))
        self.refuse("train", "x.csv", "--folds", "5", "--split", "0.6,0.2,0.2", code=2, says=("--split", "every row once"))
        self.refuse("train", "x.csv", "--fold", "2", code=2, says="--folds")
        self.refuse("train", "x.csv", "--folds", "3", "--fold", "4", code=2, says="--fold")
        self.refuse("train", "x.csv", "--out-of-fold", "o.csv", code=2, says="--folds")
        self.refuse("train", "x.csv", "--folds", "4", "--fold", "2", "--out-of-fold", "o.csv", code=2, says=("--out-of-fold", "--fold"))
        for loss in ((), ("--loss", "mse")):
            self.refuse("train", "x.csv", *loss, "--quantiles", "0.1,0.9", code=2, says=("--quantiles", "--loss quantile"))
        self.refuse("train", "rare.csv", "--quantiles", "0.1,0.9", code=2, says=("--quantiles", "--loss quantile"))
        self.refuse("train", "rare.csv", "--loss", "quantile", "--quantiles", "0.1,0.9", code=2, says=("quantile", "classes"))
        self.refuse("train", "x.csv", "--target", "y", "--derive", "w=weekday:x1", code=2, says=("--derive", "x1", "dates"))
        self.refuse("train", "x.csv", "--folds", "3", "--group", "nobody", says="nobody")
        self.refuse("train", "x.csv", "--folds", "3", "--metrics", "auc", code=2, says=("auc", "classes"))
        self.refuse("train", "x.csv", "--monitor", "rnse", code=2, says="rmse")
        self.refuse("train", "x.csv", "--calibrate", code=2, says="--calibrate")
        self.refuse("train", "x.csv", "--intervals", "0.99", code=2, says=("--intervals 0.99", "99 validation rows"))
        self.refuse("train", "x.csv", "--intervals", "1", code=2, says="--intervals")
        self.refuse("search", "x.csv", "--folds", "3", "--vary", "batch=16,32", "--epochs", "2", says="--folds")
        self.refuse("train", "none.csv", "--folds", "3", code=1, says="none.csv")
        text = self.succeed("train", "rare.csv", "--folds", "3", "--epochs", "3").out
        self.assertIn("class 'rare' has 1 row, fewer than the 3 folds", text)
        text = self.succeed("train", "constant.csv", "--folds", "3", "--epochs", "3", "--task", "regression").out
        self.assertIn("undefined: fold 1: the true values are all equal", text)


class JudgeTest(CliTest):
    def test_pinball_is_of_each_answers_own_quantile(self):
        self.write("x.csv", noisy_rows())
        run = ["--data", "x.csv", "--drop", "group", "--epochs", "8", "--loss", "quantile", "--quantiles", "0.1,0.5,0.9"]
        result = self.train_json(*run, "--metrics", "all", "--model", "m")
        measured = {metric["target"]: metric["value"] for metric in result["test"]["metrics"] if metric["name"] == "pinball"}
        self.assertEqual(measured, {target["name"]: target["pinball"] for target in result["test"]["targets"]})
        self.assertEqual(list(measured), ["y q0.1", "y q0.5", "y q0.9"])
        of_one = json.loads(self.succeed("evaluate", "m", "x.csv", "--metrics", "pinball:0.9", "--json", "-").out)
        self.assertEqual([(metric["target"], metric["value"]) for metric in of_one["metrics"]],
                         [(target["name"], target["pinball"]) for target in of_one["targets"][2:]])
        self.refuse("evaluate", "m", "x.csv", "--metrics", "pinball:0.75", code=2, says=("--metrics", "0.75", "0.1, 0.5, 0.9"))
        self.refuse("train", *run, "--monitor", "pinball:0.75", code=2, says=("--monitor", "0.1, 0.5, 0.9"))
        watched = {}
        for monitor in ("pinball", "pinball:0.9", "pinball:0.5"):
            history = self.train_json(*run, "--monitor", monitor, "--keep", "last")["history"]
            watched[monitor] = [epoch["monitored"] for epoch in history["epochs"]]
        self.assertEqual(len({tuple(values) for values in watched.values()}), 3)
        folds = self.train_json(*run, "--folds", "3", "--metrics", "pinball")["cross_validation"]["metrics"]
        self.assertEqual([metric["target"] for metric in folds], list(measured))

    def test_metrics_and_intervals_of_a_model(self):
        self.write("x.csv", noisy_rows())
        self.write("new.csv", noisy_rows(400, seed=8))
        result = self.train_json("--data", "x.csv", "--drop", "group", "--epochs", "150", "--intervals", "0.9", "--metrics", "all", "--model", "m")
        self.assertEqual([metric["name"] for metric in result["test"]["metrics"]], ["rmse", "mse", "mae", "mape", "r2", "pinball"])
        found = json.loads(self.succeed("evaluate", "m", "new.csv", "--metrics", "mae,r2", "--json", "-").out)
        self.assertAlmostEqual(found["metrics"][0]["value"], found["mae"])
        self.assertLess(found["metrics"][0]["low"], found["mae"])
        self.assertGreater(found["metrics"][0]["high"], found["mae"])
        rows = table(self.succeed("predict", "m", "new.csv", "--intervals").out)
        inside = sum(float(row["y_lower"]) <= float(new[-1]) <= float(row["y_upper"]) for row, new in zip(rows, noisy_rows(400, seed=8)[1:]))
        self.assertAlmostEqual(inside / 400, found["coverage"][0])
        self.assertGreater(inside / 400, 0.8)
        self.train("--data", "x.csv", "--epochs", "2", "--model", "plain")
        self.refuse("predict", "plain", "new.csv", "--intervals", code=2, says=("no intervals", "--intervals 0.9"))
        self.refuse("evaluate", "m", "new.csv", "--metrics", "rms", code=2, says="rmse")

    def test_a_metric_of_one_class_says_why(self):
        self.write("x.csv", blob_rows(120))
        self.write("one.csv", [row for row in blob_rows(60) if row[2] != "no"])
        self.train("--data", "x.csv", "--epochs", "5", "--model", "m")
        text = self.succeed("evaluate", "m", "one.csv", "--metrics", "all").out
        self.assertIn("undefined: all rows have the same class", text)

    def test_calibration_is_in_the_weights(self):
        self.write("x.csv", blob_rows(300))
        flags = ("--data", "x.csv", "--epochs", "40", "--seed", "3")
        result = self.train_json(*flags, "--calibrate", "--model", "m")
        self.train(*flags, "--model", "plain")
        temperature = result["calibration"]["temperature"]
        self.assertLessEqual(result["calibration"]["log_loss"], result["calibration"]["log_loss_before"] + 1e-9)
        plain = table(self.succeed("predict", "plain", "x.csv", "--probabilities").out)
        scaled = table(self.succeed("predict", "m", "x.csv", "--probabilities").out)
        for before, after in zip(plain, scaled):
            self.assertEqual(before["answer"], after["answer"])
            weights = [float(before[name]) ** (1 / temperature) for name in ("p_no", "p_yes")]
            self.assertAlmostEqual(float(after["p_no"]), weights[0] / sum(weights), places=4)

    def test_smoothed_labels_bring_a_temperature(self):
        self.write("x.csv", blob_rows(300))
        flags = ("--data", "x.csv", "--recipe", "tabular", "--hidden", "8", "--epochs", "10", "--seed", "3", "--overwrite")
        asked = self.train_json(*flags, "--calibrate", "--model", "asked")["calibration"]
        self.assertEqual(self.train_json(*flags, "--model", "m")["calibration"], asked)
        self.assertLess(asked["log_loss"], asked["log_loss_before"])
        self.assertNotIn("calibrated on", self.succeed("train", *flags, "--model", "m").out)
        self.assertIn("calibrated: temperature", self.succeed("model", "show", "m").out)
        for without in (("--label-smoothing", "0"), ("--split", "0.8,0,0.2"), ("--recipe", "plain")):
            self.assertIsNone(self.train_json(*flags, *without, "--model", "m")["calibration"], without)

    def test_compare(self):
        self.write("x.csv", noisy_rows())
        self.write("new.csv", noisy_rows(300, seed=9))
        self.train("--data", "x.csv", "--drop", "group", "--epochs", "150", "--model", "good")
        self.train("--data", "x.csv", "--drop", "group", "--epochs", "1", "--model", "bad")
        found = json.loads(self.succeed("compare", "bad", "good", "new.csv", "--metrics", "rmse", "--json", "-").out)
        self.assertEqual(found["rows"], 300)
        self.assertLess(found["metrics"][0]["high"], 0)
        self.assertLess(found["metrics"][0]["p_value"], 0.01)
        for model in ("good", "bad"):
            self.succeed("predict", model, "new.csv", "--out", f"{model}.csv")
        files = json.loads(self.succeed("compare", "bad.csv", "good.csv", "new.csv", "--metrics", "rmse", "--json", "-").out)
        self.assertAlmostEqual(files["metrics"][0]["difference"], found["metrics"][0]["difference"], places=4)
        mixed = self.succeed("compare", "bad.csv", "good", "new.csv").out
        self.assertIn("B is better", mixed)
        self.refuse("compare", "good.csv", "bad.csv", "x.csv", says=("300 predictions for 240 rows",))
        self.refuse("compare", "good", "none.safetensors", "new.csv", says="none.safetensors")
        self.refuse("compare", "good", "bad", code=2, says="--data")
        self.write("c.csv", blob_rows(60))
        self.train("--data", "c.csv", "--epochs", "2", "--model", "classes")
        self.refuse("compare", "good", "classes", "new.csv", says="")

    def test_explain(self):
        self.write("x.csv", noisy_rows())
        self.train("--data", "x.csv", "--drop", "group", "--epochs", "150", "--model", "m")
        found = json.loads(self.succeed("explain", "m", "x.csv", "--rows", "0,7", "--dependence", "x1,color", "--out", "i.csv", "--json", "-").out)
        order = [column["column"] for column in found["importance"]["columns"]]
        self.assertEqual(order[2], "x2")
        self.assertEqual([row["column"] for row in table(self.read("i.csv"))], order)
        points = found["dependence"][0]["points"]
        slope = (points[-1]["answers"]["y"] - points[0]["answers"]["y"]) / (points[-1]["value"] - points[0]["value"])
        self.assertAlmostEqual(slope, 10, delta=1.5)
        colors = {point["value"]: point["answers"]["y"] for point in found["dependence"][1]["points"]}
        self.assertAlmostEqual(colors["red"] - colors["blue"], 20, delta=4)
        answers = self.succeed("predict", "m", "x.csv").out.split()[1:]
        for row in found["explanations"]:
            self.assertAlmostEqual(row["base"] + sum(share["share"] for share in row["shares"]), row["answer"], places=3)
            self.assertAlmostEqual(row["answer"], float(answers[row["row"]]), places=3)
        text = self.succeed("explain", "m", "x.csv", "--rows", "3", "--plot", "p", "--report", "r").out
        self.assertIn("row 3 (counted from 0)", text)
        for name in ("p/importance.csv", "p/dependence-1.csv", "p/row-1.csv", "r/report.html"):
            self.assertIn(name, self.snapshot())
        self.refuse("explain", "m", "x.csv", "--rows", "240", code=2, says=("240", "0 to 239"))
        self.refuse("explain", "m", "x.csv", "--dependence", "x3", code=2, says="x3")
        self.refuse("explain", "m", "x.csv", "--metric", "auc", code=2, says="auc")
        self.write("one.csv", noisy_rows(1))
        self.refuse("explain", "m", "one.csv", says="two rows")
        self.assertNotIn("learned_weight", self.read("i.csv"))
        self.succeed("train", "x.csv", "--drop", "group", "--method", "rfm", "--model", "k")
        columns = json.loads(self.succeed("explain", "k", "x.csv", "--out", "i.csv", "--json", "-").out)["importance"]["columns"]
        weights = {column["column"]: column["learned_weight"] for column in columns}
        self.assertEqual(max(weights.values()), 1)
        self.assertLess(weights["x2"], 0.5)  # which is noise
        self.assertEqual([row["column"] for row in table(self.read("i.csv"))], list(weights))
        for row in table(self.read("i.csv")):
            self.assertAlmostEqual(float(row["learned_weight"]), weights[row["column"]])
        text = self.succeed("explain", "k", "x.csv", "--report", "r").out
        self.assertIn("and its learned weight in distances", text)
        self.assertRegex(text, r"x1 .*  (1|0\.\d+)\n")

    def test_drift(self):
        self.write("x.csv", noisy_rows())
        self.write("same.csv", noisy_rows(240, seed=77))
        moved = noisy_rows(240, seed=78)
        for row in moved[1:]:
            row[1] = str(float(row[1]) + 4)
            row[3] = "green" if row[3] == "red" else row[3]
        self.write("moved.csv", [row[:-1] for row in moved])  # needs no target
        self.train("--data", "x.csv", "--drop", "group", "--epochs", "2", "--model", "m")
        same = json.loads(self.succeed("drift", "m", "same.csv", "--json", "-").out)
        self.assertEqual((same["drifted"], same["shifted"]), (0, 0))
        found = json.loads(self.succeed("drift", "m", "moved.csv", "--json", "-").out)
        columns = {column["column"]: column for column in found["columns"]}
        self.assertEqual(columns["x1"]["verdict"], "drifted")
        self.assertGreater(columns["x1"]["outside"], 0.4)
        self.assertEqual(columns["color"]["verdict"], "drifted")
        self.assertAlmostEqual(columns["color"]["unseen"], sum(row[3] == "green" for row in moved[1:]) / 240)
        self.assertEqual(columns["x2"]["verdict"], "same")
        self.assertIn("2 of 3 columns drifted", self.succeed("drift", "m", "moved.csv").out)
        self.refuse("drift", "m", "none.csv", says="none.csv")
        header, *rows = noisy_rows(20, seed=79)
        at = {name: header.index(name) for name in ("x1", "color")}
        self.write("text.csv", [header, *(row[:at["x1"]] + ["tall"] + row[at["x1"] + 1:] for row in rows)])
        found = json.loads(self.succeed("drift", "m", "text.csv", "--json", "-").out)
        self.assertEqual({column["column"]: column["missing"] for column in found["columns"]}["x1"], 1)
        self.refuse("drift", "m", "text.csv", "--strict", says=("text.csv:2", "column 'x1'", "not a number", "'tall'"))
        self.write("numbers.csv", [header, *(row[:at["color"]] + ["7"] + row[at["color"] + 1:] for row in rows)])
        found = json.loads(self.succeed("drift", "m", "numbers.csv", "--json", "-").out)
        self.assertAlmostEqual({column["column"]: column["unseen"] for column in found["columns"]}["color"], 1)


if __name__ == "__main__":
    main()
