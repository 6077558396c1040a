// SPDX-License-Identifier: MIT
#include "sim/isa/classes.h"

#include <string>

#include "sim/isa/uses.h"

namespace nw::sim {

namespace {

bool exchanges_lanes(std::string_view n) {
    return n.starts_with("ds_bpermute") || n == "ds_permute_b32" || n == "ds_swizzle_b32";
}

Class class_of_row(std::string_view n) {
    std::string plain(n); // v_cmpx_lt_f32 is the row v_cmp_lt_f32
    if (n.starts_with("v_cmpx_"))
        plain.erase(5, 1);
    const Op row = find_op(plain);
    return row != Op::none ? info(row).cls : n.starts_with("v_cmp") ? Class::valu : Class::other;
}

} // namespace

Class class_of(const Instruction &inst) {
    const std::string_view n = inst.x.mnemonic;
    if (inst.text.empty())
        return Class::other;
    if (inst.y)
        return Class::vopd;
    if (loads_scalars(n) || find_scalar_write(n).access != Access::none)
        return Class::smem;
    if (exchanges_lanes(n))
        return Class::lds;
    if (const MemoryOp m = find_memory_op(n); m.access != Access::none)
        return n.starts_with("ds_")                                         ? Class::lds
               : m.loads() || (m.updates() && returns_old_value(inst.x, m)) ? Class::vmem_load
                                                                            : Class::vmem_store;
    if (n.starts_with("v_wmma") || n.starts_with("v_swmmac"))
        return Class::wmma;
    return class_of_row(n);
}

std::string_view name(Class c) {
    constexpr std::string_view names[] = {"valu", "vopd",   "trans",     "wmma",
                                          "salu", "smem",   "vmem_load", "vmem_store",
                                          "lds",  "branch", "wait",      "other"};
    static_assert(std::size(names) == static_cast<size_t>(Class::count));
    return names[static_cast<size_t>(c)];
}

} // namespace nw::sim
