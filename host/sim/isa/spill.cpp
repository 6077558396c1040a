// SPDX-License-Identifier: MIT
#include "sim/isa/spill.h"

#include "sim/isa/tables/memory_ops.h"

namespace nw::sim {

std::optional<Spill> spill_of(const Operation &op, const Target &target) {
    using Kind = Operand::Kind;
    const MemoryOp memory = find_memory_op(op.mnemonic);
    const bool own = op.mnemonic.starts_with("scratch_"),
               buffer = !target.own_scratch && op.mnemonic.starts_with("buffer_");
    const auto &o = op.operands;
    if ((!own && !buffer) || memory.updates() || memory.access == Access::none ||
        memory.bytes < 4 || memory.components || op.has("lds") || o.size() != (own ? 3 : 4))
        return std::nullopt;
    // scratch_store_b32 off, v7, s33; scratch_load_b32 v7, off, s33; buffer_*_b32 v7, off, s[0:3],
    // s33
    const bool store = memory.stores(), address_first = own && store;
    const Operand &data = o[address_first ? 1 : 0], &address = o[address_first ? 0 : 1];
    const Operand &base = o.back();
    if (data.kind != Kind::vgpr || address.kind != Kind::off ||
        (buffer && (o[2].kind != Kind::sgpr || o[2].reg != 0)))
        return std::nullopt;
    Spill s{store, data.reg, data.count, sreg::null, op.value("offset", 0)};
    if (base.kind == Kind::sgpr)
        s.base = base.reg;
    else if (base.kind == Kind::integer)
        s.offset += base.integer;
    return s;
}

} // namespace nw::sim
