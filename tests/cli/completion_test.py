# SPDX-License-Identifier: Apache-2.0
"""Completion: what the program offers, and that bash gets it from the script."""
import os
import pathlib
import shutil
import subprocess
import unittest

from cli_program import PROGRAM, Test, main, run


def offered(*words):
    return [line.split("\t")[0] for line in run("__complete", *words).stdout.splitlines()]


class Candidates(Test):
    def test_verbs(self):
        self.assertLessEqual({"devices", "verify", "bench", "help"}, set(offered("")))
        self.assertEqual(offered("ver"), ["verify"])
        self.assertEqual(offered("help", "com"), ["compare", "completion"])

    def test_options_are_those_of_the_table(self):
        for verb in ("verify", "bench", "compare", "tune", "devices", "list", "report"):
            table = [line.split()[0] for line in run("__options", verb).stdout.splitlines()]
            self.assertEqual(offered(verb, "--"), table)

    def test_values_of_options(self):
        self.assertEqual(offered("verify", "--set", "ed"), ["edges"])
        devices = offered("verify", "--on", "")
        self.assertEqual(devices[0], "cpu")
        self.assertIn("sim:h200", devices)
        self.assertEqual(offered("verify", "--policy", ""), ["derived", "assert_close"])
        self.assertEqual(offered("verify", "--json", ""), [":files"])
        self.assertEqual(offered("report", ""), [":files"])
        self.assertEqual(offered("report", "p.json", "--report", ""), [":files"])
        self.assertIn("cpu_plain", offered("bench", "softmax", "rows=3", "--against", ""))

    def test_problems(self):
        self.assertLessEqual({"softmax", "softmax/cpu_simd"}, set(offered("bench", "softm")))
        self.assertIn("rows=", offered("bench", "softmax", ""))
        self.assertNotIn("rows=", offered("bench", "softmax", "rows=3", ""))
        self.assertIn("x=bf16", offered("bench", "softmax", "rows=3", "x="))
        self.assertEqual(offered("bench", "softmax", "data=un"), ["data=uniform"])
        self.assertEqual(offered("bench", "gemm", "act=sig"), ["act=sigmoid"])
        self.assertEqual(offered("bench", "--set", "ci", "gemm", "layout=n"), ["layout=nn", "layout=nt"])
        self.assertIn("x.stride=", offered("bench", "softmax", "x."))

    def test_lists(self):
        self.assertIn("kernels", offered("list", ""))
        self.assertIn("softmax", offered("list", "kernels", ""))
        self.assertEqual(offered("completion", "b"), ["bash"])

    def test_nonsense_is_silent(self):
        for words in ((), ("nonsense", ""), ("bench", "nonsense", "x="), ("bench", "--plugin", "none.so", "")):
            done = run("__complete", *words)
            self.expect(done, 0)
            self.assertEqual(done.stderr, "")


class Bash(Test):
    def complete(self, line):
        """The COMPREPLY that the script gives for `line`, the cursor at its end."""
        folder = str(pathlib.Path(PROGRAM).resolve().parent)
        script = ('eval "$(rooftile completion bash)"; COMP_LINE=$1; COMP_POINT=${#1}; _rooftile; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, encoding="utf-8",
                              env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]}, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_lines(self):
        self.assertEqual(self.complete("rooftile ver"), ["verify"])
        self.assertEqual(self.complete("rooftile bench softmax ro"), ["rows="])
        # bash has split the word at '=': only what follows is its to replace.
        self.assertEqual(self.complete("rooftile bench softmax rows=3 data=un"), ["uniform"])
        self.assertIn("edges", self.complete("rooftile verify --set "))

    def test_scripts_parse(self):
        for shell in ("bash", "zsh", "fish"):
            done = run("completion", shell)
            self.expect(done, 0, "__complete")
            if shutil.which(shell):
                checked = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, encoding="utf-8",
                                         check=False)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""))


if __name__ == "__main__":
    main()
