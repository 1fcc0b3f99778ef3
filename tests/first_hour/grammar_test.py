"""M16, M17, L1, L2: the words of the program."""

import unittest

from lamina_cli import CliTest, blob_rows, linear_rows, main

QUICK = ("--epochs", "3", "--hidden", "4")


class GrammarTest(CliTest):
    def model(self):
        self.write("t.csv", blob_rows(80))
        self.train("--data", "t.csv", "--model", "m.safetensors", *QUICK)

    def test_help_is_there(self):
        """M17"""
        bare, word, flag = (self.succeed(*words).out for words in ((), ("help",), ("--help",)))
        self.assertEqual(bare, flag)
        self.assertEqual(word, flag)
        self.assertEqual(self.succeed("help", "train").out, self.succeed("train", "--help").out)

    def test_files_need_no_flags(self):
        """M17"""
        self.model()
        self.succeed("train", "t.csv", *QUICK)
        self.succeed("train", "--hidden", "4", "--target", "answer", "t.csv", "--epochs", "2")
        self.succeed("data", "show", "--data", "t.csv")
        self.succeed("search", "t.csv", "--vary", "learning-rate=0.1,0.01", "--epochs", "2")
        self.succeed("export", "--model", "m.safetensors", "--onnx", "-o", "m.onnx")
        plain = self.succeed("predict", "m.safetensors", "t.csv").out
        self.assertEqual(plain, self.succeed("predict", "t.csv", "--model", "m.safetensors").out)
        self.assertEqual(plain, self.succeed("predict", "--model", "m.safetensors", "--data", "t.csv").out)
        self.succeed("evaluate", "m.safetensors", "t.csv")
        self.refuse("predict", "m.safetensors", code=2, says=("--data",))
        self.refuse("predict", code=2, says=("--model",))
        self.refuse("predict", "m.safetensors", "t.csv", "x.csv", code=2, says=("x.csv",))

    def test_standard_input_and_kept_columns(self):
        """M16"""
        self.write("t.csv", [["id"] + row if i == 0 else [f"0{i}"] + row for i, row in enumerate(blob_rows(80))])
        self.train("--data", "t.csv", "--model", "m", *QUICK)
        with open(self.path("t.csv")) as file:
            piped = self.succeed("predict", "m", "--data", "-", stdin=file).out
        self.assertEqual(piped, self.succeed("predict", "m", "t.csv").out)
        lines = self.succeed("predict", "m", "t.csv", "--keep-columns", "id,a").out.splitlines()
        self.assertEqual(lines[0], "id,a,answer")
        self.assertEqual(lines[5].split(",")[:2], ["05", str(float(blob_rows(80)[5][0]))])
        self.assertEqual([line.split(",")[2] for line in lines], piped.splitlines())
        self.refuse("predict", "m", "t.csv", "--keep-columns", "ide", says=("ide", "Did you mean 'id'"))

    def test_a_model_says_what_it_expects(self):
        """M17"""
        self.model()
        out = self.succeed("model", "show", "m.safetensors").out
        for part in ("network 2-4-2", "classes: no, yes", "a ", "number", " to ", "trained on t.csv", "lamina train --data t.csv",
                     "test: accuracy"):
            self.assertIn(part, out)
        self.refuse("data", "show", "m.safetensors", says=("a lamina model", "lamina model show"))

    def test_flags_are_understood_by_meaning(self):
        """M17"""
        self.write("t.csv", blob_rows(80))
        for flag, says in (("--cv", "Cross-validation is train --folds"), ("--lr", "--learning-rate"),
                           ("--batch-size", "'--batch'"), ("--label", "'--target'")):
            error = self.refuse("train", "t.csv", flag, "0.1", code=2, says=says).err
            self.assertNotIn("'--drop'", error)
        self.refuse("train", "t.csv", "--backend", "gpu", code=2, says=("Did you mean 'cuda'?",))

    def test_figures_are_rounded_alike(self):
        """L1, L2"""
        rows = linear_rows(200)
        self.write("t.csv", [rows[0]] + [[a, b, f"{1e6 * float(y):.1f}"] for a, b, y in rows[1:]])
        out = self.succeed("train", "t.csv", "--model", "m", *QUICK).out
        self.assertRegex(out, r"RMSE \d{1,3}(,\d{3})+")
        self.assertNotIn("e+0", out)
        self.assertIn("R\u00b2", out)
        self.assertRegex(self.succeed("evaluate", "m", "t.csv").out, r"RMSE \d{1,3}(,\d{3})+")
        self.write("one.csv", blob_rows(60))
        self.assertIn("1 epoch in", self.succeed("train", "one.csv", "--epochs", "1").out)


if __name__ == "__main__":
    main()
