// SPDX-License-Identifier: MIT
// dequant_w4: every nibble in every place of a dword against every zero point, bit for bit.
#include <algorithm>
#include <bit>
#include <set>
#include <vector>

#include "check/check.h"
#include "check/ops.h"

using namespace nw;
using check::Test;

namespace {

// Bit position of k = j in the row layout: even k in the lower half, odd ones in the upper.
constexpr u32 position(u32 j) { return 4 * (j / 2) + 16 * (j % 2); }

struct Words {
    std::vector<u32> w;
    std::vector<f32> zero, want; // [n], [n,8]
};

// For each zero point 16 words, in which each nibble comes to stand in each place.
Words every_nibble(u32 first_zero, u32 last_zero) {
    Words out;
    for (u32 zero = first_zero; zero <= last_zero; ++zero)
        for (u32 base = 0; base < 16; ++base) {
            u32 word = 0;
            for (u32 j = 0; j < 8; ++j) {
                const u32 q = (base + j) % 16;
                word |= q << position(j);
                out.want.push_back(static_cast<f32>(q) - static_cast<f32>(zero));
            }
            out.w.push_back(word);
            out.zero.push_back(static_cast<f32>(zero));
        }
    return out;
}

} // namespace

CHECK_FAMILY(dequant_w4) {
    const Words words = kernel.reference ? every_nibble(8, 8) : every_nibble(0, 15);
    const u32 all = static_cast<u32>(words.w.size());
    std::set<u32> sizes = {all};
    for (const auto &shape : check::edge_shapes(kernel))
        sizes.insert(std::min(shape.n, all));
    for (const u32 n : sizes) {
        const std::vector<f32> blank(u64{8} * n, -1234.5f);
        const auto w = t.region<u32>(words.w), zero = t.region<f32>(words.zero);
        const auto out = t.region<f32>(blank);
        Op op{.kind = OpKind::dequant_w4};
        op.dtype = kernel.p.dtype, op.n = n;
        op.w = address(w.data()), op.zero = address(zero.data()), op.out = address(out.data());
        launch(t.modules, kernel, op);
        t.modules.device().synchronize();
        ++t.launches;

        t.shape("n=" + std::to_string(n));
        const std::vector<f32> got = out.read_as<f32>();
        for (u32 i = 0; i < 8 * n; ++i)
            if (std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(words.want[i]))
                return t.fail(
                    "out[" + std::to_string(i) + "] of w " + std::to_string(words.w[i / 8]) +
                        ", zero " + std::to_string(words.zero[i / 8]) + ": got " +
                        std::to_string(got[i]) + ", want " + std::to_string(words.want[i]),
                    std::source_location::current());
        t.guards_clean("out", out);
        t.unchanged("w", w);
        if (t.entry)
            return;
    }
}
