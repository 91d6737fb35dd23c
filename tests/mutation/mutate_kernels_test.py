# SPDX-License-Identifier: Apache-2.0
"""Which faults tools/mutate_kernels plants, what it makes of their outcomes, and a few of them in earnest."""
import os
import pathlib
import subprocess
import sys
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from mutation import report, rules, source, trial  # noqa: E402

KERNEL = """// i < n in a comment
#if ROOFTILE_DEVICE_CODE
constexpr int kSize = 64;
__global__ void f(int n, float* out) {
  __syncthreads();
  if (i < n && j >= 2) out[i + 1] = 0.5F;
  mbarrier_wait(&full[stage], parity);
  mbarrier_init(&full[0], 1);
  wgmma_wait_group<1>(sum);
  out[i] = i;
}
#else
void host(int n) {
  if (i < n) g(__syncthreads());
}
#endif
"""


def texts_of(code):
    """rule: the mutated lines of `code`."""
    texts = {}
    for mutant in rules.mutants_of("f.cu", code, share=1000):
        changed = code[:mutant.begin] + mutant.text + code[mutant.end:]
        texts.setdefault(mutant.rule, []).append(changed.splitlines()[mutant.line - 1].strip())
    return texts


class Rules(unittest.TestCase):
    def test_each_rule(self):
        texts = texts_of(KERNEL)
        self.assertEqual(texts["parity"], ["mbarrier_wait(&full[stage], (parity) ^ 1);"])
        self.assertEqual(texts["count"], ["mbarrier_init(&full[0], (1) + 1);", "mbarrier_init(&full[0], (1) - 1);"])
        self.assertEqual(texts["wait"], ["wgmma_wait_group<2>(sum);"])
        self.assertEqual(len(texts["synchronisation"]), 4)
        self.assertEqual(texts["bound"], ["if (i <= n && j >= 2) out[i + 1] = 0.5F;", "if (i < n && j > 2) out[i + 1] = 0.5F;"])
        self.assertEqual(texts["condition"], ["if (i < n || j >= 2) out[i + 1] = 0.5F;"])
        self.assertEqual(texts["mask"], ["if (true) out[i + 1] = 0.5F;"])
        self.assertEqual(texts["arithmetic"], ["if (i < n && j >= 2) out[i - 1] = 0.5F;"])
        self.assertIn("constexpr int kSize = 65;", texts["number"])
        self.assertEqual(texts["statement"], ["(void)0;"])

    def test_host_code_and_comments_stay(self):
        lines = {mutant.line for mutant in rules.mutants_of("f.cu", KERNEL, share=1000)}
        self.assertEqual(lines, {3, 5, 6, 7, 8, 9, 10})

    def test_the_sample_does_not_depend_on_other_lines(self):
        moved = [m._replace(line=m.line - 1)[:4] for m in rules.mutants_of("f.cu", "\n" + KERNEL)]
        self.assertEqual(moved, [m[:4] for m in rules.mutants_of("f.cu", KERNEL)])

    def test_initialiser_lists_are_code(self):
        code = "struct A {\n  __device__ A(int n) : end(n + 1) {}\n};\n"
        self.assertEqual([code[b:e] for b, e in source.regions(code)], [": end(n + 1) {"])


class Outcomes(unittest.TestCase):
    def faults(self, *outcomes):
        records = [{"name": "f.cu:1: x", "rule": "bound", "outcome": o, "check": "race"} for o in outcomes]
        return tool().faults_of(records, [], [], types.SimpleNamespace(only=None, sample=0))

    def test_survivors_need_a_reason(self):
        mutant = rules.Mutant("f.cu", 1, "bound", "< -> <=", 0, 1, "")
        survived = ("survived", "", "op/kernel", "", "3 problems passed")
        record = tool().record_of(mutant, survived, "if (i < n)", report.Reasons())
        self.assertEqual(record["outcome"], report.UNEXPLAINED)
        self.assertTrue(self.faults(report.UNEXPLAINED, *["caught"] * 99))

    def test_shares(self):
        self.assertFalse(self.faults("survived", *["caught"] * 19))
        self.assertTrue(self.faults("survived", *["caught"] * 18))
        self.assertFalse(self.faults(*["equivalent", "same code"] * 9, "caught"))
        self.assertTrue(self.faults("crash", *["caught"] * 99))
        self.assertTrue(self.faults())

    def test_what_caught(self):
        self.assertEqual(trial.what_caught("threw: k ((1)): 2 findings\n  missing wait: a.cu:1: b\n  race: c"),
                         ("missing wait", "a.cu:1: b"))
        self.assertEqual(trial.what_caught("schedule 1: gives other bits")[0], "other bits")
        self.assertEqual(trial.what_caught("wrote outside 'y'")[0], "memory")
        self.assertEqual(trial.what_caught("y[0]: 1, expected 2")[0], "wrong values")


def tool():
    """tools/mutate_kernels as a module: its name ends in nothing that Python knows."""
    module = types.ModuleType("mutate_kernels")
    exec(compile((ROOT / "tools/mutate_kernels").read_text(), "mutate_kernels", "exec"), module.__dict__)
    return module


# One of each kind of check, in the kernels' shared parts.
SAMPLE = [r"row_reduce.h:\d+: without __syncthreads", r"sm90_mainloop.h:\d+: without wgmma_fence",
          r"sm90_naive.cu:\d+: i >= call.m", r"sm90_epilogue.h:\d+: without fence_proxy_async_shared",
          r"sm90_epilogue.h:\d+: without bulk_wait_read", r"pipeline.h:\d+: without mbarrier_wait\("]


class Sample(unittest.TestCase):
    def test_a_few_mutants_are_caught(self):
        build = pathlib.Path(os.environ.get("ROOFTILE_PROGRAM", ROOT / "build/rooftile")).parent
        if not (build / "mutation/build.json").is_file():
            self.skipTest("not built for mutants")
        done = subprocess.run([sys.executable, str(ROOT / "tools/mutate_kernels"), "--build", str(build), "--only", "|".join(SAMPLE)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^7 mutants: 7 caught")


if __name__ == "__main__":
    unittest.main()
