#!/usr/bin/env python3
"""Prints the build products that a selection of tests needs, for ninja: `ctest-targets.py BUILD [ctest selection...]`.

A product is any file below the build folder that a test's command line or environment names and ninja makes.
"""
import json
import os
import subprocess
import sys


def words_of(test):
    yield from test.get("command", [])
    for item in test.get("properties", []):
        if item["name"] == "ENVIRONMENT":
            for variable in item["value"]:
                yield variable.partition("=")[2]
        if item["name"] == "REQUIRED_FILES":
            yield from item["value"]


def main(build, selection):
    build = os.path.realpath(build)
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *selection],
                             check=True, capture_output=True, text=True).stdout
    outputs = {line.split(":")[0] for line in subprocess.run(
        ["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout.splitlines()}
    wanted = set()
    for test in json.loads(listing)["tests"]:
        for word in words_of(test):
            if word.startswith(build + os.sep):
                name = os.path.relpath(word, build)
                if name in outputs:
                    wanted.add(name)
    print("\n".join(sorted(wanted)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
