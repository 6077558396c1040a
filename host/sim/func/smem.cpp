// SPDX-License-Identifier: MIT
// Scalar loads (4.19 to 4.21).
#include "sim/func/access.h"

#include <algorithm>
#include <cstring>

namespace nw::sim {

namespace {

// src[0]: base pair; src[1]: soffset or constant 0; imm: ioffset. Address bits below `unit` are
// ignored (4.20).
const void *scalar_address(Wave &w, const Inst &i, u64 unit, u64 bytes) {
    u64 base = w.s[i.src[0].at] | u64{w.s[i.src[0].at + 1]} << 32;
    u64 soffset = i.src[1].kind == Source::sgpr ? w.s[i.src[1].at] : 0;
    u64 mask = ~(unit - 1);
    u64 address = ((base & mask) + static_cast<u64>(i64{i.imm}) + soffset) & mask;
    if (!reachable(w, i, address, bytes))
        illegal_address(w, i, address, static_cast<unsigned>(bytes), -1);
    return reinterpret_cast<const void *>(address);
}

// T is extended to a dword.
template <class T> void run_small(Wave &w, const Inst &i) {
    T value;
    std::memcpy(&value, scalar_address(w, i, sizeof(T), sizeof(T)), sizeof(T));
    if (i.dst != sreg::null)
        w.s[i.dst] = static_cast<u32>(i32{value});
}

} // namespace

void run_scalar_load(Wave &w, const Inst &i) { // dst_rows dwords
    u64 bytes = u64{i.dst_rows} * 4;
    const void *from = scalar_address(w, i, 4, bytes);
    if (i.dst != sreg::null)
        std::memcpy(&w.s[i.dst], from, bytes);
}

Handler small_scalar_load(std::string_view mnemonic) {
    return mnemonic == "s_load_u8"    ? run_small<u8>
           : mnemonic == "s_load_i8"  ? run_small<i8>
           : mnemonic == "s_load_u16" ? run_small<u16>
           : mnemonic == "s_load_i16" ? run_small<i16>
                                      : nullptr;
}

ScalarPlace scalar_load_place(Wave &w, const Inst &i) {
    const u64 size = i.run == run_scalar_load                             ? u64{i.dst_rows} * 4
                     : i.run == run_small<u8> || i.run == run_small<i8>   ? 1
                     : i.run == run_small<u16> || i.run == run_small<i16> ? 2
                                                                          : 0;
    if (size == 0)
        return scalar_buffer_place(w, i);
    return {reinterpret_cast<u64>(scalar_address(w, i, std::min<u64>(size, 4), size)), size};
}

} // namespace nw::sim
