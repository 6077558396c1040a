// SPDX-License-Identifier: MIT
#include "sim/hip/module/image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/error.h"
#include "sim/isa/image/bundle.h"
#include "sim/isa/image/compressed.h"
#include "sim/isa/image/elf.h"
#include "sim/isa/image/program.h"

namespace nw::hipsim {

constexpr u32 wrapper_magic = 0x48495046; // "HIPF"
constexpr u64 largest_image = u64{1} << 32;

bool PointerSource::read(void *to, u64 offset, u64 bytes) const {
    return offset <= ~begin_ &&
           copy_from_caller(to, reinterpret_cast<const void *>(begin_ + offset), bytes);
}

// ---- ELF

// Size of an ELF by its headers: the furthest end of tables, sections and segments.
static u64 elf_size(const sim::ByteSource &elf, const Elf64_Ehdr &header) {
    u64 end = sizeof header;
    const auto reaches = [&](u64 offset, u64 bytes) {
        if (offset > largest_image || bytes > largest_image)
            fail(hipErrorInvalidImage, "ELF: impossible offset or size in its headers");
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

static std::vector<std::byte> checked_elf(const sim::ByteSource &elf, std::string_view gfx) {
    const auto header = elf.get<Elf64_Ehdr>();
    if (!header)
        fail(hipErrorInvalidImage, "ELF: truncated inside its first header");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_AMDGPU)
        fail(hipErrorInvalidImage,
             fmt::format("ELF for machine {}: AMD GPU code is machine {} (EM_AMDGPU), 64 bits",
                         header->e_machine, EM_AMDGPU));
    const std::string target = sim::gfx_of_flags(header->e_flags);
    if (!sim::runs_on(target, gfx))
        fail(hipErrorNoBinaryForGpu,
             fmt::format("the image is for {}, the device is {}", target, gfx));
    return elf.copy(0, elf_size(elf, *header), "ELF");
}

// ---- offload bundle

static std::vector<std::byte> from_bundle(const sim::ByteSource &bundle, std::string_view gfx) {
    const auto entries = sim::bundle_entries(bundle);
    const sim::BundleEntry *found = sim::find_entry(entries, gfx);
    if (!found)
        fail(hipErrorNoBinaryForGpu, fmt::format("the bundle holds code for [{}], the device is {}",
                                                 sim::targets_of(entries), gfx));
    const auto elf = bundle.copy(found->offset, found->size, "offload bundle");
    return checked_elf(sim::SpanSource(elf), gfx);
}

// ---- any form

static std::vector<std::byte> extract(const sim::ByteSource &image, std::string_view gfx) {
    struct Wrapper {
        u32 magic, version;
        const void *binary;
        const void *unused;
    };
    if (image.starts_with({ELFMAG, SELFMAG}))
        return checked_elf(image, gfx);
    if (image.starts_with(sim::bundle_magic))
        return from_bundle(image, gfx);
    if (image.starts_with(sim::compressed_magic)) {
        const auto bundle = sim::decompress_bundle(image);
        const sim::SpanSource inner(bundle);
        if (!inner.starts_with(sim::bundle_magic))
            fail(hipErrorInvalidImage, "compressed bundle: its contents are not a bundle");
        return from_bundle(inner, gfx);
    }
    // Only memory can hold a wrapper: it points to the bundle.
    const auto wrapper = image.size() ? std::nullopt : image.get<Wrapper>();
    if (wrapper && wrapper->magic == wrapper_magic && wrapper->binary) {
        const PointerSource inner(wrapper->binary);
        if (!inner.get<Wrapper>() || inner.get<u32>() == wrapper_magic)
            fail(hipErrorInvalidImage, "HIPF wrapper: it does not point to a bundle");
        return extract(inner, gfx);
    }
    fail(hipErrorInvalidImage, "neither an ELF, an offload bundle (plain or compressed) nor a HIPF "
                               "wrapper");
}

std::vector<std::byte> code_object(const sim::ByteSource &image, std::string_view gfx) {
    try {
        return extract(image, gfx);
    } catch (const sim::BadImage &error) {
        fail(hipErrorInvalidImage, error.what());
    }
}

} // namespace nw::hipsim
