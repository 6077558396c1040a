// SPDX-License-Identifier: MIT
// qkv_heads: queries and keys within what the contract states of the f64 references of rms_norm and
// rope, values rounded once, in the rows that indices name and no others; and all of them to the
// bit as rope_norm and set_rows.
#include <numeric>

#include "check/check.h"
#include "kernels/heads_case.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Heads;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 d, h, hk, tokens, pairs;
    u32 rows; // of a cache
    bool q_norm = true, k_norm = true;
    const char *ids = "i64"; // their type
    bool outside = false;    // two of each list
    bool in_place = false;
    u64 pad = 0;
    u32 streams = 1;
    i32 first = 5; // position

    bool wide() const { return std::string_view(ids) == "i64"; }
    u64 id_bytes() const { return wide() ? 8 : 4; }
};

template <class T> const T *at(const Region &region) {
    return static_cast<const T *>(region.data());
}

// Heads of queries, keys or values before the launch.
struct Input {
    Tensor shape;
    std::vector<f32> values;
    Region x;

    Input(Test &t, const Case &p, u32 heads, std::vector<f32> of)
        : shape(check::tensor({p.d, heads, p.tokens, 1}, 4, p.pad)), values(std::move(of)),
          x(t.region<u8>(check::placed(shape, values))) {}
};

// And what becomes of them.
struct Output {
    Tensor shape;
    Region y;

    Output(Test &t, const Tensor &of)
        : shape(of), y(t.region<u8>(std::vector<u8>(of.bytes(), Tensor::poison))) {}
};

// Rows of a cache for tokens.
struct List {
    std::vector<i64> rows;
    Region ids;

    List(Test &t, const Case &p)
        : rows(check::rows_of_cache(t.rng, p.tokens, p.rows, p.outside)),
          ids(p.wide() ? t.region<i64>(rows)
                       : t.region<i32>(std::vector<i32>(rows.begin(), rows.end()))) {}
};

// Values that f16 can and cannot hold: all finite ones.
std::vector<f32> values_of(Rng &rng, u64 count) {
    std::vector<f32> out = check::hard_values(rng, count);
    std::ranges::replace_if(
        out, [](f32 x) { return !std::isfinite(x); }, 0.5f);
    return out;
}

std::vector<u32> streams_of(const Case &p) {
    std::vector<u32> out(std::max(p.pairs, 4u));
    for (u32 pair = 0; pair < out.size(); ++pair)
        out[pair] = pair % p.streams;
    return out;
}

// Positions [streams, tokens].
std::vector<i32> positions_of(const Case &p) {
    std::vector<i32> out;
    for (u32 stream = 0; stream < p.streams; ++stream)
        for (u32 token = 0; token < p.tokens; ++token)
            out.push_back(p.first + static_cast<i32>(token * (stream + 1)));
    return out;
}

// All operands of a launch.
struct Launch {
    const Case &p;
    bool neox;
    Input q, k, v;
    std::vector<f32> q_ws, k_ws;
    std::vector<i32> positions;
    List k_list, v_list;
    Region q_w, k_w, pos, turns;

    Launch(Test &t, const Kernel &kernel, const Case &c)
        : p(c), neox(kernel.param("layout") == "neox"),
          q(t, p, p.h, check::normal_values(t.rng, u64{p.d} * p.h * p.tokens)),
          k(t, p, p.hk, check::normal_values(t.rng, u64{p.d} * p.hk * p.tokens)),
          v(t, p, p.hk, values_of(t.rng, u64{p.d} * p.hk * p.tokens)),
          q_ws(check::normal_values(t.rng, p.d)), k_ws(check::normal_values(t.rng, p.d)),
          positions(positions_of(p)), k_list(t, p), v_list(t, p), q_w(t.region<f32>(q_ws)),
          k_w(t.region<f32>(k_ws)), pos(t.region<i32>(positions)),
          turns(t.region<u64>(ref::rope_turns(
              ref::rope_frequencies({.pairs = std::max(p.pairs, 4u)}), streams_of(p)))) {}

    Tensor cache() const { return check::tensor({p.d, p.hk, p.rows, 1}, 2, p.pad); }
    const f32 *q_weights() const { return p.q_norm ? at<f32>(q_w) : nullptr; }
    const f32 *k_weights() const { return p.k_norm ? at<f32>(k_w) : nullptr; }
    const i32 *where() const { return p.pairs ? at<i32>(pos) : nullptr; }
    const void *angles() const { return p.pairs ? turns.data() : nullptr; }
};

ops::QkvHeads op_of(const Launch &l, const Region &q_y, const Output &k, const Output &v) {
    const Case &p = l.p;
    const auto &q_s = l.q.shape.stride, &k_s = l.k.shape.stride, &v_s = l.v.shape.stride;
    return {.layout = l.neox ? "neox" : "normal",
            .ids_type = p.ids,
            .d = p.d,
            .h = p.h,
            .hk = p.hk,
            .tokens = p.tokens,
            .cache_rows = p.rows,
            .pairs = p.pairs,
            .streams = p.streams,
            .eps = check::heads_eps,
            .scale = 1,
            .q = at<f32>(l.q.x),
            .q_y = static_cast<f32 *>(q_y.data()),
            .q_w = l.q_weights(),
            .k = at<f32>(l.k.x),
            .k_cache = k.y.data(),
            .k_w = l.k_weights(),
            .k_ids = l.k_list.ids.data(),
            .v = at<f32>(l.v.x),
            .v_cache = v.y.data(),
            .v_ids = l.v_list.ids.data(),
            .pos = l.where(),
            .turns = l.angles(),
            .q_s1 = q_s[1],
            .q_s2 = q_s[2],
            .q_y_s1 = q_s[1],
            .q_y_s2 = q_s[2],
            .k_s1 = k_s[1],
            .k_s2 = k_s[2],
            .k_cache_s1 = k.shape.stride[1],
            .k_cache_s2 = k.shape.stride[2],
            .v_s1 = v_s[1],
            .v_s2 = v_s[2],
            .v_cache_s1 = v.shape.stride[1],
            .v_cache_s2 = v.shape.stride[2],
            .k_ids_s1 = p.id_bytes(),
            .v_ids_s1 = p.id_bytes()};
}

// ---- the same by the families that it replaces

ops::RopeNorm rope_norm_of(const Launch &l, const Input &x, const Output &y) {
    return {.y_type = "f32",
            .layout = l.neox ? "neox" : "normal",
            .ids_type = l.p.ids,
            .d = l.p.d,
            .n1 = x.shape.n[1],
            .n2 = l.p.tokens,
            .y_rows = l.p.tokens,
            .pairs = l.p.pairs,
            .streams = l.p.streams,
            .eps = check::heads_eps,
            .scale = 1,
            .x = at<f32>(x.x),
            .y = y.y.data(),
            .w = l.q_weights(),
            .pos = l.where(),
            .turns = l.angles(),
            .x_s1 = x.shape.stride[1],
            .x_s2 = x.shape.stride[2],
            .y_s1 = y.shape.stride[1],
            .y_s2 = y.shape.stride[2]};
}

ops::RopeNorm rope_norm_of_keys(const Launch &l, const Output &y) {
    ops::RopeNorm out = rope_norm_of(l, l.k, y);
    out.y_type = "f16", out.y_rows = l.p.rows, out.w = l.k_weights();
    out.ids = l.k_list.ids.data(), out.ids_s1 = l.p.id_bytes();
    return out;
}

ops::SetRows set_rows_of(const Launch &l, const Output &y) {
    return {.type = "f16",
            .x_type = "f32",
            .ids_type = l.p.ids,
            .k = l.p.d,
            .n1 = l.p.tokens,
            .n2 = l.p.hk,
            .n3 = 1,
            .y_rows = l.p.rows,
            .ids_n2 = 1,
            .ids_n3 = 1,
            .x = l.v.x.data(),
            .ids = l.v_list.ids.data(),
            .y = y.y.data(),
            .x_s1 = l.v.shape.stride[2],
            .x_s2 = l.v.shape.stride[1],
            .y_s1 = y.shape.stride[2],
            .y_s2 = y.shape.stride[1],
            .ids_s1 = l.p.id_bytes()};
}

const Kernel *built(const Kernel &beside, std::string_view symbol) {
    const Kernel *const out = find_kernel(beside.gfx, symbol);
    return out && out->built ? out : nullptr;
}

void compare(Test &t, const Kernel &kernel, const Launch &l, const Region &q, const Region &k,
             const Region &v, std::source_location where) {
    const std::string layout = l.neox ? "neox" : "normal";
    const Kernel *const f32_rows = built(kernel, "rope_norm_f32_" + layout),
                        *const f16_rows = built(kernel, "rope_norm_f16_" + layout),
                        *const values = built(kernel, "set_rows_f32_f16");
    if (!f32_rows || !f16_rows || !values)
        return;
    const Output want_q(t, l.q.shape), want_k(t, l.cache()), want_v(t, l.cache());
    launch(t.modules, *f32_rows, rope_norm_of(l, l.q, want_q));
    launch(t.modules, *f16_rows, rope_norm_of_keys(l, want_k));
    launch(t.modules, *values, set_rows_of(l, want_v));
    t.modules.device().synchronize();
    if (!l.p.in_place && q.read() != want_q.y.read())
        t.fail("q_y is not rope_norm's to the bit", where);
    if (k.read() != want_k.y.read())
        t.fail("k_cache is not rope_norm's to the bit", where);
    if (v.read() != want_v.y.read())
        t.fail("v_cache is not set_rows' to the bit", where);
}

// ----

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("d={} h={} hk={} tokens={} pairs={} norms={}{} rows={} {} in_place={}", p.d,
                        p.h, p.hk, p.tokens, p.pairs, p.q_norm, p.k_norm, p.rows, p.ids,
                        p.in_place));
    const Launch l(t, kernel, p);
    const Output apart(t, l.q.shape), k(t, l.cache()), v(t, l.cache());
    const Region &q_y = p.in_place ? l.q.x : apart.y;
    launch(t.modules, kernel, op_of(l, q_y, k, v));
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("k", l.k.x, where);
    t.unchanged("v", l.v.x, where);
    t.unchanged("k_ids", l.k_list.ids, where);
    if (!p.in_place)
        t.unchanged("q", l.q.x, where);
    const auto positions = [&](u64 token) {
        std::vector<i32> out(p.pairs);
        for (u32 pair = 0; pair < p.pairs; ++pair)
            out[pair] = l.positions[pair % p.streams * p.tokens + token];
        return out;
    };
    std::vector<i64> all(p.tokens);
    std::iota(all.begin(), all.end(), 0);
    const Heads queries{p.d, p.h, p.pairs, l.neox, p.q_norm ? &l.q_ws : nullptr},
        keys{p.d, p.hk, p.pairs, l.neox, p.k_norm ? &l.k_ws : nullptr},
        values{p.d, p.hk, 0, l.neox};
    check::check_heads(t, "q_y", queries, check::taken<f32>(t, "q_y", l.q.shape, q_y, where),
                       l.q.values, all, positions, where);
    check::check_heads(t, "k_cache", keys, check::taken<u16>(t, "k_cache", k.shape, k.y, where),
                       l.k.values, l.k_list.rows, positions, where);
    check::check_heads(t, "v_cache", values, check::taken<u16>(t, "v_cache", v.shape, v.y, where),
                       l.v.values, l.v_list.rows, positions, where);
    if (!t.entry)
        compare(t, kernel, l, q_y, k.y, v.y, where);
}

} // namespace

CHECK_FAMILY(qkv_heads) {
    if (t.entry)
        return check_case(t, kernel, {128, 3, 2, 2, 64, 5});
    check_case(t, kernel, {128, 5, 2, 3, 64, 11});
    check_case(t, kernel, {.d = 64, .h = 9, .hk = 3, .tokens = 1, .pairs = 32, .rows = 4});
    check_case(t, kernel,
               {.d = 128, .h = 4, .hk = 1, .tokens = 1, .pairs = 64, .rows = 3, .in_place = true});
    check_case(
        t, kernel,
        {.d = 256, .h = 2, .hk = 2, .tokens = 4, .pairs = 32, .rows = 10, .ids = "i32", .pad = 8});
    check_case(t, kernel,
               {.d = 128,
                .h = 3,
                .hk = 2,
                .tokens = 3,
                .pairs = 64,
                .rows = 7,
                .q_norm = false,
                .k_norm = false});
    check_case(t, kernel,
               {.d = 64, .h = 3, .hk = 2, .tokens = 3, .pairs = 0, .rows = 7, .q_norm = false});
    check_case(t, kernel,
               {.d = 128,
                .h = 2,
                .hk = 2,
                .tokens = 5,
                .pairs = 32,
                .rows = 17,
                .outside = true,
                .streams = 4});
    if (t.checkers)
        return;
    check_case(t, kernel, {.d = 128, .h = 32, .hk = 8, .tokens = 8, .pairs = 64, .rows = 29});
    check_case(t, kernel,
               {.d = 128,
                .h = 4,
                .hk = 2,
                .tokens = 512,
                .pairs = 64,
                .rows = 1537,
                .in_place = true,
                .first = 100000});
}
