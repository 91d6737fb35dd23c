# SPDX-License-Identifier: Apache-2.0
"""The verbs that run models, on one with random weights and on files that are no models."""
import json
import pathlib
import struct
import tempfile
import unittest

from cli_program import ROOT, Test, main, run, run_json

MODEL = "synthetic:smollm2-135m"
PROMPT = ("--prompt", "a roof of tiles")


class Run(Test):
    def test_the_same_seed_gives_the_same_tokens(self):
        command = ("run", MODEL, *PROMPT, "--max-tokens", "6", "--temperature", "0.9", "--seed", "3")
        first, again = run_json(*command)[1], run_json(*command)[1]
        self.assertEqual(first["token_ids"], again["token_ids"])
        self.assertEqual(first["hash"], again["hash"])
        self.assertEqual(len(first["token_ids"]), 6)
        self.assertTrue(first["synthetic"])
        self.assertEqual(first["prefill"]["tokens"], len(first["prompt_ids"]))
        other = run_json(*command[:-1], "4")[1]
        self.assertNotEqual(first["token_ids"], other["token_ids"])

    def test_resumes_what_was_saved(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = str(pathlib.Path(folder) / "kept.kv")
            first = run_json("run", MODEL, *PROMPT, "--max-tokens", "4", "--save", kept)[1]
            more = run_json("run", MODEL, "--prompt", "and", "--max-tokens", "3", "--resume", kept)[1]
            self.assertEqual(more["prompt_ids"], first["prompt_ids"] + first["token_ids"] + [ord(c) for c in "and"])
            self.assertGreaterEqual(more["prefill"]["cached_tokens"], 16)
            straight_on = run_json("run", MODEL, "--max-tokens", "3", "--resume", kept)[1]
            whole = run_json("run", MODEL, *PROMPT, "--max-tokens", "7")[1]
            self.assertEqual(whole["token_ids"], first["token_ids"] + straight_on["token_ids"])
            self.expect(run("run", MODEL, *PROMPT, "--kv", "f32", "--resume", kept), 2, "another shape or dtype")
            pathlib.Path(kept).write_bytes(pathlib.Path(kept).read_bytes()[:-9])
            self.expect(run("run", MODEL, *PROMPT, "--resume", kept), 2, "kept.kv")

    def test_figures_are_printed(self):
        done = run("run", MODEL, *PROMPT, "--max-tokens", "3")
        self.expect(done, 0, "tokens/s", "% MFU", "% of the measured read rate", "x the model", "hash ", "synthetic weights")

    def test_memory_is_reported(self):
        memory = run_json("run", MODEL, *PROMPT, "--max-tokens", "3")[1]["memory"]
        self.assertGreater(memory["kv_cache_bytes"], 0)
        self.assertGreater(memory["peak_bytes"], memory["model_bytes"] + memory["kv_cache_bytes"])
        # The requirement of 1.3 is of a real model; this one has 136 MiB of weights.
        self.assertLess(memory["peak_bytes"], 1.5 * (memory["model_bytes"] + memory["kv_cache_bytes"]))

    def test_no_token_at_all(self):
        self.assertEqual(run_json("run", MODEL, *PROMPT, "--max-tokens", "0")[1]["token_ids"], [])


class CheckAndProfile(Test):
    def test_check_passes(self):
        done = run("check", MODEL, "--max-tokens", "4", "--prompt", "a roof of tiles keeps the rain out", seconds=400)
        self.expect(done, 0, "packed values", "chunked prompt", "saved and resumed", "kernels at the model's shapes")
        self.assertNotIn("FAILED", done.stdout)

    def test_profile_writes_what_it_is_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            page, trace, profile = (pathlib.Path(folder) / name for name in ("p.html", "t.json", "p.json"))
            done = run("profile", MODEL, *PROMPT, "--max-tokens", "3", "--report", str(page), "--trace", str(trace), "--json", str(profile))
            self.expect(done, 0, "Decode", "What to do next")
            self.assertIn("synthetic", page.read_text(encoding="utf-8"))
            self.assertTrue(json.loads(trace.read_text())["traceEvents"])
            again = pathlib.Path(folder) / "again.html"
            self.expect(run("report", str(profile), "--report", str(again)), 0)
            self.assertEqual(page.read_text(encoding="utf-8"), again.read_text(encoding="utf-8"))


class BadInput(Test):
    def refused(self, arguments, *words):
        self.expect(run(*arguments), 2, *words)

    def test_models_that_are_none(self):
        self.refused(["run", "no-such-file.gguf", *PROMPT], "no-such-file.gguf")
        self.refused(["run", "synthetic:llama-3.2-1c", *PROMPT], "synthetic model 'llama-3.2-1c'", "'llama-3.2-1b'")
        self.refused(["run", *PROMPT], "name one model")
        with tempfile.TemporaryDirectory() as folder:
            self.refused(["run", folder, *PROMPT], folder)

    def test_damaged_files(self):
        good = (ROOT / "tests/fuzz/corpus/gguf/llama").read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bad.gguf"
            for damaged in (b"", b"GGUF", good[:100], good[:-1], b"FUGG" + good[4:], good[:4] + struct.pack("<I", 9) + good[8:]):
                path.write_bytes(damaged)
                self.refused(["run", str(path), *PROMPT], "bad.gguf")

    def test_prompts(self):
        self.refused(["run", MODEL], "--prompt TEXT")
        self.refused(["run", MODEL, "--prompt", ""], "prompt is empty")
        self.refused(["run", MODEL, "--prompt", "a", "--chat"], "no chat template")
        self.refused(["run", MODEL, "--prompt", "a", "--system", "b"], "--system needs --chat")
        self.refused(["run", MODEL, "--prompt", "a", "--prompt-file", "b"], "exclude each other")
        self.refused(["run", MODEL, "--prompt-file", "/no/such/file"], "/no/such/file")
        self.refused(["run", MODEL, "--prompt", "x" * 9000], "context", "8192")

    def test_options(self):
        self.refused(["run", MODEL, *PROMPT, "--kv", "q4"], "'q4'", "fp16")
        self.refused(["run", MODEL, *PROMPT, "--activations", "int8"], "'int8'", "exact")
        self.refused(["run", MODEL, *PROMPT, "--temperature", "-1"], "--temperature")
        self.refused(["run", MODEL, *PROMPT, "--stop", ""], "--stop is empty")
        self.refused(["profile", MODEL, *PROMPT, "--report", "/no/such/folder/p.html"], "/no/such/folder")
        self.refused(["check", MODEL, "--reference", "/no/such/file"], "/no/such/file")
        self.refused(["check", MODEL, "--chat"], "--prompt TEXT")

    def test_a_reference_brings_its_own_tokens(self):
        for option in (["--prompt", "a"], ["--prompt-file", "a"], ["--chat"], ["--system", "a"], ["--max-tokens", "4"]):
            self.refused(["check", MODEL, "--reference", "choices.json", *option], option[0], "--reference", "choices.json")


if __name__ == "__main__":
    main()
