// SPDX-License-Identifier: MIT
#include "nw/micro/chains.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "nw/compile.h"

namespace nw::cli {

namespace {

// Repetitions: more than the 12 instructions that may be dispatched and not yet executing (T-050),
// and few enough for an instruction cache.
constexpr u32 few = 32, many = 160;
constexpr u32 passes = 8, warming = 2;
constexpr u32 own_vgprs = 64, with_vgprs = 128; // results of the line, of the one beside it
constexpr u32 own_sgprs = 64, with_sgprs = 72;

std::string read_clock(const Target &t, std::string_view to) {
    if (t.clock_bits == 0)
        return fmt::format(
            "        s_memtime       s[{0}:{0}+1]\n        s_waitcnt       lgkmcnt(0)\n", to);
    return fmt::format("        s_getreg_b32    s[{}], hwreg({}, 0, {})\n", to,
                       t.clock_bits == 32 ? "HW_REG_SHADER_CYCLES_LO" : "HW_REG_SHADER_CYCLES",
                       t.clock_bits);
}

// A chain, timed in `passes` passes of the same code: the first bring it into the caches. Before
// each the wave waits for what it has begun, and hardware forgets which SGPRs VALU has read
// (H-002).
std::string section(const Target &t, const Chain &chain, u32 count, u32 number) {
    const std::string_view wait = t.split_waits ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)";
    std::string text = fmt::format("        s_mov_b32       s[s_pass], 0\n"
                                   "        v_mov_b32       v[v_clocks], 0\n"
                                   "        .p2align        6\n"
                                   "L_{}:\n"
                                   "        {} s[s_idle], s[s_out:s_out+1], 0\n"
                                   "        {}\n"
                                   "        {} depctr_va_vdst(0)\n",
                                   number, t.old_names ? "s_load_dword" : "s_load_b32", wait,
                                   t.split_waits ? "s_wait_alu" : "s_waitcnt_depctr");
    if (t.split_waits)
        text += "        ds_nop\n        ds_nop\n        ds_nop\n        ds_nop\n"
                "        s_wait_dscnt 0\n";
    text += read_clock(t, "s_start");
    for (u32 n = 0; n < count; ++n)
        text += chain.lines(n);
    text += read_clock(t, "s_stop");
    text += "        s_sub_u32       s[s_stop], s[s_stop], s[s_start]\n";
    if (t.clock_bits > 0 && t.clock_bits < 32)
        text += fmt::format("        s_and_b32       s[s_stop], s[s_stop], 0x{:x}\n",
                            (1u << t.clock_bits) - 1);
    text += fmt::format("        s_mov_b32       m0, s[s_pass]\n"
                        "        v_writelane_b32 v[v_clocks], s[s_stop], m0\n"
                        "        s_add_u32       s[s_pass], s[s_pass], 1\n"
                        "        s_cmp_lt_u32    s[s_pass], {}\n"
                        "        s_cbranch_scc1  L_{}\n"
                        "        {} v[v_at], v[v_clocks], s[s_out:s_out+1]\n"
                        "        v_add_nc_u32    v[v_at], 128, v[v_at]\n",
                        passes, number, t.old_names ? "global_store_dword" : "global_store_b32");
    return text;
}

// The kernel `own(out)`: for each chain 32 dwords of the short section, then of the long one.
std::string kernel_text(const Target &t, const std::vector<Chain> &chains) {
    std::string text = fmt::format(R"(
        .set s_out, 80
        .set s_pass, 82
        .set s_start, 84
        .set s_idle, 86
        .set s_stop, 88
        .set v_at, 250
        .set v_clocks, 251
        .text
        .globl own
        .p2align 8
        .type own,@function
own:
        {} s[s_out:s_out+1], s[0:1], 0
        v_lshlrev_b32 v[v_at], 2, v0
        {}
)",
                                   t.old_names ? "s_load_dwordx2" : "s_load_b64",
                                   t.split_waits ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)");
    for (u32 v = 0; v < 192; ++v)
        text += fmt::format("        v_mov_b32 v{}, 1.0\n", v);
    for (u32 s = 2; s < 80; ++s)
        text += fmt::format("        s_mov_b32 s{}, 1.0\n", s);
    text += "        s_mov_b32 vcc_lo, 0x55555555\n";
    u32 number = 0;
    for (const Chain &chain : chains)
        for (const u32 count : {few, many})
            text += section(t, chain, count, number++);
    return text + fmt::format(R"(
        s_endpgm
L_end:
        .size own, L_end-own
        .fill 64, 4, 0xbf9f0000
        .rodata
        .p2align 6
        .amdhsa_kernel own
          .amdhsa_kernarg_size 8
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_count {}
          .amdhsa_wavefront_size32 1
          .amdhsa_next_free_vgpr 252
          .amdhsa_next_free_sgpr 90
        .end_amdhsa_kernel
        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - {{.name: own, .symbol: own.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, .group_segment_fixed_size: 0,
     .private_segment_fixed_size: 0, .wavefront_size: 32, .sgpr_count: 90, .vgpr_count: 252, .max_flat_workgroup_size: 32,
     .args: [{{.name: out, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}]}}
...
        .end_amdgpu_metadata
)",
                              t.user_sgprs);
}

Chain copies(const Line &line, u32 vgprs, u32 sgprs) {
    return {[line, vgprs, sgprs](u32 n) { return "        " + line.copy(n, vgprs, sgprs) + "\n"; }};
}

} // namespace

Chain dependent(const std::string &text) {
    return {[text](u32) { return "        " + text + "\n"; }};
}

Chain independent(const Line &line) { return copies(line, own_vgprs, own_sgprs); }
Chain independent_beside(const Line &line) { return copies(line, with_vgprs, with_sgprs); }

Chain alternating(const Line &line, const Line &beside) {
    return {[a = independent(line), b = independent_beside(beside)](u32 n) {
        return a.lines(n) + b.lines(n);
    }};
}

std::string chains_object(const Target &target, const std::vector<Chain> &chains) {
    return assemble_text(kernel_text(target, chains), std::string(target.name));
}

std::vector<f64> run_chains(const hip::Device &device, const std::string &object, size_t count) {
    const hip::Module module = device.load(std::as_bytes(std::span(object)));
    std::vector<std::array<u32, 32>> records(2 * count);
    const u64 bytes = records.size() * sizeof records[0];
    hip::Buffer out = device.allocate(bytes);
    out.fill(0);
    void *const pointer = out.data();
    device.launch(module.function("own"), 1, 32, 0, std::as_bytes(std::span(&pointer, 1)));
    device.synchronize();
    out.download(records.data(), bytes);
    const auto median = [](const std::array<u32, 32> &record) {
        std::vector<u32> clocks(record.begin() + warming, record.begin() + passes);
        std::ranges::sort(clocks);
        return static_cast<f64>(clocks[clocks.size() / 2]);
    };
    std::vector<f64> slopes;
    for (size_t n = 0; n < count; ++n)
        slopes.push_back((median(records[2 * n + 1]) - median(records[2 * n])) / (many - few));
    return slopes;
}

std::vector<f64> cycles(const hip::Device &device, const std::vector<Chain> &chains) {
    return run_chains(device, chains_object(target_of(device.info().gfx), chains), chains.size());
}

Company company(f64 one, f64 other, f64 pair) {
    const f64 apart = one + other, together = std::max(one, other);
    constexpr f64 near = 0.1; // of the smaller one: what is hidden, or not
    const f64 margin = near * std::min(one, other);
    if (std::abs(pair - 2) < margin && together < 2 - margin)
        return Company::issue;
    if (pair > apart + margin)
        return Company::hinder;
    if (pair > apart - margin)
        return Company::collide;
    return pair < together + margin ? Company::overlap : Company::overlap_in_part;
}

} // namespace nw::cli
