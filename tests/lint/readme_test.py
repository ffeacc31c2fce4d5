#!/usr/bin/env python3
"""The commands of README.md work as they stand: readme_test.py README BRISK MODEL

Runs every ```sh block that follows a line `<!-- checked -->`, in an empty folder that holds MODEL as model.gguf, with
BRISK on the PATH. Exit code 77 (skipped) where the program or the model is not there.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
BLOCK = re.compile(r"^<!-- checked -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    return BLOCK.findall(text)


def run_block(block, folder, path):
    """The messages of a block that failed, or None."""
    environment = dict(os.environ, PATH=f"{path}:{os.environ['PATH']}", HOME=str(folder))
    result = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, env=environment,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=120)
    if result.returncode != 0:
        return f"exit code {result.returncode}:\n{block}{result.stderr[-2000:]}"
    return None


def main(readme, brisk, model):
    if not brisk.exists() or not model.exists():
        print(f"skipped: needs {brisk} and {model}")
        return SKIPPED
    found = blocks(readme.read_text(encoding="utf-8"))
    if not found:
        print(f"{readme}: no block is marked as checked")
        return 1
    failures = []
    for block in found:
        with tempfile.TemporaryDirectory(prefix="brisk-readme-") as folder:
            (pathlib.Path(folder) / "model.gguf").symlink_to(model)
            failures.append(run_block(block, folder, brisk.parent))
    failures = [failure for failure in failures if failure]
    print("\n".join(failures) or f"{len(found)} blocks ran")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:4])))
