# SPDX-License-Identifier: Apache-2.0
"""Runs the program under test with a cache of its own: ROOFTILE_PROGRAM names it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("ROOFTILE_PROGRAM", "build/rooftile")
ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS = 120

# One measurement of the ceilings serves every test of the process.
_cache = tempfile.TemporaryDirectory(prefix="rooftile-cli-")


def run(*arguments, seconds=SECONDS, **environment):
    """The finished process; its text is decoded, its stdin closed."""
    own = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "ROOFTILE_STRICT")}
    own.update(ROOFTILE_CACHE=_cache.name, **environment)
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", timeout=seconds, env=own, check=False)


def run_json(*arguments, **environment):
    """The process and what it wrote to --json -."""
    done = run(*arguments, "--json", "-", **environment)
    try:
        return done, json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise AssertionError(f"no JSON: {error}\nstdout: {done.stdout!r}\nstderr: {done.stderr!r}") from error


class Test(unittest.TestCase):
    def expect(self, done, status, *words):
        """Checks the exit status, and that stderr (status 2) or any output has every word."""
        shown = f"{' '.join(done.args)}\nstatus {done.returncode}\nstdout: {done.stdout}\nstderr: {done.stderr}"
        self.assertEqual(done.returncode, status, shown)
        text = done.stderr if status == 2 else done.stdout + done.stderr
        for word in words:
            self.assertIn(word, text, shown)
        if status == 2:
            self.assertTrue(done.stderr.startswith("rooftile: error: "), shown)
            self.assertEqual(done.stdout, "", shown)


def main():
    print(f"program: {PROGRAM}")
    unittest.main(verbosity=1, module=sys.modules["__main__"])
