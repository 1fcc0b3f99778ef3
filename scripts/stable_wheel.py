#!/usr/bin/env python3
"""Usage: scripts/stable_wheel.py OUT PLATFORM BUILD [WHEEL]: a wheel of the Python package for another system.

Run from the root of the sources by scripts/windows and scripts/musl, with a Python that has scikit-build-core. The
module keeps to the stable ABI of Python 3.12 (cmake/stable_module.cmake). BUILD is a folder with lamina/_core.* and
lamina_program/lamina*, stripped, and information/, whose files go into dist-info. Types of the module, and but for
Windows pages of help, are those of WHEEL, of another system. Times are SOURCE_DATE_EPOCH. Fails where a binary asks for
more than every such system has, or the module does not export its function. Prints the file's name.
"""

import base64
import glob
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zipfile

import scikit_build_core.build

PYTHON = "cp312-abi3"
SYSTEM_LIBRARIES = {
    "win": r"(?i)^(kernel32|msvcrt|shell32|advapi32|ws2_32|mswsock|psapi|api-ms-win-[\w-]+)\.dll$",
    "musllinux": r"^libc\.so$",  # musl's loader is its C library
}
# What a part of the wheel may ask for beside them. The program for musl is in the module.
OWN_LIBRARIES = {("win", "lamina"): "python3.dll", ("musllinux", "lamina_program"): "_core.abi3.so"}
EXPORTS = {"win": r"\bPyInit__core$", "musllinux": r"GLOBAL +DEFAULT +\d+ PyInit__core$"}  # one that is not there has UND


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check(binary: str, system: str, part: str) -> None:
    """Fails where `binary` asks for other libraries than these, or is a module that does not export its function."""
    if system == "win":
        text = said("x86_64-w64-mingw32-objdump", "-p", binary)
        needed = re.findall(r"DLL Name: (\S+)", text)
    else:
        text = said("readelf", "--wide", "--dynamic", "--dyn-syms", binary)
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    strange = [name for name in needed if not re.match(SYSTEM_LIBRARIES[system], name) and name != OWN_LIBRARIES.get((system, part))]
    if strange or not needed:
        sys.exit(f"error: {binary} asks for {', '.join(strange) or 'nothing'}, which not every such system has")
    if part == "lamina" and not re.search(EXPORTS[system], text, re.MULTILINE):
        sys.exit(f"error: {binary} does not export PyInit__core")


def metadata(tag: str) -> dict[str, bytes]:
    """Files of the folder dist-info, by their names in the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        name = scikit_build_core.build.prepare_metadata_for_build_wheel(folder)
        found = {}
        for path in glob.glob(f"{folder}/{name}/**", recursive=True):
            if os.path.isfile(path):
                found[os.path.relpath(path, folder)] = pathlib.Path(path).read_bytes()
        found[f"{name}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lamina\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
        return found


def files_below(folder: str) -> dict[str, str]:
    return {os.path.relpath(path, folder): path for path in glob.glob(f"{folder}/**", recursive=True) if os.path.isfile(path)}


def main() -> None:
    out, platform, build, *others = sys.argv[1:]
    tag, system = f"{PYTHON}-{platform}", platform.partition("_")[0]
    contents = metadata(tag)
    folder = next(iter(contents)).split("/")[0]
    files = {path.removeprefix("python/"): path for path in glob.glob("python/lamina*/**", recursive=True) if path.endswith((".py", "py.typed"))}
    for part in ("lamina", "lamina_program"):
        for name, path in files_below(f"{build}/{part}").items():
            check(path, system, part)
            files[f"{part}/{name}"] = path
    files |= {f"{folder}/{name}": path for name, path in files_below(f"{build}/information").items()}
    contents |= {name: pathlib.Path(path).read_bytes() for name, path in files.items()}
    for wheel in others:
        archive = zipfile.ZipFile(wheel)
        contents |= {name: archive.read(name) for name in archive.namelist()
                     if name == "lamina/_core.pyi" or (system != "win" and ".data/data/" in name and not name.endswith("/"))}
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
              for name, data in sorted(contents.items())]
    contents = dict(sorted(contents.items()))  # the same bytes from every folder
    contents[f"{folder}/RECORD"] = "".join([*record, f"{folder}/RECORD,,\n"]).encode()
    name = os.path.join(out, f"{folder.removesuffix('.dist-info')}-{tag}.whl")
    when = time.gmtime(max(315532800, int(os.environ["SOURCE_DATE_EPOCH"])))[:6]
    with zipfile.ZipFile(name + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.startswith("lamina_program/lamina") else 0o100644) << 16
            archive.writestr(entry, data)
    os.rename(name + ".part", name)
    print(name)


main()
