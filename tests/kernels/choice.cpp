// SPDX-License-Identifier: MIT
// Which kernel a shape gets: exact, nearest, default; and NIBBLEWAVE_FORCE.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <new>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "runtime/choose.h"
#include "runtime/force.h"
#include "runtime/w4a16.h"

using namespace nw;

namespace {

thread_local u64 allocations = 0;

constexpr std::string_view gfx = "gfx1151";

constexpr u64 rows = 8; // of which the table has several shapes

Op decode(u32 n, u32 k) { return linear_w4a16(Dtype::bf16, 128, Zeros::eight, rows, n, k); }
// A kind that isn't in any table.
Op untuned(u32 n, u32 k) { return linear_w4a16(Dtype::f16, 64, Zeros::typed, 7, n, k); }

const Kernel &standard() { return cheapest(gfx, decode(4096, 4096)); }

// The shapes that were tuned for decode().
std::vector<Tuned> table() {
    std::vector<Tuned> out;
    for (const TunedRow &row : tuned_rows()) {
        if (row.gfx != gfx || row.family != "decode_w4a16" || row.m != rows)
            continue;
        const Kernel *kernel = find_kernel(row.gfx, row.kernel);
        if (!kernel || !matches(*kernel, decode(row.shape.n, row.shape.k)))
            continue;
        out.push_back(row.shape);
        out.back().kernel = kernel;
    }
    return out;
}

f64 distance(const Tuned &t, u32 n, u32 k) {
    return std::hypot(std::log2(f64{1} * t.n / n), std::log2(f64{1} * t.k / k));
}

template <class Call> f64 best_ns(const Call &call) {
    f64 best = 1e18;
    for (int round = 0; round < 20; ++round) {
        constexpr int calls = 500;
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i)
            call(i);
        const std::chrono::duration<f64, std::nano> took = std::chrono::steady_clock::now() - begin;
        best = std::min(best, took.count() / calls);
    }
    return best;
}

} // namespace

void *operator new(std::size_t bytes) {
    ++allocations;
    if (void *p = std::malloc(bytes))
        return p;
    throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }

TEST_CASE("a tuned shape finds itself") {
    const std::vector<Tuned> shapes = table();
    REQUIRE(shapes.size() >= 10);
    for (const Tuned &t : shapes) {
        INFO(t.n, " x ", t.k);
        const Choice found = explain(gfx, decode(t.n, t.k));
        CHECK(found.why == Choice::Why::tuned);
        REQUIRE(found.tuned != nullptr);
        CHECK(found.tuned->n == t.n);
        CHECK(found.tuned->k == t.k);
        CHECK(found.kernel == t.kernel);
        CHECK(found.distance == 0);
    }
}

TEST_CASE("any other shape finds the nearest one, or none far from all") {
    const std::vector<Tuned> shapes = table();
    Rng rng(7);
    u64 near = 0, none = 0;
    for (int i = 0; i < 2000; ++i) {
        const u32 n = 1 + static_cast<u32>(std::exp2(17 * rng.unit()));
        const u32 k = 128 * (1 + static_cast<u32>(std::exp2(9 * rng.unit())));
        INFO(n, " x ", k);
        f64 least = 1e9;
        for (const Tuned &t : shapes)
            least = std::min(least, distance(t, n, k));
        const Choice found = explain(gfx, decode(n, k));
        if (least > farthest + 1e-9) {
            ++none;
            CHECK(found.tuned == nullptr);
            CHECK(found.why == Choice::Why::untuned);
            CHECK(found.kernel == &standard());
        } else if (least < farthest - 1e-9) {
            ++near;
            REQUIRE(found.tuned != nullptr);
            CHECK(found.why == (least > 0 ? Choice::Why::near : Choice::Why::tuned));
            CHECK(found.kernel == found.tuned->kernel);
            CHECK(found.distance == doctest::Approx(least));
            CHECK(distance(*found.tuned, n, k) == doctest::Approx(least));
        }
    }
    CHECK(near > 100);
    CHECK(none > 100);
}

TEST_CASE("sizes at the ends of their range are no trouble, and neither is an empty table") {
    CHECK(explain(gfx, decode(1, 128)).tuned == nullptr);
    CHECK(explain(gfx, decode(~0u, ~0u - 127)).tuned == nullptr);
    CHECK(explain(gfx, untuned(4096, 4096)).tuned == nullptr);
}

TEST_CASE("where no table has the kind of product, it is the default") {
    const Choice c = explain(gfx, untuned(4096, 4096));
    CHECK(c.why == Choice::Why::untuned);
    CHECK(c.kernel == &cheapest(gfx, untuned(4096, 4096)));
    CHECK(c.tuned == nullptr);
    CHECK_THROWS_AS(explain("gfx900", untuned(4096, 4096)), Error);
    CHECK_THROWS_AS(explain(gfx, linear_w4a16(Dtype::f16, 64, Zeros::typed, 9, 4096, 4096)), Error);
}

TEST_CASE("a choice allocates nothing and costs less than to format three lines") {
    const auto choice = [&](u32 n) {
        const Kernel &k = choose(gfx, decode(n, 4096));
        const Choice found = explain(gfx, decode(n, 4096));
        asm volatile("" : : "g"(&k), "g"(found.tuned) : "memory");
    };
    choice(1); // reads the tables
    const u64 before = allocations;
    for (u32 n = 1; n < 1000; ++n)
        choice(64 * n);
    CHECK(allocations == before);

    const f64 one = best_ns([&](int i) { choice(4096 + static_cast<u32>(i)); });
    const f64 line = best_ns([&](int i) {
        const std::string text = fmt::format("{} {} x {}: {:.3f} us, {:.3f} us", standard().symbol,
                                             i, 4096, 1.0 / (i + 1), 2.0 + i);
        asm volatile("" : : "g"(text.data()) : "memory");
    });
    MESSAGE("two choices take ", one, " ns, a line ", line, " ns");
    CHECK(one < 3 * line);
}

TEST_CASE("threads choose at once") {
    std::vector<std::jthread> threads;
    std::atomic<u64> wrong{0};
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (u32 n = 1; n < 2000; ++n) {
                const Op op = untuned(n, 4096);
                wrong += !matches(*explain(gfx, op).kernel, op);
            }
        });
    threads.clear();
    CHECK(wrong == 0);
}

TEST_CASE("a name to force is a kernel's, or says why not") {
    CHECK(&find_forced(standard().symbol, gfx) == &standard());
    const auto text = [](std::string_view symbol, std::string_view on) -> std::string {
        try {
            find_forced(symbol, on);
        } catch (const Error &e) {
            return e.what();
        }
        return "";
    };
    CHECK(text("decode_w4a16_bf16_g128_m1_prm", gfx)
              .find("the nearest names on gfx1151 are "
                    "decode_w4a16_bf16_g128_m1_perm, ") != std::string::npos);
    const std::string other = text("splitk_w4a16_bf16_g128_sym_m1_y1u4", "gfx1201");
    CHECK(other.find("there is one for ") != std::string::npos);
    CHECK(other.find("gfx1151") != std::string::npos);
    CHECK(other.find("the device is a gfx1201") != std::string::npos);
}
