// SPDX-License-Identifier: MIT
// linear_gguf: each kernel's plan has the bits of plain launches, keeps within its workspace and
// leaves the counters at 0; enough workspace; which kernel a product gets; what is refused.
#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <vector>

#include "base/half.h"
#include "base/rng.h"
#include "check/ops.h"
#include "refusals.h"

using namespace nw;

namespace {

using Bytes = std::vector<u8>;

const std::string &gfx() { return device().info().gfx; }
const Machine &machine() {
    static const Machine one = machine_of(device());
    return one;
}

Modules &modules() {
    static Modules all(device());
    return all;
}

hip::Buffer upload(const void *from, u64 bytes) {
    hip::Buffer out = device().allocate(bytes);
    out.upload(from, bytes);
    return out;
}

// Device memory between guard bands.
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

Bytes random_weights(std::string_view type, u64 n, u32 k, Rng rng) {
    Bytes out(n * ggml_row_bytes(type, k));
    for (u8 &b : out)
        b = static_cast<u8>(rng.below(256));
    const GgmlTypeInfo &info = *find_ggml_type(type);
    for (u64 block = 0; block < out.size(); block += info.bytes) {
        for (u64 i = 0; i < info.halves; ++i) {
            const u16 d = f32_to_f16(0x1p-9f * rng.unit());
            std::memcpy(&out[block + info.halves_at + 2 * i], &d, 2);
        }
        if (info.id == GgmlType::mxfp4)
            out[block] = static_cast<u8>(118 + rng.below(4));
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

    // Runs the kernel with a workspace of exactly the size it requests.
    Bytes by_plan(const Kernel &kernel) {
        const u64 bytes = plan(linear_gguf(type_, m_, n_, k_), kernel, machine()).workspace_bytes;
        Guarded workspace(bytes, 0);
        const Bytes first = run(kernel, workspace, bytes);
        CHECK(run(kernel, workspace, bytes) == first); // the first run's leftovers are harmless
        return first;
    }

    // Rows from `first` on, with each launch's memory its own.
    Bytes plain(const Kernel &kernel, u32 first, u32 rows) const {
        const void *const x = static_cast<const u8 *>(x_.data()) + first * stride();
        Guarded c(u64{4} * rows * n_, 0x7f);
        if (kernel.family == "gguf_decode") {
            const Guarded a(q8_bytes(rows, k_), 0x5e);
            launch(modules(), QuantizeQ8{{rows, k_, x, stride(), a.data()}});
            launch(modules(), kernel,
                   GgufLaunch{type_, rows, n_, k_, a.data(), w_.data(), c.data()});
            device().synchronize();
            return c.read();
        }
        const Guarded a(gguf_halves_bytes(rows, k_), 0x5e);
        const bool at_end = kernel.family == "gguf_mid";
        launch(modules(), GgufHalves{{rows, k_, x, stride(), a.data(), false, at_end}});
        if (kernel.family == "gguf_prefill") {
            launch(modules(), kernel,
                   GgufLaunch{type_, rows, n_, k_, a.data(), w_.data(), c.data()});
            device().synchronize();
            return c.read();
        }
        const Op op = linear_gguf(type_, rows, n_, k_);
        const u64 counters =
            ceil_div(rows, kernel.number("bm")) * u64{ceil_div(n_, kernel.rows_per_workgroup)};
        const Guarded parts(check::scratch_bytes(kernel, op, machine(), &Op::parts), 0x5e),
            arrived(4 * counters, 0);
        launch(modules(), kernel,
               GgufLaunch{type_, rows, n_, k_, a.data(), w_.data(), c.data(), parts.data(),
                          arrived.data()});
        device().synchronize();
        CHECK(parts.bands_clean());
        CHECK(arrived.bands_clean());
        return c.read();
    }

    Guarded &c() { return c_; }

private:
    u64 stride() const { return u64{4} * (k_ + 8); }

    Bytes run(const Kernel &kernel, const Guarded &workspace, u64 bytes) {
        c_.clear();
        launch(modules(), plan(problem(workspace, bytes), kernel, machine()));
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

const Kernel &decode_for(std::string_view type, u32 rows) {
    return check::default_of("gguf_decode", gfx(), {{"type", type}, {"m", std::to_string(rows)}});
}

// The rows that remain after a kernel has taken its slices.
const Kernel &kernel_for(const Kernel &of_slices, std::string_view type, u32 rows) {
    if (of_slices.family == "gguf_prefill")
        return of_slices; // takes the remaining rows
    return of_slices.family == "gguf_decode" ? decode_for(type, rows)
           : rows > 16                       ? of_slices
                       : check::default_of("gguf_mid", gfx(), {{"type", type}, {"bm", "16"}});
}

void check_kernels(std::string_view type, u32 m, u32 n, u32 k, std::string_view family = "") {
    constexpr u32 slice_of_mid = 1024;
    constexpr u32 slice_of_prefill = 4096;
    Product product(type, m, n, k);
    for (const Kernel *by : kernels_for(gfx(), linear_gguf(type, m, n, k))) {
        if (!by->family.starts_with(family))
            continue;
        CAPTURE(fmt::format("{} m={} n={} k={}", by->symbol, m, n, k));
        const u32 slice = by->family == "gguf_decode"    ? by->number("m")
                          : by->family == "gguf_prefill" ? slice_of_prefill
                                                         : slice_of_mid;
        Bytes want;
        for (u32 first = 0; first < m; first += slice) {
            const u32 rows = std::min(slice, m - first);
            const Kernel &kernel = rows == slice || rows == m ? *by : kernel_for(*by, type, rows);
            const Bytes part = product.plain(kernel, first, rows);
            want.insert(want.end(), part.begin(), part.end());
        }
        CHECK(product.by_plan(*by) == want);
    }
}

} // namespace

TEST_CASE("each kernel's plan has the bits of plain launches, and keeps within its workspace") {
    for (std::string_view type : gguf_types)
        for (const auto &[m, n] : {std::pair{1u, 37u}, {3u, 64u}, {8u, 33u}, {9u, 70u}, {19u, 45u}})
            check_kernels(type, m, n, 768);
    check_kernels("q4_K", 70, 300, 1024);
}

TEST_CASE("more rows than a kernel takes at a time") {
    check_kernels("q4_K", 1024 + 5, 40, 256, "gguf_mid");
    check_kernels("q4_K", 1024 + 20, 40, 256, "gguf_mid");
    check_kernels("q4_K", 4096 + 3, 8, 256, "gguf_prefill");
}

TEST_CASE("k of blocks of 32 that are no super-blocks") {
    check_kernels("q8_0", 11, 40, 1056);
    check_kernels("q4_0", 2, 40, 96);
    check_kernels("q4_0", 34, 40, 1056);
    check_kernels("q4_1", 19, 40, 320);
    for (const Kernel *kernel : kernels_for(gfx(), linear_gguf("q8_0", 64, 40, 224)))
        CHECK(kernel->family != "gguf_mid");
}

TEST_CASE("products of other shapes use a workspace one after the other") {
    struct Use {
        u32 m, n, k;
    };
    constexpr Use uses[] = {
        {33, 2100, 256}, {9, 40, 2048}, {40, 1000, 512}, {2, 100, 4096}, {17, 300, 1024}};
    u64 bytes = 0;
    for (const auto &[m, n, k] : uses)
        bytes = std::max(bytes, workspace_for_any(linear_gguf("q4_K", m, n, k), machine()));
    Guarded workspace(bytes, 0);
    for (int round = 0; round < 2; ++round)
        for (const auto &[m, n, k] : uses) {
            CAPTURE(m);
            Product product("q4_K", m, n, k);
            launch(modules(), product.problem(workspace, bytes));
            device().synchronize();
            const Kernel &chosen = choose(gfx(), linear_gguf("q4_K", m, n, k));
            CHECK(product.c().read() == product.by_plan(chosen));
        }
    CHECK(workspace.bands_clean());
}

TEST_CASE("the workspace of a product is enough for fewer rows, by every kernel") {
    for (std::string_view on : {"gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"})
        for (const auto &[n, k] : {std::pair{32u, 256u}, {4096u, 4096u}, {1000u, 17408u}}) {
            constexpr u32 most = 70;
            const Machine of_48 = {&target_of(on), 48};
            const u64 bytes = workspace_for_any(linear_gguf("q4_K", most, n, k), of_48);
            u64 needed = 0;
            for (u32 m = 1; m <= most; ++m) {
                const Op op = linear_gguf("q4_K", m, n, k);
                for (const Kernel *kernel : kernels_for(on, op, References::with))
                    needed = std::max(needed, plan(op, *kernel, of_48).workspace_bytes);
            }
            CHECK(needed == bytes); // and not more than it has to be
        }
}

TEST_CASE("without a tuned shape near, few rows get decode, more mid, many prefill") {
    const auto default_for = [](std::string_view type, u32 m, u32 n, u32 k) -> const Kernel & {
        return cheapest("gfx1100", linear_gguf(type, m, n, k));
    };
    for (u32 m = 1; m <= 70; ++m) {
        CAPTURE(m);
        const Choice choice = explain("gfx1100", linear_gguf("q4_K", m, 40, 256));
        CHECK(choice.why == Choice::Why::untuned);
        CHECK(choice.kernel == &default_for("q4_K", m, 40, 256));
        CHECK(choice.kernel->symbol == (m <= 8              ? fmt::format("gguf_decode_q4_K_m{}", m)
                                        : m <= 16           ? std::string("gguf_mid_q4_K_b16")
                                        : m > 32 && m <= 48 ? std::string("gguf_mid_q4_K_b16")
                                        : m <= 64           ? std::string("gguf_mid_q4_K_b32")
                                                  : std::string("gguf_prefill_q4_K_64x128")));
    }
    CHECK(default_for("q8_0", 11, 40, 1056).symbol == "gguf_mid_q8_0_b16");
    CHECK(default_for("q8_0", 11, 40, 224).symbol == "gguf_decode_q8_0_m8");
    // With 48 WGPs, each has at most a tile and a half.
    CHECK(default_for("q4_K", 33, 9216, 256).symbol == "gguf_prefill_q4_K_64x128");
    CHECK(default_for("q8_0", 33, 40, 1056).symbol == "gguf_mid_q8_0_b16");
    CHECK(default_for("q8_0", 33, 40, 224).symbol == "gguf_prefill_q8_0_64x128");
    CHECK(default_for("q4_K", 33, 9088, 256).symbol == "gguf_mid_q4_K_b16");
}

TEST_CASE("where there is no WMMA, few rows get decode, all others dots") {
    const auto chosen = [](u32 m, u32 n) {
        return cheapest("gfx1030", linear_gguf("q4_K", m, n, 4096)).symbol;
    };
    for (u32 m = 1; m <= 8; ++m)
        CHECK(chosen(m, 4096) == fmt::format("gguf_decode_q4_K_m{}", m));
    CHECK(chosen(9, 4096) == "dot_gguf_q4_K_16x32");
    CHECK(chosen(17, 4096) == "dot_gguf_q4_K_32x32");
    CHECK(chosen(64, 4096) == "dot_gguf_q4_K_32x32");
    CHECK(chosen(2048, 4096) == "dot_gguf_q4_K_128x128");
    CHECK(chosen(5000, 40) != "gguf_decode_q4_K_m8");
}

TEST_CASE("where there are no dots of bytes either, slices of decode last to 56 rows") {
    const auto chosen = [](u32 m) {
        return cheapest("gfx1010", linear_gguf("q4_K", m, 4096, 4096)).symbol;
    };
    CHECK(chosen(9) == "gguf_decode_q4_K_m8");
    CHECK(chosen(56) == "gguf_decode_q4_K_m8");
    CHECK(chosen(57) == "dot_gguf_q4_K_64x64");
    CHECK(chosen(512) == "dot_gguf_q4_K_64x64");
    CHECK(chosen(2048) == "dot_gguf_q4_K_128x128");
}

TEST_CASE("what is refused, with nothing launched") {
    Product product("q4_K", 11, 40, 512);
    const u64 bytes = workspace_for_any(linear_gguf("q4_K", 11, 40, 512), machine());
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
        // a text that no contract has, of which an op has no more
        {"type = ?: must be q4_0, q4_1, q5_0,", [](auto &p) { p.type = "iq2_s"; }},
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
    CHECK(contains(error_of([&] { explain("gfx900", linear_gguf("q4_K", 1, 40, 256)); }),
                   "gfx = gfx900: no kernels for it; there are kernels for gfx1"));
    device().synchronize();
    CHECK(product.c().read() == Bytes(u64{4} * 11 * 40, 0x7f));
    CHECK(contains(
        error_of([&] { plan(linear_gguf("q4_K", 7, 40, 256), decode_for("q4_K", 8), machine()); }),
        "gguf_decode_q4_K_m8 is not for q4_K, m = 7"));
}
