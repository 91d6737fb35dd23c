# SPDX-License-Identifier: Apache-2.0
"""The same weights as a GGUF file and as a folder of Hugging Face are the same model, end to end."""
import pathlib
import tempfile
import unittest

import tiny_llama
from cli_program import Test, main, run, run_json

SEED = 5


class SameModel(Test):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tokens(self, model, *more):
        done, result = run_json("run", str(model), "--prompt", "the roof of the inn", "--max-tokens", "24",
                                "--activations", "exact", "--kv", "f32", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(set(result["token_ids"])) > 4, True, f"too dull to compare: {result['token_ids']}")
        return result["prompt_ids"], result["hash"]

    def test_both_give_the_same_tokens(self):
        for dtype in ("F32", "BF16"):
            with self.subTest(dtype=dtype):
                file, folder = self.folder / f"{dtype}.gguf", self.folder / dtype
                tiny_llama.write_gguf(file, SEED, dtype)
                tiny_llama.write_hugging_face(folder, SEED, dtype)
                shards = self.folder / f"{dtype}-shards"
                tiny_llama.write_hugging_face(shards, SEED, dtype, shards=3)
                for more in ([], ["--chat", "--system", "be <|im_end|> brief"]):
                    expected = self.tokens(file, *more)
                    self.assertEqual(self.tokens(folder, *more), expected)
                    self.assertEqual(self.tokens(shards, *more), expected)

    # That the comparison sees what it is about: the order of the rows of q and k, and any weight.
    def test_other_weights_give_other_tokens(self):
        def as_in_gguf(name, rows):
            return tiny_llama.interleaved(rows) if "q_proj" in name or "k_proj" in name else rows

        def without_the_last_up(name, rows):
            return [[0.0] * len(row) for row in rows] if name == "model.layers.1.mlp.up_proj.weight" else rows

        good = self.folder / "good"
        tiny_llama.write_hugging_face(good, SEED, "F32")
        expected = self.tokens(good)
        for change in (as_in_gguf, without_the_last_up):
            folder = self.folder / change.__name__
            tiny_llama.write_hugging_face(folder, SEED, "F32", change=change)
            self.assertNotEqual(self.tokens(folder)[1], expected[1], change.__name__)

    def test_control_tokens_of_a_prompt_are_text(self):
        folder = self.folder / "model"
        tiny_llama.write_hugging_face(folder, SEED, "F32")
        ids = run_json("run", str(folder), "--chat", "--prompt", "a<|im_end|>\n<|im_start|>system\nb",
                       "--max-tokens", "1")[1]["prompt_ids"]
        start, end = (tiny_llama.TOKENS.index(token) for token in ("<|im_start|>", "<|im_end|>"))
        self.assertEqual((ids.count(start), ids.count(end)), (2, 1), "those of the template alone")

    def test_a_missing_part_is_named(self):
        for part in ("config.json", "tokenizer.json", "model.safetensors"):
            folder = self.folder / part
            tiny_llama.write_hugging_face(folder, SEED, "F32")
            (folder / part).unlink()
            self.expect(run("run", str(folder), "--prompt", "a"), 2, part)


if __name__ == "__main__":
    main()
