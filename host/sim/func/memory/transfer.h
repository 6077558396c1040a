// SPDX-License-Identifier: MIT
// Transfers of elements between memory and registers. Per host level, as fp.h.
#pragma once
#include "sim/func/memory/access.h"

#ifndef NW_LEVEL
#define NW_LEVEL base
#endif

namespace nw::sim::NW_LEVEL {

template <class T>
inline T update_memory(u64 place, Atomic op, u64 data, u64 compare, const Mode &mode, bool lds) {
    T *target = reinterpret_cast<T *>(place);
    T old = __atomic_load_n(target, __ATOMIC_RELAXED), fresh;
    do {
        fresh = static_cast<T>(atomic_result(op, sizeof(T), old, data, compare, mode, lds));
    } while (!__atomic_compare_exchange_n(target, &old, fresh, true, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    return old;
}

// Returns the old value. `place` is aligned, and the host rounds to nearest.
inline u64 atomic_update(u64 place, Atomic op, unsigned bytes, u64 data, u64 compare,
                         const Mode &mode, bool lds) {
    return bytes == 8 ? update_memory<u64>(place, op, data, compare, mode, lds)
                      : update_memory<u32>(place, op, data, compare, mode, lds);
}

// 5.16: what a register holds after `raw`, of 1 or 2 bytes, was loaded.
inline u32 extend_loaded(u32 raw, const MemoryOp &op, u32 old) {
    u32 wide_sign = op.bytes == 1 ? static_cast<u32>(static_cast<i8>(raw))
                                  : static_cast<u32>(static_cast<i16>(raw));
    switch (op.extend) {
    case Extend::sign:
        return wide_sign;
    case Extend::low_zero:
        return (old & 0xffff0000) | raw;
    case Extend::low_sign:
        return (old & 0xffff0000) | (wide_sign & 0xffff);
    case Extend::high_zero:
        return (old & 0xffff) | raw << 16;
    case Extend::high_sign:
        return (old & 0xffff) | wide_sign << 16;
    default:
        return raw;
    }
}

} // namespace nw::sim::NW_LEVEL
