// SPDX-License-Identifier: MIT
// gguf_linear: each way has the bits of its plain launches, keeps within its workspace and leaves
// the counters at 0; enough workspace; which way a product gets; what is refused.
#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <vector>

#include "base/half.h"
#include "base/rng.h"
#include "formats/gguf_blocks.h"
#include "refusals.h"
#include "runtime/gguf.h"
#include "runtime/gguf_linear.h"
#include "runtime/gguf_mid.h"
#include "runtime/gguf_prefill.h"

using namespace nw;

namespace {

using Bytes = std::vector<u8>;

const std::string &gfx() { return device().info().gfx; }
u32 wgps() { return device().info().wgps; }

Modules &modules() {
    static Modules all(device());
    return all;
}

hip::Buffer upload(const void *from, u64 bytes) {
    hip::Buffer out = device().allocate(bytes);
    out.upload(from, bytes);
    return out;
}

// Device memory between bands that nobody may write.
class Guarded {
public:
    Guarded(u64 bytes, u8 content)
        : bytes_(bytes), before_(2 * band + round_up<u64>(bytes, 16), 0xa5),
          buffer_(device().allocate(before_.size())) {
        std::fill_n(before_.begin() + band, bytes, content);
        clear();
    }
    void clear() { buffer_.upload(before_.data(), before_.size()); }
    void *data() const { return static_cast<u8 *>(buffer_.data()) + band; }
    Bytes read() const {
        const Bytes now = all();
        return Bytes(now.begin() + band, now.begin() + band + static_cast<i64>(bytes_));
    }
    bool bands_clean() const {
        const Bytes now = all();
        return std::equal(now.begin(), now.begin() + band, before_.begin()) &&
               std::equal(now.begin() + band + static_cast<i64>(bytes_), now.end(),
                          before_.begin() + band + static_cast<i64>(bytes_));
    }

private:
    static constexpr i64 band = 256;
    Bytes all() const {
        Bytes out(before_.size());
        buffer_.download(out.data(), out.size());
        return out;
    }
    u64 bytes_;
    Bytes before_;
    hip::Buffer buffer_;
};

// Where the f16 scales of a block are.
std::vector<u64> scales_of(std::string_view type) {
    if (type == "q4_K")
        return {offsetof(BlockQ4_K, d), offsetof(BlockQ4_K, dmin)};
    return {type == "q6_K" ? offsetof(BlockQ6_K, d) : 0};
}

Bytes random_weights(std::string_view type, u64 n, u32 k, Rng rng) {
    Bytes out(n * gguf_row_bytes(type, k));
    for (u8 &b : out)
        b = static_cast<u8>(rng.below(256));
    for (u64 block = 0; block < out.size(); block += gguf_blocks(type).bytes)
        for (u64 at : scales_of(type)) {
            const u16 d = f32_to_f16(0x1p-9f * rng.unit());
            std::memcpy(&out[block + at], &d, 2);
        }
    return out;
}

// Operands, with 8 floats between the rows of x.
class Product {
public:
    Product(std::string_view type, u32 m, u32 n, u32 k)
        : type_(type), m_(m), n_(n), k_(k), c_(u64{4} * m * n, 0x7f) {
        Rng rng(u64{m} * 1000 + n);
        std::vector<f32> x(u64{m} * (k + 8));
        for (f32 &v : x)
            v = rng.normal();
        x_ = upload(x.data(), 4 * x.size());
        const Bytes w = random_weights(type, n, k, rng.fork(1));
        w_ = upload(w.data(), w.size());
    }

    GgufLinear problem(const Guarded &workspace, u64 bytes) const {
        return {type_, m_, n_, k_, x_.data(), stride(), w_.data(), c_.data(), workspace.data(),
                bytes};
    }

    // By the kernel, in a workspace of just as many bytes as it says.
    Bytes by_route(const Kernel &kernel) {
        const GgufRoute route = gguf_route(kernel, type_, m_, n_, k_);
        const u64 bytes = gguf_route_workspace(route, m_, n_, k_, wgps());
        Guarded workspace(bytes, 0);
        const Bytes first = run(route, workspace, bytes);
        CHECK(run(route, workspace, bytes) == first); // what the first one left does no harm
        return first;
    }

    // Rows from `first` on, with each launch's memory its own.
    Bytes plain(const Kernel &kernel, u32 first, u32 rows) const {
        const void *const x = static_cast<const u8 *>(x_.data()) + first * stride();
        Guarded c(u64{4} * rows * n_, 0x7f);
        if (kernel.family == "gguf_decode") {
            const Guarded a(q8_bytes(rows, k_), 0x5e);
            launch(modules(), QuantizeQ8{rows, k_, x, stride(), a.data()});
            launch(modules(), kernel,
                   GgufDecode{type_, rows, n_, k_, a.data(), w_.data(), c.data()});
            device().synchronize();
            return c.read();
        }
        if (kernel.family == "gguf_prefill") {
            const Guarded a(gguf_halves_bytes(rows, k_), 0x5e);
            launch(modules(), GgufHalves{rows, k_, x, stride(), a.data()});
            launch(modules(), kernel,
                   GgufPrefill{type_, rows, n_, k_, a.data(), w_.data(), c.data()});
            device().synchronize();
            return c.read();
        }
        const u32 share = gguf_mid_share(kernel, rows, n_, k_, wgps());
        const Guarded a(gguf_halves_bytes(rows, k_), 0x5e),
            parts(gguf_mid_parts_bytes(kernel, rows, n_, k_, share), 0x5e),
            arrived(gguf_mid_arrived_bytes(kernel, rows, n_), 0);
        launch(modules(), GgufHalves{rows, k_, x, stride(), a.data()});
        launch(modules(), kernel,
               GgufMid{type_, rows, n_, k_, a.data(), w_.data(), c.data(), parts.data(),
                       arrived.data()},
               share);
        device().synchronize();
        return c.read();
    }

    Guarded &c() { return c_; }

private:
    u64 stride() const { return u64{4} * (k_ + 8); }

    Bytes run(const GgufRoute &route, const Guarded &workspace, u64 bytes) {
        c_.clear();
        launch(modules(), route, problem(workspace, bytes));
        device().synchronize();
        CHECK(c_.bands_clean());
        CHECK(workspace.bands_clean());
        const Bytes now = workspace.read();
        CHECK(std::all_of(now.begin(), now.begin() + gguf_counters_bytes,
                          [](u8 b) { return b == 0; }));
        return c_.read();
    }

    std::string_view type_;
    u32 m_, n_, k_;
    hip::Buffer x_, w_;
    Guarded c_;
};

const Kernel &kernel_for(const Kernel &way, std::string_view type, u32 rows) {
    if (way.family == "gguf_prefill")
        return way; // takes what is left
    return way.family == "gguf_decode" ? choose_gguf_decode(gfx(), type, rows)
           : rows > 16                 ? way
                                       : choose_gguf_mid(gfx(), type, rows);
}

void check_ways(std::string_view type, u32 m, u32 n, u32 k, std::string_view family = "") {
    constexpr u32 slice_of_mid = 1024;
    constexpr u32 slice_of_prefill = 4096;
    Product product(type, m, n, k);
    for (const Kernel *way : gguf_route_kernels(gfx(), type, m, n, k)) {
        if (!way->family.starts_with(family))
            continue;
        CAPTURE(fmt::format("{} m={} n={} k={}", way->symbol, m, n, k));
        const u32 slice = way->family == "gguf_decode"    ? way->number("m")
                          : way->family == "gguf_prefill" ? slice_of_prefill
                                                          : slice_of_mid;
        Bytes want;
        for (u32 first = 0; first < m; first += slice) {
            const u32 rows = std::min(slice, m - first);
            const Kernel &kernel = rows == slice || rows == m ? *way : kernel_for(*way, type, rows);
            const Bytes part = product.plain(kernel, first, rows);
            want.insert(want.end(), part.begin(), part.end());
        }
        CHECK(product.by_route(*way) == want);
    }
}

} // namespace

TEST_CASE("each way has the bits of its plain launches, and keeps within its workspace") {
    for (const GgufBlocks &blocks : gguf_types())
        for (const auto &[m, n] : {std::pair{1u, 37u}, {3u, 64u}, {8u, 33u}, {9u, 70u}, {19u, 45u}})
            check_ways(blocks.type, m, n, 768);
    check_ways("q4_K", 70, 300, 1024);
}

TEST_CASE("more rows than a way takes at a time") {
    check_ways("q4_K", 1024 + 5, 40, 256, "gguf_mid");
    check_ways("q4_K", 1024 + 20, 40, 256, "gguf_mid");
    check_ways("q4_K", 4096 + 3, 8, 256, "gguf_prefill");
}

TEST_CASE("k of blocks of 32 that are no super-blocks") {
    check_ways("q8_0", 11, 40, 1056);
    check_ways("q4_0", 2, 40, 96);
    check_ways("q4_0", 34, 40, 1056);
    for (const Kernel *way : gguf_route_kernels(gfx(), "q8_0", 64, 40, 1056))
        CHECK(way->family != "gguf_mid");
}

TEST_CASE("products of other shapes use a workspace one after the other") {
    struct Use {
        u32 m, n, k;
    };
    constexpr Use uses[] = {
        {33, 2100, 256}, {9, 40, 2048}, {40, 1000, 512}, {2, 100, 4096}, {17, 300, 1024}};
    u64 bytes = 0;
    for (const auto &[m, n, k] : uses)
        bytes = std::max(bytes, gguf_linear_workspace(gfx(), "q4_K", m, n, k, wgps()));
    Guarded workspace(bytes, 0);
    for (int round = 0; round < 2; ++round)
        for (const auto &[m, n, k] : uses) {
            CAPTURE(m);
            Product product("q4_K", m, n, k);
            launch(modules(), product.problem(workspace, bytes));
            device().synchronize();
            const Kernel &chosen = *explain_gguf(gfx(), "q4_K", m, n, k).kernel;
            CHECK(product.c().read() == product.by_route(chosen));
        }
    CHECK(workspace.bands_clean());
}

TEST_CASE("the workspace of a product is enough for fewer rows, by every way") {
    for (std::string_view on : {"gfx1100", "gfx1151", "gfx1201"})
        for (const auto &[n, k] : {std::pair{32u, 256u}, {4096u, 4096u}, {1000u, 17408u}}) {
            constexpr u32 most = 70;
            const u64 bytes = gguf_linear_workspace(on, "q4_K", most, n, k, 48);
            u64 needed = 0;
            for (u32 m = 1; m <= most; ++m)
                for (const Kernel *way : gguf_route_kernels(on, "q4_K", m, n, k, References::with))
                    needed = std::max(needed, gguf_route_workspace(
                                                  gguf_route(*way, "q4_K", m, n, k), m, n, k, 48));
            CHECK(needed == bytes); // and not more than it has to be
        }
}

TEST_CASE("without a tuned shape near, few rows get decode, more mid, many prefill") {
    for (u32 m = 1; m <= 70; ++m) {
        CAPTURE(m);
        const Choice choice = explain_gguf("gfx1100", "q4_K", m, 40, 256);
        CHECK(choice.why == Choice::Why::untuned);
        CHECK(choice.kernel == &default_gguf("gfx1100", "q4_K", m, 40, 256));
        CHECK(choice.kernel->symbol == (m <= 8              ? fmt::format("gguf_decode_q4_K_m{}", m)
                                        : m <= 16           ? std::string("gguf_mid_q4_K_b16")
                                        : m > 32 && m <= 48 ? std::string("gguf_mid_q4_K_b16")
                                        : m <= 64           ? std::string("gguf_mid_q4_K_b32")
                                                  : std::string("gguf_prefill_q4_K_64x128")));
    }
    CHECK(default_gguf("gfx1100", "q8_0", 11, 40, 1056).symbol == "gguf_decode_q8_0_m8");
    // Of 48 WGPs each has a tile and a half, or less.
    CHECK(default_gguf("gfx1100", "q4_K", 33, 9216, 256).symbol == "gguf_prefill_q4_K_64x128");
    CHECK(default_gguf("gfx1100", "q8_0", 33, 40, 1056).symbol == "gguf_prefill_q8_0_64x128");
    CHECK(default_gguf("gfx1100", "q4_K", 33, 9088, 256).symbol == "gguf_mid_q4_K_b16");
}

TEST_CASE("what is refused, with nothing launched") {
    Product product("q4_K", 11, 40, 512);
    const u64 bytes = gguf_linear_workspace(gfx(), "q4_K", 11, 40, 512, wgps());
    const Guarded workspace(bytes, 0);
    const GgufLinear good = product.problem(workspace, bytes);
    const auto plus = [](const void *p, u64 offset) {
        return const_cast<u8 *>(static_cast<const u8 *>(p)) + offset;
    };
    struct Bad {
        const char *says;
        std::function<void(GgufLinear &)> breaks;
    };
    const Bad cases[] = {
        {"type = q5_K: must be q4_0, q8_0, q4_K or q6_K", [](auto &p) { p.type = "q5_K"; }},
        {"m = 0: must be at least 1", [](auto &p) { p.m = 0; }},
        {"n = 0: must be at least 1", [](auto &p) { p.n = 0; }},
        {"k = 500: must be a multiple of 256", [](auto &p) { p.k = 500; }},
        {"k = 0: must be a multiple of 256", [](auto &p) { p.k = 0; }},
        {"x is null", [](auto &p) { p.x = nullptr; }},
        {"w is null", [](auto &p) { p.w = nullptr; }},
        {"c is null", [](auto &p) { p.c = nullptr; }},
        {"workspace is null", [](auto &p) { p.workspace = nullptr; }},
        {": must be 16-byte aligned", [&](auto &p) { p.x = plus(p.x, 4); }},
        {": must be 16-byte aligned", [&](auto &p) { p.w = plus(p.w, 8); }},
        {": must be 4-byte aligned", [&](auto &p) { p.c = plus(p.c, 2); }},
        {": must be 16-byte aligned", [&](auto &p) { p.workspace = plus(p.workspace, 8); }},
        {"x_stride = 2032: must be at least 4 * k = 2048", [](auto &p) { p.x_stride = 2032; }},
        {"x_stride = 2056: must be a multiple of 16", [](auto &p) { p.x_stride = 2056; }},
        {"x_stride = 4294967296: must be below", [](auto &p) { p.x_stride = u64{1} << 32; }},
        {"workspace_bytes = 1000: must be at least", [](auto &p) { p.workspace_bytes = 1000; }},
        {"c = ", [](auto &p) { p.c = const_cast<void *>(p.x); }},
        {"workspace = ", [](auto &p) { p.workspace = const_cast<void *>(p.w); }},
        {"c = ", [](auto &p) { p.c = p.workspace; }},
        {"n = 1073741824", [](auto &p) { p.n = 1u << 30; }},
    };
    for (const Bad &bad : cases) {
        CAPTURE(bad.says);
        GgufLinear p = good;
        bad.breaks(p);
        const std::string error = error_of([&] { launch(modules(), p); });
        CHECK_MESSAGE(contains(error, bad.says), error);
    }
    CHECK(contains(error_of([&] { explain_gguf("gfx900", "q4_K", 1, 40, 256); }),
                   "gfx = gfx900, type = q4_K: no kernels for it; there are kernels for gfx1"));
    device().synchronize();
    CHECK(product.c().read() == Bytes(u64{4} * 11 * 40, 0x7f));
    CHECK(contains(
        error_of([&] { gguf_route(choose_gguf_decode(gfx(), "q4_K", 8), "q4_K", 7, 40, 256); }),
        "gguf_decode_q4_K_m8 is not for q4_K, m = 7"));
}
