// SPDX-License-Identifier: MIT
// Every rule of decode_w4a16, broken one at a time: an error that names the value and the rule,
// nothing launched, the output as it was.
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <unistd.h>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "check/ops.h"
#include "refusals.h"
#include "runtime/files.h"

using namespace nw;
namespace fs = std::filesystem;

namespace {

// A small product that is right in every respect, on the device.
class Product {
public:
    static constexpr u32 n = 40, k = 256, group = 128;
    static constexpr u8 before = 0xab; // what c holds until a kernel writes it

    Product()
        : a(device().allocate(2 * k)), w(device().allocate(n * k / 2)),
          s(device().allocate(n * k / group * 2)), bias(device().allocate(2 * n)),
          c(device().allocate(2 * n)) {
        for (hip::Buffer *b : {&a, &w, &s, &bias})
            b->fill(0);
        c.fill(before);
    }

    W4A16 problem() const {
        return {Dtype::f16, 1,        n,           k,        group, a.data(),
                w.data(),   s.data(), bias.data(), c.data(), k / 2, k / group * 2};
    }

    // The same with zero points; all of s and bias is large enough to stand for them.
    W4A16 asymmetric(Zeros zeros) const {
        W4A16 p = problem();
        p.zeros = zeros;
        p.z = s.data();
        p.z_stride = k / group * (zeros == Zeros::packed ? 4 : 2);
        return p;
    }

    bool untouched() const {
        device().synchronize();
        std::vector<u8> now(2 * n);
        c.download(now.data(), now.size());
        return now == std::vector<u8>(2 * n, before);
    }

    hip::Buffer a, w, s, bias, c;
};

const void *plus(const void *p, u64 bytes) { return static_cast<const std::byte *>(p) + bytes; }

// The kernel chosen for a decode of any shape.
const Kernel &choose(std::string_view gfx, Dtype dtype, u64 group, u32 m,
                     Zeros zeros = Zeros::eight) {
    return cheapest(gfx, linear_w4a16(dtype, group, zeros, m, 4096, 4096));
}

// Selected by the decode_w4a16 kernel; the first one if none matches.
void launch_decode(Modules &modules, const Op &op) {
    const std::string &gfx = device().info().gfx;
    const Kernel *kernel = check::find_for("decode_w4a16", gfx, op);
    launch(modules, kernel ? *kernel : choose(gfx, Dtype::f16, 128, 1), op);
}

// A directory of code objects for one test, found through NIBBLEWAVE_HSACO.
class Hsaco {
public:
    explicit Hsaco(const Kernel &kernel)
        : dir(fs::temp_directory_path() / fmt::format("nibblewave-bad-input-{}", getpid())),
          file(dir / kernel.gfx / fmt::format("{}.hsaco", kernel.symbol)) {
        fs::create_directories(file.parent_path());
        setenv("NIBBLEWAVE_HSACO", dir.c_str(), 1);
    }
    ~Hsaco() {
        unsetenv("NIBBLEWAVE_HSACO");
        fs::remove_all(dir);
    }
    void write(std::string_view bytes) const { std::ofstream(file, std::ios::binary) << bytes; }

    fs::path dir, file;
};

std::string slurp(const fs::path &file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST_CASE("a right product runs, so the others fail for the reason they name") {
    Product product;
    Modules modules(device());
    CHECK(error_of([&] { launch(modules, product.problem()); }) == "");
    CHECK_FALSE(product.untouched());
}

TEST_CASE("each argument rule is enforced before anything is launched") {
    struct Bad {
        const char *says; // must be in the error
        std::function<void(W4A16 &)> breaks;
    };
    const Bad bad[] = {
        {"m = 0: must be 1..8", [](W4A16 &p) { p.m = 0; }},
        {"m = 9: must be 1..8; larger batches are prefill_w4a16's", [](W4A16 &p) { p.m = 9; }},
        {"zeros are in the carrier: prefill_w4a16 takes that",
         [](W4A16 &p) { p.zeros = Zeros::carrier; }},
        {"silu_gate_up is set: mid_w4a16, prefill_w4a16 and moe_w4a16 have",
         [](W4A16 &p) { p.silu_gate_up = true; }},
        {"n = 0: must be at least 1", [](W4A16 &p) { p.n = 0; }},
        {"group = 0: must be 32, 64, 128 or per row", [](W4A16 &p) { p.group = 0; }},
        {"group = 48: must be 32, 64, 128 or per row", [](W4A16 &p) { p.group = 48; }},
        {"group = 256: must be 32, 64, 128 or per row", [](W4A16 &p) { p.group = 256; }},
        {"k = 24: must be a multiple of 16 and at least 32; pad activations and weights with zeros "
         "to k = 32",
         [](W4A16 &p) { p.group = per_row, p.k = 24; }},
        {"k = 16: must be a multiple of 16 and at least 32",
         [](W4A16 &p) { p.group = per_row, p.k = 16; }},
        {"k = 264: must be a multiple of 16", [](W4A16 &p) { p.group = per_row, p.k = 264; }},
        {"zeros are zp, groups per row",
         [](W4A16 &p) { p.group = per_row, p.zeros = Zeros::packed, p.z = p.s; }},
        {"s_stride = 0: must be at least a row",
         [](W4A16 &p) { p.group = per_row, p.s_stride = 0; }},
        {"k = 0: must be a positive multiple", [](W4A16 &p) { p.k = 0; }},
        {"k = 192: must be a multiple of the group size 128", [](W4A16 &p) { p.k = 192; }},
        {"a is null", [](W4A16 &p) { p.a = nullptr; }},
        {"w is null", [](W4A16 &p) { p.w = nullptr; }},
        {"s is null", [](W4A16 &p) { p.s = nullptr; }},
        {"c is null", [](W4A16 &p) { p.c = nullptr; }},
        {"must be 16-byte aligned", [](W4A16 &p) { p.a = plus(p.a, 8); }},
        {"must be 16-byte aligned", [](W4A16 &p) { p.w = plus(p.w, 4); }},
        {"must be 2-byte aligned", [](W4A16 &p) { p.s = plus(p.s, 1); }},
        {"must be 2-byte aligned", [](W4A16 &p) { p.bias = plus(p.bias, 1); }},
        {"must be 2-byte aligned", [](W4A16 &p) { p.c = const_cast<void *>(plus(p.c, 1)); }},
        {"w_stride = 112: must be at least a row, K/2 = 128", [](W4A16 &p) { p.w_stride = 112; }},
        {"w_stride = 136: must be a multiple of 16", [](W4A16 &p) { p.w_stride = 136; }},
        {"w_stride = 1073741824: must be below", [](W4A16 &p) { p.w_stride = u64{1} << 30; }},
        {"w_stride = 18446744073709551600: must be below", [](W4A16 &p) { p.w_stride = -u64{16}; }},
        {"s_stride = 2: must be at least a row, 2*K/G = 4", [](W4A16 &p) { p.s_stride = 2; }},
        {"s_stride = 5: must be a multiple of 2", [](W4A16 &p) { p.s_stride = 5; }},
        {"s_stride = 1073741824: must be below", [](W4A16 &p) { p.s_stride = u64{1} << 30; }},
        {"m * k = 2147483648: A must be smaller",
         [](W4A16 &p) {
             p.m = 4, p.k = u32{1} << 29, p.w_stride = p.k / 2, p.s_stride = p.k / 64;
         }},
    };
    Product product;
    Modules modules(device());
    for (const Bad &b : bad) {
        W4A16 p = product.problem();
        b.breaks(p);
        const std::string text = error_of([&] { launch_decode(modules, p); });
        INFO("wanted: ", b.says, "; got: ", text);
        CHECK(contains(text, b.says));
        CHECK(contains(text, "decode_w4a16: "));
    }
    CHECK(product.untouched());
}

TEST_CASE("each rule of zero points is enforced before anything is launched") {
    struct Bad {
        const char *says;
        Zeros zeros;
        std::function<void(W4A16 &)> breaks;
    };
    const Bad bad[] = {
        {"z is given, but zeros are eight", Zeros::packed,
         [](W4A16 &p) { p.zeros = Zeros::eight; }},
        {"z is null", Zeros::packed, [](W4A16 &p) { p.z = nullptr; }},
        {"z is null", Zeros::typed, [](W4A16 &p) { p.z = nullptr; }},
        {"must be 4-byte aligned", Zeros::packed, [](W4A16 &p) { p.z = plus(p.z, 2); }},
        {"must be 2-byte aligned", Zeros::typed, [](W4A16 &p) { p.z = plus(p.z, 1); }},
        {"z_stride = 4: must be at least a row, 4*K/G = 8", Zeros::packed,
         [](W4A16 &p) { p.z_stride = 4; }},
        {"z_stride = 2: must be at least a row, 2*K/G = 4", Zeros::typed,
         [](W4A16 &p) { p.z_stride = 2; }},
        {"z_stride = 10: must be a multiple of 4; pad to 12", Zeros::packed,
         [](W4A16 &p) { p.z_stride = 10; }},
        {"z_stride = 5: must be a multiple of 2", Zeros::typed, [](W4A16 &p) { p.z_stride = 5; }},
        {"z_stride = 18446744073709551612: must be below", Zeros::packed,
         [](W4A16 &p) { p.z_stride = -u64{4}; }},
    };
    Product product;
    Modules modules(device());
    for (const Bad &b : bad) {
        W4A16 p = product.asymmetric(b.zeros);
        b.breaks(p);
        const std::string text = error_of([&] { launch_decode(modules, p); });
        INFO("wanted: ", b.says, "; got: ", text);
        CHECK(contains(text, b.says));
    }
    CHECK(product.untouched());
    for (Zeros zeros : {Zeros::packed, Zeros::typed})
        CHECK(error_of([&] { launch_decode(modules, product.asymmetric(zeros)); }) == "");
}

TEST_CASE("a gfx without kernels is named, with those that have some") {
    const std::string text = error_of([] { choose("gfx906", Dtype::f16, 128, 1); });
    CHECK(contains(text, "gfx = gfx906: no kernels for it"));
    CHECK(contains(text, device().info().gfx));
}

TEST_CASE("a combination without a kernel is named, with those there are") {
    const std::string &gfx = device().info().gfx;
    const std::string text = error_of([&] { choose(gfx, Dtype::f16, 256, 1); });
    CHECK(contains(text, "no kernel for f16 g256 m1 on " + gfx));
    CHECK(contains(text, "f16 g128 m 1 2 3 4 5 6 7 8"));
    CHECK(contains(text, "f16 g128 zp m 1 2 3 4 5 6 7 8"));
    CHECK(contains(error_of([&] { choose(gfx, Dtype::f16, 256, 1, Zeros::carrier); }),
                   "no kernel for f16 g256 carrier on " + gfx));
    CHECK(contains(error_of([&] { choose(gfx, Dtype::f16, 128, 9, Zeros::typed); }),
                   "no kernel for f16 g128 zt on " + gfx));
}

TEST_CASE("a kernel for something else is not launched") {
    Product product;
    Modules modules(device());
    const std::string &gfx = device().info().gfx;
    const std::string dtype =
        error_of([&] { launch(modules, choose(gfx, Dtype::bf16, 128, 1), product.problem()); });
    CHECK(contains(dtype, "is not for f16 g128 m1"));
    const std::string other = gfx == "gfx1100" ? "gfx1201" : "gfx1100";
    const std::string target =
        error_of([&] { launch(modules, choose(other, Dtype::f16, 128, 1), product.problem()); });
    CHECK(contains(target, "is built for " + other));
    CHECK(product.untouched());
}

TEST_CASE("a grid has a workgroup, and none without rows") {
    Product product;
    Modules modules(device());
    const Kernel &kernel = choose(device().info().gfx, Dtype::f16, 128, 1);
    const u32 most = ceil_div(product.problem().n, kernel.rows_per_workgroup);
    for (u32 workgroups : {0u, most + 1}) {
        Op op = product.problem();
        op.groups = workgroups;
        const std::string text = error_of([&] { launch(modules, kernel, op); });
        CHECK(contains(text, fmt::format("groups = {}: must be 1..{}, a workgroup for {} rows",
                                         workgroups, most, kernel.rows_per_workgroup)));
    }
    CHECK(product.untouched());
}

TEST_CASE("a missing, truncated or foreign file is named, and nothing is launched") {
    const Kernel &kernel = choose(device().info().gfx, Dtype::f16, 128, 1);
    const std::string whole = slurp(find_code_object(kernel));
    REQUIRE(whole.size() > 256);
    Product product;
    const auto error = [&] {
        Modules modules(device());
        return error_of([&] { launch(modules, product.problem()); });
    };
    const Hsaco hsaco(kernel);
    const std::string path = hsaco.file.string();

    CHECK(contains(error(), "no code object for"));
    CHECK(contains(error(), path));
    hsaco.write("");
    CHECK(contains(error(), path + ": truncated: 0 bytes"));
    hsaco.write(whole.substr(0, whole.size() / 2));
    CHECK(contains(error(), path + ": truncated"));
    hsaco.write(std::string(4096, 'x'));
    CHECK(contains(error(), path + ": not a code object: no ELF magic"));
    hsaco.write(slurp(NW_BUILD_DIR "/bin/tests/test_bad_input"));
    CHECK(contains(error(), path + ": an ELF for machine"));
    std::string hollow = whole; // a right header, nonsense behind it
    std::fill(hollow.begin() + 64, hollow.end() - 64, '\xee');
    hsaco.write(hollow);
    CHECK(contains(error(), path));

    fs::remove(hsaco.file);
    fs::create_directories(hsaco.file);
    CHECK(contains(error(), path));
    CHECK(product.untouched());
}

TEST_CASE("a code object for another gfx is refused by the runtime, under its path") {
    const Kernel &kernel = choose(device().info().gfx, Dtype::f16, 128, 1);
    const Kernel &other =
        choose(kernel.gfx == "gfx1201" ? "gfx1100" : "gfx1201", Dtype::f16, 128, 1);
    const std::string foreign = slurp(find_code_object(other));
    const Hsaco hsaco(kernel);
    hsaco.write(foreign);
    Product product;
    Modules modules(device());
    const std::string text = error_of([&] { launch(modules, product.problem()); });
    CHECK(contains(text, hsaco.file.string()));
    CHECK(product.untouched());
}
