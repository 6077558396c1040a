// SPDX-License-Identifier: MIT
// Declarations of LLVM's C API (llvm-c/Disassembler.h, llvm-c/Target.h), which keeps its ABI: its
// headers come with 500 MB of packages.
#pragma once
#include <cstddef>
#include <cstdint>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();

// Null where there is no such target. The last two are callbacks for operands and symbols.
void *LLVMCreateDisasmCPUFeatures(const char *triple, const char *cpu, const char *features,
                                  void *callback_data, int tag_type, void *operand_info,
                                  void *symbol_lookup);
void LLVMDisasmDispose(void *disassembler);
// The bytes of the instruction; 0 where they are none.
std::size_t LLVMDisasmInstruction(void *disassembler, std::uint8_t *bytes, std::uint64_t size,
                                  std::uint64_t pc, char *text, std::size_t text_size);
}
