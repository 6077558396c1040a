// SPDX-License-Identifier: MIT
// nw check: a program runs on the simulated GPU with its checkers, and its findings are gathered.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

struct CheckOptions {
    std::vector<std::string> program;
    std::string gfx, tools = "all", kernel, launches;
    std::string json, sarif, junit, suppressions, generate_suppressions;
    u32 error_exitcode = 97, limit = 100, timeout = 0;
    bool stop_at_first = false;
};

// A function that contains the instruction, or that was inlined there.
struct SourceFrame {
    std::string function; // demangled
    std::string file;     // as the compiler was given it, if that is a path; "" unknown
    u32 line = 0, column = 0;
};

// An instruction that a wave executed.
struct CheckPlace {
    std::string place; // demangled: "saxpy(float*, int) + 0x40"
    std::string instruction;
    std::vector<SourceFrame> frames; // innermost first; empty without debug information
    std::vector<u32> workgroup;
    u32 wave = 0;

    std::string source() const; // "saxpy.hip:41", else place
};

// A call stack of the host program.
using HostFrames = std::vector<SourceFrame>;

struct CheckFinding {
    std::string check, rule; // "mem", "out_of_bounds"
    std::string kernel;      // demangled
    std::string title;       // "Invalid __global__ write of size 4 bytes"
    std::string message;     // what a launch prints
    std::string address, allocation, listing, gfx;
    CheckPlace at;
    std::optional<CheckPlace> other; // of a race
    int lane = -1;
    std::vector<u32> thread, grid, block; // thread: empty if it concerns a wave
    u64 count = 0, launches = 0, first_launch = 0;
    bool ended = false;  // a launch was ended after too many findings: there are more of them
    HostFrames launched; // by
    std::string maker;   // of the allocation: "hipMalloc #3"
    u64 made_after = 0;  // launches of its process
    HostFrames made;     // by
    std::string program; // whose process found it first
    u64 process = 0;
};

// Results of all processes of a run.
struct CheckResult {
    std::vector<CheckFinding> findings; // each kind once; first seen first
    u64 suppressed = 0;                 // of all kinds
    u64 launches = 0, checked = 0;
    u64 loaded = 0;                  // processes that loaded the simulated library
    std::vector<std::string> forked; // programs that used HIP before and after a fork
    int exit_code = 0;
};

// CHECK, or CHECK.RULE where the rule has a name of its own: "mem.out_of_bounds".
std::string rule_id(const CheckFinding &);

// Reads the files of HIPSIM_FINDINGS. Lines that a killed process left incomplete are ignored.
CheckResult gather_findings(const std::string &folder);

// Functions and lines at an address in a code object, a program or a library, innermost first.
std::vector<SourceFrame> source_frames(const std::string &file, u64 address);

// Formats. `limit`: findings that are printed.
std::string check_text(const CheckFinding &);
nlohmann::ordered_json check_json(const CheckResult &, const CheckOptions &);
nlohmann::ordered_json check_sarif(const CheckResult &);
std::string check_junit(const CheckResult &, const CheckOptions &);

} // namespace nw::cli
