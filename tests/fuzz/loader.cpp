// SPDX-License-Identifier: MIT
#include "fuzz/targets.h"
#include "sim/func/executable/executable.h"
#include "sim/isa/code.h"
#include "sim/isa/image/elf.h"
#include "sim/isa/image/metadata.h"

using namespace nw;
using namespace nw::sim;

// Every query of a module that runs no kernel.
void nw::fuzz::code_object(Input file) {
    try {
        const std::string gfx = Elf(file).gfx();
        const bool generic = gfx.ends_with("-generic");
        auto program = Program::load(file, generic ? gfx.substr(0, 5) + "00" : gfx);
        for (const KernelInfo &k : program->kernels()) {
            program->find_kernel(k.name);
            program->source_line(k.entry);
            executable(*program, k.wave_size);
        }
        for (const Global &g : program->globals())
            program->find_global(g.name);
        for (const Instruction &i : program->code(64).instructions)
            program->source_line(program->code(64).base + i.offset);
    } catch (const BadImage &) {
    }
}

void nw::fuzz::metadata(Input msgpack) {
    try {
        read_metadata(msgpack);
    } catch (const BadImage &) {
    }
}
