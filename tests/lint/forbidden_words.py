#!/usr/bin/env python3
"""Nothing in the tree names a machine, a registry's host, or unfinished work: forbidden_words.py [root]"""
import pathlib
import re
import subprocess
import sys

import tree

WORDS = pathlib.Path(__file__).with_name("forbidden_words.txt")
# Recorded data speaks for itself, and the list and the lint's own test hold the words on purpose.
EXEMPT = ("tests/data/", "tests/lint/forbidden_words.txt", "tests/lint/lint_test.py")


def rules():
    for line in WORDS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, reason = line.split("\t")
            yield re.compile(pattern), reason


def files(root):
    listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             capture_output=True)
    if listing.returncode == 0 and listing.stdout:
        names = listing.stdout.decode().split("\0")
    else:  # an archive of the sources
        names = [str(p.relative_to(root)) for p in root.rglob("*")]
    return [name for name in sorted(set(names)) if name and not name.startswith((*EXEMPT, "build/", ".git/"))]


def check(root):
    all_rules, problems = list(rules()), []
    for name in files(root):
        path = root / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" in data[:4096]:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            for pattern, reason in all_rules:
                if match := pattern.search(line):
                    problems.append(f"{name}:{number}: '{match.group(0)}': {reason}")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.root_argument(sys.argv[1:]))))
