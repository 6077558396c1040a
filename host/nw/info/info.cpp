// SPDX-License-Identifier: MIT
#include "nw/info/info.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/targets.h"
#include "nw/code_object.h"
#include "nw/gfx.h"
#include "nw/part.h"
#include "sim/isa/code.h"

namespace nw::cli {

using namespace sim;
using sim::timing::Part;

namespace {

// The gfx: --gfx, else the file's, else (generic or absent) the gfx of --part.
std::string choose_gfx(const std::string &path, const InfoOptions &o) {
    if (!o.gfx.empty()) {
        check_gfx(o.gfx);
        return o.gfx;
    }
    const std::string gfx = gfx_of_file(path);
    const Part *part = o.part.empty() ? nullptr : &part_of_name(o.part);
    if (part && (gfx.empty() || is_generic(gfx)))
        return std::string(part->gfx);
    if (gfx.empty())
        throw Error(names_no_target(path) + ": give --gfx");
    const std::string one = one_gfx(gfx);
    if (!find_device(one))
        throw Error(fmt::format("{}: is for {}, which is not simulated: assemble it for one of {}",
                                path, gfx, target_names()));
    return one;
}

const Part &choose_part(const InfoOptions &o, const std::string &path, const std::string &gfx) {
    if (o.part.empty())
        return *timing::default_part(gfx); // each device has one
    const Part &part = part_of_name(o.part);
    if (part.gfx != gfx)
        throw Error(
            fmt::format("--part {}: is a {}, but {} is for {}: choose a part of that gfx of {}",
                        o.part, part.gfx, path, gfx, part_names()));
    return part;
}

u32 workgroup_of(const InfoOptions &o, const KernelInfo &kernel) {
    if (o.workgroup > kernel.max_workgroup)
        throw Error(fmt::format("--workgroup {}: {} allows workgroups of at most {} work-items",
                                o.workgroup, kernel.name, kernel.max_workgroup));
    return o.workgroup ? o.workgroup : kernel.max_workgroup;
}

} // namespace

InfoFile::InfoFile(const std::string &path_, const InfoOptions &o)
    : path(path_), gfx(choose_gfx(path_, o)), device(find_device(gfx)),
      part(&choose_part(o, path_, gfx)), costs(timing::costs_for(gfx)),
      program(load_code(path_, gfx)) {}

std::vector<const KernelInfo *> InfoFile::kernels(const std::string &name) const {
    std::vector<const KernelInfo *> out;
    std::vector<std::string_view> names;
    for (const KernelInfo &kernel : program->kernels()) {
        names.push_back(kernel.name);
        if (name.empty() || kernel.name == name)
            out.push_back(&kernel);
    }
    if (names.empty())
        throw Error(fmt::format("{}: has no kernel", path));
    if (out.empty())
        throw Error(fmt::format("--kernel {}: not in {}, which has {}", name, path,
                                fmt::join(names, ", ")));
    return out;
}

const timing::ProgramFacts &InfoFile::facts(u32 wave_size) {
    auto &facts = facts_[wave_size == 64];
    if (!facts)
        facts = std::make_unique<timing::ProgramFacts>(program->code(wave_size), gfx, costs);
    return *facts;
}

Info::Info(InfoFile &f, const KernelInfo &k, const InfoOptions &o)
    : file(f), survey(*f.program, k),
      occupancy(lint::occupancy(*f.device, k, workgroup_of(o, k), k.lds_bytes + o.dynamic_lds)),
      units(survey, f.facts(k.wave_size), f.costs) {}

const Instruction &Info::at(u32 i) const { return survey.code.instructions[i]; }

std::string Info::text(u32 i) const {
    return at(i).text.empty() ? fmt::format(".long 0x{:08x}", at(i).word0) : at(i).text;
}

std::string Info::place(u32 i) const {
    const std::string line = file.program->source_line(survey.code.base + at(i).offset);
    const i64 from = offset(i);
    return !line.empty() ? line : fmt::format("{}0x{:x}", from < 0 ? '-' : '+', std::abs(from));
}

u32 Info::line(u32 i) const {
    return file.program->source_place(survey.code.base + at(i).offset).line;
}

i64 Info::offset(u32 i) const {
    return static_cast<i64>(survey.code.base + at(i).offset - kernel().entry);
}

u32 Info::peak_sgprs() const {
    u32 most = 0;
    for (const lint::Block &block : survey.flow.blocks())
        for (u32 i = block.first; i < block.end; ++i)
            most = std::max(most, survey.live.sgprs(i));
    return most;
}

u32 Info::peak_of(u32 block) const {
    u32 most = 0;
    const lint::Block &b = survey.flow.blocks()[block];
    for (u32 i = b.first; i < b.end; ++i)
        most = std::max(most, survey.live.vgprs(i));
    return most;
}

std::pair<u32, u32> Info::extent(const lint::Loop &loop) const {
    u32 first = ~u32{0}, last = 0;
    for (u32 n : loop.blocks) {
        first = std::min(first, survey.flow.blocks()[n].first);
        last = std::max(last, survey.flow.blocks()[n].end - 1);
    }
    return {first, last};
}

f64 Info::waves() const { return std::max(1.0, occupancy.waves); }

std::vector<u32> Info::wmma_clashes() const {
    std::vector<u32> out;
    if (!survey.wmma_may_clash || survey.total.wmma_clashes == 0)
        return out;
    for (const lint::Block &block : survey.flow.blocks())
        for (u32 i = block.first; i < block.end; ++i)
            if (lint::wmma_banks_clash(at(i)))
                out.push_back(i);
    std::ranges::sort(out);
    return out;
}

} // namespace nw::cli
