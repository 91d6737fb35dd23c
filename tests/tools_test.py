# SPDX-License-Identifier: Apache-2.0
"""Plants a violation of each rule in a small tree, and expects the tool that checks it to fail."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent / "tools"
# A tree that breaks no rule.
CLEAN = {
    "rooftile/ops/catalogue.inc": "ROOFTILE_OP(frobnicate)\n// ROOFTILE_OP(retired)\n",
    "rooftile/ops/frobnicate/op.cc": '#include "rooftile/op/op.h"\n',
    "rooftile/op/op.h": '#include "rooftile/core/shape.h"\n',
    "rooftile/core/shape.h": "#include <vector>\n",
    "apps/rooftile/main.cc": '#include "rooftile/ops/catalogue.h"  // frobnicate is an example\n',
}


class ToolTest(unittest.TestCase):
    def run_tool(self, tool, changed, *args):
        """Exit status and output over CLEAN with `changed` files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **changed}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, str(TOOLS / tool), "--root", folder, *args],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
            return done.returncode, done.stdout

    def expect_clean(self, tool, changed):
        status, output = self.run_tool(tool, changed)
        self.assertEqual(status, 0, output)

    def expect_problem(self, tool, changed, expected):
        status, output = self.run_tool(tool, changed)
        self.assertEqual(status, 1, output)
        self.assertIn(expected, output)
        self.assertEqual(output.count(", 1 problems"), 1, output)


class Layers(ToolTest):
    def test_clean_tree_passes(self):
        self.expect_clean("check_layers", {})

    def test_upward_include(self):
        self.expect_problem("check_layers", {"rooftile/core/dtype.cc": '\n#include "rooftile/op/op.h"\n'},
                            "rooftile/core/dtype.cc:2: includes rooftile/op/op.h")

    def test_upward_include_in_angle_brackets(self):
        self.expect_problem("check_layers", {"rooftile/base/text.h": "# include <rooftile/core/shape.h>\n"},
                            "rooftile/base/text.h:1")

    def test_sideways_between_layers(self):
        self.expect_problem("check_layers", {"rooftile/hardware/gpu.h": '#include "rooftile/formats/fp8.h"\n'},
                            "rooftile/hardware/gpu.h:1")

    def test_workbench_may_not_know_operations(self):
        self.expect_problem("check_layers", {"rooftile/workbench/a_test.cc": '#include "rooftile/ops/x/x.h"\n'},
                            "rooftile/workbench/a_test.cc:1")

    def test_operation_may_not_include_another(self):
        self.expect_problem("check_layers", {"rooftile/ops/copy/op.cc": '#include "rooftile/ops/frobnicate/f.h"\n'},
                            "operation copy may not include frobnicate")

    def test_operation_may_include_the_catalogue_and_itself(self):
        self.expect_clean("check_layers", {"rooftile/ops/copy/op.cc":
                                           '#include "rooftile/ops/catalogue.h"\n#include "rooftile/ops/copy/c.h"\n'})

    def test_catalogue_may_include_operations(self):
        self.expect_clean("check_layers", {"rooftile/ops/catalogue.cc": '#include "rooftile/ops/copy/c.h"\n'})

    def test_unknown_layer(self):
        self.expect_problem("check_layers", {"rooftile/utils/u.h": "\n"}, "utils is no layer")
        self.expect_problem("check_layers", {"apps/a.cc": '#include "rooftile/utils/u.h"\n'}, "utils is no layer")

    def test_paths_start_at_the_root(self):
        self.expect_problem("check_layers", {"rooftile/core/a.cc": '#include "shape.h"\n'}, "from its root")
        self.expect_problem("check_layers", {"rooftile/core/a.cc": '#include "../op/op.h"\n'}, "from its root")

    def test_comments_are_no_includes(self):
        self.expect_clean("check_layers", {"rooftile/base/a.h": '/*\n#include "rooftile/op/op.h"\n*/\n'})

    def test_an_empty_tree_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            status = subprocess.run([sys.executable, str(TOOLS / "check_layers"), "--root", folder],
                                    stdout=subprocess.DEVNULL).returncode
        self.assertEqual(status, 1)


class Names(ToolTest):
    def test_clean_tree_passes(self):
        self.expect_clean("check_names", {})

    def test_name_in_a_string(self):
        self.expect_problem("check_names", {"rooftile/workbench/a.cc": 'auto s = "frobnicate/cpu";\n'},
                            "rooftile/workbench/a.cc:1: generic code may not name the operation frobnicate")

    def test_name_after_marks_of_a_comment_in_a_string(self):
        self.expect_problem("check_names", {"apps/a.cc": 'f("https://x", "frobnicate");\n'}, "apps/a.cc:1")

    def test_name_as_an_identifier(self):
        self.expect_problem("check_names", {"apps/rooftile/a.cc": "\n\nauto x = ops::frobnicate(1);\n"},
                            "apps/rooftile/a.cc:3")

    def test_name_in_a_script(self):
        self.expect_problem("check_names", {"python/a.py": "x = 'frobnicate'  # the first\n"}, "python/a.py:1")
        self.expect_clean("check_names", {"python/tests/a.py": "x = 'frobnicate'\n"})

    def test_name_in_a_comment_or_within_a_word(self):
        self.expect_clean("check_names", {"rooftile/workbench/a.cc": "/* frobnicate */ int frobnicated; // frobnicate\n",
                                          "python/a.py": "x = 1  # frobnicate\n", "docs/a.md": "frobnicate\n"})

    def test_names_that_are_ordinary_words(self):
        catalogue = {"rooftile/ops/catalogue.inc": "ROOFTILE_OP(frobnicate)\nROOFTILE_OP(add)\n"}
        for code in ('f("add");', "x = 'add/cpu'", 'f("add rows=3");', 'f("rooftile verify add rows=3");',
                     "ops::add::run();"):
            self.expect_problem("check_names", {**catalogue, "apps/a.py": code + "\n"}, "may not name the operation add")
        for code in ("list.add(1);", 'f("add an option");', "void add(int);"):
            self.expect_clean("check_names", {**catalogue, "apps/a.cc": code + "\n"})

    def test_include_of_operations(self):
        self.expect_problem("check_names", {"apps/a.cc": '#include "rooftile/ops/copy/copy.h"\n'}, "may not include")
        self.expect_problem("check_names", {"rooftile/workbench/a.cc": '#include "rooftile/ops/catalogue.h"\n'},
                            "may not include")

    def test_missing_catalogue(self):
        self.expect_problem("check_names", {"rooftile/ops/catalogue.inc": "\n"}, "lists no operation")

    def test_machines(self):
        for text in ("cd /wor" "k/main", "HOME=/roo" "t/x", "https://pyp" "i.org/simple", "http://deb.debia" "n.org"):
            self.expect_problem("check_names", {"docs/a.md": text + "\n"}, "docs/a.md:1: has")
        self.expect_clean("check_names", {"docs/a.md": "docs/wor" "k/x and ${prefix}/roo" "t/x\n"})


class Sizes(ToolTest):
    def test_clean_tree_passes(self):
        self.expect_clean("size_table", {})

    def test_long_file(self):
        self.expect_clean("size_table", {"rooftile/core/a.cc": "\n" * 500})
        self.expect_problem("size_table", {"rooftile/core/a.cc": "\n" * 501}, "rooftile/core/a.cc:501: longer")

    def test_long_function_is_listed(self):
        code = 'namespace a {\nint f(const char* s = "{") {\n' + "  g();\n" * 70 + "}\nint h() { return 1; }\n}\n"
        status, output = self.run_tool("size_table", {"rooftile/core/a.cc": code})
        self.assertEqual(status, 0)
        self.assertIn("rooftile/core/a.cc:2: 72 lines", output)
        self.assertNotIn("h()", output)


class Format(ToolTest):
    def test_badly_formatted_file(self):
        style = {".clang-format": "BasedOnStyle: Google\n"}
        status, output = self.run_tool("format", {**style, "rooftile/core/a.cc": "int  f( ){return 1 ;}\n"}, "--check")
        if status == 77:
            self.skipTest("clang-format is missing")
        self.assertEqual(status, 1, output)
        status, output = self.run_tool("format", style, "--check")
        self.assertEqual(status, 0, output)


class Tidy(ToolTest):
    def test_finding(self):
        for text, expected in (("int* f() { return 0; }\n", 1), ("int* f() { return nullptr; }\n", 0)):
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                (root / ".clang-tidy").write_text("Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n")
                (root / "a.cc").write_text(text)
                (root / "build").mkdir()
                (root / "build/compile_commands.json").write_text(
                    '[{"directory": "%s", "file": "a.cc", "command": "g++ -c a.cc"}]' % root.resolve())
                status, output = self.run_tidy(root)
            if status == 77:
                self.skipTest("clang-tidy is missing")
            self.assertEqual(status, expected, output)

    def run_tidy(self, root):
        done = subprocess.run([sys.executable, str(TOOLS / "tidy"), "--root", str(root), "--build", str(root / "build")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        return done.returncode, done.stdout


class Help(unittest.TestCase):
    def test_every_tool_has_help(self):
        for tool in ("check_layers", "check_names", "size_table", "format", "tidy", "setup", "mutate_kernels"):
            done = subprocess.run([str(TOOLS / tool), "--help"], stdout=subprocess.PIPE, universal_newlines=True)
            self.assertEqual(done.returncode, 0, tool)
            self.assertIn("usage", done.stdout, tool)


if __name__ == "__main__":
    unittest.main()
