// SPDX-License-Identifier: MIT
// A rule's finding about an instruction.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "sim/isa/hazards/hazards.h"

namespace nw::lint {

enum class Severity : u8 { note, warning, error };
std::string_view name(Severity);

struct RuleInfo {
    std::string_view id; // "W-001"; for a hazard the id of its note, "H-002"
    Severity severity;
    std::string_view title;
};

// The rows of rules.inc, then the hazards.
enum class Rule : u8 {
#define RULE(name, ...) name,
#include "lint/rules.inc"
#undef RULE
    first_hazard
};
constexpr Rule rule_of(sim::Hazard h) {
    return static_cast<Rule>(static_cast<u8>(Rule::first_hazard) + static_cast<u8>(h));
}

std::span<const RuleInfo> all_rules(); // by number
inline const RuleInfo &info(Rule r) { return all_rules()[static_cast<size_t>(r)]; }

struct Finding {
    static constexpr u32 nothing = ~u32{0};

    Rule rule;
    u32 instruction = nothing; // index in the code; nothing: the whole kernel
    u32 other = nothing;       // the instruction that it conflicts with
    std::string text;          // "v3 is read while it is in flight"
    std::string remedy;        // "put s_waitcnt vmcnt(0) before"
};
using Findings = std::vector<Finding>;

// "v3", "s7", "VCC", "EXEC", "SCC"
std::string register_name(sim::RegisterUse::Bank, u32 reg);

} // namespace nw::lint
