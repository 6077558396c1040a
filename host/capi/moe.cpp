// SPDX-License-Identifier: MIT
// The mixture of experts in the C API (nibblewave.h).
#include "capi/context.h"

namespace nw::api {

namespace {

// The default of `blocks` in the lists' contract.
u64 most_blocks(Op op) {
    op.blocks = automatic;
    const Family &f = *find_family("moe_align");
    f.settle(op, Kernel{}, Machine{});
    return op.blocks;
}

} // namespace

} // namespace nw::api

using namespace nw;

extern "C" {

uint64_t nw_moe_blocks(uint32_t slots, uint32_t experts, uint32_t block_size_m) {
    if (!block_size_m)
        return 0;
    Op op{.kind = OpKind::moe_align};
    op.slots = slots;
    op.experts = experts;
    op.block_size = block_size_m;
    return api::most_blocks(op);
}
}
