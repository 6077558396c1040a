// SPDX-License-Identifier: MIT
#include "sim/check/found.h"

#include "lint/lint.h"
#include "sim/assemble.h"

namespace nw::sim::test {

std::string found_in(const std::string &gfx, u32 wave, const std::string &body) {
    const auto program = load(waiting_kernel(gfx, wave, body));
    for (const lint::Finding &f : lint::lint(*program, program->kernels().front(), false)) {
        const std::string id(info(f.rule).id);
        if (id.starts_with("W-00") && info(f.rule).severity != lint::Severity::note)
            return "wait: " + f.text + "; " + f.remedy;
        if (id.starts_with("H-"))
            return "wait: " + f.text + " (" + id + "); " + f.remedy;
    }
    return "";
}

} // namespace nw::sim::test
