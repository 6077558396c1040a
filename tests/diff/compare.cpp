// SPDX-License-Identifier: MIT
#include "compare.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

namespace nw::diff {

namespace {

constexpr u32 least_items = 1600; // all pairs of hard values, and some random ones
constexpr u32 untouched = 0xc5c5c5c5;

struct Arguments {
    const void *in;
    void *out;
    u32 n;
};

std::vector<u32> fresh_output(u32 n) {
    std::vector<u32> out(guard_words + output_planes * n + shared_words + guard_words, untouched);
    const auto shared = out.begin() + guard_words + output_planes * n;
    std::fill(shared, shared + shared_words, 0);
    return out;
}

// Floats by their rank: neighbours differ by 1, -0 and 0 don't.
i64 rank(u32 word) { return word >> 31 ? -static_cast<i64>(word & 0x7fffffff) : word; }

bool is_nan(u32 word) { return (word & 0x7fffffff) > 0x7f800000; }

bool same(u32 got, u32 want, u32 ulps) {
    if (got == want)
        return true;
    return ulps > 0 && !is_nan(got) && !is_nan(want) && std::abs(rank(got) - rank(want)) <= ulps;
}

// "out[2][17]": the plane and the work-item, or where else the word is.
std::string place(u32 word, u32 n) {
    if (word < guard_words)
        return fmt::format("guard word {} below the output", guard_words - word);
    word -= guard_words;
    if (word < output_planes * n)
        return fmt::format("out[{}n + {}]", word / n, word % n);
    word -= output_planes * n;
    if (word < shared_words)
        return fmt::format("shared[{}]", word);
    return fmt::format("guard word {} above the output", word - shared_words);
}

std::string inputs_at(const Case &c, u32 word) {
    if (word < guard_words || word >= guard_words + output_planes * c.n)
        return "";
    const u32 i = (word - guard_words) % c.n;
    return fmt::format("  a {:08x} b {:08x} c {:08x} d {:08x}", c.in[i], c.in[c.n + i],
                       c.in[2 * c.n + i], c.in[3 * c.n + i]);
}

std::string differences(const Case &c, const std::vector<u32> &got) {
    u32 count = 0, first = 0;
    for (u32 word = 0; word < got.size(); ++word)
        if (!same(got[word], c.want[word], c.kernel->ulps) && count++ == 0)
            first = word;
    if (count == 0)
        return "";
    return fmt::format("{} of {} words differ, first {}: got {:08x}, want {:08x}{}", count,
                       got.size(), place(first, c.n), got[first], c.want[first],
                       inputs_at(c, first));
}

} // namespace

Case make_case(const DiffKernel &kernel, u32 wave_size, u64 seed) {
    Case c{
        .kernel = &kernel, .groups = ceil_div(least_items, kernel.block), .wave_size = wave_size};
    c.n = c.groups * kernel.block;
    c.in = make_inputs(kernel.inputs, c.n, seed);
    c.want = fresh_output(c.n);
    run_on_host(kernel.host, c.groups, kernel.block, wave_size, c.in.data(),
                c.want.data() + guard_words, c.n);
    return c;
}

std::string run_case(const Case &c, const hip::Device &device, const hip::Module &module) {
    std::vector<u32> got = fresh_output(c.n);
    const u64 in_bytes = c.in.size() * sizeof(u32), out_bytes = got.size() * sizeof(u32);
    hip::Buffer in = device.allocate(in_bytes), out = device.allocate(out_bytes);
    in.upload(c.in.data(), in_bytes);
    out.upload(got.data(), out_bytes);
    const Arguments arguments{in.data(), static_cast<u32 *>(out.data()) + guard_words, c.n};
    device.launch(module.function(std::string(c.kernel->name)), c.groups, c.kernel->block, 0,
                  std::as_bytes(std::span(&arguments, 1)));
    device.synchronize();
    out.download(got.data(), out_bytes);
    return differences(c, got);
}

} // namespace nw::diff
