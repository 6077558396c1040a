// SPDX-License-Identifier: MIT
// Ops between a decoder's products, on each device of libggml-nibblewave beside ggml's CPU.
//     ops_host BACKENDS   paths of backend libraries, with ':' between
// Prints a line for each case, and last `N passed, N failed`.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <cstring>
#include <random>

#include "host.h"

// ggml before 0.25 has no offsets of pairs: they begin the row.
[[maybe_unused]] static ggml_tensor *ggml_rope_set_offset(ggml_tensor *rope, int64_t) {
    return rope;
}

namespace {

constexpr int64_t head = 64, heads = 4, width = head * heads, tokens = 5;
constexpr double most = 1e-9; // NMSE: all in float

std::vector<float> random_floats(int64_t count, unsigned seed, float from, float to) {
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> values(from, to);
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float &value : out)
        value = values(bits);
    return out;
}

void fill(ggml_tensor *t, unsigned seed, float from = -2, float to = 2) {
    const auto values = random_floats(ggml_nelements(t), seed, from, to);
    ggml_backend_tensor_set(t, values.data(), 0, ggml_nbytes(t));
}

// norm * weight, rotation, residual, gated unit, scale: of f32, by frequency factors of a model or
// of an input.
struct Layer {
    Layer(ggml_backend_dev_t device, bool factors_are_weights) {
        ggml_context *const in = weights.get(), *const out = nodes.get();
        w = ggml_new_tensor_1d(in, GGML_TYPE_F32, width);
        factors = ggml_new_tensor_1d(factors_are_weights ? in : out, GGML_TYPE_F32, head / 2);
        x = ggml_new_tensor_2d(out, GGML_TYPE_F32, width, tokens);
        positions = ggml_new_tensor_1d(out, GGML_TYPE_I32, tokens);
        ggml_tensor *const h = ggml_mul(out, ggml_rms_norm(out, x, 1e-6f), w);
        ggml_tensor *const q =
            ggml_rope_ext(out, ggml_reshape_3d(out, h, head, heads, tokens), positions, factors,
                          head, GGML_ROPE_TYPE_NEOX, 4096, 5e5f, 0.25f, 1, 1, 32, 1);
        ggml_tensor *const sum = ggml_add(out, x, ggml_reshape_2d(out, q, width, tokens));
        y = ggml_scale(out, ggml_swiglu_split(out, sum, h), 0.5f);
        graph = ggml_new_graph(out);
        ggml_build_forward_expand(graph, y);
        ggml_backend_buffer_type_t const type = ggml_backend_dev_buffer_type(device);
        weight_memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(in, type));
        ggml_backend_buffer_set_usage(weight_memory.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        node_memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(out, type));
        fill(w, 1), fill(x, 2), set_factors(3);
        std::vector<int32_t> values;
        for (int32_t i = 0; i < tokens; i++)
            values.push_back(10 * i); // ggml's angles are off by 1e-7 of a position
        ggml_backend_tensor_set(positions, values.data(), 0, ggml_nbytes(positions));
    }
    void set_factors(unsigned seed, float sign = 1) {
        fill(factors, seed, sign < 0 ? -2 : 0.5f, sign < 0 ? -0.5f : 2);
    }
    std::vector<float> compute(ggml_backend_t backend) {
        std::vector<float> out(static_cast<std::size_t>(ggml_nelements(y)));
        if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS)
            return {};
        ggml_backend_tensor_get(y, out.data(), 0, ggml_nbytes(y));
        return out;
    }

    ggml_context_ptr weights{ggml_init({1 << 20, nullptr, true})};
    ggml_context_ptr nodes{ggml_init({1 << 20, nullptr, true})};
    ggml_backend_buffer_ptr weight_memory, node_memory;
    ggml_tensor *w, *factors, *x, *positions, *y;
    ggml_cgraph *graph;
};

bool same(const std::vector<float> &got, const std::vector<float> &want) {
    return !want.empty() && got.size() == want.size() && nmse(got, want) <= most;
}

// Each graph again, with other factors: by the time it runs they are the factors that count.
void layer(ggml_backend_dev_t device, ggml_backend_dev_t cpu, bool factors_are_weights) {
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu, nullptr));
    Layer mine(device, factors_are_weights), theirs(cpu, factors_are_weights);
    const auto first = mine.compute(there.get()), want = theirs.compute(here.get());
    const bool right = same(first, want) && mine.compute(there.get()) == first;
    mine.set_factors(7, -1), theirs.set_factors(7, -1);
    const auto other = mine.compute(there.get());
    const bool follows = same(other, theirs.compute(here.get())) && !same(other, first);
    mine.set_factors(3);
    const bool back = mine.compute(there.get()) == first;
    count(std::string(ggml_backend_dev_name(device)) + " a layer, factors are " +
              (factors_are_weights ? "weights" : "an input"),
          right && follows && back, "1e9 * NMSE " + std::to_string(1e9 * nmse(first, want)));
}

// Head norms, weights and a rotation of the last half of each head.
std::vector<float> normed_heads(ggml_backend_dev_t device) {
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    const ggml_context_ptr context(ggml_init({1 << 20, nullptr, true}));
    ggml_context *const own = context.get();
    ggml_tensor *const x = ggml_new_tensor_3d(own, GGML_TYPE_F32, head, heads, 1);
    ggml_tensor *const w = ggml_new_tensor_1d(own, GGML_TYPE_F32, head);
    ggml_tensor *const position = ggml_new_tensor_1d(own, GGML_TYPE_I32, 1);
    ggml_tensor *const y = ggml_rope_set_offset(
        ggml_rope_ext(own, ggml_mul(own, ggml_rms_norm(own, x, 1e-6f), w), position, nullptr,
                      head / 2, GGML_ROPE_TYPE_NEOX, 4096, 1e4f, 1, 0, 1, 32, 1),
        static_cast<int>(head / 2));
    ggml_cgraph *const graph = ggml_new_graph(own);
    ggml_build_forward_expand(graph, y);
    const ggml_backend_buffer_ptr memory(ggml_backend_alloc_ctx_tensors(own, backend.get()));
    const int32_t at = 9;
    fill(x, 1), fill(w, 2), ggml_backend_tensor_set(position, &at, 0, sizeof at);
    std::vector<float> out(static_cast<std::size_t>(ggml_nelements(y)));
    if (ggml_backend_graph_compute(backend.get(), graph) != GGML_STATUS_SUCCESS)
        return {};
    ggml_backend_tensor_get(y, out.data(), 0, ggml_nbytes(y));
    return out;
}

// llama.cpp writes no rows into a cache: a node without elements goes where the cache is, or the
// scheduler aborts.
void empty(ggml_backend_dev_t device) {
    const ggml_context_ptr context(ggml_init({1 << 20, nullptr, true}));
    ggml_tensor *const rows = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, 64, 4);
    ggml_tensor *const none = ggml_view_2d(context.get(), rows, 64, 0, rows->nb[1], 0);
    ggml_tensor *const copy = ggml_cpy(context.get(), none, none);
    count(std::string(ggml_backend_dev_name(device)) + " a copy of nothing",
          ggml_backend_dev_supports_op(device, copy));
}

// A program without the scheduler gives a graph whose last node has no kernel: nothing runs.
void refused_whole(ggml_backend_dev_t device) {
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    const ggml_context_ptr context(ggml_init({1 << 20, nullptr, true}));
    ggml_tensor *const x = ggml_new_tensor_1d(context.get(), GGML_TYPE_F32, 64);
    ggml_tensor *const doubled = ggml_scale(context.get(), x, 2);
    ggml_tensor *const loss = ggml_cross_entropy_loss(context.get(), doubled, x);
    ggml_cgraph *const graph = ggml_new_graph(context.get());
    ggml_build_forward_expand(graph, loss);
    const ggml_backend_buffer_ptr memory(
        ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
    ggml_backend_buffer_clear(memory.get(), 0);
    fill(x, 1, 1, 2);
    const bool failed = ggml_backend_graph_compute(backend.get(), graph) == GGML_STATUS_FAILED;
    std::vector<float> untouched(64, 1.0f);
    ggml_backend_tensor_get(doubled, untouched.data(), 0, ggml_nbytes(doubled));
    count(std::string(ggml_backend_dev_name(device)) + " a graph with an op without kernels",
          failed && untouched == std::vector<float>(64, 0.0f));
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return std::fprintf(stderr, "usage: ops_host BACKENDS\n"), 2;
    if (!load_backends(argv[1]))
        return 2;
    ggml_backend_dev_t const cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    for (std::size_t i = 0; cpu && i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t const device = ggml_backend_dev_get(i);
        if (device == cpu)
            continue;
        layer(device, cpu, true);
        layer(device, cpu, false);
        count(std::string(ggml_backend_dev_name(device)) + " heads whose last half is rotated",
              same(normed_heads(device), normed_heads(cpu)));
        empty(device);
        refused_whole(device);
    }
    return end_of_cases();
}
