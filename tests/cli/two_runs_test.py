"""Two runs that write the same model or checkpoint: the second is refused and told who writes it."""

import os
import signal
import unittest

from lamina_cli import DIGITS, WINDOWS, CliTest, main

LONG = ("train", "--data", DIGITS, "--hidden", "64", "--epochs", "100000", "--patience", "0", "--threads", "1", "--overwrite")


class TwoRunsTest(CliTest):
    def start_and_wait(self, *arguments):
        process = self.start(*LONG, *arguments)
        for line in process.stdout:
            if line.startswith("epoch 1/"):
                return process
        self.fail(f"it ended: {process.stderr.read()}")

    def test_the_second_run_says_who_holds_the_file(self):
        first = self.start_and_wait("--model", "m.safetensors", "--checkpoint", "kept")
        for arguments in (("--model", "m.safetensors"), ("--model", "n.safetensors", "--checkpoint", "kept"),
                          ("--model", "./m.safetensors", "--checkpoint", "other")):
            with self.subTest(arguments=arguments):
                result = self.run_program(*LONG, *arguments)
                self.assertEqual(result.code, 1, result)
                self.assertIn("another run writes this file", result.err)
                self.assertRegex(result.err, rf"process {r'[0-9]+' if WINDOWS else first.pid} on ")
        if WINDOWS:
            return  # which has no SIGINT
        first.send_signal(signal.SIGINT)
        self.finish(first)
        self.assertEqual(os.listdir(self.folder), ["kept"])

    def test_what_a_killed_run_held_is_free(self):
        first = self.start_and_wait("--model", "m.safetensors")
        first.kill()
        first.wait()
        self.succeed("train", "--quiet", "--data", DIGITS, "--epochs", "1", "--model", "m.safetensors")
        self.assertEqual(os.listdir(self.folder), ["m.safetensors"])


if __name__ == "__main__":
    main()
