// SPDX-License-Identifier: MIT
// A few instructions on many lanes, each with registers of its own choice.
#pragma once
#include <fmt/format.h>
#include <sstream>

#include "sim/assemble.h"

namespace nw::sim::test {

// Text with v1.l and v1.h as gfx12's assembler takes it: op_sel, sources first, destination last.
inline std::string without_halves(const std::string &line) {
    std::string text, selected;
    bool any = false;
    for (size_t n = 0; n < line.size(); ++n) {
        bool operand_ends = n > 0 && line[n] == '.' && (line[n + 1] == 'l' || line[n + 1] == 'h');
        if (operand_ends) {
            selected.back() = line[++n] == 'h' ? '1' : '0';
            any |= line[n] == 'h';
            continue;
        }
        if (line[n] == ',' || text.empty())
            selected += '0';
        text += line[n];
    }
    if (!any)
        return text;
    std::string list;
    for (char c : selected.substr(1) + selected[0])
        list += list.empty() ? std::string(1, c) : std::string(",") + c;
    return text + " op_sel:[" + list + "]";
}

// Lane l runs `k.body` with values[l * in ...] in v8, v9 ... and returns v16, v17 ... as `out`
// dwords of the result. The body may use v24 and above. More than 1024 lanes: gfx12 only.
inline std::vector<u32> run_lanes(KernelText k, unsigned in, unsigned out,
                                  const std::vector<u32> &values) {
    const u32 lanes = static_cast<u32>(values.size() / in), groups = (lanes + 1023) / 1024;
    Launch launch;
    launch.block = {groups > 1 ? 1024 : lanes, 1, 1};
    launch.grid = {groups, 1, 1};
    launch.words = groups * launch.block.x * 8;
    launch.initial.resize(launch.words);
    for (u32 l = 0; l < lanes; ++l)
        for (unsigned n = 0; n < in; ++n)
            launch.initial[l * 8 + n] = values[l * in + n];
    std::string body = groups > 1 ? "  v_lshl_or_b32 v1, ttmp9, 10, v0\n" : "  v_mov_b32 v1, v0\n";
    body += "  v_lshlrev_b32 v1, 5, v1\n"
            "  global_load_b128 v[8:11], v1, s[2:3]\n"
            "  global_load_b128 v[12:15], v1, s[2:3] offset:16\n";
    body += is_gfx12(k.gfx) ? "  s_wait_loadcnt 0\n" : "  s_waitcnt vmcnt(0)\n";
    if (is_gfx12(k.gfx)) {
        std::istringstream lines(k.body);
        k.body.clear();
        for (std::string line; std::getline(lines, line);)
            k.body += without_halves(line) + "\n";
    }
    body += "  s_mov_b32 s40, exec_lo\n  s_mov_b32 s41, exec_hi\n" + k.body +
            "\n  s_mov_b32 exec_lo, s40\n  s_mov_b32 exec_hi, s41";
    body += "\n  global_store_b128 v1, v[16:19], s[2:3]\n"
            "  global_store_b128 v1, v[20:23], s[2:3] offset:16\n";
    k.body = body;
    std::vector<u32> all = run(k, launch), result;
    for (u32 l = 0; l < lanes; ++l)
        result.insert(result.end(), &all[l * 8], &all[l * 8] + out);
    return result;
}

// FP16_OVFL on: finite f16 and FP8 results don't become infinite.
inline constexpr const char *set_fp16_ovfl = "  s_setreg_imm32_b32 hwreg(1, 23, 1), 1\n";

} // namespace nw::sim::test
