"""What the machine may be: locales, a clock that is set while a run goes on, far more threads than cores."""

import os
import shutil
import subprocess
import unittest

from lamina_cli import DIGITS, CliTest, blob_rows, main

FAKETIME = next((path for path in ("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
                                   "/usr/lib/faketime/libfaketimeMT.so.1") if os.path.exists(path)), None)


class LocaleTest(CliTest):
    recipe = None

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("locales"))
        for name in ("de_DE", "tr_TR"):
            made = shutil.which("localedef") and subprocess.run(
                ["localedef", "-i", name, "-f", "UTF-8", self.path(f"locales/{name}.UTF-8")], capture_output=True, check=False)
            if not made or made.returncode != 0:
                self.skipTest("locales: localedef or its sources (package locales) are not installed")
        rows = blob_rows(120, classes=("İyi", "IŞIK"))
        self.write("d.csv", [["ID", *rows[0]]] + [[1000 + i, *row] for i, row in enumerate(rows[1:])])

    def outputs(self, locale):
        """Every file that training, predicting and their pictures leave, and what they say."""
        environment = {**os.environ, "LAMINA_TUNE": "off", "LOCPATH": self.path("locales"), "LC_ALL": locale}
        said = [self.succeed("train", "d.csv", "--learning-rate", "0.015", "--epochs", "3", "--model", "m.st", "--history", "h.csv",
                             "--quiet", "--plot", "plots", "--overwrite", env=environment).out]
        config = self.succeed("train", "d.csv", "--learning-rate", "0.015", "--print-config", env=environment).out
        self.write("c.toml", config)
        said += [config, self.succeed("predict", "m.st", "d.csv", "--probabilities", env=environment).out,
                 self.succeed("model", "show", "m.st", env=environment).out,
                 self.succeed("train", "--config", "c.toml", "--quiet", "--epochs", "1", env=environment).out]
        files = {name: content for name, content in self.snapshot().items() if not name.startswith("locales") and name != "h.csv"}
        return said, files

    def test_outputs_are_those_of_every_locale(self):
        said, files = self.outputs("C")
        self.assertIn("not used: ID", said[3])
        for locale in ("de_DE.UTF-8", "tr_TR.UTF-8"):
            with self.subTest(locale=locale):
                here_said, here_files = self.outputs(locale)
                self.assertEqual(here_said, said)
                self.assertEqual({name for name, content in files.items() if here_files[name] != content}, set())


@unittest.skipUnless(FAKETIME, "clock: libfaketime is not installed (apt-get install libfaketime)")
class ClockTest(CliTest):
    """The clock of the system, which somebody sets, leaves durations alone: those are of the monotonic clock."""

    def run_while_set(self, *arguments):
        """Runs it; the clock is set to another time with each line that it prints."""
        self.write("when", "+0")
        environment = {**os.environ, "LAMINA_TUNE": "off", "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": self.path("when"),
                       "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        process = self.start(*arguments, env=environment)
        lines = []
        for line in process.stdout:
            lines.append(line)
            self.write("when.new", ("-3650d", "+3650d", "-1d", "+400d")[len(lines) % 4])
            os.replace(self.path("when.new"), self.path("when"))
        error = process.stderr.read()
        self.assertEqual((process.wait(), error), (0, ""), "".join(lines) + error)
        return "".join(lines)

    def test_no_limit_of_time_is_over_and_no_run_goes_wrong(self):
        command = ["search", DIGITS, "--vary", "learning-rate=0.01,0.02,0.03,0.04", "--epochs", "2", "--time-limit", "10h", "--seed", "3"]
        text = self.run_while_set(*command, "--csv", "jumped.csv")
        self.assertRegex(text, r"\n5 trials in [\d.]+ m?s;")
        self.succeed(*command, "--csv", "plain.csv")

        def without_times(name):
            return [line.split(",")[:-2] for line in self.read(name).splitlines()]

        self.assertEqual(without_times("jumped.csv"), without_times("plain.csv"))

    def test_a_run_set_back_goes_on_to_the_same_network(self):
        command = ["train", DIGITS, "--epochs", "6", "--hidden", "16", "--threads", "1", "--overwrite", "--checkpoint", "c",
                   "--checkpoint-epochs", "1", "--model", "m.st"]
        self.run_while_set(*command)
        jumped = self.read("m.st", "rb")
        self.succeed(*command)
        self.assertEqual(self.read("m.st", "rb"), jumped)


class ManyThreadsTest(CliTest):
    """64 threads on whatever cores there are: the answer of 64 threads, and no waiting for each other."""

    def test_every_backend_with_64_threads(self):
        for backend in ("cpu", "threads", "blas"):
            with self.subTest(backend=backend):
                result = self.run_program("train", DIGITS, "--backend", backend, "--threads", "64", "--samples", "300", "--epochs", "2",
                                          "--hidden", "32", env={**os.environ, "LAMINA_TUNE": "off", "OMP_NUM_THREADS": "64"})
                if backend == "blas" and "not available" in result.err:
                    continue
                self.assertEqual((result.code, result.err), (0, ""), str(result))

    def test_the_numbers_of_threads_in_the_environment_change_no_answer(self):
        command = ["train", "--quiet", DIGITS, "--threads", "64", "--epochs", "2", "--hidden", "32", "--model", "m.st", "--overwrite"]
        found = set()
        for threads in ("1", "64"):
            self.succeed(*command, env={**os.environ, "LAMINA_TUNE": "off", "OMP_NUM_THREADS": threads})
            found.add(self.read("m.st", "rb"))
        self.assertEqual(len(found), 1)


if __name__ == "__main__":
    main()
