// SPDX-License-Identifier: MIT
// The kernels that speed is measured with: the matrix product against the reference, the register
// loops against themselves.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/half.h"
#include "check/check.h"
#include "ref/gemm.h"

using namespace nw;
using check::Test;

namespace {

template <class T> void put(std::vector<std::byte> &kernarg, u64 at, T value) {
    std::memcpy(kernarg.data() + at, &value, sizeof value);
}

std::vector<u16> values(u64 count, Rng rng, bool whole) {
    std::vector<u16> out(count);
    for (u16 &x : out) {
        const f64 v = whole ? static_cast<f64>(rng.below(4)) : f64{rng.normal()};
        x = round_to(Dtype::f16, v);
    }
    return out;
}

// WMMA adds two products in a step (S-004). Each of at most five terms of a step is cut at a grid
// of 2^-24 of the largest, and the sum rounded to 24 bits.
f64 bound(const ref::GemmF16 &p, f64 terms) { return 6 * 0x1p-24 * (p.k / 2) * terms; }

void product(Test &t, const Kernel &kernel, u32 m, u32 n, u32 k, bool whole) {
    t.shape("m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
            (whole ? " whole numbers" : " normal"));
    const std::vector<u16> a = values(u64{m} * k, t.rng.fork(m + k), whole);
    const std::vector<u16> b = values(u64{n} * k, t.rng.fork(n + k + 1), whole);
    const ref::GemmF16 p{m, n, k, a, b};
    const ref::GemmResult want = ref::gemm_f16(p);
    const auto ra = t.region<u16>(a), rb = t.region<u16>(b);
    const auto rc = t.region<u32>(std::vector<u32>(u64{m} * n, 0x7fc0dead));
    std::vector<std::byte> kernarg(kernel.kernarg_bytes());
    put(kernarg, 0, ra.data());
    put(kernarg, 8, rb.data());
    put(kernarg, 16, rc.data());
    put(kernarg, 24, m);
    put(kernarg, 28, n);
    put(kernarg, 32, k);
    t.modules.device().launch(t.modules.function(kernel), m / 128 * (n / 128), kernel.block, 0,
                              kernarg);
    t.modules.device().synchronize();
    ++t.launches;
    const std::vector<f32> got = rc.read_as<f32>();
    for (u64 i = 0; i < want.c.size(); ++i) {
        const f64 allowed = whole ? 0 : bound(p, want.terms[i]);
        if (!(std::fabs(got[i] - want.c[i]) <= allowed))
            return t.fail("c[" + std::to_string(i / n) + "," + std::to_string(i % n) + "]: got " +
                              std::to_string(got[i]) + ", want " + std::to_string(want.c[i]) +
                              " within " + std::to_string(allowed),
                          std::source_location::current());
    }
    t.guards_clean("c", rc);
    t.unchanged("a", ra);
    t.unchanged("b", rb);
}

// Every group does the same, so that the launch shows whether groups disturb one another, and a
// second launch whether anything but the arguments counts.
void same_everywhere(Test &t, const Kernel &kernel) {
    const u32 groups = t.checkers ? 1 : 5, loops = 3;
    std::vector<u32> first;
    for (u32 launch = 0; launch < 2; ++launch) {
        const auto out = t.region<u32>(std::vector<u32>(32 * groups, 0x7fc0dead));
        std::vector<std::byte> kernarg(kernel.kernarg_bytes());
        put(kernarg, 0, out.data());
        put(kernarg, 8, loops);
        t.modules.device().launch(t.modules.function(kernel), groups, kernel.block, 0, kernarg);
        t.modules.device().synchronize();
        ++t.launches;
        const std::vector<u32> got = out.read_as<u32>();
        if (launch == 0)
            first = got;
        for (u32 i = 0; i < got.size(); ++i)
            if (got[i] != first[i % 32] || got[i] == 0x7fc0dead)
                return t.fail("out[" + std::to_string(i) + "] differs from lane " +
                                  std::to_string(i % 32) + " of the first group",
                              std::source_location::current());
        t.guards_clean("out", out);
        if (t.entry)
            return;
    }
}

} // namespace

CHECK_FAMILY(wmma_gemm) {
    product(t, kernel, 128, 128, 32, true);
    if (t.entry)
        return;
    product(t, kernel, 128, 128, 96, true); // several stages
    if (t.checkers)
        return;
    product(t, kernel, 256, 128, 96, true);
    product(t, kernel, 128, 384, 64, true);
    product(t, kernel, 128, 128, 256, false);
}

CHECK_FAMILY(micro_valu) { same_everywhere(t, kernel); }
CHECK_FAMILY(micro_wmma) { same_everywhere(t, kernel); }
