// SPDX-License-Identifier: MIT
#include "sim/func/memory/lane_memory.h"

#include "sim/func/alu/frames.h"
#include "sim/func/alu/mode.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/buffer_access.h"
#include "sim/func/memory/transfer.h"

namespace nw::sim {

namespace {

u64 m0_base(const Wave &w) { return w.s[sreg::m0] & 0xffff; }

std::byte *lds_at(Wave &w, const Inst &i, u64 address, unsigned size, unsigned lane) {
    if (address + size > w.group->lds.size())
        lds_out_of_range(w, i, address, size, lane);
    return w.group->lds.data() + address;
}

// ---- the lane's number is the address (5.2, 5.11)
// -------------------------------------------------

void addtid_places(Wave &w, const Inst &i, unsigned half, unsigned, Places &p) {
    const MemoryAccess &a = *i.access;
    p.active = w.exec(half);
    p.lds = a.space == Space::lds ? ~0u : 0;
    u64 base = a.base.kind == Source::sgpr ? w.s[a.base.at] | u64{w.s[a.base.at + 1]} << 32 : 0;
    for_lanes(p.active, [&](unsigned l) {
        u64 offset = static_cast<u64>(a.offset) + 4 * (l + row_lanes * half);
        if (p.lds) {
            p.at[l] = reinterpret_cast<u64>(lds_at(w, i, m0_base(w) + offset, 4, l));
            return;
        }
        p.at[l] = base + offset;
        if (!reachable(w, i, p.at[l], 4))
            illegal_address(w, i, p.at[l], 4, static_cast<int>(l));
    });
}

void count_bytes(Wave &w, const MemoryAccess &a, u64 bytes) {
    bool lds = a.space == Space::lds;
    if (!a.op.stores())
        (lds ? w.bytes.lds_read : w.bytes.global_load) += bytes;
    if (!a.op.loads())
        (lds ? w.bytes.lds_write : w.bytes.global_store) += bytes;
}

void run_addtid(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    for (unsigned half = 0; half < w.halves; ++half) {
        Places p;
        addtid_places(w, i, half, false, p);
        u32 *v = w.row(a.op.loads() ? a.result : a.data, half);
        for_lanes(p.active, [&](unsigned l) {
            void *place = reinterpret_cast<void *>(p.at[l]);
            if (a.op.loads())
                std::memcpy(&v[l], place, 4);
            else
                std::memcpy(place, &v[l], 4);
        });
        count_bytes(w, a, u64{4} * static_cast<unsigned>(__builtin_popcount(p.active)));
    }
}

// ---- ds_append, ds_consume: one update by the number of active lanes (5.11)
// -----------------------

unsigned first_lane(const Wave &w) {
    u64 exec = w.exec_mask();
    return exec ? static_cast<unsigned>(__builtin_ctzll(exec)) : 0;
}

u64 counter_address(Wave &w, const Inst &i) {
    u64 address = m0_base(w) + static_cast<u64>(i.access->offset);
    return reinterpret_cast<u64>(lds_at(w, i, address, 4, first_lane(w)));
}

void counter_places(Wave &w, const Inst &i, unsigned half, unsigned, Places &p) {
    unsigned lane = first_lane(w);
    bool here = w.exec_mask() && lane / row_lanes == half;
    p.active = here ? 1u << lane % row_lanes : 0;
    p.lds = ~0u;
    if (here)
        p.at[lane % row_lanes] = counter_address(w, i);
}

void run_counter(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    u64 exec = w.exec_mask();
    if (!exec)
        return;
    u64 at = counter_address(w, i);
    if (at % 4)
        misaligned_atomic(w, i, at, first_lane(w));
    auto count = static_cast<u32>(__builtin_popcountll(exec)),
         change = a.op.atomic == Atomic::add ? count : 0 - count;
    u32 old = __atomic_fetch_add(reinterpret_cast<u32 *>(at), change, __ATOMIC_SEQ_CST);
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 *d = w.row(a.result, half);
        for_lanes(w.exec(half), [&](unsigned l) { d[l] = old; });
    }
    count_bytes(w, a, 4);
}

// ---- ds_*_src2_*: the value is in LDS, too (S-078)
// ------------------------------------------------

std::byte *pair_at(Wave &w, const Inst &i, unsigned half, unsigned lane, unsigned part) {
    const MemoryAccess &a = *i.access;
    const LdsPair p = lds_pair(w.row(a.address.at, half)[lane], a.offset);
    return lds_at(w, i, part == 0 ? p.to : p.from, a.bytes(), lane + row_lanes * half);
}

void pair_places(Wave &w, const Inst &i, unsigned half, unsigned part, Places &p) {
    p.active = w.exec(half);
    p.lds = ~0u;
    p.bytes = i.access->bytes();
    for_lanes(p.active,
              [&](unsigned l) { p.at[l] = reinterpret_cast<u64>(pair_at(w, i, half, l, part)); });
}

void run_pair(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    const MxcsrScope nearest(mxcsr_default);
    for (unsigned half = 0; half < w.halves; ++half) {
        for_lanes(w.exec(half), [&](unsigned l) {
            std::byte *to = pair_at(w, i, half, l, 0), *from = pair_at(w, i, half, l, 1);
            u64 value = 0;
            std::memcpy(&value, from, a.bytes());
            if (a.op.stores()) {
                std::memcpy(to, &value, a.bytes());
                return;
            }
            const u64 at = reinterpret_cast<u64>(to);
            if (at % a.op.bytes)
                misaligned_atomic(w, i, at, l);
            base::atomic_update(at, a.op.atomic, a.op.bytes, value, 0, w.mode, true);
        });
        const u64 bytes = u64{a.bytes()} * static_cast<unsigned>(__builtin_popcount(w.exec(half)));
        w.bytes.lds_read += a.op.stores() ? bytes : 2 * bytes;
        w.bytes.lds_write += bytes;
    }
}

// ---- blocks: M0 says which registers, each has its fixed place (5.22)
// -----------------------------

constexpr unsigned block_registers = 32;

void run_block(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    for (unsigned n = 0; n < block_registers; ++n) {
        if (!(w.s[sreg::m0] >> n & 1))
            continue;
        MemoryAccess one = a;
        one.op.elements = 1;
        one.offset += 4 * n;
        Inst part = i;
        part.access = &one;
        (one.op.loads() ? one.result : one.data) += static_cast<u16>(n);
        frames().memory(w, part);
    }
}

void block_places(Wave &w, const Inst &i, unsigned half, unsigned part, Places &p) {
    p.active = 0;
    if (!(w.s[sreg::m0] >> part & 1))
        return;
    MemoryAccess one = *i.access;
    one.find_places = nullptr;
    one.op.elements = 1;
    one.offset += 4 * part;
    Inst plain = i;
    plain.access = &one;
    frames().places(w, plain, half, 0, p);
}

// ---- transposed loads of a 16x16 matrix (S-032)
// ---------------------------------------------------

// The lane that loads element (k, c), and its index among that lane's elements.
struct Place {
    unsigned lane, element;
};
Place origin16(unsigned k, unsigned c) { return {k / 8 * 16 + c / 8 * 8 + k % 8, c % 8}; }
Place origin8(unsigned k, unsigned c) {
    return {k / 8 * 16 + k % 8 / 4 * 8 + c / 8 * 4 + k % 4, c % 8};
}

// Lanes 0 to 31 hold the addresses, also in wave64.
void transposed_places(Wave &w, const Inst &i, unsigned half, unsigned, Places &p) {
    p.active = 0;
    if (half != 0 || w.exec_mask() == 0)
        return;
    u64 all = w.halves == 2 ? ~u64{0} : 0xffffffff;
    if (w.exec_mask() != all)
        fault(w, i, Fault::Kind::illegal_instruction,
              "a transposing load with some lanes inactive: EXEC must be all ones, or 0");
    Inst plain = i;
    MemoryAccess a = *i.access;
    a.find_places = nullptr;
    plain.access = &a;
    frames().places(w, plain, 0, false, p);
}

// Lane c + 16 * group gets column c of the group's 8 rows, the layout of WMMA operands. A wave64
// has the upper half of those registers in lanes 32 to 63 (S-003).
template <class T, Place (*origin)(unsigned, unsigned)>
void run_transposed(Wave &w, const Inst &i) {
    Places p;
    transposed_places(w, i, 0, false, p);
    if (!p.active)
        return;
    constexpr unsigned side = 16, row_elements = 8, registers = row_elements * sizeof(T) / 4;
    T matrix[row_lanes][row_elements];
    for (unsigned l = 0; l < row_lanes; ++l)
        std::memcpy(matrix[l], reinterpret_cast<void *>(p.at[l]), sizeof matrix[l]);
    unsigned per_half = registers / w.halves;
    for (unsigned lane = 0; lane < row_lanes; ++lane) {
        T column[row_elements];
        for (unsigned n = 0; n < row_elements; ++n) {
            Place o = origin(lane / side * row_elements + n, lane % side);
            column[n] = matrix[o.lane][o.element];
        }
        u32 words[registers];
        std::memcpy(words, column, sizeof words);
        for (unsigned r = 0; r < registers; ++r)
            w.row(i.access->result + r % per_half, r / per_half)[lane] = words[r];
    }
    count_bytes(w, *i.access, sizeof matrix);
}

} // namespace

LdsPair lds_pair(u32 address, i64 offset) {
    constexpr i64 by_address = 0x8000; // bit 7 of offset1
    constexpr u32 address_bits = 17;
    const auto dwords = [](i64 bits) {
        return static_cast<u64>(i64{static_cast<i32>(bits << 17) >> 17} * 4);
    };
    if (!(offset & by_address))
        return {address, static_cast<u32>(address + dwords(offset & 0x7fff))};
    const u32 to = address & ((1u << address_bits) - 1);
    return {to, static_cast<u32>(to + dwords(address >> address_bits))};
}

LaneMemory find_lane_memory(std::string_view name) {
    using Form = LaneMemory::Form;
    if (name.starts_with("ds_") && name.find("_src2_") != name.npos)
        return {Form::between, run_pair, pair_places};
    static constexpr LaneMemory addtid{Form::by_lane, run_addtid, addtid_places};
    static constexpr LaneMemory counter{Form::counter, run_counter, counter_places};
    static constexpr LaneMemory block{Form::block, run_block, block_places};
    static constexpr struct {
        std::string_view name;
        LaneMemory memory;
    } rows[] = {
        {"ds_load_addtid_b32", addtid},
        {"ds_store_addtid_b32", addtid},
        {"global_load_addtid_b32", addtid},
        {"global_store_addtid_b32", addtid},
        {"ds_append", counter},
        {"ds_consume", counter},
        {"global_load_block", block},
        {"global_store_block", block},
        {"scratch_load_block", block},
        {"scratch_store_block", block},
        {"global_load_tr_b64", {Form::transposed, run_transposed<u8, origin8>, transposed_places}},
        {"global_load_tr_b128",
         {Form::transposed, run_transposed<u16, origin16>, transposed_places}},
    };
    for (const auto &row : rows)
        if (row.name == name)
            return row.memory;
    return {};
}

u64 load_to_lds_offset(const Wave &w, const Inst &i, unsigned lane) {
    return m0_base(w) + static_cast<u64>(i.access->offset) + u64{lane} * 4;
}

void run_load_to_lds(Wave &w, const Inst &i) {
    Row kept[2];
    for (unsigned half = 0; half < w.halves; ++half)
        std::memcpy(&kept[half], w.row(through_vgpr, half), sizeof(Row));
    if (i.access->space == Space::buffer)
        run_buffer(w, i);
    else
        frames().memory(w, i);
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 *value = w.row(through_vgpr, half);
        for_lanes(w.exec(half), [&](unsigned l) {
            const unsigned lane = l + row_lanes * half;
            std::memcpy(lds_at(w, i, load_to_lds_offset(w, i, lane), 4, lane), &value[l], 4);
        });
        std::memcpy(value, &kept[half], sizeof(Row));
    }
}

} // namespace nw::sim
