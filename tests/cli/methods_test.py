"""Training without epochs (--method) or from a model (--start-from), neighbors and centers: results and refusals."""

import json
import math
import os
import random
import re
import unittest

from lamina_cli import DATA, DIGITS, CliTest, blob_rows, linear_rows, main, read_npy, read_safetensors

SMALL = os.path.join(DATA, "small")


def npy(rows):
    """The bytes of a .npy matrix of f4."""
    import struct
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header = header.ljust(117) + "\n"
    values = [value for row in rows for value in row]
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}f", *values)


class MethodsTest(CliTest):
    @unittest.skipUnless(DATA, "optical digits: LAMINA_DATA is not set")
    def test_the_authors_results(self):
        files = ("--data", os.path.join(SMALL, "optdigits_train.csv"), "--test", os.path.join(SMALL, "optdigits_test.csv"),
                 "--split", "1,0,0", "--scale", "none", "--task", "classification")
        # Their features are x / 8 - 1: distances an eighth of those here.
        for flags, network, right in ((("--radius", 8 * 7.6), "64-595-10", 1755),
                                      (("--radius", 8, "--neuron", "l2-gaussian", "--overlap", 0.25), "64-1720-10", 1773)):
            for backend in (("cpu", 1), ("cpu", 2), ("serial", 1)):
                result = self.train_json(*files, "--method", "fsvc", *flags, "--backend", backend[0], "--threads", backend[1])
                self.assertEqual(result["network"], network)
                self.assertEqual(round(result["accuracy"] * 1797), right)

    def test_every_method_makes_a_model_that_answers(self):
        rows = blob_rows(240, ("no", "yes", "maybe"))
        self.write("x.csv", rows)
        self.write("new.csv", [row[:2] for row in rows[:40]])
        for method in (("fsvc",), ("fsvc", "--radius", "1", "--scale", "standardize", "--learning-rate", "0.1", "--epochs", "3"), ("sfsvc",),
                       ("elm", "--hidden", "40"), ("elm", "--hidden", "30", "--neuron", "l2-gaussian", "--ridge-c", "10"),
                       ("elm", "--hidden", "20", "--hidden-weights", "2bit"),
                       ("elm", "--hidden", "20", "--neuron", "l2-gaussian", "--centres", "k-means"), ("knn",), ("knn", "--k", "3", "--distance", "l1"),
                       ("rfm",), ("rfm", "--neuron", "l2-gaussian", "--feature-weights", "none", "--ridge", "0.1"), ("rfm", "--class-weights", "balanced"),
                       ("rfm", "--feature-weights", "full"), ("rfm", "--trees", "yes"), ("boost",), ("boost", "--tree-leaves", "2", "--tree-rate", "0.3"),
                       ("boost", "--class-weights", "balanced")):
            with self.subTest(method=method):
                result = self.train_json("--data", "x.csv", "--method", *method, "--model", "m")
                self.assertGreater(result["accuracy"], 0.85)
                self.assertEqual(self.train_json("--data", "x.csv", "--method", *method)["accuracy"], result["accuracy"])
                again = json.loads(self.succeed("evaluate", "--model", "m", "--data", "x.csv", "--json", "-").out)
                self.assertGreater(again["accuracy"], 0.85)
                answers = self.succeed("predict", "--model", "m", "--data", "new.csv").out.split()
                self.assertEqual(len(answers), 40)
                if method[0] == "knn":
                    self.refuse("export", "m", "--onnx", "--out", "m.onnx", says=("nearest neighbors", "ONNX"))
                else:
                    self.succeed("export", "m", "--onnx", "--out", "m.onnx")

    def test_a_file_of_neighbours_is_one_of_a_newer_format(self):
        self.write("x.csv", blob_rows(100))
        self.train("--data", "x.csv", "--method", "knn", "--k", "5", "--model", "m")
        metadata, tensors = read_safetensors(self.read("m", "rb"))
        description = json.loads(metadata["lamina"])
        self.assertEqual((description["format_version"], description["nearest"]), (4, 5))
        self.assertEqual(len(tensors["layer.1.weight"]), 60 * 2 * 4)
        content = self.read("m", "rb")
        for wrong in (b"0", b"-"):
            self.write("wrong", content.replace(b'\\"nearest\\":5', b'\\"nearest\\":' + wrong))
            self.refuse("evaluate", "--model", "wrong", "--data", "x.csv", code=1, says="wrong")

    def test_centres_are_rows_in_a_network_of_ordinary_layers(self):
        self.write("x.csv", blob_rows(200))
        self.train("--data", "x.csv", "--method", "fsvc", "--radius", "0.8", "--model", "m")
        first, second = self.layers_of("m")
        self.assertEqual((first["synapse"], first["activation"], first["bias"]), ("l1", "triangle(radius=0.8)", False))
        self.assertEqual((second["synapse"], second["activation"], second["bias"]), ("dot", "identity", False))
        self.assertEqual(first["outputs"], second["inputs"])

    def test_text_columns_are_encoded_as_for_training(self):
        rows = blob_rows(150)
        self.write("x.csv", [["kind", *rows[0]]] + [["abc"[i % 3], *row] for i, row in enumerate(rows[1:])])
        for method in ("fsvc", "elm", "knn", "rfm", "boost"):
            self.assertGreater(self.train_json("--data", "x.csv", "--method", method)["accuracy"], 0.8)
        self.assertEqual(self.train_json("--data", "x.csv", "--method", "knn")["inputs"], 5)

    def test_values(self):
        self.write("x.csv", linear_rows(300))
        for method in (("elm", "--hidden", "60"), ("elm", "--hidden", "500"), ("knn",), ("rfm",), ("boost",)):
            with self.subTest(method=method):
                result = self.train_json("--data", "x.csv", "--method", *method)
                self.assertGreater(result["test"]["r2"], 0.9)
        for method in ("fsvc", "sfsvc"):
            self.refuse("train", "--data", "x.csv", "--method", method, code=2, says=("needs classes", "elm, knn, rfm or boost"))

    def test_what_cannot_be(self):
        self.write("x.csv", blob_rows(100))
        self.write("one.csv", [["a", "b", "answer"]] + [[i, i, "yes"] for i in range(50)])
        for arguments, says in ((("fsvc", "--radius", "0"), ("--radius must be a positive number",)),
                                (("fsvc", "--radius", "-2"), ("--radius must be a positive number",)),
                                (("fsvc", "--radius", "nan"), ("--radius",)),
                                (("fsvc", "--overlap", "0"), ("--overlap must be",)),
                                (("sfsvc", "--overlap", "-1"), ("--overlap must be",)),
                                (("fsvc", "--radius", "1e-9"), ("every one of the first", "Try --radius")),
                                (("fsvc", "--radius", "1e9"), ("has no center", "too large", "Try --radius")),
                                (("fsvc", "--neuron", "dot-tanh"), ("needs a distance with a triangle or gaussian",)),
                                (("fsvc", "--optimizer", "sgd"), ("--optimizer has no effect with --method fsvc",)),
                                (("sfsvc", "--learning-rate", "0.1"), ("--learning-rate has no effect",)),
                                (("knn", "--k", "500"), ("500 nearest of", "Use at most --k")),
                                (("knn", "--k", "0"), ("--k must be",)),
                                (("knn", "--radius", "3"), ("--radius has no effect with --method knn",)),
                                (("elm", "--hidden", "0"), ("one hidden layer",)),
                                (("elm", "--hidden", "5,5"), ("one hidden layer",)),
                                (("elm", "--ridge-c", "0"), ("--ridge-c must be a positive number",)),
                                (("elm", "--neuron", "dot-abs", "--radius", "2"), ("abs has none",)),
                                (("elm", "--hidden", "50", "--neuron", "dot-identity", "--ridge-c", "1e300"),
                                 ("condition above", "C = 1e+300", "smaller --ridge-c")),
                                (("rfm", "--ridge", "-1"), ("--ridge must be",)),
                                (("rfm", "--neuron", "dot-tanh"), ("needs an l1 or l2 distance",)),
                                (("rfm", "--neuron", "l2-laplace(radius=3)"), ("no radius",)),
                                (("rfm", "--neuron", "l1-gaussian"), ("a power of at most 1",)),
                                (("rfm", "--feature-weights", "some"), ("--feature-weights",)),
                                (("rfm", "--feature-weights", "full", "--neuron", "l1-laplace"), ("l2 distances alone",)),
                                (("rfm", "--hidden", "5"), ("--hidden has no effect with --method rfm",)),
                                (("backpropagation", "--radius", "3"), ("--radius has no effect",)),
                                (("fsvk",), ("Did you mean 'fsvc'?",))):
            with self.subTest(arguments=arguments):
                self.refuse("train", "--data", "x.csv", "--model", "m", "--method", *arguments, code=2, says=says)
        self.refuse("train", "--data", "one.csv", "--method", "fsvc", says="class")

    def test_a_kernel_machine_says_what_it_chose(self):
        # The answer depends on the first column alone: its weight is 1, that of noise small.
        rows = [["a", "noise", "y"]]
        rows += [[f"{i % 37 / 9:.4f}", f"{i * 7919 % 101 / 25:.4f}", f"{math.sin(i % 37 / 9) * 10:.4f}"] for i in range(150)]
        self.write("x.csv", rows)
        said = self.succeed("train", "--data", "x.csv", "--method", "rfm", "--model", "m").out
        self.assertRegex(said, r"chosen among \d+ machines: l[12] distances, power [\d.]+, round [1-3] of column weights")
        self.assertRegex(said, r"each row answered by all others: mean squared error [\d.e-]+ of a scaled target")
        metadata, _ = read_safetensors(self.read("m", "rb"))
        method = json.loads(metadata["lamina"])["training"]["method"]
        self.assertEqual(method["feature_weights"][0], 1)
        self.assertLess(method["feature_weights"][1], 0.2)
        scaled, centres, answers = self.layers_of("m")
        self.assertEqual((scaled["synapse"], scaled["activation"], scaled["outputs"]), ("dot", "identity", 2))
        self.assertEqual((centres["synapse"], centres["inputs"]), (method["distance"], 2))
        self.assertRegex(centres["activation"], r"laplace\(radius=.*power=.*\)|laplace\(radius=[^,]*\)")
        self.assertEqual((answers["synapse"], answers["activation"], answers["inputs"]), ("dot", "identity", centres["outputs"]))

    def test_a_pruned_kernel_machine_is_smaller_and_says_so(self):
        rng = random.Random(5)
        rows = [["a", "b", "y"]]
        for _ in range(300):
            a, b = rng.uniform(-2, 2), rng.uniform(-2, 2)
            rows.append([f"{a:.4f}", f"{b:.4f}", f"{math.sin(2 * a) + b + rng.uniform(-1, 1):.4f}"])
        self.write("x.csv", rows)
        run = ("train", "--data", "x.csv", "--method", "rfm", "--split", "1,0,0")
        said = self.succeed(*run, "--prune", "0.05", "--model", "m").out
        self.assertRegex(said, r"pruned: \d+ of 300 neurons are left; .* changes by [+-][\d.e-]+ %")
        neurons = self.layers_of("m")[-2]["outputs"]
        self.assertLess(neurons, 100)
        metadata, _ = read_safetensors(self.read("m", "rb"))
        method = json.loads(metadata["lamina"])["training"]["method"]
        self.assertEqual((method["centres"], method["unpruned"]), (neurons, 300))
        self.assertLessEqual(method["growth"], 0.05)
        self.succeed(*run, "--model", "whole")
        errors = [json.loads(self.succeed("evaluate", "--model", m, "--data", "x.csv", "--json", "-").out)["mse"] for m in ("m", "whole")]
        self.assertLess(errors[0], 1.5 * errors[1])
        few = [rows[0], *rows[1:12]]
        self.write("few.csv", few)
        self.write("alike.csv", [["a", "b", "y"], *[[1, 2, "yes" if i % 2 else "no"] for i in range(40)]])
        alike = self.succeed("train", "--data", "alike.csv", "--method", "rfm", "--split", "1,0,0", "--prune", "0.1").out
        self.assertIn("pruned: no neuron", alike)
        self.assertIn("(50.00 %): try other inputs", alike)
        self.assertIn("pruned: no neuron", self.succeed("train", "--data", "few.csv", "--method", "rfm", "--split", "1,0,0", "--prune", "0.01").out)
        for share in ("-0.1", "1.5", "nan", "much"):
            self.refuse(*run, "--prune", share, code=2, says="--prune")
        self.refuse("train", "--data", "x.csv", "--method", "knn", "--prune", "0.1", code=2, says="--prune has no effect")

    def test_a_kernel_machine_leaves_out_groups_or_asks_earlier_rows(self):
        rng = random.Random(4)
        rows = [["machine", "day", "x", "y"]]
        for machine in range(20):  # each with a level of its own, that its rows tell one another
            level = rng.uniform(-5, 5)
            for _ in range(12):
                x = rng.uniform(-1, 1)
                rows.append([f"m{machine}", rng.randrange(60), f"{machine + x / 9:.4f}", f"{level + x:.4f}"])
        self.write("x.csv", rows)
        run = ("train", "--data", "x.csv", "--target", "y", "--method", "rfm", "--json", "-", "--model", "m")

        def method(*flags):
            result = json.loads(self.succeed(*run, *flags).out)
            metadata, _ = read_safetensors(self.read("m", "rb"))
            return result, json.loads(metadata["lamina"])["training"]["method"]

        _, alone = method("--drop", "machine")
        grouped, by_group = method("--group", "machine")
        self.assertEqual((alone["groups"], by_group["groups"], grouped["inputs"]), (0, 12, 2))  # of 20, the others validate and test
        self.assertEqual(grouped["train_rows"], 144)
        self.assertLess(alone["left_out_error"], by_group["left_out_error"] / 3)
        self.assertEqual(method("--split-by", "machine")[1]["groups"], 12)
        _, by_time = method("--split-by", "day", "--drop", "machine")
        self.assertEqual(by_time["groups"], 0)
        self.assertGreater(by_time["asked_rows"], 60)
        said = self.succeed("train", "x.csv", "--target", "y", "--group", "machine", "--recipe", "auto").out  # by itself
        self.assertIn("each of 16 groups answered by all others: mean squared error", said)
        said = self.succeed("train", "x.csv", "--target", "y", "--drop", "machine", "--split-by", "day", "--method", "rfm").out
        self.assertRegex(said, r"the latest \d+ rows, each answered by all earlier ones: mean squared error")
        self.assertEqual(method("--group", "machine", "--folds", "4")[1]["groups"], 20)  # of the model of all rows
        self.refuse("train", "x.csv", "--target", "y", "--group", "machine", "--split-by", "day", says="contradict each other")
        self.refuse("train", "x.csv", "--target", "y", "--group", "machine", "--stratify", says="contradict each other")

    def test_equal_rows_of_a_kernel_machine(self):
        # Every row three times, without a ridge: left out together, and what had to be added is said.
        rows = blob_rows(60, ("no", "yes"))
        self.write("x.csv", rows + rows[1:] + rows[1:])
        said = self.succeed("train", "--data", "x.csv", "--method", "rfm", "--ridge", "0", "--split", "1,0,0").out
        self.assertIn("180 equal rows together: accuracy", said)
        self.assertRegex(said, r"was not positive definite: 1e-\d+ was added to the ridge")

    def test_the_radius_to_try_is_one_that_works(self):
        self.write("x.csv", blob_rows(100))
        for radius in ("1e-9", "1e9"):
            command = ("train", "--data", "x.csv", "--method", "fsvc", "--radius")
            refused = self.refuse(*command, radius, code=2)
            self.succeed(*command, re.search(r"Try --radius (\S+),", refused.err)[1])

    def test_a_search_varies_them(self):
        self.write("x.csv", blob_rows(200))
        result = json.loads(self.succeed("search", "--data", "x.csv", "--method", "fsvc", "--vary", "radius=0.3..3:4",
                                         "--retrain", "--model", "m", "--json", "-").out)
        self.assertEqual([trial["trial"] for trial in sorted(result["trials"], key=lambda trial: trial["trial"])], [1, 2, 3, 4, 5])
        self.assertTrue(all(trial["state"] == "done" for trial in result["trials"]))
        self.assertEqual(self.layers_of("m")[0]["synapse"], "l1")

    def test_settings_go_through_a_file(self):
        self.write("x.csv", blob_rows(120))
        self.write("run.toml", self.succeed("train", "--data", "x.csv", "--method", "fsvc", "--radius", "0.7", "--print-config").out)
        first = self.train_json("--config", "run.toml")
        self.assertEqual(first["network"], self.train_json("--data", "x.csv", "--method", "fsvc", "--radius", "0.7")["network"])


class StartFromTest(CliTest):
    def test_fine_tuning_a_classifier_that_was_found_at_once(self):
        self.write("x.csv", blob_rows(240, ("no", "yes", "maybe")))
        self.train("--data", "x.csv", "--method", "fsvc", "--radius", "1", "--scale", "standardize", "--model", "fsvc")
        tuned = self.train_json("--data", "x.csv", "--start-from", "fsvc", "--epochs", "3", "--model", "tuned")
        self.assertGreater(tuned["accuracy"], 0.85)
        _, before = read_safetensors(self.read("fsvc", "rb"))
        _, after = read_safetensors(self.read("tuned", "rb"))
        self.assertNotEqual(before["layer.1.weight"], after["layer.1.weight"])
        self.train("--data", "x.csv", "--start-from", "fsvc", "--freeze", "layer.1", "--epochs", "2", "--model", "frozen")
        _, after = read_safetensors(self.read("frozen", "rb"))
        self.assertEqual(before["layer.1.weight"], after["layer.1.weight"])
        self.assertNotEqual(before["layer.2.weight"], after["layer.2.weight"])

    def test_a_network_goes_on_and_frozen_layers_stay(self):
        trained = self.train_json("--data", DIGITS, "--hidden", "24,16", "--epochs", "3", "--model", "m")
        _, before = read_safetensors(self.read("m", "rb"))
        start = self.train_json("--data", DIGITS, "--start-from", "m", "--epochs", "1", "--learning-rate", "1e-12")
        self.assertEqual(start["network"], "64-24-16-10")
        self.assertEqual(start["accuracy"], trained["accuracy"], "it starts as good as it was")
        start = self.train_json("--data", DIGITS, "--start-from", "m", "--epochs", "1", "--learning-rate", "1e-12", "--normalization", "batch")
        self.assertAlmostEqual(start["accuracy"], trained["accuracy"], delta=0.05, msg="by running statistics, and so nearly")
        for frozen, clip in (("layer.1", "0"), ("layer.2", "0.5"), ("layer.1,layer.3", "0"), ("layer.2,layer.3", "1")):
            self.train("--data", DIGITS, "--start-from", "m", "--freeze", frozen, "--clip-norm", clip, "--weight-decay", "0.01",
                       "--epochs", "1", "--model", "f")
            _, after = read_safetensors(self.read("f", "rb"))
            for name, bits in before.items():
                self.assertEqual(after[name] == bits, name.rsplit(".", 1)[0] in frozen.split(","), f"{frozen}: {name}")

    def test_what_cannot_be(self):
        self.write("x.csv", blob_rows(100))
        self.train("--data", "x.csv", "--hidden", "8", "--epochs", "1", "--model", "m")
        self.refuse("train", "--data", "x.csv", "--start-from", "m", "--freeze", "layer.1,layer.2", code=2, says="nothing is left")
        self.refuse("train", "--data", "x.csv", "--start-from", "m", "--freeze", "layer.7", code=2, says="layer.1 to layer.2")
        self.refuse("train", "--data", "x.csv", "--start-from", "m", "--layers", "l1-triangle:5,dot-softmax:2", code=2,
                    says="no layer of its network")
        self.refuse("train", "--data", "x.csv", "--start-from", "missing", says="missing")
        self.refuse("train", "--data", "x.csv", "--start-from", "m", "--model", "m", code=2)
        self.refuse("search", "--data", "x.csv", "--start-from", "m", code=2, says="one training")
        self.write("other.csv", [["u", "b", "answer"], *blob_rows(100)[1:]])
        lacking = self.refuse("train", "--data", "other.csv", "--start-from", "m", code=1, says="lacks 1 input column")
        self.assertNotIn("--by-position", lacking.err)  # it is none of this command's flags
        self.refuse("predict", "m", "other.csv", code=1, says="--by-position")
        self.train("--data", "x.csv", "--method", "knn", "--model", "k")
        self.refuse("train", "--data", "x.csv", "--start-from", "k", says="nearest neighbors")


class NeighboursTest(CliTest):
    def test_of_files(self):
        self.write("x.npy", npy([[0, 0], [5, 5]]))
        self.write("y.npy", npy([[4, 4], [1, 0], [0, 1], [9, 9]]))
        self.succeed("neighbours", "--x", "x.npy", "--y", "y.npy", "--k", "2", "--metric", "l1", "--out", "n.npy", "--distances",
                     "d.npy")
        self.assertEqual(read_npy(self.read("n.npy", "rb")), ("<i8", (2, 2), (1, 2, 0, 3)))
        self.assertEqual(read_npy(self.read("d.npy", "rb")), ("<f4", (2, 2), (1, 1, 2, 8)))
        self.succeed("neighbours", "--x", "x.npy", "--y", "y.npy", "--k", "1", "--metric", "dot", "--out", "n.npy")
        self.assertEqual(read_npy(self.read("n.npy", "rb"))[2], (0, 3))
        self.refuse("neighbours", "--x", "x.npy", "--y", "y.npy", "--k", "5", "--out", "n.npy", code=2, says="Ask for 1 to 4")
        self.refuse("neighbours", "--x", "x.npy", "--y", "y.npy", "--out", "x.npy", code=2)
        self.refuse("neighbours", "--x", "x.npy", "--out", "n.npy", code=2, says="no --y FILE")

    def test_centres(self):
        self.write("x.npy", npy([[i % 3 * 10 + (i % 7) / 10, i % 3] for i in range(300)]))
        for method in ("k-means", "k-medians"):
            self.succeed("centres", "--x", "x.npy", "--method", method, "--count", "3", "--out", "c.npy")
            kind, shape, values = read_npy(self.read("c.npy", "rb"))
            self.assertEqual((kind, shape), ("<f4", (3, 2)))
            self.assertEqual(sorted(round(value) for value in values[1::2]), [0, 1, 2])
        self.refuse("centres", "--x", "x.npy", "--count", "301", "--out", "c.npy", code=2, says="301 centers of 300 rows")
        self.refuse("centres", "--x", "x.npy", "--count", "0", "--out", "c.npy", code=2, says="--count must be at least 1")

    def test_centres_of_training_are_of_distances(self):
        self.write("x.csv", blob_rows(60))
        elm = ("train", "--data", "x.csv", "--method", "elm", "--centres", "k-means", "--hidden")
        self.refuse(*elm, "20", code=2, says="centers are for distances, and the first layer is dot-abs")
        self.refuse(*elm, "100", "--neuron", "l2-gaussian", code=2, says="100 centers of")
        self.refuse("train", "--data", "x.csv", "--centres", "k-means", code=2, says="centers are for distances")
        self.refuse("train", "--data", "x.csv", "--method", "knn", "--centres", "k-means", code=2, says="no effect")


if __name__ == "__main__":
    main()
