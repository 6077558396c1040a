// SPDX-License-Identifier: MIT
// Vector memory and LDS: addresses, checks, transfers. Compiled once per host level.
#include "sim/func/alu/host_simd.h"
#include "sim/func/alu/kernels.h"
#include "sim/func/choices.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/access.h"
#include "sim/func/memory/transfer.h"

namespace nw::sim::NW_LEVEL {

namespace {

u64 scalar64(const Wave &w, const Source &s) {
    return s.kind == Source::sgpr ? w.s[s.at] | u64{w.s[s.at + 1]} << 32 : 0;
}
u32 scalar32(const Wave &w, const Source &s) { return s.kind == Source::sgpr ? w.s[s.at] : 0; }

void global_addresses(Wave &w, const MemoryAccess &a, unsigned half, u64 *out) {
    u64 base = scalar64(w, a.base) + static_cast<u64>(a.offset);
    if (a.address.kind != Source::vgpr) {
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = base;
        return;
    }
    const u32 *low = w.row(a.address.at, half);
    if (a.wide) {
        const u32 *high = w.row(a.address.at + 1, half);
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = base + (low[l] | u64{high[l]} << 32);
    } else {
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = base + low[l]; // 5.2: zero-extended
    }
}

struct Span {
    u64 low, high;
};

// Lowest and highest address of the active lanes.
Span span_of(const u64 *at, u32 exec) {
    u64 first = at[__builtin_ctz(exec)], low = first, high = first;
    for (unsigned l = 0; l < row_lanes; ++l) {
        u64 x = exec >> l & 1 ? at[l] : first;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    return {low, high};
}

void check_global(Wave &w, const Inst &i, const u64 *at, unsigned half, u32 exec, unsigned size) {
    Span s = span_of(at, exec);
    if (s.high + size > s.high && reachable(w, i, s.low, s.high - s.low + size)) [[likely]]
        return;
    for_lanes(exec, [&](unsigned l) {
        if (!reachable(w, i, at[l], size))
            illegal_address(w, i, at[l], size, static_cast<int>(l + row_lanes * half));
    });
}

u64 lds_place(Wave &w, const Inst &i, u64 address, unsigned size, unsigned lane) {
    if (address + size > w.group->lds.size())
        lds_out_of_range(w, i, address, size, lane);
    return reinterpret_cast<u64>(w.group->lds.data()) + address;
}

// 5.3. Lane t's scratch is [t * scratch_bytes, ...) of the wave's block: indistinguishable from the
// hardware's interleaving, because every access passes through here.
u64 scratch_place(Wave &w, const Inst &i, i64 offset, unsigned size, unsigned lane) {
    if (offset < 0 || offset + size > w.scratch_bytes)
        scratch_out_of_range(w, i, offset, size, lane);
    return reinterpret_cast<u64>(w.scratch) + u64{lane} * w.scratch_bytes +
           static_cast<u64>(offset);
}

void scratch_addresses(Wave &w, const Inst &i, unsigned half, u32 exec, Places &p) {
    const MemoryAccess &a = *i.access;
    bool gfx12 = w.mode.gfx12; // there the registers are signed
    auto extend = [&](u32 x) { return gfx12 ? i64{static_cast<i32>(x)} : i64{x}; };
    i64 base = extend(scalar32(w, a.base)) + a.offset;
    const u32 *v = a.address.kind == Source::vgpr ? w.row(a.address.at, half) : nullptr;
    w.waiting.own += half == 0;
    for_lanes(exec, [&](unsigned l) {
        i64 offset = base + (v ? extend(v[l]) : 0);
        p.at[l] = scratch_place(w, i, offset, a.bytes(), l + row_lanes * half);
    });
}

// 5.4: the aperture is chosen by the address before the offset is added.
void flat_addresses(Wave &w, const Inst &i, unsigned half, u32 exec, Places &p) {
    const MemoryAccess &a = *i.access;
    const u32 *low = w.row(a.address.at, half), *high = w.row(a.address.at + 1, half);
    auto offset = static_cast<u64>(a.offset);
    u32 own = 0;
    for_lanes(exec, [&](unsigned l) {
        if (high[l] == shared_aperture) {
            p.lds |= 1u << l;
            p.at[l] = lds_place(w, i, (low[l] + offset) & 0x1ffff, a.bytes(), l + row_lanes * half);
        } else if (high[l] == private_aperture) {
            own |= 1u << l;
            p.at[l] = scratch_place(w, i, i64{low[l]} + a.offset, a.bytes(), l + row_lanes * half);
        } else {
            p.at[l] = (low[l] | u64{high[l]} << 32) + offset;
            if (!reachable(w, i, p.at[l], a.bytes()))
                illegal_address(w, i, p.at[l], a.bytes(), static_cast<int>(l + row_lanes * half));
        }
    });
    w.waiting.own += half == 0 && own == exec;
}

// The sum is a 32-bit one: compilers fold `base[n - i]` into a negative register and an offset.
void lds_addresses(Wave &w, const Inst &i, unsigned half, u32 exec, i64 offset, Places &p) {
    const MemoryAccess &a = *i.access;
    const u32 *v = w.row(a.address.at, half);
    p.lds = ~0u;
    const auto base = reinterpret_cast<u64>(w.group->lds.data());
    const u32 low = static_cast<u32>(offset);
    u32 highest = 0;
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 address = (v[l] + low) & (0u - (exec >> l & 1)); // a select doesn't vectorise
        highest = address > highest ? address : highest;
    }
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        p.at[l] = base + (v[l] + low);
    if (u64{highest} + a.bytes() <= w.group->lds.size()) [[likely]]
        return;
    for_lanes(exec, [&](unsigned l) {
        if (u64{v[l] + low} + a.bytes() > w.group->lds.size())
            p.outside |= 1u << l;
    });
}

// Reports the first lane that is beyond the end of LDS.
[[noreturn]] void outside_lds(Wave &w, const Inst &i, unsigned half, const Places &p) {
    auto l = static_cast<unsigned>(__builtin_ctz(p.outside));
    u64 address = p.at[l] - reinterpret_cast<u64>(w.group->lds.data());
    lds_out_of_range(w, i, address, i.access->bytes(), l + row_lanes * half);
}

void find_places(Wave &w, const Inst &i, unsigned half, u32 exec, i64 offset, Places &p) {
    switch (i.access->space) {
    case Space::global:
        global_addresses(w, *i.access, half, p.at);
        check_global(w, i, p.at, half, exec, i.access->bytes());
        break;
    case Space::flat:
        flat_addresses(w, i, half, exec, p);
        break;
    case Space::scratch:
        scratch_addresses(w, i, half, exec, p);
        break;
    case Space::lds:
        lds_addresses(w, i, half, exec, offset, p);
        break;
    case Space::buffer: // in buffer_access.cpp
    case Space::image:  // in image_access.cpp
        break;
    }
}

// ---- transfers ---------------------------------------------------------------------------------

void *host(u64 place) { return reinterpret_cast<void *>(place); }

// Lane l at place 0 + stride * l, in all lanes.
bool is_regular(const u64 *at, u64 stride) {
    u64 off = 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        off |= at[l] - at[0] - stride * l;
    return off == 0;
}

#if defined(__AVX512F__)
// Loads four dwords per lane into four registers. Inactive lanes load the first lane's.
void load_four(u32 *const *to, u32 exec, const u64 *at) {
    alignas(64) u64 from[row_lanes];
    const u64 first = at[__builtin_ctz(exec)];
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        from[l] = exec >> l & 1 ? at[l] : first;
    auto four = [&](unsigned l) {
        return _mm_loadu_si128(static_cast<const __m128i *>(host(from[l])));
    };
    for (unsigned l = 0; l < row_lanes; l += 16) {
        const auto active = static_cast<__mmask16>(exec >> l);
        auto store = [&](unsigned n, __m512i r) { _mm512_mask_storeu_epi32(to[n] + l, active, r); };
        __m512i x[4]; // of lanes l + n, + 4, + 8, + 12
        for (unsigned n = 0; n < 4; ++n) {
            x[n] = _mm512_castsi128_si512(four(l + n));
            x[n] = _mm512_inserti32x4(x[n], four(l + n + 4), 1);
            x[n] = _mm512_inserti32x4(x[n], four(l + n + 8), 2);
            x[n] = _mm512_inserti32x4(x[n], four(l + n + 12), 3);
        }
        __m512i a = _mm512_unpacklo_epi32(x[0], x[1]), b = _mm512_unpacklo_epi32(x[2], x[3]);
        __m512i c = _mm512_unpackhi_epi32(x[0], x[1]), d = _mm512_unpackhi_epi32(x[2], x[3]);
        store(0, _mm512_unpacklo_epi64(a, b));
        store(1, _mm512_unpackhi_epi64(a, b));
        store(2, _mm512_unpacklo_epi64(c, d));
        store(3, _mm512_unpackhi_epi64(c, d));
    }
}
#else
using Four [[gnu::vector_size(16)]] = u32;

// 4 lanes x 4 dwords: rows become columns.
void transpose(Four *x) {
    Four a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    Four b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    Four c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    Four d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

void load_four(u32 *const *to, u32 exec, const u64 *at) {
    for (unsigned l = 0; l < row_lanes; l += 4) {
        if ((exec >> l & 15) != 15) {
            for_lanes(exec >> l & 15, [&](unsigned k) {
                u32 t[4];
                std::memcpy(t, host(at[l + k]), sizeof t);
                for (unsigned n = 0; n < 4; ++n)
                    to[n][l + k] = t[n];
            });
            continue;
        }
        Four x[4];
        for (unsigned n = 0; n < 4; ++n)
            std::memcpy(&x[n], host(at[l + n]), 16);
        transpose(x);
        for (unsigned n = 0; n < 4; ++n)
            std::memcpy(to[n] + l, &x[n], 16);
    }
}
#endif

template <unsigned N>
void load_dwords(Wave &w, unsigned reg, unsigned half, u32 exec, const Places &p) {
    if (N == 1 && exec == ~0u && is_regular(p.at, 4)) {
        std::memcpy(w.row(reg, half), host(p.at[0]), sizeof(Row));
        return;
    }
    if (N == 4) {
        u32 *to[4];
        for (unsigned n = 0; n < 4; ++n)
            to[n] = w.row(reg + n, half);
        load_four(to, exec, p.at);
        return;
    }
    for_lanes(exec, [&](unsigned l) {
        u32 t[N];
        std::memcpy(t, host(p.at[l]), sizeof t);
        for (unsigned n = 0; n < N; ++n)
            w.row(reg + n, half)[l] = t[n];
    });
}

template <unsigned N>
void store_dwords(Wave &w, unsigned reg, unsigned half, u32 exec, const Places &p) {
    if (N == 1 && exec == ~0u && is_regular(p.at, 4)) {
        std::memcpy(host(p.at[0]), w.row(reg, half), sizeof(Row));
        return;
    }
    for_lanes(exec, [&](unsigned l) {
        u32 t[N];
        for (unsigned n = 0; n < N; ++n)
            t[n] = w.row(reg + n, half)[l];
        std::memcpy(host(p.at[l]), t, sizeof t);
    });
}

template <class T> void load_small(u32 *d, const MemoryOp &op, u32 exec, const Places &p) {
    for_lanes(exec, [&](unsigned l) {
        T raw;
        std::memcpy(&raw, host(p.at[l]), sizeof raw);
        d[l] = extend_loaded(raw, op, d[l]);
    });
}

void load(Wave &w, const Inst &i, unsigned reg, unsigned half, u32 exec, const Places &p) {
    const MemoryOp &op = i.access->op;
    if (op.extend == Extend::whole) {
        switch (op.elements) {
        case 1:
            return load_dwords<1>(w, reg, half, exec, p);
        case 2:
            return load_dwords<2>(w, reg, half, exec, p);
        case 3:
            return load_dwords<3>(w, reg, half, exec, p);
        default:
            return load_dwords<4>(w, reg, half, exec, p);
        }
    }
    u32 *d = w.row(reg, half);
    if (op.bytes == 1)
        load_small<u8>(d, op, exec, p);
    else
        load_small<u16>(d, op, exec, p);
}

void store(Wave &w, const Inst &i, unsigned reg, unsigned half, u32 exec, const Places &p) {
    const MemoryOp &op = i.access->op;
    if (op.extend == Extend::whole) {
        switch (op.elements) {
        case 1:
            return store_dwords<1>(w, reg, half, exec, p);
        case 2:
            return store_dwords<2>(w, reg, half, exec, p);
        case 3:
            return store_dwords<3>(w, reg, half, exec, p);
        default:
            return store_dwords<4>(w, reg, half, exec, p);
        }
    }
    const u32 *d = w.row(reg, half);
    unsigned shift = op.extend == Extend::high_zero ? 16 : 0;
    for_lanes(exec, [&](unsigned l) {
        u32 value = d[l] >> shift;
        std::memcpy(host(p.at[l]), &value, op.bytes);
    });
}

// ---- atomics -----------------------------------------------------------------------------------

// `data`, `compare` and `result` are registers.
void atomic(Wave &w, const Inst &i, unsigned half, u32 exec, const Places &p, unsigned data,
            unsigned compare, unsigned result) {
    const MemoryAccess &a = *i.access;
    unsigned bytes = a.op.bytes;
    auto value = [&](unsigned reg, unsigned l) {
        u64 low = w.row(reg, half)[l];
        return bytes == 8 ? low | u64{w.row(reg + 1, half)[l]} << 32 : low;
    };
    const bool flat_is_lds = choices().atomic_flat_lds == choice::atomic_flat_lds::as_lds; // S-050
    MxcsrScope nearest(mxcsr_default);
    for_lanes(exec, [&](unsigned l) { // ascending lanes (5.17)
        if (p.at[l] % bytes)
            misaligned_atomic(w, i, p.at[l], l);
        bool lds = p.lds >> l & 1 && (a.space == Space::lds || flat_is_lds);
        u64 d = value(data, l), c = value(compare, l);
        u64 old = atomic_update(p.at[l], a.op.atomic, bytes, d, c, w.mode, lds);
        if (!a.returns)
            return;
        w.row(result, half)[l] = static_cast<u32>(old);
        if (bytes == 8)
            w.row(result + 1, half)[l] = static_cast<u32>(old >> 32);
    });
}

void count_bytes(Wave &w, const MemoryAccess &a, u32 exec) {
    u64 bytes = u64{a.bytes()} * static_cast<unsigned>(__builtin_popcount(exec)) *
                (a.op.two_addresses() ? 2 : 1);
    bool lds = a.space == Space::lds;
    if (!a.op.stores())
        (lds ? w.bytes.lds_read : w.bytes.global_load) += bytes;
    if (!a.op.loads())
        (lds ? w.bytes.lds_write : w.bytes.global_store) += bytes;
}

// `q`: of two addresses, the second.
void transfer(Wave &w, const Inst &i, unsigned half, u32 exec, const Places &p, const Places &q) {
    const MemoryAccess &a = *i.access;
    unsigned size = a.op.registers();
    switch (a.op.access) {
    case Access::load:
        load(w, i, a.result, half, exec, p);
        break;
    case Access::store:
        store(w, i, a.data, half, exec, p);
        break;
    case Access::atomic:
        atomic(w, i, half, exec, p, a.data, a.data2, a.result);
        break;
    case Access::exchange2:
    case Access::exchange2_stride64:
        atomic(w, i, half, exec, p, a.data, a.data, a.result);
        atomic(w, i, half, exec, q, a.data2, a.data2, a.result + size);
        break;
    case Access::load2:
    case Access::load2_stride64:
        load(w, i, a.result, half, exec, p);
        load(w, i, a.result + size, half, exec, q);
        break;
    default:
        store(w, i, a.data, half, exec, p);
        store(w, i, a.data2, half, exec, q);
    }
}

// S-051: lanes that straddle the end of LDS work on private zeros. `parts`: the dwords of a load
// and the bytes of a store that are inside use LDS.
class Overhang {
public:
    Overhang(Wave &w, const MemoryAccess &a, Places &p)
        : begin_(reinterpret_cast<u64>(w.group->lds.data())), end_(begin_ + w.group->lds.size()),
          bytes_(a.bytes()), places_(p) {
        parts_ = choices().lds_edge == choice::lds_edge::parts && !a.op.updates();
        const unsigned unit = bytes_ < 4 ? bytes_ : 4;
        for_lanes(p.outside, [&](unsigned l) {
            inside_[l] = p.at[l];
            for (unsigned n = 0; parts_ && n < bytes_; n += unit)
                if (is_inside(p.at[l] + n, unit))
                    std::memcpy(&own_[l][n], host(p.at[l] + n), unit);
            p.at[l] = reinterpret_cast<u64>(own_[l]);
        });
    }
    void store() const {
        for_lanes(places_.outside, [&](unsigned l) {
            for (unsigned n = 0; parts_ && n < bytes_; ++n)
                if (is_inside(inside_[l] + n, 1))
                    std::memcpy(host(inside_[l] + n), &own_[l][n], 1);
        });
    }

private:
    bool is_inside(u64 place, unsigned size) const {
        return place >= begin_ && place + size <= end_;
    }
    static constexpr unsigned widest = 16;
    u64 begin_, end_;
    unsigned bytes_;
    bool parts_ = false;
    const Places &places_;
    u64 inside_[row_lanes]; // where the lane's bytes would be in LDS
    alignas(16) std::byte own_[row_lanes][widest] = {};
};

[[gnu::noinline]] void transfer_outside(Wave &w, const Inst &i, unsigned half, u32 exec, Places &p,
                                        Places &q) {
    const Checker *checker = w.context->config.checker;
    if ((checker && checker->shadows_lds()) || choices().lds_edge == choice::lds_edge::fault)
        outside_lds(w, i, half, p.outside ? p : q);
    Overhang first(w, *i.access, p), second(w, *i.access, q);
    transfer(w, i, half, exec, p, q);
    if (i.access->op.stores()) {
        first.store();
        second.store();
    }
}

void run_half(Wave &w, const Inst &i, unsigned half, u32 exec) {
    const MemoryAccess &a = *i.access;
    Places p, q;
    find_places(w, i, half, exec, a.offset, p);
    if (a.op.two_addresses())
        find_places(w, i, half, exec, a.offset2, q);
    if (p.outside | q.outside) [[unlikely]]
        return transfer_outside(w, i, half, exec, p, q);
    transfer(w, i, half, exec, p, q);
}

void places(Wave &w, const Inst &i, unsigned half, unsigned part, Places &p) {
    p.active = w.exec(half);
    p.bytes = i.access->bytes();
    if (p.active && i.access->find_places)
        return i.access->find_places(w, i, half, part, p);
    if (p.active)
        find_places(w, i, half, p.active, part ? i.access->offset2 : i.access->offset, p);
    if (p.outside) // the caller shadows the contents of LDS
        outside_lds(w, i, half, p);
}

void run_memory(Wave &w, const Inst &i) {
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 exec = w.exec(half);
        if (exec == 0)
            continue;
        count_bytes(w, *i.access, exec);
        run_half(w, i, half, exec);
    }
}

} // namespace

void fill_memory(Frames &f) {
    f.memory = run_memory;
    f.places = places;
}

} // namespace nw::sim::NW_LEVEL
