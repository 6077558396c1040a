// SPDX-License-Identifier: MIT
// A fault or a checker's finding as data: source of a Fault's text and of JSON.
#pragma once
#include <optional>
#include <string>

#include "sim/func/machine.h"

namespace nw::sim {

struct Wave;
struct Inst;
struct Context;

// An instruction as executed by one wave.
struct Site {
    std::string kernel;
    Dim3 workgroup;
    u32 wave = 0;
    u64 pc = 0;
    std::string place; // symbol and offset of pc: "saxpy + 0x40"
    std::string line;  // "saxpy.s:41"; empty without a line table
    std::string instruction;
};

struct Report {
    std::string check, rule; // "mem", "out_of_bounds"
    int lane = -1;           // -1: the wave as a whole
    std::optional<u64> address;
    std::string space;         // of the address: "global", "lds", "scratch", "code"
    std::string access;        // to the address: "read", "write", "atomic"
    u32 bytes = 0;             // of the access; 0: unknown
    std::string allocation;    // the nearest one, and its origin
    std::string maker;         // of that: "hipMalloc #3"
    std::optional<Site> other; // the earlier of two accesses
    // Filled in by fault() and finding():
    Site site;
    std::string message;
    std::optional<Dim3> thread; // of the lane, in its workgroup
    u64 group = 0;              // of the workgroup, in the order of the grid
    u32 inst = 0;               // index in the code
    std::string listing;        // instructions around it, where there is no line table
    std::string dump;           // the wave's state, when RunConfig::dump asks for it
};

// Takes findings of a launch that goes on after them (RunConfig::findings).
class FindingSink {
public:
    virtual ~FindingSink() = default;
    // Called from any thread. False: the launch ends with this one.
    virtual bool take(const Fault &) = 0;
};

// The allocation that describes an address: the live one nearest to it, or one that held it.
Origin origin_of(const Memory &, u64 address);
const char *rule_of(Fault::Kind); // of faults not found by a checker: "bad_dispatch"
// `inst` is an index into the executable's code, one past its end included.
Site site_of(const Context &, u32 inst, const Dim3 &workgroup, u32 wave);
std::string text_of(const Site &); // "pc 0x... (saxpy + 0x40), saxpy.s:41: s_nop 0"

[[noreturn]] void fault(const Wave &, const Inst &, Fault::Kind, const std::string &text,
                        Report details);
// A checker's finding: ends the launch as fault() does, unless RunConfig::findings takes it.
void finding(const Wave &, const Inst &, const std::string &text, Report details = {});

} // namespace nw::sim
