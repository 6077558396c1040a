// SPDX-License-Identifier: MIT
// Host time of a MUL_MAT through ggml's backend beside the same nw_gguf_linear, and of a token,
// without the GPU's: launches are this program's own functions and return at once.
//     backend_cost BACKEND         a line for each number of rows
//     backend_cost BACKEND token   one for the token
#include <dlfcn.h>
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpp.h>
#include <ggml-impl.h>
#include <ggml.h>
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "decoder.h"
#include "nibblewave.h"

static int launches = 0;
static bool pretended = true;

// Found before those of libamdhip64, as a tool's that watches calls would be.
extern "C" hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z,
                                            unsigned block_x, unsigned block_y, unsigned block_z,
                                            unsigned lds, hipStream_t stream, void **arguments,
                                            void **extra) {
    static const auto own = reinterpret_cast<decltype(&hipModuleLaunchKernel)>(
        dlsym(RTLD_NEXT, "hipModuleLaunchKernel"));
    launches++;
    return pretended ? hipSuccess
                     : own(f, x, y, z, block_x, block_y, block_z, lds, stream, arguments, extra);
}

extern "C" hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream) {
    static const auto own =
        reinterpret_cast<decltype(&hipGraphLaunch)>(dlsym(RTLD_NEXT, "hipGraphLaunch"));
    return pretended ? hipSuccess : own(graph, stream);
}

namespace {

constexpr int products = 200, repeats = 200;
constexpr int64_t k = 2048, n = 1024;

double once(const std::function<void()> &all) {
    const auto start = std::chrono::steady_clock::now();
    all();
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count();
}

// Microseconds for one product: the least of many repeats.
double microseconds(const std::function<void()> &all) {
    double least = 1e9;
    for (int i = 0; i < repeats; i++)
        least = std::min(least, once(all));
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

// A token of a dense decoder of 36 layers, as llama.cpp gives it: a graph that it says is the same.
// Host time depends on nodes, not on their sizes.
void token(ggml_backend_dev_t device) {
    constexpr int layers = 36, tokens = 50;
    Sizes sizes{};
    for (const Sizes &one : models)
        if (std::string(one.name) == "small")
            sizes = one;
    const ggml_backend_ptr backend(ggml_backend_dev_init(device, nullptr));
    const Decoder decoder(backend.get(), sizes, layers, true);
    decoder.graph->uid = 1;
    const auto run = [&] {
        return decoder.ready && ggml_backend_graph_compute_async(backend.get(), decoder.graph) ==
                                    GGML_STATUS_SUCCESS;
    };
    pretended = false; // the backend tests graphs first
    if (!run())        // asks the library about each node, by launches that are thrown away
        return;
    launches = 0;
    static_cast<void>(run()); // with graphs: recorded
    ggml_backend_synchronize(backend.get());
    const int each = launches;
    pretended = true;
    double least = 1e9;
    for (int i = 0; i < tokens; i++)
        least = std::min(least, once([&] { static_cast<void>(run()); }));
    std::printf("a token of %d layers: %d nodes, %d launches, %.1f us\n", layers, decoder.count(),
                each, least);
}

} // namespace

int main(int arguments, char **values) {
    ggml_backend_reg_t const reg = arguments > 1 ? ggml_backend_load(values[1]) : nullptr;
    if (!reg || ggml_backend_reg_dev_count(reg) == 0)
        return std::fprintf(stderr, "backend_cost BACKEND [token]\n"), 2;
    if (arguments > 2)
        return token(ggml_backend_reg_dev_get(reg, 0)), 0;
    for (int64_t rows : {1, 8, 32, 512})
        compare(ggml_backend_reg_dev_get(reg, 0), rows);
}
