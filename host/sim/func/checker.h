// SPDX-License-Identifier: MIT
// Interface of the dynamic checkers: called before every instruction of a launch, may throw a
// Fault. The checkers are in sim/check, on which this folder doesn't depend.
#pragma once
#include <memory>

#include "base/types.h"

namespace nw::sim {

class Program;
struct Wave;

// Checks one workgroup at a time; reused for the next.
class GroupChecker {
public:
    virtual ~GroupChecker() = default;
    virtual void start_group(u64 group, size_t lds_bytes) = 0;
    virtual void start_wave(const Wave &) = 0;
    // As Frames::run, with the checks.
    virtual u64 run(Wave &, u64 budget) = 0;
};

// Checks one launch, shared by its workers. It keeps references to the program.
class LaunchChecker {
public:
    virtual ~LaunchChecker() = default;
    virtual std::unique_ptr<GroupChecker> group(size_t waves) const = 0;
};

// Factory, named by RunConfig.
class Checker {
public:
    virtual ~Checker() = default;
    // Null if nothing is to be called.
    virtual std::unique_ptr<LaunchChecker> launch(const Program &, u32 wave_size) const = 0;
    // Scalar loads are exact to the byte, as vector loads are (S-060).
    virtual bool strict_scalar_loads() const = 0;
    // Findings depend on the order of accesses: all workgroups run on one thread.
    virtual bool needs_order() const = 0;
    // Shadows LDS byte by byte: an access beyond its end is a Fault (S-051).
    virtual bool shadows_lds() const = 0;
    // Reads what of device memory has been written: Memory::watch_writes() for each allocation.
    virtual bool watches_memory() const = 0;
};

} // namespace nw::sim
