// SPDX-License-Identifier: MIT
// Buffer instructions: [data,] off or VGPRs, descriptor, soffset.
#include <fmt/format.h>

#include "sim/func/executable/build.h"
#include "sim/func/launch/turns.h"
#include "sim/func/memory/buffer_access.h"
#include "sim/func/memory/lane_memory.h"

namespace nw::sim {

namespace {

unsigned format_of(const Instruction &inst, bool gfx12) {
    return gfx12 ? inst.word1 >> 23 & 127 : inst.word0 >> 19 & 127;
}

} // namespace

void Builder::buffer(Inst &i, const Instruction &inst, const MemoryOp &m, bool returns) {
    const Operation &op = inst.x;
    MemoryAccess a;
    a.op = m;
    a.space = Space::buffer;
    a.returns = returns;
    a.idxen = op.has("idxen");
    a.offen = op.has("offen");
    a.offset = op.value("offset", 0);
    a.find_places = buffer_places;
    a.parts = m.components || m.updates() ? 1 : m.elements;
    if (op.mnemonic.starts_with("tbuffer_"))
        a.format = static_cast<i16>(format_of(inst, target_.generation == Generation::gfx12));

    unsigned registers = m.registers() * (m.two_values() ? 2 : 1);
    i.flag = op.has("lds"); // then there is no data
    const unsigned first = i.flag ? 0 : 1;
    const u16 data = i.flag ? through_vgpr : vgpr(operand(op, 0), registers);
    a.result = data;
    a.data = data;
    a.data2 = static_cast<u16>(data + m.registers());
    unsigned address_registers = unsigned{a.idxen} + a.offen;
    const Operand &address = operand(op, first);
    if (address_registers) {
        a.address.kind = Source::vgpr;
        a.address.rows = static_cast<u8>(address_registers);
        a.address.at = vgpr(address, address_registers);
    } else if (address.kind != Operand::Kind::off) {
        throw Unsupported{fmt::format("operand '{}' as an address", address.text)};
    }
    a.base = sgpr(operand(op, first + 1), 4);
    a.soffset = source(operand(op, first + 2), Type::u32);
    if (a.soffset.kind == Source::vgpr)
        throw Unsupported{fmt::format("operand '{}' as an offset", operand(op, first + 2).text)};
    i.access = &e_.accesses.emplace_back(a);
    if (i.flag)
        i.run = run_load_to_lds;
    else
        i.run = m.updates() && (m.order_matters() || returns) ? run_in_turn : run_buffer;
}

} // namespace nw::sim
