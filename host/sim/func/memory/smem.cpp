// SPDX-License-Identifier: MIT
// Scalar loads (4.19 to 4.21), and gfx10.1's scalar stores and atomics (S-077).
#include "sim/func/memory/access.h"

#include <algorithm>
#include <cstring>

#include "sim/func/launch/launch.h"
#include "sim/func/launch/turns.h"
#include "sim/func/memory/transfer.h"

namespace nw::sim {

namespace {

constexpr u64 scratch_unit = 64;

// src[0]: base pair; src[1]: soffset or constant 0; imm: ioffset. Address bits below `unit` are
// ignored (4.20).
ScalarPlace place_of(const Wave &w, const Inst &i, u64 unit, u64 bytes) {
    u64 base = w.s[i.src[0].at] | u64{w.s[i.src[0].at + 1]} << 32;
    u64 soffset = i.src[1].kind == Source::sgpr ? w.s[i.src[1].at] : 0;
    if (i.flag)
        soffset *= scratch_unit;
    u64 mask = ~(unit - 1);
    u64 address = ((base & mask) + static_cast<u64>(i64{i.imm}) + soffset) & mask;
    return {address, bytes, missing_bytes(w, i, address, bytes)};
}

// T is extended to a dword.
template <class T> void run_small(Wave &w, const Inst &i) {
    T value;
    read_scalar(place_of(w, i, sizeof(T), sizeof(T)), &value);
    if (i.dst != sreg::null)
        w.s[i.dst] = static_cast<u32>(i32{value});
}

} // namespace

void read_scalar(const ScalarPlace &place, void *to) {
    const auto from = reinterpret_cast<const std::byte *>(place.address);
    if (!place.missing) [[likely]] {
        std::memcpy(to, from, place.bytes);
        return;
    }
    const auto bytes = static_cast<std::byte *>(to);
    const auto nothing = reinterpret_cast<const std::byte *>(&poison);
    for (u64 n = 0; n < place.bytes; ++n)
        bytes[n] = place.missing >> n & 1 ? nothing[n % sizeof poison] : from[n];
}

void run_scalar_load(Wave &w, const Inst &i) { // dst_rows dwords
    const ScalarPlace place = place_of(w, i, 4, u64{i.dst_rows} * 4);
    if (i.dst != sreg::null)
        read_scalar(place, &w.s[i.dst]);
}

namespace {

ScalarPlace written_place(const Wave &w, const Inst &i) {
    return place_of(w, i, 4, i.access->bytes());
}

using PlaceOf = ScalarPlace (*)(const Wave &, const Inst &);

template <PlaceOf place_of_write> void run_store(Wave &w, const Inst &i) {
    const ScalarPlace place = place_of_write(w, i);
    if (place.bytes)
        std::memcpy(reinterpret_cast<void *>(place.address), &w.s[i.dst], place.bytes);
}

template <PlaceOf place_of_write> void run_update(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    if (Turns *turns = w.context->turns; turns && (a.op.order_matters() || a.returns))
        turns->await(w.group->number);
    update_scalar(w, i, place_of_write(w, i));
}

} // namespace

Handler scalar_write(const MemoryOp &op, bool buffer) {
    if (op.stores())
        return buffer ? run_store<scalar_buffer_place> : run_store<written_place>;
    return buffer ? run_update<scalar_buffer_place> : run_update<written_place>;
}

void update_scalar(Wave &w, const Inst &i, const ScalarPlace &place) {
    const MemoryAccess &a = *i.access;
    const bool wide = a.op.bytes == 8;
    const auto value = [&](unsigned reg) {
        return wide ? w.s[reg] | u64{w.s[reg + 1]} << 32 : u64{w.s[reg]};
    };
    u64 old = 0;
    if (place.bytes == a.op.bytes) {
        if (place.address % a.op.bytes)
            misaligned_atomic(w, i, place.address, 0);
        const u64 compare = a.op.two_values() ? value(i.dst + a.op.registers()) : 0;
        old = base::atomic_update(place.address, a.op.atomic, a.op.bytes, value(i.dst), compare,
                                  w.mode, false);
    }
    if (!a.returns)
        return;
    w.s[i.dst] = static_cast<u32>(old);
    if (wide)
        w.s[i.dst + 1] = static_cast<u32>(old >> 32);
}

Handler small_scalar_load(std::string_view mnemonic) {
    return mnemonic == "s_load_u8"    ? run_small<u8>
           : mnemonic == "s_load_i8"  ? run_small<i8>
           : mnemonic == "s_load_u16" ? run_small<u16>
           : mnemonic == "s_load_i16" ? run_small<i16>
                                      : nullptr;
}

ScalarPlace scalar_load_place(const Wave &w, const Inst &i) {
    if (i.access)
        return i.src[0].rows == 4 ? scalar_buffer_place(w, i) : written_place(w, i);
    const u64 size = i.run == run_scalar_load                             ? u64{i.dst_rows} * 4
                     : i.run == run_small<u8> || i.run == run_small<i8>   ? 1
                     : i.run == run_small<u16> || i.run == run_small<i16> ? 2
                                                                          : 0;
    if (size == 0)
        return scalar_buffer_place(w, i);
    return place_of(w, i, std::min<u64>(size, 4), size);
}

} // namespace nw::sim
