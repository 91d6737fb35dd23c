# SPDX-License-Identifier: Apache-2.0
"""The --json output of the verbs is what docs/records.schema.json says, and the schema can say no."""
import copy
import json
import unittest

from cli_program import ROOT, Test, main, run_json

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMA = json.loads((ROOT / "docs/records.schema.json").read_text(encoding="utf-8"))
BENCH = ("bench", "softmax/cpu_simd", "rows=512", "cols=1024", "--budget", "0.05", "--against", "cpu_plain")


def validator():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    return jsonschema.Draft202012Validator(SCHEMA)


@unittest.skipIf(jsonschema is None, "the Python package jsonschema is missing; tools/setup test installs it")
class Schema(Test):
    def check(self, *arguments):
        done, file = run_json(*arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        faults = [f"{error.json_path}: {error.message}" for error in validator().iter_errors(file)]
        self.assertEqual(faults, [], " ".join(done.args))
        return file

    def test_verify(self):
        records = self.check("verify", "softmax", "--set", "smoke")["records"]
        self.assertTrue(records)
        self.assertTrue(all(record["op"] == "softmax" for record in records))

    def test_unsupported(self):
        records = self.check("verify", "gemm", "m=3", "n=4", "k=5", "a=fp16")["records"]
        for record in records:
            if record["status"] == "unsupported":
                self.assertTrue(record["reason"])

    def test_bench(self):
        record = self.check(*BENCH)["records"][0]
        self.assertEqual(record["kernel"], "softmax/cpu_simd")
        self.assertTrue(record["command"].startswith("rooftile bench softmax/cpu_simd rows=512"))

    def test_tune(self):
        self.check("tune", "softmax", "rows=64", "cols=64", "--budget", "0.02", "--hot")

    def test_devices(self):
        file = self.check("devices")
        for library in file["libraries"]:  # none without CUDA
            self.assertIn(library["name"], ("cuBLASLt", "cuDNN"))
        device = file["devices"][0]
        self.assertEqual(device["id"], "cpu")
        self.assertGreater(device["bytes_per_s"]["copy"]["per_s"], 0)

    def test_lists(self):
        for topic in ("ops", "kernels", "cases", "gpus", "dtypes", "devices"):
            self.assertTrue(self.check("list", topic)["rows"])

    def test_commit_comes_from_the_environment(self):
        _, file = run_json("verify", "softmax/cpu_simd", "rows=2", "cols=2", ROOFTILE_COMMIT="abc123")
        self.assertEqual(file["records"][0]["commit"], "abc123")

    def test_mutations_are_rejected(self):
        file = self.check(*BENCH)
        record = file["records"][0]
        if record["status"] != "passed":
            self.skipTest("the machine is too loaded for a valid record: " + record.get("reason", ""))
        for name, value in (("status", "fine"), ("origin", "guessed"), ("time_us", 3), ("kernel", "softmax"),
                            ("date", "yesterday"), ("tflops", "fast"), ("schema", 2), ("surprise", 1)):
            self.rejected(file, name, value)
        for name in ("op", "kernel", "problem", "device", "status", "command", "date", "time_us"):
            self.rejected(file, name, None)
        self.rejected(file, "time_us", {**record["time_us"], "n": 0})

    def rejected(self, file, name, value):
        changed = copy.deepcopy(file)
        if value is None:
            del changed["records"][0][name]
        else:
            changed["records"][0][name] = value
        self.assertFalse(validator().is_valid(changed), f"{name} = {value!r} is accepted")


if __name__ == "__main__":
    main()
