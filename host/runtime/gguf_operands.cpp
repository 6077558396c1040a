// SPDX-License-Identifier: MIT
#include "runtime/gguf_operands.h"

#include <algorithm>

namespace nw {

const GgufBlocks &gguf_blocks(const Rules &rules, std::string_view type) {
    const auto found = std::ranges::find(gguf_types(), type, &GgufBlocks::type);
    rules.need(found != gguf_types().end(), "type = {}: must be q4_0, q8_0, q4_K or q6_K", type);
    return *found;
}

void check_gguf_blocks(const Rules &rules, const GgufBlocks &blocks, u32 k) {
    rules.need(k >= 1 && k % blocks.elements == 0,
               "k = {}: must be a multiple of {}, as {} has blocks of so many", k, blocks.elements,
               blocks.type);
}

} // namespace nw
