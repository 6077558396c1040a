// SPDX-License-Identifier: MIT
#include "sim/func/launch/together.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

#include "sim/func/launch/several_grids.h"
#include "sim/func/launch/workgroup.h"

namespace nw::sim {

namespace {

constexpr u64 quantum = 1 << 12; // time slice of a wave, in instructions
// Rounds in which no wave did anything but sleep, after which they are looked at closely.
constexpr u64 patience = 1 << 10;

class Together {
public:
    explicit Together(Context &c)
        : c_(c), checks_(launch_checker(c)), sync_(c.memory.find(c.dispatch.grid_sync)) {
        c.together = true;
        for (u64 g = 0; g < group_count(c.dispatch); ++g) {
            groups_.push_back(std::make_unique<Workgroup>(c, checks_.get()));
            groups_.back()->start(g);
        }
    }

    RunStats run() {
        for (u64 quiet = 0; !groups_.empty();) {
            quiet = round() ? quiet + 1 : 0;
            if (quiet >= patience) {
                check_progress();
                quiet = 0;
            }
        }
        return stats_;
    }

private:
    // A turn of every workgroup; true if all of them only slept or waited.
    bool round() {
        const size_t before = groups_.size();
        bool quiet = true;
        std::erase_if(groups_, [&](const auto &group) {
            const bool lives = group->take_turn(quantum);
            quiet &= group->quiet();
            if (!lives)
                stats_ += group->stats();
            return !lives;
        });
        return quiet && groups_.size() == before;
    }

    // The host or another stream may change what waves poll, except the launch's own counters. The
    // grids of other devices change those as long as they run.
    void check_progress() {
        if (!sync_.size || other_grids_run())
            return;
        const auto before = counters();
        bool only = true; // each group takes its turn
        for (const auto &group : groups_)
            only &= group->polls_only(sync_.begin, sync_.begin + sync_.size, quantum);
        if (only && counters() == before)
            in_vain();
    }

    bool other_grids_run() const {
        if (sync_.begin == c_.dispatch.grid_sync)
            return false;
        auto &several = *reinterpret_cast<SeveralGrids *>(sync_.begin);
        return std::atomic_ref{several.left}.load() > 1;
    }

    std::string counters() const {
        return {reinterpret_cast<const char *>(sync_.begin), sync_.size};
    }

    [[noreturn]] void in_vain() {
        const u64 total = group_count(c_.dispatch);
        groups_.front()->grid_deadlock(fmt::format(
            "endless grid sync: {} of {} workgroups wait for the whole grid, {} have ended",
            groups_.size(), total, total - groups_.size()));
    }

    Context &c_;
    const std::unique_ptr<LaunchChecker> checks_;
    const Allocation sync_;
    std::vector<std::unique_ptr<Workgroup>> groups_;
    RunStats stats_;
};

} // namespace

RunStats run_together(Context &c) {
    MxcsrScope host_fpu(mxcsr_default);
    return Together(c).run();
}

} // namespace nw::sim
