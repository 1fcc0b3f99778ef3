"""lamina distill and --soft-target as a newcomer meets them: what they make, and what they refuse."""

import json
import os
import random
import signal
import time

from lamina_cli import CliTest, main

QUICK = ("--hidden", "16", "--epochs", "40", "--recipe", "plain", "--learning-rate", "0.02")


def table(rows, seed=7):
    draw = random.Random(seed)
    lines = ["a,b,colour,kind"]
    for _ in range(rows):
        a, b, colour = draw.gauss(0, 1), draw.gauss(0, 1), draw.choice(["red", "blue"])
        kind = "yes" if a + b + (colour == "red") > 0.4 else "no"
        lines.append(f"{a:.3f},{b:.3f},{colour},{kind}")
    return "\n".join(lines) + "\n"


class DistillTest(CliTest):
    recipe = None

    def setUp(self):
        super().setUp()
        self.write("x.csv", table(150))
        self.write("new.csv", table(200, seed=8))
        self.succeed("train", "x.csv", *QUICK, "--folds", "3", "--bag", "--model", "many")

    def outputs(self, model):
        self.succeed("predict", model, "new.csv", "--probabilities", "--out", "p.csv")
        return [float(line.split(",")[-1]) for line in self.read("p.csv").splitlines()[1:]]

    def test_one_network_answers_as_many(self):
        told = json.loads(self.succeed("distill", "many", "x.csv", "--out", "one", "--hidden", "32", "--epochs", "40",
                                       "--json", "-").out)
        self.assertEqual((told["command"], told["rows"], told["made_up_rows"], told["networks"]), ("distill", 150, 600, 3))
        self.assertGreater(told["agreement"], 0.9)
        shown = json.loads(self.succeed("model", "show", "one", "--json", "-").out)
        self.assertEqual(shown["networks"], 1)
        apart = [abs(a - b) for a, b in zip(self.outputs("many"), self.outputs("one"))]
        self.assertLess(sum(apart) / len(apart), 0.06)
        said = self.succeed("distill", "many", "x.csv", "-o", "one", "--hidden", "8", "--epochs", "2", "--made-up", "50").out
        for words in ("150 rows of x.csv and 50 rows made up", "teacher: ", "distilled network: ", "gives the teacher's class in", "wrote one"):
            self.assertIn(words, said)
        self.succeed("export", "one", "--onnx", "--out", "one.onnx")
        self.succeed("export", "one", "--c", "made", "--out", ".")

    def test_rows_need_no_target(self):
        self.write("bare.csv", "\n".join(line.rsplit(",", 1)[0] for line in table(60).splitlines()) + "\n")
        self.succeed("distill", "many", "bare.csv", "--out", "one", "--hidden", "8", "--epochs", "2")
        self.assertEqual(len(self.outputs("one")), 200)

    def test_what_it_refuses(self):
        self.write("few.csv", table(3))
        self.write("empty.csv", "")
        self.write("other.csv", "c,d\n1,2\n3,4\n")
        for said, *arguments in (("--out", "many", "x.csv"), ("many", "many", "x.csv", "--out", "many"),
                                 ("lacking", "lacking", "x.csv", "--out", "one"), ("x.csv", "x.csv", "x.csv", "--out", "one"),
                                 ("few.csv", "many", "few.csv", "--out", "one"), ("empty.csv", "many", "empty.csv", "--out", "one"),
                                 ("other.csv", "many", "other.csv", "--out", "one"),
                                 ("--epochs", "many", "x.csv", "--out", "one", "--epochs", "0"),
                                 ("--made-up", "many", "x.csv", "--out", "one", "--made-up", "-3"),
                                 ("hidden layer", "many", "x.csv", "--out", "one", "--hidden", "8,0")):
            with self.subTest(arguments=arguments):
                result = self.run_program("distill", *arguments)
                self.assertNotEqual(result.code, 0)
                self.assertIn(said, result.err)
                self.assertFalse(os.path.exists(self.path("one")))

    def test_ctrl_c_writes_nothing(self):
        process = self.start("distill", "many", "x.csv", "--out", "one", "--epochs", "1000000", "--made-up", "20000")
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.code, 130, str(result))
        self.assertIn("nothing is written", result.err)
        self.assertFalse(os.path.exists(self.path("one")))
        self.assertNoPartFiles()


class SoftTargetTest(CliTest):
    recipe = None

    def rows(self, spoil=None):
        lines = [line.split(",") for line in table(80).splitlines()]
        for i, line in enumerate(lines):
            yes = 0.9 if line[3] == "yes" else 0.2
            line[3:3] = ["p_yes", "p_no"] if i == 0 else [f"{yes:g}", f"{1 - yes:g}"]
        if spoil is not None:
            lines[40][3] = spoil
        return "\n".join(map(",".join, lines)) + "\n"

    def test_answers_come_near_to_the_teachers(self):
        self.write("x.csv", self.rows())
        told = self.train_json("--data", "x.csv", "--soft-target", "p_yes,p_no", *QUICK, "--split", "1,0,0", "--model", "m")
        self.assertEqual(told["inputs"], 4, "the teacher's columns are no inputs")
        self.succeed("predict", "m", "x.csv", "--probabilities", "--out", "p.csv")
        sure = [float(line.split(",")[-1]) for line in self.read("p.csv").splitlines()[1:]]
        self.assertLess(max(sure), 0.99)
        self.assertGreater(min(sure), 0.05)

    def test_what_it_refuses(self):
        self.write("x.csv", self.rows())
        for said, columns in (("no column of class 'no'", "p_yes"), ("belongs to no class", "p_yes,p_no,a"), ("p_maybe", "p_yes,p_maybe"),
                              ("holds text", "p_yes,colour"), ("two columns", "p_yes,p_no,p_no")):
            self.assertIn(said, self.refuse("train", "x.csv", "--soft-target", columns, "--model", "m").err)
        for said, value in (("sum to", "0.7"), ("below 0", "-0.5"), ("missing soft target", ""), ("missing soft target", "nan")):
            self.write("bad.csv", self.rows(spoil=value))
            result = self.run_program("train", "bad.csv", "--soft-target", "p_yes,p_no", "--model", "m", "--split", "1,0,0")
            self.assertNotEqual(result.code, 0)
            self.assertIn(said, result.err)
            self.assertIn("bad.csv", result.err)
        for said, *flags in (("--effort", "--effort", "best"), ("--method rfm", "--method", "rfm")):
            self.assertIn(said, self.refuse("train", "x.csv", "--soft-target", "p_yes,p_no", "--model", "m", *flags).err)
        self.assertFalse(os.path.exists(self.path("m")))


if __name__ == "__main__":
    main()
