# SPDX-License-Identifier: Apache-2.0
"""What benchmarks/peers.py makes of its times, and tools/make_tables of its records; no GPU, no framework."""
import json
import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tools")]
import peer_records  # noqa: E402
import peer_tables  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

RUN = {"device": "cuda:0", "device_name": "NVIDIA H200, 132 compute units, sm90",
       "command": "benchmarks/peers.py --only softmax --turns 4 --device cuda:0", "clocks_mhz": 1980.0}
TIMES = {"rooftile": [10, 20, 10, 20], "torch/eager": [20, 40, 20, 44], "triton/softmax": [9, 22, 10, 20]}


def case(**changed):
    values = {"op": "softmax", "title": "softmax 2 x 3", "kernel": "softmax/sm90_rows", "mode": "cold",
              "line": "softmax/sm90_rows rows=2 cols=3 x=bf16", "code_hash": "ab", "operations": 24.0, "bytes": 24.0,
              "notes": {"torch/eager": "torch/eager torch=2.11.0"}}
    return types.SimpleNamespace(**{**values, **changed})


class Numbers(unittest.TestCase):
    def test_quantiles(self):
        self.assertEqual(peer_records.quantiles(range(11, 0, -1)), {"median": 6, "p10": 2, "p90": 10, "n": 11})

    def test_ratios_are_of_pairs(self):
        """Both take twice as long in the second turn: no spread."""
        self.assertEqual(peer_records.ratios([20, 40], [10, 20]), {"median": 2, "p10": 2, "p90": 2, "n": 2})
        with self.assertRaises(ValueError):
            peer_records.ratios([1, 2], [1])

    def test_verdicts(self):
        for p10, p90, expected in ((1.01, 1.2, "faster"), (0.8, 0.99, "slower"), (0.98, 1.02, "same"), (0.9, 1.2, "cannot tell")):
            self.assertEqual(peer_records.verdict({"p10": p10, "p90": p90}), expected)

    def test_everyone_is_first_as_often(self):
        firsts = [peer_records.rotated(["a", "b", "c"], turn)[0] for turn in range(6)]
        self.assertEqual(firsts, ["a", "b", "c"] * 2)
        self.assertEqual(peer_records.rotated(["a", "b", "c"], 2), ["c", "a", "b"])


class Records(unittest.TestCase):
    def test_one_for_each_peer(self):
        records = list(peer_records.records_of(case(), TIMES, RUN))
        self.assertEqual([r["against"]["kernel"] for r in records], ["torch/eager torch=2.11.0", "triton/softmax"])
        self.assertEqual([r["against"]["verdict"] for r in records], ["faster", "cannot tell"])
        self.assertAlmostEqual(records[0]["gbytes_per_s"], 24 / 20e-6 / 1e9)

    @unittest.skipIf(jsonschema is None, "the Python package jsonschema is missing; tools/setup test installs it")
    def test_schema(self):
        schema = json.loads((ROOT / "docs/records.schema.json").read_text())
        file = {"schema": 1, "device": "cuda:0", "records": list(peer_records.records_of(case(), TIMES, RUN))}
        faults = list(jsonschema.Draft202012Validator(schema).iter_errors(file))
        self.assertEqual(faults, [])
        file["records"][0]["command"] = "elsewhere"
        self.assertFalse(jsonschema.Draft202012Validator(schema).is_valid(file))


class Tables(unittest.TestCase):
    def table_of(self, *cases):
        records = [r for one in cases for r in peer_records.records_of(one, TIMES, RUN)]
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "peers.json").write_text(json.dumps({"schema": 1, "device": "cuda:0", "records": records}))
            return peer_tables.peers_table(pathlib.Path(folder), "peers.json", lambda us: f"{us} us")

    def test_rows_and_columns(self):
        graph = case(mode="graph", line="softmax/sm90_rows rows=2 cols=3 x=bf16 residual=bf16")
        text = self.table_of(case(), graph)
        self.assertIn("| problem | Rooftile | PyTorch | Triton |\n", text)
        self.assertIn("| softmax rows=2 cols=3 | 20 us sm90_rows | **2.00 (2.00 to 2.20)** | 1.00 (0.90 to 1.10) |\n", text)
        self.assertIn("| softmax + residual rows=2 cols=3, in a CUDA graph |", text)
        self.assertIn("torch 2.11.0. [peers.json]", text)

    def test_the_faster_of_two_in_a_column(self):
        with_two = {**TIMES, "torch/rms_norm": [30] * 4, "torch/other": [15] * 4}
        records = [r for r in peer_records.records_of(case(), with_two, RUN) if "torch/" in r["against"]["kernel"]]
        self.assertEqual(peer_tables.best_cell(records[1:]), peer_tables.cell(records[2]["against"]))

    def test_unknown_peers_are_refused(self):
        with self.assertRaises(SystemExit):
            peer_tables.column_of({"against": {"kernel": "abacus/slow"}})


if __name__ == "__main__":
    unittest.main()
