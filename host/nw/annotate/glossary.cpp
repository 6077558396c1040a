// SPDX-License-Identifier: MIT
#include "nw/annotate/glossary.h"

#include <algorithm>
#include <fmt/format.h>

#include "nw/html.h"

namespace nw::cli {

namespace {

struct Word {
    std::string_view word, meaning;
};

constexpr Word words[] = {
    {"wave", "32 or 64 lanes that execute the same instructions together"},
    {"workgroup", "waves that share LDS and barriers; the grid counts them"},
    {"SIMD", "issues the instructions of its waves and has one VALU; a compute unit (CU) has two, "
             "a WGP has four"},
    {"WGP", "workgroup processor: two compute units, one LDS; a workgroup stays in one"},
    {"times", "executions by waves; in a large grid only the timed workgroups count"},
    {"cycles lost", "cycles in which the wave could not issue this instruction, of all waves "
                    "together"},
    {"share", "cycles of waves at this line, executions and lost ones, of all cycles of waves"},
    {"waiting for", "what the lost cycles were spent on, by colour: see the key at the top"},
    {"limiter",
     "the unit that is busy for 60 % of the time or more; else what waves wait for most"},
    {"occupancy", "waves that a SIMD holds at once: others hide the latency of one"},
    {"sampling", "a large grid is timed by some of its workgroups, and extrapolated"},
    {"VALU", "vector unit of a SIMD: one instruction a cycle for 32 lanes; VOPD issues two as one"},
    {"WMMA", "matrix instructions; they keep the VALU busy"},
    {"TRANS", "exp, log, rcp, rsq, sqrt, sin and cos: a quarter of the VALU's rate"},
    {"SALU", "scalar unit of a SIMD: one value for the whole wave"},
    {"LDS", "memory of a workgroup on the WGP, in 32 banks of each half; lanes that access the "
            "same bank take turns"},
    {"VGPR", "vector register, one value per lane; a SIMD's are shared by its waves"},
    {"DRAM", "memory of the GPU, behind L2 and, if there is one, MALL (Infinity Cache)"},
    {"roofline", "the rate that the part allows a kernel with so many operations for each byte of "
                 "DRAM: below the slope memory decides, below the flat roof a unit"},
    {"intensity", "operations of floats and of dot products for each byte that DRAM moves"},
    {"start", "the wave has a slot, its first instruction has not issued"},
    {"fetch", "the code is not in the instruction cache"},
    {"branch", "after a branch, until the next instruction is there"},
    {"nop", "s_nop, s_sleep, and what the issue logic does itself"},
    {"delay", "s_delay_alu"},
    {"valu", "a VALU result that a scalar or memory instruction, or a wait, needs"},
    {"valu_queue", "too many VALU instructions of the SIMD wait for their sources"},
    {"valu_busy", "VALU instructions of other waves"},
    {"scalar", "an SGPR or SCC"},
    {"wait_load", "s_waitcnt or s_wait_loadcnt: data of vector loads"},
    {"wait_store", "the same for stores"},
    {"wait_lds", "the same for LDS"},
    {"wait_scalar", "the same for scalar loads"},
    {"barrier", "other waves of the workgroup have not arrived"},
    {"counter", "too many memory instructions of the wave are in flight"},
    {"memory_busy", "the address unit of the compute unit"},
    {"lds_busy", "LDS, which serves other waves or bank conflicts"},
    {"port", "another wave's instruction of this kind issued in that cycle"},
};

} // namespace

std::string explained(std::string_view word) {
    const auto at = std::ranges::find(words, word, &Word::word);
    return at == std::end(words)
               ? escape(word)
               : fmt::format("<abbr title=\"{}\">{}</abbr>", escape(at->meaning), escape(word));
}

std::string glossary_html() {
    std::string text = "<h2 id=\"glossary\">Glossary</h2>\n<dl class=\"glossary\">\n";
    for (const Word &w : words)
        text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape(w.word), escape(w.meaning));
    return text + "</dl>\n";
}

} // namespace nw::cli
