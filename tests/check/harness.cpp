// SPDX-License-Identifier: MIT
// The harness itself: what it must and must not report as a failure. It prints the failures it is
// shown here.
#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include "base/half.h"
#include "check/check.h"

using namespace nw;

namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();

const hip::Device &device() {
    static const hip::Device one("sim:gfx1151");
    return one;
}

// Failures that `body` causes.
template <class Body> u32 failures(const Body &body) {
    static const Kernel kernel{"a_kernel", "gfx1151", "a_family"};
    Modules modules(device());
    check::Test t(modules, kernel, 1, "(shown to test the harness itself)", false);
    body(t);
    return t.failures();
}

u32 within(Dtype dtype, u16 got, f64 want, f64 tolerance) {
    return failures([&](check::Test &t) {
        t.within("c", dtype, std::span(&got, 1), std::span(&want, 1), std::span(&tolerance, 1));
    });
}

} // namespace

TEST_CASE("a result is the rounding of something within the tolerance, or a failure") {
    const u16 one = f32_to_f16(1), next = one + 1; // 1 and 1 + 2^-10
    CHECK(within(Dtype::f16, one, 1, 0) == 0);
    CHECK(within(Dtype::f16, next, 1, 0) == 1);
    CHECK(within(Dtype::f16, one, 1 + 0x1p-11, 0) == 0); // the tie goes to even
    CHECK(within(Dtype::f16, next, 1 + 0x1p-11, 0) == 1);
    CHECK(within(Dtype::f16, next, 1 + 0x1p-11, 0x1p-30) == 0);
    CHECK(within(Dtype::bf16, f32_to_bf16(-0.0f), 0, 0) == 0);
}

TEST_CASE("NaN and infinity have to be where they belong") {
    CHECK(within(Dtype::f16, nan_poison, 1, 1) == 1);
    CHECK(within(Dtype::f16, F16::infinity, 1, 1) == 1);
    CHECK(within(Dtype::f16, nan_poison, NAN, 0) == 0);
    CHECK(within(Dtype::f16, f32_to_f16(1), NAN, 0) == 1);
    CHECK(within(Dtype::f16, F16::infinity, 70000, 0) == 0); // beyond the range of f16
    CHECK(within(Dtype::f16, 0x7bff, 70000, 0) == 1);
    CHECK(within(Dtype::bf16, Bf16::infinity, infinity, infinity) == 0);
    CHECK(within(Dtype::bf16, Bf16::infinity | 0x8000, infinity, infinity) == 1);
    CHECK(within(Dtype::bf16, f32_to_bf16(1), infinity, infinity) == 1);
}

TEST_CASE("equal words, guard bands and inputs") {
    const u16 got[] = {1, 2, 3}, want[] = {1, 2, 4};
    CHECK(failures([&](check::Test &t) { t.same("c", Dtype::f16, got, got); }) == 0);
    CHECK(failures([&](check::Test &t) { t.same("c", Dtype::f16, got, want); }) == 1);

    const std::vector<u16> content(100, 7);
    const auto written = [&](i64 offset) {
        return failures([&](check::Test &t) {
            check::Region region = t.region<u16>(content);
            if (offset != 0)
                region.poke(offset, std::byte{0x12});
            t.unchanged("a", region);
        });
    };
    CHECK(written(0) == 0);
    CHECK(written(-1) == 1);  // below
    CHECK(written(200) == 1); // above
    CHECK(written(13) == 1);  // inside
    const auto output_written_inside = failures([&](check::Test &t) {
        check::Region region = t.region<u16>(content);
        region.poke(13, std::byte{0x12});
        t.guards_clean("c", region);
    });
    CHECK(output_written_inside == 0);
}

TEST_CASE("the data depends on seed and kernel alone") {
    static const Kernel one{"one", "gfx1151", "f"}, other{"other", "gfx1100", "f"};
    Modules modules(device());
    const auto first = [&](const Kernel &k, u64 seed) {
        return check::Test(modules, k, seed, "", false).rng.next();
    };
    CHECK(first(one, 5) == first(one, 5));
    CHECK(first(one, 5) != first(one, 6));
    CHECK(first(one, 5) != first(other, 5));
}

TEST_CASE("edge shapes: one size changed at a time, raised to what the contract allows") {
    const Kernel *kernel = find_kernel("gfx1151", "gguf_decode_q4_K_m1");
    REQUIRE(kernel);
    std::vector<std::pair<u32, u32>> shapes;
    for (const check::EdgeShape &shape : check::edge_shapes(*kernel))
        shapes.emplace_back(shape.n, shape.k);
    const std::vector<std::pair<u32, u32>> want = {{1, 512},   {31, 512},  {32, 512},
                                                   {33, 512},  {69, 512},  {40, 256},
                                                   {40, 1024}, {40, 1280}, {40, 2304}};
    CHECK(shapes == want);
}

TEST_CASE("a family without [edges] is told so") {
    static const Kernel kernel{"a_kernel", "gfx1151", "splitk_w4a16", find_family("splitk_w4a16")};
    CHECK_THROWS_WITH(check::edge_shapes(kernel), "splitk_w4a16: its contract has no [edges]");
}
