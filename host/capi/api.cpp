// SPDX-License-Identifier: MIT
// The C API (nibblewave.h) over the typed launches.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <string>

#include "capi/context.h"
#include "formats/row_stride.h"
#include "runtime/carriers.h"
#include "runtime/files.h"
#include "runtime/force.h"
#include "runtime/linear.h"

static_assert(NW_VERSION == NW_PROJECT_VERSION, "nibblewave.h and CMake's project() disagree");

namespace nw::api {

namespace {

W4A16 product_of(const nw_context *context, const nw_w4a16 *p) {
    need_product(context, p, "nw_w4a16", sizeof *p);
    static_assert(NW_PER_ROW == per_row);
    need(p->silu_gate_up == 0 || p->silu_gate_up == 1, "silu_gate_up = {}: must be 0 or 1",
         p->silu_gate_up);
    return {.dtype = dtype_of(p->dtype),
            .m = p->m,
            .n = p->n,
            .k = p->k,
            .group = p->group,
            .a = p->a,
            .w = p->w,
            .s = p->s,
            .bias = p->bias,
            .c = p->c,
            .w_stride = p->w_stride,
            .s_stride = p->s_stride,
            .zeros = zeros_of(p->zeros),
            .z = p->z,
            .z_stride = p->z_stride,
            .silu_gate_up = p->silu_gate_up != 0};
}

// The kernel for a product whose shape keeps the rules.
const Kernel &kernel_of(const nw_context &context, const W4A16 &p) {
    return meaning(NW_UNSUPPORTED,
                   [&]() -> const Kernel & { return choose_linear(context.device.info().gfx, p); });
}

const Kernel &checked_kernel(const nw_context &context, const W4A16 &p) {
    meaning(NW_INVALID_ARGUMENT, [&] { validate_linear_shape(p); });
    return kernel_of(context, p);
}

void launch(nw_context &context, const W4A16 &p, void *handle) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate_linear(p); });
    const Kernel &kernel = kernel_of(context, p);
    load_for(context, kernel, stream, "nw_prepare");
    meaning(NW_INVALID_ARGUMENT, [&] { launch_linear(context.modules, kernel, p, stream); });
}

const Kernel &carrier_kernel(const nw_context &context, Dtype dtype) {
    return meaning(NW_UNSUPPORTED, [&]() -> const Kernel & {
        return choose_carrier(context.device.info().gfx, dtype);
    });
}

void make_carriers(nw_context &context, const nw_carriers &c, void *handle) {
    const CarrierW4A16 p = {dtype_of(c.dtype), c.n,        c.k,        c.group,         c.s, c.z,
                            c.carrier,         c.s_stride, c.z_stride, c.carrier_stride};
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate(p); });
    const Kernel &kernel = carrier_kernel(context, p.dtype);
    load_for(context, kernel, stream, "nw_prepare");
    launch(context.modules, kernel, p, stream);
}

void prepare(nw_context &context, W4A16 p) {
    const hip::KeepCurrentDevice keep(context.device);
    if (p.zeros == Zeros::carrier)
        load(context, carrier_kernel(context, p.dtype));
    if (p.m > 0)
        return load(context, checked_kernel(context, p));
    for (p.m = 1; p.m <= decode_rows; ++p.m)
        load(context, checked_kernel(context, p));
}

std::unique_ptr<nw_context> create(const char *directory) {
    need(!directory || *directory, "kernel_directory = \"\": must be a directory, or null");
    hip::Device device = hip::Device::current();
    const std::string &gfx = device.info().gfx;
    const auto known = hip::supported_gfx();
    if (std::ranges::find(known, gfx) == known.end())
        throw Refusal(
            NW_UNSUPPORTED,
            fmt::format("the current HIP device is a {}; there are kernels for {}: choose "
                        "another with hipSetDevice",
                        gfx, fmt::join(known, ", ")));
    meaning(NW_UNSUPPORTED, [&] { static_cast<void>(forced("", gfx)); });
    const auto found = meaning(NW_NO_KERNEL_FILES,
                               [&] { return find_directory(gfx, directory ? directory : ""); });
    return std::make_unique<nw_context>(std::move(device), std::filesystem::absolute(found));
}

u64 row_stride(const char *name, u32 k) {
    need(name, "gfx is null: it must be a name as in gcnArchName, \"gfx1151\"");
    const std::string_view gfx = std::string_view(name).substr(0, std::string_view(name).find(':'));
    const auto known = hip::supported_gfx();
    need(std::ranges::find(known, gfx) != known.end(), "gfx = \"{}\": must be one of {}", name,
         fmt::join(known, ", "));
    need(k > 0, "k = 0: must be the number of weights of a row");
    return weight_row_stride(gfx, k);
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

uint32_t nw_version(void) { return NW_VERSION; }

nw_status nw_context_create(const char *kernel_directory, nw_context **context) {
    if (context)
        *context = nullptr;
    return api::guarded([&] {
        api::need(context, "context is null: it must point to where the nw_context * goes");
        *context = api::create(kernel_directory).release();
    });
}

void nw_context_destroy(nw_context *context) { delete context; }

const char *nw_context_gfx(const nw_context *context) {
    return context ? context->device.info().gfx.c_str() : "";
}

nw_status nw_linear_w4a16(nw_context *context, const nw_w4a16 *product, void *stream) {
    return api::guarded([&] {
        const W4A16 p = api::product_of(context, product); // context may be null before this
        api::launch(*context, p, stream);
    });
}

nw_status nw_make_carriers(nw_context *context, const nw_carriers *carriers, void *stream) {
    return api::guarded([&] {
        api::need_product(context, carriers, "nw_carriers", sizeof *carriers);
        api::make_carriers(*context, *carriers, stream);
    });
}

nw_status nw_prepare(nw_context *context, const nw_w4a16 *product) {
    return api::guarded([&] {
        const W4A16 p = api::product_of(context, product);
        api::prepare(*context, p);
    });
}

nw_status nw_workspace_size(nw_context *context, const nw_w4a16 *product, uint64_t *bytes) {
    return api::guarded([&] {
        const W4A16 p = api::product_of(context, product);
        api::need(bytes, "bytes is null: it must point to where the size goes");
        static_cast<void>(api::checked_kernel(*context, p));
        *bytes = 0; // no kernel of this version keeps anything in device memory
    });
}

uint64_t nw_weight_row_stride(const char *gfx, uint32_t k) {
    uint64_t bytes = 0;
    static_cast<void>(api::guarded([&] { bytes = api::row_stride(gfx, k); }));
    return bytes;
}
}
