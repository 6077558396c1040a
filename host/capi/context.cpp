// SPDX-License-Identifier: MIT
#include "capi/context.h"

namespace nw::api {

void need_product(const nw_context *context, const void *product, const char *type,
                  std::size_t size) {
    need(context, "context is null: nw_context_create makes one");
    need(product, "product is null: it must point to an {}", type);
    const std::size_t said = *static_cast<const std::size_t *>(product); // its first member
    need(said == size,
         "size = {}: must be sizeof({}), {} in this version of the library ({}.{}.{}); begin with "
         "its _INIT, and build against the header of this version",
         said, type, size, NW_VERSION_MAJOR, NW_VERSION_MINOR, NW_VERSION_PATCH);
}

Dtype dtype_of(i32 dtype) {
    need(dtype == NW_BF16 || dtype == NW_F16, "dtype = {}: must be NW_BF16 ({}) or NW_F16 ({})",
         dtype, int{NW_BF16}, int{NW_F16});
    return dtype == NW_BF16 ? Dtype::bf16 : Dtype::f16;
}

Zeros zeros_of(i32 zeros) {
    switch (zeros) {
    case NW_ZEROS_EIGHT:
        return Zeros::eight;
    case NW_ZEROS_PACKED:
        return Zeros::packed;
    case NW_ZEROS_TYPED:
        return Zeros::typed;
    case NW_ZEROS_CARRIER:
        return Zeros::carrier;
    }
    need(false,
         "zeros = {}: must be NW_ZEROS_EIGHT ({}), _PACKED ({}), _TYPED ({}) or _CARRIER ({})",
         zeros, int{NW_ZEROS_EIGHT}, int{NW_ZEROS_PACKED}, int{NW_ZEROS_TYPED},
         int{NW_ZEROS_CARRIER});
    return Zeros::eight;
}

void load(nw_context &context, const Kernel &kernel) {
    meaning(NW_NO_KERNEL_FILES, [&] { context.modules.function(kernel); });
}

void load_for(nw_context &context, const Kernel &kernel, const hip::Stream &stream,
              const char *prepare) {
    if (context.modules.loaded(kernel))
        return;
    if (stream.capturing())
        throw Refusal(NW_NOT_PREPARED,
                      fmt::format("{} is not loaded and the stream is capturing: call {} for this "
                                  "product before capture begins",
                                  kernel.symbol, prepare));
    load(context, kernel);
}

} // namespace nw::api
