// SPDX-License-Identifier: MIT
#include "runtime/files.h"

#include <cstdlib>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <link.h>
#include <vector>

#include "base/error.h"

#ifndef EM_AMDGPU // elf.h before glibc 2.27
#define EM_AMDGPU 224
#endif

namespace nw {

namespace fs = std::filesystem;

namespace {

// The program or shared library that this code is in.
fs::path own_file() {
    Dl_info info{};
    link_map *object = nullptr;
    if (dladdr1(reinterpret_cast<const void *>(&own_file), &info,
                reinterpret_cast<void **>(&object), RTLD_DL_LINKMAP) &&
        object && object->l_name && *object->l_name)
        return object->l_name;
    std::error_code error; // the program itself has no name there
    return fs::read_symlink("/proc/self/exe", error);
}

std::vector<fs::path> directories(const fs::path &given) {
    if (!given.empty())
        return {given};
    if (const char *dir = std::getenv("NIBBLEWAVE_HSACO"); dir && *dir)
        return {dir};
    std::vector<fs::path> out;
    std::error_code error;
    if (const fs::path file = fs::canonical(own_file(), error); !error) {
        out.push_back((file.parent_path() / NW_INSTALLED_HSACO).lexically_normal());
        out.push_back(file.parent_path().parent_path() / "hsaco");
    }
#ifdef NW_BUILD_HSACO
    out.emplace_back(NW_BUILD_HSACO);
#endif
    return out;
}

} // namespace

fs::path find_directory_if_any(std::string_view gfx, const fs::path &given) {
    for (const fs::path &dir : directories(given)) {
        std::error_code ignored;
        if (fs::is_directory(dir / gfx, ignored))
            return dir;
    }
    return {};
}

fs::path find_directory(std::string_view gfx, const fs::path &given) {
    if (fs::path found = find_directory_if_any(gfx, given); !found.empty())
        return found;
    std::string tried;
    for (const fs::path &dir : directories(given))
        tried += fmt::format("{}{}", tried.empty() ? "" : ", ", (dir / gfx).string());
    throw Error(fmt::format("no code objects for {}: tried {}; build the kernels, or set "
                            "NIBBLEWAVE_HSACO to the directory that holds {}/",
                            gfx, tried, gfx));
}

fs::path find_code_object(const Kernel &kernel, const fs::path &given) {
    std::string tried;
    for (const fs::path &dir : directories(given)) {
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
