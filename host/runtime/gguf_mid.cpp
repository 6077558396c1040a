// SPDX-License-Identifier: MIT
#include "runtime/gguf_mid.h"

#include <algorithm>

#include "runtime/gguf_operands.h"
#include "runtime/kernarg.h"

namespace nw {

namespace {

constexpr Rules halves("gguf_halves"), mid("gguf_mid");
constexpr u64 offset_limit = u64{1} << 32, store_limit = u64{1} << 31, unit_limit = store_limit;
constexpr u32 most_rows = 1u << 24;                // whose activations are larger, whatever k
constexpr u32 super_k = 256;                       // that a wave has at a time, of any type
constexpr u32 widest_rows = 32, widest_cols = 128; // of the tiles of gguf_mid

// Tiles of 32 rows want two of activations.
bool matches(const Kernel &kernel, std::string_view type, u32 m) {
    return kernel.family == "gguf_mid" && kernel.param("type") == type &&
           kernel.number("bm") <= 16 * gguf_halves_tiles(m);
}

u64 tiles_of(const Kernel &kernel, u32 m, u32 n) {
    return u64{ceil_div(m, kernel.number("bm"))} * ceil_div(n, kernel.rows_per_workgroup);
}

u64 units_of(const Kernel &kernel, u32 m, u32 n, u32 k) {
    return tiles_of(kernel, m, n) * (k / super_k);
}

} // namespace

// Two workgroups to a WGP, or three, as there is room for: whichever lets the WGP with the most to
// do be done first; of as much, three, as two more often wait at the same time.
u32 gguf_mid_share(const Kernel &kernel, u32 m, u32 n, u32 k, u32 wgps) {
    const u64 units = units_of(kernel, m, n, k);
    const u64 two = ceil_div<u64>(units, u64{2} * wgps),
              three = ceil_div<u64>(units, u64{3} * wgps);
    return static_cast<u32>(2 * two < 3 * three ? two : three);
}

u64 gguf_mid_parts_bytes(const Kernel &kernel, u32 m, u32 n, u32 k, u32 share) {
    return 2 * ceil_div<u64>(units_of(kernel, m, n, k), share) * 4 * kernel.number("bm") *
           kernel.rows_per_workgroup;
}

u64 gguf_mid_arrived_bytes(const Kernel &kernel, u32 m, u32 n) {
    return 4 * tiles_of(kernel, m, n);
}

const Kernel &choose_gguf_halves(std::string_view gfx) {
    const Kernel *kernel = find_default("gguf_halves", gfx, [](const Kernel &) { return true; });
    halves.need(kernel, "gfx = {}: no kernel for it", gfx);
    return *kernel;
}

const Kernel *find_gguf_mid(std::string_view gfx, std::string_view type, u32 m) {
    return find_default("gguf_mid", gfx, [&](const Kernel &k) {
        return matches(k, type, m) && k.number("bm") == (m <= 16 ? 16 : 32);
    });
}

const Kernel &choose_gguf_mid(std::string_view gfx, std::string_view type, u32 m) {
    const Kernel *kernel = find_gguf_mid(gfx, type, m);
    mid.need(kernel, "gfx = {}, type = {}: no kernel for it", gfx, type);
    return *kernel;
}

void validate(const GgufHalves &p) {
    halves.need(p.m >= 1, "m = 0: must be at least 1; there is nothing to launch");
    halves.need(p.k >= 1 && p.k % 8 == 0, "k = {}: must be a multiple of 8; pad the row with zeros",
                p.k);
    halves.pointer("x", p.x, 16);
    halves.pointer("y", p.y, 16);
    halves.stride({"x_stride", p.x_stride, u64{4} * p.k, "4 * k", 16, offset_limit,
                   "as it is a 32-bit argument"});
    halves.need(p.m < most_rows && gguf_halves_bytes(p.m, p.k) < offset_limit,
                "m = {}, k = {}: the result must be smaller than 2^32 bytes; split m", p.m, p.k);
    halves.apart(Rules::rows("y", p.y, 1, 0, gguf_halves_bytes(p.m, p.k)),
                 Rules::rows("x", p.x, p.m, p.x_stride, u64{4} * p.k));
}

void validate(const GgufMid &p) {
    const u64 row = gguf_row_bytes(p.type, p.k);
    mid.need(p.m >= 1, "m = 0: must be at least 1; there is nothing to launch");
    mid.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    mid.need(p.k >= 1 && p.k % super_k == 0,
             "k = {}: must be a multiple of {}, as so many are multiplied at a time; gguf_decode "
             "takes any whole number of blocks, 8 rows at a time",
             p.k, super_k);
    mid.need(row * widest_cols < offset_limit && p.m < most_rows &&
                 gguf_halves_bytes(p.m, p.k) < offset_limit,
             "m = {}, k = {}: {} rows of w and all activations must be smaller than 2^32 bytes; "
             "split K or m",
             p.m, p.k, widest_cols);
    mid.need(u64{4} * widest_rows * p.n < store_limit,
             "n = {}: {} rows of c must be smaller than 2^31 bytes; split N", p.n, widest_rows);
    check_gguf_pointers(mid, p);
    mid.pointer("parts", p.parts, 16);
    mid.pointer("arrived", p.arrived, 4);
    check_gguf_overlap(mid, p, gguf_halves_bytes(p.m, p.k));
}

void launch(Modules &modules, const GgufHalves &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose_gguf_halves(modules.device().info().gfx), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufHalves &p,
            const hip::Stream &stream) {
    validate(p);
    halves.need(kernel.family == "gguf_halves", "{} does something else", kernel.symbol);
    const u32 tiles = gguf_halves_tiles(p.m);
    Kernarg out(kernel);
    out.put("x", p.x);
    out.put("y", p.y);
    out.put("k", p.k);
    out.put("m", p.m);
    out.put("x_stride", static_cast<u32>(p.x_stride));
    out.put("tiles", tiles);
    constexpr u32 piece = 16; // bytes of eight k
    out.put("y_piece", p.by_row ? piece : 16 * piece);
    out.put("y_row", p.by_row ? super_k / 8 * piece : piece);
    modules.device().launch(modules.function(kernel), 16 * tiles, kernel.block, 0, out.bytes(),
                            stream);
}

void launch(Modules &modules, const GgufMid &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose_gguf_mid(modules.device().info().gfx, p.type, p.m), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufMid &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, kernel, p, gguf_mid_share(kernel, p.m, p.n, p.k, modules.device().info().wgps),
           stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufMid &p, u32 share,
            const hip::Stream &stream) {
    validate(p);
    mid.need(matches(kernel, p.type, p.m), "{} is not for {}, m = {}", kernel.symbol, p.type, p.m);
    mid.need(share >= 1, "share = 0: must be at least 1");
    const u64 units = units_of(kernel, p.m, p.n, p.k);
    mid.need(units < unit_limit,
             "m = {}, n = {}, k = {}: must be fewer than 2^31 super-blocks of tiles; split m", p.m,
             p.n, p.k);
    const u32 blocks = ceil_div(p.m, kernel.number("bm")), supers = p.k / super_k;
    Kernarg out(kernel);
    out.put("a", p.a);
    out.put("w", p.w);
    out.put("c", p.c);
    out.put("m", p.m);
    out.put("n", p.n);
    out.put("supers", supers);
    out.put("tiles", gguf_halves_tiles(p.m));
    out.put("blocks", blocks);
    out.put("share", share);
    out.put("blocks_inverse", inverse(blocks));
    out.put("supers_inverse", inverse(supers));
    out.put("share_inverse", inverse(share));
    out.put("parts", p.parts);
    out.put("arrived", p.arrived);
    modules.device().launch(modules.function(kernel), ceil_div<u64>(units, share), kernel.block, 0,
                            out.bytes(), stream);
}

} // namespace nw
