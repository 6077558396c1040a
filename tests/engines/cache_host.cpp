// SPDX-License-Identifier: MIT
// A KV cache where llama.cpp puts it, by ggml's scheduler: in the memory of a GPU, which writes and
// reads it; beside an accelerator in the CPU's.
//     cache_host BACKENDS   paths of backend libraries, with ':' between
// Prints `NAME is a TYPE` for each device, a line for each case, and last `N passed, N failed`.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "host.h"

namespace {

constexpr int64_t d = 128, heads = 4, key_heads = 2, cells = 256, steps = 3, tokens_each = 5;
void fill(ggml_tensor *t, unsigned seed) {
    std::mt19937 bits(seed);
    std::uniform_real_distribution<float> values(-2, 2);
    std::vector<float> x(static_cast<std::size_t>(ggml_nelements(t)));
    for (float &value : x)
        value = values(bits);
    ggml_backend_tensor_set(t, x.data(), 0, ggml_nbytes(t));
}

// Attention of new tokens to a cache, whose cells they are put into first. As llama.cpp has it, a
// product follows, whose weights keep the attention with the device.
struct Layer {
    explicit Layer(ggml_backend_buffer_type_t type) {
        ggml_context *const in = kept.get(), *const out = nodes.get();
        for (ggml_tensor *&cache : kv)
            cache = ggml_new_tensor_2d(in, GGML_TYPE_F16, d * key_heads, cells);
        weight = ggml_new_tensor_2d(in, GGML_TYPE_Q8_0, d * heads, 32);
        memory.reset(ggml_backend_alloc_ctx_tensors_from_buft(in, type));
        ggml_backend_buffer_clear(memory.get(), 0);
        q = input(ggml_new_tensor_3d(out, GGML_TYPE_F32, d, heads, tokens_each));
        at = input(ggml_new_tensor_1d(out, GGML_TYPE_I64, tokens_each));
        mask = input(ggml_new_tensor_2d(out, GGML_TYPE_F16, cells, tokens_each));
        graph = ggml_new_graph(out);
        ggml_tensor *views[2];
        for (int i = 0; i < 2; i++) {
            fresh[i] = input(ggml_new_tensor_2d(out, GGML_TYPE_F32, d * key_heads, tokens_each));
            ggml_build_forward_expand(graph, ggml_set_rows(out, kv[i], fresh[i], at));
            views[i] = ggml_view_3d(out, kv[i], d, cells, key_heads, kv[i]->nb[1], 2 * d, 0);
        }
        attention = ggml_flash_attn_ext(out, ggml_permute(out, q, 0, 2, 1, 3), views[0], views[1],
                                        mask, 1 / std::sqrt(float(d)), 0, 0);
        result = ggml_mul_mat(out, weight, ggml_reshape_2d(out, attention, d * heads, tokens_each));
        ggml_set_output(result);
        ggml_build_forward_expand(graph, result);
        ggml_backend_buffer_set_usage(memory.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        fill_weight();
    }
    static ggml_tensor *input(ggml_tensor *t) { return ggml_set_input(t), t; }
    void fill_weight();
    std::vector<float> step(ggml_backend_sched_t, int number);

    ggml_context_ptr kept{ggml_init({1 << 20, nullptr, true})};
    ggml_context_ptr nodes{ggml_init({1 << 20, nullptr, true})};
    ggml_backend_buffer_ptr memory;
    ggml_tensor *kv[2], *weight, *q, *at, *mask, *fresh[2], *attention, *result;
    ggml_cgraph *graph;
};

void Layer::fill_weight() {
    std::vector<float> x(static_cast<std::size_t>(ggml_nelements(weight)));
    for (std::size_t i = 0; i < x.size(); i++)
        x[i] = std::sin(float(i));
    std::vector<char> bytes(ggml_nbytes(weight));
    ggml_quantize_chunk(weight->type, x.data(), bytes.data(), 0, weight->ne[1], weight->ne[0],
                        nullptr);
    ggml_backend_tensor_set(weight, bytes.data(), 0, bytes.size());
}

// The number-th tokens see themselves and all before.
std::vector<float> Layer::step(ggml_backend_sched_t sched, int number) {
    const auto seed = static_cast<unsigned>(10 * number);
    fill(q, seed), fill(fresh[0], seed + 1), fill(fresh[1], seed + 2);
    std::vector<int64_t> rows;
    std::vector<ggml_fp16_t> words;
    for (int64_t i = 0; i < tokens_each; i++) {
        rows.push_back(number * tokens_each + i);
        for (int64_t j = 0; j < cells; j++)
            words.push_back(ggml_fp32_to_fp16(j <= rows.back() ? 0 : -INFINITY));
    }
    ggml_backend_tensor_set(at, rows.data(), 0, ggml_nbytes(at));
    ggml_backend_tensor_set(mask, words.data(), 0, ggml_nbytes(mask));
    if (ggml_backend_sched_graph_compute(sched, graph) != GGML_STATUS_SUCCESS)
        return {};
    std::vector<float> out(static_cast<std::size_t>(ggml_nelements(result)));
    ggml_backend_tensor_get(result, out.data(), 0, ggml_nbytes(result));
    return out;
}

void cache_of(ggml_backend_dev_t device, ggml_backend_dev_t cpu, bool is_gpu) {
    const ggml_backend_ptr there(ggml_backend_dev_init(device, nullptr)),
        here(ggml_backend_dev_init(cpu, nullptr));
    ggml_backend_t both[] = {there.get(), here.get()};
    const ggml_backend_sched_ptr mixed(ggml_backend_sched_new(both, nullptr, 2, 64, false, true)),
        plain(ggml_backend_sched_new(both + 1, nullptr, 1, 64, false, true));
    Layer mine(ggml_backend_dev_buffer_type(is_gpu ? device : cpu)),
        theirs(ggml_backend_dev_buffer_type(cpu));
    bool good = ggml_backend_sched_alloc_graph(mixed.get(), mine.graph) &&
                ggml_backend_sched_alloc_graph(plain.get(), theirs.graph);
    double worst = 0;
    for (int number = 0; good && number < steps; number++) {
        const auto got = mine.step(mixed.get(), number), want = theirs.step(plain.get(), number);
        good = got.size() == want.size();
        worst = std::max(worst, good ? nmse(got, want) : 1);
    }
    const bool there_it_ran =
        ggml_backend_sched_get_tensor_backend(mixed.get(), mine.attention) == there.get();
    const int splits = ggml_backend_sched_get_n_splits(mixed.get());
    const std::string name = ggml_backend_dev_name(device);
    count("a cache of " + (is_gpu ? name : "the CPU"),
          good && there_it_ran == is_gpu && splits == 1 && worst <= most_nmse,
          "NMSE " + std::to_string(worst) + ", " + std::to_string(splits) + " splits, attention " +
              (there_it_ran ? "on " + name : "elsewhere"));
}

const char *name_of(enum ggml_backend_dev_type type) {
    return type == GGML_BACKEND_DEVICE_TYPE_GPU    ? "GPU"
           : type == GGML_BACKEND_DEVICE_TYPE_IGPU ? "IGPU"
                                                   : "ACCEL";
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2)
        return std::fprintf(stderr, "usage: cache_host BACKENDS\n"), 2;
    if (!load_backends(argv[1]))
        return 2;
    ggml_backend_dev_t const cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    for (std::size_t i = 0; cpu && i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t const device = ggml_backend_dev_get(i);
        if (device == cpu)
            continue;
        const auto type = ggml_backend_dev_type(device);
        std::printf("%s is a %s\n", ggml_backend_dev_name(device), name_of(type));
        cache_of(device, cpu, type != GGML_BACKEND_DEVICE_TYPE_ACCEL);
    }
    return end_of_cases();
}
