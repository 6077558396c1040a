// SPDX-License-Identifier: MIT
// GGML_OP_FLASH_ATTN_EXT of libggml-nibblewave beside that of ggml's CPU, as backend_host has
// products.
//     attention_host BACKENDS   paths of backend libraries, with ':' between
// Prints a line for each case and the last line `N passed, N failed`.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "host.h"

namespace {

constexpr float infinity = INFINITY;

using Mask = std::function<float(int64_t query, int64_t key)>;

struct Shape {
    const char *what;
    int64_t d, queries, keys, heads, key_heads, batches;
    Mask mask;                         // empty: none
    bool sinks = false, cache = false; // views of a cache [d * heads, cells], as llama.cpp has it
    ggml_type type = GGML_TYPE_F16;
    float softcap = 0, max_bias = 0;
};

Mask causal(int64_t ahead) {
    return [=](int64_t i, int64_t j) { return j <= i + ahead ? 0 : -infinity; };
}

void fill(ggml_tensor *t, unsigned seed, float size) {
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> values(-size, size);
    std::vector<float> x(static_cast<std::size_t>(ggml_nelements(t)));
    for (float &value : x)
        value = values(bits);
    std::vector<char> bytes(ggml_nbytes(t));
    if (t->type == GGML_TYPE_F32)
        std::memcpy(bytes.data(), x.data(), bytes.size());
    else
        ggml_quantize_chunk(t->type, x.data(), bytes.data(), 0, ggml_nrows(t), t->ne[0], nullptr);
    ggml_backend_tensor_set(t, bytes.data(), 0, bytes.size());
}

struct Attention {
    Attention(ggml_backend_dev_t device, const Shape &s);
    std::vector<float> compute(ggml_backend_t backend) {
        std::vector<float> out(static_cast<std::size_t>(ggml_nelements(o)));
        for (int times = 0; times < 2; times++)
            if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS)
                return {};
        ggml_backend_tensor_get(o, out.data(), 0, ggml_nbytes(o));
        return out;
    }

    ggml_context_ptr context{ggml_init({1 << 20, nullptr, true})};
    ggml_backend_buffer_ptr memory;
    ggml_tensor *o;
    ggml_cgraph *graph;
};

Attention::Attention(ggml_backend_dev_t device, const Shape &s) {
    ggml_context *const c = context.get();
    // q is a permuted view of [d, heads, queries], as a product's result is
    ggml_tensor *const q = ggml_new_tensor_4d(c, GGML_TYPE_F32, s.d, s.heads, s.queries, s.batches);
    ggml_tensor *kv[2];
    for (ggml_tensor *&x : kv)
        x = s.cache ? ggml_new_tensor_4d(c, s.type, s.d, s.key_heads, 2 * s.keys, s.batches)
                    : ggml_new_tensor_4d(c, s.type, s.d, s.keys, s.key_heads, s.batches);
    const auto of = [&](ggml_tensor *x) {
        return s.cache ? ggml_view_4d(c, x, s.d, s.keys, s.key_heads, s.batches, x->nb[2], x->nb[1],
                                      x->nb[3], 0)
                       : x;
    };
    ggml_tensor *const mask =
        s.mask ? ggml_new_tensor_4d(c, GGML_TYPE_F16, s.keys, s.queries, 1, 1) : nullptr;
    ggml_tensor *const sinks = s.sinks ? ggml_new_tensor_1d(c, GGML_TYPE_F32, s.heads) : nullptr;
    o = ggml_flash_attn_ext(c, ggml_permute(c, q, 0, 2, 1, 3), of(kv[0]), of(kv[1]), mask,
                            1 / std::sqrt(float(s.d)), s.max_bias, s.softcap);
    ggml_flash_attn_ext_add_sinks(o, sinks);
    graph = ggml_new_graph(c);
    ggml_build_forward_expand(graph, o);
    memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(c, ggml_backend_dev_buffer_type(device)));
    fill(q, 1, 3);
    fill(kv[0], 2, 2);
    fill(kv[1], 3, 1);
    if (sinks)
        fill(sinks, 4, 10);
    if (!mask)
        return;
    std::vector<ggml_fp16_t> words;
    for (int64_t i = 0; i < s.queries; i++)
        for (int64_t j = 0; j < s.keys; j++)
            words.push_back(ggml_fp32_to_fp16(s.mask(i, j)));
    ggml_backend_tensor_set(mask, words.data(), 0, 2 * words.size());
}

// before: computed first by the same backend, whose workspace must grow then.
void compare(ggml_backend_dev_t device, ggml_backend_dev_t cpu, const Shape &s, bool taken,
             const Shape *before = nullptr) {
    Attention mine(device, s);
    const bool takes = ggml_backend_dev_supports_op(device, mine.o);
    if (!takes || !taken)
        return count(s.what, takes == taken, takes ? "is taken" : "is left to others");
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu, nullptr));
    if (before && Attention(device, *before).compute(there.get()).empty())
        return count(before->what, false, "is not computed");
    Attention theirs(cpu, s);
    const auto got = mine.compute(there.get()), want = theirs.compute(here.get());
    if (got.size() != want.size())
        return count(s.what, false, "is not computed");
    const double error = nmse(got, want);
    char text[64];
    std::snprintf(text, sizeof text, "NMSE %.2e", error);
    count(s.what, error <= most_nmse, text);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return std::fprintf(stderr, "usage: attention_host BACKENDS\n"), 2;
    if (!load_backends(argv[1]))
        return 2;
    ggml_backend_dev_t const device = ggml_backend_dev_by_name("NW0"),
                             cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (!device || !cpu)
        return std::fprintf(stderr, "there is no NW0, or no CPU\n"), 2;
    const auto window = [](int64_t i, int64_t j) {
        return j <= i + 100 && j > i + 40 ? 0 : -infinity;
    };
    const auto some = [](int64_t i, int64_t j) { return i % 3 == j / 64 % 3 ? 0.25f : -infinity; };
    const auto none_for_one = [](int64_t i, int64_t) { return i == 1 ? -infinity : 0; };
    const std::vector<Shape> taken = {
        {"many queries, causal", 128, 200, 256, 4, 2, 1, causal(56), false, true},
        {"many queries, d = 64", 64, 140, 256, 8, 2, 1, causal(100), false, true},
        {"a query", 128, 1, 512, 8, 2, 1, causal(400), false, true},
        {"a query, d = 64", 64, 1, 512, 8, 2, 1, causal(400), false, true},
        {"a window", 128, 140, 256, 2, 2, 1, window},
        {"several sequences", 128, 130, 256, 2, 1, 1, some},
        {"a query that sees nothing", 128, 5, 256, 4, 2, 1, none_for_one},
        {"of many one that sees nothing", 128, 70, 256, 4, 2, 1, none_for_one},
        {"batches", 64, 30, 128, 4, 2, 3, causal(98)},
        {"no mask", 128, 100, 113, 4, 4, 1, {}},
        {"sinks", 64, 100, 256, 8, 2, 1, causal(156), true, true},
        {"sinks, few queries", 64, 4, 256, 8, 2, 1, causal(252), true, true},
    };
    for (const Shape &s : taken)
        compare(device, cpu, s, true);
    Shape other = taken[0];
    other.what = "d = 96", other.d = 96;
    compare(device, cpu, other, true);
    other = taken[0], other.what = "quantized keys", other.type = GGML_TYPE_Q8_0;
    compare(device, cpu, other, true);
    other = taken[0], other.what = "ALiBi", other.max_bias = 8;
    compare(device, cpu, other, true);
    other = taken[0], other.what = "a soft cap", other.softcap = 20;
    compare(device, cpu, other, true);
    const Shape plain{"without a soft cap", 128, 3, 113, 4, 4, 1, {}};
    other = plain, other.what = "a soft cap, behind the same without", other.softcap = 10;
    compare(device, cpu, other, true, &plain);
    other = taken[0], other.what = "rows of the mask that are not aligned", other.keys = 113;
    compare(device, cpu, other, true);
    other = taken[0], other.what = "keys of a type without kernels", other.type = GGML_TYPE_Q5_1;
    compare(device, cpu, other, false);
    return end_of_cases();
}
