// SPDX-License-Identifier: MIT
// The C API (nibblewave.h) over the typed launches.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <string>

#include "base/environment.h"
#include "base/targets.h"
#include "capi/context.h"
#include "formats/packed/row_stride.h"
#include "runtime/files.h"
#include "runtime/force.h"

static_assert(NW_PER_ROW == nw::per_row);
static_assert(NW_VERSION == NW_PROJECT_VERSION, "nibblewave.h and CMake's project() disagree");

namespace nw::api {

namespace {

std::unique_ptr<nw_context> create(const char *directory) {
    need(!directory || *directory, "kernel_directory = \"\": must be a directory, or null");
    meaning(NW_INVALID_ARGUMENT, [] { check_variables(nibblewave_variables); });
    hip::Device device = hip::Device::current();
    const std::string &gfx = device.info().gfx;
    if (const Target *target = find_target(gfx); !target || !target->supported)
        throw Refusal(
            NW_UNSUPPORTED,
            fmt::format("the current HIP device is a {}; there are kernels for {}: choose "
                        "another with hipSetDevice, or the simulated GPU: put the folder hipsim, "
                        "which has its libamdhip64.so, into LD_LIBRARY_PATH",
                        gfx, target_names()));
    meaning(NW_UNSUPPORTED, [&] { static_cast<void>(forced("", gfx)); });
    const auto found = meaning(NW_NO_KERNEL_FILES, [&] {
        const auto out = std::filesystem::absolute(find_directory(gfx, directory ? directory : ""));
        read_kernels(gfx, out);
        return out;
    });
    return std::make_unique<nw_context>(std::move(device), found);
}

u64 row_stride(const char *name, u32 k) {
    need(name, "gfx is null: it must be a name as in gcnArchName, \"gfx1151\"");
    const std::string_view gfx = std::string_view(name).substr(0, std::string_view(name).find(':'));
    const Target *target = find_target(gfx);
    need(target && target->supported, "gfx = \"{}\": must be one of {}", name, target_names());
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

uint64_t nw_weight_row_stride(const char *gfx, uint32_t k) {
    uint64_t bytes = 0;
    static_cast<void>(api::guarded([&] { bytes = api::row_stride(gfx, k); }));
    return bytes;
}
}
