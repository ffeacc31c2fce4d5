#!/usr/bin/env python3
"""Every header compiles alone: headers_alone.py ROOT BUILD [--jobs N]

Each header is compiled as the only include of a file, with the flags of a source of its layer. Headers whose text and
whose includes did not change since they last compiled are not compiled again.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import sys

import compile_commands
import tree


def digest(path):
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


class Cache:
    """header -> the command and the project files that it compiled with."""

    def __init__(self, path, root):
        self.path, self.root = path, root
        try:
            self.entries = json.loads(path.read_text())
        except (OSError, ValueError):
            self.entries = {}

    def holds(self, header, flags):
        entry = self.entries.get(str(header))
        return bool(entry) and entry["flags"] == flags and all(digest(f) == d for f, d in entry["files"].items())

    def store(self, header, flags, files):
        inside = [str(f) for f in map(os.path.realpath, files) if f.startswith(str(self.root))]
        self.entries[str(header)] = {"flags": flags, "files": {f: digest(f) for f in (*inside, str(header))}}

    def save(self):
        self.path.write_text(json.dumps(self.entries))


def compile_header(commands, cache, header, layer, flags):
    """The problem text, or None."""
    if cache.holds(header, flags):
        return None
    with compile_commands.scratch() as work:
        depfile = pathlib.Path(work) / "header.d"
        text = f'#include "{layer.name}/{header.relative_to(layer.folder)}"\n'
        worked, messages = commands.compile(flags, text, depfile)
        if worked:
            cache.store(header, flags, compile_commands.dependencies(depfile))
            return None
    return f"{header}: does not compile alone:\n{messages.strip()}"


def check(root, build, jobs):
    commands = compile_commands.Commands(build)
    cache = Cache(build / "headers_alone.json", root)
    layers = compile_commands.layers_with_sources(root)
    problems, work = [], []
    for header in tree.cpp_files(root, "src", suffixes=(".hpp", ".h")):
        layer = tree.layer_of(header, layers)
        flags = layer and commands.nearest(layer, header.parent)
        if flags:
            work.append((header, layer, flags))
        else:
            problems.append(f"{header}: no source of its layer is built, so nothing says how to compile it")
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda item: compile_header(commands, cache, *item), work)
        problems += [problem for problem in results if problem]
    cache.save()
    return problems


if __name__ == "__main__":
    JOBS = int(sys.argv[sys.argv.index("--jobs") + 1]) if "--jobs" in sys.argv else 2
    ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    sys.exit(tree.report(check(ROOT, BUILD, JOBS)))
