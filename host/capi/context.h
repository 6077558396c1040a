// SPDX-License-Identifier: MIT
// What the calls of the C API share.
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

// A context, and a struct of this version: `type`, begun with `type`_INIT.
void need_product(const nw_context *, const void *product, const char *type, std::size_t size);

// The words of an Op.
u64 dtype_of(i32);
u64 zeros_of(i32);
u64 silu_of(i32);

// Loads a kernel; all of an op's.
void load(nw_context &, const Kernel &);
void load(nw_context &, const Op &);

// Queues the op. `prepare`: what loads its kernels before a capture, which must not.
void launch(nw_context &, const Op &, void *stream, const char *prepare);

// Bytes that are enough for it, whichever kernels are chosen.
u64 workspace_of(const nw_context &, const Op &);

// A call that gives a number of bytes; `checked` does what there is to check, and gives it.
template <class Checked> nw_status bytes_call(uint64_t *bytes, const Checked &checked) {
    return guarded([&] {
        const u64 found = checked();
        need(bytes, "bytes is null: it must point to where the size goes");
        *bytes = found;
    });
}

} // namespace nw::api
