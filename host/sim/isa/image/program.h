// SPDX-License-Identifier: MIT
// A code object: results of the loader, the metadata and LLVM's disassembler.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace nw::sim {

// The image can't be used: not an AMDGPU ELF, truncated, another gfx, no such kernel.
class BadImage : public Error {
public:
    using Error::Error;
};

// One entry of `.args` of the code object's metadata. Sizes and offsets in bytes.
struct Arg {
    std::string name;
    u32 offset = 0;
    u32 size = 0;
    std::string value_kind; // global_buffer, by_value, hidden_block_count_x, ...
};
inline bool is_hidden(const Arg &arg) { return arg.value_kind.starts_with("hidden_"); }

// One kernel, from its descriptor (64 bytes, `symbol.kd`) and the metadata.
struct KernelInfo {
    std::string name;
    u64 entry = 0;      // host address of the first instruction in the loaded image
    u64 descriptor = 0; // host address of the descriptor
    u32 rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
    u16 properties = 0;
    u32 kernarg_bytes = 0;
    u32 lds_bytes = 0;     // static
    u32 scratch_bytes = 0; // per lane
    u32 max_workgroup = 1024;
    u32 wave_size = 32;
    u32 metadata_wave_size = 0; // 0: unspecified
    u32 sgprs = 0, vgprs = 0;   // from the metadata
    bool has_metadata = false;  // without it real ROCm passes no kernel arguments
    std::vector<Arg> args;
};

struct Global {
    std::string name;
    u64 address = 0;
    u64 size = 0;
};

struct Code; // decoded instructions, sim/isa/code.h

// Loaded and decoded once, then read-only and shared by all launches.
// "saxpy.s" and 41 of "saxpy.s:41"; without a file line 0.
struct SourcePlace {
    std::string file;
    u32 line = 0;
};
SourcePlace place_of(const std::string &source_line);

class Program {
public:
    // Throws BadImage. `gfx` is the device's ("gfx1151"); an image for another one is refused.
    // The bytes are copied; PC values are addresses inside this object.
    static std::shared_ptr<const Program> load(std::span<const std::byte> elf,
                                               std::string_view gfx);
    ~Program();

    const std::string &gfx() const;
    u32 code_object_version() const; // 2 to 6
    bool is_generic() const;         // for gfx11-generic or such
    u32 generic_version() const;     // of that target; 0: it has none, which loaders refuse
    const std::vector<KernelInfo> &kernels() const;
    const KernelInfo *find_kernel(std::string_view name) const; // null when absent
    const Global *find_global(std::string_view name) const;     // null when absent
    const std::vector<Global> &globals() const;
    // Of amdhsa.printf in the metadata: for kernels with a hidden_printf_buffer.
    const std::vector<std::string> &printf_formats() const;
    const Global *function_at(u64 pc) const; // the code symbol that contains it, or null
    // The loaded segments: code, constants, variables. Kernels may always access it; a runtime
    // whose copies must reach `Global`s adopts it into its Memory.
    std::span<std::byte> image() const;
    bool overlaps_code(u64 address, u64 size) const;
    // Decoded as wave32 or wave64 reads it (LLVM's text differs). Decoded at first use.
    const Code &code(u32 wave_size) const;
    // The file that was loaded, if it has debug information; else empty. Its addresses are those of
    // image(), less where that begins.
    std::span<const std::byte> debug_file() const;
    // "saxpy.s:41" from the line table; "" when there is none for `pc`.
    std::string source_line(u64 pc) const;
    SourcePlace source_place(u64 pc) const { return place_of(source_line(pc)); }
    // Data that a client derives from the code once and caches with it: one T for each key.
    template <class T>
    const T &derived(u32 key, const std::function<std::shared_ptr<T>()> &make) const {
        return *static_cast<const T *>(attached(typeid(T), key, make));
    }

private:
    Program();
    const void *attached(std::type_index, u32 key,
                         const std::function<std::shared_ptr<void>()> &make) const;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim
