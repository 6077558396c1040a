// SPDX-License-Identifier: MIT
// Entry points for untrusted bytes. Each function accepts any input: a crash, a sanitizer's
// report, an exception that its room doesn't document or a hang is a bug. libFuzzer drives them in
// a build with NIBBLEWAVE_FUZZ, replay.cpp over the corpus in every build.
#pragma once
#include <cstddef>
#include <span>

namespace nw::fuzz {

using Input = std::span<const std::byte>;

void code_object(Input);  // an ELF: loader, descriptors, symbols, line table, decoding
void metadata(Input);     // the msgpack note
void bundle(Input);       // what hipModuleLoadData takes: ELF, offload bundle, CCOB, HIPF
void instruction(Input);  // LLVM's text of instructions, one a line
void decode(Input);       // instruction bytes: disassembled, resolved
void launch(Input);       // a descriptor and code, run under the checkers
void lint(Input);         // an ELF, or a descriptor and code: linted
void safetensors(Input);  // a file's header
void checkpoint(Input);   // a safetensors file: its 4-bit layers found, repacked, compared
void model_config(Input); // a config.json: its claims about a few layers
void gguf(Input);         // a file: metadata, tensors, a row of each
void trace(Input);        // a profiler's CSV of dispatches

struct Target {
    const char *name; // also of its folder in corpus/
    void (*run)(Input);
};
inline constexpr Target targets[] = {{"code_object", code_object},
                                     {"metadata", metadata},
                                     {"bundle", bundle},
                                     {"instruction", instruction},
                                     {"decode", decode},
                                     {"launch", launch},
                                     {"lint", lint},
                                     {"safetensors", safetensors},
                                     {"checkpoint", checkpoint},
                                     {"model_config", model_config},
                                     {"gguf", gguf},
                                     {"trace", trace}};

} // namespace nw::fuzz
