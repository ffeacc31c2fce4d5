#!/usr/bin/env python3
"""Prints the build products that a selection of tests needs, for ninja: `ctest-targets.py BUILD [ctest selection...]`.

A product is any file below the build folder that a test's command line or properties name and ninja makes. Commands are read
from the test files that CMake wrote, since ctest does not list programs that are not built yet.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

CALL = re.compile(r"^(add_test|set_tests_properties)\((?:\[=*\[|\"?)([^\]\")\s]+)(?:\]=*\]|\"?)(.*)\)$", re.MULTILINE)


def words_of_tests(build):
    """name of test -> the text of its command and properties."""
    found = {}
    for listfile in pathlib.Path(build).rglob("CTestTestfile.cmake"):
        for _, name, rest in CALL.findall(listfile.read_text(encoding="utf-8")):
            found[name] = found.get(name, "") + rest
    return found


def main(build, selection):
    build = os.path.realpath(build)
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *selection],
                             check=True, capture_output=True, text=True).stdout
    outputs = {line.split(":")[0] for line in subprocess.run(
        ["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout.splitlines()}
    texts, wanted = words_of_tests(build), set()
    for test in json.loads(listing)["tests"]:
        for path in re.findall(re.escape(build + os.sep) + r"([^\"\s;:=\]]+)", texts.get(test["name"], "")):
            if path in outputs:
                wanted.add(path)
    print("\n".join(sorted(wanted)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
