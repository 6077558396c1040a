// SPDX-License-Identifier: MIT
#include "check/same_code.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "base/error.h"
#include "check/same_instructions.h"
#include "runtime/files.h"

namespace nw::check {

namespace {

template <class T> T read_at(const std::string &file, u64 offset) {
    if (offset > file.size() || file.size() - offset < sizeof(T))
        throw Error(fmt::format("an ELF of {} bytes refers to byte {}", file.size(), offset));
    T out;
    std::memcpy(&out, file.data() + offset, sizeof out);
    return out;
}

std::string read_file(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Facts that results depend on, and further facts that checkers depend on. A new fact does not
// compile until it is named here.
auto facts_of(const Target &target) {
    const auto &[name, generation, series, supported, generic, elf_machine, init16, user_sgprs,
                 entry_sgprs, wg_x, split_waits, split_barrier, packed_ids, own_scratch, old_names,
                 delay_alu, dealloc_vgprs, stream, simds_per_wgp, max_waves, vgprs_per_simd,
                 vgpr_granule, lds_per_wgp, lds_per_workgroup, lds_block, simd_waves, row_period,
                 row_pad, vopd, vopd_banks, dot2, dot4, dot4_signs, dot2_subnormal, dot2acc,
                 salu_float, clock_bits, trans_use, wmma, wmma_macs, unpack_rows, scratch_bits,
                 costs] = target;
    // Not among them: the name and its number; how many waves fit (vgprs_per_simd, vgpr_granule)
    // and are launched (simd_waves); the strides that hosts choose (row_period, row_pad); how
    // instructions are named, and which exist (dot2, dot4, dot2acc); which may pair (vopd_banks).
    const auto results =
        std::tuple(generation, generic, init16, user_sgprs, entry_sgprs, wg_x, split_waits,
                   split_barrier, packed_ids, own_scratch, dealloc_vgprs, stream, simds_per_wgp,
                   lds_per_wgp, lds_per_workgroup, vopd, dot2_subnormal, salu_float, wmma,
                   wmma_macs, unpack_rows, scratch_bits);
    // Hazards and costs are a series'. The clock is for code that reads it (Listings).
    const auto others =
        std::tuple(series, supported, max_waves, lds_block, clock_bits, trans_use, costs);
    return std::pair(results, others);
}

struct Group {
    std::string sections; // empty: can't be read
    std::vector<const Kernel *> kernels;

    bool takes(const Kernel &kernel, const std::string &its_sections) const {
        return !sections.empty() && sections == its_sections &&
               same_behaviour(target_of(kernels.front()->gfx), target_of(kernel.gfx));
    }
};

std::string sections_of(const Kernel &kernel) {
    try {
        return loaded_sections(find_code_object(kernel, {}));
    } catch (const Error &) {
        return {}; // its test fails, and says why
    }
}

} // namespace

std::string loaded_sections(const std::filesystem::path &hsaco) {
    check_code_object(hsaco);
    const std::string file = read_file(hsaco);
    const auto header = read_at<Elf64_Ehdr>(file, 0);
    std::string out;
    for (u64 i = 0; i < header.e_shnum; ++i) {
        const auto section = read_at<Elf64_Shdr>(file, header.e_shoff + i * header.e_shentsize);
        if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_ALLOC))
            continue;
        if (section.sh_offset > file.size() || file.size() - section.sh_offset < section.sh_size)
            throw Error(fmt::format("{}: section {} ends past the file", hsaco.string(), i));
        for (u64 number : {section.sh_addr, section.sh_size})
            out.append(reinterpret_cast<const char *>(&number), sizeof number);
        out.append(file, section.sh_offset, section.sh_size);
    }
    if (out.empty())
        throw Error(fmt::format("{}: no machine code", hsaco.string()));
    return out;
}

bool same_behaviour(const Target &a, const Target &b) { return facts_of(a) == facts_of(b); }

bool same_results(const Target &a, const Target &b) {
    return facts_of(a).first == facts_of(b).first;
}

bool thorough(std::string_view gfx) {
    constexpr std::string_view listed = NW_THOROUGH; // tests/CMakeLists.txt
    return listed.find(gfx) != listed.npos;
}

std::vector<std::vector<const Kernel *>> same_code(std::span<const Kernel *const> kernels) {
    std::vector<Group> groups;
    for (const Kernel *kernel : kernels) {
        std::string sections = sections_of(*kernel);
        const auto group = std::ranges::find_if(
            groups, [&](const Group &g) { return g.takes(*kernel, sections); });
        if (group == groups.end())
            groups.push_back({std::move(sections), {kernel}});
        else
            group->kernels.push_back(kernel);
    }
    std::vector<std::vector<const Kernel *>> out;
    for (Group &group : groups) {
        std::ranges::stable_partition(group.kernels,
                                      [](const Kernel *k) { return thorough(k->gfx); });
        out.push_back(std::move(group.kernels));
    }
    return out;
}

std::vector<const Kernel *> repeated(std::span<const std::vector<const Kernel *>> groups) {
    std::vector<const Kernel *> firsts, out;
    for (const auto &group : groups)
        firsts.push_back(group.front());
    std::ranges::stable_partition(firsts, [](const Kernel *k) { return thorough(k->gfx); });
    Listings listings;
    std::map<std::string_view, std::vector<const Kernel *>> in_full; // by symbol
    for (const Kernel *kernel : firsts) {
        auto &before = in_full[kernel->symbol];
        const bool is_repeated = std::ranges::any_of(before, [&](const Kernel *other) {
            return same_results(target_of(other->gfx), target_of(kernel->gfx)) &&
                   listings.same_but_for_waits(*other, *kernel);
        });
        (is_repeated ? out : before).push_back(kernel);
    }
    return out;
}

} // namespace nw::check
