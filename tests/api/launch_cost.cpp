// SPDX-License-Identifier: MIT
// Host time of launches through the C API, without the GPU's: hipModuleLaunchKernel is this
// program's own and returns at once. Pair two builds: run it with each one's libnibblewave.so.
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime_api.h>

#include "nibblewave.h"

// Found before that of libamdhip64, as a tool's that watches calls would be.
extern "C" hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned,
                                            unsigned, unsigned, unsigned, hipStream_t, void **,
                                            void **) {
    return hipSuccess;
}

namespace {

void need(int status) {
    if (status == NW_OK)
        return;
    std::fprintf(stderr, "%s\n", nw_last_error());
    std::exit(1);
}

nw_context *context() {
    static nw_context *const made = [] {
        nw_context *out = nullptr;
        need(nw_context_create(nullptr, &out));
        return out;
    }();
    return made;
}

void *memory(size_t bytes) {
    void *out = nullptr;
    if (hipMalloc(&out, bytes) != hipSuccess || hipMemset(out, 0, bytes) != hipSuccess)
        std::exit(1);
    return out;
}

void linear(benchmark::State &state) {
    nw_w4a16 p = NW_W4A16_INIT;
    p.dtype = NW_F16, p.zeros = NW_ZEROS_EIGHT;
    p.m = static_cast<uint32_t>(state.range(0)), p.n = 1024, p.k = 2048, p.group = 128;
    p.a = memory(2ull * p.m * p.k), p.w = memory(p.n * p.k / 2),
    p.s = memory(2ull * p.n * p.k / 128);
    p.c = memory(2ull * p.m * p.n), p.w_stride = p.k / 2, p.s_stride = 2ull * p.k / 128;
    need(nw_linear_w4a16(context(), &p, nullptr));
    for (auto _ : state)
        need(nw_linear_w4a16(context(), &p, nullptr));
}
BENCHMARK(linear)->Arg(1)->Arg(8)->Arg(64)->Arg(512);

void gguf(benchmark::State &state) {
    nw_gguf p = NW_GGUF_INIT;
    p.type = NW_GGUF_Q4_K;
    p.m = static_cast<uint32_t>(state.range(0)), p.n = 1024, p.k = 2048;
    p.x = memory(4ull * p.m * p.k), p.w = memory(p.n * nw_gguf_row_bytes(p.type, p.k));
    p.c = memory(4ull * p.m * p.n), p.x_stride = 4ull * p.k;
    need(nw_gguf_workspace_size(context(), &p, &p.workspace_bytes));
    p.workspace = memory(p.workspace_bytes);
    need(nw_gguf_linear(context(), &p, nullptr));
    for (auto _ : state)
        need(nw_gguf_linear(context(), &p, nullptr));
}
BENCHMARK(gguf)->Arg(1)->Arg(8)->Arg(32)->Arg(512);

void gguf_moe(benchmark::State &state) {
    nw_gguf_moe p = NW_GGUF_MOE_INIT;
    p.type = NW_GGUF_Q4_K, p.n = 768, p.k = 2048, p.experts = 8, p.top_k = 2;
    p.slots = static_cast<uint32_t>(state.range(0));
    p.w_expert = p.n * nw_gguf_row_bytes(p.type, p.k);
    p.x = memory(4ull * p.slots * p.k), p.w = memory(p.experts * p.w_expert);
    p.c = memory(4ull * p.slots * p.n), p.x_stride = 4ull * p.k;
    p.expert_ids = static_cast<const int32_t *>(memory(4ull * p.slots));
    need(nw_gguf_moe_workspace_size(context(), &p, &p.workspace_bytes));
    p.workspace = memory(p.workspace_bytes);
    need(nw_gguf_moe_linear(context(), &p, nullptr));
    for (auto _ : state)
        need(nw_gguf_moe_linear(context(), &p, nullptr));
}
BENCHMARK(gguf_moe)->Arg(4)->Arg(256);

} // namespace

BENCHMARK_MAIN();
