#!/usr/bin/env python3
"""Usage: scripts/windows_wheel.py OUT MODULE PROGRAM INFORMATION [WHEEL]: the wheel of the Python package for Windows.

Run from the root of the sources by scripts/windows, with a Python that has scikit-build-core. It has lamina's sources,
MODULE as lamina/_core.pyd, PROGRAM as lamina_program/lamina.exe, and the files of the folder INFORMATION in its
dist-info. Types of the module are those of WHEEL, of another system. Times are SOURCE_DATE_EPOCH. Fails where a binary
asks for more than Windows 10 and Python's stable ABI have. Prints the file's name.
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

TAG = "cp312-abi3-win_amd64"  # the module keeps to the stable ABI of Python 3.12
SYSTEM_LIBRARIES = r"(?i)^(kernel32|msvcrt|shell32|advapi32|ws2_32|mswsock|psapi|api-ms-win-[\w-]+)\.dll$"


def check(binary: str, libraries: str, exported: str = "") -> None:
    """Fails where `binary` asks for other libraries than these, or does not export the function."""
    headers = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", binary], capture_output=True, text=True, check=True).stdout
    strange = [name for name in re.findall(r"DLL Name: (\S+)", headers) if not re.match(libraries, name)]
    if strange:
        sys.exit(f"error: {binary} asks for {', '.join(strange)}, which not every Windows has")
    if exported and not re.search(rf"\b{exported}$", headers, re.MULTILINE):
        sys.exit(f"error: {binary} does not export {exported}")


def metadata() -> dict[str, bytes]:
    """Files of the folder dist-info, by their names in the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        name = scikit_build_core.build.prepare_metadata_for_build_wheel(folder)
        found = {}
        for path in glob.glob(f"{folder}/{name}/**", recursive=True):
            if os.path.isfile(path):
                found[os.path.relpath(path, folder)] = pathlib.Path(path).read_bytes()
        found[f"{name}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lamina\nRoot-Is-Purelib: false\nTag: {TAG}\n".encode()
        return found


def main() -> None:
    out, module, program, information, *others = sys.argv[1:]
    check(program, SYSTEM_LIBRARIES)
    check(module, rf"{SYSTEM_LIBRARIES}|^python3\.dll$", "PyInit__core")
    contents = metadata()
    folder = next(iter(contents)).split("/")[0]
    files = {path.removeprefix("python/"): path for path in glob.glob("python/lamina*/**", recursive=True) if path.endswith((".py", "py.typed"))}
    files |= {"lamina/_core.pyd": module, "lamina_program/lamina.exe": program}
    files |= {f"{folder}/{os.path.relpath(path, information)}": path for path in glob.glob(f"{information}/**", recursive=True)
              if os.path.isfile(path)}
    contents |= {name: pathlib.Path(path).read_bytes() for name, path in files.items()}
    for wheel in others:
        contents["lamina/_core.pyi"] = zipfile.ZipFile(wheel).read("lamina/_core.pyi")
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
              for name, data in sorted(contents.items())]
    contents = dict(sorted(contents.items()))  # the same bytes from every folder
    contents[f"{folder}/RECORD"] = "".join([*record, f"{folder}/RECORD,,\n"]).encode()
    name = os.path.join(out, f"{folder.removesuffix('.dist-info')}-{TAG}.whl")
    when = time.gmtime(max(315532800, int(os.environ["SOURCE_DATE_EPOCH"])))[:6]
    with zipfile.ZipFile(name + ".part", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    os.rename(name + ".part", name)
    print(name)


main()
