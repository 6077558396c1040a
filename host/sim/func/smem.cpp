// SPDX-License-Identifier: MIT
// Scalar loads (4.19 to 4.21).
#include "sim/func/access.h"

namespace nw::sim {

void run_scalar_load(Wave &w, const Inst &i) {
    // src[0]: base pair; src[1]: soffset or constant 0; imm: ioffset; dst_rows dwords.
    u64 bytes = u64{i.dst_rows} * 4;
    u64 base = w.s[i.src[0].at] | u64{w.s[i.src[0].at + 1]} << 32;
    u64 soffset = i.src[1].kind == Source::sgpr ? w.s[i.src[1].at] : 0;
    constexpr u64 dword = ~u64{3};
    u64 address = ((base & dword) + static_cast<u64>(i64{i.imm}) + soffset) & dword;
    if (!reachable(w, i, address, bytes))
        illegal_address(w, i, address, static_cast<unsigned>(bytes), -1);
    if (i.dst != sreg::null)
        std::memcpy(&w.s[i.dst], reinterpret_cast<const void *>(address), bytes);
}

} // namespace nw::sim
