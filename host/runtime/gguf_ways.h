// SPDX-License-Identifier: MIT
// What differs from one way to a product with GGUF weights to the next (runtime/gguf_linear.h). Of
// each: the family that multiplies; for how many rows it is, how many it takes at a time, in steps
// of which its scratch grows, and how few when they are what is left; what k it takes; bytes of
// converted activations and of scratch; both launches.
#pragma once
#include <algorithm>
#include <string_view>

#include "runtime/gguf.h"
#include "runtime/gguf_linear.h"
#include "runtime/gguf_mid.h"
#include "runtime/gguf_prefill.h"

namespace nw {

// Some rows of a product, and memory for their launches.
struct GgufSlice {
    std::string_view type;
    u32 m, n, k;
    const void *x;
    u64 x_stride;
    const void *w;
    void *c;
    std::byte *converted, *scratch = nullptr;
    void *counters = nullptr;
    u32 wgps = 0;
};

// Up to 8 rows, weights read once for so many; int8 activations.
struct GgufDecodeWay {
    static constexpr std::string_view family = "gguf_decode", convert_family = "quantize_q8";

    static u32 fewest_rows(const Kernel &k) { return k.number("m"); }
    static u32 fewest_left(const Kernel &k) { return k.number("m"); }
    static u32 most_rows(const Kernel &k, u32) { return k.number("m"); }
    static u32 step(const Kernel &k) { return k.number("m"); }
    static bool takes(const Kernel &, u32, u32) { return true; }
    static u64 converted_bytes(u32 m, u32 k) { return q8_bytes(m, k); }
    static u64 scratch_bytes(const Kernel &, u32, u32, u32, u32) { return 0; }

    template <class Use> static void convert(const Kernel &k, const GgufSlice &s, const Use &use) {
        use(k, QuantizeQ8{s.m, s.k, s.x, s.x_stride, s.converted});
    }
    template <class Use> static void multiply(const Kernel &k, const GgufSlice &s, const Use &use) {
        use(k, GgufDecode{s.type, s.m, s.n, s.k, s.converted, s.w, s.c});
    }
};

// Any number of rows in tiles of 16 or 32; f16 activations.
struct GgufMidWay {
    static constexpr std::string_view family = "gguf_mid", convert_family = "gguf_halves";
    static constexpr u32 rows_at_a_time = 1024; // more would only make the workspace larger

    static u32 fewest_rows(const Kernel &k) { return k.number("bm") > 16 ? 17 : 1; }
    static u32 fewest_left(const Kernel &k) { return fewest_rows(k); }
    // A tile has a counter.
    static u32 most_rows(const Kernel &k, u32 n) {
        const u32 blocks = gguf_counters / ceil_div(n, k.rows_per_workgroup);
        return std::min<u64>(rows_at_a_time, u64{blocks} * k.number("bm") / 32 * 32);
    }
    static u32 step(const Kernel &k) { return k.number("bm"); }
    static bool takes(const Kernel &kernel, u32 n, u32 k) {
        return k % 256 == 0 && most_rows(kernel, n) >= 32;
    }
    static u64 converted_bytes(u32 m, u32 k) { return gguf_halves_bytes(m, k); }
    static u64 scratch_bytes(const Kernel &kernel, u32 m, u32 n, u32 k, u32 wgps) {
        return gguf_mid_parts_bytes(kernel, m, n, k, gguf_mid_share(kernel, m, n, k, wgps));
    }

    template <class Use> static void convert(const Kernel &k, const GgufSlice &s, const Use &use) {
        use(k, GgufHalves{s.m, s.k, s.x, s.x_stride, s.converted});
    }
    template <class Use> static void multiply(const Kernel &k, const GgufSlice &s, const Use &use) {
        use(k, GgufMid{s.type, s.m, s.n, s.k, s.converted, s.w, s.c, s.scratch, s.counters});
    }
};

// Many rows in tiles of 64 and more; the activations are gguf_mid's.
struct GgufPrefillWay {
    static constexpr std::string_view family = "gguf_prefill", convert_family = "gguf_halves";
    static constexpr u32 rows_at_a_time = 4096; // more would only make the workspace larger

    static u32 fewest_rows(const Kernel &) { return gguf_prefill_rows; }
    static u32 fewest_left(const Kernel &) { return 1; }
    static u32 most_rows(const Kernel &, u32) { return rows_at_a_time; }
    static u32 step(const Kernel &k) { return k.number("bm"); }
    static bool takes(const Kernel &, u32, u32) { return true; }
    static u64 converted_bytes(u32 m, u32 k) { return gguf_halves_bytes(m, k); }
    static u64 scratch_bytes(const Kernel &, u32, u32, u32, u32) { return 0; }

    template <class Use> static void convert(const Kernel &k, const GgufSlice &s, const Use &use) {
        use(k, GgufHalves{s.m, s.k, s.x, s.x_stride, s.converted});
    }
    template <class Use> static void multiply(const Kernel &k, const GgufSlice &s, const Use &use) {
        use(k, GgufPrefill{s.type, s.m, s.n, s.k, s.converted, s.w, s.c});
    }
};

// action(way) of the kernel's family. A way more is a line here.
template <class Action> auto gguf_way(const Kernel &kernel, const Action &action) {
    if (kernel.family == GgufPrefillWay::family)
        return action(GgufPrefillWay{});
    if (kernel.family == GgufMidWay::family)
        return action(GgufMidWay{});
    return action(GgufDecodeWay{});
}
inline bool has_gguf_way(const Kernel &kernel) {
    return kernel.family == GgufDecodeWay::family || kernel.family == GgufMidWay::family ||
           kernel.family == GgufPrefillWay::family;
}

} // namespace nw
