"""A virtual environment for the scripts here, with the versions that requirements.txt names."""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def pip_install(python, *requirements):
    print("installing", *requirements, flush=True)
    command = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:", *requirements]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"could not be installed: {(done.stderr.strip() or '?').splitlines()[-1]}")
    return done.returncode == 0


def prepare(venv, full_torch, more=()):
    """Makes the environment and installs what is not in it yet; returns its interpreter."""
    script, python = os.path.basename(sys.argv[0]), venv / "bin/python"
    if not python.exists() or subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        made = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", venv])
        if made.returncode != 0:
            sys.exit(f"{script}: {venv} could not be made. Debian and Ubuntu: apt-get install python3-venv")
    lines = [line for line in (HERE / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
    installed = venv / "installed.txt"
    wanted = "\n".join([*lines, *more]) + f"\nfull torch: {full_torch}\n"
    if installed.exists() and installed.read_text() == wanted:
        return python
    numpy = lines[0]
    others = [line for line in lines[1:] if not line.startswith("torch")] + list(more)
    complete = pip_install(python, numpy, *others) or all([pip_install(python, numpy, line) for line in others])
    torch = next(line for line in lines if line.startswith("torch"))
    if full_torch:
        complete = pip_install(python, numpy, torch.replace("+cpu", "")) and complete
    elif not pip_install(python, numpy, torch):
        print("taking the PyTorch that the system has, if any; --full-torch installs the plain package")
    if complete:
        installed.write_text(wanted)
    return python


def enter(venv, full_torch, more=()):
    """Starts the running script anew in that environment, unless this is it."""
    if pathlib.Path(sys.prefix).resolve() != venv.resolve():
        python = prepare(venv, full_torch, more)
        sys.stdout.flush()
        os.execv(python, [str(python), *sys.argv])
