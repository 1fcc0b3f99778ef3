"""Builds the Python package against a built library in a virtual environment and runs its tests.

Usage: run.py --library BUILD --work FOLDER [--python PYTHON] [--requirement TEXT]... [--sanitize] [--only build|tests]
              [-- PYTEST_ARGUMENT...]

--only build: the package is built and installed, and imported once; --only tests: with the package that is there.

--sanitize: BUILD has address and undefined-behavior sanitizers (preset asan). The interpreter runs under their runtime,
preloaded. scikit-learn's own checks of estimators then take very long: name the other test files. The environment is
kept in FOLDER for the next time, until requirements.txt changes. Exit status 77, which ctest takes for skipped, where
pip reaches no index. Standard library only.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REQUIREMENTS = ROOT / "python/tests/requirements.txt"
SKIPPED = 77
NO_TESTS = 5  # pytest where a whole file is skipped, for want of a package
UNREACHABLE = ("No matching distribution", "Failed to establish", "Temporary failure", "Connection", "Network is unreachable", "timed out")


def make_environment(python: str, folder: pathlib.Path, extra: list[str]) -> pathlib.Path:
    """Its interpreter. Ends the process with SKIPPED where packages cannot be had."""
    wanted = hashlib.sha256("\n".join([REQUIREMENTS.read_text(), *extra, python]).encode()).hexdigest()
    mark = folder / "made_of"
    interpreter = folder / "bin/python"
    if mark.exists() and mark.read_text() == wanted and interpreter.exists():
        return interpreter
    shutil.rmtree(folder, ignore_errors=True)
    made = subprocess.run([python, "-m", "venv", str(folder)], capture_output=True, text=True)
    if made.returncode != 0:
        print(f"skipped: {python} -m venv does not work here (python3-venv): {made.stdout.strip()}")
        sys.exit(SKIPPED)
    pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile",
           "--retries", "1", "--timeout", "20"]
    done = subprocess.run([*pip, "-r", str(REQUIREMENTS), *extra], capture_output=True, text=True)
    if done.returncode != 0:
        if any(sign in done.stderr for sign in UNREACHABLE):
            print(f"skipped: pip reaches no index: {done.stderr.strip().splitlines()[-1]}")
            sys.exit(SKIPPED)
        sys.exit(done.stderr)
    mark.write_text(wanted)
    return interpreter


SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
# Stubs are written by an interpreter without the runtime. nanobind's own code is compiled as ours is.
SANITIZED_BUILD = [f"-Ccmake.define.CMAKE_CXX_FLAGS={SANITIZERS}", "-Ccmake.define.CMAKE_BUILD_TYPE=Debug",
                   "-Ccmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0 -g1", "-Ccmake.define.LAMINA_PYTHON_STUBS=OFF"]


def sanitized() -> dict[str, str]:
    """What an interpreter needs that loads sanitized code: the runtime before all else.

    Interpreters leak by themselves, and their own allocator hides what is done to its blocks.
    """
    def runtime(name: str) -> str:
        found = subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        return str(pathlib.Path(found.stdout.strip()).resolve())

    return {"LD_PRELOAD": f"{runtime('libasan.so')} {runtime('libstdc++.so')}", "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONMALLOC": "malloc"}


def main() -> int:
    own, _, for_pytest = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--requirement", action="append", default=[])
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--only", choices=["build", "tests"])
    given = parser.parse_args(own.split())
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    if given.only == "tests":
        python = work / "environment/bin/python"
        if not python.exists() or subprocess.run([python, "-c", "import lamina"], cwd=work, capture_output=True).returncode != 0:
            print("skipped: no package was built (python.package says why)")
            return SKIPPED
    else:
        python = make_environment(given.python, work / "environment", given.requirement)
    environment = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": os.environ.get("LAMINA_JOBS", "2"), "OMP_WAIT_POLICY": "passive",
                   "PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONPYCACHEPREFIX": str(work / "compiled"),
                   "OPENBLAS_NUM_THREADS": "1"}  # SciPy's, which spin beside other tests: ten times the work
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    if given.only != "tests":
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
                        "--force-reinstall", f"-Ccmake.define.lamina_DIR={given.library.resolve()}", f"-Cbuild-dir={work / 'build'}",
                        *(SANITIZED_BUILD if given.sanitize else []), str(ROOT)], check=True, env=environment)
    if given.only == "build":
        return subprocess.run([python, "-c", "import lamina; print('lamina', lamina.__version__)"], cwd=work, env=environment).returncode
    arguments = for_pytest.split() or [str(ROOT / "python/tests")]
    if given.sanitize:
        environment.update(sanitized())
    # From a folder of its own: what is imported is the package that was installed.
    done = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"),
                           "--rootdir", str(ROOT), *arguments],
                          cwd=work, env=environment).returncode
    return SKIPPED if done == NO_TESTS else done


if __name__ == "__main__":
    sys.exit(main())
