// SPDX-License-Identifier: MIT
#include "decode_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "check/decode_bound.h"
#include "check/same_code.h"
#include "formats/packed/row_layout.h"
#include "ref/carrier.h"

namespace nw {

namespace {

// splitk_w4a16 has zero points of its own.
Zeros zeros_in(const Kernel &kernel) {
    return kernel.family == "splitk_w4a16" ? Zeros::eight : zeros_of(kernel);
}

u32 group_length(const Kernel &kernel, u32 columns) {
    return kernel.param("group") == "k" ? columns : kernel.number("group");
}

Rows blank_rows(u64 rows, u64 stride) { return {stride, std::vector<u8>(rows * stride, 0xff)}; }

// Scales or zero points, [N, K/G].
Rows half_rows(const DecodeCase &p, const std::vector<u16> &values, u64 pad) {
    Rows out = blank_rows(p.n, 2 * u64{p.groups()} + pad);
    for (u64 n = 0; n < p.n; ++n)
        std::memcpy(&out.bytes[n * out.stride], &values[n * p.groups()], 2 * p.groups());
    return out;
}

Rows carriers(const DecodeCase &p) {
    Rows out = blank_rows(p.n, 4 * u64{p.groups()} + p.s_pad);
    for (u64 n = 0; n < p.n; ++n)
        for (u64 g = 0; g < p.groups(); ++g) {
            const u16 s = p.s[n * p.groups() + g];
            const f32 zero = to_f32(p.dtype, p.z[n * p.groups() + g]);
            const u32 carrier = ref::carrier(p.dtype, s, static_cast<u32>(zero));
            std::memcpy(&out.bytes[n * out.stride + 4 * g], &carrier, sizeof carrier);
        }
    return out;
}

// Four bits each, eight rows to a dword; rows past n are filled with 15.
Rows packed_zeros(const DecodeCase &p) {
    Rows out = blank_rows(ceil_div<u64>(p.n, 8), 4 * u64{p.groups()} + p.z_pad);
    for (u64 n = 0; n < p.n; ++n)
        for (u64 g = 0; g < p.groups(); ++g) {
            const u32 zero = static_cast<u32>(to_f32(p.dtype, p.z[n * p.groups() + g]));
            u8 &byte = out.bytes[n / 8 * out.stride + 4 * g + n % 8 / 2];
            const u32 shift = 4 * (n % 2);
            byte = static_cast<u8>((byte & ~(15u << shift)) | zero << shift);
        }
    return out;
}

// An argument as one who launches by hand may leave it.
void clear(Step &step, std::string_view argument) {
    const auto args = step.kernel->args();
    const auto found = std::ranges::find(args, argument, &KernelArg::name);
    if (found == args.end())
        throw Error(fmt::format("{} has no {}", step.kernel->symbol, argument));
    std::fill_n(step.kernarg.begin() + found->offset, found->size, std::byte{0});
}

} // namespace

bool thorough(const check::Test &t, const Kernel &k) {
    return check::thorough(k.gfx) || !t.modules.device().info().simulated;
}

std::vector<f64> hard_values(Dtype dtype) {
    std::vector<f64> out = {0.0, -0.0, 1, -1, 1 + ulp(dtype, 1), 1 - ulp(dtype, 0.5), 3, 1.0 / 3};
    if (dtype == Dtype::f16)
        out.insert(out.end(), {0x1p-24, -0x1p-24, 0x1.ff8p-15, 0x1p-14, 65504, -65504, 2048, 2047});
    else
        out.insert(out.end(),
                   {0x1p-133, -0x1p-133, 0x1.fcp-127, 0x1p-126, 0x1p100, -0x1p100, 256, 255});
    return out;
}

void hard_weights(DecodeCase p,
                  const std::function<void(const DecodeCase &, const char *)> &check) {
    for (u64 i = 0; i < p.q.size(); ++i)
        p.q[i] = i % 2 ? 15 : 0;
    check(p, "nibbles 0 and 15 in turn");
    std::ranges::fill(p.s, u16{0});
    check(p, "no scale");
    if (p.dtype == Dtype::bf16)
        return;
    std::ranges::fill(p.s, p.word(1000)); // C leaves the range
    std::ranges::fill(p.a, p.word(60000));
    check(p, "results beyond f16");
}

Rows weight_rows(const DecodeCase &p) {
    Rows out = blank_rows(p.n, round_up<u64>(p.k / 2, 16) + p.w_pad);
    std::vector<u32> row(p.k / 8);
    for (u64 n = 0; n < p.n; ++n) {
        pack_row(std::span(p.q).subspan(n * p.k, p.k), row);
        std::memcpy(&out.bytes[n * out.stride], row.data(), p.k / 2);
    }
    return out;
}

Rows scale_rows(const DecodeCase &p) {
    return p.zeros == Zeros::carrier ? carriers(p) : half_rows(p, p.s, p.s_pad);
}

Rows zero_rows(const DecodeCase &p) {
    switch (p.zeros) {
    case Zeros::packed:
        return packed_zeros(p);
    case Zeros::typed:
        return half_rows(p, p.z, p.z_pad);
    case Zeros::eight:
    case Zeros::carrier:
        break;
    }
    return {};
}

DecodeCase::DecodeCase(const Kernel &kernel, u32 rows, u32 columns, Rng &rng)
    : DecodeCase(kernel, kernel.number("m"), rows, columns, rng) {}

DecodeCase::DecodeCase(const Kernel &kernel, u32 tokens, u32 rows, u32 columns, Rng &rng)
    : dtype(dtype_of(kernel)), m(tokens), n(rows), k(columns), group(group_length(kernel, columns)),
      one_group(kernel.param("group") == "k"), zeros(zeros_in(kernel)), a(u64{m} * k),
      s(u64{n} * (k / group)), q(u64{n} * k) {
    for (u16 &x : a)
        x = word(rng.normal());
    for (u16 &x : s)
        x = word(0.02 * rng.normal()); // of either sign: nothing forbids it
    for (u8 &x : q)
        x = static_cast<u8>(rng.below(16));
    if (zeros != Zeros::eight)
        z.resize(s.size());
    for (u16 &x : z)
        x = word(rng.below(16));
}

void DecodeCase::add_bias(Rng &rng) {
    bias.resize(n);
    for (u16 &x : bias)
        x = word(rng.normal());
}

void DecodeCase::fill_a_hard() {
    const std::vector<f64> hard = hard_values(dtype);
    for (u64 i = 0; i < a.size(); ++i)
        a[i] = word(hard[(i * 5 + i / hard.size()) % hard.size()]);
}

void DecodeCase::fill_a_hard_rows() {
    const std::vector<f64> hard = hard_values(dtype);
    for (u64 i = 0; i < a.size(); ++i)
        a[i] = word(hard[i / k % hard.size()]);
}

void DecodeCase::fill_a_outliers(Rng &rng) {
    for (u64 i = 0; i < a.size(); ++i)
        a[i] = word(rng.normal() * (i % k % 97 == 5 ? 20 + 40 * rng.unit() : 1));
}

// From where e^-x leaves f32 to where it is nothing.
void DecodeCase::fill_gates() {
    constexpr std::array gates = {-200.0, -90.0, -88.0, -20.0, -1.0, 0.0, 3.0, 200.0};
    std::ranges::fill(a, u16{0});
    for (u32 i = 0; i < columns(); ++i)
        bias[i] = word(gates[i % gates.size()]);
}

std::vector<u16> run(check::Test &t, const DecodeCase &p,
                     const std::function<void(const W4A16 &)> &launch) {
    const Rows w_rows = weight_rows(p), s_rows = scale_rows(p), z_rows = zero_rows(p);
    const auto a = t.region<u16>(p.a);
    const auto w = t.region<u8>(w_rows.bytes);
    const auto s = t.region<u8>(s_rows.bytes);
    const auto bias = t.region<u16>(p.bias);
    const auto z = t.region<u8>(z_rows.bytes);
    const auto c = t.region<u16>(std::vector<u16>(u64{p.m} * p.columns(), nan_poison));
    launch({p.dtype, p.m, p.n, p.k, p.one_group ? per_row : u64{p.group}, a.data(), w.data(),
            s.data(), p.bias.empty() ? nullptr : bias.data(), c.data(), w_rows.stride,
            s_rows.stride, p.zeros, z_rows.bytes.empty() ? nullptr : z.data(), z_rows.stride,
            p.silu_gate_up});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("c", c);
    t.unchanged("a", a);
    t.unchanged("w", w);
    t.unchanged("s", s);
    t.unchanged("bias", bias);
    t.unchanged("z", z);
    return c.read_as<u16>();
}

std::vector<u16> run(check::Test &t, const Kernel &kernel, const DecodeCase &p) {
    return run(t, p, [&](const W4A16 &product) {
        Op op = product;
        if (p.workgroups)
            op.groups = p.workgroups;
        Step one = step(kernel, op, machine_of(t.modules.device()));
        if (p.groups_unsaid)
            clear(one, "groups");
        launch(t.modules, one);
    });
}

void check_case(check::Test &t, const Kernel &kernel, const DecodeCase &p, const char *what,
                std::source_location where) {
    t.shape(
        fmt::format("m={} n={} k={} group={} w_pad={} s_pad={} z_pad={} bias={} workgroups={} {}",
                    p.m, p.n, p.k, p.group, p.w_pad, p.s_pad, p.z_pad,
                    p.bias.empty() ? "no" : "yes", p.workgroups, what));
    const ref::DecodeResult exact = ref::decode_w4a16(p.reference());
    t.within("c", p.dtype, run(t, kernel, p), exact.c,
             check::decode_bound(kernel, p.reference(), exact), where);
}

} // namespace nw
