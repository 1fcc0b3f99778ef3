"""C source of models on devices, by compilers for them and by emulators: sizes, self-tests, instructions a row.

Used by device_test.py and by figures.py beside it, which makes the figures of microcontrollers in bench/results.
"""

import os
import re
import shutil
import subprocess

FOLDER = os.path.dirname(os.path.abspath(__file__))
ARM, QEMU_ARM = "arm-none-eabi-gcc", "qemu-system-arm"
RISCV, QEMU_RISCV = "riscv64-unknown-elf-gcc", "qemu-riscv32-static"
PICOLIBC = "/usr/lib/picolibc/riscv64-unknown-elf/include"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
SMALL = ("-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
# Name: flags of the compiler, machine of QEMU, picoseconds of a tick of its clock.
CORES = {
    "Cortex-M0": (("-mcpu=cortex-m0", "-mthumb"), "microbit", 62500),
    "Cortex-M4": (("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"), "mps2-an386", 40000),
}


def lacking(*tools):
    return [tool for tool in tools if not shutil.which(tool)]


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def emulate(core, program, *arguments):
    return run(QEMU_ARM, "-M", CORES[core][1], "-display", "none", "-serial", "null", "-monitor", "none", "-semihosting-config",
               "enable=on,target=native,chardev=said", "-chardev", "stdio,id=said", *arguments, "-kernel", program)


def self_test(core, source, name, target):
    """What the self-test of a source says on a core."""
    run(ARM, *CORES[core][0], *STRICT, *SMALL, f"-D{name.upper()}_SELF_TEST", "-c", source, "-o", target + ".o")
    run(ARM, *CORES[core][0], *SMALL, target + ".o", os.path.join(FOLDER, "cortex_m.c"), "-nostartfiles", "--specs=rdimon.specs",
        "--specs=nano.specs", "-u", "_printf_float", "-T" + os.path.join(FOLDER, "cortex_m.ld"), "-lm", "-o", target)
    return emulate(core, target)


def asked(source, call, types):
    return (f'-DHEADER="{os.path.splitext(source)[0]}.h"', f"-DCALL={call}", "-DINPUT=" + types[0], "-DOUTPUT=" + types[1])


def sizes(tool, program):
    """Bytes of flash and of variables: text and data, data and bss."""
    text, data, bss = map(int, run(tool, program).splitlines()[1].split()[:3])
    return text + data, data + bss


def measure(core, source, call, types, target, flags=()):
    """Flash and variables of a program that answers one row, and how many instructions the row took."""
    cpu, _, tick = CORES[core]
    run(ARM, *cpu, *SMALL, *flags, *asked(source, call, types), f"-DCLOCK_PS={tick}", os.path.join(FOLDER, "measure.c"),
        os.path.join(FOLDER, "cortex_m.c"), source, "-nostartfiles", "--specs=nano.specs", "-T" + os.path.join(FOLDER, "cortex_m.ld"),
        "-lm", "-Wl,--defsym=_exit=Start", "-o", target)
    return (*sizes("arm-none-eabi-size", target), int(emulate(core, target, "-icount", "shift=6")))


def riscv_instructions(march, source, call, types, target):
    """How many instructions a row takes without system or C library."""
    counts = []
    for times in (1, 2):
        run(RISCV, "-isystem", PICOLIBC, f"-march={march}", "-mabi=ilp32", *SMALL, *asked(source, call, types), f"-DTIMES={times}",
            os.path.join(FOLDER, "riscv.c"), source, "-nostartfiles", "-nostdlib", "-Wl,--no-relax", "-lgcc", "-o", target)
        run(QEMU_RISCV, "-singlestep", "-d", "exec,nochain", "-D", target + ".log", target)
        with open(target + ".log", encoding="ascii", errors="replace") as file:
            counts.append(sum(1 for line in file if re.match(r"Trace ", line)))
        os.remove(target + ".log")
    return counts[1] - counts[0]
