"""lamina train --config and --print-config."""

import json
import os
import unittest

from lamina_cli import DIGITS, CliTest, blob_rows, main, read_safetensors

FLAGS = ["--data", DIGITS, "--hidden", "12,10", "--activation", "leaky_relu(slope=0.02)", "--loss", "mse", "--optimizer",
         "nesterov", "--learning-rate", "0.02", "--momentum", "0.5", "--epochs", "2", "--split", "0.7,0.2,0.1", "--seed",
         "9", "--no-bias", "--class-weights", "3=2,4=0.5", "--target", "-1", "--threads", "2"]


class ConfigTest(CliTest):
    def tensors(self, name):
        return read_safetensors(self.read(name, "rb"))[1]

    def test_printed_settings_come_back_the_same(self):
        printed = self.succeed("train", *FLAGS, "--print-config").out
        self.write("run.toml", printed)
        self.assertEqual(self.succeed("train", "--config", "run.toml", "--print-config").out, printed)
        defaults = self.succeed("train", "--print-config").out
        self.write("defaults.toml", defaults)
        self.assertEqual(self.succeed("train", "--config", "defaults.toml", "--print-config").out, defaults)

    def test_same_result_by_file_as_by_flags(self):
        self.write("run.toml", self.succeed("train", *FLAGS, "--print-config").out)
        by_flags = self.train_json(*FLAGS, "--model", "a.safetensors")
        by_file = self.train_json("--config", "run.toml", "--model", "b.safetensors")
        self.assertEqual(self.tensors("a.safetensors"), self.tensors("b.safetensors"))
        for settings in (by_flags["settings"], by_file["settings"]):
            del settings["model"]
        self.assertEqual(by_flags["settings"], by_file["settings"])
        again = self.train_json("--config=run.toml", "--model=c.safetensors")
        self.assertEqual(again["train_loss"], by_file["train_loss"])

    def test_flags_win(self):
        self.write("run.toml", f'data = "{DIGITS}"\nepochs = 3\nhidden = [5, 4]\nbias = false\ntarget = "-1"\n'
                               'learning-rate = 1\nsamples = 300\n')
        result = self.train_json("--epochs", "1", "--config", "run.toml", "--hidden", "7", "--bias", "--learning-rate", "0.01")
        self.assertEqual((result["network"], len(result["history"]["epochs"])), ("64-7-10", 1))
        self.assertTrue(result["settings"]["bias"])
        self.assertEqual(result["settings"]["learning-rate"], 0.01)

    def test_lists_may_be_single_values_and_columns_numbers(self):
        self.write("blobs.csv", blob_rows(30))
        self.write("run.toml", 'data = "blobs.csv"\nepochs = 1\nhidden = 3\ntarget = 2\ndrop = ["a"]\nsplit = [1, 0, 0]\n')
        self.assertEqual(self.train_json("--config", "run.toml")["network"], "1-3-2")

    def test_unknown_setting(self):
        self.write("run.toml", '# a comment\ndata = "x.csv"\nepoch = 3\n')
        self.refuse("train", "--config", "run.toml", code=2, says=("run.toml:3:", "epoch", "'epochs'"))
        self.write("run.toml", "[training]\nepochs = 3\n")
        self.refuse("train", "--config", "run.toml", code=2, says=("run.toml:1:", "training"))

    def test_wrong_types(self):
        for line in ('epochs = "many"', "epochs = 2.5", "bias = 1", 'hidden = ["a"]', "hidden = [1.5]", "data = 1.5",
                     'learning-rate = "fast"', "seed = -1", "split = [[1]]", "momentum = true", "data = [1]"):
            with self.subTest(line=line):
                self.write("run.toml", f"\n{line}\n")
                self.refuse("train", "--config", "run.toml", code=2,
                            says=("run.toml:2:", line.split(" ")[0], "wrong type"))

    def test_broken_files(self):
        for content in ("epochs = \n", "epochs = 1\nepochs = 2\n", "epochs 3\n", '[x\n', "data = 'x\n", "\0\xff\n"):
            with self.subTest(content=content):
                self.write("run.toml", content)
                self.refuse("train", "--config", "run.toml", code=2, says="run.toml:")
        self.write("run.toml", b"data = '\xff\xfe'\n")
        self.refuse("train", "--config", "run.toml", code=2, says="run.toml:1")
        self.refuse("train", "--config", "absent.toml", says="absent.toml")
        self.refuse("train", "--config", self.folder, says=self.folder)

    def test_bytes_that_no_text_has(self):
        """The parser's own checks end the process in debug builds, and are no checks in others."""
        for content in (b"[\0", b"epochs = 3\n[\x01x]\n", b"\0", b"[[\0", b"a = [\0", b"a = {\x7f", b"# \x08\n", b"a = '\0'\n"):
            with self.subTest(content=content):
                self.write("run.toml", content)
                at = min(i for i, c in enumerate(content) if c < 9 or c == 127)
                self.refuse("train", "--config", "run.toml", code=2,
                            says=(f"run.toml:{1 + content[:at].count(10)}:", "control character"))

    def test_characters_outside_of_quotes(self):
        """Nor has TOML any of them there."""
        for content in ("epochs = 3\nepoch\u00d5 = 1\n", "\u00a0epochs = 3\n", "epochs = 3 \u0660\n", "[\u1680]\n"):
            with self.subTest(content=content):
                self.write("run.toml", content)
                self.refuse("train", "--config", "run.toml", code=2, says=("run.toml:", "beyond ASCII"))
        self.write("run.toml", f'# \u00d5\ndata = "{DIGITS}"\nmodel = \'\'\'\u00d5\'\'\'\nepochs = 1\nhistory = "\u00e4\\"\u00f6"\n')
        self.refuse("train", "--config", "run.toml", code=2, says="--model '\u00d5' --history '\u00e4\"\u00f6'")
        self.succeed("train", "--quiet", "--config", "run.toml", "--model", "\u00d5", "--history", "\u00e4\"\u00f6")
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["run.toml", "\u00d5", "\u00e4\"\u00f6"]))

    def test_values_are_checked_like_flags(self):
        self.write("run.toml", f'data = "{DIGITS}"\nlearning-rate = nan\n')
        self.refuse("train", "--config", "run.toml", code=2, says="--learning-rate")
        self.write("run.toml", f'data = "{DIGITS}"\nepochs = -3\n')
        self.refuse("train", "--config", "run.toml", code=2, says=("epochs", "-3"))
        self.write("run.toml", f'data = "{DIGITS}"\nthreads = 99999999999\n')
        self.refuse("train", "--config", "run.toml", code=2, says="99999999999")

    def test_text_is_written_so_that_it_reads_back(self):
        odd = 'a "b" \\ ü\t.csv'
        printed = self.succeed("train", "--data", odd, "--print-config").out
        self.write("run.toml", printed)
        self.assertEqual(self.succeed("train", "--config", "run.toml", "--print-config").out, printed)
        self.write(odd, blob_rows(30))
        result = self.succeed("train", "--config", "run.toml", "--epochs", "1", "--json", "-")
        self.assertEqual(json.loads(result.out)["settings"]["data"], odd)


if __name__ == "__main__":
    main()
