"""Runs killed at random moments, and workers that share a search: tests/faults does it with as many as one likes."""

import os
import subprocess
import sys
import unittest

from lamina_cli import PROGRAM, SOURCE, CliTest, main


class KillTest(CliTest):
    def test_a_few_kills(self):
        script = os.path.join(SOURCE, "tests", "faults", "kill_runs.py")
        commands = ("train", "search", "layer", "worker")
        result = subprocess.run([sys.executable, "-B", script, PROGRAM, *commands, "--kills", "12"], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertEqual(result.stdout.count("killed while they ran"), len(commands), result.stdout)

    def test_workers_that_come_and_go(self):
        script = os.path.join(SOURCE, "tests", "faults", "search_workers.py")
        result = subprocess.run([sys.executable, "-B", script, PROGRAM, "--starts", "48"], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertIn("48 workers in ", result.stdout)


if __name__ == "__main__":
    main()
