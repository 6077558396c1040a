// SPDX-License-Identifier: MIT
#include "runtime/gguf_linear.h"

#include <algorithm>

#include "runtime/gguf_operands.h"
#include "runtime/gguf_ways.h"

namespace nw {

namespace {

constexpr Rules rules("gguf_linear");
constexpr u64 offset_limit = u64{1} << 32;
constexpr u64 piece = 256; // pieces of a workspace begin at multiples of it

// action(first row, rows, kernel) of each slice.
template <class Action> void each_slice(const GgufRoute &r, u32 m, const Action &action) {
    for (u64 first = 0; first < m; first += r.rows) {
        const u32 rows = static_cast<u32>(std::min<u64>(r.rows, m - first));
        action(first, rows, rows == r.rows ? *r.kernel : *r.last);
    }
}

// Of a slice: its activations, then what the product needs beside them.
u64 slice_bytes(const Kernel &kernel, u32 m, u32 n, u32 k, u32 wgps) {
    return gguf_way(kernel, [&](auto way) {
        return round_up(way.converted_bytes(m, k), piece) +
               way.scratch_bytes(kernel, m, n, k, wgps);
    });
}

// use(kernel, its arguments) of both launches of each slice.
template <class Use>
void each_launch(const GgufRoute &r, const GgufLinear &p, u32 wgps, const Use &use) {
    std::byte *const converted = static_cast<std::byte *>(p.workspace) + gguf_counters_bytes;
    each_slice(r, p.m, [&](u64 first, u32 rows, const Kernel &kernel) {
        gguf_way(kernel, [&](auto way) {
            GgufSlice slice{p.type, rows, p.n, p.k, nullptr, p.x_stride, p.w, nullptr, converted};
            slice.x = static_cast<const std::byte *>(p.x) + first * p.x_stride;
            slice.c = static_cast<std::byte *>(p.c) + first * 4 * p.n;
            slice.scratch = converted + round_up(way.converted_bytes(rows, p.k), piece);
            slice.counters = p.workspace;
            slice.wgps = wgps;
            way.convert(*r.convert, slice, use);
            way.multiply(kernel, slice, use);
        });
    });
}

void validate_workspace(const GgufRoute &route, const GgufLinear &p, u32 wgps) {
    const u64 need = gguf_route_workspace(route, p.m, p.n, p.k, wgps);
    rules.need(p.workspace_bytes >= need,
               "workspace_bytes = {}: must be at least {}; gguf_linear_workspace says how many "
               "are enough for every way",
               p.workspace_bytes, need);
}

} // namespace

u64 gguf_route_workspace(const GgufRoute &route, u32 m, u32 n, u32 k, u32 wgps) {
    const u32 rest = m % route.rows;
    u64 most = m >= route.rows ? slice_bytes(*route.kernel, route.rows, n, k, wgps) : 0;
    if (rest)
        most = std::max(most, slice_bytes(*route.last, rest, n, k, wgps));
    return gguf_counters_bytes + most;
}

// Scratch grows with the rows, but for how evenly shares come out: each number of tiles is asked.
u64 gguf_linear_workspace(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k,
                          u32 wgps) {
    u64 most = 0;
    for (const Kernel *kernel : gguf_route_kernels(gfx, type, m, n, k, References::with))
        gguf_way(*kernel, [&](auto way) {
            const u32 rows = std::min(m, way.most_rows(*kernel, n)), step = way.step(*kernel);
            for (u32 of = std::min(rows, step);; of = std::min(rows, of + step)) {
                most = std::max(most, slice_bytes(*kernel, of, n, k, wgps));
                if (of == rows)
                    break;
            }
        });
    return gguf_counters_bytes + most;
}

void validate_gguf_shape(std::string_view type, u32 m, u32 n, u32 k) {
    const GgufBlocks &blocks = gguf_blocks(type);
    rules.need(m >= 1, "m = 0: must be at least 1; there is nothing to launch");
    rules.need(n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    rules.need(u64{4} * n < offset_limit,
               "n = {}: a row of c must be smaller than 2^32 bytes; split N", n);
    check_gguf_blocks(rules, blocks, k);
}

void validate(const GgufLinear &p) {
    validate_gguf_shape(p.type, p.m, p.n, p.k);
    rules.pointer("x", p.x, 16);
    rules.pointer("w", p.w, 16);
    rules.pointer("c", p.c, 4);
    rules.pointer("workspace", p.workspace, 16);
    rules.stride({"x_stride", p.x_stride, u64{4} * p.k, "4 * k", 16, offset_limit,
                  "as it is a 32-bit argument"});
    const u64 row = gguf_row_bytes(p.type, p.k);
    const auto x = Rules::rows("x", p.x, p.m, p.x_stride, u64{4} * p.k);
    const auto w = Rules::rows("w", p.w, p.n, row, row);
    const auto c = Rules::rows("c", p.c, 1, 0, u64{4} * p.m * p.n);
    const auto workspace = Rules::rows("workspace", p.workspace, 1, 0, p.workspace_bytes);
    for (const Rules::Range &in : {x, w}) {
        rules.apart(c, in);
        rules.apart(workspace, in);
    }
    rules.apart(c, workspace);
}

void launch(Modules &modules, const GgufLinear &p, const hip::Stream &stream) {
    validate(p);
    const Choice choice = explain_gguf(modules.device().info().gfx, p.type, p.m, p.n, p.k);
    launch(modules, gguf_route(*choice.kernel, p.type, p.m, p.n, p.k), p, stream);
}

void launch(Modules &modules, const GgufRoute &route, const GgufLinear &p,
            const hip::Stream &stream) {
    const u32 wgps = modules.device().info().wgps;
    validate(p);
    rules.need(route.rows >= 1 &&
                   gguf_route(*route.kernel, p.type, p.m, p.n, p.k).rows == route.rows,
               "{} is no route of m = {}, n = {}: make it with gguf_route", route.kernel->symbol,
               p.m, p.n);
    validate_workspace(route, p, wgps);
    each_launch(route, p, wgps, [](const Kernel &, const auto &args) { validate(args); });
    each_launch(route, p, wgps, [&](const Kernel &kernel, const auto &args) {
        launch(modules, kernel, args, stream);
    });
}

} // namespace nw
