// SPDX-License-Identifier: MIT
// Every rule of nibblewave.h, broken one at a time: the code, a message that names the value, the
// rule and the remedy, and nothing launched.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>

#include "api/product.h"

using namespace api_test;
namespace fs = std::filesystem;

namespace {

void *plus(const void *p, u64 bytes) {
    return const_cast<std::byte *>(static_cast<const std::byte *>(p)) + bytes;
}

struct Bad {
    const char *says; // must be in the message
    std::function<void(nw_w4a16 &)> breaks;
};

void check_refused(const Shape &shape, const std::vector<Bad> &cases) {
    const Context context;
    const Product product(shape);
    for (const Bad &bad : cases) {
        nw_w4a16 p = product.arguments();
        bad.breaks(p);
        CAPTURE(bad.says);
        CHECK_EQ(nw_linear_w4a16(context, &p, nullptr), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
        CHECK(product.untouched());
    }
    CHECK_EQ(nw_linear_w4a16(context, &product.arguments(), nullptr), NW_OK);
    CHECK_EQ(product.difference(), ""); // nothing else was wrong
}

class Folder {
public:
    Folder() : path(fs::temp_directory_path() / ("nibblewave-api-" + std::to_string(getpid()))) {
        fs::create_directories(path / "gfx1151");
    }
    ~Folder() { fs::remove_all(path); }
    const fs::path path;
};

} // namespace

TEST_CASE("shapes and types") {
    check_refused(
        {}, {{"m = 0: must be 1..8", [](auto &p) { p.m = 0; }},
             {"silu_gate_up = 2: must be 0 or 1", [](auto &p) { p.silu_gate_up = 2; }},
             {"n = 0: must be at least 1", [](auto &p) { p.n = 0; }},
             {"k = 0: must be a positive multiple of the group size 128", [](auto &p) { p.k = 0; }},
             {"k = 200: must be a multiple of the group size 128; pad", [](auto &p) { p.k = 200; }},
             {"group = 48: must be 32, 64, 128 or per row", [](auto &p) { p.group = 48; }},
             {"group = 0: must be 32", [](auto &p) { p.group = 0; }},
             {"dtype = 2: must be NW_BF16 (0) or NW_F16 (1)", [](auto &p) { p.dtype = 2; }},
             {"dtype = -1: must be", [](auto &p) { p.dtype = -1; }},
             {"zeros = 4: must be NW_ZEROS_EIGHT (0)", [](auto &p) { p.zeros = 4; }},
             {"size = 8: must be sizeof(nw_w4a16)", [](auto &p) { p.size = 8; }},
             {"size = 0: must be sizeof(nw_w4a16)", [](auto &p) { p.size = 0; }},
             {"n = 4294967295", [](auto &p) { p.n = UINT32_MAX; }}});
    check_refused({.group = NW_PER_ROW},
                  {{"k = 24: must be a multiple of 16 and at least 32", [](auto &p) { p.k = 24; }},
                   {"k = 16: must be a multiple of 16 and at least 32", [](auto &p) { p.k = 16; }},
                   {"groups per row: one scale a row is for symmetric quantization",
                    [](auto &p) { p.zeros = NW_ZEROS_PACKED; }}});
}

TEST_CASE("more rows than decode takes, and forms that it does not have") {
    check_refused({.m = 9},
                  {{"prefill_w4a16: n = 0: must be at least 1", [](auto &p) { p.n = 0; }},
                   {"prefill_w4a16: k = 200: must be a multiple of", [](auto &p) { p.k = 200; }},
                   {"groups are per row: that form is for m = 1..8; repeat each scale",
                    [](auto &p) { p.group = NW_PER_ROW; }},
                   {"zeros are typed: that form is for m = 1..8; pack",
                    [](auto &p) { p.zeros = NW_ZEROS_TYPED; }},
                   {"w_stride = 16777216: must be below", [](auto &p) { p.w_stride = 1 << 24; }},
                   {"n = 4194304: must be below", [](auto &p) { p.n = 1 << 22; }}});
    check_refused(
        {.zeros = NW_ZEROS_CARRIER, .m = 2},
        {{"m = 0: must be at least 1", [](auto &p) { p.m = 0; }},
         {"must be 4-byte aligned", [](auto &p) { p.s = plus(p.s, 2); }},
         {"s_stride = 4: must be at least a row, 4*K/G = 8", [](auto &p) { p.s_stride = 4; }},
         {"zeros are in the carrier: set `zeros`", [](auto &p) { p.z = p.s; }}});
    check_refused({.silu = true}, {{"n = 39: gate and up", [](auto &p) { p.n = 39; }}});
}

TEST_CASE("pointers: null, and off their alignment") {
    check_refused({.zeros = NW_ZEROS_PACKED},
                  {{"a is null", [](auto &p) { p.a = nullptr; }},
                   {"w is null", [](auto &p) { p.w = nullptr; }},
                   {"s is null", [](auto &p) { p.s = nullptr; }},
                   {"z is null", [](auto &p) { p.z = nullptr; }},
                   {"c is null", [](auto &p) { p.c = nullptr; }},
                   {": must be 16-byte aligned", [](auto &p) { p.a = plus(p.a, 8); }},
                   {": must be 16-byte aligned", [](auto &p) { p.w = plus(p.w, 4); }},
                   {": must be 2-byte aligned", [](auto &p) { p.s = plus(p.s, 1); }},
                   {": must be 4-byte aligned", [](auto &p) { p.z = plus(p.z, 2); }},
                   {": must be 2-byte aligned", [](auto &p) { p.bias = plus(p.bias, 1); }},
                   {": must be 2-byte aligned", [](auto &p) { p.c = plus(p.c, 1); }},
                   {"z is given, but zeros are eight", [](auto &p) { p.zeros = NW_ZEROS_EIGHT; }}});
}

TEST_CASE("strides: shorter than a row, not a multiple, too long") {
    check_refused(
        {.zeros = NW_ZEROS_PACKED},
        {{"w_stride = 112: must be at least a row, K/2 = 128", [](auto &p) { p.w_stride = 112; }},
         {"w_stride = 136: must be a multiple of 16", [](auto &p) { p.w_stride = 136; }},
         {"w_stride = 1073741824: must be below", [](auto &p) { p.w_stride = 1 << 30; }},
         {"s_stride = 2: must be at least a row, 2*K/G = 4", [](auto &p) { p.s_stride = 2; }},
         {"s_stride = 5: must be a multiple of 2", [](auto &p) { p.s_stride = 5; }},
         {"s_stride = 1073741824: must be below", [](auto &p) { p.s_stride = 1 << 30; }},
         {"z_stride = 4: must be at least a row, 4*K/G = 8", [](auto &p) { p.z_stride = 4; }},
         {"z_stride = 10: must be a multiple of 4", [](auto &p) { p.z_stride = 10; }},
         {"z_stride = 1073741824: must be below", [](auto &p) { p.z_stride = 1 << 30; }}});
    check_refused(
        {.zeros = NW_ZEROS_TYPED},
        {{"z_stride = 2: must be at least a row, 2*K/G = 4", [](auto &p) { p.z_stride = 2; }},
         {"z_stride = 5: must be a multiple of 2", [](auto &p) { p.z_stride = 5; }}});
}

TEST_CASE("a result over one of its inputs") {
    check_refused({.zeros = NW_ZEROS_TYPED, .m = 2},
                  {{"overlaps a = ", [](auto &p) { p.c = plus(p.a, 2 * 2 * 256 - 2); }},
                   {"overlaps w = ", [](auto &p) { p.c = plus(p.w, 128 * 40 - 2); }},
                   {"overlaps s = ", [](auto &p) { p.c = plus(p.s, 0); }},
                   {"overlaps z = ", [](auto &p) { p.c = plus(p.z, 4 * 40 - 2); }},
                   {"overlaps bias = ", [](auto &p) { p.bias = plus(p.c, 2 * 2 * 40 - 2); }},
                   {"overlaps a = ", [](auto &p) { p.a = plus(p.c, 16); }}});
}

TEST_CASE("null where an object belongs") {
    const Context context;
    const Product product({});
    const nw_w4a16 &p = product.arguments();
    uint64_t bytes = 1;
    CHECK_EQ(nw_linear_w4a16(nullptr, &p, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("context is null: nw_context_create makes one"));
    CHECK_EQ(nw_prepare(nullptr, &p), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_workspace_size(nullptr, &p, &bytes), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_linear_w4a16(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("product is null"));
    CHECK_EQ(nw_prepare(context, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_workspace_size(context, nullptr, &bytes), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_workspace_size(context, &p, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("bytes is null"));
    CHECK_EQ(bytes, 1);
    CHECK_EQ(nw_context_create(nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK(said("context is null: it must point to"));
    CHECK_EQ(std::string(nw_context_gfx(nullptr)), "");
    nw_context_destroy(nullptr);
}

TEST_CASE("what is asked of a shape that breaks a rule is refused as its launch is") {
    const Context context;
    nw_w4a16 p = NW_W4A16_INIT;
    p.dtype = NW_F16, p.m = 9, p.n = 0, p.k = 256, p.group = 128;
    uint64_t bytes = 1;
    CHECK_EQ(nw_prepare(context, &p), NW_INVALID_ARGUMENT);
    CHECK(said("n = 0"));
    CHECK_EQ(nw_workspace_size(context, &p, &bytes), NW_INVALID_ARGUMENT);
    CHECK_EQ(bytes, 1);
    p.n = 40, p.m = 0, p.k = 200; // all of 1..8
    CHECK_EQ(nw_prepare(context, &p), NW_INVALID_ARGUMENT);
    CHECK(said("k = 200"));
}

TEST_CASE("kernel directories that are missing, empty, or hold something else") {
    nw_context *context = reinterpret_cast<nw_context *>(1);
    CHECK_EQ(nw_context_create("/no/such/folder", &context), NW_NO_KERNEL_FILES);
    CHECK_EQ(context, nullptr);
    CHECK_MESSAGE(said("no code objects for gfx1151: tried /no/such/folder/gfx1151;"),
                  nw_last_error());
    CHECK_EQ(nw_context_create("", &context), NW_INVALID_ARGUMENT);
    setenv("NIBBLEWAVE_HSACO", "/no/such/variable", 1);
    CHECK_EQ(nw_context_create(nullptr, &context), NW_NO_KERNEL_FILES);
    CHECK(said("tried /no/such/variable/gfx1151;"));
    unsetenv("NIBBLEWAVE_HSACO");

    const Context of_the_build; // whose registers and LDS this process knows
    const Folder folder;
    const Context empty(folder.path.c_str());
    const Product product({});
    CHECK_EQ(nw_linear_w4a16(empty, &product.arguments(), nullptr), NW_NO_KERNEL_FILES);
    CHECK_MESSAGE(said("no code object for decode_w4a16_f16_g128_m1_subnormal on gfx1151: tried " +
                       folder.path.string()),
                  nw_last_error());
    CHECK_EQ(nw_prepare(empty, &product.arguments()), NW_NO_KERNEL_FILES);
    std::ofstream(folder.path / "gfx1151/decode_w4a16_f16_g128_m1_subnormal.hsaco")
        << "an error page, say, of a download that did not work out: longer than an ELF header is";
    CHECK_EQ(nw_prepare(empty, &product.arguments()), NW_NO_KERNEL_FILES);
    CHECK_MESSAGE(said("not a code object: no ELF magic"), nw_last_error());
    CHECK(product.untouched());
}

TEST_CASE("a directory given by name comes before the environment") {
    setenv("NIBBLEWAVE_HSACO", "/no/such/variable", 1);
    const Context context(NW_BUILD_DIR "/hsaco");
    unsetenv("NIBBLEWAVE_HSACO");
    const Product product({});
    NW_DONE(nw_prepare(context, &product.arguments()));
}

TEST_CASE("the message may be asked for before the call that fails") {
    std::thread([] {
        const char *const before =
            nw_last_error(); // as in one printf, whose arguments have no order
        CHECK_EQ(std::string(before), "");
        nw_context *context = nullptr;
        for (const std::size_t letters : {10, 100, 4000, 2, 100'000}) {
            const std::string folder = "/" + std::string(letters, 'x');
            CHECK_EQ(nw_context_create(folder.c_str(), &context), NW_NO_KERNEL_FILES);
            CHECK_EQ(nw_last_error(), before);
            const std::string said = before, begin = "no code objects for gfx1151: tried " + folder;
            CHECK_EQ(said.substr(0, begin.size()),
                     begin.substr(0, std::min<std::size_t>(begin.size(), 4092)) +
                         (begin.size() > 4092 ? "..." : ""));
            CHECK_LT(said.size(), 4096);
        }
        std::string umlauts = "/";
        while (umlauts.size() < 6000)
            umlauts += "\xc3\xa4";
        for (const char *shift : {"", "y"}) { // no character is cut
            CHECK_EQ(nw_context_create((umlauts + shift).c_str(), &context), NW_NO_KERNEL_FILES);
            CHECK_EQ(nw_context_create((shift + umlauts).c_str(), &context), NW_NO_KERNEL_FILES);
            const std::string said = before;
            CHECK_EQ(said.substr(said.size() - 5), "\xc3\xa4...");
        }
    }).join();
}

TEST_CASE("row strides") {
    CHECK_EQ(nw_weight_row_stride("gfx1151", 4096), 2048 + 128);
    CHECK_EQ(nw_weight_row_stride("gfx1151:sramecc-:xnack-", 4096), 2048 + 128);
    CHECK_EQ(nw_weight_row_stride("gfx1150", 4096), 2048);
    CHECK_EQ(nw_weight_row_stride("gfx1100", 48), 32); // a multiple of 16
    CHECK_EQ(nw_weight_row_stride(nullptr, 4096), 0);
    CHECK(said("gfx is null"));
    CHECK_EQ(nw_weight_row_stride("gfx900", 4096), 0);
    CHECK(said("gfx = \"gfx900\": must be one of gfx1100, "));
    CHECK_EQ(nw_weight_row_stride("gfx1151", 0), 0);
    CHECK(said("k = 0"));
}

TEST_CASE("names and versions") {
    CHECK_EQ(nw_version(), NW_VERSION);
    CHECK_EQ(std::string(nw_status_name(NW_OK)), "NW_OK");
    CHECK_EQ(std::string(nw_status_name(NW_INTERNAL)), "NW_INTERNAL");
    CHECK_EQ(std::string(nw_status_name(static_cast<nw_status>(1 << 20))), "unknown nw_status");
}
