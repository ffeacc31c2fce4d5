#!/usr/bin/env python3
"""Every relative link of the documentation leads to a file: links.py [root]"""
import re
import sys

import tree

LINK = re.compile(r"\[[^\]]*\]\((?!https?://|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")


def check(root):
    problems = []
    pages = [*root.glob("*.md"), *(root / "docs").glob("**/*.md")]
    for page in sorted(pages):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            for target in LINK.findall(line):
                if not (page.parent / target).exists():
                    problems.append(f"{page.relative_to(root)}:{number}: no such file: {target}")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.root_argument(sys.argv[1:]))))
