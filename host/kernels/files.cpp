// SPDX-License-Identifier: MIT
#include "kernels/files.h"

#include <cstdlib>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <vector>

#include "base/error.h"

#ifndef EM_AMDGPU // elf.h before glibc 2.27
#define EM_AMDGPU 224
#endif

namespace nw {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> hsaco_directories() {
    if (const char *dir = std::getenv("NIBBLEWAVE_HSACO"); dir && *dir)
        return {dir};
    std::vector<fs::path> out;
    std::error_code error;
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (!error)
        out.push_back(executable.parent_path().parent_path() / "hsaco");
    out.emplace_back(NW_BUILD_HSACO);
    return out;
}

} // namespace

fs::path find_code_object(const Kernel &kernel) {
    std::string tried;
    for (const fs::path &dir : hsaco_directories()) {
        const fs::path file = dir / kernel.gfx / fmt::format("{}.hsaco", kernel.symbol);
        if (fs::exists(file))
            return file;
        tried += fmt::format("{}{}", tried.empty() ? "" : ", ", file.string());
    }
    throw Error(fmt::format("no code object for {} on {}: tried {}; build the kernels, or set "
                            "NIBBLEWAVE_HSACO to the directory that holds {}/",
                            kernel.symbol, kernel.gfx, tried, kernel.gfx));
}

void check_code_object(const fs::path &file) {
    const auto refuse = [&](const std::string &why) {
        throw Error(fmt::format("{}: {}; build the kernels again", file.string(), why));
    };
    std::ifstream in(file, std::ios::binary);
    if (!in)
        refuse("can't be read");
    std::error_code error;
    const u64 size = fs::file_size(file, error);
    if (error)
        refuse("is not a file");
    Elf64_Ehdr header{};
    in.read(reinterpret_cast<char *>(&header), sizeof header);
    if (static_cast<u64>(in.gcount()) < sizeof header)
        refuse(fmt::format("truncated: {} bytes, an ELF header has {}", size, sizeof header));
    if (std::string_view(reinterpret_cast<char *>(header.e_ident), SELFMAG) != ELFMAG)
        refuse("not a code object: no ELF magic");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_AMDGPU)
        refuse(fmt::format("an ELF for machine {}, not a 64-bit one for AMDGPU ({})",
                           header.e_machine, EM_AMDGPU));
    const u64 end = header.e_shoff + u64{header.e_shnum} * header.e_shentsize;
    if (end > size) // the section table is the last thing in the file
        refuse(fmt::format("truncated: {} bytes of {}", size, end));
}

} // namespace nw
