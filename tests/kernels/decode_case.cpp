// SPDX-License-Identifier: MIT
#include "decode_case.h"

#include <algorithm>
#include <fmt/format.h>

#include "check/decode_bound.h"
#include "formats/row_layout.h"
#include "kernels/decode.h"

namespace nw {

DecodeCase::DecodeCase(const Kernel &kernel, u32 rows, u32 columns, Rng &rng)
    : dtype(kernel.param("dtype") == "bf16" ? Dtype::bf16 : Dtype::f16), m(kernel.number("m")),
      n(rows), k(columns), group(kernel.number("group")), a(u64{m} * k), s(u64{n} * (k / group)),
      q(u64{n} * k) {
    for (u16 &x : a)
        x = word(rng.normal());
    for (u16 &x : s)
        x = word(0.02 * rng.normal()); // of either sign: nothing forbids it
    for (u8 &x : q)
        x = static_cast<u8>(rng.below(16));
}

void DecodeCase::add_bias(Rng &rng) {
    bias.resize(n);
    for (u16 &x : bias)
        x = word(rng.normal());
}

std::vector<u16> run(check::Test &t, const Kernel &kernel, const DecodeCase &p) {
    RowLayout layout = RowLayout::tight(p.n, p.k, p.group);
    layout.w_stride += p.w_pad;
    layout.s_stride += p.s_pad;
    const auto a = t.region<u16>(p.a);
    const auto w = t.region<u8>(pack_rows(p.q, layout, 0xff));
    const auto s = t.region<u8>(pack_scales(p.s, layout, 0xff));
    const auto bias = t.region<u16>(p.bias);
    const auto c = t.region<u16>(std::vector<u16>(u64{p.m} * p.n, nan_poison));
    launch(t.modules, kernel,
           {p.dtype, p.m, p.n, p.k, p.group, a.data(), w.data(), s.data(),
            p.bias.empty() ? nullptr : bias.data(), c.data(), layout.w_stride, layout.s_stride});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("c", c);
    t.unchanged("a", a);
    t.unchanged("w", w);
    t.unchanged("s", s);
    t.unchanged("bias", bias);
    return c.read_as<u16>();
}

void check_case(check::Test &t, const Kernel &kernel, const DecodeCase &p, const char *what,
                std::source_location where) {
    t.shape(fmt::format("m={} n={} k={} group={} w_pad={} s_pad={} bias={} {}", p.m, p.n, p.k,
                        p.group, p.w_pad, p.s_pad, p.bias.empty() ? "no" : "yes", what));
    const ref::DecodeResult exact = ref::decode_w4a16(p.reference());
    t.within("c", p.dtype, run(t, kernel, p), exact.c,
             check::decode_bound(kernel, p.reference(), exact), where);
}

} // namespace nw
