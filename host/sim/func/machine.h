// SPDX-License-Identifier: MIT
// Functional simulation of a dispatch: results without timing.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/func/memory/memory.h"
#include "sim/isa/device.h"
#include "sim/isa/image/program.h"

namespace nw::sim {

struct Dim3 {
    u32 x = 1, y = 1, z = 1;
};

struct Wave;
struct Inst;

// Answers what waves ask of the host through memory (printf, the device heap).
class HostServices {
public:
    virtual ~HostServices() = default;
    // Called on the workgroup's thread when the wave sleeps, as one that waits for an answer does,
    // and when it has used up its time slice. May end the launch: fault().
    virtual void serve(const Wave &, const Inst &) = 0;
};

struct Dispatch {
    const Program *program = nullptr;
    const KernelInfo *kernel = nullptr;
    Dim3 grid;  // workgroups
    Dim3 block; // work-items
    u32 dynamic_lds = 0;
    std::span<const std::byte> kernarg; // explicit and hidden arguments, laid out as `.args` says
    bool cooperative = false;           // all workgroups resident: they may wait for each other
    u32 stack_bytes = 1024;             // minimum scratch, for calls through pointers
    HostServices *services = nullptr;   // outlives the launch; null: it uses none
    u64 queue = 0;                      // address of what queue_ptr shows; 0: none
    u64 grid_sync = 0; // address of what hidden_multigrid_sync_arg shows; 0: not cooperative
};

// Executed wave instructions by class. Classes are disjoint; total is their sum.
struct InstCounts {
    u64 valu = 0, vopd = 0, trans = 0, wmma = 0, salu = 0, smem = 0, vmem_load = 0, vmem_store = 0,
        lds = 0, branch = 0, wait = 0, other = 0;
    u64 total() const;
    InstCounts &operator+=(const InstCounts &);
};

// Bytes accessed by active lanes.
struct ByteCounts {
    u64 global_load = 0, global_store = 0, lds_read = 0, lds_write = 0;
    ByteCounts &operator+=(const ByteCounts &);
};

// The same instructions by confidence in their results (sim/isa/tables/fidelity.h).
struct FidelityCounts {
    u64 exact = 0, approximate = 0, open = 0;
    std::vector<std::string> notes; // of those that aren't exact: "S-011"; sorted
    FidelityCounts &operator+=(const FidelityCounts &);
};

struct RunStats {
    InstCounts insts;
    FidelityCounts fidelity;
    bool fast_math = false; // as in RunConfig
    ByteCounts bytes;
    u64 waves = 0;
    u64 waited = 0; // cycles that the wave which waited longest for a time has skipped (clock.h)
    RunStats &operator+=(const RunStats &);
};

// A kernel did something that hardware would fault on, or that isn't simulated. what() names
// mnemonic or rule, kernel, pc and, where line tables exist, the .s line.
struct Report; // sim/func/launch/report.h

class Fault : public Error {
public:
    enum class Kind {
        illegal_instruction,
        illegal_address,
        endless,
        barrier,
        bad_dispatch,
        out_of_memory,
        checker
    };
    Fault(Kind kind, std::string text, std::shared_ptr<const Report> report = nullptr)
        : Error(std::move(text)), kind(kind), report(std::move(report)) {}
    Kind kind;
    std::shared_ptr<const Report> report; // structured form; null where no wave was running
};

// Watches the waves of a launch as they run.
class Observer {
public:
    virtual ~Observer() = default;
    // State to keep per wave, as Wave::observed; null if it isn't observed. Called from any thread.
    virtual void *start(u64 group, u32 wave) = 0;
    // Called before each instruction of an observed wave, on its workgroup's thread.
    virtual void before(Wave &, const Inst &) = 0;
};

// Modelled time that kernels can read. Without one, clocks count executed instructions.
struct Clock {
    u32 mhz = 0;    // 0: none
    u64 origin = 0; // cycles of the device when Wave::cycles was 0
};

class Checker;     // sim/func/checker.h
class FindingSink; // sim/func/launch/report.h
struct Choices;    // sim/func/choices.h

struct RunConfig {
    Observer *observer = nullptr;
    Clock clock;
    unsigned threads = 0;   // 0: all cores
    bool fast_math = false; // DOT2 and float WMMA add in f32 instead of the hardware's fixed point
    u64 max_wave_insts = 0; // per wave; 0: 2^40
    const Checker *checker = nullptr; // outlives the launch; null: address checks only
    // Outlives the launch, which goes on after a finding that it takes; null: the first one ends
    // it.
    FindingSink *findings = nullptr;
    const Choices *choices = nullptr; // outlives the launch; null: those of the process
    bool dump = false;                // a Fault's text lists the wave's state
    u64 max_scratch = 0; // bytes, of all workgroups at once; 0: half of the host's memory
};

// The process is ending: running and new launches throw Abandoned soon.
void abandon();
class Abandoned : public Error {
public:
    Abandoned() : Error("abandoned: the process ends") {}
};

// Runs to completion or throws Fault. Results don't depend on `threads`.
RunStats run(const Dispatch &, Memory &, const Device &, const RunConfig &);

} // namespace nw::sim
