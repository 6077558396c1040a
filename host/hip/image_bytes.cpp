// SPDX-License-Identifier: MIT
#include "hip/image_bytes.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace nw::hip {

using Image = std::span<const std::byte>;

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__", compressed_magic = "CCOB";
constexpr u64 beyond = UINT64_MAX; // larger than any image

template <class T> static std::optional<T> get(Image image, u64 offset) {
    T value;
    if (offset > image.size() || sizeof value > image.size() - offset)
        return {};
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
}

static bool starts_with(Image image, std::string_view magic) {
    return image.size() >= magic.size() && !std::memcmp(image.data(), magic.data(), magic.size());
}

static u64 sum(u64 a, u64 b) { return a > beyond - b ? beyond : a + b; }

// The furthest of header, tables, segments and sections.
static u64 elf_end(Image image) {
    const auto header = get<Elf64_Ehdr>(image, 0);
    if (!header)
        return sizeof(Elf64_Ehdr);
    u64 end = std::max(sum(header->e_phoff, u64{header->e_phnum} * sizeof(Elf64_Phdr)),
                       sum(header->e_shoff, u64{header->e_shnum} * sizeof(Elf64_Shdr)));
    for (u64 i = 0; end <= image.size() && i < header->e_phnum; ++i)
        if (const auto segment = get<Elf64_Phdr>(image, header->e_phoff + i * sizeof(Elf64_Phdr)))
            end = std::max(end, sum(segment->p_offset, segment->p_filesz));
    for (u64 i = 0; end <= image.size() && i < header->e_shnum; ++i)
        if (const auto section = get<Elf64_Shdr>(image, header->e_shoff + i * sizeof(Elf64_Shdr)))
            if (section->sh_type != SHT_NOBITS)
                end = std::max(end, sum(section->sh_offset, section->sh_size));
    return end;
}

// A count, then offset, size, length of the name, and the name of every entry.
static u64 bundle_end(Image image) {
    u64 at = bundle_magic.size();
    const auto count = get<u64>(image, at);
    if (!count)
        return at + sizeof(u64);
    u64 end = at += sizeof(u64);
    for (u64 i = 0; i < *count; ++i) {
        const auto offset = get<u64>(image, at), size = get<u64>(image, at + 8);
        const auto name = get<u64>(image, at + 16);
        if (!offset || !size || !name)
            return sum(at, 3 * sizeof(u64));
        at = sum(at, sum(3 * sizeof(u64), *name));
        end = std::max({end, at, sum(*offset, *size)});
        if (end > image.size())
            return end;
    }
    return end;
}

// Version 1 has no total size: the runtime can't determine it either, and refuses it.
static u64 compressed_end(Image image) {
    const auto version = get<u16>(image, compressed_magic.size());
    if (version == 2)
        return get<u32>(image, 8).value_or(UINT32_MAX);
    if (version == 3)
        return get<u64>(image, 8).value_or(beyond);
    return 0;
}

std::string what_is_missing(Image image) {
    constexpr u64 longest_magic = bundle_magic.size();
    u64 end = longest_magic; // what the runtime reads to detect the format
    if (starts_with(image, {ELFMAG, SELFMAG}))
        end = elf_end(image);
    else if (starts_with(image, bundle_magic))
        end = bundle_end(image);
    else if (starts_with(image, compressed_magic))
        end = std::max(end, compressed_end(image));
    if (end <= image.size())
        return {};
    return end == beyond
               ? "its headers declare an impossible size"
               : fmt::format("its headers declare {} bytes, but it has {}", end, image.size());
}

} // namespace nw::hip
