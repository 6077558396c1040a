// SPDX-License-Identifier: MIT
// Records written by measuring kernels.
#pragma once
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/launch.h"

namespace nw::micro {

// Words of a parameter: "a b c".
inline std::vector<std::string> words(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> out;
    for (std::string word; in >> word;)
        out.push_back(word);
    return out;
}

// Steps in a row of each record of a section (asm/micro/clock.j2).
inline std::vector<u32> counts(const Kernel &kernel) {
    const u32 few = kernel.number("short"), many = kernel.number("long");
    return few < many ? std::vector<u32>{0, few, many} : std::vector<u32>{0, few};
}

using Clocks = std::map<u32, std::vector<u32>>; // steps in a row -> cycles of each pass

// Dwords of a record: one to a pass.
inline constexpr u32 record = 32;

// u32[sections][records][32], as a wave leaves it.
inline std::vector<Clocks> clocks_of(const hip::Buffer &out, const Kernel &kernel, u32 sections,
                                     u32 passes) {
    const std::vector<u32> steps = counts(kernel);
    std::vector<u32> raw(u64{sections} * steps.size() * record);
    out.download(raw.data(), 4 * raw.size());
    std::vector<Clocks> all(sections);
    auto at = raw.begin();
    for (Clocks &clocks : all)
        for (const u32 count : steps) {
            clocks[count].assign(at, at + passes);
            at += record;
        }
    return all;
}

inline u64 clock_bytes(const Kernel &kernel, u32 sections) {
    return 4ull * sections * counts(kernel).size() * record;
}

} // namespace nw::micro
