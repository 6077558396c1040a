// SPDX-License-Identifier: MIT
#include "nw/kernel_options.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/demangle.h"
#include "nw/arguments.h"

namespace nw::cli {

namespace {

using sim::Dim3;

// "64", "64,2", "64,2,1"
Dim3 dimensions(const char *option, std::string_view text) {
    u32 values[3] = {1, 1, 1};
    std::string_view rest = text;
    for (size_t n = 0;; ++n) {
        const auto end = rest.data() + rest.size();
        const auto [stop, error] =
            n < 3 ? std::from_chars(rest.data(), end, values[n])
                  : std::from_chars_result{rest.data(), std::errc::invalid_argument};
        if (error != std::errc{} || values[n] == 0 || (stop != end && *stop != ','))
            throw Error(fmt::format("{} {}: must be one to three comma-separated numbers from 1 to "
                                    "4294967295, as in {} 64,2",
                                    option, text, option));
        if (stop == end)
            return {values[0], values[1], values[2]};
        rest.remove_prefix(static_cast<size_t>(stop - rest.data()) + 1);
    }
}

// "scale<float>" of _Z5scaleIfEvPT_: as the source has it, without return type and parameters; the
// symbol itself if it isn't a C++ name.
std::string source_name(const std::string &symbol) {
    std::string name = demangled(symbol);
    name = name.substr(0, name.find('('));
    return name.substr(name.starts_with("void ") ? 5 : 0);
}

} // namespace

const sim::KernelInfo &choose_kernel(const sim::Program &program, const KernelOptions &o) {
    std::vector<std::string> names;
    for (const sim::KernelInfo &k : program.kernels())
        names.push_back(source_name(k.name));
    if (names.empty())
        throw Error(fmt::format("{}: has no kernels", o.file));
    if (o.kernel.empty() && names.size() == 1)
        return program.kernels().front();
    if (o.kernel.empty())
        throw Error(fmt::format("{}: has {} kernels: choose one with --kernel: {}", o.file,
                                names.size(), fmt::join(names, ", ")));
    if (const sim::KernelInfo *kernel = program.find_kernel(o.kernel))
        return *kernel;
    const auto same_name = std::ranges::count(names, o.kernel);
    if (same_name == 1)
        return program
            .kernels()[static_cast<size_t>(std::ranges::find(names, o.kernel) - names.begin())];
    if (same_name > 1) // overloads
        for (size_t n = 0; n < names.size(); ++n)
            names[n] = program.kernels()[n].name;
    throw Error(fmt::format("--kernel {}: {} has {}", o.kernel, o.file, fmt::join(names, ", ")));
}

Dim3 block_of(const KernelOptions &o, const sim::KernelInfo &kernel) {
    if (o.block.empty())
        return {kernel.max_workgroup, 1, 1};
    const Dim3 block = dimensions("--block", o.block);
    const u64 limit = std::min(kernel.max_workgroup, 1024u);
    if (block.x > limit || block.y > limit || block.z > limit ||
        u64{block.x} * block.y * block.z > limit)
        throw Error(fmt::format("--block {}: {} allows workgroups of at most {} work-items",
                                o.block, kernel.name, limit));
    return block;
}

Dim3 grid_of(const KernelOptions &o) {
    const Dim3 grid = dimensions("--grid", o.grid);
    constexpr u64 most = u64{1} << 32; // as HIP: x up to 2^31 - 1, and what can be run at all
    if (u64{grid.x} * grid.y >= most || u64{grid.x} * grid.y * grid.z >= most)
        throw Error(fmt::format("--grid {}: at most 2^32 - 1 workgroups", o.grid));
    return grid;
}

void add_kernel_file(Command &command, KernelOptions &o) {
    command.add("file", &o.file,
                "Code object or bundle (.hsaco), assembly (.s), HIP (.hip) or OpenCL C (.cl)",
                {.required = true});
}

void add_kernel_options(Command &command, KernelOptions &o) {
    command.add("--kernel", &o.kernel, "The kernel; default: the only one");
    command.add("--grid", &o.grid, "Workgroups: X[,Y[,Z]]", {.show_default = true});
    command.add(
        "--block", &o.block,
        "Work-items per workgroup: X[,Y[,Z]]; default: the kernel's .max_flat_workgroup_size");
    command.add("--args", &o.args, arguments_help);
    command.add("--lds", &o.dynamic_lds, "Bytes of dynamic LDS");
    command.add("--gfx", &o.gfx, "The target; default: the file's");
    command.add("--seed", &o.seed, "Seed of random fills", {.show_default = true});
}

} // namespace nw::cli
