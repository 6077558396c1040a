// SPDX-License-Identifier: MIT
// One product of any m: decode_w4a16 (runtime/decode.h) for few rows, else mid_w4a16 or
// prefill_w4a16 (runtime/prefill.h). The rules are those of the family it goes to.
#pragma once
#include <string_view>

#include "hip/hip.h"
#include "runtime/decode.h"
#include "runtime/modules.h"

namespace nw {

// More rows than decode takes, or a form that it does not have.
bool is_prefill(const W4A16 &);

// As in both families.
const Kernel &choose_linear(std::string_view gfx, const W4A16 &);
void validate_linear(const W4A16 &);
void validate_linear_shape(const W4A16 &);
void launch_linear(Modules &, const Kernel &, const W4A16 &, const hip::Stream & = {});

} // namespace nw
