# SPDX-License-Identifier: MIT
"""make_hybrid.py LIBGGML_BASE ARCH QUANTIZATION OUT.gguf [HEAD]: as make_model.py, of ARCH qwen3next or qwen35. Of four layers the last
has attention, the others the gated delta rule."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy
from make_model import EXPERT_FORWARD, EXPERTS, FEED_FORWARD, HEAD, HEADS, KV_HEADS, MIXES, USED, WIDTH, Model, add_sizes

STATE, KEY_HEADS, VALUE_HEADS, TAPS = 64, 2, 4, 4  # of the gated delta rule
KEYS, VALUES = STATE * KEY_HEADS, STATE * VALUE_HEADS


class Hybrid(Model):
    layers = 4
    added = (2 * layers) ** -0.5  # as models are initialised: differences of products don't grow with depth

    def header(self) -> None:
        w = self.writer
        rotated = self.head // 4
        add_sizes(w, FEED_FORWARD, self.head, self.layers, rotated)
        w.add_ssm_conv_kernel(TAPS)
        w.add_ssm_inner_size(VALUES)
        w.add_ssm_state_size(STATE)
        w.add_ssm_time_step_rank(VALUE_HEADS)
        w.add_ssm_group_count(KEY_HEADS)
        w.add_full_attention_interval(self.layers)
        if self.arch == "qwen35":
            w.add_rope_dimension_sections([rotated // 2 - 4, 2, 2, 0])
        else:
            w.add_expert_count(EXPERTS)
            w.add_expert_used_count(USED)
            w.add_expert_feed_forward_length(EXPERT_FORWARD)
            w.add_expert_shared_feed_forward_length(EXPERT_FORWARD)

    def attention(self, at: str) -> None:
        self.plain(f"{at}.attn_norm.weight", WIDTH, around=1, by=0.1)
        if at == f"blk.{self.layers - 1}":
            self.quantized(f"{at}.attn_q.weight", 2 * HEADS * self.head, WIDTH)  # and a gate
            self.quantized(f"{at}.attn_k.weight", KV_HEADS * self.head, WIDTH)
            self.quantized(f"{at}.attn_v.weight", KV_HEADS * self.head, WIDTH, more=True)
            self.quantized(f"{at}.attn_output.weight", WIDTH, HEADS * self.head, by=self.added)
            self.plain(f"{at}.attn_q_norm.weight", self.head, around=1, by=0.1)
            self.plain(f"{at}.attn_k_norm.weight", self.head, around=1, by=0.1)
            return
        self.quantized(f"{at}.attn_qkv.weight", 2 * KEYS + VALUES, WIDTH)
        self.quantized(f"{at}.attn_gate.weight", VALUES, WIDTH)
        self.plain(f"{at}.ssm_conv1d.weight", 2 * KEYS + VALUES, TAPS, by=0.5)
        self.plain(f"{at}.ssm_dt.bias", VALUE_HEADS)
        self.writer.add_tensor(f"{at}.ssm_a", -numpy.exp(0.3 * self.random.standard_normal(VALUE_HEADS)).astype(numpy.float32))
        if self.arch == "qwen35":
            self.quantized(f"{at}.ssm_beta.weight", VALUE_HEADS, WIDTH)
            self.quantized(f"{at}.ssm_alpha.weight", VALUE_HEADS, WIDTH)
        else:
            self.quantized(f"{at}.ssm_ba.weight", 2 * VALUE_HEADS, WIDTH)
        self.plain(f"{at}.ssm_norm.weight", STATE, around=1, by=0.1)
        self.quantized(f"{at}.ssm_out.weight", WIDTH, VALUES, by=self.added)

    def feed_forward(self, at: str) -> None:
        self.plain(f"{at}.post_attention_norm.weight", WIDTH, around=1, by=0.1)
        if self.arch == "qwen3next":
            self.experts(at)
            self.plain(f"{at}.ffn_gate_inp_shexp.weight", WIDTH, by=WIDTH**-0.5)
            self.quantized(f"{at}.ffn_gate_shexp.weight", EXPERT_FORWARD, WIDTH)
            self.quantized(f"{at}.ffn_up_shexp.weight", EXPERT_FORWARD, WIDTH)
            self.quantized(f"{at}.ffn_down_shexp.weight", WIDTH, EXPERT_FORWARD, more=True, by=self.added)
        else:
            self.dense(at)


if __name__ == "__main__":
    library, arch, quantization, out = sys.argv[1:5]
    Hybrid(Path(library), arch, MIXES[quantization], Path(out), int(sys.argv[5]) if len(sys.argv) > 5 else HEAD).write()
