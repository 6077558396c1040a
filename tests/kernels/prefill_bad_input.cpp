// SPDX-License-Identifier: MIT
// Every rule of prefill_w4a16 and mid_w4a16, broken one at a time: an error that names the value
// and the rule, nothing launched, the output as it was. And what chooses between it and decode.
#include <cstdlib>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "check/ops.h"
#include "refusals.h"

using namespace nw;

namespace {

// A small product that is right in every respect, on the device.
class Product {
public:
    static constexpr u32 m = 11, n = 40, k = 256, group = 128;
    static constexpr u8 before = 0xab; // what c holds until a kernel writes it

    Product()
        : a(device().allocate(2 * m * k)), w(device().allocate(n * k / 2)),
          s(device().allocate(n * k / group * 4)), bias(device().allocate(2 * n)),
          c(device().allocate(2 * m * n)) {
        for (hip::Buffer *b : {&a, &w, &s, &bias})
            b->fill(0);
        c.fill(before);
    }

    // s is large enough to be used as the zero points, too.
    W4A16 problem(Zeros zeros = Zeros::eight) const {
        const bool packed = zeros == Zeros::packed;
        return {Dtype::f16,
                m,
                n,
                k,
                group,
                a.data(),
                w.data(),
                s.data(),
                bias.data(),
                c.data(),
                k / 2,
                k / group * (zeros == Zeros::carrier ? 4 : 2),
                zeros,
                packed ? s.data() : nullptr,
                packed ? k / group * 4 : 0};
    }

    bool untouched() const {
        device().synchronize();
        std::vector<u8> now(2 * m * n);
        c.download(now.data(), now.size());
        return now == std::vector<u8>(2 * m * n, before);
    }

    hip::Buffer a, w, s, bias, c;
};

const void *plus(const void *p, u64 bytes) { return static_cast<const std::byte *>(p) + bytes; }

struct Bad {
    const char *says; // must be in the error
    std::function<void(W4A16 &)> breaks;
};

// No tile has more rows of a or of w.
constexpr u32 widest_tile = 256;

const Kernel &choose_prefill(std::string_view gfx, Dtype dtype, u64 group, Zeros zeros, u32 m,
                             u32 n, u32 k) {
    return choose(gfx, linear_w4a16(dtype, group, zeros, m, n, k));
}

void check_refused_by(std::string_view family, Zeros zeros, const std::vector<Bad> &cases) {
    const Product product;
    Modules modules(device());
    const std::string &gfx = device().info().gfx;
    const Kernel *usual = check::find_for(family, gfx, product.problem(zeros));
    REQUIRE(usual);
    for (const Bad &bad : cases) {
        W4A16 p = product.problem(zeros);
        bad.breaks(p);
        const Kernel *fits = check::find_for(family, gfx, p);
        const std::string text = error_of([&] { launch(modules, fits ? *fits : *usual, p); });
        INFO(family, " wanted: ", bad.says, "; got: ", text);
        CHECK(contains(text, bad.says));
        CHECK(text.starts_with(std::string(family) + ": "));
    }
    CHECK(product.untouched());
    // Nothing else was wrong.
    CHECK(error_of([&] { launch(modules, *usual, product.problem(zeros)); }) == "");
    CHECK_FALSE(product.untouched());
}

void check_refused(Zeros zeros, const std::vector<Bad> &cases) {
    check_refused_by("prefill_w4a16", zeros, cases);
    if (zeros != Zeros::carrier) // which mid_w4a16 has not
        check_refused_by("mid_w4a16", zeros, cases);
}

} // namespace

TEST_CASE("sizes and forms") {
    check_refused(
        Zeros::eight,
        {{"m = 0: must be at least 1", [](W4A16 &p) { p.m = 0; }},
         {"n = 0: must be at least 1", [](W4A16 &p) { p.n = 0; }},
         {"group = 0: must be 32, 64 or 128", [](W4A16 &p) { p.group = 0; }},
         {"group = 256: must be 32, 64 or 128; repeat", [](W4A16 &p) { p.group = 256; }},
         {"groups are per row: that form is for m = 1..8", [](W4A16 &p) { p.group = per_row; }},
         {"k = 0: must be a positive multiple", [](W4A16 &p) { p.k = 0; }},
         {"k = 192: must be a multiple of the group size 128; pad", [](W4A16 &p) { p.k = 192; }},
         {"zeros are typed: that form is for m = 1..8", [](W4A16 &p) { p.zeros = Zeros::typed; }},
         {"n = 39: gate and up must have the same number of rows",
          [](W4A16 &p) { p.n = 39, p.silu_gate_up = true; }}});
}

TEST_CASE("what offsets of a tile don't reach") {
    check_refused(
        Zeros::eight,
        {{"k = 4194304: must be below 4194304, as 256 rows of A",
          [](W4A16 &p) { p.k = 1 << 22, p.w_stride = p.k / 2, p.s_stride = p.k / 64; }},
         {"n = 4194304: must be below 4194304, as 256 rows of C", [](W4A16 &p) { p.n = 1 << 22; }},
         {"w_stride = 16777216: must be below 16777216, as 256 rows share",
          [](W4A16 &p) { p.w_stride = 1 << 24; }},
         {"w_stride = 18446744073709551600: must be below",
          [](W4A16 &p) { p.w_stride = -u64{16}; }},
         {"s_stride = 16777216: must be below", [](W4A16 &p) { p.s_stride = 1 << 24; }},
         {"w_stride = 1048576: 4096 rows must be smaller than 2^32 bytes together",
          [](W4A16 &p) { p.n = 4096, p.w_stride = 1 << 20, p.silu_gate_up = true; }},
         {"s_stride = 1048576: 4096 rows must be smaller",
          [](W4A16 &p) { p.n = 4096, p.s_stride = 1 << 20, p.silu_gate_up = true; }},
         {"m = 4294967295, n = 4000000: ",
          [](W4A16 &p) { p.m = ~0u, p.n = 4000000, p.w_stride = 128; }}});
    check_refused(Zeros::packed,
                  {{"z_stride = 16777216: must be below", [](W4A16 &p) { p.z_stride = 1 << 24; }},
                   {"z_stride = 1048576: 4096 rows must be smaller",
                    [](W4A16 &p) { p.n = 32768, p.z_stride = 1 << 20; }}});
}

TEST_CASE("pointers and strides") {
    check_refused(
        Zeros::packed,
        {{"a is null", [](W4A16 &p) { p.a = nullptr; }},
         {"w is null", [](W4A16 &p) { p.w = nullptr; }},
         {"s is null", [](W4A16 &p) { p.s = nullptr; }},
         {"z is null", [](W4A16 &p) { p.z = nullptr; }},
         {"c is null", [](W4A16 &p) { p.c = nullptr; }},
         {"must be 16-byte aligned", [](W4A16 &p) { p.a = plus(p.a, 8); }},
         {"must be 16-byte aligned", [](W4A16 &p) { p.w = plus(p.w, 4); }},
         {"must be 2-byte aligned", [](W4A16 &p) { p.s = plus(p.s, 1); }},
         {"must be 4-byte aligned", [](W4A16 &p) { p.z = plus(p.z, 2); }},
         {"must be 2-byte aligned", [](W4A16 &p) { p.bias = plus(p.bias, 1); }},
         {"must be 2-byte aligned", [](W4A16 &p) { p.c = const_cast<void *>(plus(p.c, 1)); }},
         {"w_stride = 112: must be at least a row, K/2 = 128", [](W4A16 &p) { p.w_stride = 112; }},
         {"w_stride = 136: must be a multiple of 16; pad to 144",
          [](W4A16 &p) { p.w_stride = 136; }},
         {"s_stride = 2: must be at least a row, 2*K/G = 4", [](W4A16 &p) { p.s_stride = 2; }},
         {"s_stride = 5: must be a multiple of 2", [](W4A16 &p) { p.s_stride = 5; }},
         {"z_stride = 4: must be at least a row, 4*K/G = 8", [](W4A16 &p) { p.z_stride = 4; }},
         {"z_stride = 10: must be a multiple of 4; pad to 12", [](W4A16 &p) { p.z_stride = 10; }},
         {"z is given, but zeros are eight", [](W4A16 &p) { p.zeros = Zeros::eight; }}});
    check_refused(
        Zeros::carrier,
        {{"must be 4-byte aligned", [](W4A16 &p) { p.s = plus(p.s, 2); }},
         {"s_stride = 4: must be at least a row, 4*K/G = 8", [](W4A16 &p) { p.s_stride = 4; }},
         {"s_stride = 10: must be a multiple of 4", [](W4A16 &p) { p.s_stride = 10; }},
         {"z is given, but zeros are in the carrier", [](W4A16 &p) { p.z = p.s; }}});
}

TEST_CASE("a result over one of its inputs") {
    const auto over = [](W4A16 &p, const void *from) { p.c = const_cast<void *>(from); };
    check_refused(Zeros::carrier,
                  {{"overlaps a = ", [&](W4A16 &p) { over(p, plus(p.a, 2 * 11 * 256 - 2)); }},
                   {"overlaps w = ", [&](W4A16 &p) { over(p, plus(p.w, 128 * 40 - 2)); }},
                   {"overlaps s = ", [&](W4A16 &p) { over(p, plus(p.s, 8 * 40 - 2)); }},
                   {"overlaps bias = ", [&](W4A16 &p) { p.bias = plus(p.c, 2 * 11 * 40 - 2); }},
                   {"overlaps bias = ", [&](W4A16 &p) {
                        p.bias = plus(p.c, 2 * 11 * 20 - 2); // half of the columns
                        p.silu_gate_up = true;
                    }}});
    check_refused(Zeros::packed, {{"overlaps z = ", [&](W4A16 &p) {
                                       p.s = p.w, p.c = const_cast<void *>(plus(p.z, 8 * 5 - 2));
                                   }}});
}

TEST_CASE("a kernel for something else is not launched") {
    const Product product;
    Modules modules(device());
    const std::string &gfx = device().info().gfx;
    const W4A16 p = product.problem();
    const auto text = [&](const Kernel &kernel) {
        return error_of([&] { launch(modules, kernel, p); });
    };
    CHECK(contains(text(choose_prefill(gfx, Dtype::bf16, 128, Zeros::eight, 11, 40, 128)),
                   "is not for f16 g128"));
    CHECK(contains(text(choose_prefill(gfx, Dtype::f16, 128, Zeros::carrier, 11, 40, 128)),
                   "is not for f16 g128"));
    const Kernel &decode = choose_prefill(gfx, Dtype::f16, 128, Zeros::eight, 1, 40, 128);
    CHECK(contains(text(decode), "decode_w4a16: m = 11: must be 1..8; larger batches are"));
    W4A16 fewer = p;
    fewer.m = 2;
    CHECK(contains(error_of([&] { launch(modules, decode, fewer); }), "is not for f16 g128 m2"));
    const std::string other = gfx == "gfx1100" ? "gfx1201" : "gfx1100";
    CHECK(contains(error_of([&] { choose_prefill("gfx906", p.dtype, 128, p.zeros, 11, 40, 128); }),
                   "gfx = gfx906: no kernels for it; there are kernels for gfx1"));
    CHECK(contains(error_of([&] { choose_prefill(gfx, p.dtype, 256, p.zeros, 11, 40, 128); }),
                   "no kernel for f16 g256 on " + gfx));
    CHECK(product.untouched());
}

TEST_CASE("a kernel that is not for these carriers makes none") {
    const Product product;
    Modules modules(device());
    const std::string &gfx = device().info().gfx;
    const W4A16 in = product.problem(Zeros::packed);
    const CarrierW4A16 p = {Dtype::f16, in.n, in.k,        in.group,    in.s,
                            in.s,       in.c, in.s_stride, in.z_stride, in.z_stride};
    const auto text = [&](const Kernel &k) { return error_of([&] { launch(modules, k, p); }); };
    const auto choose_carrier = [](std::string_view on, Dtype dtype) -> const Kernel & {
        return choose(on, CarrierW4A16{.dtype = dtype, .n = 1, .k = 32, .group = 32});
    };
    CHECK(contains(text(choose_carrier(gfx, Dtype::bf16)),
                   "carrier_w4a16: carrier_w4a16_bf16 is not for f16"));
    // Another family's contract, which the op lacks something of.
    CHECK(contains(text(choose_prefill(gfx, Dtype::f16, 128, Zeros::carrier, 11, 40, 128)),
                   "prefill_w4a16: m = 0: must be at least 1"));
    CHECK(contains(error_of([&] { choose_carrier("gfx906", Dtype::f16); }),
                   "gfx = gfx906: no kernels for it; there are kernels for gfx1"));
    CHECK(product.untouched());
    CHECK(text(choose_carrier(gfx, Dtype::f16)) == "");
    CHECK_FALSE(product.untouched());
}

TEST_CASE("no tile is wider than the rules for strides say") {
    for (const Target &target : targets())
        for (const Kernel &k : kernels(target.name))
            if (k.family == "prefill_w4a16") {
                INFO(k.symbol);
                CHECK(k.number("bm") <= widest_tile);
                CHECK(k.number("bn") <= widest_tile);
            }
}

TEST_CASE("few rows are decode's, in the forms that it has") {
    const Product product;
    const std::string &gfx = device().info().gfx;
    const auto family = [&](u32 m, Zeros zeros, bool silu) {
        W4A16 p = product.problem(zeros);
        p.m = m, p.silu_gate_up = silu;
        check_shape(p);
        return choose(gfx, p).family;
    };
    CHECK(family(8, Zeros::eight, false) == "decode_w4a16");
    CHECK(family(9, Zeros::eight, false) == "mid_w4a16");
    CHECK(family(mid_rows, Zeros::eight, false) == "mid_w4a16");
    CHECK(family(mid_rows + 1, Zeros::eight, false) == "prefill_w4a16");
    CHECK(family(1, Zeros::packed, false) == "decode_w4a16");
    CHECK(family(1, Zeros::carrier, false) == "prefill_w4a16");
    CHECK(family(1, Zeros::packed, true) == "mid_w4a16");
    CHECK(family(8, Zeros::eight, true) == "mid_w4a16");
    CHECK(family(mid_rows, Zeros::eight, true) == "mid_w4a16");
    CHECK(family(mid_rows + 1, Zeros::eight, true) == "prefill_w4a16");
    CHECK(family(8, Zeros::carrier, true) == "prefill_w4a16");
}
