#!/usr/bin/env python3
"""Kernels of an instruction set must not leak its code: isa_symbols.py ROOT BUILD

A weak symbol compiled with -mavx512 may be the copy that the linker keeps for everyone, and the program then dies on
an older CPU. So the objects of src/backend/cpu/kernels/<isa>/ may define no weak symbol, and their sources may include
only compiler and C headers and cpu/kernels/.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import tree

KERNELS = "src/backend/cpu/kernels"
# Kinds that nm prints for weak and unique definitions.
WEAK = set("VWuvw")
# Weak symbols that hold no code of ours: what a compiler or sanitizer adds to every object.
ALLOWED = re.compile(r"^(__asan|__tsan|__ubsan|__odr_asan|__sanitizer|DW\.ref|__gcov)")
# C headers and the compiler's own.
HEADERS = re.compile(r"^(stdint|stddef|string|math|limits|float|stdbool|immintrin|x86intrin|arm_neon|arm_sve|cpuid)\.h$")
# Built for the baseline, so what they share with the rest of the program is harmless.
BASELINE = {"scalar"}


def isa_folders(root):
    """The folders whose .cpp files are compiled with instruction-set flags."""
    base = root / KERNELS
    return [f for f in sorted(base.iterdir()) if f.is_dir() and f.name not in BASELINE and any(f.glob("*.cpp"))]


def check_includes(root):
    """Every file that an ISA source reaches through cpu/kernels/."""
    problems, seen = [], set()
    todo = [source for folder in isa_folders(root) for source in sorted(folder.glob("*.cpp"))]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        for line, kind, target in tree.includes(path):
            where = f"{path.relative_to(root)}:{line}: "
            if kind == '"' and target.startswith("cpu/kernels/"):
                inner = root / "src/backend" / target
                if inner.exists():
                    todo.append(inner)
            elif not (kind == "<" and HEADERS.match(target)):
                problems.append(f"{where}'{target}': a kernel includes intrinsics, C headers and cpu/kernels/ only")
    return problems


def weak_symbols(nm_output):
    """Names of weak symbols in the output of `nm -C --format=posix`."""
    for line in nm_output.splitlines():
        match = re.match(r"(.*?) ([A-Za-z])( [0-9a-f]+)*\s*$", line)
        if match and match.group(2) in WEAK and not ALLOWED.match(match.group(1)):
            yield match.group(1)


def check_objects(root, build):
    problems = []
    nm = shutil.which("nm")
    if nm is None:
        return ["nm is missing (package binutils)"]
    for folder in isa_folders(root):
        for source in sorted(folder.glob("*.cpp")):
            relative = source.relative_to(root / "src/backend/cpu")
            obj = build / "src/backend/cpu/CMakeFiles/brisk_cpu.dir" / f"{relative}.o"
            if not obj.exists():
                problems.append(f"{source.relative_to(root)}: not built ({obj})")
                continue
            listing = subprocess.run([nm, "-C", "--format=posix", str(obj)], check=True, capture_output=True, text=True)
            problems += [f"{source.relative_to(root)}: weak symbol {name}" for name in weak_symbols(listing.stdout)]
    return problems


if __name__ == "__main__":
    ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    sys.exit(tree.report(check_includes(ROOT) + check_objects(ROOT, BUILD)))
