// SPDX-License-Identifier: MIT
// Shared helpers of the C API's functions.
#pragma once
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "capi/error.h"
#include "runtime/launch.h"

struct nw_context {
    nw_context(nw::hip::Device on, const std::filesystem::path &directory)
        : device(std::move(on)), machine(nw::machine_of(device)), modules(device, directory) {}

    const nw::hip::Device device;
    const nw::Machine machine;
    nw::Modules modules;
};

namespace nw::api {

template <class... Args> void need(bool holds, fmt::format_string<Args...> text, Args &&...args) {
    if (!holds)
        throw Refusal(NW_INVALID_ARGUMENT, fmt::format(text, std::forward<Args>(args)...));
}

// Throws unless the context is valid and the struct's size is that of `type`.
void need_product(const nw_context *, const void *product, const char *type, std::size_t size);

// Loads one kernel, or all kernels of an op.
void load(nw_context &, const Kernel &);
void load(nw_context &, const Op &);

// Loads the default kernel for the op's parameters, which need no sizes.
void load_default(nw_context &, const Op &);

// Loads every kernel that an op with these parameters may get, whatever its sizes, and those that
// run before it.
void load_every(nw_context &, const Op &);

// Queues the op. `prepare`: the function that loads its kernels before a capture.
void launch(nw_context &, const Op &, void *stream, const char *prepare);

// Workspace bytes sufficient for the op with any kernel.
u64 workspace_of(const nw_context &, const Op &);

// Body of a function that returns a size through `bytes`; checked() validates and computes it.
template <class Checked> nw_status bytes_call(uint64_t *bytes, const Checked &checked) {
    return guarded([&] {
        const u64 found = checked();
        need(bytes, "bytes is null: it must point to where the size goes");
        *bytes = found;
    });
}

} // namespace nw::api
