// SPDX-License-Identifier: MIT
// The measurement that determines each constant.
#include <bit>

#include "base/targets.h"
#include "measure/micro/chase.h"
#include "nw/micro/fit.h"

namespace nw::cli {

namespace {

using sim::timing::Part;

// A pointer chase that fits this cache, and exceeds the next smaller one.
std::string walk(std::string_view path, u64 size) {
    return micro::chase_name(path, std::bit_floor(size) / 2);
}

// The row grows by a cycle for each cycle of the constant.
constexpr std::pair<const char *, const char *> cycle_by_cycle[] = {
    {"valu_to_memory", "v_mov_b32>ds_load_b32"},
    {"valu_to_scalar", "v_readfirstlane_b32>s_add_u32>v_mov_b32"},
    {"trans_interval", "v_exp_f32 independent"},
    {"trans_latency", "v_exp_f32 dependent"},
    {"trans_to_valu", "v_exp_f32>v_add_f32 independent"},
    {"vopd_latency", "v_dual mul_f32::add_f32 dependent"},
    {"dot_latency", "v_dot2_f32_f16 dependent"},
    {"f64_interval", "v_fma_f64 independent"},
    {"f64_latency", "v_fma_f64 dependent"},
    {"shift64_interval", "v_lshlrev_b64 independent"},
    {"mad64_interval", "v_mad_u64_u32 independent"},
    {"mul32_interval", "v_mul_lo_u32 independent"},
    {"wmma_f16_interval", "v_wmma_f32_16x16x16_f16 independent"},
    {"wmma_iu8_interval", "v_wmma_i32_16x16x16_iu8 independent"},
    {"wmma_iu4_interval", "v_wmma_i32_16x16x16_iu4 independent"},
    {"wmma_bank_clash", "v_wmma_f32_16x16x16_f16:one_bank"},
    {"wmma_to_valu", "v_wmma_f32_16x16x16_f16>v_add_f32"},
    {"salu_latency", "s_add_u32 dependent"},
    {"salu_mul_latency", "s_mul_i32 dependent"},
    {"salu_mul_interval", "s_mul_i32 independent"},
    {"scc_to_branch", "s_cmp_lg_u32>s_cbranch_scc1:not_taken"},
    {"branch_taken", "s_branch"},
    {"branch_not_taken", "s_cbranch_scc1:not_taken"},
    {"barrier", "barrier, 8 waves"},
    {"immediate_issue", "v_mov_b32>s_nop_5"},
    {"lds_latency", "ds_load_b32>wait"},
    {"lds_store_latency", "ds_store_b32>wait"},
    {"store_latency", "global_store_b32>wait"},
};

// The row is inversely proportional to the constant.
constexpr std::pair<const char *, const char *> rates[] = {
    {"l0_bytes", "global_load_b128, stride 4"},
    {"l0_lookups", "global_load_b32, stride 32"},
    {"store_bytes", "global_store_b128, stride 4"},
};

} // namespace

std::vector<Told> told(const Part &part) {
    const f64 cycles_of_ns = part.shader_mhz / 1000.0;
    std::vector<Told> all{
        {"shader_mhz", true, "shader clock", Answer::proportional, 1},
        {"launch_overhead", true, "launch of one workgroup", Answer::adds, 1},
        {"valu_latency", false, "v_add_f32x4 done", Answer::adds, 3},
        {"valu_late", false, "v_add_f32x16 done", Answer::adds,
         8}, // eight of them by the registers
        {"l0_latency", false, walk("vector", part.l0_size), Answer::adds, 1},
        {"l2_latency", false, walk("vector", part.l2_size), Answer::adds, 1},
        {"scalar_latency", false, walk("scalar", part.scalar_size), Answer::adds, 1},
        {"dram_latency", true, micro::chase_name("vector", micro::largest_chase), Answer::adds,
         cycles_of_ns},
        {"dram_efficiency", true, "stream 4096 B in flight, 8 waves a SIMD", Answer::proportional,
         1},
    };
    for (const auto &[constant, row] : cycle_by_cycle)
        all.push_back({constant, false, row, Answer::adds, 1});
    for (const auto &[constant, row] : rates)
        all.push_back({constant, false, row, Answer::inverse, 1});
    if (target_of(part.gfx).salu_float)
        all.push_back({"salu_float_latency", false, "s_add_f32 dependent", Answer::adds, 1});
    if (part.gl1_size)
        all.push_back({"gl1_latency", false, walk("vector", part.gl1_size), Answer::adds, 1});
    if (part.mall_size) {
        all.push_back(
            {"mall_latency", true, walk("vector", part.mall_size), Answer::adds, cycles_of_ns});
        all.push_back({"mall_gb_per_s", true, "stream again, 16 MiB", Answer::proportional, 1});
    }
    return all;
}

} // namespace nw::cli
