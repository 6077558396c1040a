// SPDX-License-Identifier: MIT
// Scalar loads from buffers (4.22): never swizzled, and the bound is one number of bytes.
#include <cstring>
#include <fmt/format.h>

#include "sim/func/access.h"
#include "sim/func/buffer.h"
#include "sim/func/choices.h"

namespace nw::sim {

namespace {

// src[0]: descriptor; src[1]: soffset or constant 0; imm: ioffset.
struct Session {
    Wave &w;
    const Inst &i;
    Buffer buffer;
    u64 offset = 0, bound = 0;

    // Offset bits below `unit` are ignored (4.20).
    Session(Wave &wave, const Inst &inst, u64 unit)
        : w(wave), i(inst), buffer(&wave.s[inst.src[0].at]) {
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

    bool in_bounds(u64 at, u64 size) const { return offset + at + size <= bound; }
    const void *place(u64 at, unsigned size) const {
        u64 address = buffer.base + offset + at;
        if (!reachable(w, i, address, size))
            illegal_address(w, i, address, size, -1);
        return reinterpret_cast<const void *>(address);
    }
};

void run_dwords(Wave &w, const Inst &i) { // dst_rows of them
    Session s(w, i, 4);
    u32 value[16] = {};
    for (unsigned n = 0; n < i.dst_rows; ++n)
        if (s.in_bounds(4 * n, 4))
            std::memcpy(&value[n], s.place(4 * n, 4), 4);
    if (i.dst != sreg::null)
        std::memcpy(&w.s[i.dst], value, 4 * i.dst_rows);
}

template <class T> void run_small(Wave &w, const Inst &i) {
    Session s(w, i, sizeof(T));
    T value = 0;
    if (s.in_bounds(0, sizeof(T)))
        std::memcpy(&value, s.place(0, sizeof(T)), sizeof(T));
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

ScalarPlace scalar_buffer_place(Wave &w, const Inst &i) {
    const unsigned unit = i.run == run_dwords                                  ? 4
                          : i.run == run_small<u8> || i.run == run_small<i8>   ? 1
                          : i.run == run_small<u16> || i.run == run_small<i16> ? 2
                                                                               : 0;
    if (unit == 0)
        return {};
    const Session s(w, i, unit);
    const unsigned most = unit == 4 ? i.dst_rows : 1;
    unsigned count = 0;
    for (; count < most && s.in_bounds(u64{count} * unit, unit); ++count)
        s.place(u64{count} * unit, unit);
    return {s.buffer.base + s.offset, u64{count} * unit};
}

} // namespace nw::sim
