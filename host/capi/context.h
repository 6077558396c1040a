// SPDX-License-Identifier: MIT
// What the calls of the C API share.
#pragma once
#include <filesystem>
#include <fmt/format.h>
#include <utility>

#include "capi/error.h"
#include "runtime/decode.h"
#include "runtime/modules.h"

struct nw_context {
    nw_context(nw::hip::Device on, const std::filesystem::path &directory)
        : device(std::move(on)), modules(device, directory) {}

    const nw::hip::Device device;
    nw::Modules modules;
};

namespace nw::api {

template <class... Args> void need(bool holds, fmt::format_string<Args...> text, Args &&...args) {
    if (!holds)
        throw Refusal(NW_INVALID_ARGUMENT, fmt::format(text, std::forward<Args>(args)...));
}

// A context, and a struct of this version: `type`, begun with `type`_INIT.
void need_product(const nw_context *, const void *product, const char *type, std::size_t size);

Dtype dtype_of(i32);
Zeros zeros_of(i32);

void load(nw_context &, const Kernel &);
// load(), but refused where the stream is capturing: loading may allocate, which ends a capture.
void load_for(nw_context &, const Kernel &, const hip::Stream &, const char *prepare);

} // namespace nw::api
