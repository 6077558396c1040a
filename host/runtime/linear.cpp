// SPDX-License-Identifier: MIT
#include "runtime/linear.h"

#include "runtime/prefill.h"
#include "runtime/tile.h"

namespace nw {

bool is_prefill(const W4A16 &p) {
    return p.m > decode_rows || p.zeros == Zeros::carrier || p.silu_gate_up;
}

const Kernel &choose_linear(std::string_view gfx, const W4A16 &p) {
    return is_prefill(p) ? choose_prefill(gfx, p.dtype, p.group, p.zeros, p.m, p.n, p.k)
                         : choose(gfx, p.dtype, p.group, p.m, p.zeros, p.n, p.k);
}

void validate_linear(const W4A16 &p) { is_prefill(p) ? validate_prefill(p) : validate(p); }

void validate_linear_shape(const W4A16 &p) {
    is_prefill(p) ? validate_prefill_shape(p) : validate_shape(p);
}

void launch_linear(Modules &modules, const Kernel &kernel, const W4A16 &p,
                   const hip::Stream &stream) {
    is_prefill(p) ? launch_prefill(modules, kernel, p, stream) : launch(modules, kernel, p, stream);
}

} // namespace nw
