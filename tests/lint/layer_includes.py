#!/usr/bin/env python3
"""Layers include downwards only: layer_includes.py [root]

The matrix is docs/architecture.md's; CMake's include roots enforce what CMake declares, this checks that the
declarations themselves stay within the matrix, and what a compiler does not see.
"""
import re
import sys

import tree

# What a layer may use directly; what those may use is allowed too.
MAY_USE = {
    "base": [],
    "quant": ["base"],
    "gguf": ["quant"],
    "tensor": ["quant"],
    "backend": ["tensor"],
    "cpu": ["backend"],
    "tokenizer": ["gguf"],
    "model": ["backend", "gguf"],
    "sampling": ["base"],
    "grammar": ["tokenizer"],
    "chat": ["base"],
    "engine": ["model", "sampling", "grammar", "tokenizer"],
    "tools": ["engine", "model", "gguf", "quant"],
    "server": ["engine", "chat", "grammar"],
}

# Third-party and system headers that would spread into every user of a header.
NOT_IN_HEADERS = re.compile(r"^(nlohmann|spdlog|boost|openssl|curl|editline|histedit|sys|linux|netinet|arpa)/|"
                            r"^(pcre2|utf8proc|histedit|unistd|fcntl|pthread|sched|termios)\.h$")


def check_declarations(all_layers, problems):
    for layer in all_layers.values():
        if layer.name == "cli":
            continue
        if layer.name not in MAY_USE:
            problems.append(f"{layer.folder}/CMakeLists.txt: layer '{layer.name}' is not in the matrix of this lint")
            continue
        allowed = tree.closure(MAY_USE[layer.name], MAY_USE)
        for name in layer.depends:
            if name not in allowed:
                problems.append(f"{layer.folder}/CMakeLists.txt: {layer.name} may not depend on {name}")


def check_file(path, shown, layer, all_layers, problems):
    edges = {name: other.depends for name, other in all_layers.items()}
    reachable = tree.closure([layer.name], edges)
    header = path.suffix != ".cpp"
    text = path.read_text(encoding="utf-8")
    found = tree.includes(path)
    for line, kind, target in found:
        where = f"{shown}:{line}: "
        first = target.split("/")[0]
        if ".." in target.split("/"):
            problems.append(f"{where}'{target}': include by layer path, not by '..'")
        elif kind == '"' and target.startswith("backend/cpu/"):
            problems.append(f"{where}'{target}': the CPU plug-in's include path is cpu/")
        elif kind == '"' and first in all_layers and first not in reachable:
            problems.append(f"{where}'{target}': {layer.name} does not depend on {first}")
        elif kind == '"' and first not in all_layers:
            problems.append(f"{where}'{target}': no layer path; other headers are included with <>")
        elif kind == "<" and first in all_layers and target.endswith((".hpp", ".h")):
            problems.append(f"{where}<{target}>: our headers are included with quotes")
        elif header and kind == "<" and NOT_IN_HEADERS.search(target):
            problems.append(f"{where}<{target}>: keep it in .cpp files")
    if header:
        if "#pragma once" not in text:
            problems.append(f"{shown}: no #pragma once")
        if re.search(r"^\s*using namespace\b", tree.blank_comments(text), re.MULTILINE):
            problems.append(f"{shown}: 'using namespace' in a header")
    elif path.with_suffix(".hpp").exists():
        own = f"{layer.name}/{path.with_suffix('.hpp').relative_to(layer.folder)}"
        if not found or found[0][2] != own:
            problems.append(f"{shown}:1: a source includes its own header first ('{own}')")


def check(root):
    all_layers, problems = tree.layers(root), []
    check_declarations(all_layers, problems)
    for path in tree.cpp_files(root, "src"):
        shown = path.relative_to(root)
        layer = tree.layer_of(path, all_layers)
        if layer is None:
            problems.append(f"{shown}: belongs to no layer")
        else:
            check_file(path, shown, layer, all_layers, problems)
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.root_argument(sys.argv[1:]))))
