"""Man pages and completions made from --help, and the folder that carries its libraries."""

import json
import os
import re
import shutil
import subprocess
import unittest

from lamina_cli import DIGITS, PROGRAM, SOURCE, TIME_LIMIT_SECONDS, CliTest, main

COMMAND = re.compile(r"(?m)^  ([a-z][a-z0-9-]+)  +[A-Z]")
FLAG = re.compile(r"(?m)^  (?:-\w,)?(--[a-z0-9-]+)")
CARRIED = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "QT_QPA_PLATFORM": "offscreen"}


def part(help_text, title):
    return help_text.split(f"\n{title}:\n", 1)[1].split("\n\n", 1)[0] if f"\n{title}:\n" in help_text else ""


class HelpFilesTest(CliTest):
    def setUp(self):
        super().setUp()
        subprocess.run([os.path.join(SOURCE, "scripts", "help_files"), self.folder, PROGRAM], check=True)

    def commands(self, *path):
        """Every command below `path` with its help."""
        text = self.succeed(*path, "--help").out
        yield path, text
        for name in COMMAND.findall(part(text, "Subcommands")):
            yield from self.commands(*path, name)

    def complete(self, *words):
        """What bash offers for the last word."""
        script = ('source bash/lamina; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lamina; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", *words], cwd=self.folder, capture_output=True, text=True,
                              check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_values_are_completed(self):
        self.assertEqual(self.complete("lamina", "train", "--recipe", ""), ["auto", "plain", "tabular", "mixed"])
        self.assertEqual(self.complete("lamina", "train", "--recipe", "=", "t"), ["tabular"])
        self.assertEqual(self.complete("lamina", "search", "--metric", "lo"), ["loss"])
        self.assertIn("cpu", self.complete("lamina", "predict", "--backend", "c") or self.complete("lamina", "train", "--backend", "c"))
        fish = self.read("fish/lamina.fish")
        self.assertIn("-l recipe -x -a 'auto plain tabular mixed'", fish)
        if shutil.which("fish"):
            subprocess.run(["fish", "--no-execute", self.path("fish/lamina.fish")], check=True)

    def test_every_command_and_flag_is_completed_and_has_a_page(self):
        seen = 0
        for path, text in self.commands():
            seen += 1
            children = COMMAND.findall(part(text, "Subcommands"))
            if children:
                self.assertEqual(self.complete("lamina", *path, ""), children)
            flags = set(FLAG.findall(text.split("\nExamples:\n")[0]))
            self.assertIn("--help", flags)
            offered = set(self.complete("lamina", *path, "-"))
            self.assertLessEqual(flags, offered, path)
            page = self.read(os.path.join("man", "man1", "-".join(("lamina", *path)) + ".1"))
            zsh = self.read(os.path.join("zsh", "_lamina"))
            for flag in flags:
                self.assertIn(flag.replace("-", "\\-"), page, path)
                self.assertIn(f"'{flag}:", zsh, path)
        self.assertGreaterEqual(seen, 15)
        self.assertEqual(self.complete("lamina", "tra"), ["train"])
        self.assertIn("--learning-rate", self.complete("lamina", "train", "--data", "x.csv", "--learn"))
        self.assertEqual(self.complete("lamina", "train", "x"), [])

    def test_pages_and_scripts_are_well_formed(self):
        for shell, file in (("bash", "bash/lamina"), ("zsh", "zsh/_lamina")):
            if shutil.which(shell):
                subprocess.run([shell, "-n", self.path(file)], check=True)
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        pages = [os.path.join(folder, name) for folder, _, names in os.walk(self.path("man")) for name in names]
        for page in pages:
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-K", "utf8", page], capture_output=True, text=True,
                                  check=True)
            self.assertEqual(done.stderr, "", page)


@unittest.skipIf("LAMINA_TEST_SLOWNESS" in os.environ, "a package of a build with sanitizers is of no use")
@unittest.skipUnless(shutil.which("dpkg-query"), "needs a Debian system")
class PackageTest(CliTest):
    def test_the_packed_folder_runs_anywhere(self):
        subprocess.run([os.path.join(SOURCE, "scripts", "package"), "tar", "--folder", "--build", os.path.dirname(PROGRAM),
                        "--out", self.path("out")], check=True, stdout=subprocess.DEVNULL, timeout=4 * TIME_LIMIT_SECONDS,
                       env={**os.environ, "LAMINA_SKIP_SETUP": "1"})
        (name,) = os.listdir(self.path("out"))
        home = self.path("elsewhere with a space")
        shutil.move(os.path.join(self.path("out"), name), home)
        lamina = os.path.join(home, "bin", "lamina")

        def run(*command):
            return subprocess.run(command, env=CARRIED, cwd=self.folder, capture_output=True, text=True, check=True,
                                  timeout=TIME_LIMIT_SECONDS).stdout

        # Nothing but the C and C++ runtimes may come from the system.
        programs = [os.path.join(home, "bin", file) for file in os.listdir(os.path.join(home, "bin")) if "." not in file]
        for program in programs:
            self.assertTrue(run(program, "--version").startswith(os.path.basename(program)))
            foreign = [line for line in run("ldd", program).splitlines()
                       if " => /" in line and home not in line and not re.search(r"/lib(c|m|stdc\+\+|gcc_s)\.so", line)]
            self.assertEqual(foreign, [])
        run(lamina, "train", "--data", DIGITS, "--epochs", "2", "--model", "m.safetensors", "--threads", "1")
        self.assertIn("accuracy", run(lamina, "evaluate", "--data", DIGITS, "--model", "m.safetensors"))
        licences = os.listdir(os.path.join(home, "share", "doc", "lamina", "licences"))
        self.assertIn("README.txt", licences)
        carried = os.listdir(os.path.join(home, "lib", "lamina"))
        if "BLAS     on" in run(lamina, "--version"):  # opened at run time: ldd does not see it
            self.assertTrue(any(file.startswith("libopenblas") for file in carried), carried)
        with open(os.path.join(home, "share", "doc", "lamina", "sbom.cdx.json"), encoding="utf-8") as file:
            parts = json.load(file)
        self.assertEqual((parts["bomFormat"], parts["metadata"]["component"]["name"]), ("CycloneDX", "lamina"))
        listed = {item["value"] for part in parts["components"] for item in part["properties"] if item["name"] == "lamina:carried"}
        self.assertEqual(listed, set(carried) - {"plugins"})
        if any("libQt6Core" in file for file in carried):
            self.assertTrue(any("qt6" in file for file in licences))
            self.assertIn("DejaVuSans.ttf", os.listdir(os.path.join(home, "share", "lamina", "fonts")))


if __name__ == "__main__":
    main()
