"""lamina --help, --version and wrong usage."""

import json
import re
import unittest

from lamina_cli import CliTest, main

COMMANDS = ["devices", "train", "evaluate", "predict", "layer", "data", "bench"]


class HelpTest(CliTest):
    def test_program_help_lists_every_command_with_examples_and_exit_codes(self):
        for flag in ("--help", "-h"):
            text = self.succeed(flag).out
            for command in COMMANDS:
                self.assertRegex(text, rf"(?m)^  {command}  +[A-Z]")
            self.assertIn("Examples:", text)
            self.assertIn("Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted", text)

    def test_every_command_has_help_with_an_example(self):
        for command in (["devices"], ["train"], ["evaluate"], ["predict"], ["layer"], ["data", "fetch"], ["data", "show"],
                        ["bench", "train"]):
            with self.subTest(command=command):
                text = self.succeed(*command, "--help").out
                self.assertIn("--help", text)
                self.assertIn("--json", text)
                self.assertRegex(text, "Examples?:")
                self.assertIn("lamina " + " ".join(command), text)
        for command in ("data", "bench"):
            self.assertIn("train" if command == "bench" else "fetch", self.succeed(command, "--help").out)

    def test_train_help_is_grouped_and_complete(self):
        text = self.succeed("train", "--help").out
        places = [text.index(f"\n{group}:\n") for group in ("Data", "Network", "Training", "Machine and files")]
        self.assertEqual(places, sorted(places))
        config = self.succeed("train", "--print-config").out
        names = [line.lstrip("# ").split(" =")[0] for line in config.splitlines() if " =" in line]
        self.assertGreater(len(names), 50)
        for name in names:
            self.assertIn(f"--{name}", text)
        for name in ("--config", "--resume", "--print-config", "--quiet", "--json"):
            self.assertIn(name, text)

    def test_the_short_help_is_a_screen_of_what_people_use(self):
        for command in ("train", "search"):
            short, whole = self.succeed(command, "-h").out, self.succeed(command, "--help").out
            self.assertLessEqual(len(short.splitlines()), 30, short)
            self.assertLessEqual(max(map(len, short.splitlines())), 115, short)
            flags = re.findall(r"(?m)^  (--[a-z-]+)", short)
            self.assertLessEqual(len(flags), 16)
            for flag in flags:
                self.assertRegex(whole, rf"(?m)^  {flag}\b")
            for flag in ("--target", "--model", "--recipe"):
                self.assertIn(flag, flags)
            self.assertIn(f"lamina {command} --help shows all ", short)
            self.assertGreater(whole.index("\nSeveral computers:"), whole.index("--config"))

    def test_no_colours_where_nobody_sees_them(self):
        self.assertNotIn("\033", self.succeed("train", "--help").out)
        self.assertNotIn("\033", self.refuse("train", "no.csv").err)

    def test_every_choice_of_a_backend_names_all_backends(self):
        backends = [row["name"] for row in json.loads(self.succeed("devices", "--json", "-").out)["backends"]]
        self.assertIn("cuda", backends)
        for command in (["train"], ["search"], ["evaluate"], ["predict"], ["layer"], ["bench", "layer"],
                        ["bench", "paper-2017"]):
            with self.subTest(command=command):
                text = self.succeed(*command, "--help").out
                (described,) = re.findall(r"(?m)^  --backend (.*(?:\n {10}.*)*)", text)
                for name in ["auto", *backends]:
                    self.assertRegex(described, rf"\b{name}\b")

    def test_version_shows_the_build_options(self):
        text = self.succeed("--version").out
        self.assertRegex(text.splitlines()[0], r"^lamina \d+\.\d+\.\d+$")
        self.assertIn("BLAS", text)

    def test_help_needs_no_writable_folder_and_no_data(self):
        self.assertEqual(self.snapshot(), {})


class UsageTest(CliTest):
    def test_no_command(self):
        self.assertEqual(self.succeed().out, self.succeed("--help").out)
        self.refuse("data", code=2, says="lamina data --help")
        self.refuse("bench", code=2, says="lamina bench --help")

    def test_unknown_command_offers_the_nearest(self):
        self.refuse("trian", code=2, says="'train'")
        self.refuse("evaluat", code=2, says="'evaluate'")
        self.refuse("data", "fetsh", code=2, says="'fetch'")
        self.refuse("bench", "trai", code=2, says="'train'")

    def test_unknown_flag_offers_the_nearest(self):
        for command, wrong, right in (("train", "--epoch", "--epochs"), ("train", "--learning_rate", "--learning-rate"),
                                      ("train", "--hiden=3", "--hidden"), ("devices", "--jsn", "--json")):
            with self.subTest(flag=wrong):
                self.refuse(command, wrong, *([] if "=" in wrong else ["3"]), code=2, says=(wrong.split("=")[0], f"'{right}'"))
        self.refuse("evaluate", "--model", "m", "--data", "d", "--thread", "1", code=2, says="'--threads'")
        self.refuse("predict", "--model", "m", "--data", "d", "--probability", code=2, says="'--probabilities'")
        self.refuse("data", "show", "x.csv", "--heade", "yes", code=2, says="'--header'")
        self.refuse("bench", "train", "--nets", "2-1", code=2, says="'--net'")

    def test_unknown_flag_without_a_command(self):
        for words, says in ((("--versoin",), ("unknown flag: '--versoin'", "'--version'")), (("data", "--hlep"), ("unknown flag: '--hlep'", "'--help'"))):
            self.refuse(*words, code=2, says=says)

    def test_surplus_word(self):
        self.refuse("devices", "now", code=2, says="now")
        self.refuse("train", "data.csv", "--data", "x.csv", "--epochs", "3", "more", says="more")
        self.refuse("export", "m", "more", "-o", "x", "--onnx", code=2, says="more")

    def test_missing_value_and_missing_required_flag(self):
        self.refuse("train", "--data", code=2, says="--data")
        self.refuse("train", code=2, says="--data FILE")
        self.refuse("evaluate", "--data", "x", code=2, says="--model")
        self.refuse("predict", "--model", "x", code=2, says="--data")
        self.refuse("data", "show", code=2, says="--data")
        self.refuse("data", "fetch", code=2, says="name")

    def test_wrong_choice_lists_the_choices(self):
        for flag, wrong, right in (("--activation", "rellu", "relu"), ("--loss", "msee", "mse"),
                                   ("--optimizer", "adm", "adam"), ("--schedule", "cosin", "cosine"),
                                   ("--init", "he_unifrm", "he_uniform"), ("--backend", "gpuu", "cpu"),
                                   ("--dtype", "f31", "f32"), ("--task", "classify", "classification"),
                                   ("--scale", "standard", "standardize"), ("--missing", "mena", "mean"),
                                   ("--unseen", "eror", "error"), ("--encode", "one-hot", "onehot"),
                                   ("--header", "ja", "yes"), ("--separator", "coma", "comma"),
                                   ("--keep", "bst", "best"), ("--output-activation", "softmx", "softmax"),
                                   ("--target-scale", "non", "none")):
            with self.subTest(flag=flag):
                self.refuse("train", "--data", "x.csv", flag, wrong, code=2, says=(f"'{wrong}'", right))
        self.refuse("train", "--data", "x.csv", "--layers", "dot-tanh256", code=2, says="dot-tanh256")
        self.refuse("evaluate", "--model", "m", "--data", "d", "--backend", "gpuu", code=(1, 2))

    def test_json_and_predictions_cannot_share_standard_output(self):
        self.refuse("predict", "--model", "m", "--data", "d", "--json", "-", code=2, says="--out FILE")


if __name__ == "__main__":
    main()
