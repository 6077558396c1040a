# SPDX-License-Identifier: MIT
"""make_model.py LIBGGML_BASE ARCH QUANTIZATION OUT.gguf [HEAD]: a model of random weights, of ARCH llama, qwen3 or qwen3moe,
quantized as QUANTIZATION q4_0, q8_0 or q4_K_M has it, with heads of HEAD elements (64). Two layers; its tokens are numbers, it
has no vocabulary. ARCH huge: a llama larger than this machine's memory, whose weights are all a hole in the file."""

from __future__ import annotations

import ctypes
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy
from gguf import GGMLQuantizationType as Type

VOCABULARY, WIDTH, HEADS, KV_HEADS, LAYERS = 320, 256, 4, 2, 2
HEAD = 64  # by default
FEED_FORWARD, EXPERTS, USED, EXPERT_FORWARD = 512, 8, 2, 256


@dataclass(frozen=True)
class Mix:
    """The types of a quantization: of most weights, and of weights that llama-quantize gives more bits."""

    most: Type
    more: Type


MIXES = {
    "q4_0": Mix(Type.Q4_0, Type.Q6_K),
    "q8_0": Mix(Type.Q8_0, Type.Q8_0),
    "q4_K_M": Mix(Type.Q4_K, Type.Q6_K),
    "f16": Mix(Type.F16, Type.F16),
    "f32": Mix(Type.F32, Type.F32),
}


def memory_of_machine() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


class Huge:
    """A llama without data."""

    def __init__(self, mix: Mix, out: Path) -> None:
        self.mix, self.out, self.writer, self.bytes = mix, out, gguf.GGUFWriter(out, "llama"), 0
        row = WIDTH // gguf.GGML_QUANT_SIZES[mix.most][0] * gguf.GGML_QUANT_SIZES[mix.most][1]
        self.feed_forward = -(-memory_of_machine() // row // 256) * 256  # of each layer, in each of three tensors

    def tensor(self, name: str, type_: Type, *shape: int) -> None:
        elements, size = gguf.GGML_QUANT_SIZES[type_]
        nbytes = shape[-1] // elements * size * (shape[0] if len(shape) > 1 else 1)
        self.writer.add_tensor_info(name, shape, numpy.dtype(numpy.float32), nbytes, type_)
        self.bytes += gguf.GGUFWriter.ggml_pad(nbytes, self.writer.data_alignment)

    def write(self) -> None:
        w, most = self.writer, self.mix.most
        add_sizes(w, self.feed_forward, HEAD)
        self.tensor("token_embd.weight", most, VOCABULARY, WIDTH)
        self.tensor("output_norm.weight", Type.F32, WIDTH)
        for layer in range(LAYERS):
            at = f"blk.{layer}"
            for norm in ("attn_norm", "ffn_norm"):
                self.tensor(f"{at}.{norm}.weight", Type.F32, WIDTH)
            for name, rows in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS), ("output", HEADS)):
                self.tensor(f"{at}.attn_{name}.weight", most, rows * HEAD, WIDTH)
            self.tensor(f"{at}.ffn_gate.weight", most, self.feed_forward, WIDTH)
            self.tensor(f"{at}.ffn_up.weight", most, self.feed_forward, WIDTH)
            self.tensor(f"{at}.ffn_down.weight", most, WIDTH, self.feed_forward)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_ti_data_to_file()
        w.close()
        header = gguf.GGUFWriter.ggml_pad(self.out.stat().st_size, w.data_alignment)
        os.truncate(self.out, header + self.bytes)


def add_sizes(w: gguf.GGUFWriter, feed_forward: int, head: int, layers: int = LAYERS, rotated: int | None = None) -> None:
    w.add_context_length(512)
    w.add_embedding_length(WIDTH)
    w.add_block_count(layers)
    w.add_feed_forward_length(feed_forward)
    w.add_head_count(HEADS)
    w.add_head_count_kv(KV_HEADS)
    w.add_key_length(head)
    w.add_value_length(head)
    w.add_layer_norm_rms_eps(1e-6)
    w.add_rope_dimension_count(rotated or head)
    w.add_vocab_size(VOCABULARY)
    w.add_tokenizer_model("none")


class Model:
    layers = LAYERS
    added = 1.0  # size of what a layer adds to the rows that pass through it

    def __init__(self, library: Path, arch: str, mix: Mix, out: Path, head: int) -> None:
        self.ggml = ctypes.CDLL(str(library))
        self.ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
        self.ggml.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, *[ctypes.c_int64] * 3, ctypes.c_void_p]
        self.mix, self.head, self.random = mix, head, numpy.random.default_rng(33)
        self.arch, self.writer = arch, gguf.GGUFWriter(out, arch)

    def plain(self, name: str, *shape: int, around: float = 0.0, by: float = 1.0) -> None:
        values = around + by * self.random.standard_normal(shape)
        self.writer.add_tensor(name, values.astype(numpy.float32))

    def quantized(self, name: str, *shape: int, more: bool = False, by: float = 1.0) -> None:
        """Rows of shape[-1] weights, scaled so that their sums are near `by`."""
        self.quantize(name, by * shape[-1] ** -0.5 * self.random.standard_normal(shape), more)

    def quantize(self, name: str, values: numpy.ndarray, more: bool = False) -> None:
        type_, shape = self.mix.more if more else self.mix.most, values.shape
        values = numpy.ascontiguousarray(values, numpy.float32)
        block, block_bytes = gguf.GGML_QUANT_SIZES[type_]
        out = numpy.zeros((*shape[:-1], shape[-1] // block * block_bytes), numpy.uint8)
        self.ggml.ggml_quantize_chunk(type_, values.ctypes.data, out.ctypes.data, 0, values.size // shape[-1], shape[-1], None)
        self.writer.add_tensor(name, out, raw_dtype=type_)

    def header(self) -> None:
        w = self.writer
        add_sizes(w, FEED_FORWARD, self.head)
        if self.arch == "qwen3moe":
            w.add_expert_count(EXPERTS)
            w.add_expert_used_count(USED)
            w.add_expert_feed_forward_length(EXPERT_FORWARD)

    def embedding(self) -> numpy.ndarray:
        """In a mixture of experts each token prefers two experts by far: the smallest difference could decide a near tie
        the other way, and change the logits."""
        out = self.random.standard_normal((VOCABULARY, WIDTH))
        if self.arch in ("qwen3moe", "qwen3next"):
            out[:, :EXPERTS] = 0
            for token in range(VOCABULARY):
                out[token, self.random.choice(EXPERTS, USED, replace=False)] = 4, 3
        return out

    def attention(self, at: str) -> None:
        self.plain(f"{at}.attn_norm.weight", WIDTH, around=1, by=0.1)
        self.quantized(f"{at}.attn_q.weight", HEADS * self.head, WIDTH)
        self.quantized(f"{at}.attn_k.weight", KV_HEADS * self.head, WIDTH)
        self.quantized(f"{at}.attn_v.weight", KV_HEADS * self.head, WIDTH, more=True)
        self.quantized(f"{at}.attn_output.weight", WIDTH, HEADS * self.head, by=self.added)
        if self.arch.startswith("qwen3"):
            self.plain(f"{at}.attn_q_norm.weight", self.head, around=1, by=0.1)
            self.plain(f"{at}.attn_k_norm.weight", self.head, around=1, by=0.1)

    def feed_forward(self, at: str) -> None:
        self.plain(f"{at}.ffn_norm.weight", WIDTH, around=1, by=0.1)
        if self.arch == "qwen3moe":
            self.experts(at)
        else:
            self.dense(at)

    def experts(self, at: str) -> None:
        self.writer.add_tensor(f"{at}.ffn_gate_inp.weight", numpy.eye(EXPERTS, WIDTH, dtype=numpy.float32))
        self.quantized(f"{at}.ffn_gate_exps.weight", EXPERTS, EXPERT_FORWARD, WIDTH)
        self.quantized(f"{at}.ffn_up_exps.weight", EXPERTS, EXPERT_FORWARD, WIDTH)
        self.quantized(f"{at}.ffn_down_exps.weight", EXPERTS, WIDTH, EXPERT_FORWARD, more=True, by=self.added)

    def dense(self, at: str) -> None:
        self.quantized(f"{at}.ffn_gate.weight", FEED_FORWARD, WIDTH)
        self.quantized(f"{at}.ffn_up.weight", FEED_FORWARD, WIDTH)
        self.quantized(f"{at}.ffn_down.weight", WIDTH, FEED_FORWARD, more=True, by=self.added)

    def write(self) -> None:
        self.header()
        self.quantize("token_embd.weight", self.embedding())
        self.plain("output_norm.weight", WIDTH, around=1, by=0.1)
        self.quantized("output.weight", VOCABULARY, WIDTH, more=True)
        for layer in range(self.layers):
            self.attention(f"blk.{layer}")
            self.feed_forward(f"blk.{layer}")
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


if __name__ == "__main__":
    library, arch, quantization, out = sys.argv[1:5]
    if arch == "huge":
        Huge(MIXES[quantization], Path(out)).write()
    else:
        Model(Path(library), arch, MIXES[quantization], Path(out), int(sys.argv[5]) if len(sys.argv) > 5 else HEAD).write()
