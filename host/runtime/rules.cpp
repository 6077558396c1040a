// SPDX-License-Identifier: MIT
#include "runtime/rules.h"

#include <cstdint>

namespace nw {

void Rules::pointer(const char *argument, const void *pointer, u64 alignment) const {
    const u64 address = reinterpret_cast<std::uintptr_t>(pointer);
    need(pointer != nullptr, "{} is null: it must point to device memory", argument);
    need(address % alignment == 0,
         "{} = {:#x}: must be {}-byte aligned; allocations of hipMalloc are", argument, address,
         alignment);
}

void Rules::stride(const Stride &s) const {
    need(s.bytes >= s.row, "{} = {}: must be at least {} = {} bytes", s.argument, s.bytes, s.row_is,
         s.row);
    need(s.bytes % s.unit == 0, "{} = {}: must be a multiple of {}; pad to {} bytes", s.argument,
         s.bytes, s.unit, round_up(s.bytes, s.unit));
    need(s.bytes < s.limit, "{} = {}: must be below {}, {}", s.argument, s.bytes, s.limit,
         s.why_limit);
}

Rules::Range Rules::rows(const char *argument, const void *from, u64 count, u64 stride, u64 row) {
    return {argument, reinterpret_cast<std::uintptr_t>(from), (count - 1) * stride + row};
}

void Rules::apart(const Range &c, const Range &in) const {
    need(in.begin == 0 || (in.begin - c.begin >= c.bytes && c.begin - in.begin >= in.bytes),
         "{} = {:#x}, {} bytes, overlaps {} = {:#x}, {} bytes: give the result memory of its own",
         c.argument, c.begin, c.bytes, in.argument, in.begin, in.bytes);
}

} // namespace nw
