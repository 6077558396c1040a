// SPDX-License-Identifier: MIT
// Shared helpers of the C API's functions.
#pragma once
#include <filesystem>
#include <fmt/format.h>
#include <functional>
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

// Words of an Op from the C API's enumerators.
u64 dtype_of(i32);
u64 zeros_of(i32);
u64 silu_of(i32);

// The op of nw_linear_w4a16. Throws unless the context is valid and the struct is of this version.
Op product_of(const nw_context *, const nw_w4a16 *);

// The op of nw_moe_linear_w4a16, as product_of().
Op moe_of(const nw_context *, const nw_moe_w4a16 *);
// With the smallest valid list sizes, for calls that do not read the lists.
Op without_lists(Op);

// Loads one kernel, or all kernels of an op.
void load(nw_context &, const Kernel &);
void load(nw_context &, const Op &);

// Calls use(const Op &) with the op, or where its m is 0 with m = 1 to 8.
template <class Use> void for_rows(Op op, const Use &use) {
    constexpr u64 few_rows = 8;
    if (op.m > 0)
        return use(op);
    for (op.m = 1; op.m <= few_rows; ++op.m)
        use(op);
}

// Calls use(const Op &) with the op, or where its block_size is 0 with each that there is.
template <class Use> void for_block_sizes(Op op, const Use &use) {
    if (op.block_size > 0)
        return use(op);
    for (const u64 block_size : {1, 2, 4, 8, 16, 32, 64}) {
        op.block_size = block_size;
        use(op);
    }
}

// Loads the default kernel for the op's parameters, which need no sizes.
void load_default(nw_context &, const Op &);

// Loads every kernel that an op with these parameters may get, whatever its sizes, and those that
// run before it.
void load_every(nw_context &, const Op &);

// Queues the op. `prepare`: the function that loads its kernels before a capture. `first` queues
// work before it, once everything is checked.
void launch(nw_context &, const Op &, void *stream, const char *prepare,
            const std::function<void(const hip::Stream &)> &first = {});

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
