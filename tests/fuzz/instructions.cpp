// SPDX-License-Identifier: MIT
#include <string>

#include "fuzz/reader.h"
#include "fuzz/targets.h"
#include "sim/check/checks.h"
#include "sim/func/executable/build.h"
#include "sim/func/machine.h"
#include "sim/isa/code.h"
#include "sim/isa/uses.h"

using namespace nw;
using namespace nw::sim;

// Operations on instructions before they execute.
static void prepare(Code &code, const Device &device) {
    const Generation generation = device.target->generation;
    for (const Instruction &i : code.instructions) {
        register_uses(i);
        issues(i, generation);
        wait_limits(i, generation);
    }
    Executable e;
    e.code = &code;
    const auto count = static_cast<u32>(code.instructions.size());
    e.insts.resize(count + 1);
    Builder builder(e, *device.target);
    for (u32 index = 0; index <= count; ++index)
        builder.build(index);
    const CheckFacts facts({.wait = true, .init = true}, code, device.gfx);
}

static const Device &device_of(u8 choice) { return devices()[choice % devices().size()]; }

void nw::fuzz::decode(Input input) {
    Reader r(input);
    const Device &device = device_of(r.take<u8>());
    Code code;
    code.wave_size = r.take<u8>() & 1 ? 64 : 32;
    disassemble(r.rest(), 0, static_cast<u32>(r.rest().size()), device.gfx, code);
    prepare(code, device);
}

void nw::fuzz::instruction(Input input) {
    Reader r(input);
    const Device &device = device_of(r.take<u8>());
    std::string_view text(reinterpret_cast<const char *>(r.rest().data()), r.rest().size());
    Code code;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        Instruction inst;
        inst.offset = 4 * static_cast<u32>(code.instructions.size());
        inst.size = 4;
        inst.text = text.substr(0, end);
        code.instructions.push_back(std::move(inst));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (Instruction &i : code.instructions) // their texts stay where they are from here
        parse(i);
    prepare(code, device);
}
