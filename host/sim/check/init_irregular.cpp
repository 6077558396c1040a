// SPDX-License-Identifier: MIT
// InitCheck for memory instructions with irregular addressing: buffers, blocks, transposing loads,
// and LDS through M0.
#include <algorithm>
#include <cstring>

#include "sim/check/init.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/buffer.h"
#include "sim/func/memory/buffer_access.h"
#include "sim/func/memory/image_access.h"
#include "sim/func/memory/lane_memory.h"

namespace nw::sim {

// One register at a time, as M0 selects them.
void InitCheck::block(const Wave &w, const Inst &i) {
    require_sgpr(w, i, sreg::m0, "a mask of registers");
    for (unsigned n = 0; n < i.access->op.elements; ++n) {
        if (!(w.s[sreg::m0] >> n & 1))
            continue;
        MemoryAccess one = *i.access;
        one.find_places = nullptr;
        one.op.elements = 1;
        one.offset += 4 * n;
        one.result += static_cast<u16>(n);
        one.data += static_cast<u16>(n);
        Inst part = i;
        part.access = &one;
        memory(w, part);
    }
}

void InitCheck::lds_by_m0(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    require_sgpr(w, i, sreg::m0, "an address");
    u64 base = (w.s[sreg::m0] & 0xffff) + static_cast<u64>(a.offset);
    for (unsigned half = 0; half < halves_; ++half)
        for (u32 rest = w.exec(half); rest; rest &= rest - 1) {
            auto l = static_cast<unsigned>(__builtin_ctz(rest));
            u64 at = base + (a.adds_lane ? 4 * (l + row_lanes * half) : 0);
            if (at + 4 > shared_->lds.size())
                continue; // the access itself faults
            if (a.op.stores())
                std::memcpy(&shared_->lds[at], &shadow(a.data, half).lane[l], 4);
            else
                std::memcpy(&shadow(a.result, half).lane[l], &shared_->lds[at], 4);
        }
    if (!a.op.stores())
        note(a.result);
}

// The result of an operation on an uninitialised byte is uninitialised.
void InitCheck::between_lds(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    const unsigned bytes = a.bytes();
    std::vector<u8> &lds = shared_->lds;
    for (unsigned half = 0; half < halves_; ++half)
        for_lanes(w.exec(half), [&](unsigned l) {
            const LdsPair p = lds_pair(w.v[half * vgpr_count + a.address.at].lane[l], a.offset);
            if (std::max(p.to, p.from) + bytes > lds.size())
                return; // the access itself faults
            u64 to = 0, from = 0;
            std::memcpy(&to, &lds[p.to], bytes);
            std::memcpy(&from, &lds[p.from], bytes);
            const u64 result = a.op.stores() ? from : to | from ? ~u64{0} : 0;
            std::memcpy(&lds[p.to], &result, bytes);
        });
}

// Values out of a buffer's bounds aren't stored and need no check.
void InitCheck::require_stored(const Wave &w, const Inst &i, unsigned data, unsigned reg,
                               u32 bits) {
    for (unsigned half = 0; half < halves_; ++half) {
        u32 lanes = poisoned_lanes(w, data + reg, half);
        if (lanes && i.access->space == Space::buffer)
            lanes &= stored_lanes(w, i, half, reg);
        require_lanes(w, i, data + reg, half, lanes, "a value stored to memory", bits);
    }
}

// Components that the format doesn't have, and texels out of bounds, aren't stored.
void InitCheck::image(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    const ImageAccess &image = *a.image;
    for (unsigned n = 0; n < image.registers(); ++n) {
        const bool half = image.packed && 2 * n + 1 == image.addresses;
        require_vgpr(w, i, image.address[n], "an address", half ? 0xffff : ~0u);
    }
    require_source(w, i, image.sampler, "an address");
    for (unsigned r = 0; r < a.op.registers(); ++r) {
        if (a.op.loads()) {
            initialise(w, a.result + r, ~0u);
            continue;
        }
        for (unsigned half = 0; half < halves_; ++half) {
            u32 lanes = poisoned_lanes(w, a.data + r, half);
            lanes &= lanes ? stored_texel_lanes(w, i, half, r) : 0;
            require_lanes(w, i, a.data + r, half, lanes, "a value stored to memory", ~0u);
        }
    }
}

bool InitCheck::scratch_by_buffer(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    if (!Buffer(&w.s[a.base.at], true).scratch)
        return false;
    Places p;
    for (unsigned half = 0; half < halves_; ++half) {
        Wave copy = w;
        buffer_places(copy, i, half, 0, p);
        for (u32 rest = p.active; rest; rest &= rest - 1) {
            const auto l = static_cast<unsigned>(__builtin_ctz(rest));
            const u64 at = p.at[l] - reinterpret_cast<u64>(w.scratch);
            if (at >= scratch_.size())
                continue; // the access itself faults
            if (!a.op.loads())
                pass(w, i, half, l, &scratch_[at], a.data, false);
            if (a.op.loads() || a.returns)
                pass(w, i, half, l, &scratch_[at], a.result, true);
        }
    }
    for (unsigned r = 0; (a.op.loads() || a.returns) && r < a.op.registers(); ++r)
        note((a.result + r) & 255);
    return true;
}

void InitCheck::irregular(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    constexpr unsigned largest = 4; // of any access except a block
    if (a.image)
        return image(w, i);
    if (a.op.elements > largest)
        return block(w, i);
    if (a.adds_m0)
        return lds_by_m0(w, i);
    if (a.between_lds)
        return between_lds(w, i);
    require_source(w, i, a.soffset, "an address");
    const bool told = !w.context->device.target->own_scratch;
    if (told && a.space == Space::buffer && !a.op.components && scratch_by_buffer(w, i))
        return;
    u32 bits = a.op.extend == Extend::whole       ? ~0u
               : a.op.extend >= Extend::high_zero ? (a.op.bytes == 1 ? 0xff0000u : 0xffff0000u)
               : a.op.bytes == 1                  ? 0xffu
               : a.op.bytes == 2                  ? 0xffffu
                                                  : ~0u;
    for (unsigned r = 0; r < a.op.registers(); ++r) {
        if (!a.op.loads())
            require_stored(w, i, a.data, r, bits);
        if (a.op.two_values())
            require_stored(w, i, a.data2, r, bits);
    }
    bool keeps_half = a.op.extend >= Extend::low_zero;
    u32 loaded = !keeps_half ? ~0u : a.op.extend >= Extend::high_zero ? 0xffff0000u : 0xffffu;
    for (unsigned r = 0; (a.op.loads() || a.returns) && r < a.op.registers(); ++r)
        initialise(w, a.result + r, loaded);
}

} // namespace nw::sim
