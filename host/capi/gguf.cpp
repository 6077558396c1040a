// SPDX-License-Identifier: MIT
// Products with GGUF weights in the C API (nibblewave.h).
#include <algorithm>
#include <string>

#include "capi/context.h"
#include "capi/gguf_types.h"
#include "formats/gguf_types.h"
#include "runtime/w4a16.h"
#include "runtime/words.h"

namespace nw::api {

namespace {

Op gguf_of(const nw_context *context, const nw_gguf *p) {
    need_product(context, p, "nw_gguf", sizeof *p);
    Op op{.kind = OpKind::linear_gguf};
    op.type = gguf_type_of(p->type);
    op.m = p->m;
    op.n = p->n;
    op.k = p->k;
    op.x = address(p->x);
    op.x_stride = p->x_stride;
    op.w = address(p->w);
    op.c = address(p->c);
    op.workspace = address(p->workspace);
    op.workspace_bytes = p->workspace_bytes;
    return op;
}

// For m = 0 all kernels of the type: no number of rows needs any other.
void prepare_gguf(nw_context &context, Op op) {
    const hip::KeepCurrentDevice keep(context.device);
    if (op.m > 0)
        return load(context, op);
    constexpr u64 any_rows = 0xffffffff;
    op.m = any_rows;
    load_every(context, op);
}

} // namespace

u64 gguf_type_of(i32 type) {
    const GgmlTypeInfo *info = find_ggml_type(static_cast<GgmlType>(type));
    if (info && std::ranges::find(gguf_types, info->name) != gguf_types.end())
        return find_word(info->name);
    if (type == NW_GGUF_F32 || type == NW_GGUF_F16 || type == NW_GGUF_BF16)
        throw Refusal(NW_UNSUPPORTED,
                      fmt::format("type = {}: f32, f16 and bf16 weights are not quantized: take a "
                                  "BLAS (hipBLAS) for such tensors",
                                  type));
    std::string known;
    for (const std::string_view name : gguf_types)
        known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", name,
                             static_cast<u32>(find_ggml_type(name)->id));
    throw Refusal(NW_UNSUPPORTED,
                  fmt::format("type = {}{}: there are kernels for {}; requantize such tensors, or "
                              "keep them with the backend that you have",
                              type, info ? fmt::format(", {}", info->name) : "", known));
}

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_gguf_linear(nw_context *context, const nw_gguf *product, void *stream) {
    return api::guarded([&] {
        const Op op = api::gguf_of(context, product); // context may be null before this
        api::launch(*context, op, stream, "nw_gguf_prepare");
    });
}

nw_status nw_gguf_prepare(nw_context *context, const nw_gguf *product) {
    return api::guarded([&] {
        const Op op = api::gguf_of(context, product);
        api::prepare_gguf(*context, op);
    });
}

nw_status nw_gguf_workspace_size(nw_context *context, const nw_gguf *product, uint64_t *bytes) {
    return api::bytes_call(
        bytes, [&] { return api::workspace_of(*context, api::gguf_of(context, product)); });
}

uint64_t nw_gguf_row_bytes(int32_t type, uint32_t k) {
    uint64_t bytes = 0;
    static_cast<void>(api::guarded([&] {
        Op op{.kind = OpKind::linear_gguf};
        op.type = api::gguf_type_of(type);
        op.m = op.n = 1;
        op.k = k;
        api::meaning(NW_INVALID_ARGUMENT, [&] { check_shape(op); });
        bytes = ggml_row_bytes(words[op.type], k);
    }));
    return bytes;
}
}
