// SPDX-License-Identifier: MIT
// rope_norm: within what its contract states of the f64 references of rms_norm and rope, into the
// rows that indices name, and no others.
#include <numeric>

#include "check/check.h"
#include "kernels/heads_case.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 d, heads, tokens, pairs;
    bool norm = true;
    u32 rows = 0;            // of the cache; 0: no indices
    const char *ids = "i64"; // their type
    bool outside = false;    // two of them
    bool in_place = false;
    u64 pad = 0;
    i32 first = 5; // position
};

// The row of y for each token.
std::vector<i64> rows_of(Rng &rng, const Case &p) {
    if (p.rows)
        return check::rows_of_cache(rng, p.tokens, p.rows, p.outside);
    std::vector<i64> out(p.tokens);
    std::iota(out.begin(), out.end(), 0);
    return out;
}

template <class T>
void check_case(Test &t, const Kernel &kernel, const Case &p, std::source_location where) {
    t.shape(fmt::format("d={} heads={} tokens={} pairs={} norm={} rows={} {} in_place={}", p.d,
                        p.heads, p.tokens, p.pairs, p.norm, p.rows, p.ids, p.in_place));
    const bool neox = kernel.param("layout") == "neox", wide = std::string_view(p.ids) == "i64";
    const u32 y_rows = p.rows ? p.rows : p.tokens;
    const Tensor of_x = check::tensor({p.d, p.heads, p.tokens, 1}, 4, p.pad),
                 of_y =
                     p.in_place ? of_x : check::tensor({p.d, p.heads, y_rows, 1}, sizeof(T), p.pad);
    const std::vector<f32> xs = check::normal_values(t.rng, of_x.elements()),
                           ws = check::normal_values(t.rng, p.d);
    std::vector<i32> positions(p.tokens);
    for (u32 i = 0; i < p.tokens; ++i)
        positions[i] = p.first + static_cast<i32>(i);
    const std::vector<i64> at = rows_of(t.rng, p);
    const Region x = t.region<u8>(check::placed(of_x, xs)), w = t.region<f32>(ws),
                 pos = t.region<i32>(positions),
                 turns = t.region<u64>(
                     ref::rope_turns(ref::rope_frequencies({.pairs = std::max(p.pairs, 4u)}), {})),
                 long_ids = t.region<i64>(at),
                 short_ids = t.region<i32>(std::vector<i32>(at.begin(), at.end())),
                 own = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own, &ids = wide ? long_ids : short_ids;
    launch(t.modules, kernel,
           ops::RopeNorm{.y_type = kernel.param("y_type"),
                         .layout = kernel.param("layout"),
                         .ids_type = p.ids,
                         .d = p.d,
                         .n1 = p.heads,
                         .n2 = p.tokens,
                         .y_rows = y_rows,
                         .pairs = p.pairs,
                         .streams = 1,
                         .eps = check::heads_eps,
                         .scale = 1,
                         .x = static_cast<const f32 *>(x.data()),
                         .y = y.data(),
                         .w = p.norm ? static_cast<const f32 *>(w.data()) : nullptr,
                         .pos = p.pairs ? static_cast<const i32 *>(pos.data()) : nullptr,
                         .turns = p.pairs ? turns.data() : nullptr,
                         .ids = p.rows ? ids.data() : nullptr,
                         .x_s1 = of_x.stride[1],
                         .x_s2 = of_x.stride[2],
                         .y_s1 = of_y.stride[1],
                         .y_s2 = of_y.stride[2],
                         .ids_s1 = wide ? 8u : 4u});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("w", w, where);
    if (!p.in_place)
        t.unchanged("x", x, where);
    const std::vector<T> got = check::taken<T>(t, "y", of_y, y, where);
    check::check_heads(
        t, "y", {p.d, p.heads, p.pairs, neox, p.norm ? &ws : nullptr}, got, xs, at,
        [&](u64 token) { return std::vector<i32>(p.pairs, positions[token]); }, where);
}

void check_heads(Test &t, const Kernel &kernel, Case p,
                 std::source_location where = std::source_location::current()) {
    if (kernel.param("y_type") == "f32")
        return check_case<f32>(t, kernel, p, where);
    p.in_place = false;
    check_case<u16>(t, kernel, p, where);
}

} // namespace

CHECK_FAMILY(rope_norm) {
    if (t.entry)
        return check_heads(t, kernel, {128, 3, 2, 64});
    check_heads(t, kernel, {.d = 128, .heads = 5, .tokens = 3, .pairs = 64, .rows = 11, .pad = 8});
    check_heads(t, kernel, {.d = 64, .heads = 3, .tokens = 3, .pairs = 32, .in_place = true});
    check_heads(t, kernel,
                {.d = 256, .heads = 2, .tokens = 4, .pairs = 32, .rows = 10, .ids = "i32"});
    check_heads(t, kernel,
                {.d = 128, .heads = 2, .tokens = 3, .pairs = 64, .norm = false, .rows = 7});
    check_heads(t, kernel,
                {.d = 128, .heads = 2, .tokens = 3, .pairs = 0, .norm = false, .rows = 7});
    check_heads(t, kernel,
                {.d = 64, .heads = 4, .tokens = 4, .pairs = 32, .rows = 13, .outside = true});
    if (t.checkers)
        return;
    check_heads(t, kernel, {.d = 256, .heads = 3, .tokens = 33, .pairs = 128, .in_place = true});
    check_heads(t, kernel,
                {.d = 128, .heads = 32, .tokens = 7, .pairs = 64, .rows = 40, .first = 100000});
}
