// SPDX-License-Identifier: MIT
// Scalar loads from buffers, and gfx10.1's stores and atomics (4.22, S-077): never swizzled, and
// the bound is one number of bytes.
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "sim/func/choices.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/access.h"
#include "sim/func/memory/buffer.h"

namespace nw::sim {

namespace {

// src[0]: descriptor; src[1]: soffset or constant 0; imm: ioffset.
struct Session {
    const Wave &w;
    const Inst &i;
    Buffer buffer;
    u64 offset = 0, bound = 0;

    // Offset bits below `unit` are ignored (4.20).
    Session(const Wave &wave, const Inst &inst, u64 unit)
        : w(wave), i(inst),
          buffer(&wave.s[inst.src[0].at], wave.context->device.target->old_names) {
        if (const char *why = buffer.refusal())
            fault(w, i, Fault::Kind::illegal_address,
                  fmt::format("bad buffer descriptor in s[{}:{}]: {}", i.src[0].at, i.src[0].at + 3,
                              why));
        if (i.imm < 0)
            fault(w, i, Fault::Kind::illegal_address,
                  fmt::format("the offset {} of a scalar buffer load is negative", i.imm));
        u64 soffset = i.src[1].kind == Source::sgpr ? w.s[i.src[1].at] : 0, mask = ~(unit - 1);
        buffer.base &= mask;
        offset = ((static_cast<u64>(i.imm) & mask) + (soffset & mask)) & mask;
        bool unbound =
            buffer.format == 0 && choices().invalid_format == choice::invalid_format::unbound;
        bound = unbound ? 0 : u64{buffer.stride ? buffer.stride : 1} * buffer.records;
    }

    // The first of `count` units, as far as they are within the buffer's bounds.
    ScalarPlace place(u64 unit, u64 count) const {
        const u64 left = offset < bound ? (bound - offset) / unit : 0;
        const u64 address = buffer.base + offset, bytes = std::min(count, left) * unit;
        return {address, bytes, bytes ? missing_bytes(w, i, address, bytes) : 0};
    }
};

void run_dwords(Wave &w, const Inst &i) { // dst_rows of them
    Session s(w, i, 4);
    u32 value[16] = {};
    read_scalar(s.place(4, i.dst_rows), value);
    if (i.dst != sreg::null)
        std::memcpy(&w.s[i.dst], value, 4 * i.dst_rows);
}

template <class T> void run_small(Wave &w, const Inst &i) {
    Session s(w, i, sizeof(T));
    T value = 0;
    read_scalar(s.place(sizeof(T), 1), &value);
    if (i.dst != sreg::null)
        w.s[i.dst] = static_cast<u32>(i32{value});
}

} // namespace

Handler scalar_buffer_load(std::string_view mnemonic) {
    constexpr std::string_view prefix = "s_buffer_load_";
    if (!mnemonic.starts_with(prefix))
        return nullptr;
    std::string_view kind = mnemonic.substr(prefix.size());
    return kind == "u8"    ? run_small<u8>
           : kind == "i8"  ? run_small<i8>
           : kind == "u16" ? run_small<u16>
           : kind == "i16" ? run_small<i16>
                           : run_dwords;
}

ScalarPlace scalar_buffer_place(const Wave &w, const Inst &i) {
    if (i.access) { // an atomic as a whole
        const bool whole = i.access->op.updates();
        const u64 bytes = i.access->bytes(), unit = whole ? bytes : 4;
        return Session(w, i, 4).place(unit, bytes / unit);
    }
    const unsigned unit = i.run == run_dwords                                  ? 4
                          : i.run == run_small<u8> || i.run == run_small<i8>   ? 1
                          : i.run == run_small<u16> || i.run == run_small<i16> ? 2
                                                                               : 0;
    if (unit == 0)
        return {};
    return Session(w, i, unit).place(unit, unit == 4 ? i.dst_rows : 1);
}

} // namespace nw::sim
