"""lamina data encode, and training on what it wrote: the same models, in little memory, and what cannot be used."""

import json
import os
import random
import resource
import signal
import time

from lamina_cli import DIGITS, PROGRAM, CliTest, main

NETWORK = ("--hidden", "16", "--epochs", "2", "--batch", "64", "--threads", "2")


class EncodeTest(CliTest):
    def write_table(self, rows, columns=40):
        """A class that a straight line mostly tells, numbers, and a column of text.

        Written row by row, since the memory of this process counts as the program's, too.
        """
        chance = random.Random(5)
        with open(self.path("t.csv"), "w", encoding="utf-8") as file:
            print(*(f"x{j}" for j in range(columns)), "color", "label", sep=",", file=file)
            for _ in range(rows):
                values = [chance.random() for _ in range(columns)]
                print(*(f"{value:.4f}" for value in values), chance.choice(["red", "green", "blue"]),
                      "high" if sum(values[:4]) > 2 else "low", sep=",", file=file)

    def answers(self, model, data):
        self.succeed("predict", model, "--data", data, "--out", "answers.csv")
        text = self.read("answers.csv")
        os.remove(self.path("answers.csv"))
        return text

    def encode(self, *arguments):
        return json.loads(self.succeed("data", "encode", "--recipe", "plain", *arguments, "--json", "-").out)

    def test_the_same_model_as_of_the_data_themselves(self):
        self.train("--data", DIGITS, *NETWORK, "--model", "plain.safetensors")
        facts = self.encode(DIGITS, "--output", "digits.encoded")
        self.assertEqual((facts["train_rows"], facts["validation_rows"], facts["test_rows"]), (1078, 360, 359))
        self.train("digits.encoded", *NETWORK, "--model", "encoded.safetensors")
        self.assertEqual(self.answers("plain.safetensors", DIGITS), self.answers("encoded.safetensors", DIGITS))
        accuracies = [json.loads(self.succeed("evaluate", name, "--data", DIGITS, "--json", "-").out)["accuracy"]
                      for name in ("plain.safetensors", "encoded.safetensors")]
        self.assertEqual(*accuracies)
        again = self.encode(DIGITS, "--output", "digits.encoded")  # in its place
        self.assertEqual(again["train_rows"], 1078)
        self.assertEqual(sorted(os.listdir(self.folder)), ["digits.encoded", "encoded.safetensors", "plain.safetensors"])

    def test_the_recipe_of_the_data(self):
        """What nobody says is as of the data themselves; a network of one's own takes the rows as they are scaled."""
        self.recipe = None
        quick = ("--samples", "200")
        self.write_table(300, columns=3)
        self.succeed("data", "encode", "t.csv", *quick, "--output", "e")
        own = self.train_json("t.csv", *quick, "--method", "backpropagation")
        self.assertEqual(own["settings"]["recipe"], "tabular")
        self.assertEqual(self.train_json("e")["train_loss"], own["train_loss"])
        own = self.train_json("t.csv", *quick, *NETWORK)
        self.assertEqual(own["settings"]["recipe"], "tabular")
        self.assertEqual(self.train_json("e", *NETWORK)["train_loss"], own["train_loss"])
        self.encode("t.csv", *quick, "--output", "e")
        self.assertEqual(self.train_json("e")["settings"]["recipe"], "plain")
        self.refuse("train", "e", "--recipe", "tabular", code=2, says=("scale the data otherwise", "--recipe tabular"))

    def test_rows_pass_through_little_memory(self):
        self.write_table(120000)
        plain = self.train_json("t.csv", *NETWORK)
        encoding = self.encode("t.csv", "--output", "e", "--memory", "100M")
        limited = self.train_json("e", *NETWORK, "--memory", "80M")
        self.assertLess(encoding["peak_memory_bytes"], 100e6)
        self.assertLess(limited["peak_memory_bytes"], 80e6)
        self.assertGreater(plain["peak_memory_bytes"], limited["peak_memory_bytes"])
        self.assertGreater(limited["accuracy"], plain["accuracy"] - 0.02)
        others = self.train_json("e", *NETWORK[:-1], "1", "--memory", "80M")
        self.assertEqual(limited["history"]["epochs"][-1]["train_loss"], others["history"]["epochs"][-1]["train_loss"])

    def test_resumes_to_the_same_bits(self):
        self.write_table(30000)
        self.encode("t.csv", "--output", "e")
        memory = ("--memory", "71M")
        self.train("e", *NETWORK, "--epochs", "3", *memory, "--model", "whole.safetensors")
        process = self.start("train", "e", *NETWORK, "--epochs", "3", *memory, "--model", "m.safetensors", "--checkpoint-epochs", "1")
        while not os.path.exists(self.path("m.safetensors.checkpoint")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.finish(process)
        if not os.path.exists(self.path("m.safetensors")):
            self.train("--resume", "m.safetensors.checkpoint", "--checkpoint-epochs", "0")
        self.assertEqual(self.answers("whole.safetensors", "t.csv"), self.answers("m.safetensors", "t.csv"))

    def test_refusals(self):
        self.refuse("data", "encode", "nope.csv", "--output", "x", says="nope.csv: cannot open")
        self.assertFalse(os.path.exists(self.path("x")))
        self.write_table(2000)
        self.encode("t.csv", "--output", "e")
        self.refuse("train", "e", *NETWORK, "--memory", "10M", code=2, says=("too little", "Give --memory"))
        self.refuse("train", "t.csv", *NETWORK, "--memory", "100M", code=2, says=("encoded data", "lamina data encode"))
        self.write("broken.csv", "a,b\n1\n")
        for folds in ((), ("--folds", "2")):  # said before anything is read
            self.refuse("train", "broken.csv", *NETWORK, *folds, "--memory", "100M", code=2,
                        says=("encoded data", "lamina data encode"))
        self.refuse("train", "e", *NETWORK, "--memory", "much", code=2, says="600M")
        self.refuse("train", "e", "--scale", "minmax", code=2, says=("--scale", "encoded with"))
        self.refuse("train", "e", "--method", "elm", code=2, says="methods that take steps")
        self.refuse("evaluate", "x.safetensors", "--data", "e", code=1)
        self.refuse("search", "e", "--vary", "hidden=4,8", code=1, says="lamina train alone")
        self.refuse("data", "encode", "t.csv", "--output", "t.csv", code=1, says="something else")
        self.refuse("data", "encode", "nothing.csv", "--output", "f", code=1, says="nothing.csv")
        with open(self.path("e/train_inputs.npy"), "r+b") as file:
            file.seek(5000)
            file.write(b"\xff")
        self.refuse("train", "e", *NETWORK, code=1, says=("train_inputs.npy", "damaged", "lamina data encode"))
        self.encode("t.csv", "--output", "e")
        self.write_table(2001)
        self.refuse("train", "e", *NETWORK, code=1, says=("t.csv", "has changed"))

    def names(self):
        """Every file and folder of the folder, while a run may write some and remove some."""
        return [name for _, folders, files in os.walk(self.folder) for name in (*folders, *files)]

    def test_a_full_disk_and_an_interrupt_leave_nothing(self):
        self.write_table(20000)
        before = self.snapshot()
        result = self.run_program("data", "encode", "t.csv", "--output", "e",
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("File too large", result.err)
        self.assertEqual(self.snapshot(), before)
        for seen in (1, 2, 3):  # of the files that are being written
            process = self.start("data", "encode", "t.csv", "--output", "e", "--memory", "1M")
            while len(self.names()) < len(before) + seen and process.poll() is None:
                time.sleep(0.001)
            process.send_signal(signal.SIGINT)
            result = self.finish(process)
            if result.code == 0:
                break
            self.assertIn(result.code, (130, -signal.SIGINT), str(result))
            self.assertEqual(self.snapshot(), before, seen)

    def test_an_interrupt_ends_the_reading(self):
        """Encodes a source without end: a pipe that is fed for as long as anybody reads."""
        os.mkfifo(self.path("pipe.csv"))
        process = self.start("data", "encode", "pipe.csv", "--output", "e")
        with self.assertRaises(BrokenPipeError), open(self.path("pipe.csv"), "wb", buffering=0) as pipe:
            for block in range(1 << 15):
                if block == 100:
                    process.send_signal(signal.SIGINT)
                pipe.write(b"1,2.5,3\n" * 1000)
        result = self.finish(process)
        self.assertEqual(result.code, 130, str(result))
        self.assertEqual(self.names(), ["pipe.csv"])

    def test_numpy_reads_the_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is missing")
        self.encode(DIGITS, "--output", "e")
        inputs = numpy.load(self.path("e/train_inputs.npy"), mmap_mode="r")
        labels = numpy.load(self.path("e/train_labels.npy"))
        self.assertEqual((inputs.shape[0], inputs.dtype, labels.shape), (1078, numpy.float32, (1078, 1)))
        self.assertTrue(PROGRAM)


if __name__ == "__main__":
    main()
