// SPDX-License-Identifier: MIT
#include "nw/micro/own.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>

#include "base/error.h"
#include "base/targets.h"
#include "base/terminal.h"
#include "hip/hip.h"
#include "nw/compile.h"
#include "nw/micro/line.h"

namespace nw::cli {

namespace {

// Repetitions: more than the 12 instructions that may be dispatched and not yet executing (T-050),
// and few enough for an instruction cache.
constexpr u32 few = 32, many = 160;
constexpr u32 passes = 8, warming = 2;
constexpr u32 own_vgprs = 64, with_vgprs = 128; // results of the line, of the one beside it
constexpr u32 own_sgprs = 64, with_sgprs = 72;

// Code that is timed: repetition n is lines(n).
struct Chain {
    std::function<std::string(u32)> lines;
};

Chain dependent(const std::string &text) {
    return {[text](u32) { return "        " + text + "\n"; }};
}
Chain independent(const Line &line, u32 vgprs, u32 sgprs) {
    return {[line, vgprs, sgprs](u32 n) { return "        " + line.copy(n, vgprs, sgprs) + "\n"; }};
}
Chain alternating(const Line &line, const Line &other) {
    return {[a = independent(line, own_vgprs, own_sgprs),
             b = independent(other, with_vgprs, with_sgprs)](u32 n) {
        return a.lines(n) + b.lines(n);
    }};
}

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

// Cycles of a repetition of each chain: the slope between few and many, the median of the passes.
std::vector<f64> cycles(const hip::Device &device, const std::vector<Chain> &chains) {
    const Target &target = target_of(device.info().gfx);
    const std::string object = assemble_text(kernel_text(target, chains), std::string(target.name));
    const hip::Module module = device.load(std::as_bytes(std::span(object)));
    std::vector<std::array<u32, 32>> records(2 * chains.size());
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
    for (size_t n = 0; n < chains.size(); ++n)
        slopes.push_back((median(records[2 * n + 1]) - median(records[2 * n])) / (many - few));
    return slopes;
}

// Lines that the assembler refuses are shown once, not as often as a chain repeats them.
void check_line(const Line &line, const std::string &gfx) {
    static_cast<void>(assemble_text(line.text() + "\n", gfx));
}

void row(std::string_view name, f64 value, const std::string &remark) {
    fmt::print("{:<11} {:>8.2f}  {}\n", name, value, remark);
}

// Cost of two alternating instructions relative to the cost of each alone.
std::string verdict(f64 one, f64 other, f64 pair) {
    const f64 apart = one + other, together = std::max(one, other);
    constexpr f64 near = 0.1; // of the smaller one: what is hidden, or not
    const f64 margin = near * std::min(one, other);
    if (pair > apart + margin)
        return "they hinder each other";
    if (pair > apart - margin)
        return "they collide: as long as one after the other";
    return pair < together + margin ? "they overlap: as long as the longer one"
                                    : "they overlap in part";
}

} // namespace

void measure_own(const OwnOptions &o, const std::string &device_name) {
    const hip::Device device(device_name, "timing=on");
    const Line line(o.line);
    std::vector<Line> others;
    for (const std::string &text : o.with)
        others.emplace_back(text);
    check_line(line, device.info().gfx);
    for (const Line &other : others)
        check_line(other, device.info().gfx);
    const bool all = !o.latency && !o.throughput;
    const auto chain = line.dependent();
    std::vector<Chain> chains = {independent(line, own_vgprs, own_sgprs),
                                 dependent(chain.value_or(line.text()))};
    for (const Line &other : others) {
        chains.push_back(independent(other, with_vgprs, with_sgprs));
        chains.push_back(alternating(line, other));
    }
    const std::vector<f64> took = cycles(device, chains);
    fmt::print(heading_style(), "{}", line.text());
    fmt::print("\non {}, cycles of a wave alone{}\n", device.info().label,
               device.info().simulated ? "; modelled (sim), not measured on a card" : "");
    if ((all || o.latency) && chain)
        row("latency", took[1], fmt::format("from result to result: {}", *chain));
    else if (all || o.latency)
        fmt::print("{:<11} {:>8}  no operand has the result's size\n", "latency", "-");
    if (all || o.throughput)
        row("throughput", took[0],
            fmt::format("from issue to issue: {} independent copies", line.copies()));
    for (size_t n = 0; n < others.size(); ++n) {
        row("with", took[2 * n + 2], others[n].text() + ", alone");
        row("pair", took[2 * n + 3], verdict(took[0], took[2 * n + 2], took[2 * n + 3]));
    }
}

} // namespace nw::cli
