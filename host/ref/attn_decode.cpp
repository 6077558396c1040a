// SPDX-License-Identifier: MIT
#include "ref/attn_decode.h"

#include <algorithm>

#include "ref/e4m3.h"

namespace nw::ref {

namespace {

u32 keys_of(const AttnDecode &a, u32 b) {
    return a.kv_len.empty() ? a.sk : static_cast<u32>(std::clamp<i64>(a.kv_len[b], 0, i64{a.sk}));
}

// Where key j of a sequence begins.
u64 place(const AttnDecode &a, const AttnCache &x, u32 b, u32 j) {
    if (!a.page)
        return b * x.outer + j * x.row;
    const u32 each = (a.sk + a.page - 1) / a.page;
    const i32 entry = a.page_table[u64{b} * each + j / a.page];
    const u64 page = entry < 0 ? a.pages - 1 : std::min(static_cast<u32>(entry), a.pages - 1);
    return page * x.outer + j % a.page * x.row;
}

u16 half_at(const u8 *bytes) { return static_cast<u16>(bytes[0] | bytes[1] << 8); }

// Element i of a row, as a word of the dtype.
u16 element(const AttnDecode &a, const u8 *row, u32 i) {
    switch (a.format) {
    case CacheFormat::same:
        return half_at(row + 2 * u64{i});
    case CacheFormat::q8_0: {
        const u8 *const block = row + u64{i / 32} * 34;
        const auto quant = static_cast<std::int8_t>(block[2 + i % 32]);
        return round_to(Dtype::f16, f64{to_f32(Dtype::f16, half_at(block))} * quant);
    }
    case CacheFormat::fp8:
        return round_to(a.dtype, from_e4m3(row[i]));
    }
    return 0;
}

// A sequence's keys or values, one after the other.
std::vector<u16> gathered(const AttnDecode &a, const AttnCache &x, u32 b, u32 keys) {
    std::vector<u16> out(u64{keys} * a.hk * a.d);
    for (u32 j = 0; j < keys; ++j)
        for (u32 head = 0; head < a.hk; ++head)
            for (u32 i = 0; i < a.d; ++i)
                out[(u64{j} * a.hk + head) * a.d + i] =
                    element(a, &x.bytes[place(a, x, b, j) + head * x.head], i);
    return out;
}

template <class T> void append(std::vector<T> &to, const std::vector<T> &more) {
    to.insert(to.end(), more.begin(), more.end());
}

} // namespace

AttnResult attn_decode(const AttnDecode &a) {
    AttnResult out;
    for (u32 b = 0; b < a.b; ++b) {
        const u32 keys = keys_of(a, b);
        const std::vector<u16> k = gathered(a, a.k, b, keys), v = gathered(a, a.v, b, keys);
        const u64 row = u64{a.hk} * a.d;
        AttnForward one{a.dtype, 1, a.sq, keys, a.h, a.hk, a.d, a.causal, a.scale};
        one.q = {a.q.words.subspan(b * a.q.b), a.q.b, a.q.s, a.q.h};
        one.k = {k, 0, row, a.d}, one.v = {v, 0, row, a.d};
        if (!a.idx.empty()) {
            const u64 lists = a.cnt.size() / a.b;
            one.entries = (a.sk + 127) / 128;
            one.idx = a.idx.subspan(b * lists * one.entries, lists * one.entries);
            one.cnt = a.cnt.subspan(b * lists, lists);
        }
        one.least_p = a.least_p;
        const AttnResult r = attn_forward(one);
        append(out.o, r.o), append(out.abs, r.abs), append(out.small, r.small);
        append(out.lse, r.lse), append(out.dot, r.dot), append(out.keys, r.keys);
    }
    return out;
}

} // namespace nw::ref
