# SPDX-License-Identifier: Apache-2.0
"""A llama with small random weights, written as a GGUF file and as a folder of Hugging Face.

The two differ as real ones do: other names of tensors and settings, shapes in the other order, a tokenizer
of metadata or of tokenizer.json; and the rows of q and k, since GGUF's llama rotates neighbours and Hugging
Face's the two halves of a head. Formats: the GGUF and safetensors specifications.
"""
import json
import pathlib
import random
import struct

HIDDEN, HEADS, KV_HEADS, FFN, LAYERS, CONTEXT = 32, 4, 2, 48, 2, 256
HEAD_DIM = HIDDEN // HEADS
CHAT = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["o f", "t h", "th e", "\u0120 the", "i n"]

# Hugging Face's name, GGUF's name, rows, columns; rows 0: a vector.
PER_LAYER = [("input_layernorm", "attn_norm", 0, HIDDEN),
             ("self_attn.q_proj", "attn_q", HEADS * HEAD_DIM, HIDDEN),
             ("self_attn.k_proj", "attn_k", KV_HEADS * HEAD_DIM, HIDDEN),
             ("self_attn.v_proj", "attn_v", KV_HEADS * HEAD_DIM, HIDDEN),
             ("self_attn.o_proj", "attn_output", HIDDEN, HEADS * HEAD_DIM),
             ("post_attention_layernorm", "ffn_norm", 0, HIDDEN),
             ("mlp.gate_proj", "ffn_gate", FFN, HIDDEN),
             ("mlp.up_proj", "ffn_up", FFN, HIDDEN),
             ("mlp.down_proj", "ffn_down", HIDDEN, FFN)]


def byte_alphabet():
    """GPT-2's spelling of each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) if b in plain else chr(256 + others.index(b)) for b in range(256)]


TOKENS = byte_alphabet() + [merge.replace(" ", "") for merge in MERGES] + CONTROL


def tensors(seed):
    """(Hugging Face's name, GGUF's name, rows): each row a list of floats."""
    draw = random.Random(seed)

    def matrix(rows, columns):
        return [[draw.gauss(0, columns ** -0.5) for _ in range(columns)] for _ in range(rows)]

    def vector(columns):
        return [[1 + 0.1 * draw.gauss(0, 1) for _ in range(columns)]]

    made = [("model.embed_tokens.weight", "token_embd.weight", matrix(len(TOKENS), HIDDEN)),
            ("model.norm.weight", "output_norm.weight", vector(HIDDEN)),
            ("lm_head.weight", "output.weight", matrix(len(TOKENS), HIDDEN))]
    for i in range(LAYERS):
        for theirs, name, rows, columns in PER_LAYER:
            made.append((f"model.layers.{i}.{theirs}.weight", f"blk.{i}.{name}.weight",
                         matrix(rows, columns) if rows else vector(columns)))
    return made


def interleaved(rows):
    """Rows of q or k with the halves of each head interleaved, as GGUF's llama has them."""
    return [rows[head + half * (HEAD_DIM // 2) + i] for head in range(0, len(rows), HEAD_DIM)
            for i in range(HEAD_DIM // 2) for half in range(2)]


def bytes_of(rows, dtype):
    numbers = [number for row in rows for number in row]
    if dtype == "F32":
        return struct.pack(f"<{len(numbers)}f", *numbers)
    return b"".join(struct.pack("<f", number)[2:] for number in numbers)  # bf16, cut off


def extents_of(name, rows):
    return [len(rows[0])] if "norm" in name else [len(rows), len(rows[0])]


def gguf_text(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(value):
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    if isinstance(value[0], int):
        return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(gguf_text, value))


def write_gguf(path, seed, dtype):
    first_control = len(TOKENS) - len(CONTROL)
    metadata = {"general.architecture": "llama", "llama.block_count": LAYERS, "llama.context_length": CONTEXT,
                "llama.embedding_length": HIDDEN, "llama.feed_forward_length": FFN,
                "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KV_HEADS,
                "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.freq_base": 10000.0,
                "llama.rope.dimension_count": HEAD_DIM, "llama.vocab_size": len(TOKENS),
                "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.tokens": TOKENS,
                "tokenizer.ggml.token_type": [3 if i >= first_control else 1 for i in range(len(TOKENS))],
                "tokenizer.ggml.merges": MERGES, "tokenizer.ggml.bos_token_id": TOKENS.index("<|im_start|>"),
                "tokenizer.ggml.eos_token_id": TOKENS.index("<|im_end|>"), "tokenizer.ggml.add_bos_token": False,
                "tokenizer.chat_template": CHAT}
    infos, data = b"", b""
    made = tensors(seed)
    for _, name, rows in made:
        kind = "F32" if "norm" in name else dtype
        data += b"\0" * (-len(data) % 32)
        extents = extents_of(name, rows)[::-1]
        infos += gguf_text(name) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents,
                                               {"F32": 0, "BF16": 30}[kind], len(data))
        is_rotated = "attn_q" in name or "attn_k" in name
        data += bytes_of(interleaved(rows) if is_rotated else rows, kind)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(made), len(metadata))
    head += b"".join(gguf_text(key) + gguf_value(value) for key, value in metadata.items()) + infos
    pathlib.Path(path).write_bytes(head + b"\0" * (-len(head) % 32) + data)


def write_safetensors(path, made, dtype):
    header, data = {}, b""
    for name, rows in made:
        kind = "F32" if "norm" in name else dtype
        piece = bytes_of(rows, kind)
        header[name] = {"dtype": kind, "shape": extents_of(name, rows), "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_hugging_face(folder, seed, dtype, shards=1, change=lambda name, rows: rows):
    """`change`: what to write instead of a tensor's rows."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    made = [(name, change(name, rows)) for name, _, rows in tensors(seed)]
    if shards == 1:
        write_safetensors(folder / "model.safetensors", made, dtype)
    else:
        files = [f"model-{i + 1:05}-of-{shards:05}.safetensors" for i in range(shards)]
        for i, file in enumerate(files):
            write_safetensors(folder / file, made[i::shards], dtype)
        places = {name: files[i % shards] for i, (name, _) in enumerate(made)}
        (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    write_settings(folder)


def write_settings(folder):
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": len(TOKENS),
              "hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": LAYERS,
              "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "max_position_embeddings": CONTEXT,
              "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False, "hidden_act": "silu",
              "bos_token_id": TOKENS.index("<|im_start|>"), "eos_token_id": TOKENS.index("<|im_end|>")}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [{"id": TOKENS.index(token), "content": token, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for token in CONTROL]
    vocabulary = {token: i for i, token in enumerate(TOKENS) if token not in CONTROL}
    tokenizer = {"version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": level,
                 "post_processor": None, "decoder": level,
                 "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                           "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                           "ignore_merges": False, "vocab": vocabulary, "merges": MERGES}}
    names = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "chat_template": CHAT}
    for file, content in (("config", config), ("tokenizer", tokenizer), ("tokenizer_config", names)):
        (folder / f"{file}.json").write_text(json.dumps(content), encoding="utf-8")
