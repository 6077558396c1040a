// SPDX-License-Identifier: MIT
#include "check/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>

#include "base/half.h"

namespace nw::check {

namespace {

constexpr std::byte poison{0xff}; // two of them are a NaN in both dtypes
constexpr u32 reports_per_kernel = 3;

std::string show(Dtype dtype, u16 word) {
    return fmt::format("{:04x} ({:.6g})", word, to_f32(dtype, word));
}

// Eight elements a column, the first 512: where in the output the wrong ones sit.
std::string map(std::span<const u8> wrong) {
    std::string out;
    const u64 shown = std::min<u64>(wrong.size(), 512);
    for (u64 row = 0; row < shown; row += 64) {
        out += fmt::format("\n      [{:5}] ", row);
        for (u64 i = row; i < std::min(row + 64, shown); ++i)
            out += fmt::format("{}{}", wrong[i] ? 'x' : '.', i % 8 == 7 ? " " : "");
    }
    return out;
}

u64 hash(std::string_view text) {
    u64 h = 0;
    for (char c : text)
        h = mix(h + static_cast<u8>(c) + 1);
    return h;
}

} // namespace

Region::Region(const hip::Device &device, std::span<const std::byte> content)
    : content_(content.begin(), content.end()),
      buffer_(device.allocate(content.size() + 2 * guard)) {
    std::vector<std::byte> whole(content.size() + 2 * guard, poison);
    std::ranges::copy(content, whole.begin() + guard);
    buffer_.upload(whole.data(), whole.size());
}

void *Region::data() const { return static_cast<std::byte *>(buffer_.data()) + guard; }

std::vector<std::byte> Region::read() const {
    std::vector<std::byte> out(content_.size());
    if (!out.empty())
        buffer_.download(out.data(), out.size(), guard);
    return out;
}

void Region::poke(i64 offset, std::byte value) {
    buffer_.upload(&value, 1, static_cast<u64>(offset + static_cast<i64>(guard)));
}

Test::Test(Modules &m, const Kernel &kernel, u64 seed, std::string rerun, bool verbose)
    : modules(m), rng(seed ^ hash(kernel.symbol)), kernel_(kernel), rerun_(std::move(rerun)),
      verbose_(verbose) {}

void Test::shape(std::string text) {
    shape_ = std::move(text);
    if (verbose_)
        fmt::print("      {}\n", shape_);
}

void Test::fail(const std::string &text, std::source_location where) {
    if (++failures_ <= reports_per_kernel)
        fmt::print("   {} {}   {}:{}   {}\n      {}\n      rerun: {}\n", kernel_.symbol,
                   kernel_.gfx, where.file_name(), where.line(), shape_, text, rerun_);
    else if (failures_ == reports_per_kernel + 1)
        fmt::print("   {} {}   more failures, not shown\n", kernel_.symbol, kernel_.gfx);
    std::fflush(stdout);
}

template <class Bad, class Show>
void Test::compare(const char *name, std::span<const u16> got, const Bad &bad, const Show &want,
                   Dtype dtype, std::source_location where) {
    std::vector<u8> wrong(got.size());
    for (u64 i = 0; i < got.size(); ++i)
        wrong[i] = bad(i);
    const u64 count = std::ranges::count(wrong, 1);
    if (count == 0)
        return;
    const u64 first = std::ranges::find(wrong, 1) - wrong.begin();
    fail(fmt::format("{}: {} of {} differ, first [{}]: got {}  want {}{}", name, count, got.size(),
                     first, show(dtype, got[first]), want(first), map(wrong)),
         where);
}

void Test::within(const char *name, Dtype dtype, std::span<const u16> got,
                  std::span<const f64> want, std::span<const f64> tolerance,
                  std::source_location where) {
    const auto bad = [&](u64 i) {
        const f64 x = to_f32(dtype, got[i]);
        if (std::isnan(want[i]) || std::isnan(x))
            return std::isnan(want[i]) != std::isnan(x);
        // An infinite `want` is its own bound: subtracting a tolerance that is infinite too would
        // make a NaN.
        const f64 t = std::isinf(want[i]) ? 0 : tolerance[i];
        return x < to_f32(dtype, round_to(dtype, want[i] - t)) ||
               x > to_f32(dtype, round_to(dtype, want[i] + t));
    };
    const auto expected = [&](u64 i) {
        return fmt::format("{} ({:.9g} +- {:.3g})", show(dtype, round_to(dtype, want[i])), want[i],
                           tolerance[i]);
    };
    compare(name, got, bad, expected, dtype, where);
}

void Test::same(const char *name, Dtype dtype, std::span<const u16> got, std::span<const u16> want,
                std::source_location where) {
    compare(
        name, got, [&](u64 i) { return got[i] != want[i]; },
        [&](u64 i) { return show(dtype, want[i]); }, dtype, where);
}

void Test::guards_clean(const char *name, const Region &region, std::source_location where) {
    std::vector<std::byte> whole(region.buffer_.size());
    region.buffer_.download(whole.data(), whole.size());
    const auto dirty = [&](u64 begin, u64 end, const char *side) {
        u64 count = 0, first = 0;
        for (u64 i = end; i-- > begin;)
            if (whole[i] != poison) {
                ++count;
                first = i;
            }
        if (count)
            fail(fmt::format("{}: {} bytes of the guard band {} were written, the lowest at byte "
                             "offset {} from the start of {}",
                             name, count, side,
                             static_cast<i64>(first) - static_cast<i64>(Region::guard), name),
                 where);
    };
    dirty(0, Region::guard, "below");
    dirty(whole.size() - Region::guard, whole.size(), "above");
}

void Test::unchanged(const char *name, const Region &region, std::source_location where) {
    guards_clean(name, region, where);
    const std::vector<std::byte> now = region.read();
    const auto [a, b] = std::ranges::mismatch(now, region.content_);
    if (a != now.end())
        fail(fmt::format("{}: the input was written at byte offset {}", name, a - now.begin()),
             where);
}

void Test::holds(const char *name, const Region &region, const std::vector<i32> &want,
                 std::source_location where) {
    guards_clean(name, region, where);
    const std::vector<i32> got = region.read_as<i32>();
    const auto [at, wanted] = std::ranges::mismatch(got, want);
    if (at != got.end())
        fail(fmt::format("{}[{}] is {}, not {}", name, at - got.begin(), *at, *wanted), where);
}

} // namespace nw::check
