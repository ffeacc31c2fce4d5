#!/usr/bin/env python3
"""Proves that each lint rejects what it is there to reject, and lets the right form pass."""
import contextlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "compile_fail"))
import forbidden_words
import format_check
import headers_alone
import include_roots
import isa_symbols
import layer_includes
import library_rules
import links
import readme_test
import sizes
import tree


class LintCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="brisk-lint-test-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def layer(self, name, depends, sources="a.cpp"):
        words = f" DEPENDS {depends}" if depends else ""
        self.write(f"src/{name}/CMakeLists.txt", f"brisk_add_layer({name} SOURCES {sources}{words})\n")

    def assert_reports(self, problems, *parts):
        for part in parts:
            self.assertTrue(any(part in problem for problem in problems), f"no '{part}' in {problems}")


class LayerIncludes(LintCase):
    def setUp(self):
        super().setUp()
        self.layer("base", "")
        self.layer("quant", "base")
        self.layer("gguf", "quant")

    def test_downward_include_passes(self):
        self.write("src/gguf/a.hpp", '#pragma once\n#include <vector>\n#include "base/error.hpp"\n#include "quant/dtype.hpp"\n')
        self.write("src/gguf/a.cpp", '#include "gguf/a.hpp"\n#include <nlohmann/json.hpp>\n#include <sys/mman.h>\n')
        self.assertEqual(layer_includes.check(self.root), [])

    def test_upward_include(self):
        self.write("src/quant/a.cpp", '#include "gguf/a.hpp"\n')
        self.assert_reports(layer_includes.check(self.root), "quant does not depend on gguf")

    def test_upward_dependency(self):
        self.layer("quant", "base gguf")
        self.assert_reports(layer_includes.check(self.root), "quant may not depend on gguf")

    def test_unknown_layer(self):
        self.layer("utils", "base")
        self.assert_reports(layer_includes.check(self.root), "'utils' is not in the matrix")

    def test_relative_include(self):
        self.write("src/gguf/a.cpp", '#include "../base/error.hpp"\n')
        self.assert_reports(layer_includes.check(self.root), "not by '..'")

    def test_include_without_layer(self):
        self.write("src/gguf/a.cpp", '#include "reader.hpp"\n')
        self.assert_reports(layer_includes.check(self.root), "no layer path")

    def test_plugin_by_its_folder(self):
        self.write("src/gguf/a.cpp", '#include "backend/cpu/device.hpp"\n')
        self.assert_reports(layer_includes.check(self.root), "include path is cpu/")

    def test_third_party_and_system_in_header(self):
        self.write("src/gguf/a.hpp", "#pragma once\n#include <nlohmann/json.hpp>\n#include <sys/mman.h>\n")
        self.assert_reports(layer_includes.check(self.root), "nlohmann/json.hpp", "sys/mman.h")

    def test_header_hygiene(self):
        self.write("src/gguf/a.hpp", "using namespace std;\n")
        self.assert_reports(layer_includes.check(self.root), "no #pragma once", "using namespace")

    def test_own_header_first(self):
        self.write("src/gguf/a.hpp", "#pragma once\n")
        self.write("src/gguf/a.cpp", '#include <vector>\n#include "gguf/a.hpp"\n')
        self.assert_reports(layer_includes.check(self.root), "own header first")

    def test_commented_include_is_none(self):
        self.write("src/quant/a.cpp", '// #include "gguf/a.hpp"\n/*\n#include "gguf/b.hpp"\n*/\n')
        self.assertEqual(layer_includes.check(self.root), [])


class LibraryRules(LintCase):
    def test_each_rule(self):
        self.write("src/gguf/a.cpp", 'void f() {\n  std::getenv("X");\n  std::abort();\n  std::cout << 1;\n  printf("x");\n'
                   '  fprintf(stderr, "x");\n  assert(true);\n  rand();\n}\n')
        self.assertEqual(len(library_rules.check(self.root)), 7)

    def test_names_that_only_look_alike(self):
        self.write("src/gguf/a.cpp", 'void f() {\n  // printf("x")\n  stream.abort();\n  fail("call exit()");\n'
                   "  snprintf(buffer, 4, x);\n  static_assert(true);\n}\n")
        self.assertEqual(library_rules.check(self.root), [])

    def test_command_line_may(self):
        self.write("src/cli/main.cpp", 'int main() { std::getenv("X"); }\n')
        self.assertEqual(library_rules.check(self.root), [])


class IsaSymbols(LintCase):
    FOLDER = "src/backend/cpu/kernels/avx2/"

    def test_weak_symbols_of_a_real_object(self):
        compiler = shutil.which("c++") or shutil.which("g++")
        self.write(self.FOLDER + "a.cpp", "inline int leak(int x) { return x + 1; }\nint (*keep)(int) = leak;\n")
        obj = self.root / "build/src/backend/cpu/CMakeFiles/brisk_cpu.dir/kernels/avx2/a.cpp.o"
        obj.parent.mkdir(parents=True)
        subprocess.run([compiler, "-c", self.root / self.FOLDER / "a.cpp", "-o", obj], check=True)
        self.assert_reports(isa_symbols.check_objects(self.root, self.root / "build"), "weak symbol leak(int)")

    def test_static_symbols_pass(self):
        compiler = shutil.which("c++") or shutil.which("g++")
        self.write(self.FOLDER + "a.cpp", "static int own(int x) { return x + 1; }\nint (*keep)(int) = own;\n")
        obj = self.root / "build/src/backend/cpu/CMakeFiles/brisk_cpu.dir/kernels/avx2/a.cpp.o"
        obj.parent.mkdir(parents=True)
        subprocess.run([compiler, "-c", self.root / self.FOLDER / "a.cpp", "-o", obj], check=True)
        self.assertEqual(isa_symbols.check_objects(self.root, self.root / "build"), [])

    def test_missing_object(self):
        self.write(self.FOLDER + "a.cpp", "\n")
        self.assert_reports(isa_symbols.check_objects(self.root, self.root / "build"), "not built")

    def test_include_of_the_library_through_a_kernel_header(self):
        self.write(self.FOLDER + "a.cpp", '#include <immintrin.h>\n#include "cpu/kernels/generic/b.hpp"\n')
        self.write("src/backend/cpu/kernels/generic/b.hpp", "#include <vector>\n")
        self.assert_reports(isa_symbols.check_includes(self.root), "b.hpp:1: 'vector'")


class Sizes(LintCase):
    def problems(self, name, text, exceptions=None):
        self.write(name, text)
        return sizes.check(self.root, exceptions or {})

    def body(self, lines, head="void f(int a)"):
        return head + " {\n" + "  call();\n" * (lines - 2) + "}\n"

    def test_function_length(self):
        self.assertEqual(self.problems("src/a.cpp", self.body(60)), [])
        self.assert_reports(self.problems("src/a.cpp", self.body(61)), "function f: 61, limit 60")

    def test_forms_of_functions(self):
        for head in ("Reader::Reader(int a) : size_(a), map_{a}", "auto f() const noexcept -> std::vector<int>",
                     "template <typename T>\nT f(std::function<int(int)> g = {})", "bool operator==(const A& a, const A& b)",
                     "TEST(Name, Does)", "[[nodiscard]] static int f(\n    int a)"):
            found = self.problems("src/a.cpp", "namespace x {\nclass A {\n public:\n" + self.body(70, head) + "};\n}\n")
            self.assertEqual(len(found), 1, f"{head}: {found}")
            self.assertIn("function", found[0])

    def test_kernel_length(self):
        self.assertEqual(self.problems("src/backend/cpu/kernels/avx2/a.cpp", self.body(100)), [])
        self.assertEqual(len(self.problems("src/backend/cpu/kernels/avx2/a.cpp", self.body(101))), 1)

    def test_file_and_header_length(self):
        self.assertEqual(self.problems("src/a.cpp", "int x;\n" * 500), [])
        self.assert_reports(self.problems("src/a.cpp", "int x;\n" * 501), "lines -: 501, limit 500")
        self.assert_reports(self.problems("src/a.hpp", "int x;\n" * 251), "src/a.hpp: lines -: 251, limit 250")

    def test_tables_do_not_count(self):
        table = "const Row kRows[] = {\n" + '    {"a", 1, {2, 3}},\n' * 600 + "};\n"
        self.assertEqual(self.problems("src/a.cpp", "namespace x {\n" + table + "}\n"), [])

    def test_nesting(self):
        three = "void f() {\n  if (a) {\n    for (;;) {\n      while (b) {\n        g();\n      }\n    }\n  }\n}\n"
        four = three.replace("g();", "if (c) {\n          g();\n        }")
        self.assertEqual(self.problems("src/a.cpp", three), [])
        self.assert_reports(self.problems("src/a.cpp", four), "nesting f: 4")

    def test_else_if_is_one_level(self):
        text = "void f() {\n  if (a) {\n  } else if (b) {\n  } else if (c) {\n  } else if (d) {\n  } else {\n  }\n}\n"
        self.assertEqual(self.problems("src/a.cpp", text), [])

    def test_parameters(self):
        self.assertEqual(self.problems("src/a.cpp", "void f(int a, A<int, int> b, int c, int d, int e) {\n}\n"), [])
        self.assert_reports(self.problems("src/a.cpp", "void f(int a, int b, int c, int d, int e, int g) {\n}\n"),
                            "parameters f: 6")

    def test_braces_in_literals_and_comments(self):
        text = 'void f() {\n  g("{{{", \'{\', R"(})");  // {\n  /* { */\n}\n' + "int x;\n" * 100
        self.assertEqual(self.problems("src/a.cpp", text), [])

    def test_exceptions(self):
        key = ("src/a.cpp", "function", "f")
        self.assertEqual(self.problems("src/a.cpp", self.body(61), {key: "why"}), [])
        self.assert_reports(self.problems("src/a.cpp", self.body(60), {key: "why"}), "not needed any more")

    def test_exception_without_reason(self):
        path = self.write("exceptions.txt", "src/a.cpp function f\n")
        self.assertRaises(SystemExit, sizes.read_exceptions, path)


class WithCompiler(LintCase):
    """A tree of two layers and the compile commands of a build that does (or does not) separate them."""

    def setUp(self):
        super().setUp()
        self.layer("base", "")
        self.layer("gguf", "base")
        for name in ("base", "gguf"):
            self.write(f"src/{name}/a.cpp", "\n")
            self.write(f"src/{name}/a.hpp", "#pragma once\n")
            root = self.root / "roots" / name
            root.mkdir(parents=True)
            (root / name).symlink_to(self.root / "src" / name)
        self.commands({"base": ["base"], "gguf": ["base", "gguf"]})

    def commands(self, roots):
        compiler = shutil.which("c++") or shutil.which("g++")
        entries = []
        for name, seen in roots.items():
            include = " ".join(f"-I{self.root}/roots/{other}" for other in seen)
            source = str(self.root / f"src/{name}/a.cpp")
            entries.append({"directory": str(self.root), "file": source,
                            "command": f"cmake -E env X=1 ccache {compiler} {include} -std=c++20 -o a.o -c {source}"})
        self.write("build/compile_commands.json", json.dumps(entries))

    def test_headers_that_stand_alone(self):
        self.write("src/gguf/a.hpp", '#pragma once\n#include <string>\n#include "base/a.hpp"\nstd::string f();\n')
        self.assertEqual(headers_alone.check(self.root, self.root / "build", 1), [])

    def test_header_that_needs_another(self):
        self.write("src/gguf/a.hpp", "#pragma once\nstd::string f();\n")
        self.assert_reports(headers_alone.check(self.root, self.root / "build", 1), "gguf/a.hpp: does not compile alone")

    def test_cache_notices_a_change_below(self):
        self.write("src/base/a.hpp", "#pragma once\nstruct A {};\n")
        self.write("src/gguf/a.hpp", '#pragma once\n#include "base/a.hpp"\ninline A a;\n')
        self.assertEqual(headers_alone.check(self.root, self.root / "build", 1), [])
        self.write("src/base/a.hpp", "#pragma once\nstruct B {};\n")
        self.assert_reports(headers_alone.check(self.root, self.root / "build", 1), "gguf/a.hpp: does not compile alone")

    def test_separate_roots(self):
        self.assertEqual(include_roots.check(self.root, self.root / "build"), [])

    def test_root_that_lets_too_much_through(self):
        self.commands({"base": ["base", "gguf"], "gguf": ["base", "gguf"]})
        self.assert_reports(include_roots.check(self.root, self.root / "build"), "base can include gguf/a.hpp")


class ForbiddenWords(LintCase):
    def test_each_rule(self):
        for text in ("see /work/x", "/tmp/w", "/root/x", "/home/jo/x", "https://pypi.org/x", "// TODO: x", "// FIXME", "a subagent",
                     "in the previous session", "issue #4"):
            self.write("src/a.cpp", text + "\n")
            self.assertEqual(len(forbidden_words.check(self.root)), 1, text)

    def test_words_that_only_look_alike(self):
        self.write("src/a.cpp", "the network/work/flow\n$HOME/root/x\n~/.cache\nAUTODOC\nllama_session\n")
        self.assertEqual(forbidden_words.check(self.root), [])


class Links(LintCase):
    def test_links(self):
        self.write("docs/a.md", "[x](b.md#part) [y](https://example.org) [z](#here)\n")
        self.write("docs/b.md", "\n")
        self.assertEqual(links.check(self.root), [])
        self.write("README.md", "[x](docs/missing.md)\n")
        self.assert_reports(links.check(self.root), "README.md:1: no such file: docs/missing.md")


class Readme(LintCase):
    TEXT = "<!-- checked -->\n```sh\n{}\n```\n\n```sh\nfalse\n```\n"

    def status(self, command):
        brisk = self.write("bin/brisk", "#!/bin/sh\ntest -e model.gguf\n")
        brisk.chmod(0o755)
        readme = self.write("README.md", self.TEXT.format(command))
        with contextlib.redirect_stdout(io.StringIO()):
            return readme_test.main(readme, brisk, self.write("tiny.gguf", ""))

    def test_only_checked_blocks_run(self):
        self.assertEqual(self.status("brisk run"), 0)

    def test_a_failing_command(self):
        self.assertEqual(self.status("brisk run\nexit 3"), 1)
        self.assertEqual(self.status("brisk run && false | true"), 1)

    def test_nothing_to_check(self):
        self.assertEqual(readme_test.blocks("```sh\nbrisk run\n```\n"), [])


@unittest.skipUnless(shutil.which("clang-format"), "needs clang-format")
class FormatCheck(LintCase):
    def test_format(self):
        shutil.copy(tree.REPOSITORY / ".clang-format", self.root)
        self.write("src/a.cpp", "int f() { return 1; }\n")
        self.assertEqual(format_check.check(self.root), [])
        self.write("src/a.cpp", "int  f( ) {return 1;}\n")
        self.assert_reports(format_check.check(self.root), "src/a.cpp: not as clang-format leaves it")


if __name__ == "__main__":
    unittest.main()
