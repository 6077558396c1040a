// SPDX-License-Identifier: MIT
// Host time of a MUL_MAT through ggml's backend beside the same nw_gguf_linear, and of a decoder's
// layer, without the GPU's: hipModuleLaunchKernel is this program's own and returns at once.
//     backend_cost BACKEND   a line for each number of rows, and one for the layer
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "nibblewave.h"

static int launches = 0;

// Found before that of libamdhip64, as a tool's that watches calls would be.
extern "C" hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned,
                                            unsigned, unsigned, unsigned, hipStream_t, void **,
                                            void **) {
    launches++;
    return hipSuccess;
}

namespace {

constexpr int products = 200, repeats = 200;
constexpr int64_t k = 2048, n = 1024;

// Microseconds for one product: the least of many repeats.
double microseconds(const std::function<void()> &all) {
    double least = 1e9;
    for (int i = 0; i < repeats; i++) {
        const auto start = std::chrono::steady_clock::now();
        all();
        const std::chrono::duration<double, std::micro> taken =
            std::chrono::steady_clock::now() - start;
        least = std::min(least, taken.count());
    }
    return least / products;
}

void compare(ggml_backend_dev_t device, int64_t rows) {
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    const ggml_context_ptr context(ggml_init({8 << 20, nullptr, true}));
    ggml_tensor *const a = ggml_new_tensor_2d(context.get(), GGML_TYPE_Q4_K, k, n);
    ggml_tensor *const b = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, k, rows);
    ggml_cgraph *const graph = ggml_new_graph(context.get());
    ggml_tensor *c = nullptr;
    for (int i = 0; i < products; i++)
        ggml_build_forward_expand(graph, c = ggml_mul_mat(context.get(), a, b));
    const ggml_backend_buffer_ptr memory(
        ggml_backend_alloc_ctx_tensors(context.get(), backend.get()));
    const double through = microseconds(
        [&] { static_cast<void>(ggml_backend_graph_compute_async(backend.get(), graph)); });

    nw_context *own = nullptr;
    nw_gguf p = NW_GGUF_INIT;
    p.type = NW_GGUF_Q4_K, p.m = static_cast<uint32_t>(rows), p.n = n, p.k = k;
    p.x = b->data, p.w = a->data, p.c = c->data, p.x_stride = 4 * k;
    if (nw_context_create(nullptr, &own) != NW_OK ||
        nw_gguf_workspace_size(own, &p, &p.workspace_bytes) != NW_OK ||
        hipMalloc(&p.workspace, p.workspace_bytes) != hipSuccess)
        return static_cast<void>(std::printf("%s\n", nw_last_error()));
    const double direct = microseconds([&] {
        for (int i = 0; i < products; i++)
            static_cast<void>(nw_gguf_linear(own, &p, nullptr));
    });
    std::printf("%d rows: %.2f us through ggml, %.2f us by nw_gguf_linear: %.2f us more\n",
                int(rows), through, direct, through - direct);
}

// A layer of Qwen3-8B at one token, with an f16 cache.
struct Layer {
    static constexpr int64_t d = 128, heads = 32, key_heads = 8, width = 4096, wide = 12288,
                             cells = 512;

    explicit Layer(ggml_backend_t backend) {
        x = floats(width), at = ggml_new_tensor_1d(own(), GGML_TYPE_I64, 1);
        positions = ggml_new_tensor_1d(own(), GGML_TYPE_I32, 1);
        mask = ggml_new_tensor_2d(own(), GGML_TYPE_F16, cells, 1);
        for (ggml_tensor *&one : cache)
            one = ggml_new_tensor_2d(own(), GGML_TYPE_F16, d * key_heads, cells);
        graph = ggml_new_graph(own());
        ggml_tensor *const h = ggml_add(own(), x, attention(norm(x, width)));
        ggml_tensor *const n = norm(h, width);
        ggml_tensor *const gated = ggml_swiglu_split(own(), by(width, wide, n), by(width, wide, n));
        ggml_build_forward_expand(graph, ggml_add(own(), h, by(wide, width, gated)));
        memory.reset(ggml_backend_alloc_ctx_tensors(own(), backend));
        ggml_backend_buffer_clear(memory.get(), 0);
    }

    ggml_context *own() { return context.get(); }
    ggml_tensor *floats(int64_t n) { return ggml_new_tensor_1d(own(), GGML_TYPE_F32, n); }
    ggml_tensor *norm(ggml_tensor *of, int64_t n) {
        return ggml_mul(own(), ggml_rms_norm(own(), of, 1e-6f), floats(n));
    }
    ggml_tensor *by(int64_t in, int64_t out, ggml_tensor *of) {
        return ggml_mul_mat(own(), ggml_new_tensor_2d(own(), GGML_TYPE_Q4_K, in, out), of);
    }
    ggml_tensor *rotated(ggml_tensor *of, int64_t n) {
        ggml_tensor *const split = ggml_reshape_3d(own(), of, d, n, 1);
        return ggml_rope_ext(own(), norm(split, d), positions, nullptr, d, GGML_ROPE_TYPE_NEOX,
                             4096, 1e6f, 1, 0, 1, 32, 1);
    }
    ggml_tensor *attention(ggml_tensor *n) {
        ggml_tensor *const q = rotated(by(width, d * heads, n), heads);
        ggml_tensor *const new_rows[] = {rotated(by(width, d * key_heads, n), key_heads),
                                         by(width, d * key_heads, n)};
        ggml_tensor *views[2];
        for (int i = 0; i < 2; i++) {
            ggml_tensor *const row = ggml_reshape_2d(own(), new_rows[i], d * key_heads, 1);
            ggml_build_forward_expand(graph, ggml_set_rows(own(), cache[i], row, at));
            views[i] =
                ggml_view_3d(own(), cache[i], d, cells, key_heads, cache[i]->nb[1], 2 * d, 0);
        }
        ggml_tensor *const out = ggml_flash_attn_ext(own(), ggml_permute(own(), q, 0, 2, 1, 3),
                                                     views[0], views[1], mask, 0.09f, 0, 0);
        return by(d * heads, width, ggml_reshape_1d(own(), out, d * heads));
    }

    ggml_context_ptr context{ggml_init({4 << 20, nullptr, true})};
    ggml_tensor *x, *at, *positions, *mask, *cache[2];
    ggml_cgraph *graph;
    ggml_backend_buffer_ptr memory;
};

void layer(ggml_backend_dev_t device) {
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    const Layer layer(backend.get());
    int nodes = 0;
    for (int i = 0; i < ggml_graph_n_nodes(layer.graph); i++) {
        const ggml_op op = ggml_graph_node(layer.graph, i)->op;
        nodes += op != GGML_OP_VIEW && op != GGML_OP_RESHAPE && op != GGML_OP_PERMUTE;
    }
    const auto run = [&] {
        return ggml_backend_graph_compute_async(backend.get(), layer.graph) == GGML_STATUS_SUCCESS;
    };
    if (!run()) // asks the library about each node, by launches that are thrown away
        return;
    launches = 0;
    static_cast<void>(run());
    const int each = launches;
    const double all = products * microseconds([&] { static_cast<void>(run()); });
    std::printf("a layer: %d nodes, %d launches, %.1f us, %.2f us a node\n", nodes, each, all,
                all / nodes);
}

} // namespace

int main(int arguments, char **values) {
    ggml_backend_reg_t const reg = arguments == 2 ? ggml_backend_load(values[1]) : nullptr;
    if (!reg || ggml_backend_reg_dev_count(reg) == 0)
        return std::fprintf(stderr, "backend_cost BACKEND\n"), 2;
    for (int64_t rows : {1, 8, 32, 512})
        compare(ggml_backend_reg_dev_get(reg, 0), rows);
    layer(ggml_backend_reg_dev_get(reg, 0));
}
