#!/usr/bin/env python3
"""Every C++ file is as clang-format leaves it: format_check.py [root]; `scripts/format` repairs."""
import shutil
import subprocess
import sys

import tree

FOLDERS = ("include", "src", "tests", "bench")
# One call for many files; the command line stays far below any limit.
BATCH = 50


def check(root):
    if shutil.which("clang-format") is None:
        return ["clang-format is missing; `scripts/setup` installs it"]
    files, problems = list(tree.cpp_files(root, *FOLDERS)), []
    for start in range(0, len(files), BATCH):
        result = subprocess.run(["clang-format", "--dry-run", "-Werror", *map(str, files[start:start + BATCH])],
                                capture_output=True, text=True)
        bad = sorted({line.split(":")[0] for line in result.stderr.splitlines() if " error: " in line})
        problems += [f"{name}: not as clang-format leaves it; run scripts/format" for name in bad]
        if result.returncode != 0 and not bad:
            problems.append(result.stderr.strip())
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.root_argument(sys.argv[1:]))))
