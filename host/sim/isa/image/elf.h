// SPDX-License-Identifier: MIT
// A bounds-checked view of an AMDGPU ELF; BadImage if it is malformed.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "sim/isa/image/program.h"

namespace nw::sim {

// Reads little-endian values from untrusted bytes.
class Bytes {
public:
    Bytes() = default;
    Bytes(std::span<const std::byte> data, const char *what) : data_(data), what_(what) {}

    template <class T> T read(u64 at) const {
        T value;
        std::memcpy(&value, slice(at, sizeof(T)).data(), sizeof(T));
        return value;
    }
    // Throws BadImage unless [at, at + size) lies inside.
    std::span<const std::byte> slice(u64 at, u64 size) const;
    // The zero-terminated string at `at`; throws when no zero follows.
    std::string_view string(u64 at) const;
    u64 size() const { return data_.size(); }
    bool empty() const { return data_.empty(); }

private:
    std::span<const std::byte> data_;
    const char *what_ = "image";
};

struct Segment {
    u32 type = 0, flags = 0;
    u64 offset = 0, address = 0, file_size = 0, memory_size = 0;
};

struct Section {
    std::string_view name;
    u32 type = 0, link = 0, info = 0;
    u64 flags = 0, address = 0, offset = 0, size = 0, entry_size = 0;
};

struct Symbol {
    std::string_view name;
    u8 type = 0;
    u16 section = 0;
    u64 address = 0, size = 0;
};

struct Relocation {
    u64 address = 0;
    u32 type = 0, symbol = 0;
    i64 addend = 0;
};

// "gfx1151", "gfx11-generic", from e_flags; unknown values give a text with the number.
std::string gfx_of_flags(u32 flags);

inline constexpr u32 segment_load = 1, segment_note = 4;
inline constexpr u32 segment_executable = 1;
inline constexpr u64 section_executable = 4;

// The file, not its memory image: addresses are as linked.
class Elf {
public:
    explicit Elf(std::span<const std::byte> file); // throws BadImage

    const std::string &gfx() const { return gfx_; } // "gfx1151", "gfx11-generic"
    u32 code_object_version() const { return version_; }
    u32 generic_version() const { return generic_version_; } // 0: none
    bool is_linked() const { return linked_; }
    const std::vector<Segment> &segments() const { return segments_; }
    const std::vector<Section> &sections() const { return sections_; }
    const std::vector<Symbol> &symbols() const { return symbols_; }
    // Functions of the full symbol table, static ones too; for reports, so a damaged one is empty.
    const std::vector<Symbol> &functions() const { return functions_; }
    const std::vector<Relocation> &relocations() const { return relocations_; }
    const Bytes &file() const { return file_; }
    // The section's bytes; empty when it is absent or has none in the file.
    Bytes section(std::string_view name) const;
    // The msgpack of the AMDGPU metadata note; empty when there is none.
    std::span<const std::byte> metadata() const;

private:
    void read_header();
    void read_segments();
    void read_sections();
    void read_symbols(const Section &, std::vector<Symbol> &to) const;
    void read_functions();
    void read_relocations(const Section &);

    Bytes file_;
    std::string gfx_;
    u32 version_ = 0, generic_version_ = 0;
    bool linked_ = true;
    std::vector<Segment> segments_;
    std::vector<Section> sections_;
    std::vector<Symbol> symbols_, functions_;
    std::vector<Relocation> relocations_;
};

} // namespace nw::sim
