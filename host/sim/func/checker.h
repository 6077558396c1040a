// SPDX-License-Identifier: MIT
// Asked before every instruction of a launch, and may end it with a Fault. Those that there are
// stand in sim/check, which this room doesn't know.
#pragma once
#include <memory>
#include <string_view>

#include "base/types.h"

namespace nw::sim {

struct Code;
struct Wave;

// Of one running workgroup; one after another may run in it.
class GroupChecker {
public:
    virtual ~GroupChecker() = default;
    virtual void start_group(u64 group, size_t lds_bytes) = 0;
    virtual void start_wave(const Wave &) = 0;
    // As Frames::run, with the checks.
    virtual u64 run(Wave &, u64 budget) = 0;
};

// Of one launch, shared by its workers. It keeps references to the code.
class LaunchChecker {
public:
    virtual ~LaunchChecker() = default;
    virtual std::unique_ptr<GroupChecker> group(size_t waves) const = 0;
};

// What RunConfig names.
class Checker {
public:
    virtual ~Checker() = default;
    virtual std::unique_ptr<LaunchChecker> launch(const Code &, std::string_view gfx) const = 0;
    // The order of accesses decides what is found: all workgroups on one thread.
    virtual bool needs_order() const = 0;
    // Shadows each byte of LDS up to its end: an access beyond it is a Fault (S-051).
    virtual bool shadows_lds() const = 0;
};

} // namespace nw::sim
