"""scripts/release: what it refuses, what it sets and writes, and that the same commit gives the same bits."""

import hashlib
import os
import re
import shutil
import subprocess
import unittest

from lamina_cli import SOURCE, TIME_LIMIT_SECONDS, CliTest, main

WHO = {**os.environ, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@localhost", "GIT_COMMITTER_NAME": "a",
       "GIT_COMMITTER_EMAIL": "a@localhost", "GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000",
       "LAMINA_SKIP_SETUP": "1"}
FILES = ("CMakeLists.txt", "CITATION.cff", "CHANGELOG.md", "packaging", "scripts")


@unittest.skipUnless(shutil.which("git"), "needs git")
class ReleaseTest(CliTest):
    def setUp(self):
        """A repository of what a release of sources reads."""
        super().setUp()
        self.copy = self.path("copy")
        os.makedirs(self.copy)
        for name in FILES:
            place = os.path.join(SOURCE, name)
            (shutil.copytree if os.path.isdir(place) else shutil.copy)(place, os.path.join(self.copy, name))
        with open(os.path.join(self.copy, ".gitignore"), "w", encoding="utf-8") as file:
            file.write("build/\nout/\n__pycache__/\n")
        self.git("init", "-q")
        self.commit()
        self.before = re.search(r"project\(lamina VERSION (\S+)", self.text("CMakeLists.txt"))[1]
        major, minor, _ = self.before.split(".")
        self.next = f"{major}.{int(minor) + 1}.0"

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.copy, env=WHO, capture_output=True, text=True, check=True).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")

    def text(self, name):
        with open(os.path.join(self.copy, name), encoding="utf-8") as file:
            return file.read()

    def release(self, *words):
        environment = {name: value for name, value in WHO.items() if not name.startswith("LAMINA_BUILD")}
        return subprocess.run([os.path.join(self.copy, "scripts", "release"), *words], cwd=self.copy, env=environment,
                              capture_output=True, text=True, check=False, timeout=TIME_LIMIT_SECONDS)

    def refused(self, said, *words):
        done = self.release(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(said, done.stderr)

    def test_refuses(self):
        self.refused("a number such as 0.2.0")
        self.refused("a number such as 0.2.0", "2")
        self.refused("unknown argument wheels", self.next, "wheels")
        self.refused(f"does not come after {self.before}", self.before)
        self.refused("does not come after", "0.0.1")
        self.refused("add the part source", self.next, "tar", "--url", "https://localhost")
        self.git("tag", f"v{self.next}")
        self.refused("is there already", self.next)
        self.git("tag", "-d", f"v{self.next}")
        os.makedirs(os.path.join(self.copy, "out", "full", "thing"))
        self.refused("is not empty", self.next, "--out", "out/full")
        with open(os.path.join(self.copy, "CHANGELOG.md"), "w", encoding="utf-8") as file:
            file.write("# Changelog\n\n## [Unreleased]\n\n## [0.0.1] - 2020-01-01\n\n- x\n")
        self.refused("not committed", self.next)
        self.commit()
        self.refused("what is new?", self.next, "source")

    def test_releases_the_sources(self):
        done = self.release(self.next, "source", "--out", "out/one", "--url", "https://localhost/files/", "--tag")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"project(lamina VERSION {self.before}", self.text("CMakeLists.txt"))  # the work tree stays as it is
        tagged = self.git("show", f"v{self.next}:CMakeLists.txt")
        self.assertIn(f"project(lamina VERSION {self.next}", tagged)
        self.assertIn(f"version: {self.next}\n", self.git("show", f"v{self.next}:CITATION.cff"))
        self.assertIn(f"## [Unreleased]\n\n## [{self.next}] - 2023-11-14\n", self.git("show", f"v{self.next}:CHANGELOG.md"))
        folder = os.path.join(self.copy, "out", "one")
        name = f"lamina-{self.next}.tar.gz"
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=True)
        self.assertIn("had the same bits", self.text("out/one/RELEASE.md"))
        with open(os.path.join(folder, name), "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        recipes = [os.path.join(place, file) for place, _, files in os.walk(os.path.join(folder, "recipes")) for file in files]
        self.assertEqual(len(recipes), 3)
        for recipe in recipes:
            text = self.text(os.path.relpath(recipe, self.copy))
            self.assertNotRegex(text, r"@[A-Z0-9_]+@")
            self.assertIn(digest, text)
            self.assertIn("https://localhost/files/lamina-", text)
        self.git("tag", "-d", f"v{self.next}")
        self.assertEqual(self.release(self.next, "source", "--out", "out/two", "--url", "https://localhost/files/").returncode, 0)
        self.assertEqual(self.text("out/one/SHA256SUMS"), self.text("out/two/SHA256SUMS"))
        self.assertEqual(self.git("tag"), "")


if __name__ == "__main__":
    main()
