// SPDX-License-Identifier: MIT
#include "bench/attention/launch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "base/rng.h"
#include "ref/e4m3.h"

namespace nw::bench {

namespace {

constexpr u64 distinct = 1 << 20;
constexpr u32 q8_0_block = 32;
constexpr f32 q8_0_top = 4; // of a block's values: its scale is that by 127

u8 to_e4m3(f32 x) {
    static const std::vector<f64> values = [] {
        std::vector<f64> out;
        for (u32 n = 0; n < 127; ++n)
            out.push_back(ref::from_e4m3(static_cast<u8>(n)));
        return out;
    }();
    const auto above = std::ranges::lower_bound(values, std::abs(x));
    const auto index = std::min<i64>(above - values.begin(), 126);
    return static_cast<u8>(index | (x < 0 ? 128 : 0));
}

std::vector<u8> bytes_of(Dtype dtype, std::string_view kv, const std::vector<f32> &values) {
    std::vector<u8> out;
    const auto add_word = [&](u16 word) {
        out.push_back(static_cast<u8>(word)), out.push_back(static_cast<u8>(word >> 8));
    };
    for (u64 i = 0; i < values.size(); ++i) {
        if (kv == "fp8") {
            out.push_back(to_e4m3(values[i]));
        } else if (kv == "q8_0") {
            if (i % q8_0_block == 0)
                add_word(round_to(Dtype::f16, q8_0_top / 127));
            const f32 quant = std::round(values[i] / q8_0_top * 127);
            out.push_back(static_cast<u8>(static_cast<i8>(std::clamp(quant, -127.f, 127.f))));
        } else {
            add_word(round_to(dtype, values[i]));
        }
    }
    return out;
}

} // namespace

std::string Cache::words() const {
    return (kv == "same" ? "" : fmt::format(" kv {}", kv)) +
           (page ? fmt::format(" pages of {}", page) : "");
}

Op attention_op(Dtype dtype, const ContextShape &p, const Cache &cache) {
    Op op{.kind = OpKind::attention};
    op.dtype = word_of(dtype), op.kv = find_word(cache.kv);
    op.b = 1, op.sq = p.sq, op.sk = p.sk, op.h = p.h, op.hk = p.hk, op.d = p.d;
    op.causal = 1, op.scale = std::bit_cast<u32>(1 / std::sqrt(static_cast<f32>(p.d)));
    op.page = cache.page;
    op.pages = page_table(cache, p.sk).size(), op.table_b = 4 * op.pages;
    op.q_h = op.o_h = 2 * u64{p.d}, op.k_h = op.v_h = cache.row_bytes(p.d);
    op.q_s = op.o_s = p.h * op.q_h, op.k_s = op.v_s = p.hk * op.k_h;
    op.q_b = op.o_b = p.sq * op.q_s;
    op.k_b = op.v_b = (cache.page ? cache.page : p.sk) * op.k_s;
    return op;
}

std::vector<i32> page_table(const Cache &cache, u32 keys) {
    if (cache.page == 0)
        return {};
    std::vector<i32> out(ceil_div(keys, cache.page));
    std::iota(out.begin(), out.end(), 0);
    Rng rng(1);
    for (u64 i = out.size(); i > 1; --i)
        std::swap(out[i - 1], out[rng.below(static_cast<u32>(i))]);
    return out;
}

hip::Buffer normal_values(const hip::Device &device, Dtype dtype, u64 elements, u64 seed,
                          std::string_view kv) {
    const Rng rng(seed);
    std::vector<f32> values(std::min(elements, distinct));
    for (u64 i = 0; i < values.size(); ++i)
        values[i] = rng.normal_at(i);
    const std::vector<u8> once = bytes_of(dtype, kv, values);
    hip::Buffer out = device.allocate(once.size() * elements / values.size());
    for (u64 at = 0; at < out.size(); at += once.size())
        out.upload(once.data(), std::min(once.size(), out.size() - at), at);
    return out;
}

Timed time_launch(const hip::Device &device, Modules &modules, const Kernel &kernel, const Op &op) {
    modules.function(kernel);
    const hip::Event start = device.event(), stop = device.event();
    LaunchCounts stats(device);
    stats.skip(); // of launches before
    device.record(start);
    launch(modules, kernel, op);
    device.record(stop);
    Timed out;
    out.us = 1000 * f64{device.elapsed_ms(start, stop)};
    out.launch = stats.next_launch(kernel.symbol).value_or(LaunchStats{});
    out.drawn = {out.us, out.launch.time.draws};
    return out;
}

} // namespace nw::bench
