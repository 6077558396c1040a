// SPDX-License-Identifier: MIT
// attn_flash: within what its contract states of the f64 reference; types of keys and values, sizes
// of heads, masks of any length, ALiBi, soft cap, sinks, layouts, and both divisions of the work.
#include "ref/attn_flash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"
#include "decode_case.h"
#include "formats/gguf/gguf_blocks.h"
#include "ref/gguf.h"
#include "runtime/words.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();

struct Shape {
    u32 sq, sk, h = 2, hk = 1, b = 1;
    u32 less = 0;    // of the largest size of heads
    u32 mask_n2 = 0; // 0: no mask
    u32 mask_n3 = 1;
    bool sinks = false, shared = false; // shared: one sequence's keys for all
    f32 max_bias = 0, softcap = 0, sigma = 1;
    u32 share = 0; // keys of a workgroup; 0: the contract's
    u64 gap = 0;   // bytes between rows and heads, a multiple of 4
};

struct Types {
    std::string_view k, v;
};

// Rows of elements of a type: their bytes, and their values.
struct Rows {
    u64 row_bytes;
    std::vector<u8> bytes;
    std::vector<f32> values;
};

u32 block_of(std::string_view type) { return find_ggml_type(type)->elements; }

u16 half(f64 x) { return round_to(Dtype::f16, x); }

// Blocks of the quantized types have any quants, and a d of either sign.
void fill_row(std::string_view type, u8 *row, u32 d, f32 sigma, Rng &rng) {
    const auto put = [&](u64 at, auto word) {
        std::memcpy(row + at * sizeof word, &word, sizeof word);
    };
    for (u32 i = 0; i < d / block_of(type); ++i) {
        const f64 x = sigma * rng.normal();
        if (type == "f32")
            put(i, static_cast<f32>(x));
        else if (type == "f16" || type == "bf16")
            put(i, round_to(type == "f16" ? Dtype::f16 : Dtype::bf16, x));
        else if (type == "q8_0") {
            BlockQ8_0 block{half(x / 64), {}};
            for (i8 &q : block.qs)
                q = static_cast<i8>(rng.below(256));
            put(i, block);
        } else {
            BlockQ4_0 block{half(x / 4), {}};
            for (u8 &q : block.qs)
                q = static_cast<u8>(rng.below(256));
            put(i, block);
        }
    }
}

Rows rows_of(std::string_view type, u64 rows, u32 d, f32 sigma, Rng &rng) {
    const GgmlTypeInfo &facts = *find_ggml_type(type);
    Rows out{d / facts.elements * u64{facts.bytes}, {}, {}};
    out.bytes.resize(rows * out.row_bytes), out.values.resize(rows * d);
    for (u64 i = 0; i < rows; ++i)
        fill_row(type, &out.bytes[i * out.row_bytes], d, sigma, rng);
    return out;
}

void decode(std::string_view type, Rows &rows, u32 d) {
    for (u64 i = 0; i < rows.values.size() / d; ++i)
        ref::dequantize_row(find_ggml_type(type)->id,
                            reinterpret_cast<const std::byte *>(&rows.bytes[i * rows.row_bytes]), d,
                            &rows.values[i * d]);
}

struct Case : Shape {
    Types types;
    u32 d, d_v;
    f32 scale;
    std::vector<f32> q, mask, sinks_of;
    Rows k, v;

    Case(const Kernel &kernel, const Types &of, const Shape &s, Rng &rng)
        : Shape(s), types(of), d(kernel.number("d") - s.less), d_v(kernel.number("dv") - s.less),
          scale(1 / std::sqrt(static_cast<f32>(d))), q(u64{b} * sq * h * d),
          mask(u64{mask_n3} * mask_n2 * sq * sk), k(rows_of(of.k, keys(), d, sigma, rng)),
          v(rows_of(of.v, keys(), d_v, 1, rng)) {
        for (f32 &x : q)
            x = sigma * static_cast<f32>(rng.normal());
        for (u32 i = 0; sinks && i < h; ++i)
            sinks_of.push_back(static_cast<f32>(3 * rng.normal()));
        decoded();
    }
    u64 keys() const { return u64{shared ? 1 : b} * sk * hk; }
    void decoded() { decode(types.k, k, d), decode(types.v, v, d_v); }
    // mask = value(batch, head, query, key), rounded to f16
    Case &&with(const auto &value) && {
        for (u64 at = 0; at < mask.size(); ++at) {
            const u64 row = at / sk;
            mask[at] = f16_to_f32(half(
                value(static_cast<u32>(row / sq / mask_n2), static_cast<u32>(row / sq % mask_n2),
                      static_cast<u32>(row % sq), static_cast<u32>(at % sk))));
        }
        return std::move(*this);
    }
    Case &&causal() && {
        const i64 ahead = i64{sk} - sq;
        return std::move(*this).with(
            [=](u32, u32, i64 i, i64 j) { return j <= i + ahead ? 0 : -infinity; });
    }
};

// Rows in memory, as ggml permutes them: heads outside of tokens or inside; NaN between them.
struct Placed {
    u64 b, s, h;
    std::vector<u8> bytes;

    Placed(std::span<const u8> content, u64 row, u32 batches, u32 tokens, u32 heads, u64 gap,
           bool by_head) {
        h = by_head ? (row + gap) * tokens : row + gap;
        s = by_head ? row + gap : (row + gap) * heads;
        b = (row + gap) * tokens * heads;
        bytes.assign(b * batches - gap, 0xff);
        for (u64 i = 0; i < content.size() / row; ++i)
            std::memcpy(&bytes[at(i / heads / tokens, i / heads % tokens, i % heads)],
                        &content[i * row], row);
    }
    u64 at(u64 batch, u64 row, u64 head) const { return batch * b + row * s + head * h; }
};

std::span<const u8> bytes_of(const std::vector<f32> &x) {
    return {reinterpret_cast<const u8 *>(x.data()), x.size() * sizeof(f32)};
}

std::vector<f32> run(Test &t, const Kernel &kernel, const Case &p, std::source_location where) {
    Op op{.kind = OpKind::flash_attention};
    op.k_type = find_word(p.types.k), op.v_type = find_word(p.types.v);
    op.b = p.b, op.sq = p.sq, op.sk = p.sk, op.h = p.h, op.hk = p.hk, op.d = p.d, op.d_v = p.d_v;
    op.scale = std::bit_cast<u32>(p.scale), op.max_bias = std::bit_cast<u32>(p.max_bias);
    op.softcap = std::bit_cast<u32>(p.softcap);
    op.mask_n2 = std::max(p.mask_n2, 1u), op.mask_n3 = p.mask_n3;
    std::vector<std::pair<const char *, Region>> inputs;
    const auto input = [&](const char *name, const auto &content) {
        return address(inputs.emplace_back(name, t.region(std::span(content))).second.data());
    };
    const u32 batches = p.shared ? 1 : p.b;
    const Placed q(bytes_of(p.q), 4 * u64{p.d}, p.b, p.sq, p.h, p.gap, p.gap != 0),
        k(p.k.bytes, p.k.row_bytes, batches, p.sk, p.hk, p.gap, p.gap != 0),
        v(p.v.bytes, p.v.row_bytes, batches, p.sk, p.hk, 2 * p.gap, false),
        blank({}, 4 * u64{p.d_v}, p.b, p.sq, p.h, p.gap, false);
    op.q = input("q", q.bytes), op.q_b = q.b, op.q_s = q.s, op.q_h = q.h;
    op.k = input("k", k.bytes), op.k_b = p.shared ? 0 : k.b, op.k_s = k.s, op.k_h = k.h;
    op.v = input("v", v.bytes), op.v_b = p.shared ? 0 : v.b, op.v_s = v.s, op.v_h = v.h;
    if (p.mask_n2) {
        const u32 row = p.sk + static_cast<u32>(p.gap / 4); // halves
        std::vector<u16> words(p.mask.size() / p.sk * row - (row - p.sk), 0x7e00);
        for (u64 i = 0; i < p.mask.size(); ++i)
            words[i / p.sk * row + i % p.sk] = f32_to_f16(p.mask[i]);
        op.mask = input("mask", words);
        op.mask_s = 2 * u64{row}, op.mask_h = op.mask_s * p.sq, op.mask_b = op.mask_h * p.mask_n2;
    }
    if (p.sinks)
        op.sinks = input("sinks", p.sinks_of);
    const Region o = t.region<u8>(blank.bytes);
    op.o = address(o.data()), op.o_b = blank.b, op.o_s = blank.s, op.o_h = blank.h;
    if (p.share)
        op.share = p.share;
    const Machine machine = usual_machine(kernel.gfx);
    const Op all = check::derived(kernel, op, machine);
    const Region parts = t.region<u8>(
                     std::vector<u8>(check::scratch_bytes(kernel, all, machine, &Op::parts), 0xff)),
                 arrived = t.region<i32>(std::vector<i32>(u64{p.b} * p.h * p.sq, 0));
    op.parts = address(parts.data()), op.arrived = address(arrived.data());
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : inputs)
        t.unchanged(name, region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("parts", parts, where);
    t.unchanged("arrived", arrived, where); // 0 again

    std::vector<f32> out(u64{p.b} * p.sq * p.h * p.d_v);
    std::vector<u8> got = o.read_as<u8>();
    for (u64 i = 0; i < out.size() / p.d_v; ++i) {
        u8 *const row = &got[blank.at(i / p.h / p.sq, i / p.h % p.sq, i % p.h)];
        std::memcpy(&out[i * p.d_v], row, 4 * u64{p.d_v});
        std::memset(row, 0xff, 4 * u64{p.d_v});
    }
    if (got != blank.bytes)
        t.fail("o: something was written between rows", where);
    return out;
}

// The contract's bound.
void check_output(Test &t, const Kernel &kernel, const Case &p, const std::vector<f32> &got,
                  std::source_location where) {
    ref::AttnFlash a{p.b, p.sq, p.sk, p.h, p.hk, p.d, p.d_v, p.scale, p.max_bias, p.softcap};
    a.q = p.q, a.k = p.k.values, a.v = p.v.values, a.mask = p.mask, a.sinks = p.sinks_of;
    a.k_b = p.shared ? 1 : p.b, a.mask_n2 = std::max(p.mask_n2, 1u), a.mask_n3 = p.mask_n3;
    const ref::FlashResult exact = ref::attn_flash(a);
    const f64 sums = p.sk / static_cast<f64>(kernel.number("bk")) + 40;
    for (u64 i = 0; i < got.size(); ++i) {
        const f64 want = exact.o[i], of_logits = (8 * p.d / 256 + 16) * exact.size[i / p.d_v];
        const f64 bound = 0x1p-23 * (sums + of_logits) * (exact.abs[i] + std::abs(want)) + 0x1p-125;
        const bool right = std::isnan(want) ? std::isnan(got[i]) : std::abs(got[i] - want) <= bound;
        if (!right)
            return t.fail(fmt::format("o[{},{},{}] is {}, not {} +- {}", i / p.d_v / p.h,
                                      i / p.d_v % p.h, i % p.d_v, got[i], want, bound),
                          where);
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p, std::string_view what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} {} b={} sq={} sk={} h={}/{} d={}/{} mask={} {}", p.types.k, p.types.v,
                        p.b, p.sq, p.sk, p.h, p.hk, p.d, p.d_v, p.mask_n2, what));
    check_output(t, kernel, p, run(t, kernel, p, where), where);
}

f64 any(Rng &rng) { return rng.below(2) ? -infinity : 2 * rng.normal(); }

struct Kind {
    Test &t;
    const Kernel &kernel;
    Types types;
    u32 least; // keys of a workgroup at a time
    u32 step;  // of sizes of heads

    Case make(const Shape &s) const { return Case(kernel, types, s, t.rng); }
    void check(const Case &p, std::string_view what,
               std::source_location where = std::source_location::current()) const {
        check_case(t, kernel, p, what, where);
    }
};

// Each path of the template: parts of keys, padded layouts, a last stage, all that changes logits.
void paths(const Kind &k) {
    const u32 rows = k.kernel.number("rows");
    k.check(k.make({.sq = rows + 1,
                    .sk = 3 * k.least + 5,
                    .h = 4,
                    .hk = 2,
                    .b = 2,
                    .mask_n2 = 2,
                    .mask_n3 = 2,
                    .sinks = true,
                    .max_bias = 4,
                    .share = k.least,
                    .gap = 16})
                .with([&](u32, u32, u32, u32) { return any(k.t.rng); }),
            "parts");
    k.check(k.make({.sq = 3, .sk = 2 * k.least, .h = 3, .less = k.step, .mask_n2 = 1, .softcap = 5})
                .causal(),
            "soft cap");
    const u32 wgps = usual_machine(k.kernel.gfx).wgps;
    k.check(k.make({.sq = 4 * rows * ceil_div(wgps, 2u) - 1,
                    .sk = 13,
                    .b = 2,
                    .mask_n2 = 1,
                    .sinks = true,
                    .shared = true})
                .causal(),
            "queries of each wave");
    k.check(k.make({.sq = 2, .sk = k.least + 1}), "no mask");
}

void sizes(const Kind &k) {
    const u32 d = k.kernel.number("dv");
    for (u32 less : {k.step, d / 2 - k.step, d - k.step})
        k.check(k.make({.sq = 5, .sk = 50, .less = less}), "sizes of heads");
    for (u32 sk : {1u, 2u, 3u, 7u, 8u, 9u, 31u, 33u, 113u, k.least - 1, k.least, 5 * k.least + 3})
        k.check(k.make({.sq = 3, .sk = sk, .mask_n2 = 1, .gap = sk % 2 * 4u})
                    .with([&](u32, u32, u32, u32) { return k.t.rng.normal(); }),
                "keys");
    for (const auto &[h, hk] : {std::pair{1u, 1u}, {12u, 12u}, {12u, 1u}, {6u, 3u}, {40u, 2u}})
        k.check(k.make({.sq = 2, .sk = 70, .h = h, .hk = hk, .b = 2, .mask_n2 = h, .max_bias = 8})
                    .causal(),
                "heads");
    k.check(k.make({.sq = 33, .sk = 40, .h = 4, .hk = 2, .b = 3, .mask_n2 = 1}).causal(),
            "queries");
}

void masks(const Kind &k) {
    k.check(k.make({.sq = 6, .sk = 8 * k.least, .mask_n2 = 1, .share = 2 * k.least})
                .with([&](u32, u32, u32 i, u32 j) { return j / k.least == i ? 0 : -infinity; }),
            "hidden parts");
    k.check(k.make({.sq = 6, .sk = 2 * k.least, .mask_n2 = 1}).with([](u32, u32, u32, u32) {
        return -infinity;
    }),
            "nothing seen");
    Case p = k.make({.sq = 2, .sk = k.least, .h = 4, .mask_n2 = 4, .sinks = true})
                 .with([](u32, u32 h, u32, u32) { return h % 2 ? -infinity : 0; });
    p.sinks_of = {30, -30, -infinity, 1};
    k.check(p, "sinks alone");
    k.check(k.make({.sq = 3, .sk = 2 * k.least, .mask_n2 = 1}).with([](u32, u32, u32, u32 j) {
        return j % 2 ? -65504 : 0;
    }),
            "very low");
    k.check(k.make({.sq = 3, .sk = 2 * k.least, .mask_n2 = 1}).with([&](u32, u32, u32, u32) {
        return k.t.rng.below(9) ? -65504 : -infinity;
    }),
            "all very low");
}

void values(const Kind &k) {
    k.check(k.make({.sq = 4, .sk = 3 * k.least, .sigma = 4}), "steep");
    k.check(k.make({.sq = 4, .sk = 3 * k.least, .softcap = 30, .sigma = 4}), "steep, capped");
    Case p = k.make({.sq = 4, .sk = 2 * k.least});
    for (f32 &x : p.q)
        x *= 0x1p80f;
    p.scale *= 0x1p-80f;
    k.check(p, "large q");
    p.scale = 0;
    k.check(p, "scale 0");
    for (f32 value : {NAN, infinity, -infinity}) {
        p = k.make({.sq = 4, .sk = 2 * k.least});
        p.q[5] = value;
        k.check(p, "not finite");
    }
    p = k.make({.sq = 3, .sk = 2 * k.least, .mask_n2 = 1}).causal();
    p.mask[p.sk + 3] = NAN;
    k.check(p, "NaN in the mask");
    if (k.types.k == "f32" && k.types.v == "f32") {
        for (u64 i = 0; i < p.v.bytes.size() / 4; ++i) {
            const f32 x = i % 3 ? 0x1p120f : -0x1p119f;
            std::memcpy(&p.v.bytes[4 * i], &x, 4);
        }
        p.decoded();
        k.check(p, "large v");
    }
}

void all(Test &t, const Kernel &kernel, const Types &types) {
    const u32 waves = kernel.block / 32,
              step = std::max({8u, block_of(types.k), block_of(types.v)});
    const Kind k{t, kernel, types, waves * kernel.number("bk"), step};
    if (t.entry)
        return k.check(k.make({.sq = 2, .sk = k.least + 3, .mask_n2 = 1}).causal(), "entry");
    paths(k);
    if (t.checkers || !thorough(t, kernel))
        return;
    sizes(k);
    masks(k);
    values(k);
    const Case p = k.make({.sq = 3, .sk = 9 * k.least, .share = 2 * k.least});
    const auto here = std::source_location::current();
    if (run(t, kernel, p, here) != run(t, kernel, p, here))
        t.fail("o differs from launch to launch", here);
}

} // namespace

CHECK_FAMILY(attn_flash) {
    if (kernel.param("kv") != "any")
        return all(t, kernel, {kernel.param("kv"), kernel.param("kv")});
    for (const Types &types : {Types{"bf16", "bf16"},
                               {"f32", "f32"},
                               {"q8_0", "q4_0"},
                               {"q4_0", "f16"},
                               {"f16", "q8_0"}}) {
        all(t, kernel, types);
        if (t.entry) // one launch
            return;
    }
}
