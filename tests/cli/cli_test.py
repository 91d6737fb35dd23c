# SPDX-License-Identifier: Apache-2.0
"""What the program says and how it exits: bad input of every kind, and the pages of docs/cli."""
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from cli_program import PROGRAM, ROOT, Test, main, run, run_json

VERBS = ("devices", "list", "verify", "bench", "compare", "tune", "run", "check", "profile", "report", "completion")
SMALL = ("rows=3", "cols=5")


class BadInput(Test):
    def refused(self, arguments, *words):
        self.expect(run(*arguments), 2, *words)

    def test_unknown_verb(self):
        self.refused(["verfy"], "unknown verb 'verfy'", "'verify'")

    def test_unknown_option(self):
        self.refused(["verify", "--sett", "ci"], "unknown option '--sett'", "'--set'")

    def test_option_before_the_verb(self):
        self.refused(["--on", "cpu"], "'--on'", "a verb comes first")

    def test_option_without_value(self):
        self.refused(["verify", "--set"], "'--set' needs a value", "--set SET")
        self.refused(["verify", "--set", "--verbose"], "'--set' needs a value")

    def test_switch_with_value(self):
        self.refused(["bench", "--hot=1"], "'--hot' takes no value")

    def test_option_given_twice(self):
        self.refused(["verify", "--seed", "1", "--seed", "2"], "'--seed' is given twice")

    def test_option_values(self):
        self.refused(["verify", "--policy", "assert_clos"], "assert_clos", "'assert_close'")
        self.refused(["verify", "--repeats", "0"], "--repeats='0'", "from 1 to 1000")
        self.refused(["bench", "softmax", *SMALL, "--budget", "soon"], "--budget='soon'", "number")
        self.refused(["bench", "softmax", *SMALL, "--hot", "--cold"], "--cold, --hot or --graph")

    def test_unknown_operation(self):
        self.refused(["verify", "softmx"], "unknown operation 'softmx'", "'softmax'")
        self.refused(["list", "kernels", "softmx"], "unknown operation 'softmx'")

    def test_unknown_kernel(self):
        for arguments in (["verify", "softmax/cpu_sim"], ["bench", "softmax/cpu_sim", *SMALL],
                          ["bench", "softmax", *SMALL, "--against", "cpu_sim"]):
            self.refused(arguments, "unknown kernel of softmax 'cpu_sim'", "'cpu_simd'")

    def test_unknown_axis(self):
        self.refused(["verify", "softmax", "row=3", "cols=5"], "'row'", "'rows'")

    def test_missing_axis(self):
        self.refused(["bench", "softmax", "rows=3"], "axis 'cols' is missing", "rows, cols")

    def test_dtype(self):
        self.refused(["verify", "softmax", *SMALL, "x=complex64"], "complex64", "allowed", "bf16", "f32")
        self.refused(["verify", "softmax", *SMALL, "x=i32"], "x=i32", "this argument takes", "bf16")

    def test_dtype_that_the_kernel_lacks(self):
        problem = ["gemm/openblas", "m=4", "n=4", "k=4", "a=bf16"]
        for verb in ("verify", "bench"):
            self.refused([verb, *problem], "gemm/openblas: ")

    def test_extents(self):
        self.refused(["verify", "softmax", "rows=-1", "cols=5"], "rows=-1", "at least 0")
        self.refused(["verify", "rmsnorm", "rows=3", "cols=0"], "cols=0", "at least 1")
        self.refused(["verify", "softmax", "rows=x", "cols=5"], "rows='x'", "whole number")
        self.refused(["verify", "softmax", "rows=3", "rows=4", "cols=5"], "'rows' is given twice")

    def test_products_that_overflow(self):
        start = time.monotonic()
        for verb in ("verify", "bench"):
            self.refused([verb, "softmax", "rows=4000000000", "cols=4000000000"], "x")
        self.assertLess(time.monotonic() - start, 20)

    def test_more_than_the_memory(self):
        self.refused(["verify", "softmax", "rows=4000000", "cols=4000000"], "needs", "there are")

    def test_options_of_the_operation(self):
        self.refused(["verify", "gemm", "m=2", "n=2", "k=2", "act=gellu"], "'gellu'", "'gelu'")
        self.refused(["verify", "softmax", *SMALL, "data=rand"], "unknown data 'rand'", "'randn'")

    def test_word_that_is_no_assignment(self):
        self.refused(["verify", "softmax", "rows"], "'rows'", "name=value")

    def test_device(self):
        self.refused(["verify", "--on", "disk:9"], "unknown device 'disk:9'", "cpu", "sim:h200")
        self.refused(["verify", "--on", "cuda:9"], "cuda:9")

    def test_set(self):
        self.refused(["verify", "--set", "edge"], "unknown set 'edge'", "'edges'")
        self.refused(["verify", "softmax", *SMALL, "--set", "ci"], "one of them")

    def test_graph_on_the_cpu(self):
        self.refused(["bench", "softmax", *SMALL, "--graph"], "--graph", "cpu has no graphs")

    def test_plugin(self):
        self.refused(["list", "ops", "--plugin", "no/such/file.so"], "no/such/file.so")

    def test_list(self):
        self.refused(["list"], "ops", "kernels")
        self.refused(["list", "kernel"], "'kernel'", "'kernels'")

    def test_compare(self):
        self.refused(["compare", "softmax/cpu_simd"], "two kernels")
        self.refused(["compare", "softmax/cpu_simd", "gemm/reference", *SMALL], "different operations")
        self.refused(["compare", "softmax/cpu_simd", "softmax/cpu_plain"], "needs a problem")
        self.refused(["compare", "no.json", "no.json"], "no.json", "no such file")
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder, "broken.json")
            for text in ("", "{", "[]", '{"schema": 99, "records": []}', '{"schema": 1, "records": [3]}'):
                broken.write_text(text)
                self.refused(["compare", str(broken), str(broken)], "broken.json", "not a file of records")

    def test_json_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            for path in (f"{folder}/none/a.json", folder, ""):
                self.refused(["verify", "--json", path], f"cannot write '{path}'")
            self.assertLess(time.monotonic() - start, 20)
            self.assertEqual(os.listdir(folder), [])

    def test_nothing_is_written_after_bad_input(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a.json")
            self.refused(["verify", "softmax", "rows=3", "--json", str(path)], "axis 'cols' is missing")
            self.assertEqual(os.listdir(folder), [])


class Works(Test):
    def test_empty_problem(self):
        self.expect(run("verify", "softmax", "rows=0", "cols=8"), 0, "0 failed")

    def test_every_verify_line_ends_with_its_command(self):
        done = run("verify", "softmax", *SMALL)
        self.expect(done, 0)
        lines = [line for line in done.stdout.splitlines() if line.startswith("  cpu_")]
        self.assertTrue(lines, done.stdout)
        for line in lines:
            command = line[line.index("rooftile verify softmax/"):].split()
            self.expect(run(*command[1:]), 0)

    def test_bench(self):
        problem = ("rows=64", "cols=64")
        done = run("bench", "softmax/cpu_simd", *problem, "--hot", "--budget", "0.05", "--against", "cpu_plain")
        self.assertIn(done.returncode, (0, 1), done.stderr)  # a loaded machine may give an invalid time
        self.assertIn("rooftile bench softmax/cpu_simd rows=64 cols=64", done.stdout)
        self.assertIn("--against cpu_plain --hot --budget 0.05", done.stdout)

    def test_bench_against_vendor_where_there_is_none(self):
        _, results = run_json("bench", "softmax", "rows=64", "cols=64", "--hot", "--budget", "0.05",
                              "--against", "vendor")
        record = results["records"][0]
        self.assertNotIn("against", record)
        self.assertIn("--against vendor --hot --budget 0.05", record["command"])

    def test_bench_of_a_configuration(self):
        simulated = ("bench", "gemm/sm90_stream", "m=16", "n=256", "k=256", "a=bf16", "layout=nt", "--on", "sim:h200")
        _, results = run_json(*simulated, "--config", "rows=64 split=1 share=2 halves=1")
        record = results["records"][0]
        self.assertEqual("rows=64 split=1 share=2 halves=1", record["config"])
        self.assertIn("--config 'rows=64 split=1 share=2 halves=1'", record["command"])
        self.expect(run(*simulated, "--config", "rows=7"), 2, "offers 'rows=")
        self.expect(run("bench", "softmax", "--all-kernels", "--config", "rows=7"), 2, "--all-kernels")

    def test_nothing_ran(self):
        done = run("verify", "gemm/openblas", "--set", "ci", "--seed", "3", ROOFTILE_OPENBLAS="none")
        if "0 passed, 0 failed" in done.stdout:  # this machine lacks the library
            self.expect(done, 1, "0 ran")

    def test_json_on_stdout_is_json_alone(self):
        done, _ = run_json("list", "ops")
        self.expect(done, 0)
        self.assertIn("operation", done.stderr)

    def test_closed_pipe(self):
        # Closed before the program writes: it must end by itself, without a message.
        with subprocess.Popen([PROGRAM, "list", "cases"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            message = process.stderr.read()
            status = process.wait(timeout=60)
        self.assertIn(status, (0, 141))
        self.assertEqual(message, b"")

    def test_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([PROGRAM, "list", "cases"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot write to standard output", done.stderr)

    def test_no_escapes_in_a_pipe(self):
        self.assertNotIn("\033", run("list", "kernels").stdout)

    def test_version(self):
        self.expect(run("--version"), 0, "rooftile ")


class Pages(Test):
    def test_help(self):
        overview = run("--help").stdout
        self.assertEqual(overview, run().stdout)
        self.assertEqual(overview, run("help").stdout)
        for verb in VERBS:
            self.assertIn(f"\n  {verb} ", overview)
            page = run(verb, "--help")
            self.expect(page, 0, f"rooftile {verb}")
            self.assertEqual(page.stdout, run("help", verb).stdout)
            self.assertEqual(page.stdout, run(verb, "--nonsense", "-h").stdout)

    def test_pages_show_the_table_of_options(self):
        for verb in VERBS:
            page = (ROOT / f"docs/cli/{verb}.md").read_text(encoding="utf-8")
            shown = page.split("## Options\n\n```\n")[1].split("```")[0]
            self.assertEqual(shown, run("__options", verb).stdout, f"docs/cli/{verb}.md")

    def test_no_page_without_a_verb(self):
        pages = {path.stem for path in (ROOT / "docs/cli").glob("*.md")}
        self.assertEqual(pages, {*VERBS, "rooftile"})

    def test_examples_parse(self):
        for verb in VERBS:
            page = (ROOT / f"docs/cli/{verb}.md").read_text(encoding="utf-8")
            if "## Examples" not in page:
                continue
            for line in page.split("## Examples")[1].splitlines():
                if line.startswith("rooftile "):
                    self.assertEqual(line.split()[1], verb)


if __name__ == "__main__":
    main()
