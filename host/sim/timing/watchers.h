// SPDX-License-Identifier: MIT
// Several watchers of one launch.
#pragma once
#include <memory>
#include <vector>

#include "sim/timing/result.h"

namespace nw::sim::timing {

class Watchers : public Watcher {
public:
    void add(std::unique_ptr<Watcher> one) { all_.push_back(std::move(one)); }
    bool empty() const { return all_.empty(); }

    void wave_started(u64 group, u32 wave, u32 simd, u64 at) override {
        for (const auto &w : all_)
            w->wave_started(group, wave, simd, at);
    }
    void wave_ended(u64 group, u32 wave, u32 simd, u64 at) override {
        for (const auto &w : all_)
            w->wave_ended(group, wave, simd, at);
    }
    void issued(const IssueEvent &e) override {
        for (const auto &w : all_)
            w->issued(e);
    }
    void finished(const Result &r) override {
        for (const auto &w : all_)
            w->finished(r);
    }
    void answered(u64 sent, u64 done, u32 cu, Level level) override {
        for (const auto &w : all_)
            w->answered(sent, done, cu, level);
    }

private:
    std::vector<std::unique_ptr<Watcher>> all_;
};

} // namespace nw::sim::timing
