"""Compiles small texts with the flags of the real sources: one source's command for another text."""
import json
import pathlib
import shlex
import subprocess
import tempfile

import tree


class Commands:
    """The compile commands of a build folder, without ccache and without output."""

    def __init__(self, build):
        self.build = build
        self.entries = {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            self.entries[pathlib.Path(entry["file"]).resolve()] = entry

    def nearest(self, layer, folder):
        """The command of a source of the layer, of the given folder if there is one, or None."""
        best = None
        for path in sorted(self.entries):
            if path.suffix == ".cpp" and path.is_relative_to(layer.folder):
                shared = len([1 for a, b in zip(path.parent.parts, folder.parts) if a == b])
                nested_elsewhere = len(path.parent.parts) - shared
                if best is None or (shared, -nested_elsewhere) > best[0]:
                    best = ((shared, -nested_elsewhere), path)
        return self.flags(best[1]) if best else None

    def flags(self, source):
        """Compiler and flags of a source, without input and output."""
        words = shlex.split(self.entries[source]["command"])
        while words and not pathlib.Path(words[0]).name.rstrip("-0123456789").endswith(("c++", "g++", "clang++")):
            words.pop(0)
        kept, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word not in ("-c", "-MD", "-MMD") and pathlib.Path(word).suffix not in (".cpp", ".o"):
                kept.append(word)
        return kept

    def compile(self, flags, text, depfile=None):
        """(worked, messages) of `text` with `flags`, syntax only."""
        extra = ["-MD", "-MF", str(depfile)] if depfile else []
        result = subprocess.run([*flags, "-fsyntax-only", *extra, "-x", "c++", "-"], cwd=self.build, input=text,
                                capture_output=True, text=True)
        return result.returncode == 0, result.stderr


def dependencies(depfile):
    """The files that a make rule written by the compiler names."""
    words = depfile.read_text().replace("\\\n", " ").split(":", 1)[1].split()
    return [word for word in words if word != "-"]


def scratch():
    return tempfile.TemporaryDirectory(prefix="brisk-lint-")


def layers_with_sources(root):
    return {name: layer for name, layer in tree.layers(root).items() if layer.sources}
