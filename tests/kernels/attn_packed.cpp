// SPDX-License-Identifier: MIT
// Each of several packed sequences gives the same bits as alone; attn_forward.cpp checks single
// sequences.
#include "attn_packed.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "base/half.h"
#include "check/ops.h"
#include "decode_case.h"

namespace nw::check {

namespace {

constexpr u32 h = 4, hk = 2;

struct Sequences {
    std::vector<i32> q_start, k_start;
    u32 sq, sk, tq, tk;
    bool causal;
};

struct Words {
    u32 d;
    Dtype dtype;
    std::vector<u16> q, k, v; // [token, head, d]
};

Op op_of(const Words &w, u32 b, u32 sq, u32 sk, bool causal) {
    Op op{.kind = OpKind::attention};
    op.dtype = word_of(w.dtype), op.kv = word("same");
    op.b = b, op.sq = sq, op.sk = sk, op.h = h, op.hk = hk, op.d = w.d, op.causal = causal;
    op.scale = std::bit_cast<u32>(1 / std::sqrt(static_cast<f32>(w.d)));
    op.q_h = op.k_h = op.v_h = op.o_h = 2 * u64{w.d};
    op.q_s = op.o_s = h * op.q_h, op.k_s = op.v_s = hk * op.k_h;
    op.q_b = op.o_b = sq * op.q_s, op.k_b = op.v_b = sk * op.k_s;
    return op;
}

// o of tokens that no sequence has stays as it was.
constexpr u16 untouched = 0x1234;

std::vector<u16> run(Test &t, const Kernel &kernel, const Words &w, Op op, u64 tokens,
                     const Sequences *s, std::source_location where) {
    const Region q = t.region<u16>(w.q), k = t.region<u16>(w.k), v = t.region<u16>(w.v),
                 o = t.region<u16>(std::vector<u16>(tokens * h * w.d, untouched)),
                 lse = t.region<f32>(std::vector<f32>(op.b * h * op.sq, NAN)),
                 q_start = t.region<i32>(s ? s->q_start : std::vector<i32>(1)),
                 k_start = t.region<i32>(s ? s->k_start : std::vector<i32>(1));
    op.q = address(q.data()), op.k = address(k.data()), op.v = address(v.data());
    op.o = address(o.data()), op.lse = address(lse.data());
    if (s) {
        op.q_start = address(q_start.data()), op.k_start = address(k_start.data());
        op.tq = s->tq, op.tk = s->tk;
    }
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : {std::pair{"q", &q}, {"k", &k}, {"v", &v}})
        t.unchanged(name, *region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("lse", lse, where);
    return o.read_as<u16>();
}

// Tokens from `first` on.
std::vector<u16> tokens_of(const std::vector<u16> &x, u64 first, u64 count, u64 row) {
    const auto begin = x.begin() + static_cast<i64>(first * row);
    return {begin, begin + static_cast<i64>(count * row)};
}

void check_sequences(Test &t, const Kernel &kernel, const Sequences &s,
                     std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("{} sequences, {} and {} tokens, {}", s.q_start.size() - 1, s.tq, s.tk,
                        s.causal ? "causal" : "all keys"));
    Words w{kernel.p.d, dtype_of(kernel), {}, {}, {}};
    const u64 q_row = u64{h} * w.d, k_row = u64{hk} * w.d;
    w.q.resize(s.tq * q_row), w.k.resize(s.tk * k_row), w.v.resize(s.tk * k_row);
    for (std::vector<u16> *x : {&w.q, &w.k, &w.v})
        for (u16 &word : *x)
            word = round_to(w.dtype, t.rng.normal());
    const u32 b = static_cast<u32>(s.q_start.size() - 1);
    const std::vector<u16> got =
        run(t, kernel, w, op_of(w, b, s.sq, s.sk, s.causal), s.tq, &s, where);
    std::vector<u16> want(got.size(), untouched);
    const auto place = [](i32 entry, u32 tokens) {
        return std::min(static_cast<u32>(entry), tokens);
    };
    for (u32 i = 0; i < b; ++i) {
        const u32 q0 = place(s.q_start[i], s.tq), k0 = place(s.k_start[i], s.tk);
        const u32 q1 = place(s.q_start[i + 1], s.tq), k1 = place(s.k_start[i + 1], s.tk);
        const u32 rows = q1 > q0 ? std::min(q1 - q0, s.sq) : 0,
                  keys = k1 > k0 ? std::min(k1 - k0, s.sk) : 0;
        std::vector<u16> own(rows * q_row, 0); // where there is no key
        if (rows && keys && !(s.causal && rows > keys))
            own = run(t, kernel,
                      {w.d, w.dtype, tokens_of(w.q, q0, rows, q_row),
                       tokens_of(w.k, k0, keys, k_row), tokens_of(w.v, k0, keys, k_row)},
                      op_of(w, 1, rows, keys, s.causal), rows, nullptr, where);
        else if (rows &&
                 keys) { // query i sees keys up to i: with as many keys as queries, the first ones
            own = tokens_of(got, q0, rows, q_row);
            const std::vector<u16> first =
                run(t, kernel,
                    {w.d, w.dtype, tokens_of(w.q, q0, keys, q_row), tokens_of(w.k, k0, keys, k_row),
                     tokens_of(w.v, k0, keys, k_row)},
                    op_of(w, 1, keys, keys, true), keys, nullptr, where);
            std::ranges::copy(first, own.begin());
        }
        std::ranges::copy(own, want.begin() + static_cast<i64>(q0 * q_row));
    }
    t.same("o", w.dtype, got, want, where);
}

} // namespace

void attn_packed(Test &t, const Kernel &kernel) {
    // Longer than sq, starts past the end and before the one before.
    check_sequences(t, kernel, {{2, 20, 90, 60, -1}, {0, 30, 500, 80, 90}, 40, 60, 80, 90, false});
    if (t.checkers)
        return;
    const std::vector<i32> q = {0, 5, 5, 140, 204, 210}, k = {0, 9, 50, 350, 414, 414};
    for (bool causal : {true, false})
        check_sequences(t, kernel, {q, k, 135, 300, 210, 414, causal});
    check_sequences(t, kernel, {{0, 70, 75}, {0, 40, 90}, 70, 90, 75, 90, true}); // fewer keys
}

} // namespace nw::check
