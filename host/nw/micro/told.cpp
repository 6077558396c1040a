// SPDX-License-Identifier: MIT
// The measurement that determines each constant.
#include <algorithm>
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
    {"atomic_latency", "global_atomic_add_u32>wait"},
    {"dot_bf16_interval", "v_dot2_f32_bf16 independent"},
    {"dot_pair_interval", "v_dual dot2acc_f32_f16::dot2acc_f32_f16 independent"},
    {"valu_sgpr_read", "v_mov_b32+s_mov_b32"},
    {"salu_execution", "s_load_b32+s_lshl_b32"},
    {"salu_move_execution", "s_mov_b32>v_add_f32"},
    {"getreg_latency", "clock>s_add_u32"},
    {"instruction_miss", "s_branch:256_B_of_96_KiB"},
};

// The row is inversely proportional to the constant.
constexpr std::pair<const char *, const char *> rates[] = {
    {"l0_bytes", "global_load_b128, stride 4"},
    {"l0_lookups", "global_load_b32, stride 32"},
    {"store_bytes", "global_store_b128, stride 4"},
    {"address_lanes", "global_load_b32, one address"},
    {"atomic_lanes", "global_atomic_add_u32"},
};

// Facts of a part that the host times: the row grows as the constant does, in the same unit.
constexpr std::pair<const char *, const char *> between_launches[] = {
    {"launch_overhead", "launch of one workgroup"},
    {"launch_gap", "kernel after kernel"},
    {"graph_gap", "node after node"},
    {"graph_launch", "graph of one kernel"},
    {"packet_interval", "node beside node"},
    {"copy_overhead", "copy in, 4 KiB"},
};

// The row is proportional to this fact of the part.
constexpr std::pair<const char *, const char *> bandwidths[] = {
    {"shader_mhz", "shader clock"},
    {"dram_efficiency", "stream 4096 B in flight, 8 waves a SIMD"},
    {"l2_channels", "stream from L2, 1 MiB"},
    {"link_gb_per_s", "copy in"},
    {"link_both_gb_per_s", "copy in and out"},
    {"copy_gb_per_s", "copy within, read and written"},
};

// A count of units that no one has published.
bool guessed(const Part &part, std::string_view name) {
    return std::ranges::any_of(sim::timing::constants(part), [&](const auto &constant) {
        return constant.name == name && constant.origin == Origin::guess;
    });
}

// A place more in a queue, and the wave goes on earlier.
void add_queues(std::vector<Told> &all, const sim::timing::Costs &costs) {
    const auto add = [&](const char *constant, const char *row, f64 sooner) {
        all.push_back({constant, false, row, Answer::adds, -sooner});
    };
    add("valu_queue", "v_add_f32x24 issued", costs.valu_latency);
    add("trans_queue", "v_wmma_f32_16x16x16_f16+v_exp_f32x8 issued", costs.trans_interval);
    add("wmma_queue", "v_wmma_f32_16x16x16_f16x12 issued", costs.wmma_f16_interval);
    // a sixteenth of what all sixteen take
    add("lds_backlog", "ds_load_b32 issued", 1.0 / 16);
    add("vmem_backlog", "global_load_b32 issued", 1.0 / 16);
}

// Starts of workgroups, in ns: by every shader engine at once, and in one place after the other.
void add_starts(std::vector<Told> &all, const Part &part) {
    const f64 ns = 1000.0 / part.shader_mhz;
    const auto add = [&](const char *constant, const char *row, f64 scale) {
        all.push_back({constant, false, row, Answer::adds, scale});
    };
    add("group_launch", "start of a workgroup, 1 wave", ns / part.shader_engines);
    add("wave_launch", "start of a workgroup, 8 waves", 8 * ns / part.shader_engines);
    add("place_refill", "start after an end, of one place", ns);
}

} // namespace

std::vector<Told> told(const Part &part) {
    const f64 cycles_of_ns = part.shader_mhz / 1000.0;
    std::vector<Told> all{
        {"valu_latency", false, "v_add_f32x4 done", Answer::adds, 3},
        {"valu_late", false, "v_add_f32x16 done", Answer::adds,
         8}, // eight of them by the registers
        {"l0_latency", false, walk("vector", part.l0_size), Answer::adds, 1},
        {"l2_latency", false, walk("vector", part.l2_size), Answer::adds, 1},
        {"scalar_latency", false, walk("scalar", part.scalar_size), Answer::adds, 1},
        {"dram_latency", true, micro::chase_name("vector", micro::largest_chase), Answer::adds,
         cycles_of_ns},
        {"l0_misses", false, "stream of one workgroup, 32 waves", Answer::proportional, 1},
        // 32 pages: more than UTCL0 has, fewer than UTCL1; a few lines stay in L0
        {"utcl1_latency", false, "walk 1024 lines, 64 KiB apart", Answer::adds, 0.5},
    };
    for (const auto &[constant, row] : between_launches)
        all.push_back({constant, true, row, Answer::adds, 1});
    for (const auto &[constant, row] : bandwidths)
        all.push_back({constant, true, row, Answer::proportional, 1});
    add_queues(all, sim::timing::costs_for(part.gfx));
    add_starts(all, part);
    for (const auto &[constant, row] : cycle_by_cycle)
        all.push_back({constant, false, row, Answer::adds, 1});
    for (const auto &[constant, row] : rates)
        all.push_back({constant, false, row, Answer::inverse, 1});
    const Target &target = target_of(part.gfx);
    // on gfx11 of two caches
    all.push_back(
        {"cache_maintenance", false, "invalidate", Answer::adds, target.split_waits ? 1.0 : 2.0});
    if (!target.split_waits) // else a wait lies between
        all.push_back(
            {"vcc_latency", false, "v_add_co_ci_u32>vcc>v_add_co_ci_u32", Answer::adds, 1});
    if (target.split_waits && target.salu_float)
        all.push_back({"scalar_trans_interval", false, "v_s_exp_f32 independent", Answer::adds, 1});
    if (target.salu_float)
        all.push_back({"salu_float_latency", false, "s_add_f32 dependent", Answer::adds, 1});
    if (part.gl1_size) {
        all.push_back({"gl1_latency", false, walk("vector", part.gl1_size), Answer::adds, 1});
        if (guessed(part, "shader_arrays"))
            all.push_back(
                {"shader_arrays", true, "stream from GL1, 80 KiB a WGP", Answer::proportional, 1});
    }
    if (part.mall_size) {
        all.push_back(
            {"mall_latency", true, walk("vector", part.mall_size), Answer::adds, cycles_of_ns});
        all.push_back({"mall_gb_per_s", true, "stream again, 16 MiB", Answer::proportional, 1});
    }
    return all;
}

std::string_view why_untold(std::string_view constant) {
    struct Reason {
        std::string_view why;
        std::vector<std::string_view> constants;
    };
    static const std::vector<Reason> reasons = {
        {"read the clock off the driver while a long prefill runs: rows here are too short for the "
         "power limit",
         {"wmma_mhz"}},
        {"reported by HIP or by the vendor",
         {"wgps", "shader_engines", "dram_gb_per_s", "power_w"}},
        {"published by the vendor, or the part has no GL1", {"shader_arrays"}},
        {"the part has no such unit",
         {"gl1_latency", "mall_latency", "mall_gb_per_s", "salu_float_latency"}},
        {"read it off the chase: where the latency steps up",
         {"l0_size", "gl1_size", "l2_size", "mall_size", "scalar_size"}},
        {"read it off code:16_KiB and code:96_KiB", {"instruction_size", "instruction_prefetch"}},
        {"read it off \"512 B in N\" and \"rows of N B\": which of them are slow, and with which "
         "padding",
         {"dram_channels", "dram_interleave", "dram_hash", "l2_interleave"}},
        {"read it off \"walk N lines, just 1 KiB apart\": where lines of one set no longer fit",
         {"l0_ways"}},
        {"read it off \"walk 1024 lines\": which distance, and so how many pages, takes longer",
         {"utcl0_entries"}},
        {"no walk has enough pages with lines that miss L0", {"utcl1_entries", "utcl2_latency"}},
        {"read it off \"walk cold, 64 KiB apart\": additional latency of its first loads of a page",
         {"page_walk"}},
        {"caches replace lines at random: no single row shows it",
         {"scalar_ways", "instruction_ways", "gl1_ways", "l2_ways", "mall_ways"}},
        {"only its sum with salu_execution shows", {"salu_to_others"}},
        {"no unit is slow enough to fill it", {"fill_bytes", "gl1_bytes", "l2_bytes"}},
        {"\"rows of N B\" depend on it where channels are uneven; no row does so in one direction",
         {"l2_misses"}},
        {"shows only while the other CUs are idle, which HIP can't request", {"cu_group_launch"}},
        {"clocks between instructions can't separate it from its neighbours: needs a thread trace "
         "(SQTT)",
         {"valu_ready", "valu_vgpr_ready", "valu_cold_ready", "valu_warm_up", "valu_idle",
          "valu_late", "forward_window", "forward_gap", "vcc_latency", "wmma_ready",
          "wmma_overwrite", "wmma_leave", "wave_start", "vmem_execution", "vmem_address",
          "vmem_read", "endpgm_waits"}},
        {"s_nop_0 to s_nop_15 show the step", {"nop_doze", "nop_wake"}},
        {"counter width in the ISA",
         {"load_counter", "store_counter", "lds_counter", "scalar_counter"}},
        {"affects instructions that our kernels don't use, or none",
         {"unknown_latency", "cache_prefetch", "scalar_trans_interval", "ordered_returns"}},
    };
    for (const Reason &reason : reasons)
        for (const std::string_view name : reason.constants)
            if (name == constant)
                return reason.why;
    return {};
}

} // namespace nw::cli
