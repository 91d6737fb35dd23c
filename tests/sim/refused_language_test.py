#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the simulator lacks of CUDA C++ does not compile: the compiler names it, and the line."""

import pathlib
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-std=c++20 -O2 -x c++ -DROOFTILE_SIM_PASS=1 -fPIC -c -o /dev/null".split()
HEAD = """#include "rooftile/tile/kernel_table.h"
#include "rooftile/tile/language.h"
"""
LINE = 3  # of the kernel

KERNEL = "__global__ void k(const float* in, float* out) {{ {} }}"
# What is said, and of what.
REFUSED = {
    **{
        f"out[0] = {call};": name
        for call, name in {
            "__expf(in[0])": "__expf",
            "__sinf(in[0])": "__sinf",
            "__cosf(in[0])": "__cosf",
            "__tanhf(in[0])": "__tanhf",
            "__logf(in[0])": "__logf",
            "__powf(in[0], in[1])": "__powf",
            "__fdividef(in[0], in[1])": "__fdividef",
            "tanhf(in[0])": "tanhf",
            "expf(in[0])": "expf",
            "rsqrtf(in[0])": "rsqrtf",
        }.items()
    },
    'float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(in[0])); out[0] = y;': "constraint",
    'asm volatile("bar.sync 0;");': "bar.sync",
    'asm volatile("membar.gl;" ::: "memory");': "membar.gl",
}
TABLES = {
    "struct P { char bytes[32765]; }; __global__ void k(P) {}": "32764 bytes of parameters",
    "struct P { P(const P&); int x; }; __global__ void k(P) {}": "byte by byte",
}
CLUSTER = "__global__ void __cluster_dims__(2, 1, 1) k(float* out) { out[0] = 1; }"


def compile(source):
    """The errors of the simulator's pass of a .cu file."""
    compiler = shutil.which("g++")
    done = subprocess.run([compiler, *FLAGS, "-I", str(ROOT), "-"], input=source, text=True,
                          capture_output=True, check=False)
    return done.returncode, done.stderr


class RefusedLanguage(unittest.TestCase):
    def expect_error(self, source, name, line=LINE):
        status, errors = compile(source)
        self.assertNotEqual(status, 0, source)
        self.assertRegex(errors, rf"<stdin>:{line}(.|\n)*{name}|{name}(.|\n)*<stdin>:{line}", source)

    def test_what_is_right_compiles(self):
        status, errors = compile(HEAD + KERNEL.format("out[0] = fmaf(in[0], in[1], 1);") +
                                 "\nROOFTILE_KERNEL_TABLE(table, ROOFTILE_KERNEL_ENTRY(k))\n")
        self.assertEqual(status, 0, errors)

    def test_functions_and_assembly_are_named(self):
        for body, name in REFUSED.items():
            with self.subTest(name):
                self.expect_error(HEAD + KERNEL.format(body) + "\n", name)

    def test_cluster_dimensions_are_named(self):
        self.expect_error(HEAD + CLUSTER + "\n", "__cluster_dims__")

    def test_parameters_are_named(self):
        for kernel, text in TABLES.items():
            with self.subTest(text):
                self.expect_error(HEAD + kernel +
                                  "\nROOFTILE_KERNEL_TABLE(table, ROOFTILE_KERNEL_ENTRY(k))\n",
                                  text, LINE + 1)


if __name__ == "__main__":
    if shutil.which("g++") is None:
        raise SystemExit(77)
    unittest.main()
