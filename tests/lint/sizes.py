#!/usr/bin/env python3
"""Sizes stay within docs/architecture.md's limits: sizes.py [root]

Lengths of functions, files and headers, nesting, parameters. Tables (initialisers at namespace scope) do not count.
Exceptions are in size_exceptions.txt, each with its reason; one that is no longer needed is reported too.
"""
import pathlib
import re
import sys

import tree

FUNCTION, KERNEL, FILE, HEADER, NESTING, PARAMETERS = 60, 100, 500, 250, 3, 5
EXCEPTIONS = pathlib.Path(__file__).with_name("size_exceptions.txt")

CONTROL = re.compile(r"\b(?:if|for|while|switch|catch)\b|\b(?:do|else|try)\s*$")
TYPE = re.compile(r"\b(?:namespace|class|struct|union|enum)\b|\bextern\s+\"_*\"\s*$")
# A function's head: a name or operator, the parameters, then only what may follow them.
HEAD = re.compile(
    r"(?P<name>operator\s*(?:\(\s*\)|[^\s(]+)|[~\w:<>]+)\s*(?P<open>\()"
    r"(?P<rest>.*)$", re.DOTALL)
AFTER_PARAMETERS = re.compile(
    r"^\s*(?:const|noexcept(?:\([^()]*\))?|override|final|mutable|&&?|requires\b.*|->.*|:(?!:).*|\s)*$", re.DOTALL)
ACCESS = re.compile(r"^\s*(?:public|private|protected)\s*$")
LAMBDA = re.compile(r"\[[^\[\]]*\]\s*(?:<[^{}]*>\s*)?(?:\((?:[^()]|\([^()]*\))*\))?\s*(?:mutable|noexcept|->[^{};]*|\s)*$")


def matching(text, start):
    """Index of the parenthesis that closes the one at `start`, or -1."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return -1


def count_parameters(text):
    text = text.strip()
    if not text or text == "void":
        return 0
    depth, count = 0, 1
    for index, char in enumerate(text):
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and text[index - 1] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            count += 1
    return count - (1 if re.search(r"\.\.\.\s*\w*$", text) else 0)  # a pack is as long as the caller likes


def function_head(head):
    """(name, parameters) when the text before a brace is the head of a function, else None."""
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)|\b__attribute__\s*\(\(.*?\)\)", " ", head, flags=re.DOTALL)
    for match in HEAD.finditer(head):
        close = matching(head, match.start("open"))
        if close < 0 or not AFTER_PARAMETERS.match(head[close + 1:]):
            continue
        name = match.group("name")
        if name in ("if", "for", "while", "switch", "catch", "requires", "decltype", "noexcept") or name.isspace():
            continue
        if "=" in re.sub(r"operator\s*[=!<>+\-*/]*", "", head[:match.start()]):
            continue
        parameters = head[match.start("open") + 1:close]
        if name.startswith("TEST"):  # GoogleTest: the name of the test is in the parentheses
            return ".".join(part.strip() for part in parameters.split(",")), 0
        return name, count_parameters(parameters)
    return None


class Scope:
    def __init__(self, kind, line, nesting=0, name="", parameters=0):
        self.kind, self.line, self.nesting, self.name, self.parameters = kind, line, nesting, name, parameters
        self.deepest = nesting


class Function:
    def __init__(self, scope, last_line):
        self.name, self.first_line, self.last_line = scope.name, scope.line, last_line
        self.parameters, self.deepest = scope.parameters, scope.deepest

    @property
    def lines(self):
        return self.last_line - self.first_line + 1


def without_preprocessor(text):
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.MULTILINE)


def open_scope(head, line, parent):
    in_code = parent is not None and parent.kind in ("function", "block")
    if in_code:
        if LAMBDA.search(head):
            return Scope("block", line, parent.nesting)
        if CONTROL.search(head):
            return Scope("block", line, parent.nesting + 1)
        return Scope("block", line, parent.nesting)
    if TYPE.search(head) and not function_head(head):
        return Scope("type", line)
    found = function_head(head)
    if found:
        return Scope("function", line, 0, *found)
    return Scope("table", line)


def initialiser(code, index, parens, stack):
    """Whether the brace is a value inside a declaration: `name{...}`, or a default argument."""
    in_code = bool(stack) and stack[-1][0].kind in ("function", "block")
    return (code[index - 1:index].isalnum() or code[index - 1:index] in ("_", ">")) or (parens > 0 and not in_code)


def parse(text):
    """(functions, lines of namespace-scope tables) of a source."""
    code = without_preprocessor(tree.blank_comments(text))
    functions, table_lines, stack = [], 0, []
    head_start, line, head_line, parens = 0, 1, None, 0
    for index, char in enumerate(code):
        end = index
        if char == "\n":
            line += 1
        elif not char.isspace() and head_line is None:
            head_line = line  # where the text begins that a brace may turn into a head
        if char in "()":
            parens += 1 if char == "(" else -1
        elif char == "{" and initialiser(code, index, parens, stack):
            stack.append((Scope("initialiser", line, stack[-1][0].nesting if stack else 0), parens))
        elif char == "{":
            stack.append((open_scope(code[head_start:index], head_line, stack[-1][0] if stack else None), parens))
            parens, end = 0, index + 1
        elif char == "}" and stack:
            scope, parens = stack.pop()
            if scope.kind == "initialiser":
                continue
            if stack:
                stack[-1][0].deepest = max(stack[-1][0].deepest, scope.deepest)
            if scope.kind == "function":
                functions.append(Function(scope, line))
            elif scope.kind == "table" and not any(s.kind == "table" for s, _ in stack):
                table_lines += line - scope.line
            end = index + 1
        elif (char == ";" and parens == 0) or (char == ":" and ACCESS.match(code[head_start:index])):
            end = index + 1
        if end > index:
            head_start, head_line = end, None
    return functions, table_lines


def measure(path, shown):
    """Yields (what, name, value, limit) for everything that a file exceeds."""
    text = path.read_text(encoding="utf-8")
    functions, table_lines = parse(text)
    kernel = "/kernels/" in str(shown)
    limit = HEADER if path.suffix != ".cpp" else FILE
    lines = text.count("\n") - table_lines
    if lines > limit:
        yield "lines", "-", lines, limit
    for function in functions:
        longest = KERNEL if kernel else FUNCTION
        if function.lines > longest:
            yield "function", function.name, function.lines, longest
        if function.deepest > NESTING:
            yield "nesting", function.name, function.deepest, NESTING
        if function.parameters > PARAMETERS:
            yield "parameters", function.name, function.parameters, PARAMETERS


def read_exceptions(path):
    """{(file, what, name): reason}; a line is `file what name reason...`."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words = line.split(maxsplit=3)
            if len(words) != 4:
                raise SystemExit(f"{path}: no reason in '{line}'")
            found[tuple(words[:3])] = words[3]
    return found


def check(root, exceptions):
    problems, used = [], set()
    for path in tree.cpp_files(root, "include", "src", "tests", "bench"):
        shown = path.relative_to(root)
        for what, name, value, limit in measure(path, shown):
            key = (str(shown), what, name)
            if key in exceptions:
                used.add(key)
            else:
                problems.append(f"{shown}: {what} {name}: {value}, limit {limit}")
    problems += [f"size_exceptions.txt: not needed any more: {' '.join(key)}" for key in exceptions if key not in used]
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.root_argument(sys.argv[1:]), read_exceptions(EXCEPTIONS))))
