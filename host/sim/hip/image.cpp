// SPDX-License-Identifier: MIT
#include "sim/hip/image.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "sim/hip/compressed.h"
#include "sim/hip/error.h"
#include "sim/hip/host_copy.h"

namespace nw::hipsim {

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr u32 wrapper_magic = 0x48495046; // "HIPF"
constexpr u64 largest_image = u64{1} << 32;
constexpr u32 mach_mask = 0xff; // EF_AMDGPU_MACH

bool Source::read(void *to, u64 offset, u64 bytes) const {
    if (!size_) {
        const u64 begin = reinterpret_cast<u64>(begin_);
        return offset <= ~begin &&
               copy_from_caller(to, reinterpret_cast<const void *>(begin + offset), bytes);
    }
    if (offset > *size_ || bytes > *size_ - offset)
        return false;
    if (bytes > 0) // else both may be null
        std::memcpy(to, begin_ + offset, bytes);
    return true;
}

std::vector<std::byte> Source::copy(u64 offset, u64 bytes, std::string_view what) const {
    if (bytes > largest_image)
        fail(hipErrorInvalidImage, fmt::format("{}: a size of {} bytes is absurd", what, bytes));
    std::byte last; // asked for first: a damaged size must not cost its memory
    const bool there = bytes == 0 || (offset <= ~bytes && read(&last, offset + bytes - 1, 1));
    std::vector<std::byte> out(there ? bytes : 0);
    if (!there || !read(out.data(), offset, bytes))
        fail(hipErrorInvalidImage,
             fmt::format("{}: truncated, its headers announce {} bytes at offset {}{}", what, bytes,
                         offset, size_ ? fmt::format(" of {}", *size_) : ""));
    return out;
}

// ---- ELF

// e_flags & 0xff of the targets that exist, from LLVM's AMDGPU usage guide.
static std::string target_of(u32 flags) {
    struct Target {
        u32 mach;
        std::string_view gfx;
    };
    constexpr Target targets[] = {
        {0x041, "gfx1100"}, {0x046, "gfx1101"}, {0x047, "gfx1102"},       {0x044, "gfx1103"},
        {0x043, "gfx1150"}, {0x04a, "gfx1151"}, {0x055, "gfx1152"},       {0x058, "gfx1153"},
        {0x048, "gfx1200"}, {0x04e, "gfx1201"}, {0x054, "gfx11-generic"}, {0x059, "gfx12-generic"},
        {0x036, "gfx1030"}, {0x033, "gfx1010"}, {0x03f, "gfx90a"},        {0x04c, "gfx942"},
    };
    for (const Target &target : targets)
        if (target.mach == (flags & mach_mask))
            return std::string(target.gfx);
    return fmt::format("a target with e_flags {:#x}", flags);
}

// A generic target runs on all of its generation.
static bool runs_on(std::string_view target, std::string_view gfx) {
    const auto dash = target.find("-generic");
    return target == gfx || (dash != target.npos && gfx.starts_with(target.substr(0, dash)));
}

// Bytes that the headers account for. The file's end is the furthest of tables, sections, segments.
static u64 elf_size(const Source &elf, const Elf64_Ehdr &header) {
    u64 end = sizeof header;
    const auto reaches = [&](u64 offset, u64 bytes) {
        if (offset > largest_image || bytes > largest_image)
            fail(hipErrorInvalidImage, "ELF: an offset or size in its headers is absurd");
        end = std::max(end, offset + bytes);
    };
    reaches(header.e_phoff, u64{header.e_phnum} * sizeof(Elf64_Phdr));
    reaches(header.e_shoff, u64{header.e_shnum} * sizeof(Elf64_Shdr));
    for (unsigned i = 0; i < header.e_phnum; ++i)
        if (const auto segment = elf.get<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr)))
            reaches(segment->p_offset, segment->p_filesz);
    for (unsigned i = 0; i < header.e_shnum; ++i)
        if (const auto section = elf.get<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)))
            if (section->sh_type != SHT_NOBITS)
                reaches(section->sh_offset, section->sh_size);
    return end;
}

static std::vector<std::byte> checked_elf(const Source &elf, std::string_view gfx) {
    const auto header = elf.get<Elf64_Ehdr>();
    if (!header)
        fail(hipErrorInvalidImage, "ELF: truncated inside its first header");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_AMDGPU)
        fail(hipErrorInvalidImage,
             fmt::format("ELF for machine {}: AMD GPU code is machine {} (EM_AMDGPU), 64 bits",
                         header->e_machine, EM_AMDGPU));
    const std::string target = target_of(header->e_flags);
    if (!runs_on(target, gfx))
        fail(hipErrorNoBinaryForGpu,
             fmt::format("the image is for {}, the device is {}", target, gfx));
    return elf.copy(0, elf_size(elf, *header), "ELF");
}

// ---- offload bundle

namespace {

struct Entry {
    u64 offset, size;
    std::string target; // "gfx1151"; empty for the host's entry
};

} // namespace

// "hipv4-amdgcn-amd-amdhsa--gfx1151:xnack-" names gfx1151.
static std::string gfx_of_id(std::string_view id) {
    const auto dashes = id.rfind("--");
    if (!id.starts_with("hip") || dashes == id.npos)
        return {};
    const std::string_view target = id.substr(dashes + 2);
    return std::string(target.substr(0, target.find(':')));
}

static std::vector<Entry> bundle_entries(const Source &bundle) {
    constexpr u64 most_entries = 4096, longest_id = 4096;
    u64 at = bundle_magic.size();
    const auto count = bundle.get<u64>(at);
    if (!count)
        fail(hipErrorInvalidImage, "offload bundle: truncated behind its magic");
    if (*count > most_entries)
        fail(hipErrorInvalidImage, fmt::format("offload bundle with {} entries", *count));
    at += sizeof *count;
    std::vector<Entry> entries;
    for (u64 i = 0; i < *count; ++i) {
        const auto words = bundle.get<std::array<u64, 3>>(at); // offset, size, length of the id
        if (!words || (*words)[2] > longest_id)
            fail(hipErrorInvalidImage, "offload bundle: truncated or damaged list of entries");
        at += sizeof *words;
        std::string id((*words)[2], '\0');
        if (!bundle.read(id.data(), at, id.size()))
            fail(hipErrorInvalidImage, "offload bundle: truncated list of entries");
        at += id.size();
        entries.push_back({(*words)[0], (*words)[1], gfx_of_id(id)});
    }
    return entries;
}

static std::vector<std::byte> from_bundle(const Source &bundle, std::string_view gfx) {
    const auto entries = bundle_entries(bundle);
    auto found = std::ranges::find(entries, gfx, &Entry::target);
    if (found == entries.end()) // no exact one: a generic one
        found =
            std::ranges::find_if(entries, [&](const Entry &e) { return runs_on(e.target, gfx); });
    if (found == entries.end()) {
        std::vector<std::string_view> targets;
        for (const Entry &entry : entries)
            if (!entry.target.empty())
                targets.push_back(entry.target);
        fail(hipErrorNoBinaryForGpu, fmt::format("the bundle holds code for [{}], the device is {}",
                                                 fmt::join(targets, ", "), gfx));
    }
    const auto elf = bundle.copy(found->offset, found->size, "offload bundle");
    return checked_elf(Source(elf), gfx);
}

// ---- any form

static bool starts_with(const Source &image, std::string_view magic) {
    std::string start(magic.size(), '\0');
    return image.read(start.data(), 0, start.size()) && start == magic;
}

std::vector<std::byte> code_object(const Source &image, std::string_view gfx) {
    struct Wrapper {
        u32 magic, version;
        const void *binary;
        const void *unused;
    };
    if (starts_with(image, {ELFMAG, SELFMAG}))
        return checked_elf(image, gfx);
    if (starts_with(image, bundle_magic))
        return from_bundle(image, gfx);
    if (starts_with(image, compressed_magic)) {
        const auto bundle = decompress_bundle(image);
        if (!starts_with(Source(bundle), bundle_magic))
            fail(hipErrorInvalidImage, "compressed bundle: what is inside is not a bundle");
        return from_bundle(Source(bundle), gfx);
    }
    // Only memory can hold a wrapper: it points to the bundle.
    const auto wrapper = image.size() ? std::nullopt : image.get<Wrapper>();
    if (wrapper && wrapper->magic == wrapper_magic && wrapper->binary) {
        const Source inner(wrapper->binary);
        if (!inner.get<Wrapper>() || inner.get<u32>() == wrapper_magic)
            fail(hipErrorInvalidImage, "HIPF wrapper: it does not point to a bundle");
        return code_object(inner, gfx);
    }
    fail(hipErrorInvalidImage, "neither an ELF, an offload bundle (plain or compressed) nor a HIPF "
                               "wrapper");
}

} // namespace nw::hipsim
