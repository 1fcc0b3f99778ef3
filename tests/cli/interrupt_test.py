"""Interrupted and killed training: checkpoints are whole, and going on gives the bits of a run without a break."""

import json
import os
import random
import signal
import time
import unittest

from lamina_cli import DIGITS, TIME_LIMIT_SECONDS, CliTest, main, read_safetensors

# Long enough to be met in the middle, short enough to be run often: a few milliseconds an epoch.
LONG = ["--data", DIGITS, "--hidden", "48", "--epochs", "60", "--threads", "1", "--optimizer", "adam", "--backend", "cpu"]
KILLS = 20


class InterruptTest(CliTest):
    def tensors(self, name):
        return read_safetensors(self.read(name, "rb"))[1]

    def wait_for_lines(self, process, count):
        for _ in range(count):
            self.assertTrue(process.stdout.readline())

    def interrupt(self, number, *arguments):
        process = self.start("train", *arguments)
        self.wait_for_lines(process, 6)
        process.send_signal(number)
        return self.finish(process)

    def test_interrupt_saves_and_resume_ends_with_the_same_bits(self):
        self.train(*LONG, "--epochs", "200", "--model", "whole.safetensors")
        for number in (signal.SIGINT, signal.SIGTERM):
            result = self.interrupt(number, *LONG, "--epochs", "200", "--model", "m.safetensors", "--history", "h.csv")
            self.assertEqual(result.code, 130, str(result))
            self.assertIn("go on with: lamina train --resume m.safetensors.checkpoint --history h.csv\n", result.err)
            self.assertIn("interrupted after", result.err)
            names = sorted(self.snapshot())
            self.assertEqual(names, ["h.csv", "m.safetensors.checkpoint", "whole.safetensors"])
            self.refuse("train", "--resume", "m.safetensors.checkpoint", code=2, says="--history h.csv")
            text = self.succeed("train", "--resume", "m.safetensors.checkpoint", "--history", "h.csv").out
            self.assertIn("resumed", text)
            self.assertEqual(self.tensors("m.safetensors"), self.tensors("whole.safetensors"))
            self.assertEqual(self.read("h.csv").count("\n"), 201)
            self.assertNoPartFiles()
            os.remove(self.path("m.safetensors"))

    def test_a_single_long_step_is_called_off(self):
        """Before the first update and after one, the state before the step is kept; validation is left, too."""
        rng = random.Random(3)  # many rows and few weights: a checkpoint of 100 MB takes a second by itself
        self.write("x.csv", "a,b,y\n" + "".join(f"{rng.random():.3f},{rng.random():.3f},{rng.random():.3f}\n" for _ in range(40000)))
        large = ["--data", "x.csv", "--hidden", "700,700", "--batch", "100000", "--epochs", "5", "--optimizer", "adam", "--model", "m"]
        step = self.train_json(*large, "--overwrite")["history"]["epochs"][0]["train_seconds"]
        whole = self.tensors("m")
        os.remove(self.path("m"))
        for whole_steps in (0, 1):
            process = self.start("train", *large)
            said = ("network ", "epoch 1/")[whole_steps]  # before the first one, and after it
            self.assertTrue(any(line.startswith(said) for line in iter(process.stdout.readline, "")))
            time.sleep(0.1 * step)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            result = self.finish(process)
            seconds = time.monotonic() - begin
            self.assertEqual(result.code, 130, str(result))
            self.assertIn("go on with: lamina train --resume m.checkpoint", result.err)
            state = json.loads(read_safetensors(self.read("m.checkpoint", "rb"))[0]["lamina_checkpoint"])
            self.assertLessEqual((state["epoch"], state["step"]), (whole_steps, 0))
            self.assertLess(seconds, max(0.5, 0.5 * step), f"a step takes {step} s")
            self.succeed("train", "--resume", "m.checkpoint", "--quiet")
            self.assertEqual(self.tensors("m"), whole)
            os.remove(self.path("m"))

    def test_a_named_checkpoint_and_early_stopping(self):
        command = [*LONG, "--epochs", "200", "--patience", "150", "--optimizer", "nesterov", "--schedule", "plateau",
                   "--class-weights", "balanced"]
        self.train(*command, "--model", "whole.safetensors")
        result = self.interrupt(signal.SIGINT, *command, "--model", "m.safetensors", "--checkpoint", "c.checkpoint")
        self.assertEqual(result.code, 130, str(result))
        self.assertIn("go on with: lamina train --resume c.checkpoint --model m.safetensors\n", result.err)
        self.refuse("train", "--resume=c.checkpoint", code=2, says="--model m.safetensors")
        self.succeed("train", "--resume=c.checkpoint", "--quiet", "--model", "m.safetensors")
        self.assertEqual(self.tensors("m.safetensors"), self.tensors("whole.safetensors"))
        self.assertNoPartFiles()

    def test_what_cannot_be_gone_on_with_is_named_by_its_flag(self):
        step = 0
        while step == 0:  # within an epoch
            self.interrupt(signal.SIGINT, *LONG, "--epochs", "100000", "--batch", "1", "--patience", "0", "--checkpoint", "kept",
                           "--checkpoint-epochs", "100000")
            step = json.loads(read_safetensors(self.read("kept", "rb"))[0]["lamina_checkpoint"])["step"]
        self.refuse("train", "--resume", "kept", "--batch", "8", code=1, says=("kept: ", "a step of --batch 8", "without --batch"))
        self.write("copy", self.read("kept", "rb"))
        self.refuse("train", "--resume", "copy", code=2, says="--checkpoint kept")
        self.refuse("train", "--resume", "copy", "--checkpoint", "", code=2,
                    says=("--checkpoint-epochs", "--checkpoint FILE", "--model FILE", "--checkpoint-epochs 0"))

    def test_interrupt_without_a_place_for_the_checkpoint_says_so(self):
        result = self.interrupt(signal.SIGINT, *LONG, "--epochs", "100000")
        self.assertEqual(result.code, 130, str(result))
        self.assertIn("--checkpoint FILE or --model FILE", result.err)
        self.assertEqual(self.snapshot(), {})

    def test_interrupted_with_quiet_still_says_how_to_go_on(self):
        process = self.start("train", "--quiet", *LONG, "--epochs", "1000000", "--model", "m.safetensors",
                             "--checkpoint-epochs", "1")
        self.wait_for_file("m.safetensors.checkpoint")
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual((result.code, result.out), (130, ""))
        self.assertIn("--resume", result.err)

    def wait_for_file(self, name):
        end = time.monotonic() + TIME_LIMIT_SECONDS
        while not os.path.exists(self.path(name)):
            self.assertLess(time.monotonic(), end, f"no {name}")
            time.sleep(0.001)

    def checkpoint_time(self, name):
        """When the checkpoint was written, and which file it is; nothing where there is none."""
        try:
            state = os.stat(self.path(name))
        except FileNotFoundError:
            return None
        return state.st_mtime_ns, state.st_ino

    def wait_for_checkpoints(self, process, name, count):
        """Until that many checkpoints were written, or the run is over."""
        end = time.monotonic() + TIME_LIMIT_SECONDS
        seen = self.checkpoint_time(name)
        while count > 0 and process.poll() is None:
            self.assertLess(time.monotonic(), end, f"no {name}")
            now = self.checkpoint_time(name)
            count -= now != seen
            seen = now

    def wait_for_part(self, process, name):
        """Until a checkpoint is being written: seen in most cases, for a part lives for a moment only."""
        before = self.checkpoint_time(name)
        old = self.parts_of(name)
        while not self.parts_of(name) - old and self.checkpoint_time(name) == before and process.poll() is None:
            pass
        return bool(self.parts_of(name) - old)

    def parts_of(self, name):
        return {part for part in os.listdir(self.folder) if part.startswith(name) and part.endswith(".part")}

    def test_killed_at_any_moment_the_checkpoint_is_whole(self):
        epochs = 8 * KILLS  # a run is killed after three checkpoints at most
        self.train(*LONG, "--epochs", epochs, "--model", "whole.safetensors")
        rng = random.Random(7)
        command = [*LONG, "--epochs", epochs, "--model", "m.safetensors", "--checkpoint-epochs", "1", "--quiet"]
        checkpoint = "m.safetensors.checkpoint"
        process = self.start("train", *command)
        in_write = 0
        for i in range(KILLS):
            self.wait_for_checkpoints(process, checkpoint, rng.randrange(3))
            in_write += i % 2 == 1 and self.wait_for_part(process, checkpoint)
            self.assertIsNone(process.poll(), "it ended too early to be killed")
            process.kill()
            process.wait()
            if os.path.exists(self.path(checkpoint)):
                metadata, tensors = read_safetensors(self.read(checkpoint, "rb"))
                self.assertIn("lamina_checkpoint", metadata)
                self.assertIn("layer.1.weight", tensors)
                process = self.start("train", "--resume", checkpoint, "--quiet")
            else:
                process = self.start("train", *command)
        result = self.finish(process)
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))
        print(f"{in_write} of {KILLS} kills during a write")
        self.assertNoPartFiles()  # what a killed run left, the next one removes
        self.assertEqual(self.tensors("m.safetensors"), self.tensors("whole.safetensors"))

    def test_resuming_at_the_end_changes_nothing(self):
        self.train(*LONG, "--epochs", "4", "--checkpoint-epochs", "4", "--model", "m.safetensors")
        first = self.tensors("m.safetensors")
        self.succeed("train", "--resume", "m.safetensors.checkpoint")
        self.assertEqual(self.tensors("m.safetensors"), first)
        self.train("--resume", "m.safetensors.checkpoint", "--epochs", "6")
        self.train(*LONG, "--epochs", "6", "--model", "six.safetensors")
        self.assertEqual(self.tensors("m.safetensors"), self.tensors("six.safetensors"))

    def test_resume_refuses_what_does_not_fit(self):
        self.train(*LONG, "--epochs", "2", "--checkpoint-epochs", "1", "--model", "m.safetensors")
        checkpoint = "m.safetensors.checkpoint"
        self.refuse("train", "--resume", "m.safetensors", says=("m.safetensors", "finished model"))
        self.write("start.safetensors", self.read("m.safetensors", "rb"))
        for flag, value in (("hidden", "5"), ("optimizer", "sgd"), ("seed", "5"), ("samples", "500"), ("scale", "none"),
                            ("drop", "p1"), ("encode", "ordinal"), ("missing", "drop"), ("derive", "q=log:p1"),
                            ("target", "p1"), ("class-map", "*=x"), ("init", "he_normal"), ("start-from", "start.safetensors")):
            self.refuse("train", "--resume", checkpoint, f"--{flag}", value, code=2, says=(checkpoint, f"--{flag} {value}"))
        self.refuse("train", "--resume", "absent", says="absent")
        content = self.read(checkpoint, "rb")
        for size in (0, 5, 200, len(content) // 2, len(content) - 1):
            self.write("cut", content[:size])
            self.refuse("train", "--resume", "cut", code=1, says="cut")


if __name__ == "__main__":
    main()
