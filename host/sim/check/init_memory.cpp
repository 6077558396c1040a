// SPDX-License-Identifier: MIT
// InitCheck for memory: addresses and stored values must be initialised; values that pass through
// LDS or scratch keep their shadow. Global memory: init_global.cpp.
#include <algorithm>
#include <fmt/format.h>

#include "sim/check/init.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/access.h"
#include "sim/func/memory/lane_memory.h"

namespace nw::sim {

namespace {

// Bits of a register that correspond to its memory element.
u32 value_bits(const MemoryOp &op) {
    u32 bits = op.bytes == 1 ? 0xffu : op.bytes == 2 ? 0xffffu : ~0u;
    return op.extend >= Extend::high_zero ? bits << 16 : bits;
}

// Bits that a load writes, including sign or zero extension.
u32 loaded_bits(const MemoryOp &op) {
    return op.extend >= Extend::high_zero                                   ? 0xffff0000u
           : op.extend == Extend::low_zero || op.extend == Extend::low_sign ? 0xffffu
                                                                            : ~0u;
}

// Bits of a dword that a scalar load of `size` bytes takes from these bytes out of bounds.
u32 bits_of_bytes(u64 bytes, u64 size) {
    if (bytes && size < 4) // extended
        return ~0u;
    return static_cast<u32>((bytes & 1) * 0xffu | (bytes >> 1 & 1) * 0xff00u |
                            (bytes >> 2 & 1) * 0xff0000u | (bytes >> 3 & 1) * 0xff000000u);
}

// The shadow bytes touched by one LDS access of a half wave.
struct LdsBytes {
    std::vector<u8> &bytes;
    const u32 *address;
    u32 exec, offset;

    template <unsigned N> u8 *place(unsigned lane) const { // null: the access itself faults
        u64 at = address[lane] + offset;
        return at + N <= bytes.size() ? &bytes[at] : nullptr;
    }
    template <unsigned N> bool poisoned() const {
        u64 any = 0;
        for (u32 rest = exec; rest; rest &= rest - 1)
            if (const u8 *p = place<N>(static_cast<unsigned>(__builtin_ctz(rest)))) {
                u64 words[(N + 7) / 8] = {};
                std::memcpy(words, p, N);
                for (u64 word : words)
                    any |= word;
            }
        return any != 0;
    }
    template <unsigned N> void initialise() const {
        for (u32 rest = exec; rest; rest &= rest - 1)
            if (u8 *p = place<N>(static_cast<unsigned>(__builtin_ctz(rest))))
                std::memset(p, 0, N);
    }
};

template <class F> void with_size(unsigned bytes, F f) {
    switch (bytes) {
    case 1:
        return f.template operator()<1>();
    case 2:
        return f.template operator()<2>();
    case 4:
        return f.template operator()<4>();
    case 8:
        return f.template operator()<8>();
    case 12:
        return f.template operator()<12>();
    default:
        return f.template operator()<16>();
    }
}

} // namespace

void InitCheck::require_source(const Wave &w, const Inst &i, const Source &s, const char *purpose) {
    for (unsigned r = 0; r < s.rows; ++r)
        if (s.kind == Source::sgpr)
            require_sgpr(w, i, s.at + r, purpose);
        else if (s.kind == Source::vgpr)
            require_vgpr(w, i, s.at + r, purpose);
}

void InitCheck::scalar_load(const Wave &w, const Inst &i) {
    require_source(w, i, i.src[0], "an address");
    require_source(w, i, i.src[1], "an address");
    if (i.access) { // a store or an atomic
        for (unsigned r = 0; r < i.dst_rows; ++r)
            require_sgpr(w, i, i.dst + r, "a value stored to memory");
        if (const ScalarPlace place = scalar_load_place(w, i); place.bytes)
            write(w, place.address, place.bytes);
        return;
    }
    const ScalarPlace place = scalar_load_place(w, i);
    const u64 missing = place.missing | unwritten(w, place.address, place.bytes);
    for (unsigned r = 0; r < i.dst_rows; ++r)
        set_sgpr(i.dst + r, bits_of_bytes(missing >> 4 * r & 15, place.bytes));
}

// Fast path: all LDS bytes read or written are initialised. False: check lane by lane.
bool InitCheck::lds_is_simple(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    const unsigned registers = a.op.registers(), values = a.op.two_addresses() ? 2 : 1;
    if (a.space != Space::lds || a.op.updates())
        return false;
    bool simple = true;
    for (unsigned value = 0; value < values; ++value)
        for (unsigned half = 0; half < halves_; ++half) {
            const LdsBytes lds{shared_->lds, w.v[half * vgpr_count + a.address.at].lane,
                               w.exec(half), static_cast<u32>(value ? a.offset2 : a.offset)};
            if (a.op.loads())
                with_size(a.bytes(), [&]<unsigned N>() { simple &= !lds.poisoned<N>(); });
            else
                for (unsigned r = 0; r < registers; ++r)
                    simple &= !poisoned_lanes(w, (value ? a.data2 : a.data) + r, half);
        }
    if (!simple)
        return false;
    for (unsigned value = 0; value < values; ++value)
        if (a.op.loads())
            for (unsigned r = 0; r < registers; ++r)
                initialise(w, a.result + value * registers + r, loaded_bits(a.op));
        else
            for (unsigned half = 0; half < halves_; ++half) {
                const LdsBytes lds{shared_->lds, w.v[half * vgpr_count + a.address.at].lane,
                                   w.exec(half), static_cast<u32>(value ? a.offset2 : a.offset)};
                with_size(a.bytes(), [&]<unsigned N>() { lds.initialise<N>(); });
            }
    return true;
}

void InitCheck::loaded_to_lds(const Wave &w, const Inst &i) {
    require_sgpr(w, i, sreg::m0, "an address");
    for (unsigned half = 0; half < halves_; ++half)
        for_lanes(w.exec(half), [&](unsigned l) {
            const u64 at = load_to_lds_offset(w, i, l + row_lanes * half);
            if (at + 4 <= shared_->lds.size()) // else the access itself faults
                std::memset(&shared_->lds[at], 0, 4);
        });
}

void InitCheck::memory(const Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    const std::vector<RegisterUse> &uses = facts_->entries[i.index].uses;
    if (i.flag && a.op.loads() && !a.exchanges_lanes)
        loaded_to_lds(w, i);
    if (a.exchanges_lanes) { // registers only
        if (i.run != run_ds_swizzle)
            require_source(w, i, a.address, "an address");
        const bool may_matter = std::any_of(uses.begin(), uses.end(), [&](const RegisterUse &use) {
            return !use.write && poisoned_.has(use.place(0)); // in any lane, active or not
        });
        return may_matter ? differ(w, i, uses) : initialise(w, a.result, ~0u);
    }
    require_source(w, i, a.address, "an address");
    require_source(w, i, a.base, "an address");
    if (a.find_places)
        return irregular(w, i);
    if (lds_is_simple(w, i))
        return;
    const unsigned registers = a.op.registers();
    const unsigned results = registers * (a.op.two_addresses() ? 2 : 1);
    if (a.space == Space::global) { // flat: decided per lane in transfer()
        bool two_values = a.op.two_values();
        for (unsigned r = 0; !a.op.loads() && r < registers; ++r) {
            require_vgpr(w, i, a.data + r, "a value stored to memory", value_bits(a.op));
            if (two_values)
                require_vgpr(w, i, a.data2 + r, "a value stored to memory", value_bits(a.op));
        }
        for (unsigned r = 0; (a.op.loads() || a.returns) && r < results; ++r)
            initialise(w, a.result + r, loaded_bits(a.op));
        return;
    }
    for (unsigned half = 0; half < halves_; ++half)
        for (u32 rest = w.exec(half); rest; rest &= rest - 1) {
            auto l = static_cast<unsigned>(__builtin_ctz(rest));
            if (a.op.loads()) {
                transfer(w, i, half, l, a.offset, a.result, true);
                if (a.op.two_addresses())
                    transfer(w, i, half, l, a.offset2, a.result + registers, true);
            } else {
                if (a.returns)
                    transfer(w, i, half, l, a.offset, a.result, true);
                transfer(w, i, half, l, a.offset, a.data, false);
                if (a.op.two_addresses())
                    transfer(w, i, half, l, a.offset2, a.data2, false);
            }
        }
    for (unsigned r = 0; (a.op.loads() || a.returns) && r < results; ++r)
        note((a.result + r) & 255);
}

// Copies one lane's shadow between a register and LDS or scratch. Global memory counts as
// initialised here.
void InitCheck::transfer(const Wave &w, const Inst &i, unsigned half, unsigned lane, i64 offset,
                         unsigned reg, bool load) {
    const MemoryAccess &a = *i.access;
    auto vgpr = [&](unsigned r) { return w.v[half * vgpr_count + r].lane[lane]; };
    u8 *place = nullptr;
    size_t size = 0;
    u64 at = 0;
    bool shared = a.space == Space::lds, local = a.space == Space::scratch;
    if (a.space == Space::flat) {
        u32 high = vgpr(a.address.at + 1);
        shared = high == shared_aperture;
        local = high == private_aperture;
    }
    if (shared || local) {
        at = (a.address.kind == Source::vgpr ? vgpr(a.address.at) : 0u) + static_cast<u64>(offset) +
             (local && a.base.kind == Source::sgpr ? w.s[a.base.at] : 0u);
        at = local ? static_cast<u32>(at) + u64{half * row_lanes + lane} * w.scratch_bytes : at;
        place = shared ? shared_->lds.data() : scratch_.data();
        size = shared ? shared_->lds.size() : scratch_.size();
    }
    unsigned bytes = a.op.bytes == 8 ? 8 : a.op.bytes * a.op.elements;
    if (place && at + bytes > size)
        return; // the access itself faults
    pass(w, i, half, lane, place ? place + at : nullptr, reg, load);
}

void InitCheck::pass(const Wave &w, const Inst &i, unsigned half, unsigned lane, u8 *place,
                     unsigned reg, bool load) {
    const MemoryAccess &a = *i.access;
    unsigned bytes = a.op.bytes == 8 ? 8 : a.op.bytes * a.op.elements;
    bool high_half = a.op.extend >= Extend::high_zero;
    u32 words[4] = {};
    unsigned registers = std::max(1u, bytes / 4);
    if (!load) {
        for (unsigned r = 0; r < registers; ++r)
            words[r] = shadow(reg + r, half).lane[lane] >> (high_half ? 16 : 0);
        if (!place && (words[0] | words[1] | words[2] | words[3])) {
            report(w, i, fmt::format("v{} of lane {}", reg, lane + half * row_lanes),
                   "a value stored to memory", static_cast<int>(lane + half * row_lanes));
            for (unsigned r = 0; r < registers; ++r) {
                shadow(reg + r, half).lane[lane] = 0;
                note((reg + r) & 255);
            }
        }
        if (place)
            std::memcpy(place, words, bytes);
        return;
    }
    if (place)
        std::memcpy(words, place, bytes);
    take_loaded(a.op, half, lane, reg, bytes, words);
}

// A loaded value has the shadow of its bytes.
void InitCheck::take_loaded(const MemoryOp &op, unsigned half, unsigned lane, unsigned reg,
                            unsigned bytes, const u32 *words) {
    const bool high_half = op.extend >= Extend::high_zero;
    const bool low_half = op.extend == Extend::low_zero || op.extend == Extend::low_sign;
    for (unsigned r = 0; r < std::max(1u, bytes / 4); ++r) {
        u32 &s = shadow(reg + r, half).lane[lane];
        u32 value = bytes < 4 && words[r] ? ~0u : words[r];
        s = high_half  ? (s & 0xffff) | value << 16
            : low_half ? (s & 0xffff0000) | (value & 0xffff)
                       : value;
    }
}

} // namespace nw::sim
