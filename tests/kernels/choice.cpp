// SPDX-License-Identifier: MIT
// Which kernel a shape gets, of the tables that this build has: exact, nearest, default.
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
#include "kernels/choice.h"
#include "kernels/force.h"

using namespace nw;

namespace {

thread_local u64 allocations = 0;

using Why = Choice::Why;

// A kind of product that gfx1151's table has.
constexpr std::string_view gfx = "gfx1151";
Choice at(u32 n, u32 k) { return explain(gfx, Dtype::bf16, 128, 1, Zeros::eight, n, k); }
std::span<const Tuned> shapes() { return tuned_shapes(gfx, Dtype::bf16, 128, 1, Zeros::eight); }
const Kernel &standard() { return choose(gfx, Dtype::bf16, 128, 1); }

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

TEST_CASE("a tuned shape gets what its row says") {
    REQUIRE_FALSE(shapes().empty());
    for (const Tuned &t : shapes()) {
        INFO(t.n, " x ", t.k);
        const Choice c = at(t.n, t.k);
        CHECK(c.why == Why::tuned);
        CHECK(c.kernel == t.kernel);
        CHECK(c.tuned == &t);
        CHECK(c.distance == 0);
        CHECK(matches(*c.kernel, Dtype::bf16, 128, 1, Zeros::eight));
        CHECK(c.kernel->gfx == gfx);
        CHECK(t.us <= t.default_us);
    }
}

TEST_CASE("any other shape gets what the nearest one has, or the default far from all") {
    Rng rng(7);
    u64 near = 0, untuned = 0;
    for (int i = 0; i < 2000; ++i) {
        const u32 n = 1 + static_cast<u32>(std::exp2(17 * rng.unit()));
        const u32 k = 128 * (1 + static_cast<u32>(std::exp2(9 * rng.unit())));
        INFO(n, " x ", k);
        f64 least = 1e9;
        for (const Tuned &t : shapes())
            least = std::min(least, distance(t, n, k));
        const Choice c = at(n, k);
        if (least > farthest + 1e-9) {
            ++untuned;
            CHECK(c.why == Why::untuned);
            CHECK(c.kernel == &standard());
            CHECK(c.tuned == nullptr);
        } else if (least < farthest - 1e-9) {
            ++near;
            REQUIRE(c.tuned != nullptr);
            CHECK(c.distance == doctest::Approx(least));
            CHECK(distance(*c.tuned, n, k) == doctest::Approx(least));
            CHECK(c.kernel == c.tuned->kernel);
        }
    }
    CHECK(near > 100);
    CHECK(untuned > 100);
}

TEST_CASE("sizes at the ends of their range are no trouble") {
    CHECK(at(1, 32).kernel == &standard());
    CHECK(at(~0u, ~0u).kernel == &standard());
}

TEST_CASE("where no table has the kind of product, it is the default") {
    const Choice c = explain("gfx1151", Dtype::f16, 64, 7, Zeros::typed, 4096, 4096);
    CHECK(c.why == Why::untuned);
    CHECK(c.kernel == &choose("gfx1151", Dtype::f16, 64, 7, Zeros::typed));
    CHECK_THROWS_AS(explain("gfx900", Dtype::f16, 64, 7, Zeros::typed, 4096, 4096), Error);
    CHECK_THROWS_AS(explain("gfx1151", Dtype::f16, 64, 9, Zeros::typed, 4096, 4096), Error);
}

TEST_CASE("a choice allocates nothing and costs less than to format a line") {
    const Tuned some = shapes().front();
    static_cast<void>(at(some.n, some.k)); // reads the tables
    const u64 before = allocations;
    for (u32 n = 1; n < 1000; ++n)
        static_cast<void>(at(64 * n, some.k));
    CHECK(allocations == before);

    const f64 choice = best_ns([&](int i) { static_cast<void>(at(some.n + i, some.k)); });
    const f64 line = best_ns([&](int i) {
        std::string text = fmt::format("{} {} x {}: {:.3f} us, {:.3f} us", standard().symbol, i,
                                       some.k, some.us, some.default_us + i);
        asm volatile("" : : "g"(text.data()) : "memory");
    });
    MESSAGE("a choice takes ", choice, " ns, a line ", line, " ns");
    CHECK(choice < 3 * line);
}

TEST_CASE("threads choose at once") {
    std::vector<std::jthread> threads;
    std::atomic<u64> wrong{0};
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (int round = 0; round < 200; ++round)
                for (const Tuned &tuned : shapes())
                    wrong += at(tuned.n, tuned.k).kernel != tuned.kernel;
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
    CHECK(other.find("this build has it for ") != std::string::npos);
    CHECK(other.find("gfx1151") != std::string::npos);
    CHECK(other.find("the device is a gfx1201") != std::string::npos);
}
