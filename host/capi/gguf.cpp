// SPDX-License-Identifier: MIT
// Products with GGUF weights in the C API (nibblewave.h).
#include <algorithm>

#include "capi/context.h"
#include "capi/gguf_types.h"
#include "formats/gguf_types.h"
#include "runtime/gguf.h"
#include "runtime/gguf_linear.h"

namespace nw::api {

namespace {

constexpr bool same(int number, GgmlType type) { return number == static_cast<int>(type); }
static_assert(same(NW_GGUF_F32, GgmlType::f32) && same(NW_GGUF_F16, GgmlType::f16) &&
              same(NW_GGUF_Q4_0, GgmlType::q4_0) && same(NW_GGUF_Q8_0, GgmlType::q8_0) &&
              same(NW_GGUF_Q4_K, GgmlType::q4_K) && same(NW_GGUF_Q6_K, GgmlType::q6_K) &&
              same(NW_GGUF_BF16, GgmlType::bf16));

GgufLinear gguf_of(const nw_context *context, const nw_gguf *p) {
    need_product(context, p, "nw_gguf", sizeof *p);
    return {.type = gguf_type_of(p->type),
            .m = p->m,
            .n = p->n,
            .k = p->k,
            .x = p->x,
            .x_stride = p->x_stride,
            .w = p->w,
            .c = p->c,
            .workspace = p->workspace,
            .workspace_bytes = p->workspace_bytes};
}

GgufRoute route_of(const nw_context &context, const GgufLinear &p) {
    return meaning(NW_UNSUPPORTED, [&] {
        const Choice choice = explain_gguf(context.device.info().gfx, p.type, p.m, p.n, p.k);
        return gguf_route(*choice.kernel, p.type, p.m, p.n, p.k);
    });
}

void launch_gguf(nw_context &context, const GgufLinear &p, void *handle) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate(p); });
    const GgufRoute route = route_of(context, p);
    for (const Kernel *kernel : {route.convert, route.kernel, route.last})
        load_for(context, *kernel, stream, "nw_gguf_prepare");
    meaning(NW_INVALID_ARGUMENT, [&] { launch(context.modules, route, p, stream); });
}

void load_route(nw_context &context, const GgufLinear &p) {
    const GgufRoute route = route_of(context, p);
    for (const Kernel *kernel : {route.convert, route.kernel, route.last})
        load(context, *kernel);
}

// For m = 0 all kernels of the type: whatever way a number of rows gets has no others.
void prepare_gguf(nw_context &context, GgufLinear p) {
    const hip::KeepCurrentDevice keep(context.device);
    meaning(NW_INVALID_ARGUMENT, [&] { validate_gguf_shape(p.type, std::max(p.m, 1u), p.n, p.k); });
    if (p.m > 0)
        return load_route(context, p);
    p.m = ~u32{0};
    const std::string &gfx = context.device.info().gfx;
    for (const Kernel *kernel :
         meaning(NW_UNSUPPORTED, [&] { return gguf_route_kernels(gfx, p.type, p.m, p.n, p.k); })) {
        load(context, *kernel);
        load(context, *gguf_route(*kernel, p.type, p.m, p.n, p.k).convert);
    }
    load_route(context, p); // NIBBLEWAVE_FORCE may name one that is never chosen
}

u64 workspace_of(const nw_context &context, const GgufLinear &p) {
    meaning(NW_INVALID_ARGUMENT, [&] { validate_gguf_shape(p.type, p.m, p.n, p.k); });
    const hip::DeviceInfo &device = context.device.info();
    return meaning(NW_UNSUPPORTED, [&] {
        return gguf_linear_workspace(device.gfx, p.type, p.m, p.n, p.k, device.wgps);
    });
}

u64 row_bytes(i32 type, u32 k) {
    const std::string_view name = gguf_type_of(type);
    meaning(NW_INVALID_ARGUMENT, [&] { validate_gguf_shape(name, 1, 1, k); });
    return gguf_row_bytes(name, k);
}

} // namespace

std::string_view gguf_type_of(i32 type) {
    switch (type) {
    case NW_GGUF_Q4_0:
        return "q4_0";
    case NW_GGUF_Q8_0:
        return "q8_0";
    case NW_GGUF_Q4_K:
        return "q4_K";
    case NW_GGUF_Q6_K:
        return "q6_K";
    case NW_GGUF_F32:
    case NW_GGUF_F16:
    case NW_GGUF_BF16:
        throw Refusal(NW_UNSUPPORTED,
                      fmt::format("type = {}: f32, f16 and bf16 weights are not quantized: take a "
                                  "BLAS (hipBLAS) for such tensors",
                                  type));
    default:
        throw Refusal(NW_UNSUPPORTED,
                      fmt::format("type = {}: there are kernels for NW_GGUF_Q4_0 ({}), _Q8_0 ({}), "
                                  "_Q4_K ({}), _Q6_K ({}); requantize such tensors, or keep them "
                                  "with the backend that you have",
                                  type, int{NW_GGUF_Q4_0}, int{NW_GGUF_Q8_0}, int{NW_GGUF_Q4_K},
                                  int{NW_GGUF_Q6_K}));
    }
}

} // namespace nw::api

using namespace nw;

extern "C" {

nw_status nw_gguf_linear(nw_context *context, const nw_gguf *product, void *stream) {
    return api::guarded([&] {
        const GgufLinear p = api::gguf_of(context, product); // context may be null before this
        api::launch_gguf(*context, p, stream);
    });
}

nw_status nw_gguf_prepare(nw_context *context, const nw_gguf *product) {
    return api::guarded([&] {
        const GgufLinear p = api::gguf_of(context, product);
        api::prepare_gguf(*context, p);
    });
}

nw_status nw_gguf_workspace_size(nw_context *context, const nw_gguf *product, uint64_t *bytes) {
    return api::guarded([&] {
        const GgufLinear p = api::gguf_of(context, product);
        api::need(bytes, "bytes is null: it must point to where the size goes");
        *bytes = api::workspace_of(*context, p);
    });
}

uint64_t nw_gguf_row_bytes(int32_t type, uint32_t k) {
    uint64_t bytes = 0;
    static_cast<void>(api::guarded([&] { bytes = api::row_bytes(type, k); }));
    return bytes;
}
}
