// SPDX-License-Identifier: MIT
#include "lint/lint.h"

#include "fuzz/shell.h"
#include "fuzz/targets.h"
#include "sim/isa/image/elf.h"

using namespace nw;
using namespace nw::sim;

// The first byte selects the form: a whole file, or a descriptor and code.
void nw::fuzz::lint(Input input) {
    Reader r(input);
    const auto flags = r.take<u8>();
    try {
        std::shared_ptr<const Program> program;
        if (flags == 0x7f) { // an ELF's first
            const std::string gfx = Elf(input).gfx();
            const bool generic = gfx.ends_with("-generic");
            program = Program::load(input, generic ? gfx.substr(0, 5) + "00" : gfx);
        } else {
            const Shell &shell = fuzz::shell(flags >> 6);
            program = Program::load(shell.filled(flags, r), shell.gfx);
        }
        for (const KernelInfo &kernel : program->kernels())
            for (const nw::lint::Finding &f : nw::lint::lint(*program, kernel, true))
                nw::lint::info(f.rule);
    } catch (const BadImage &) {
    }
}
