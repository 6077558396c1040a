// SPDX-License-Identifier: MIT
// Operands as hipBLASLt's W4A16 has them, through nw_linear_w4a16 by the table of note A-008.
#include <cmath>
#include <fmt/format.h>

#include "api/product.h"
#include "base/half.h"
#include "base/rng.h"

using namespace api_test;

namespace {

enum class Encoding : u8 { is_signed, bias8, bias8_exllama };

// hipBLASLt's terms: m features, n tokens, A k x m in nibbles with leading dimension lda.
struct HipBlasLt {
    Encoding encoding;
    bool zero_points;
    u32 m, n, k, group, lda;
    u32 groups() const { return k / group; }
    u64 scales_end() const { return round_up<u64>(u64{2} * m * groups(), 256); }
};

struct Operands {
    std::vector<u8> a, b, scales; // scales: zero points behind them
    std::vector<f64> exact, bound;
};

u32 as_stored(Encoding encoding, u32 q) { return encoding == Encoding::is_signed ? q ^ 8 : q; }

// Where k of a dword's eight is: in order, or 0 2 4 6 1 3 5 7.
u32 place(Encoding encoding, u32 k) {
    return encoding == Encoding::bias8_exllama ? k % 2 * 4 + k / 2 : k;
}

void put_nibble(std::vector<u8> &bytes, u64 byte, u32 dword_nibble, u32 value) {
    bytes[byte + dword_nibble / 2] |= static_cast<u8>(value << 4 * (dword_nibble % 2));
}

void put_half(std::vector<u8> &bytes, u64 index, u16 value) {
    bytes[2 * index] = static_cast<u8>(value);
    bytes[2 * index + 1] = static_cast<u8>(value >> 8);
}

// f16; the bound is the one that nibblewave.h states for prefill, which is the looser one.
Operands make(const HipBlasLt &p, Rng random) {
    constexpr Dtype type = Dtype::f16;
    Operands out{std::vector<u8>(u64{p.m} * p.lda / 2), std::vector<u8>(u64{2} * p.n * p.k),
                 std::vector<u8>(p.scales_end() + u64{4} * ceil_div(p.m, 8u) * p.groups()),
                 std::vector<f64>(u64{p.n} * p.m), std::vector<f64>(u64{p.n} * p.m)};
    std::vector<f64> b(u64{p.n} * p.k);
    for (u64 i = 0; i < b.size(); ++i) {
        const u16 x = round_to(type, random.normal());
        put_half(out.b, i, x);
        b[i] = to_f32(type, x);
    }
    for (u32 row = 0; row < p.m; ++row)
        for (u32 k = 0, zero = 8, q = 0; k < p.k; ++k) {
            const u64 g = u64{row} * p.groups() + k / p.group;
            if (k % p.group == 0) {
                put_half(out.scales, g, round_to(type, (1 + random.unit()) / 64));
                if (p.zero_points) {
                    zero = random.below(16);
                    put_nibble(out.scales,
                               p.scales_end() + 4 * (u64{row / 8} * p.groups() + k / p.group),
                               row % 8, as_stored(p.encoding, zero));
                }
            }
            q = random.below(16);
            put_nibble(out.a, u64{row} * p.lda / 2 + k / 8 * 4, place(p.encoding, k % 8),
                       as_stored(p.encoding, q));
            const u16 scale = static_cast<u16>(out.scales[2 * g] | out.scales[2 * g + 1] << 8);
            const f64 weight = (static_cast<f64>(q) - zero) * to_f32(type, scale);
            for (u32 token = 0; token < p.n; ++token) {
                const f64 x = b[u64{token} * p.k + k], least = 0x1p-14;
                out.exact[u64{token} * p.m + row] += x * weight;
                out.bound[u64{token} * p.m + row] += (0x1p-11 + (p.k + 8) * 0x1p-24) *
                                                     std::fmax(std::fabs(x), least) *
                                                     std::fmax(std::fabs(weight), least);
            }
        }
    return out;
}

// The one-time preparation that the note describes, when weights are loaded.
void to_our_nibbles(const HipBlasLt &p, Operands &o) {
    if (p.encoding == Encoding::is_signed) {
        for (u8 &byte : o.a)
            byte ^= 0x88;
        for (u64 i = p.scales_end(); i < o.scales.size(); ++i)
            o.scales[i] ^= 0x88;
    }
    if (p.encoding == Encoding::bias8_exllama)
        return;
    const std::vector<u8> linear = o.a;
    std::ranges::fill(o.a, u8{0});
    for (u64 dword = 0; dword < linear.size() / 4; ++dword)
        for (u32 k = 0; k < 8; ++k)
            put_nibble(o.a, 4 * dword, place(Encoding::bias8_exllama, k),
                       linear[4 * dword + k / 2] >> 4 * (k % 2) & 15);
}

std::string difference(const nw_w4a16 &p, const Operands &o) {
    std::vector<u16> c(o.exact.size());
    HIP_OK(hipMemcpy(c.data(), p.c, 2 * c.size(), hipMemcpyDeviceToHost));
    for (u64 i = 0; i < c.size(); ++i) {
        const f64 got = to_f32(Dtype::f16, c[i]);
        if (!(std::fabs(got - o.exact[i]) <= o.bound[i] + ulp(Dtype::f16, o.exact[i]) / 2))
            return fmt::format("c[{}] is {}, exact is {}", i, got, o.exact[i]);
    }
    return {};
}

} // namespace

TEST_CASE("hipBLASLt's operands, by the table of A-008") {
    const Context context;
    for (const Encoding encoding : {Encoding::is_signed, Encoding::bias8, Encoding::bias8_exllama})
        for (const bool zero_points : {false, true})
            for (const u32 tokens : {2u, 17u})
                for (const u32 group : {32u, 64u, 128u}) {
                    const HipBlasLt h{encoding, zero_points, 37, tokens, 256, group, 256 + 64};
                    CAPTURE(fmt::format("encoding {} zero points {} n {} group {}",
                                        static_cast<int>(encoding), zero_points, tokens, group));
                    Operands o = make(h, Rng(tokens + group));
                    to_our_nibbles(h, o);
                    const Memory a(o.b), w(o.a), s(o.scales), c(u64{2} * h.n * h.m);
                    nw_w4a16 p = NW_W4A16_INIT;
                    p.dtype = NW_F16, p.m = h.n, p.n = h.m, p.k = h.k, p.group = h.group;
                    p.a = a.data, p.w = w.data, p.s = s.data, p.c = c.data;
                    p.w_stride = h.lda / 2, p.s_stride = 2 * h.k / h.group;
                    if (h.zero_points) {
                        p.zeros = NW_ZEROS_PACKED;
                        p.z = static_cast<const u8 *>(s.data) +
                              (2 * h.m * h.k / h.group + 255) / 256 * 256;
                        p.z_stride = 4 * h.k / h.group;
                    }
                    NW_DONE(nw_linear_w4a16(context, &p, nullptr));
                    HIP_OK(hipDeviceSynchronize());
                    CHECK_EQ(difference(p, o), "");
                }
}
