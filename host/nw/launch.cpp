// SPDX-License-Identifier: MIT
#include "nw/launch.h"

#include <fmt/format.h>
#include <optional>

#include "base/targets.h"
#include "nw/arguments.h"
#include "nw/code_object.h"
#include "nw/part.h"
#include "sim/isa/image/elf.h"

namespace nw::cli {

namespace {

using sim::timing::Part;

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
                             : gfx.empty()  ? names_no_target(o.file)
                                            : fmt::format("{}: is for {}", o.file, gfx);
    throw Error(fmt::format("{}: choose --gfx from {}", what, target_names()));
}

// Memory of the private device.
class OwnMemory : public ArgumentMemory {
public:
    explicit OwnMemory(sim::Memory &memory) : memory_(memory) {}
    u64 make(u64 bytes, const std::string &what, const Fill &fill) override {
        auto *const at = static_cast<std::byte *>(memory_.allocate(bytes, what));
        if (at)
            fill({at, bytes});
        return reinterpret_cast<u64>(at);
    }

private:
    sim::Memory &memory_;
};

} // namespace

void add_options(Command &command, LaunchOptions &o) {
    add_kernel_file(command, o);
    add_launch_options(command, o);
}

void add_launch_options(Command &command, LaunchOptions &o) {
    add_kernel_options(command, o);
    command.add("--part", &o.part,
                "The GPU, as in \"7900 XTX\"; default: the default part of the gfx");
    command.add("--profile", &o.profile, "File of measured constants, as HIPSIM_PROFILE");
    add_clock_options(command, o.clock, o.power);
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
        apply_clock(o.clock, o.power, part);
        device = sim::find_device(gfx);
        program = load_code(o.file, gfx);
        const auto image = program->image();
        memory.adopt(image.data(), image.size(), "the code object");
        dispatch.program = program.get();
        dispatch.kernel = &choose_kernel(*program, o);
        dispatch.grid = grid_of(o);
        dispatch.block = block_of(o, *dispatch.kernel);
        dispatch.dynamic_lds = o.dynamic_lds;
        OwnMemory buffers(memory);
        kernarg = make_kernarg(dispatch, o.args, buffers, o.seed).block;
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

const sim::timing::Timing &Launch::timing() const { return *impl_->timing; }

sim::timing::Result Launch::replay(const sim::timing::WhatIf &changes) const {
    return impl_->timing->replay(impl_->dispatch, impl_->memory, changes);
}

const sim::Dispatch &Launch::dispatch() const { return impl_->dispatch; }
const sim::Device &Launch::device() const { return *impl_->device; }
const Part &Launch::part() const { return impl_->timing->part(); }

} // namespace nw::cli
