"""--effort as a newcomer meets it: what is refused and how, what is written, and what Ctrl-C leaves."""

import json
import math
import os
import random
import signal

from lamina_cli import DIGITS, CliTest, main


def table(rows):
    draw = random.Random(7)
    lines = ["a,b,kind"]
    for i in range(rows):
        a, b = draw.gauss(i % 3, 0.7), draw.gauss(-(i % 2), 0.7)
        lines.append(f"{'' if i % 9 == 0 else round(a, 3)},{b:.3f},k{i % 3}")
    return "\n".join(lines) + "\n"


class EffortTest(CliTest):
    recipe = None

    def setUp(self):
        super().setUp()
        self.write("x.csv", table(80))

    def test_quick_is_recipe_plain_with_one_cycle(self):
        cycle = {"schedule": "one_cycle", "learning-rate": 0.005, "epochs": 400, "patience": 0, "weight-decay": 0.001}
        by_hand = [word for name, value in cycle.items() for word in (f"--{name}", value)]
        models = []
        for flags in (("--effort", "quick"), ("--recipe", "plain", "--method", "backpropagation", *by_hand)):
            self.succeed("train", "x.csv", *flags, "--model", "m")
            told, tensors = self.without_effort(self.read("m", "rb"))
            for name in cycle:
                told["training"]["settings"].pop(name)
            models.append((told, tensors))
        self.assertEqual(*models)

    def without_effort(self, model):
        """What a safetensors file tells but for that setting and the checksum, and its tensors."""
        end = 8 + int.from_bytes(model[:8], "little")
        told = json.loads(json.loads(model[8:end])["__metadata__"]["lamina"])
        self.assertIn(told["training"]["settings"].pop("effort"), ("quick", "normal"))
        return told, model[end:]

    def test_remedies_of_quick_are_not_refused_beside_it(self):
        draw = random.Random(3)
        self.write("y.csv", "x,c,y\n" + "".join(f"{x},{c},{math.sin(12 * x) + (c == 'a')}\n" for x, c in ((draw.random(), draw.choice("abc")) for _ in range(1200))))
        said = self.succeed("train", "y.csv", "--effort", "quick").out
        self.assertIn("train longer, with --effort normal", said)
        self.assertNotIn("--epochs", said)

    def test_best_is_a_model_like_others(self):
        best = ("train", "x.csv", "--effort", "best", "--time-limit", "1s", "--test", "x.csv")
        result = json.loads(self.succeed(*best, "--model", "m", "--out-of-fold", "o.csv", "--json", "-").out)
        self.assertAlmostEqual(sum(part["share"] for part in result["cross_validation"]["portfolio"]), 1)
        self.assertIn("test", result)
        self.assertEqual(len(self.read("o.csv").splitlines()), 81)
        self.succeed("predict", "m", "x.csv", "--out", "p.csv", "--probabilities")
        rows = [line.split(",") for line in self.read("p.csv").splitlines()[1:]]
        self.assertEqual(len(rows), 80)
        for row in rows:
            self.assertAlmostEqual(sum(map(float, row[1:])), 1, places=4)
        self.succeed("export", "m", "--onnx", "--out", "m.onnx")
        self.succeed("export", "m", "--c", "made", "--out", ".")
        said = self.succeed(*best).out
        for words in ("effort best", "plain network: loss", "answer: ", "these rows also chose the models", "\ntest: "):
            self.assertIn(words, said)

    def test_what_it_refuses(self):
        for said, *arguments in (("--hidden is decided by --effort", "--effort", "best", "--hidden", 8),
                                 ("--folds is decided by --effort", "--effort", "best", "--folds", 3),
                                 ("--split is decided by --effort", "--effort", "best", "--split", "0.8,0,0.2"),
                                 ("--recipe is decided by --effort", "--effort", "quick", "--recipe", "tabular"),
                                 ("is for --effort best", "--time-limit", "5s"),
                                 ("length of time", "--effort", "best", "--time-limit", "1e999s"),
                                 ("Did you mean", "--effort", "bset"),
                                 ("no such column", "--effort", "best", "--target", "kid")):
            self.assertIn(said, self.refuse("train", "x.csv", "--model", "m", *arguments).err)
        self.assertIn("--effort", self.refuse("search", "x.csv", "--effort", "best").err)
        self.write("empty.csv", "")
        self.refuse("train", "empty.csv", "--effort", "best", "--model", "m")
        self.write("few.csv", "a,b\n1,2\n2,3\n")
        self.refuse("train", "few.csv", "--effort", "best", "--model", "m")
        self.assertFalse(os.path.exists(self.path("m")))

    def test_ctrl_c_keeps_the_best_so_far(self):
        process = self.start("train", DIGITS, "--effort", "best", "--model", "m", "--threads", 1)
        self.assertTrue(any(line.startswith("1/") for line in iter(process.stdout.readline, "")))
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("the best of the models so far are kept", result.err)
        self.assertGreater(json.loads(self.succeed("evaluate", "m", DIGITS, "--json", "-").out)["accuracy"], 0.9)
        self.assertNoPartFiles()


if __name__ == "__main__":
    main()
