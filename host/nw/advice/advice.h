// SPDX-License-Identifier: MIT
// The changes of a kernel under which the same launch is modelled to be
// faster, with their gain and where in the code.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "nw/launch.h"

namespace nw::cli {

// An instruction with its share of what the advice is about.
struct Evidence {
    u32 index = 0;
    std::string place, text; // "saxpy.s:41", "s_waitcnt vmcnt(0)"
    f64 share = 0;
};

struct Advice {
    std::string_view kind; // "bank_conflicts", for JSON
    std::string what;      // the change
    std::string why;       // its evidence, without the place
    std::string_view note; // of isa_notes, which explains it
    std::vector<Evidence> where = {};
    f64 time_us = 0, gain = 0; // with the change; share of the time that it saves

    std::string text() const; // one sentence
};

struct Advised {
    std::vector<Advice> list; // largest gain first
    std::string otherwise;    // if the list is empty: what bounds the launch, or why it isn't known

    std::vector<std::string> lines(u64 columns) const;
};

inline constexpr size_t most_advice = 3;
inline constexpr f64 least_gain = 0.02;
// Launches that time more instructions are replayed if one asks for it: about a second each.
inline constexpr u64 advised_insts = 8'000'000;

// Advice for the launch's last run, whose options must have kept it.
Advised advise(const Launch &, const sim::timing::Result &);

nlohmann::ordered_json to_json(const Advised &);

// --advice: also after launches that take long to replay.
void add_advice_option(Command &, bool &always);
// So that advise() works after the last run.
void keep_for_advice(LaunchOptions &, bool always);

} // namespace nw::cli
