"""What the lints share: the files of the tree, C++ without comments, and the layers as CMake declares them."""
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CPP = (".cpp", ".hpp", ".h")

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<raw>[^()\s\\]{0,16})\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL)


def blank_comments(text, strings=True):
    """The text with comments (and the insides of literals, if `strings`) blanked; line numbers stay."""

    def blank(match):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", token)
        if not strings:
            return token
        quote = "'" if token[0] == "'" else '"'
        return quote + re.sub(r"[^\n]", "_", token[1:-1]) + quote

    return _TOKEN.sub(blank, text)


def includes(path):
    """[(line, '"' or '<', target)] of a file."""
    text = blank_comments(path.read_text(encoding="utf-8"), strings=False)
    found = re.finditer(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', text, re.MULTILINE)
    return [(text.count("\n", 0, m.start()) + 1, m.group(1), m.group(2)) for m in found]


def cpp_files(root, *folders, suffixes=CPP):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path


class Layer:
    def __init__(self, name, folder, depends, sources):
        self.name, self.folder, self.depends, self.sources = name, folder, depends, sources


def layers(root):
    """name -> Layer, from the brisk_add_layer calls below src/."""
    found = {}
    for listfile in sorted((root / "src").rglob("CMakeLists.txt")):
        text = re.sub(r"#[^\n]*", "", listfile.read_text(encoding="utf-8"))
        for call in re.finditer(r"brisk_add_layer\(\s*([\w-]+)([^)]*)\)", text):
            groups, current = {}, None
            for word in call.group(2).split():
                if word.isupper() and word.isalpha():
                    current = groups.setdefault(word, [])
                elif current is not None:
                    current.append(word)
            found[call.group(1)] = Layer(call.group(1), listfile.parent, groups.get("DEPENDS", []),
                                         [s for s in groups.get("SOURCES", []) if "$" not in s])
    return found


def closure(names, edges):
    """All names reachable from `names` over `edges` (name -> names)."""
    seen, todo = set(), list(names)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(edges.get(name, ()))
    return seen


def layer_of(path, all_layers):
    """The layer whose folder holds the file most closely."""
    best = None
    for layer in all_layers.values():
        if path.is_relative_to(layer.folder) and (best is None or len(layer.folder.parts) > len(best.folder.parts)):
            best = layer
    return best


def report(problems):
    """Prints the problems and gives the exit status."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} problem(s)", file=sys.stderr)
    return 1 if problems else 0


def root_argument(arguments):
    return pathlib.Path(arguments[0]).resolve() if arguments else REPOSITORY
