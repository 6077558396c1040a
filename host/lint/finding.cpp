// SPDX-License-Identifier: MIT
#include "lint/finding.h"

#include <fmt/format.h>

namespace nw::lint {

namespace {

constexpr RuleInfo own[] = {
#define RULE(name, id, severity, title) {id, Severity::severity, title},
#include "lint/rules.inc"
#undef RULE
};

std::vector<RuleInfo> with_hazards() {
    std::vector<RuleInfo> out(std::begin(own), std::end(own));
    for (size_t h = 0; h < static_cast<size_t>(sim::Hazard::count); ++h) {
        const sim::HazardInfo &hazard = sim::info(static_cast<sim::Hazard>(h));
        const bool note = hazard.by == sim::Checkers::note;
        out.push_back({hazard.note, note ? Severity::note : Severity::error, hazard.what});
    }
    return out;
}

} // namespace

std::string_view name(Severity s) {
    constexpr std::string_view names[] = {"note", "warning", "error"};
    return names[static_cast<size_t>(s)];
}

std::span<const RuleInfo> all_rules() {
    static const std::vector<RuleInfo> rules = with_hazards();
    return rules;
}

std::string register_name(sim::RegisterUse::Bank bank, u32 reg) {
    if (bank == sim::RegisterUse::vgpr)
        return fmt::format("v{}", reg);
    switch (reg) {
    case sim::sreg::vcc:
    case sim::sreg::vcc + 1:
        return reg == sim::sreg::vcc ? "vcc_lo" : "vcc_hi";
    case sim::sreg::exec:
    case sim::sreg::exec + 1:
        return reg == sim::sreg::exec ? "exec_lo" : "exec_hi";
    case sim::sreg::m0:
        return "m0";
    case sim::sreg::scc:
        return "scc";
    default:
        return reg >= sim::sreg::ttmp0 && reg < sim::sreg::null
                   ? fmt::format("ttmp{}", reg - sim::sreg::ttmp0)
                   : fmt::format("s{}", reg);
    }
}

} // namespace nw::lint
