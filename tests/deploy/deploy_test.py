"""docs/tasks/deploy.md: every command of the page works, from the installed component predict alone, and answers as the
program. What a section needs and this machine lacks is skipped by name.
"""

import glob
import os
import random
import re
import shlex
import shutil
import subprocess
import unittest

from lamina_cli import SOURCE, CliTest, main

BUILD, CMAKE = os.environ.get("LAMINA_BUILD", ""), os.environ.get("LAMINA_CMAKE", "cmake")
PAGE = os.path.join(SOURCE, "docs", "tasks", "deploy.md")
ROW = ["81.5", "3", "quiet"]
ROOT = os.geteuid() == 0


def sections():
    with open(PAGE, encoding="utf-8") as file:
        parts = re.split(r"(?m)^## (.*)$", file.read())
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


@unittest.skipUnless(shutil.which("cc") and shutil.which("pkg-config"), "needs cc and pkg-config")
class DeployTest(CliTest):
    recipe = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prefix = os.path.join(BUILD, "tests", "deploy", "prefix")
        shutil.rmtree(cls.prefix, ignore_errors=True)
        subprocess.run([CMAKE, "--install", BUILD, "--component", "predict", "--prefix", cls.prefix], check=True,
                       stdout=subprocess.DEVNULL)
        folder = os.path.dirname(glob.glob(cls.prefix + "/lib*/**/lamina_predict.pc", recursive=True)[0])
        libraries = os.path.dirname(folder)
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": folder, "LD_LIBRARY_PATH": libraries, "LIBRARY_PATH": libraries,
                           "GOFLAGS": "-mod=mod", "GOPROXY": "off", "CGO_ENABLED": "1"}

    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        rows = [["size", "rooms", "place", "price"]]
        for _ in range(60):
            size, place = rng.uniform(20, 150), rng.choice(("quiet", "loud", "park"))
            rows.append([f"{size:.1f}", rng.randint(1, 6), place, f"{900 * size + (9000 if place == 'park' else 0):.0f}"])
        self.write("flats.csv", rows)
        shutil.copytree(os.path.join(SOURCE, "examples"), self.path("examples"))

    def shell(self, command):
        if command.startswith("chroot ") and not ROOT:
            command = "unshare --map-root-user " + command
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              check=False, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def answer(self, model, row):
        names = self.read("flats.csv").splitlines()[0].split(",")
        self.write("asked.csv", [names[: len(row)], row])
        return float(self.succeed("predict", model, "asked.csv").out.splitlines()[1])

    def run_section(self, name):
        """The commands of a section, and of the page before it those of lamina; returns what the last one said."""
        text = sections()[name]
        for command in re.findall(r"(?m)^    lamina (.*)$", sections()["Get it"] + text):
            self.succeed(*shlex.split(command))
        said = ""
        commands = re.findall(r"(?m)^    \$ (.*)$", text)
        self.assertGreater(len(commands), 0)
        for command in commands:
            said = self.shell(command)
        return said

    def check_section(self, name, model="flats.safetensors", row=ROW, tolerance=1e-6):
        said = float(self.run_section(name))
        expected = self.answer(model, row)
        self.assertLessEqual(abs(said - expected), tolerance * abs(expected))

    def require(self, tool):
        if not shutil.which(tool):
            self.skipTest(f"there is no {tool}")

    def require_chroot(self):
        if not ROOT and subprocess.run(["unshare", "--map-root-user", "true"], capture_output=True, check=False).returncode:
            self.skipTest("neither root nor namespaces of users: no chroot")

    def test_bare_chroot(self):
        self.require_chroot()
        self.check_section("A bare chroot")
        self.assertEqual(os.listdir(self.path("empty")), ["embedded"])

    def test_container_of_scratch(self):
        """The files that COPY names are all that the ENTRYPOINT has."""
        self.require_chroot()
        self.run_section("A bare chroot")
        recipe = re.search(r"(?s)```dockerfile\n(.*?)```", sections()["A container from nothing"])[1]
        self.assertEqual(recipe.splitlines()[0], "FROM scratch")
        os.mkdir(self.path("image"))
        for source, target in re.findall(r"(?m)^COPY (\S+) /(\S+)$", recipe):
            shutil.copy(self.path(source), self.path(os.path.join("image", target)))
        entry = re.search(r'ENTRYPOINT \["(.*)"\]', recipe)[1]
        said = float(self.shell(shlex.join(["chroot", "image", entry, *ROW])))
        self.assertAlmostEqual(said / self.answer("flats.safetensors", ROW), 1, 6)

    def test_musl(self):
        self.require("musl-gcc")
        self.require_chroot()
        self.assertIn(" 0 wrong answers", self.run_section("A static program with musl"))

    def test_plug_in(self):
        self.check_section("A plug-in")
        seen = self.shell("nm -D --defined-only plugin.so")
        self.assertIn("plugin_answer", seen)
        self.assertNotIn("lamina", seen)

    def test_real_time_thread(self):
        self.check_section("A real-time thread", "numbers.safetensors", ROW[:2])

    def test_rust(self):
        self.require("rustc")
        self.check_section("Rust")

    def test_go(self):
        self.require("go")
        self.environment["GOCACHE"] = self.path("go-cache") if "GOCACHE" not in os.environ else os.environ["GOCACHE"]
        self.check_section("Go")

    def test_python_without_a_package(self):
        self.check_section("Python without a package")

    def test_cmake_of_a_c_project(self):
        self.run_section("A bare chroot")
        project = re.search(r"(?s)```cmake\n(.*?)```", sections()["Get it"])[1]
        os.mkdir(self.path("app"))
        for target in ("predict", "predict_static"):
            with self.subTest(target=target):
                text = re.sub(r"lamina::predict\).*", f"lamina::{target} ${{CMAKE_SOURCE_DIR}}/../model.o)", project)
                self.write("app/CMakeLists.txt", text)
                shutil.copy(self.path("examples/deploy/embedded.c"), self.path("app/embedded.c"))
                build = "app/" + target
                self.shell(f"{CMAKE} -S app -B {build} -DCMAKE_PREFIX_PATH={self.prefix} > log && {CMAKE} --build {build} > log")
                said = float(self.shell(shlex.join([f"{build}/app", *ROW])))
                self.assertAlmostEqual(said / self.answer("flats.safetensors", ROW), 1, 6)

    def test_what_the_library_needs_and_shows(self):
        library = os.path.join(self.environment["LIBRARY_PATH"], "liblamina_predict.so")
        needed = re.findall(r"Shared library: \[(.*)\]", self.shell(f"readelf -dW {library}"))
        self.assertEqual([name for name in needed if not re.match(r"(libc|libm|ld-linux.*)\.so", name)], [])
        seen = re.findall(r"(?m) [A-Z] (\S+)$", self.shell(f"nm -D --defined-only {library}"))
        with open(os.path.join(SOURCE, "lamina", "lamina.h"), encoding="utf-8") as file:
            declared = re.findall(r"(?m)^[a-z].*[ *](lamina_\w+)\(", file.read())
        self.assertEqual(sorted(seen), sorted(declared))
        wanted = set(re.findall(r"(?m) U (\w+)", self.shell(f"nm -D --undefined-only {library}")))
        self.assertEqual(wanted & {"pthread_create", "clone", "fork", "exit", "_exit", "printf", "puts", "system"}, set())
        self.assertLess(os.path.getsize(os.path.realpath(library)), 930_000)

    def test_errors_of_the_examples(self):
        self.run_section("Python without a package")
        library = os.path.join(self.environment["LIBRARY_PATH"], "liblamina_predict.so")
        self.write("empty", "")
        for model, row, says in (("missing", ROW, "missing"), ("empty", ROW, "empty"), ("flats.safetensors", ROW[:1], "3 columns")):
            command = ["python3", "examples/predict_ctypes.py", library, model, *row]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^predict_ctypes.py: .*{says}")


if __name__ == "__main__":
    main()
