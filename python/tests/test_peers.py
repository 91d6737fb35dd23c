# SPDX-License-Identifier: Apache-2.0
"""benchmarks/peers.py runs on a cpu, whatever frameworks there are, and writes what the schema says."""
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def test_smoke_run(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    path = tmp_path / "peers.json"
    done = subprocess.run([sys.executable, str(ROOT / "benchmarks/peers.py"), "--device", "cpu", "--turns", "2", "--json", str(path)],
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    file = json.loads(path.read_text())
    assert {record["op"] for record in file["records"]} == {"rmsnorm", "layernorm", "softmax", "glu", "chain", "norm", "gemm"}
    schema = json.loads((ROOT / "docs/records.schema.json").read_text())
    assert not [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(file)]
