// SPDX-License-Identifier: MIT
#include "nw/launch.h"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "base/targets.h"
#include "nw/arguments.h"
#include "nw/code_object.h"
#include "nw/part.h"
#include "sim/isa/elf.h"

namespace nw::cli {

namespace {

using sim::Dim3;
using sim::timing::Part;

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

const sim::KernelInfo &choose_kernel(const sim::Program &program, const LaunchOptions &o) {
    std::vector<std::string_view> names;
    for (const sim::KernelInfo &k : program.kernels())
        names.push_back(k.name);
    if (names.empty())
        throw Error(fmt::format("{}: has no kernels", o.file));
    if (o.kernel.empty() && names.size() == 1)
        return program.kernels().front();
    if (o.kernel.empty())
        throw Error(fmt::format("{}: has {} kernels: choose one with --kernel: {}", o.file,
                                names.size(), fmt::join(names, ", ")));
    if (const sim::KernelInfo *kernel = program.find_kernel(o.kernel))
        return *kernel;
    throw Error(fmt::format("--kernel {}: {} has {}", o.kernel, o.file, fmt::join(names, ", ")));
}

Dim3 block_of(const LaunchOptions &o, const sim::KernelInfo &kernel) {
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

Dim3 grid_of(const LaunchOptions &o) {
    const Dim3 grid = dimensions("--grid", o.grid);
    constexpr u64 most = u64{1} << 32; // as HIP: x up to 2^31 - 1, and what can be run at all
    if (u64{grid.x} * grid.y >= most || u64{grid.x} * grid.y * grid.z >= most)
        throw Error(fmt::format("--grid {}: at most 2^32 - 1 workgroups", o.grid));
    return grid;
}

// The part by its name, or the default of the gfx.
Part choose_part(const LaunchOptions &o, std::string_view gfx) {
    if (o.part.empty()) {
        if (const Part *part = sim::timing::default_part(gfx))
            return *part;
        throw Error(
            fmt::format("{}: no part is known for its gfx {}: {}", o.file, gfx, part_names()));
    }
    const Part &part = part_of_name(o.part);
    if (part.gfx != gfx)
        throw Error(fmt::format(
            "--part {}: is a {}, but the code is for {}: choose a part of that gfx of {}", o.part,
            part.gfx, gfx, part_names()));
    return part;
}

// The gfx to run as: --gfx, else the file's, else (if it has several) the gfx of --part.
std::string choose_gfx(const LaunchOptions &o) {
    std::string gfx = o.gfx.empty() ? gfx_of_file(o.file) : o.gfx;
    const Part *part = sim::timing::find_part(o.part);
    if (o.gfx.empty() && part && (gfx.empty() || is_generic(gfx)))
        gfx = part->gfx;
    if (sim::find_device(gfx))
        return gfx;
    const std::string what = !o.gfx.empty() ? fmt::format("--gfx {}: is not simulated", gfx)
                             : gfx.empty()  ? o.file + ": has no .amdgcn_target"
                                            : fmt::format("{}: is for {}", o.file, gfx);
    throw Error(fmt::format("{}: choose --gfx from {}", what, target_names()));
}

} // namespace

void add_options(Command &command, LaunchOptions &o) {
    command.add("file", &o.file, "Code object (.hsaco) or assembly (.s)", {.required = true});
    add_launch_options(command, o);
}

void add_launch_options(Command &command, LaunchOptions &o) {
    command.add("--kernel", &o.kernel, "The kernel; default: the only one");
    command.add("--grid", &o.grid, "Workgroups: X[,Y[,Z]]", {.show_default = true});
    command.add(
        "--block", &o.block,
        "Work-items per workgroup: X[,Y[,Z]]; default: the kernel's .max_flat_workgroup_size");
    command.add("--args", &o.args, arguments_help);
    command.add("--lds", &o.dynamic_lds, "Bytes of dynamic LDS");
    command.add("--gfx", &o.gfx, "The target; default: the file's");
    command.add("--part", &o.part,
                "The GPU, as in \"7900 XTX\"; default: the default part of the gfx");
    command.add("--profile", &o.profile, "File of measured constants, as HIPSIM_PROFILE");
    command.add("--seed", &o.seed, "Seed of random fills", {.show_default = true});
    command.add("--repeat", &o.repeat, "Number of consecutive launches; the last one is reported",
                {.range = {1, 1'000'000}, .show_default = true});
    command.add("--max-insts", &o.max_insts,
                "Report a wave as endless after this many instructions; default: 2^40");
    command.add("--exact", &o.exact, "Time all workgroups of a large grid, not a sample");
}

struct Launch::Impl {
    const bool exact;
    sim::RunConfig config;
    std::shared_ptr<const sim::Program> program;
    sim::Memory memory;
    const sim::Device *device = nullptr;
    std::vector<std::byte> kernarg;
    sim::Dispatch dispatch;
    std::optional<sim::timing::Timing> timing;

    explicit Impl(const LaunchOptions &o) : exact(o.exact) {
        config.max_wave_insts = o.max_insts;
        const std::string gfx = choose_gfx(o);
        Part part = choose_part(o, gfx);
        auto costs = sim::timing::costs_for(gfx);
        if (!o.profile.empty())
            apply_profile(o.profile, part, costs);
        device = sim::find_device(gfx);
        program = load_code(o.file, gfx);
        const auto image = program->image();
        memory.adopt(image.data(), image.size(), "the code object");
        dispatch.program = program.get();
        dispatch.kernel = &choose_kernel(*program, o);
        dispatch.grid = grid_of(o);
        dispatch.block = block_of(o, *dispatch.kernel);
        dispatch.dynamic_lds = o.dynamic_lds;
        kernarg = make_kernarg(dispatch, o.args, memory, o.seed);
        dispatch.kernarg = kernarg;
        timing.emplace(*device, part, costs, o.timing);
    }
};

Launch::Launch(const LaunchOptions &o) : impl_(std::make_unique<Impl>(o)) {}
Launch::~Launch() = default;

sim::timing::Timing::Timed Launch::run(sim::timing::Watcher *watcher) {
    return impl_->timing->run(impl_->dispatch, impl_->memory, impl_->config, impl_->exact, watcher);
}

sim::timing::Timing::Timed Launch::run_for_times(sim::timing::Watcher *watcher) {
    return impl_->timing->run_for_times(impl_->dispatch, impl_->memory, impl_->config, impl_->exact,
                                        watcher);
}

const sim::Dispatch &Launch::dispatch() const { return impl_->dispatch; }
const sim::Device &Launch::device() const { return *impl_->device; }
const Part &Launch::part() const { return impl_->timing->part(); }

} // namespace nw::cli
