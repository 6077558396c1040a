// SPDX-License-Identifier: MIT
// Data of `nw info` and `nw diff` about a kernel: its survey, joined with costs.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lint/occupancy.h"
#include "lint/survey.h"
#include "nw/bound.h"
#include "sim/timing/constants/part.h"

namespace nw::cli {

struct InfoOptions {
    std::string gfx, part; // default: the file's gfx; the gfx's first part
    std::string kernel;    // "": all
    u32 workgroup = 0;     // work-items; 0: .max_flat_workgroup_size
    u32 dynamic_lds = 0;   // bytes
};

// A code object with the part and options that its kernels are analysed for. Throws nw::Error.
struct InfoFile {
    InfoFile(const std::string &path, const InfoOptions &);

    std::string path, gfx;
    const sim::Device *device;
    const sim::timing::Part *part;
    sim::timing::Costs costs;
    std::shared_ptr<const sim::Program> program;

    std::vector<const sim::KernelInfo *> kernels(const std::string &name) const; // "": all
    // Its facts of cost, made once for a wave size.
    const sim::timing::ProgramFacts &facts(u32 wave_size);

private:
    std::unique_ptr<sim::timing::ProgramFacts> facts_[2];
};

class Info {
public:
    Info(InfoFile &, const sim::KernelInfo &, const InfoOptions &);

    const InfoFile &file;
    const lint::Survey survey;
    const lint::Occupancy occupancy;
    const UnitCounter units;

    const sim::KernelInfo &kernel() const { return survey.kernel; }
    const sim::Instruction &at(u32 instruction) const;
    std::string text(u32 instruction) const;  // LLVM's, or ".long 0x..."
    std::string place(u32 instruction) const; // "saxpy.s:41"; "+0x1c" without a line table
    u32 line(u32 instruction) const;          // of the source; 0: not known
    i64 offset(u32 instruction) const;        // from the kernel's beginning
    u32 peak_sgprs() const;
    // The most VGPRs that live in a block.
    u32 peak_of(u32 block) const;
    // First and last instruction of a loop in the order of the code.
    std::pair<u32, u32> extent(const lint::Loop &) const;
    f64 waves() const; // of a SIMD that share its units: at least one
    // Instructions whose A and B clash, of a WMMA (T-054).
    std::vector<u32> wmma_clashes() const;
};

std::string info_text(const Info &);
nlohmann::ordered_json info_json(const Info &);
// One self-contained page of all kernels of a file.
std::string info_html(const std::vector<std::unique_ptr<Info>> &);

} // namespace nw::cli
