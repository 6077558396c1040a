// SPDX-License-Identifier: MIT
#include "sim/isa/image/elf.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "base/targets.h"

namespace nw::sim {

namespace {

constexpr u16 machine_amdgpu = 224, relocatable = 1;
constexpr u32 section_symtab = 2, section_rela = 4, section_nobits = 8, section_dynsym = 11;
constexpr u32 note_amdgpu_metadata = 32;
constexpr u64 program_header_size = 56, section_header_size = 64, symbol_size = 24, rela_size = 24;
constexpr u16 undefined_section = 0;

// EF_AMDGPU_MACH, from LLVM's AMDGPUUsage: targets that aren't in gen/targets.toml but may occur in
// files.
constexpr std::array<std::pair<u32, const char *>, 9> other_machines{{
    {0x02c, "gfx900"},
    {0x02f, "gfx906"},
    {0x030, "gfx908"},
    {0x031, "gfx909"},
    {0x032, "gfx90c"},
    {0x03f, "gfx90a"},
    {0x049, "gfx1250"},
    {0x04c, "gfx942"},
    {0x05a, "gfx1251"},
}};

} // namespace

std::span<const std::byte> Bytes::slice(u64 at, u64 size) const {
    if (at > data_.size() || size > data_.size() - at)
        throw BadImage(fmt::format("{}: bytes [{}, {}) are needed, but it is truncated at byte {}",
                                   what_, at, at + size, data_.size()));
    return data_.subspan(at, size);
}

std::string_view Bytes::string(u64 at) const {
    auto rest = at < data_.size() ? data_.subspan(at) : std::span<const std::byte>{};
    auto end = std::find(rest.begin(), rest.end(), std::byte{0});
    if (end == rest.end())
        throw BadImage(fmt::format("{}: the string at byte {} is not terminated", what_, at));
    return {reinterpret_cast<const char *>(rest.data()), static_cast<size_t>(end - rest.begin())};
}

std::string gfx_of_flags(u32 flags) {
    const u32 mach = flags & 0xff;
    const auto target = std::ranges::find(known_targets(), mach, &Target::elf_machine);
    if (target != known_targets().end())
        return std::string(target->name);
    const auto other =
        std::ranges::find(other_machines, mach, &std::pair<u32, const char *>::first);
    return other != other_machines.end() ? other->second
                                         : fmt::format("e_flags machine 0x{:03x}", mach);
}

Elf::Elf(std::span<const std::byte> file) : file_(file, "code object") {
    read_header();
    read_segments();
    read_sections();
    for (u32 wanted : {section_dynsym, section_symtab}) {
        for (const Section &s : sections_)
            if (s.type == wanted && symbols_.empty())
                read_symbols(s, symbols_);
    }
    read_functions();
    for (const Section &s : sections_)
        if (s.type == section_rela)
            read_relocations(s);
}

void Elf::read_header() {
    constexpr std::string_view magic = "\x7f"
                                       "ELF";
    if (file_.size() < 4 || std::memcmp(file_.slice(0, 4).data(), magic.data(), 4) != 0)
        throw BadImage(fmt::format("not an ELF file: {} bytes that don't start with 7f 'ELF'; pass "
                                   "the code object that clang -target amdgcn-amd-amdhsa links",
                                   file_.size()));
    if (file_.read<u8>(4) != 2 || file_.read<u8>(5) != 1)
        throw BadImage("not a 64-bit little-endian ELF file, so not an AMDGPU code object");
    if (u16 machine = file_.read<u16>(18); machine != machine_amdgpu)
        throw BadImage(fmt::format("an ELF file for machine {}, not for AMDGPU ({})", machine,
                                   machine_amdgpu));
    linked_ = file_.read<u16>(16) != relocatable;
    const u32 flags = file_.read<u32>(48);
    version_ = file_.read<u8>(8) + 2; // EI_ABIVERSION
    generic_version_ = version_ >= 6 ? flags >> 24 : 0;
    gfx_ = gfx_of_flags(flags);
}

void Elf::read_segments() {
    u64 at = file_.read<u64>(32);
    u16 size = file_.read<u16>(54), count = file_.read<u16>(56);
    if (count && size != program_header_size)
        throw BadImage(fmt::format("program headers of {} bytes: must be {} in ELF64", size,
                                   program_header_size));
    file_.slice(at, u64{count} * size);
    for (u16 i = 0; i < count; ++i, at += size) {
        Segment s{file_.read<u32>(at),      file_.read<u32>(at + 4),  file_.read<u64>(at + 8),
                  file_.read<u64>(at + 16), file_.read<u64>(at + 32), file_.read<u64>(at + 40)};
        file_.slice(s.offset, s.file_size);
        if (s.type == segment_load && s.file_size > s.memory_size)
            throw BadImage(fmt::format("segment {} has {} bytes in the file but {} in memory", i,
                                       s.file_size, s.memory_size));
        segments_.push_back(s);
    }
}

void Elf::read_sections() {
    u64 at = file_.read<u64>(40);
    u16 size = file_.read<u16>(58), count = file_.read<u16>(60), names = file_.read<u16>(62);
    if (at == 0 || count == 0)
        return; // stripped: segments only
    if (size != section_header_size)
        throw BadImage(fmt::format("section headers of {} bytes: must be {} in ELF64", size,
                                   section_header_size));
    file_.slice(at, u64{count} * size);
    for (u16 i = 0; i < count; ++i) {
        u64 h = at + u64{i} * size;
        Section s;
        s.type = file_.read<u32>(h + 4);
        s.flags = file_.read<u64>(h + 8);
        s.address = file_.read<u64>(h + 16);
        s.offset = file_.read<u64>(h + 24);
        s.size = file_.read<u64>(h + 32);
        s.link = file_.read<u32>(h + 40);
        s.info = file_.read<u32>(h + 44);
        s.entry_size = file_.read<u64>(h + 56);
        if (s.type != section_nobits && s.type != 0)
            file_.slice(s.offset, s.size);
        sections_.push_back(s);
    }
    if (names >= sections_.size())
        return;
    const Section &table = sections_[names];
    if (table.type == section_nobits)
        return;
    Bytes strings(file_.slice(table.offset, table.size), "section name table");
    for (u16 i = 0; i < count; ++i)
        sections_[i].name = strings.string(file_.read<u32>(at + u64{i} * size));
}

void Elf::read_functions() {
    constexpr u8 function = 2;
    try {
        for (const Section &s : sections_)
            if (s.type == section_symtab)
                read_symbols(s, functions_);
    } catch (const BadImage &) {
        functions_.clear();
    }
    std::erase_if(functions_, [](const Symbol &s) { return s.type != function || !s.section; });
}

void Elf::read_symbols(const Section &table, std::vector<Symbol> &to) const {
    if (table.link >= sections_.size() || sections_[table.link].type == section_nobits)
        throw BadImage(
            fmt::format("symbol table links section {} of {}", table.link, sections_.size()));
    const Section &names = sections_[table.link];
    Bytes strings(file_.slice(names.offset, names.size), "symbol name table");
    Bytes bytes(file_.slice(table.offset, table.size), "symbol table");
    for (u64 at = 0; at + symbol_size <= bytes.size(); at += symbol_size) {
        Symbol s{strings.string(bytes.read<u32>(at)), static_cast<u8>(bytes.read<u8>(at + 4) & 15),
                 bytes.read<u16>(at + 6), bytes.read<u64>(at + 8), bytes.read<u64>(at + 16)};
        if (s.section == undefined_section)
            s.address = s.size = 0;
        to.push_back(s);
    }
}

void Elf::read_relocations(const Section &table) {
    Bytes bytes(file_.slice(table.offset, table.size), "relocation table");
    for (u64 at = 0; at + rela_size <= bytes.size(); at += rela_size) {
        u64 info = bytes.read<u64>(at + 8);
        relocations_.push_back({bytes.read<u64>(at), static_cast<u32>(info),
                                static_cast<u32>(info >> 32), bytes.read<i64>(at + 16)});
    }
}

Bytes Elf::section(std::string_view name) const {
    for (const Section &s : sections_)
        if (s.name == name && s.type != section_nobits)
            return {file_.slice(s.offset, s.size), "section"};
    return {};
}

std::span<const std::byte> Elf::metadata() const {
    for (const Segment &s : segments_) {
        if (s.type != segment_note)
            continue;
        Bytes notes(file_.slice(s.offset, s.file_size), "note segment");
        for (u64 at = 0; at + 12 <= notes.size();) {
            u64 name_size = notes.read<u32>(at), size = notes.read<u32>(at + 4);
            u64 name = at + 12, data = name + round_up<u64>(name_size, 4);
            if (notes.read<u32>(at + 8) == note_amdgpu_metadata && name_size == 7 &&
                notes.string(name) == "AMDGPU")
                return notes.slice(data, size);
            at = data + round_up<u64>(size, 4);
        }
    }
    return {};
}

} // namespace nw::sim
