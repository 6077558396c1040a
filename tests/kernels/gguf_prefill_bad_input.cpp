// SPDX-License-Identifier: MIT
// Every rule of gguf_prefill, broken one at a time: an error that names the value and the rule,
// nothing launched, the output as it was. And which tile a product gets.
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

#include "check/ops.h"
#include "refusals.h"

using namespace nw;

namespace {

// A small product that is right in every respect, on the device.
class Product {
public:
    static constexpr u32 m = 40, n = 24, k = 512;
    static constexpr u8 before = 0xab; // what c holds until a kernel writes it

    Product()
        : a(device().allocate(gguf_halves_bytes(m, k))),
          w(device().allocate(n * ggml_row_bytes("q6_K", k))), c(device().allocate(4 * m * n)) {
        a.fill(0);
        w.fill(0);
        c.fill(before);
    }
    GgufLaunch problem() const { return {"q4_K", m, n, k, a.data(), w.data(), c.data()}; }
    bool untouched() const {
        device().synchronize();
        std::vector<u8> now(4 * m * n);
        c.download(now.data(), now.size());
        return now == std::vector<u8>(4 * m * n, before);
    }

    hip::Buffer a, w, c;
};

void *plus(const void *p, u64 bytes) {
    return const_cast<std::byte *>(static_cast<const std::byte *>(p)) + bytes;
}

struct Bad {
    const char *says; // must be in the error
    std::function<void(GgufLaunch &)> breaks;
};

// The family's kernel for that type; any kernel if there is none.
const Kernel &kernel_for(const Op &op) {
    const std::string &gfx = device().info().gfx;
    const Kernel *kernel = check::find_for("gguf_prefill", gfx, op);
    return kernel ? *kernel : check::default_of("gguf_prefill", gfx);
}

void check_refused(const std::vector<Bad> &cases) {
    const Product product;
    Modules modules(device());
    for (const Bad &bad : cases) {
        GgufLaunch p = product.problem();
        bad.breaks(p);
        const std::string text = error_of([&] { launch(modules, kernel_for(p), p); });
        INFO("wanted: ", bad.says, "; got: ", text);
        CHECK(contains(text, bad.says));
        CHECK(contains(text, "gguf_prefill: "));
    }
    CHECK(product.untouched());
    // Nothing else was wrong.
    const Op whole = product.problem();
    CHECK(error_of([&] { launch(modules, kernel_for(whole), whole); }) == "");
    CHECK_FALSE(product.untouched());
}

} // namespace

TEST_CASE("sizes and types") {
    check_refused({
        // a text that no contract has, of which an op has no more
        {"type = ?: must be q4_0, q4_1, q5_0,", [](auto &p) { p.type = "iq2_s"; }},
        {"type = : must be", [](auto &p) { p.type = ""; }},
        {"m = 0: must be at least 1", [](auto &p) { p.m = 0; }},
        {"n = 0: must be at least 1", [](auto &p) { p.n = 0; }},
        {"k = 0: must be a multiple of 256", [](auto &p) { p.k = 0; }},
        {"k = 384: must be a multiple of 256, the block size of q4_K", [](auto &p) { p.k = 384; }},
        {"k = 48: must be a multiple of 32, the block size of q8_0",
         [](auto &p) { p.type = "q8_0", p.k = 48; }},
        {"k = 67108864: 128 rows of w must be smaller than 2^32", [](auto &p) { p.k = 1u << 26; }},
        {"m = 4294967295, k = 512: activations must be smaller", [](auto &p) { p.m = ~0u; }},
        {"m = 1048576, k = 4096: activations must be smaller",
         [](auto &p) { p.m = 1u << 20, p.k = 4096; }},
        {"n = 2097152: 256 rows of c must be smaller than 2^31", [](auto &p) { p.n = 1u << 21; }},
    });
}

TEST_CASE("pointers") {
    check_refused({
        {"a is null", [](auto &p) { p.a = nullptr; }},
        {"w is null", [](auto &p) { p.w = nullptr; }},
        {"c is null", [](auto &p) { p.c = nullptr; }},
        {"must be 16-byte aligned", [](auto &p) { p.a = plus(p.a, 8); }},
        {"must be 16-byte aligned", [](auto &p) { p.w = plus(p.w, 2); }},
        {"must be 4-byte aligned", [](auto &p) { p.c = plus(p.c, 2); }},
        {"overlaps a = ",
         [](auto &p) { p.c = plus(p.a, gguf_halves_bytes(Product::m, Product::k) - 4); }},
        {"overlaps w = ", [](auto &p) { p.c = plus(p.w, 2 * 144 * Product::n - 4); }},
    });
}

TEST_CASE("kernels and orders that do not fit") {
    const Product product;
    Modules modules(device());
    const std::string &gfx = device().info().gfx;
    const Op p = product.problem();
    const Kernel &kernel = kernel_for(p);
    struct Order {
        u64 raster_shift = 0, rotate = 0, first = 1, levels = 1, pause = 0;
    };
    const auto refused = [&](const Kernel &with, const Order &order) {
        Op op = p;
        op.raster_shift = order.raster_shift, op.rotate = order.rotate;
        op.first = order.first, op.levels = order.levels, op.pause = order.pause;
        return error_of([&] { launch(modules, with, op); });
    };
    CHECK(contains(refused(check::default_of("gguf_prefill", gfx, {{"type", "q6_K"}}), {}),
                   "is not for q4_K"));
    // Another family's contract, which the op lacks something of.
    CHECK(contains(refused(check::default_of("gguf_halves", gfx), {}), "gguf_halves: x is null"));
    CHECK(contains(refused(kernel, {.raster_shift = 16}), "raster_shift = 16: must be 0..15"));
    CHECK(contains(refused(kernel, {.raster_shift = ~u64{0} - 1}),
                   "raster_shift = 18446744073709551614: must be 0..15"));
    CHECK(contains(refused(kernel, {.raster_shift = 1, .rotate = 2}), "rotate = 2: must be 0"));
    CHECK(contains(refused(kernel, {.first = 0}), "first = 0"));
    CHECK(contains(refused(kernel, {.levels = 0}), "levels = 0"));
    CHECK(contains(refused(kernel, {.levels = 4, .pause = 1u << 30}), "pause = 1073741824"));
    CHECK(contains(error_of([] { choose("gfx906", linear_gguf("q4_K", 64, 64, 256)); }),
                   "gfx = gfx906: no kernels for it; there are kernels for gfx1"));
    CHECK(product.untouched());
    CHECK(refused(kernel, {.raster_shift = 1, .rotate = 1, .first = 1, .levels = 2, .pause = 1}) ==
          "");
    CHECK_FALSE(product.untouched());
}
