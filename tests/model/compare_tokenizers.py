# SPDX-License-Identifier: Apache-2.0
"""Compares our tokenizers with Hugging Face's `tokenizers`, id by id.

    python3 compare_tokenizers.py LIBRARY [GGUF...]     LIBRARY: model_capi.cc as a shared library

Small vocabularies are trained here, with the published split patterns and pipelines of real models,
and both sides read the same tokenizer.json. With the names of GGUF files (and the package gguf)
their whole vocabularies are compared as well. Prints how many texts were compared; exits with 1 on
any difference, or when nothing was compared.
"""
import ctypes
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARKER = "\u2581"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
CONTROL = ["<|im_start|>", "<|im_end|>", "<s>", "</s>", "<|im_start|>system"]
USER_DEFINED = ["<think>", "    ", "[TOOL]"]

PHRASES = [
    "", " ", "  ", "\n", "\t", "\r\n", "Hello, world!", "1234567!!  x", "F\u00fchrer", "this is \U0001f999.cpp",
    "\ufffd", "a<s> b", "<s>G", "<|im_start|>user", "<|im_start|>system\nx<|im_end|>", "<|im_start<|im_end|>|>",
    "we've I'LL it's 'S d'accord l\u2019homme", "e\u0301 \u0065\u0323\u0302 \u1ebf \u0344 \u0958 \u212b \ufb1d",
    "\ud55c\uae00 \u1112\u1161\u11ab \u1100\u1161 \u110b\u1175\u11ab\u11a8", "\u4e2d\u6587\uff0c\u6d4b\u8bd5\u3002\u3000\u5168\u89d2",
    "\u0645\u0631\u062d\u0628\u0627 \u0661\u0662\u0663\u0664", "\u05e9\u05b8\u05c1\u05dc\u05d5\u05b9\u05dd", "\u0939\u093f\u0928\u094d\u0926\u0940 \u0967\u0968\u0969\u096a\u096b",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440", "\u00bd \u2167 \u00b2\u00b3 \u2460 1\u0662\uff13x",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd \u2764\ufe0f",
    "a\u00a0b\u1680c\u2003d\u2028e\u2029f\u202fg\u205fh\u3000i\u0085j\u180ek\u200bl\ufeffm", "x\x1cy\x1fz\x00\x7f",
    "a" * 300, " " * 100, "\n" * 50, "x " * 200, "\t \t  \n \n\n  end", "  \u2581 \u2581\u2581x \u2581",
    "def f(x):\n    return {k: v for k, v in x.items() if k != 'a'}\r\n\r\n\tpass  # done\n",
    "#include <vector>\nint main() { std::vector<int> v(1'000'000, 0x7F); return v[0]++; }\n",
    "https://example.org/a?b=c&d=%20#x user@example.org $1,234.56 100% 3.14159e-10",
    "<think>\n    x\n</think>[TOOL]   [TOOL]a", "<think><think>  <think> x", "</s></s> </s>",
    "<0x41> <unk> <0xE2>", "caf\u00e9 na\u00efve \u0130stanbul stra\u00dfe \ufb01n \u1e9e", "'\u017f 'RE'Ve",
]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name in ("rooftile_tokenizer_from_json", "rooftile_tokenizer_from_gguf"):
            getattr(self.c, name).restype = ctypes.c_void_p
        for name in ("rooftile_encode", "rooftile_decode"):
            getattr(self.c, name).restype = ctypes.c_int64
        self.c.rooftile_last_error.restype = ctypes.c_char_p
        self.c.rooftile_last_text.restype = ctypes.c_void_p


class Ours:
    def __init__(self, library, handle):
        self.c = library.c
        self.handle = ctypes.c_void_p(handle)
        if not handle:
            raise SystemExit(self.c.rooftile_last_error().decode())

    @classmethod
    def from_json(cls, library, text):
        return cls(library, library.c.rooftile_tokenizer_from_json(text.encode(), b""))

    @classmethod
    def from_gguf(cls, library, metadata):
        return cls(library, library.c.rooftile_tokenizer_from_gguf(json.dumps(metadata).encode()))

    def __del__(self):
        self.c.rooftile_tokenizer_free(self.handle)

    def encode(self, text, add_special=False, parse_special=True):
        data = text if isinstance(text, bytes) else text.encode()
        most = len(data) * 4 + 16
        ids = (ctypes.c_int32 * most)()
        n = self.c.rooftile_encode(self.handle, data, ctypes.c_int64(len(data)), add_special, parse_special, ids,
                                   ctypes.c_int64(most))
        if n < 0:
            raise SystemExit(self.c.rooftile_last_error().decode())
        return list(ids[:n])

    def decode(self, ids, skip_special=False, stream=False):
        n = self.c.rooftile_decode(self.handle, (ctypes.c_int32 * len(ids))(*ids), ctypes.c_int64(len(ids)),
                                   skip_special, stream)
        if n < 0:
            raise SystemExit(self.c.rooftile_last_error().decode())
        return ctypes.string_at(self.c.rooftile_last_text(), n)


def training_texts():
    files = sorted(ROOT.glob("rooftile/base/*.cc")) + sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md"))
    texts = [path.read_text()[:40000] for path in files]
    # Why without control tokens: text must not become one by merging, so merges into them are not ours.
    return texts + [text for text in PHRASES if not any(token in text for token in CONTROL)] * 20


def random_texts(count, seed):
    """Phrases, pieces of them and single characters of many scripts, one after the other."""
    rng = random.Random(seed)
    ranges = [(0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F), (0x590, 0x6FF), (0x900, 0x97F),
              (0xE00, 0xE7F), (0x1100, 0x11FF), (0x2000, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xD7A3),
              (0xFB00, 0xFB4F), (0x1F300, 0x1F64F), (0x9, 0xD)]
    for _ in range(count):
        parts = []
        for _ in range(rng.randint(1, 8)):
            kind = rng.random()
            if kind < 0.3:
                parts.append(rng.choice(PHRASES))
            elif kind < 0.4:
                parts.append(rng.choice(CONTROL + USER_DEFINED))
            elif kind < 0.5:
                parts.append(rng.choice(" \n\t") * rng.randint(1, 9))
            else:
                low, high = rng.choice(ranges)
                parts.append("".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 12))))
        yield "".join(parts)[:2000]


def byte_level(steps, ignore_merges=False, normalizer=None, add_prefix_space=False, use_regex=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        steps + [pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=1500, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    tokenizer.train_from_iterator(training_texts(), trainer)
    return tokenizer


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def with_byte_tokens(trained, fuse_unk=True):
    """The same model with <unk> and byte tokens in front and byte fallback on, as in Llama 2."""
    model = json.loads(trained.to_str())["model"]
    tokens = ["<unk>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokens += [token for token in sorted(model["vocab"], key=model["vocab"].get) if token not in tokens]
    merges = [tuple(merge) for merge in model["merges"]]
    return models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges, unk_token="<unk>",
                      fuse_unk=fuse_unk, byte_fallback=True)


def pieces(pre_tokenizer, normalizer, decoder, is_unigram=False, byte_fallback=True):
    corpus = [text.replace(" ", MARKER) if not pre_tokenizer else text for text in training_texts()]
    limited = [text[:3000] for text in corpus] if not pre_tokenizer else corpus
    tokenizer = Tokenizer(models.Unigram() if is_unigram else models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.Split(MARKER, "merged_with_next")
    if is_unigram:
        special = ["<unk>"] + ([f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else [])
        tokenizer.train_from_iterator(limited, trainers.UnigramTrainer(
            vocab_size=1200, unk_token="<unk>", special_tokens=special, show_progress=False))
        vocab = [tuple(entry) for entry in json.loads(tokenizer.to_str())["model"]["vocab"]]
        tokenizer = Tokenizer(models.Unigram(vocab, unk_id=0, byte_fallback=byte_fallback))
    else:
        tokenizer.train_from_iterator(limited, trainers.BpeTrainer(vocab_size=1200, show_progress=False,
                                                                   limit_alphabet=150))
        tokenizer = Tokenizer(with_byte_tokens(tokenizer))
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoder
    return tokenizer


def add_tokens(tokenizer, **flags):
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in CONTROL])
    tokenizer.add_tokens([AddedToken(token, normalized=False, **flags) for token in USER_DEFINED])
    first = tokenizer.token_to_id("<s>")
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", first)])
    return tokenizer


def trained():
    """Name and tokenizer of each pipeline."""
    fallback = [decoders.Replace(MARKER, " "), decoders.ByteFallback(), decoders.Fuse()]
    replace = normalizers.Replace(" ", MARKER)
    strip = decoders.Strip(" ", 1, 0)
    yield "gpt-2", byte_level([], use_regex=True)
    yield "gpt-2 with prefix space", byte_level([], use_regex=True, add_prefix_space=True)
    yield "smollm", byte_level([pre_tokenizers.Digits(individual_digits=True)], use_regex=True)
    yield "llama-3", byte_level([split(LLAMA3)], ignore_merges=True)
    yield "qwen2", byte_level([split(QWEN2)], normalizer=normalizers.NFC())
    yield "llama-2", pieces(None, normalizers.Sequence([normalizers.Prepend(MARKER), replace]),
                            decoders.Sequence(fallback + [strip]))
    yield "gemma", pieces(pre_tokenizers.Split(" ", "merged_with_previous"), replace, decoders.Sequence(fallback))
    for scheme in ("first", "always", "never"):
        yield f"metaspace {scheme}", pieces(pre_tokenizers.Metaspace(MARKER, prepend_scheme=scheme), None, decoders.Sequence(
            [decoders.Metaspace(MARKER, prepend_scheme=scheme), decoders.ByteFallback(), decoders.Fuse()]))
    for byte_fallback in (True, False):
        yield f"unigram, byte fallback {byte_fallback}", pieces(
            pre_tokenizers.Metaspace(MARKER, prepend_scheme="always"), None,
            decoders.Sequence(fallback + [strip]), is_unigram=True, byte_fallback=byte_fallback)


class Tally:
    def __init__(self):
        self.compared = 0
        self.different = 0

    def check(self, what, text, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.different += 1
            if self.different <= 5:
                print(f"{what} of {text!r}:\n  ours   {ours!r}\n  theirs {theirs!r}")


def without_byte_names(texts):
    """Why: HF takes text that spells a byte token for the byte; that text means itself here."""
    return [text for text in texts if "<0x" not in text and "<unk>" not in text]


def compare(ours, theirs, texts, tally, is_lossless):
    for text in texts:
        for parse_special in (True, False):
            theirs.encode_special_tokens = not parse_special
            expected = theirs.encode(text, add_special_tokens=True).ids
            given = ours.encode(text, add_special=True, parse_special=parse_special)
            tally.check(f"parse_special={parse_special} encode", text, given, expected)
        theirs.encode_special_tokens = False
        decoded = theirs.decode(expected, skip_special_tokens=True)
        tally.check("stream decode", text, ours.decode(expected, True, True).decode(), decoded)
        if is_lossless:
            tally.check("round trip", text, ours.decode(ours.encode(text, False, False)), text.encode())


def compare_bytes(ours, tally):
    """Bytes that are no UTF-8 come back as they are."""
    rng = random.Random(7)
    fixed = [b"\xff\xfe", b"a\xffb", b"\xe2\x96", b"\xe2\x28\xa1 x", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"12\xff34 \xc3"]
    for data in fixed + [bytes(rng.randrange(256) for _ in range(rng.randint(1, 40))) for _ in range(300)]:
        tally.check("bytes", data, ours.decode(ours.encode(data, False, False)), data)


def scored_merges(tokens, scores):
    """Merges by rank that give what merging by score gives: every split of a token into two."""
    ids = {token: i for i, token in enumerate(tokens)}
    merges = []
    for token, score in zip(tokens, scores):
        splits = [(token[:at], token[at:]) for at in range(1, len(token))]
        merges += [(left, right, score) for left, right in splits if left in ids and right in ids]
    merges.sort(key=lambda merge: (merge[2], len(merge[0]), len(merge[1])), reverse=True)
    return ids, [merge[:2] for merge in merges]


def from_gguf(path):
    """The metadata of a real model, and its tokenizer as Hugging Face would have it."""
    import gguf  # not one of the required packages
    fields = gguf.GGUFReader(path).fields
    data = {name: field.contents() for name, field in fields.items() if name.startswith("tokenizer.")}
    tokens, types = data["tokenizer.ggml.tokens"], data["tokenizer.ggml.token_type"]
    if data["tokenizer.ggml.model"] == "gpt2":
        merges = [tuple(merge.split(" ")) for merge in data["tokenizer.ggml.merges"]]
        theirs = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
        steps = {"smollm": [pre_tokenizers.Digits(individual_digits=True)], "gpt-2": []}[data["tokenizer.ggml.pre"]]
        theirs.pre_tokenizer = pre_tokenizers.Sequence(steps + [pre_tokenizers.ByteLevel(add_prefix_space=False)])
        theirs.decoder = decoders.ByteLevel()
    else:
        usable = [token if kind in (1, 4, 2, 6) else f"<unusable {i}>" for i, (token, kind) in enumerate(zip(tokens, types))]
        _, merges = scored_merges(usable, data["tokenizer.ggml.scores"])
        vocab = {token: i for i, token in enumerate(tokens)}
        theirs = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token=tokens[data["tokenizer.ggml.unknown_token_id"]],
                                      fuse_unk=True, byte_fallback=True))
        theirs.normalizer = normalizers.Replace(" ", MARKER)
        theirs.decoder = decoders.Sequence([decoders.Replace(MARKER, " "), decoders.ByteFallback(), decoders.Fuse()])
    theirs.add_special_tokens([AddedToken(token, normalized=False) for token, kind in zip(tokens, types) if kind == 3])
    theirs.add_tokens([AddedToken(token, normalized=False) for token, kind in zip(tokens, types) if kind == 4])
    if data.get("tokenizer.ggml.add_bos_token"):
        bos = data["tokenizer.ggml.bos_token_id"]
        theirs.post_processor = processors.TemplateProcessing(single="[B] $A", special_tokens=[("[B]", bos)])
    return data, theirs


def compare_real(library, path, texts, total):
    data, theirs = from_gguf(path)
    for name, ours in (("GGUF", Ours.from_gguf(library, data)), ("json", Ours.from_json(library, theirs.to_str()))):
        tally = Tally()
        is_byte_level = data["tokenizer.ggml.model"] == "gpt2"
        compare(ours, theirs, texts if is_byte_level else without_byte_names(texts), tally, is_lossless=False)
        report(f"{pathlib.Path(path).name[:24]} {name}", tally, total)


def report(name, tally, total):
    print(f"{name:32} {tally.compared:7} compared, {tally.different} different")
    if tally.compared == 0:
        raise SystemExit(f"nothing was compared for {name}")
    total.compared += tally.compared
    total.different += tally.different


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    library = Library(sys.argv[1])
    total = Tally()
    texts = PHRASES + list(random_texts(1500, seed=1))
    for name, tokenizer in trained():
        flags = {"rstrip": True, "lstrip": True} if name in ("smollm", "metaspace first") else {}
        theirs = add_tokens(tokenizer, **flags)
        is_byte_level = name in ("gpt-2", "llama-3")
        tally = Tally()
        ours = Ours.from_json(library, theirs.to_str())
        compare(ours, theirs, texts if is_byte_level else without_byte_names(texts), tally, is_byte_level)
        if is_byte_level:
            compare_bytes(ours, tally)
        report(name, tally, total)
    real = texts + ["the <|im_start|>user", "<start_of_turn>model\n", "<bos>x<eos>", "<|endoftext|>a"]
    for path in sys.argv[2:]:
        compare_real(library, path, real, total)
    return 1 if total.different or not total.compared else 0


if __name__ == "__main__":
    sys.exit(main())
