// SPDX-License-Identifier: MIT
// The C API (nibblewave.h) over the typed launches.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <string>

#include "formats/row_stride.h"
#include "kernels/api_error.h"
#include "kernels/decode.h"
#include "kernels/files.h"

static_assert(NW_VERSION == NW_PROJECT_VERSION, "nibblewave.h and CMake's project() disagree");

struct nw_context {
    nw_context(nw::hip::Device on, const std::filesystem::path &directory)
        : device(std::move(on)), modules(device, directory) {}

    const nw::hip::Device device;
    nw::Modules modules;
};

namespace nw::api {

namespace {

template <class... Args> void need(bool holds, fmt::format_string<Args...> text, Args &&...args) {
    if (!holds)
        throw Refusal(NW_INVALID_ARGUMENT, fmt::format(text, std::forward<Args>(args)...));
}

Dtype dtype_of(const nw_w4a16 &p) {
    need(p.dtype == NW_BF16 || p.dtype == NW_F16, "dtype = {}: must be NW_BF16 ({}) or NW_F16 ({})",
         p.dtype, int{NW_BF16}, int{NW_F16});
    return p.dtype == NW_BF16 ? Dtype::bf16 : Dtype::f16;
}

Zeros zeros_of(const nw_w4a16 &p) {
    switch (p.zeros) {
    case NW_ZEROS_EIGHT:
        return Zeros::eight;
    case NW_ZEROS_PACKED:
        return Zeros::packed;
    case NW_ZEROS_TYPED:
        return Zeros::typed;
    }
    need(false, "zeros = {}: must be NW_ZEROS_EIGHT ({}), _PACKED ({}) or _TYPED ({})", p.zeros,
         int{NW_ZEROS_EIGHT}, int{NW_ZEROS_PACKED}, int{NW_ZEROS_TYPED});
    return Zeros::eight;
}

W4A16 product_of(const nw_context *context, const nw_w4a16 *p) {
    need(context, "context is null: nw_context_create makes one");
    need(p, "product is null: it must point to an nw_w4a16");
    need(p->size == sizeof *p,
         "size = {}: must be sizeof(nw_w4a16), {} in this version of the library ({}.{}.{}); begin "
         "with NW_W4A16_INIT, and build against the header of this version",
         p->size, sizeof *p, NW_VERSION_MAJOR, NW_VERSION_MINOR, NW_VERSION_PATCH);
    static_assert(NW_PER_ROW == per_row);
    return {.dtype = dtype_of(*p),
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
            .zeros = zeros_of(*p),
            .z = p->z,
            .z_stride = p->z_stride};
}

// The kernel for a product whose shape keeps the rules.
const Kernel &kernel_of(const nw_context &context, const W4A16 &p) {
    return meaning(NW_UNSUPPORTED, [&]() -> const Kernel & {
        return choose(context.device.info().gfx, p.dtype, p.group, p.m, p.zeros);
    });
}

const Kernel &checked_kernel(const nw_context &context, const W4A16 &p) {
    meaning(NW_INVALID_ARGUMENT, [&] { validate_shape(p); });
    return kernel_of(context, p);
}

void load(nw_context &context, const Kernel &kernel) {
    meaning(NW_NO_KERNEL_FILES, [&] { context.modules.function(kernel); });
}

void launch_linear(nw_context &context, const W4A16 &p, void *handle) {
    const hip::KeepCurrentDevice keep(context.device);
    const auto stream = hip::Stream::borrow(context.device.library(), handle);
    meaning(NW_INVALID_ARGUMENT, [&] { validate(p); });
    const Kernel &kernel = kernel_of(context, p);
    if (!context.modules.loaded(kernel)) {
        if (stream.capturing()) // loading may allocate, which ends a capture
            throw Refusal(NW_NOT_PREPARED,
                          fmt::format("{} is not loaded and the stream is capturing: call "
                                      "nw_prepare for this product before capture begins",
                                      kernel.symbol));
        load(context, kernel);
    }
    meaning(NW_INVALID_ARGUMENT, [&] { launch(context.modules, kernel, p, stream); });
}

void prepare(nw_context &context, W4A16 p) {
    const hip::KeepCurrentDevice keep(context.device);
    if (p.m > 0)
        return load(context, checked_kernel(context, p));
    for (p.m = 1; p.m <= 8; ++p.m)
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
        api::launch_linear(*context, p, stream);
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
