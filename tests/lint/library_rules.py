#!/usr/bin/env python3
"""Library code never prints, exits, aborts or reads the environment: library_rules.py [root]

That is the command line's: only src/cli may. Tests and benchmarks are programs too and are not looked at.
"""
import re
import sys

import tree

RULES = [
    (re.compile(r"\b(?:secure_)?getenv\s*\("), "reads the environment; the command line hands settings down"),
    (re.compile(r"(?<![\w.>])(?:std::|::)?(?:abort|exit|_exit|quick_exit|terminate)\s*\("), "ends the process; throw Error"),
    (re.compile(r"\bstd::(?:cout|cerr|clog|cin)\b"), "uses the terminal; take a sink"),
    (re.compile(r"(?<![\w.>])(?:std::|::)?(?:printf|puts|putchar|perror)\s*\("), "prints; take a sink"),
    (re.compile(r"\bfprintf\s*\(\s*std(?:out|err)\b"), "prints; take a sink"),
    (re.compile(r"(?<![\w.>:])(?:std::)?assert\s*\("), "asserts; use BRISK_CHECK or BRISK_DCHECK"),
    (re.compile(r"(?<![\w.>:])(?:std::)?(?:rand|srand|strtok|setlocale)\s*\("), "uses hidden global state"),
]


def check(root):
    problems = []
    for path in tree.cpp_files(root, "src"):
        shown = path.relative_to(root)
        if shown.parts[1] == "cli":
            continue
        text = tree.blank_comments(path.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1):
            problems += [f"{shown}:{number}: {reason}" for pattern, reason in RULES if pattern.search(line)]
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.root_argument(sys.argv[1:]))))
