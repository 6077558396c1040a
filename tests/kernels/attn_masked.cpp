// SPDX-License-Identifier: MIT
// attn_masked, and attn_masked_decode for few queries: masks of every kind, sinks, layouts of
// ggml's tensors, values chosen to hurt.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "decode_case.h"
#include "ref/attn_masked.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();

struct Shape {
    u32 sq, sk, h = 2, hk = 1, b = 1;
    bool mask = true, heads_of_mask = false, batches_of_mask = false, sinks = false;
    u32 share = 0;       // keys of a workgroup of attn_masked_decode, 0: the contract's
    bool padded = false; // NaN between heads, tokens and batches; heads are outside of tokens in k
};

bool in_parts(const Kernel &kernel) { return kernel.family == "attn_masked_decode"; }

u16 half(f64 x) { return round_to(Dtype::f16, x); }

struct Case : Shape {
    u32 d;
    f32 scale;
    std::vector<f32> q;        // [b, s, h, d]
    std::vector<u16> k, v;     // [b, s, h, d]
    std::vector<u16> hidden;   // the mask, [b or 1, h or 1, sq, sk]
    std::vector<f32> sinks_of; // [h]

    Case(const Kernel &kernel, const Shape &s, Rng &rng, f32 sigma = 1)
        : Shape(s), d(kernel.p.d), scale(1 / std::sqrt(static_cast<f32>(d))),
          q(u64{b} * sq * h * d), k(u64{b} * sk * hk * d), v(k.size()),
          hidden(mask ? u64{masks_b()} * masks_h() * sq * sk : 0) {
        for (f32 &x : q)
            x = sigma * static_cast<f32>(rng.normal());
        for (std::vector<u16> *x : {&k, &v})
            for (u16 &word : *x)
                word = half(sigma * rng.normal());
        for (u32 i = 0; sinks && i < h; ++i)
            sinks_of.push_back(static_cast<f32>(3 * rng.normal()));
    }
    u32 masks_b() const { return batches_of_mask ? b : 1; }
    u32 masks_h() const { return heads_of_mask ? h : 1; }
    // mask = value(batch, head, query, key)
    Case &&with(const auto &value) && {
        for (u64 at = 0; at < hidden.size(); ++at) {
            const u64 row = at / sk;
            hidden[at] = half(value(static_cast<u32>(row / sq / masks_h()),
                                    static_cast<u32>(row / sq % masks_h()),
                                    static_cast<u32>(row % sq), static_cast<u32>(at % sk)));
        }
        return std::move(*this);
    }
    Case &&causal() && {
        const i64 ahead = i64{sk} - sq;
        return std::move(*this).with(
            [=](u32, u32, i64 i, i64 j) { return j <= i + ahead ? 0 : -infinity; });
    }
};

// A tensor in memory, strides in bytes; NaN where it has no element.
struct Placed {
    u64 b, s, h;
    std::vector<u8> bytes;

    template <class T>
    Placed(const Shape &p, const std::vector<T> &words, u32 rows, u32 heads, u32 d, bool by_head) {
        const u64 row = sizeof(T) * d, gap = p.padded ? 16 : 0;
        h = by_head ? (row + gap) * rows : row + gap;
        s = by_head ? row + gap : (row + gap) * heads + 2 * gap;
        b = (row + gap) * rows * heads + 2 * gap * rows;
        bytes.assign(b * p.b, 0xff);
        for (u64 i = 0; i < words.size() / d; ++i)
            std::memcpy(&bytes[at(i / heads / rows, i / heads % rows, i % heads)], &words[i * d],
                        row);
    }
    u64 at(u64 batch, u64 row, u64 head) const { return batch * b + row * s + head * h; }
};

// Rows of the mask, of 16 bytes more than their keys where the case is padded.
std::vector<u16> placed_mask(const Case &p, u32 row) {
    std::vector<u16> out(p.hidden.size() / p.sk * row, 0x7e00);
    for (u64 i = 0; i < p.hidden.size() / p.sk; ++i)
        std::copy_n(&p.hidden[i * p.sk], p.sk, &out[i * row]);
    return out;
}

std::vector<f32> run(Test &t, const Kernel &kernel, const Case &p, std::source_location where) {
    Op op{.kind = OpKind::attention_masked};
    op.b = p.b, op.sq = p.sq, op.sk = p.sk, op.h = p.h, op.hk = p.hk, op.d = p.d;
    op.scale = std::bit_cast<u32>(p.scale);
    std::vector<std::pair<const char *, Region>> inputs;
    const auto input = [&](const char *name, const auto &content) {
        return address(inputs.emplace_back(name, t.region(std::span(content))).second.data());
    };
    const Placed q(p, p.q, p.sq, p.h, p.d, false), k(p, p.k, p.sk, p.hk, p.d, p.padded),
        v(p, p.v, p.sk, p.hk, p.d, false), blank(p, std::vector<f32>(), p.sq, p.h, p.d, false);
    op.q = input("q", q.bytes), op.q_b = q.b, op.q_s = q.s, op.q_h = q.h;
    op.k = input("k", k.bytes), op.k_b = k.b, op.k_s = k.s, op.k_h = k.h;
    op.v = input("v", v.bytes), op.v_b = v.b, op.v_s = v.s, op.v_h = v.h;
    if (p.mask) {
        const u32 row = p.sk + (p.padded ? 8 : 0);
        op.mask = input("mask", placed_mask(p, row));
        op.mask_s = 2 * u64{row};
        op.mask_h = p.heads_of_mask ? op.mask_s * p.sq : 0;
        op.mask_b = p.batches_of_mask ? op.mask_s * p.sq * p.masks_h() : 0;
    }
    if (p.sinks)
        op.sinks = input("sinks", p.sinks_of);
    const Region o = t.region<u8>(blank.bytes);
    op.o = address(o.data()), op.o_b = blank.b, op.o_s = blank.s, op.o_h = blank.h;
    if (in_parts(kernel) && p.share)
        op.share = p.share;
    const Machine machine = usual_machine(kernel.gfx);
    const u64 bytes =
        in_parts(kernel)
            ? check::scratch_bytes(kernel, check::derived(kernel, op, machine), machine, &Op::parts)
            : 0;
    const Region parts = t.region<u8>(std::vector<u8>(bytes, 0xff)),
                 arrived = t.region<i32>(std::vector<i32>(u64{p.b} * p.h * p.sq, 0));
    if (in_parts(kernel))
        op.parts = address(parts.data()), op.arrived = address(arrived.data());
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : inputs)
        t.unchanged(name, region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("parts", parts, where);
    t.unchanged("arrived", arrived, where); // 0 again

    std::vector<f32> out(p.q.size());
    std::vector<u8> got = o.read_as<u8>();
    for (u64 i = 0; i < out.size() / p.d; ++i) {
        u8 *const row = &got[blank.at(i / p.h / p.sq, i / p.h % p.sq, i % p.h)];
        std::memcpy(&out[i * p.d], row, 4 * u64{p.d});
        std::memset(row, 0xff, 4 * u64{p.d});
    }
    if (got != blank.bytes)
        t.fail("o: something was written between rows", where);
    return out;
}

ref::MaskedResult exact_of(const Case &p) {
    const u64 q_row = u64{p.h} * p.d, k_row = u64{p.hk} * p.d, masks = u64{p.sq} * p.sk;
    ref::AttnMasked a{p.b, p.sq, p.sk, p.h, p.hk, p.d, p.scale};
    a.q = {p.q, p.sq * q_row, q_row, p.d};
    a.k = {p.k, p.sk * k_row, k_row, p.d}, a.v = {p.v, p.sk * k_row, k_row, p.d};
    a.mask = {p.hidden, p.batches_of_mask ? masks * p.masks_h() : 0, p.sk,
              p.heads_of_mask ? masks : 0};
    a.sinks = p.sinks_of;
    a.least_p = 0x1p-15; // the largest p of a row may be 2^-9, and p of f16 lose up to 2^-24
    return ref::attn_masked(a);
}

// As check/attn_bound.h has it for f16: p and its sum are off by half of 2^-10 from what they have
// in common; logits are f32 sums.
void check_output(Test &t, const Case &p, const std::vector<f32> &got, std::source_location where) {
    const ref::MaskedResult exact = exact_of(p);
    for (u64 i = 0; i < got.size(); ++i) {
        const f64 want = exact.o[i], of_logits = 0x1p-20 * (4 + exact.logit[i / p.d]);
        const f64 bound = (0x1p-11 + of_logits) * (exact.abs[i] + std::abs(want)) + exact.small[i];
        const bool right = std::isnan(want) ? std::isnan(got[i]) : std::abs(got[i] - want) <= bound;
        if (!right)
            return t.fail(fmt::format("o[{},{},{}] is {}, not {} +- {}", i / p.d / p.h,
                                      i / p.d % p.h, i % p.d, got[i], want, bound),
                          where);
    }
}

void say(Test &t, const Case &p, std::string_view what) {
    t.shape(fmt::format("b={} sq={} sk={} h={}/{}{}{} {}", p.b, p.sq, p.sk, p.h, p.hk,
                        p.mask ? " mask" : "", p.sinks ? " sinks" : "", what));
}

void check_case(Test &t, const Kernel &kernel, const Case &p, std::string_view what = "",
                std::source_location where = std::source_location::current()) {
    say(t, p, what);
    check_output(t, p, run(t, kernel, p, where), where);
}

// attn_masked_decode has 8 queries at most.
Case random(Test &t, const Kernel &kernel, Shape s, f32 sigma = 1) {
    if (in_parts(kernel))
        s.sq = (s.sq - 1) % 8 + 1;
    return Case(kernel, s, t.rng, sigma);
}

// ---- sizes

void sizes(Test &t, const Kernel &kernel) {
    for (u32 sk : {8u, 56u, 64u, 72u, 128u, 136u, 264u})
        for (u32 sq : {1u, 17u, 129u})
            check_case(t, kernel, random(t, kernel, {sq, sk}).causal(), "causal");
    for (u32 sk : {1u, 63u, 65u, 129u, 300u})
        check_case(t, kernel, random(t, kernel, {130, sk, 2, 1, 1, false}), "no mask");
    for (const auto &[h, hk] : {std::pair{4u, 1u}, {4u, 4u}, {8u, 1u}, {6u, 3u}})
        check_case(t, kernel, random(t, kernel, {70, 72, h, hk, 2}).causal(), "heads");
}

// ---- masks

void masks(Test &t, const Kernel &kernel) {
    const auto any = [&](u32, u32, u32, u32) {
        return t.rng.below(2) ? -infinity : 2 * t.rng.normal();
    };
    check_case(t, kernel, random(t, kernel, {150, 200}).with(any), "any");
    check_case(t, kernel, random(t, kernel, {20, 200, 4, 2, 2, true, true, true}).with(any),
               "of each head and batch");
    check_case(t, kernel, random(t, kernel, {20, 200, 4, 2, 2, true, false, true}).with(any),
               "of each batch");
    check_case(t, kernel, random(t, kernel, {20, 200, 4, 2, 2, true, true}).with(any),
               "of each head");
    check_case(t, kernel, random(t, kernel, {260, 400}).with([](u32, u32, i64 i, i64 j) {
        return j <= i + 140 && j > i + 100 ? 0 : -infinity;
    }),
               "a window");
    check_case(t, kernel, random(t, kernel, {140, 400}).with([](u32, u32, u32 i, u32 j) {
        return i % 3 == j / 130 ? 0 : -infinity;
    }),
               "several sequences");
    check_case(t, kernel, random(t, kernel, {140, 400}).with([](u32, u32, u32 i, u32 j) {
        return i % 5 == 1 || j / 64 == 3 ? -infinity : -0.125 * j;
    }),
               "rows and stages that see nothing");
    check_case(t, kernel,
               random(t, kernel, {140, 136}).with([](u32, u32, u32, u32) { return -infinity; }),
               "nothing seen");
    check_case(t, kernel, random(t, kernel, {140, 400}).with([](u32, u32, u32 i, u32 j) {
        return i == 5 && j == 333 ? 0 : -infinity;
    }),
               "one key for one query");
    check_case(t, kernel, random(t, kernel, {30, 264}).with([](u32, u32, u32, u32 j) {
        return j % 2 ? -65504 : 0;
    }),
               "very low");
    check_case(t, kernel, random(t, kernel, {8, 200, 32, 2}).with(any), "tiles of a key head");
    check_case(t, kernel, random(t, kernel, {2, 9000, 1}).with([](u32, u32, u32, u32 j) {
        return j / 500 % 4 == 2 || j > 8990 ? 0 : -infinity;
    }),
               "many stages");
}

void sinks(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {140, 136, 4, 2, 2, true, false, false, true}).causal();
    check_case(t, kernel, p);
    p.sinks_of = {30, -30, 0, static_cast<f32>(-infinity)};
    check_case(t, kernel, p, "far from the logits");
    std::ranges::fill(p.hidden, half(-infinity));
    p.sinks_of = {30, -30, 0, 1};
    check_case(t, kernel, p, "nothing seen");
    check_case(t, kernel, random(t, kernel, {33, 65, 2, 1, 1, false, false, false, true}));
}

// ---- values

void maxima(Test &t, const Kernel &kernel) {
    for (u32 at : {0u, 70u, 200u, 295u})
        for (f64 height : {5.0, -40.0}) {
            Case p = random(t, kernel, {300, 296}, 0.3f).causal();
            for (u64 i = 0; i < u64{p.sq} * p.h; ++i)
                p.q[i * p.d] = 0.25f + static_cast<f32>(i % 16) * 0.25f;
            p.k[u64{at} * p.d] = half(height / p.scale);
            check_case(t, kernel, p, height > 0 ? "one large key" : "one very small key");
        }
    for (int direction : {1, -1})
        check_case(t, kernel, random(t, kernel, {140, 296}, 0.3f).with([&](u32, u32, u32 i, u32 j) {
            return direction * (static_cast<f64>(j / 16) - 6) * (1 + i % 7 * 0.3);
        }),
                   direction > 0 ? "masks that rise" : "masks that fall");
    check_case(t, kernel, random(t, kernel, {130, 264}, 3).causal(), "steep");
}

void plain_values(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {130, 136}).causal();
    std::ranges::fill(p.q, 0.0f);
    check_case(t, kernel, p, "q = 0");
    p = random(t, kernel, {130, 136}).causal();
    std::ranges::fill(p.v, u16{0});
    for (u32 j = 0; j < p.sk; ++j)
        p.v[u64{j} * p.d + j % p.d] = half(1);
    check_case(t, kernel, p, "v one-hot");
    p = random(t, kernel, {100, 104}).causal();
    for (u64 i = 0; i < p.v.size(); ++i) // each query sees a v that those before it must not
        p.v[i] = half(std::ldexp(1.0, static_cast<int>(i / p.d / 8)));
    check_case(t, kernel, p, "values that double");
    p = random(t, kernel, {40, 72}).causal();
    for (f32 &x : p.q)
        x *= 1 + 0x1p-11f; // halfway between two f16
    check_case(t, kernel, p, "q that is rounded");
    p = random(t, kernel, {40, 72}).causal();
    p.scale = 0x1p-40f;
    check_case(t, kernel, p, "a small scale");
}

void not_finite(Test &t, const Kernel &kernel) {
    for (f64 value : {f64{NAN}, infinity, -infinity}) {
        Case p = random(t, kernel, {100, 200}).causal();
        p.q[u64{77 % p.sq} * p.h * p.d + 5] = static_cast<f32>(value);
        check_case(t, kernel, p, fmt::format("{} in q", value));
    }
    Case p = random(t, kernel, {100, 200}).causal();
    p.q[u64{77 % p.sq} * p.h * p.d + 5] = 70000; // no f16
    check_case(t, kernel, p, "q beyond f16");
    p = random(t, kernel, {100, 200}).causal();
    p.hidden[u64{50 % p.sq} * p.sk + 60] = half(NAN);
    check_case(t, kernel, p, "NaN in the mask");
}

void all(Test &t, const Kernel &kernel) {
    if (t.entry)
        return check_case(t, kernel, random(t, kernel, {3, 8}).causal(), "entry");
    const u32 least = kernel.p.bk * kernel.block / 32; // keys of a workgroup of attn_masked_decode
    const Shape every{150, 328, 2, 1, 1, true, true, false, true, least, true};
    check_case(t, kernel, random(t, kernel, every).causal(), "every path");
    check_case(t, kernel, random(t, kernel, {5, 70, 2, 1, 2, false}), "every path");
    if (t.checkers)
        return;
    maxima(t, kernel);
    if (!thorough(t, kernel))
        return;
    sizes(t, kernel);
    masks(t, kernel);
    sinks(t, kernel);
    plain_values(t, kernel);
    not_finite(t, kernel);
    Case p = random(t, kernel, {300, 296, 4, 2}).causal();
    say(t, p, "twice");
    const auto here = std::source_location::current();
    if (run(t, kernel, p, here) != run(t, kernel, p, here))
        t.fail("o differs", here);
}

} // namespace

CHECK_FAMILY(attn_masked) { all(t, kernel); }
CHECK_FAMILY(attn_masked_decode) { all(t, kernel); }
