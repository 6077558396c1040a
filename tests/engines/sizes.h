// SPDX-License-Identifier: MIT
// Sizes of decoders: known models, and small ones of each kind.
#pragma once
#include <ggml.h>

#include <cstdint>

struct Sizes {
    const char *name;
    ggml_type type; // of weights
    int64_t width, head, heads, key_heads, wide;
    int64_t experts, used; // 0: dense
    bool head_norms;
    int64_t layers, vocabulary; // of the model
    // Queries, keys and values have biases; with experts as gpt-oss all products, and there are
    // sinks, its router and its gated unit, and experts in mxfp4.
    bool biases = false;
    // Queries lie between as many other results of their product, as with a gate. The product's
    // memory is free once they are normed.
    bool gaps = false;
    // Type of the values' weights and of a dense layer's last ones, as in half the layers of
    // llama.cpp's Q4_K_M; GGML_TYPE_COUNT: that of the others.
    ggml_type more_bits = GGML_TYPE_COUNT;
    // The router has a bias; a further product reads the experts' row; their residual is the
    // layer's input, so the memory of their norm's operand is free once it has been read.
    bool biased = false, shared = false, early = false;
    // Hybrids, as Qwen3.6. Value heads of 128 of the gated delta rule, whose keys have a third of
    // them: all layers have the rule. Gated attention: a gate for each query, and a quarter of a
    // head is rotated.
    int64_t delta_heads = 0;
    bool gated = false;
    // Type of the rule's queries, keys and values; GGML_TYPE_COUNT: that of the others.
    ggml_type mixed = GGML_TYPE_COUNT;

    int64_t delta_values() const { return 128 * delta_heads; }
    int64_t delta_keys() const { return delta_values() / 3; }
    int64_t channels() const { return delta_values() + 2 * delta_keys(); }
};

inline ggml_type more_bits_of(const Sizes &s) {
    return s.more_bits == GGML_TYPE_COUNT ? s.type : s.more_bits;
}

constexpr Sizes with_delta(Sizes s, int64_t heads, ggml_type mixed = GGML_TYPE_COUNT) {
    s.delta_heads = heads, s.mixed = mixed;
    return s;
}
constexpr Sizes with_gates(Sizes s) {
    s.gated = s.gaps = true;
    return s;
}

constexpr Sizes models[] = {
    {"Llama-2-7B", GGML_TYPE_Q4_0, 4096, 128, 32, 32, 11008, 0, 0, false, 32, 32000},
    {"Llama-3.1-8B", GGML_TYPE_Q4_K, 4096, 128, 32, 8, 14336, 0, 0, false, 32, 128256},
    {"Qwen2.5-7B", GGML_TYPE_Q4_K, 3584, 128, 28, 4, 18944, 0, 0, false, 28, 152064, true},
    {"Qwen3-8B", GGML_TYPE_Q4_K, 4096, 128, 32, 8, 12288, 0, 0, true, 36, 151936},
    {"Qwen3-30B-A3B", GGML_TYPE_Q4_K, 2048, 128, 32, 4, 768, 128, 8, true, 48, 151936},
    {"gpt-oss-20b", GGML_TYPE_Q8_0, 2880, 64, 64, 8, 2880, 32, 4, false, 24, 201088, true},
    // A part of the vocabulary, enough to leave nothing of layers in caches.
    with_delta(
        {"Qwen3.6-27B delta", GGML_TYPE_Q4_K, 5120, 256, 24, 4, 17408, 0, 0, true, 48, 40960}, 48),
    with_delta({"Qwen3.6-27B delta, Q4_K_M", GGML_TYPE_Q4_K, 5120, 256, 24, 4, 17408, 0, 0, true,
                48, 40960},
               48, GGML_TYPE_Q5_K),
    with_gates(
        {"Qwen3.6-27B attention", GGML_TYPE_Q4_K, 5120, 256, 24, 4, 17408, 0, 0, true, 16, 248320}),
    {"small", GGML_TYPE_Q4_K, 1024, 128, 8, 2, 2048, 0, 0, true, 2, 512},
    {"small experts", GGML_TYPE_Q4_K, 1024, 64, 8, 2, 256, 16, 4, true, 2, 512},
    {"small oss", GGML_TYPE_Q8_0, 1024, 64, 8, 2, 256, 16, 4, false, 2, 512, true},
    {"small experts with a bias", GGML_TYPE_Q4_K, 1024, 64, 8, 2, 256, 16, 4, true, 2, 512, false,
     false, GGML_TYPE_COUNT, true},
    {"small experts and a shared one", GGML_TYPE_Q4_K, 1024, 64, 8, 2, 256, 16, 4, true, 2, 512,
     false, false, GGML_TYPE_COUNT, false, true},
    {"small experts, early residual", GGML_TYPE_Q4_K, 1024, 64, 8, 2, 256, 16, 4, true, 2, 512,
     false, false, GGML_TYPE_COUNT, false, false, true},
    {"small llama", GGML_TYPE_Q4_0, 1024, 64, 8, 4, 1024, 0, 0, false, 2, 512},
    {"small with gaps", GGML_TYPE_Q4_0, 1024, 128, 4, 2, 1024, 0, 0, true, 2, 512, false, true},
    with_delta({"small delta", GGML_TYPE_Q8_0, 1024, 128, 8, 2, 2048, 0, 0, true, 2, 512}, 6),
    with_gates({"small gated", GGML_TYPE_Q4_K, 1024, 128, 8, 2, 2048, 0, 0, true, 2, 512}),
    {"small of two types", GGML_TYPE_Q4_K, 1024, 128, 8, 2, 2048, 0, 0, true, 2, 512, false, false,
     GGML_TYPE_Q6_K},
};
