#!/usr/bin/env python3
"""An include of a layer that is not below does not compile: include_roots.py ROOT BUILD

For each layer: its own and its dependencies' headers must be found, and a header of every other layer must not be,
because that layer's include root is not on the compiler's path.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lint"))
import compile_commands  # noqa: E402
import tree  # noqa: E402


def first_header(layer):
    headers = sorted(layer.folder.glob("*.hpp"))
    return f"{layer.name}/{headers[0].name}" if headers else None


def check(root, build):
    layers = compile_commands.layers_with_sources(root)
    commands = compile_commands.Commands(build)
    edges = {name: layer.depends for name, layer in layers.items()}
    problems, refused = [], 0
    for name, layer in layers.items():
        flags = commands.nearest(layer, layer.folder)
        if flags is None:
            problems.append(f"{name}: no source is built")
            continue
        reachable = tree.closure([name], edges)
        for other in layers.values():
            header = first_header(other)
            if header is None:
                continue
            # The preprocessor alone decides; what the header says does not matter here.
            worked, messages = commands.compile([*flags, "-E"], f'#include "{header}"\n')
            if other.name in reachable and not worked:
                problems.append(f"{name} cannot include {header} of a layer that it depends on:\n{messages}")
            elif other.name not in reachable and worked:
                problems.append(f"{name} can include {header}, but does not depend on {other.name}")
            elif not worked and f"{header}: No such file" not in messages and f"'{header}' file not found" not in messages:
                problems.append(f"{name}: {header} failed for another reason:\n{messages}")
            refused += not worked
    if refused == 0:
        problems.append("not one include was refused: this test proves nothing")
    return problems


if __name__ == "__main__":
    ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    sys.exit(tree.report(check(ROOT, BUILD)))
