// SPDX-License-Identifier: MIT
#include "sim/isa/image/bundle.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/targets.h"
#include "sim/isa/image/program.h"

namespace nw::sim {

namespace {

constexpr u64 largest_image = u64{1} << 32;

// "hipv4-amdgcn-amd-amdhsa--gfx1151:xnack-" names gfx1151.
std::string gfx_of_id(std::string_view id) {
    const auto dashes = id.rfind("--");
    if (!id.starts_with("hip") || dashes == id.npos)
        return {};
    const std::string_view target = id.substr(dashes + 2);
    return std::string(target.substr(0, target.find(':')));
}

} // namespace

bool ByteSource::starts_with(std::string_view magic) const {
    std::string start(magic.size(), '\0');
    return read(start.data(), 0, start.size()) && start == magic;
}

std::vector<std::byte> ByteSource::copy(u64 offset, u64 bytes, std::string_view what) const {
    if (bytes > largest_image)
        throw BadImage(fmt::format("{}: impossible size of {} bytes", what, bytes));
    std::byte last; // read first: a corrupt size must not allocate its memory
    const bool there = bytes == 0 || (offset <= ~bytes && read(&last, offset + bytes - 1, 1));
    std::vector<std::byte> out(there ? bytes : 0);
    if (!there || !read(out.data(), offset, bytes))
        throw BadImage(fmt::format("{}: truncated, its headers declare {} bytes at offset {}{}",
                                   what, bytes, offset,
                                   size() ? fmt::format(" of {}", *size()) : ""));
    return out;
}

bool SpanSource::read(void *to, u64 offset, u64 bytes) const {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset)
        return false;
    if (bytes > 0) // else both may be null
        std::memcpy(to, bytes_.data() + offset, bytes);
    return true;
}

std::vector<BundleEntry> bundle_entries(const ByteSource &bundle) {
    constexpr u64 most_entries = 4096, longest_id = 4096;
    u64 at = bundle_magic.size();
    const auto count = bundle.get<u64>(at);
    if (!count)
        throw BadImage("offload bundle: truncated after its magic");
    if (*count > most_entries)
        throw BadImage(fmt::format("offload bundle with {} entries", *count));
    at += sizeof *count;
    std::vector<BundleEntry> entries;
    for (u64 i = 0; i < *count; ++i) {
        const auto words = bundle.get<std::array<u64, 3>>(at); // offset, size, length of the id
        if (!words || (*words)[2] > longest_id)
            throw BadImage("offload bundle: truncated or damaged list of entries");
        at += sizeof *words;
        std::string id((*words)[2], '\0');
        if (!bundle.read(id.data(), at, id.size()))
            throw BadImage("offload bundle: truncated list of entries");
        at += id.size();
        entries.push_back({(*words)[0], (*words)[1], gfx_of_id(id)});
    }
    return entries;
}

std::string targets_of(const std::vector<BundleEntry> &entries) {
    std::vector<std::string_view> targets;
    for (const BundleEntry &entry : entries)
        if (!entry.target.empty())
            targets.push_back(entry.target);
    return fmt::format("{}", fmt::join(targets, ", "));
}

bool runs_on(std::string_view target, std::string_view gfx) {
    const Target *image = find_target(target), *device = find_target(gfx);
    return target == gfx || (image && device && device->runs(*image));
}

const BundleEntry *find_entry(const std::vector<BundleEntry> &entries, std::string_view gfx) {
    auto found = std::ranges::find(entries, gfx, &BundleEntry::target);
    if (found == entries.end())
        found = std::ranges::find_if(entries,
                                     [&](const BundleEntry &e) { return runs_on(e.target, gfx); });
    return found == entries.end() ? nullptr : &*found;
}

} // namespace nw::sim
