// SPDX-License-Identifier: MIT
// Vector memory and LDS instructions.
#include <fmt/format.h>
#include <utility>

#include "sim/func/executable/build.h"
#include "sim/func/launch/turns.h"
#include "sim/isa/uses.h"

namespace nw::sim {

namespace {

Space space_of(std::string_view name) {
    return name.starts_with("ds_")        ? Space::lds
           : name.starts_with("scratch_") ? Space::scratch
           : name.starts_with("flat_")    ? Space::flat
                                          : Space::global;
}

// Its result depends on the order of atomics. Waves of a workgroup run in a fixed order.
bool needs_turn(const MemoryAccess &a) {
    return a.op.updates() && a.space != Space::lds && (a.op.order_matters() || a.returns);
}

void ds_offsets(MemoryAccess &a, u32 word0) {
    if (!a.op.two_addresses()) {
        a.offset = word0 & 0xffff;
        return;
    }
    i64 unit = a.op.bytes * a.op.elements * (a.op.stride64() ? 64 : 1);
    a.offset = (word0 & 0xff) * unit;
    a.offset2 = (word0 >> 8 & 0xff) * unit;
}

} // namespace

void Builder::memory(Inst &i, const Instruction &inst, const MemoryOp &m) {
    const Operation &op = inst.x;
    if (op.has("gds"))
        throw Unsupported{"GDS is out of scope"};
    MemoryAccess a;
    a.op = m;
    a.space = space_of(op.mnemonic);
    a.returns = m.loads() || (m.updates() && returns_old_value(op, m));
    if (op.mnemonic.starts_with("buffer_") || op.mnemonic.starts_with("tbuffer_"))
        return buffer(i, inst, m, a.returns);
    const LaneMemory special = find_lane_memory(op.mnemonic);
    using Form = LaneMemory::Form;
    a.adds_lane = special.form == Form::by_lane;
    a.adds_m0 = a.space == Space::lds && special.has_no_address();
    a.find_places = special.find_places;
    a.between_lds = special.form == Form::between;
    a.parts = special.form == Form::block ? m.elements : m.two_addresses() || a.between_lds ? 2 : 1;
    memory_operands(a, op, special);
    if (a.space == Space::lds)
        ds_offsets(a, inst.word0);
    else
        a.offset = op.value("offset", 0);

    i.access = &e_.accesses.emplace_back(a);
    i.flag = op.has("lds");
    i.run = i.flag          ? run_load_to_lds
            : special.run   ? special.run
            : needs_turn(a) ? run_in_turn
                            : frames_.memory;
}

// They come as [result,] [address,] [data, [data2,]] [saddr]; scratch and global name `off` for an
// absent register.
void Builder::memory_operands(MemoryAccess &a, const Operation &op, const LaneMemory &special) {
    using Form = LaneMemory::Form;
    unsigned next = 0;
    if (op.has("lds")) {
        a.result = through_vgpr;
    } else if (a.returns) {
        const Operand &result = operand(op, next++);
        unsigned registers = a.op.registers() * (a.op.two_addresses() ? 2 : 1);
        // A wave64 spreads a transposed matrix over more lanes.
        a.result = vgpr(result, special.form == Form::transposed ? result.count : registers);
    }
    const Operand *address = special.has_no_address() ? nullptr : &operand(op, next++);
    if (!a.op.loads() && special.form != Form::counter && !a.between_lds)
        next = memory_data(a, op, next);
    bool has_base = false;
    if (a.space == Space::global || a.space == Space::scratch) {
        const Operand &base = operand(op, next);
        has_base = base.kind == Operand::Kind::sgpr && base.reg != sreg::null;
        if (has_base)
            a.base = sgpr(base, a.space == Space::global ? 2 : 1);
    }
    a.wide = a.space == Space::flat || (a.space == Space::global && !has_base && address);
    if (address)
        memory_address(a, *address);
}

// Returns the index of the operand after the data.
unsigned Builder::memory_data(MemoryAccess &a, const Operation &op, unsigned next) {
    unsigned element = a.op.registers();
    bool packed = a.op.two_values() && a.space != Space::lds; // cmpswap: new value, then compare
    a.data = vgpr(operand(op, next++), packed ? 2 * element : element);
    if (packed)
        a.data2 = static_cast<u16>(a.data + element);
    else if (a.op.two_values() || a.op.two_addresses())
        a.data2 = vgpr(operand(op, next++), element);
    // 5.10: gfx10's ds_cmpst has the compared value first.
    const bool compares =
        a.op.two_values() && a.op.atomic != Atomic::mask_or && a.op.atomic != Atomic::wrap;
    if (target_.old_names && compares && a.space == Space::lds)
        std::swap(a.data, a.data2);
    return next;
}

void Builder::memory_address(MemoryAccess &a, const Operand &address) {
    if (address.kind == Operand::Kind::vgpr)
        a.address = source(address, a.wide ? Type::u64 : Type::u32);
    else if (address.kind != Operand::Kind::off || a.space == Space::lds)
        throw Unsupported{fmt::format("operand '{}' as an address", address.text)};
}

void Builder::lane_exchange(Inst &i, const Instruction &inst, Handler handler) {
    const Operation &op = inst.x;
    MemoryAccess a;
    a.space = Space::lds;
    a.exchanges_lanes = true;
    a.offset = inst.word0 & 0xffff;
    a.result = vgpr(operand(op, 0), 1);
    a.address = source(operand(op, 1), Type::u32);
    if (a.address.kind != Source::vgpr)
        throw Unsupported{"an address that is not a VGPR"};
    if (op.operands.size() > 2)
        a.data = vgpr(op.operands[2], 1);
    i.flag = op.mnemonic.find("_fi_") != op.mnemonic.npos;
    i.access = &e_.accesses.emplace_back(a);
    i.run = handler;
}

} // namespace nw::sim
