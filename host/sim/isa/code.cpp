// SPDX-License-Identifier: MIT
#include "sim/isa/code.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <memory>
#include <mutex>

#include "sim/isa/program.h"

namespace nw::sim {

namespace {

using Disassembler = std::unique_ptr<void, decltype(&LLVMDisasmDispose)>;

Disassembler make_disassembler(std::string_view cpu, u32 wave_size) {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUDisassembler();
    });
    // real-true16 is not gfx12's default, and without it high halves print as illegal registers.
    std::string features = fmt::format("+real-true16,+wavefrontsize{}", wave_size);
    void *d = LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", std::string(cpu).c_str(),
                                          features.c_str(), nullptr, 0, nullptr, nullptr);
    if (!d)
        throw BadImage(fmt::format("LLVM has no AMDGPU disassembler for {}", cpu));
    return {d, &LLVMDisasmDispose};
}

u32 word(std::span<const std::byte> image, u32 at, u32 end) {
    u32 value = 0;
    if (at + 4 <= end)
        std::memcpy(&value, image.data() + at, 4);
    return value;
}

} // namespace

u32 Code::find(u64 pc) const {
    auto it = std::lower_bound(instructions.begin(), instructions.end(), pc - base,
                               [](const Instruction &i, u64 offset) { return i.offset < offset; });
    if (it == instructions.end() || it->offset != pc - base)
        return none;
    return static_cast<u32>(it - instructions.begin());
}

void disassemble(std::span<const std::byte> image, u32 begin, u32 end, std::string_view cpu,
                 Code &code) {
    Disassembler d = make_disassembler(cpu, code.wave_size);
    auto bytes = reinterpret_cast<u8 *>(const_cast<std::byte *>(image.data())); // C API: not const
    size_t first = code.instructions.size();
    char text[512];
    for (u32 at = begin; at + 4 <= end;) {
        size_t size = LLVMDisasmInstruction(d.get(), bytes + at, end - at, at, text, sizeof text);
        Instruction inst;
        inst.offset = at;
        inst.word0 = word(image, at, end);
        inst.word1 = word(image, at + 4, end);
        inst.size = size ? static_cast<u32>(size) : 4;
        if (size)
            inst.text = text + (text[0] == '\t'); // LLVM indents
        at += inst.size;
        code.instructions.push_back(std::move(inst));
    }
    // Parsed only now: the operands point into `text`, which must not move any more.
    for (size_t i = first; i < code.instructions.size(); ++i)
        parse(code.instructions[i]);
}

std::vector<Instruction> disassemble_each(std::span<const std::array<u32, 5>> encodings,
                                          std::string_view cpu, u32 wave_size) {
    Disassembler d = make_disassembler(cpu, wave_size);
    std::vector<Instruction> decoded(encodings.size());
    char text[512];
    for (size_t n = 0; n < encodings.size(); ++n) {
        auto words = encodings[n];
        size_t size = LLVMDisasmInstruction(d.get(), reinterpret_cast<u8 *>(words.data()),
                                            sizeof words, 0, text, sizeof text);
        Instruction &inst = decoded[n];
        inst.word0 = words[0];
        inst.word1 = words[1];
        inst.size = size ? static_cast<u32>(size) : 4;
        if (size)
            inst.text = text + (text[0] == '\t');
        parse(inst);
    }
    return decoded;
}

} // namespace nw::sim
