// SPDX-License-Identifier: MIT
// The catalogue as the build made it: whole, consistent, and one choice for each question.
#include <algorithm>
#include <doctest/doctest.h>
#include <ranges>
#include <set>
#include <string>

#include "base/error.h"
#include "base/half.h"
#include "base/targets.h"
#include "check/ops.h"
#include "hip/hip.h"
#include "runtime/files.h"

using namespace nw;

namespace {

auto all_gfx() { return targets() | std::views::transform(&Target::name); }

// Targets with matrix instructions have tiles for many rows.
bool has_tiles(std::string_view gfx) { return !target_of(gfx).wmma.empty(); }

// The default choice for any shape.
const Kernel &decode_for(std::string_view gfx, Dtype dtype, u64 group, u32 m,
                         Zeros zeros = Zeros::eight) {
    return cheapest(gfx, linear_w4a16(dtype, group, zeros, m, 4096, 4096));
}

const Kernel &tile_for(u32 m, Zeros zeros = Zeros::eight) {
    return cheapest("gfx1151", linear_w4a16(Dtype::f16, 128, zeros, m, 4096, 4096));
}

const Kernel &carrier_for(std::string_view gfx, Dtype dtype) {
    return choose(gfx, CarrierW4A16{.dtype = dtype, .n = 1, .k = 32, .group = 32});
}

const Kernel &align_for(std::string_view gfx) {
    return choose(gfx, MoeAlign{.slots = 1, .experts = 1, .block_size = 1, .blocks = 1});
}

const Kernel &experts_for(std::string_view gfx, Dtype dtype, u32 group, u32 block_size,
                          Zeros zeros) {
    return choose(gfx, MoeW4A16{.dtype = dtype,
                                .n = 64,
                                .k = 128,
                                .group = group,
                                .experts = 2,
                                .block_size = block_size,
                                .blocks = 3,
                                .slots = 2,
                                .top_k = 1,
                                .zeros = zeros});
}

// Workgroups over n rows on `wgps` WGPs.
u64 groups_for(const Kernel &kernel, u32 n, u32 wgps) {
    Op op = linear_w4a16(dtype_of(kernel), group_of(kernel), zeros_of(kernel), 1, n, 128);
    return check::derived(kernel, op, {&target_of(kernel.gfx), wgps}).groups;
}

} // namespace

TEST_CASE("rows are consistent, and their files are code objects") {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    std::vector<Kernel> all;
    for (std::string_view gfx : all_gfx())
        all.insert(all.end(), kernels(gfx).begin(), kernels(gfx).end());
    REQUIRE_FALSE(all.empty());
    for (const Kernel &k : all) {
        INFO(k.gfx, " ", k.symbol);
        CHECK(seen.insert({k.gfx, k.symbol}).second);
        CHECK(k.built);
        CHECK(k.symbol.substr(0, k.family.size()) == k.family);
        CHECK(k.block % 32 == 0);
        CHECK(k.block <= 1024);
        CHECK(k.rows_per_workgroup > 0);
        CHECK(k.lds_bytes <= 65536);
        CHECK(k.vgprs <= 256);
        CHECK(k.waves_per_simd >= 1);
        u32 end = 0;
        for (const KernelArg &a : k.args()) {
            CHECK(a.offset % a.size == 0);
            CHECK(a.offset >= end);
            CHECK((a.value_kind == "global_buffer" ? 8 : 4) == a.size);
            end = a.offset + a.size;
        }
        CHECK(k.kernarg_bytes() == end);
        CHECK(k.contract->name == k.family);
        CHECK_NOTHROW(check_code_object(find_code_object(k)));
    }
}

TEST_CASE("every target has one decode kernel for each dtype, group, form of zero points and m") {
    for (std::string_view gfx : all_gfx())
        for (Dtype dtype : {Dtype::bf16, Dtype::f16})
            for (u64 group : {u64{32}, u64{64}, u64{128}, per_row})
                for (Zeros zeros : {Zeros::eight, Zeros::packed, Zeros::typed}) {
                    if (group == per_row && zeros != Zeros::eight)
                        continue;
                    for (u32 m = 1; m <= 8; ++m) {
                        const Kernel &k = decode_for(gfx, dtype, group, m, zeros);
                        INFO(gfx, " ", k.symbol);
                        CHECK(k.gfx == gfx);
                        CHECK(k.param("dtype") == name(dtype));
                        CHECK(k.param("group") == (group == per_row ? "k" : std::to_string(group)));
                        CHECK(k.param("zeros").empty() == (zeros == Zeros::eight));
                        CHECK(k.number("m") == m);
                        CHECK_FALSE((k.reference || k.candidate));
                        const auto same = [&](const Kernel &other) {
                            return other.family == k.family && !other.reference &&
                                   !other.candidate && other.param("dtype") == k.param("dtype") &&
                                   other.param("group") == k.param("group") &&
                                   other.param("zeros") == k.param("zeros") &&
                                   other.param("m") == k.param("m");
                        };
                        CHECK(std::ranges::count_if(kernels(gfx), same) == 1);
                    }
                }
}

TEST_CASE("parameters are read by name, and are numbers or an error that says so") {
    const Kernel &k = decode_for("gfx1151", Dtype::bf16, 128, 3);
    CHECK(k.param("dtype") == "bf16");
    CHECK(k.number("group") == 128);
    CHECK(k.param("nothing").empty());
    CHECK_THROWS_AS(k.number("nothing"), Error);
    CHECK_THROWS_AS(k.number("dtype"), Error);
}

TEST_CASE(
    "every target with WMMA has a prefill kernel for each dtype, group, form of zero points") {
    for (std::string_view gfx : all_gfx() | std::views::filter(has_tiles))
        for (Dtype dtype : {Dtype::bf16, Dtype::f16})
            for (u32 group : {32u, 64u, 128u})
                for (Zeros zeros : {Zeros::eight, Zeros::packed, Zeros::carrier}) {
                    const Kernel &k =
                        choose(gfx, linear_w4a16(dtype, group, zeros, 512, 4096, 4096));
                    INFO(gfx, " ", k.symbol);
                    CHECK(k.gfx == gfx);
                    CHECK(k.param("dtype") == name(dtype));
                    CHECK(k.number("group") == group);
                    CHECK(k.param("zeros") == zeros_name(zeros));
                    CHECK_FALSE((k.reference || k.candidate));
                }
}

TEST_CASE("every target with WMMA has a kernel for carriers of each dtype") {
    for (std::string_view gfx : all_gfx() | std::views::filter(has_tiles))
        for (Dtype dtype : {Dtype::bf16, Dtype::f16}) {
            const Kernel &k = carrier_for(gfx, dtype);
            CHECK(k.gfx == gfx);
            CHECK(k.param("dtype") == name(dtype));
        }
    CHECK_THROWS_AS(carrier_for("gfx906", Dtype::f16), Error);
}

TEST_CASE(
    "every target has a kernel of experts for each dtype, group, form of zero points, block") {
    for (std::string_view gfx : all_gfx()) {
        CHECK(align_for(gfx).gfx == gfx);
        for (Dtype dtype : {Dtype::bf16, Dtype::f16})
            for (u32 group : {32u, 64u, 128u})
                for (Zeros zeros : {Zeros::eight, Zeros::packed})
                    for (u32 block : moe_block_sizes) {
                        const Kernel &k = experts_for(gfx, dtype, group, block, zeros);
                        INFO(gfx, " ", k.symbol);
                        CHECK(k.gfx == gfx);
                        CHECK(k.family == (block <= 8       ? "moe_w4a16"
                                           : has_tiles(gfx) ? "moe_prefill_w4a16"
                                                            : "dot_moe_w4a16"));
                        CHECK(k.param("dtype") == name(dtype));
                        CHECK(k.number("group") == group);
                        CHECK(k.param("zeros") == zeros_name(zeros));
                        CHECK(moe_block_size(k) == block);
                        CHECK_FALSE((k.reference || k.candidate));
                    }
    }
    CHECK_THROWS_AS(align_for("gfx906"), Error);
    CHECK_THROWS_AS(experts_for("gfx1151", Dtype::f16, 128, 24, Zeros::eight), Error);
}

TEST_CASE("a few rows go at memory's speed, in a form that has the kernels") {
    const auto family = [](u32 m, Zeros zeros) { return tile_for(m, zeros).family; };
    const auto rows = [](u32 m) { return tile_for(m).number("bm"); };
    for (Zeros zeros : {Zeros::eight, Zeros::packed}) {
        CHECK(family(9, zeros) == "mid_w4a16");
        CHECK(family(32, zeros) == "mid_w4a16");
        CHECK(family(33, zeros) == "prefill_w4a16"); // reads the weights once, not twice
        CHECK(family(mid_rows + 1, zeros) == "prefill_w4a16");
    }
    CHECK(family(9, Zeros::carrier) == "prefill_w4a16");
    CHECK(rows(16) == 16);
    CHECK(rows(17) == 32);
    CHECK(rows(33) == 64);
    const Op few =
        linear_w4a16(Dtype::f16, 128, Zeros::eight, 64, 1024, 4096); // tiles for 8 of 20 WGPs
    CHECK(cheapest("gfx1151", few).family == "mid_w4a16");
}

TEST_CASE(
    "a tile of prefill leaves little of itself unused, and does not unpack weights too often") {
    const auto rows = [](u32 m) { return tile_for(m).number("bm"); };
    CHECK(rows(mid_rows + 1) == 128);
    CHECK(rows(128) == 128);
    CHECK(rows(129) == 64); // three, 240 with the unpacking; two of 128 are 288, one of 256 272
    CHECK(rows(256) == 256);
    CHECK(rows(300) == 64); // 400; three of 128 432, two of 256 544
    CHECK(rows(8192) == 256);
    CHECK(rows(8192 + 128) == 256);
}

TEST_CASE("a tuned tile goes for its shape, and for other groups") {
    u64 rows = 0;
    for (const TunedRow &row : tuned_rows()) {
        if (row.family != "prefill_w4a16")
            continue;
        ++rows;
        const Kernel *known = find_kernel(row.gfx, row.kernel);
        REQUIRE(known);
        INFO(row.gfx, " ", row.kernel, " ", row.m, " ", row.shape.n, " ", row.shape.k);
        for (u32 group : {group_of(*known), 64u}) {
            const Choice got =
                explain(row.gfx, linear_w4a16(dtype_of(*known), group, zeros_of(*known), row.m,
                                              row.shape.n, row.shape.k));
            CHECK(got.why == Choice::Why::tuned);
            CHECK(got.kernel->family == known->family);
            CHECK(group_of(*got.kernel) == group);
            for (const char *side : {"bm", "bn"})
                CHECK(got.kernel->number(side) == known->number(side));
        }
        // The carrier has no mid_w4a16.
        CHECK(explain(row.gfx, linear_w4a16(dtype_of(*known), 128, Zeros::carrier, row.m,
                                            row.shape.n, row.shape.k))
                  .kernel->family == "prefill_w4a16");
    }
    CHECK(rows > 0);
}

TEST_CASE("a grid fits on the device at once, its workgroups have as many rows each") {
    const Kernel &k = decode_for("gfx1151", Dtype::f16, 128, 1);
    const u32 rows = k.rows_per_workgroup, simd_waves = k.number("simd_waves");
    const u32 most = 20 * (4 * std::min(simd_waves, k.waves_per_simd) / (k.block / 32));
    CHECK(most > 1);
    CHECK(groups_for(k, 1, 20) == 1);
    CHECK(groups_for(k, rows, 20) == 1);
    CHECK(groups_for(k, rows + 1, 20) == 2);
    CHECK(groups_for(k, most * rows, 20) == most);
    CHECK(groups_for(k, most * rows + 1, 20) == most / 2 + 1);
    CHECK(groups_for(k, ~0u, 20) <= most);
}

TEST_CASE("a grid is twice what fits where arithmetic bounds a launch") {
    const Kernel &k = decode_for("gfx1010", Dtype::f16, 128, 8);
    const u32 rows = k.rows_per_workgroup;
    CHECK(groups_for(k, rows + 1, 20) == 2);
    CHECK(groups_for(k, 80 * rows, 20) == 80); // two workgroups of eight waves on a WGP (T-171)
    CHECK(groups_for(k, 608 * rows, 20) == 80);
}
