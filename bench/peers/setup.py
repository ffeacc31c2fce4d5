#!/usr/bin/env python3
"""Builds llama.cpp for this machine, inside a private virtual environment, as something to compare with.

    bench/peers/setup.py [--venv build/peers/venv]

Installs llama-cpp-python's source package with native flags; does nothing when the environment has it. On a CPU with
AMX it is compiled with clang: g++ 12 miscompiles its tile set-up, and the program crashes.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import venv

PACKAGE, VERSION = "llama-cpp-python", "0.3.36"
REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_VENV = REPOSITORY / "build/peers/venv"


def python_of(folder):
    return folder / "bin/python"


def installed(folder):
    """Whether the environment holds exactly the wanted version."""
    if not python_of(folder).exists():
        return False
    command = [python_of(folder), "-c", f"import importlib.metadata as m; print(m.version('{PACKAGE}'))"]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.stdout.strip() == VERSION


def build_environment():
    environment = dict(os.environ, CMAKE_ARGS="-DGGML_NATIVE=ON", FORCE_CMAKE="1")
    if "amx_int8" in pathlib.Path("/proc/cpuinfo").read_text():
        environment.update(CC="clang", CXX="clang++")
    return environment


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=pathlib.Path, default=DEFAULT_VENV)
    folder = parser.parse_args().venv
    if not installed(folder):
        venv.create(folder, with_pip=True)
        pip = [python_of(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "numpy"], check=True, stdout=sys.stderr)
        subprocess.run([*pip, "--no-binary", PACKAGE, f"{PACKAGE}=={VERSION}"], check=True, stdout=sys.stderr,
                       env=build_environment())
    print(python_of(folder))


if __name__ == "__main__":
    main()
