"""lamina bench paper-2016: its files, peers that are there and that are not, no gnuplot, bad settings, Ctrl-C."""

import csv
import os
import shutil
import signal
import time
import unittest

from lamina_cli import CliTest, main

SHORT = ("bench", "paper-2016", "--backend", "cpu", "--batch", "16", "--threads", "2", "--rounds", "1", "--seconds", "0.001")
PEERS = """#!/bin/sh
echo '{"peers": [
  {"library": "Fast", "settings": "best", "description": "Fast 1.0", "reason": "", "seconds": 2.5, "steps": 9, "accuracy": null},
  {"library": "Absent", "settings": "default", "description": "", "reason": "Absent is not installed"}]}'
"""


class BenchPaper2016Test(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {key: value for key, value in os.environ.items() if key != "LAMINA_DATA"}  # random numbers

    def script(self, name, text):
        self.write(name, text)
        os.chmod(self.path(name), 0o755)
        return self.path(name)

    def test_files_and_peers(self):
        script = self.script("peers", PEERS)
        out = self.succeed(*SHORT, "--out", "study", "--peers", "--peer-script", script, env=self.environment).out
        self.assertIn("study/report.md", out)
        self.assertIn("not measured: Absent is not installed", out)
        result = self.read_json("study/report.json")
        for network in ("net-1h", "net-2h"):
            row = result["tables"][f"{network}-seconds"]["rows"][0]
            self.assertGreater(row["cpu_seconds"], 0)
            self.assertEqual((row["fast_best_seconds"], row["absent_default_seconds"]), (2.5, "Absent is not installed"))
        self.assertNotIn("accuracy", result["tables"])  # random numbers
        self.assertNotIn("net-1h-speedup", result["tables"])  # no serial
        for name, table in result["tables"].items():
            with open(self.path(f"study/{name}.csv"), newline="") as file:
                self.assertEqual(len(list(csv.DictReader(file))), len(table["rows"]), name)
        self.assertEqual(sorted(result["figures"]), ["figure-10", "figure-7", "figure-8", "figure-9"])
        if shutil.which("gnuplot"):
            self.assertEqual(self.read("study/figure-10.png", "rb")[:4], b"\x89PNG")

    def test_a_script_that_fails_is_a_column(self):
        script = self.script("peers", "#!/bin/sh\nexit 3\n")
        environment = {**self.environment, "PATH": self.folder}  # no gnuplot either
        result = self.run_program(*SHORT, "--out", "study", "--peers", "--peer-script", script, env=environment)
        self.assertEqual((result.code, result.err), (0, ""), str(result))
        self.assertIn("apt-get install gnuplot-nox", result.out)
        self.assertIn("exit code 3", self.read("study/report.md"))
        self.assertTrue(os.path.exists(self.path("study/figure-7.gp")))

    def test_interrupt_ends_the_peers_and_writes_nothing(self):
        script = self.script("peers", f"#!/bin/sh\ntouch {self.path('started')}\nsleep 600\n")
        process = self.start(*SHORT, "--out", "study", "--peers", "--peer-script", script, env=self.environment)
        while not os.path.exists(self.path("started")) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        result = self.finish(process)
        self.assertEqual(result.code, 130, str(result))
        self.assertIn("interrupted; nothing was written", result.err)
        self.assertFalse(os.path.exists(self.path("study")))

    def test_bad_settings(self):
        self.refuse("bench", "paper-2016", code=2, says="--out")
        self.refuse(*SHORT, "--out", "study", "--backend", "cqu", code=2, says="cpu")
        self.refuse(*SHORT, "--out", "study", "--batch", "60001", code=2, says="60000")
        self.refuse(*SHORT, "--out", "study", "--peer-script", "x", code=2, says="--peers")
        self.refuse(*SHORT, "--out", "study", "--data", "absent", says="absent")
        self.write("file", "x")
        self.refuse(*SHORT, "--out", "file", says="file")
        self.refuse(*SHORT, "--out", "/proc/none", says="no files can be made in this folder")
        self.assertFalse(os.path.exists(self.path("study")))


if __name__ == "__main__":
    main()
