// SPDX-License-Identifier: MIT
// copy_tensor: every byte of y as the reference has it, those between its elements as they were,
// for strides in any order, gaps between elements, repeats, other sizes and any alignment.
#include "ref/copy_tensor.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/half.h"
#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Test;
using ref::Strided;
using Sizes = std::array<u32, 4>;

namespace {

constexpr Sizes in_order = {0, 1, 2, 3};

// Bytes of its elements, and how they lie in memory.
struct Layout {
    Sizes n;
    Sizes order = in_order; // dimensions, the one with the smallest stride first
    u32 gap = 0;            // elements between elements of that one
    u32 pad = 0;            // bytes between rows
    u32 start = 0;          // bytes before the first element
};

struct Case {
    Layout x, y;
    bool repeat = false; // x of one element in dimensions 1 and 3
};

u64 size_of(std::string_view type) {
    return type == "b8"                                       ? 1
           : type == "b64"                                    ? 8
           : type == "b16" || type == "f16" || type == "bf16" ? 2
                                                              : 4;
}

Strided strided(const Layout &l, u64 size) {
    Strided out{l.n, {}};
    u64 stride = size * (1 + l.gap);
    for (const u32 d : l.order) {
        out.stride[d] = stride;
        stride = stride * l.n[d] + l.pad;
    }
    return out;
}

// Hard values first, as the type has them; any bytes of moves.
std::vector<std::byte> values(Rng &rng, std::string_view type, u64 bytes) {
    std::vector<std::byte> out(bytes);
    for (std::byte &b : out)
        b = static_cast<std::byte>(rng.below(256));
    const u64 size = size_of(type);
    const std::vector<f32> hard = check::hard_values(rng, bytes / size);
    for (u64 i = 0; i < hard.size() && (type == "f32" || type == "bf16" || type == "f16"); ++i) {
        const u16 half = type == "f16" ? f32_to_f16(hard[i]) : f32_to_bf16(hard[i]);
        std::memcpy(&out[i * size], size == 2 ? static_cast<const void *>(&half) : &hard[i], size);
    }
    for (u64 i = 0; i < bytes / 4 && type == "f32"; i += 3) { // what an i32 holds, and around
        const f32 v = hard[i] == 0 ? 0 : std::ldexp(rng.normal(), static_cast<int>(rng.below(34)));
        std::memcpy(&out[i * 4], &v, 4);
    }
    return out;
}

bool is_nan(std::string_view type, const std::byte *at) {
    u16 half;
    f32 word;
    std::memcpy(&half, at, 2);
    if (type == "f16" || type == "bf16")
        return std::isnan(type == "f16" ? f16_to_f32(half) : bf16_to_f32(half));
    if (type != "f32")
        return false;
    std::memcpy(&word, at, 4);
    return std::isnan(word);
}

// Any NaN will do where one is; everything else must be equal.
void check_bytes(Test &t, std::string_view type, const Strided &of, u64 start,
                 std::vector<std::byte> got, const std::vector<std::byte> &want,
                 std::source_location where) {
    const u64 size = size_of(type);
    for (u64 i = 0; i < of.elements(); ++i) {
        std::byte *at = &got[start + of.offset(i)];
        const std::byte *wanted = &want[start + of.offset(i)];
        if (std::memcmp(at, wanted, size) != 0 && !(is_nan(type, at) && is_nan(type, wanted)))
            return t.fail(fmt::format("y[{}], at byte {}, is {::02x}, not {::02x}", i,
                                      start + of.offset(i),
                                      std::span(reinterpret_cast<const u8 *>(at), size),
                                      std::span(reinterpret_cast<const u8 *>(wanted), size)),
                          where);
        std::memcpy(at, wanted, size);
    }
    const auto bad = std::ranges::mismatch(got, want);
    if (bad.in1 != got.end())
        t.fail(fmt::format("byte {} of y, between its elements, is written", bad.in1 - got.begin()),
               where);
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    const std::string from = kernel.param("x_type"), to = kernel.param("y_type");
    t.shape(fmt::format("x {} order {} gap={} pad={} start={} y {} order {} gap={} pad={} start={}",
                        fmt::join(p.x.n, "x"), fmt::join(p.x.order, ""), p.x.gap, p.x.pad,
                        p.x.start, fmt::join(p.y.n, "x"), fmt::join(p.y.order, ""), p.y.gap,
                        p.y.pad, p.y.start));
    Strided in = strided(p.x, size_of(from));
    const Strided out = strided(p.y, size_of(to));
    if (p.repeat)
        in.stride[1] = in.stride[3] = 0;
    const std::vector<std::byte> source = values(t.rng, from, p.x.start + in.span(size_of(from)));
    std::vector<std::byte> want(p.y.start + out.span(size_of(to)), std::byte{0x5e});
    const Region x = t.region<std::byte>(source), y = t.region<std::byte>(want);
    ref::copy_tensor(from, &source[p.x.start], in, to, &want[p.y.start], out);
    launch(t.modules, kernel,
           ops::CopyTensor{.x_type = from,
                           .y_type = to,
                           .n0 = in.n[0],
                           .n1 = in.n[1],
                           .n2 = in.n[2],
                           .n3 = in.n[3],
                           .y_n0 = out.n[0],
                           .y_n1 = out.n[1],
                           .y_n2 = out.n[2],
                           .y_n3 = out.n[3],
                           .x = static_cast<const std::byte *>(x.data()) + p.x.start,
                           .y = static_cast<std::byte *>(y.data()) + p.y.start,
                           .x_s0 = in.stride[0],
                           .x_s1 = in.stride[1],
                           .x_s2 = in.stride[2],
                           .x_s3 = in.stride[3],
                           .y_s0 = out.stride[0],
                           .y_s1 = out.stride[1],
                           .y_s2 = out.stride[2],
                           .y_s3 = out.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.guards_clean("y", y, where);
    check_bytes(t, to, out, p.y.start, y.read(), want, where);
}

void rows(Test &t, const Kernel &kernel) {
    const u32 span = 32 * kernel.number("unit") * kernel.number("pieces");
    const u32 k = span + kernel.number("unit") + 1;
    if (t.entry)
        return check_case(t, kernel, {{.n = {k, 5, 1, 1}}, {.n = {k, 5, 1, 1}}});
    check_case(
        t, kernel,
        {{.n = {k, 3, 2, 2}, .order = {0, 2, 1, 3}, .pad = 24}, {.n = {k, 3, 2, 2}, .pad = 8}});
    check_case(t, kernel, {{.n = {7, 10, 3, 5}}, {.n = {5, 7, 2, 15}}}); // both contiguous
    check_case(t, kernel, {{.n = {450, 1, 1, 1}, .start = 1}, {.n = {450, 1, 1, 1}, .start = 3}});
    check_case(t, kernel,
               {{.n = {k - 2, 3, 2, 2}}, {.n = {k - 2, 3, 2, 2}, .order = {0, 3, 1, 2}}, true});
    if (t.checkers)
        return;
    const u32 unit = kernel.number("unit");
    for (const u32 n0 : {1u, unit - 1, unit, unit + 1, span - 1, span, span + 1, 2 * span + 1})
        check_case(t, kernel, {{.n = {n0, 2, 2, 1}, .pad = 5}, {.n = {n0, 2, 2, 1}, .pad = 3}});
    check_case(t, kernel, {{.n = {70001, 3, 1, 1}}, {.n = {70001, 3, 1, 1}, .pad = 1}});
}

void each(Test &t, const Kernel &kernel) {
    if (t.entry)
        return check_case(t, kernel,
                          {{.n = {20, 15, 1, 1}, .order = {1, 0, 2, 3}}, {.n = {20, 15, 1, 1}}});
    check_case(
        t, kernel,
        {{.n = {33, 5, 2, 3}, .order = {1, 0, 2, 3}, .pad = 4}, {.n = {33, 5, 2, 3}, .pad = 16}});
    check_case(t, kernel,
               {{.n = {3, 5, 7, 9}, .order = {2, 0, 1, 3}, .gap = 1},
                {.n = {9, 7, 5, 3}, .order = {3, 1, 0, 2}, .gap = 2, .pad = 8}});
    check_case(t, kernel,
               {{.n = {10, 4, 3, 2}, .pad = 7, .start = 1},
                {.n = {5, 8, 6, 1}, .order = {1, 0, 3, 2}, .pad = 3, .start = 5},
                true});
    check_case(t, kernel, {{.n = {1, 1, 1, 1}}, {.n = {1, 1, 1, 1}}});
    if (t.checkers)
        return;
    check_case(t, kernel, {{.n = {257, 1, 1, 1}}, {.n = {1, 257, 1, 1}}});
    check_case(t, kernel, {{.n = {2, 9001, 2, 1}, .order = {1, 0, 2, 3}}, {.n = {2, 9001, 2, 1}}});
    check_case(t, kernel, {{.n = {64, 3, 65, 1}, .order = {2, 0, 1, 3}}, {.n = {64, 3, 65, 1}}});
}

void turned(Test &t, const Kernel &kernel) {
    constexpr Sizes columns = {1, 0, 2, 3};
    if (t.entry)
        return check_case(t, kernel,
                          {{.n = {65, 20, 1, 1}, .order = columns}, {.n = {65, 20, 1, 1}}});
    check_case(t, kernel,
               {{.n = {70, 131, 2, 1}, .order = {1, 0, 3, 2}, .pad = 6, .start = 1},
                {.n = {70, 131, 2, 1}, .order = {0, 2, 1, 3}, .pad = 10, .start = 3}});
    check_case(t, kernel, {{.n = {16, 64, 2, 3}, .order = columns}, {.n = {16, 64, 2, 3}}});
    if (t.checkers)
        return;
    for (const u32 n : {16u, 63u, 64u, 65u, 129u})
        check_case(t, kernel,
                   {{.n = {n, 145 - n, 1, 2}, .order = columns, .pad = 2},
                    {.n = {n, 145 - n, 1, 2}, .pad = 2}});
}

} // namespace

CHECK_FAMILY(copy_tensor) {
    if (kernel.param("path") == "rows")
        rows(t, kernel);
    else if (kernel.param("path") == "turns")
        turned(t, kernel);
    else
        each(t, kernel);
}
