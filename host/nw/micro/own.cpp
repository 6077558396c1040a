// SPDX-License-Identifier: MIT
#include "nw/micro/own.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/terminal.h"
#include "nw/compile.h"
#include "nw/micro/chains.h"

namespace nw::cli {

namespace {

// Lines that the assembler refuses are shown once, not as often as a chain repeats them.
void check_line(const Line &line, const std::string &gfx) {
    static_cast<void>(assemble_text(line.text() + "\n", gfx));
}

void row(std::string_view name, f64 value, const std::string &remark) {
    fmt::print("{:<11} {:>8.2f}  {}\n", name, value, remark);
}

std::string verdict(f64 one, f64 other, f64 pair) {
    switch (company(one, other, pair)) {
    case Company::hinder:
        return "they hinder each other";
    case Company::collide:
        return "they collide: as long as one after the other";
    case Company::overlap_in_part:
        return "they overlap in part";
    case Company::overlap:
        return "they overlap: as long as the longer one";
    case Company::issue:
        return "as long as a wave takes to issue two";
    }
    return "";
}

} // namespace

void measure_own(const OwnOptions &o, const std::string &device_name) {
    const hip::Device device(device_name, "timing=on");
    const Line line(o.line);
    std::vector<Line> others;
    for (const std::string &text : o.with)
        others.emplace_back(text);
    check_line(line, device.info().gfx);
    for (const Line &other : others)
        check_line(other, device.info().gfx);
    const bool all = !o.latency && !o.throughput;
    const auto chain = line.dependent();
    std::vector<Chain> chains = {independent(line), dependent(chain.value_or(line.text()))};
    for (const Line &other : others) {
        chains.push_back(independent_beside(other));
        chains.push_back(alternating(line, other));
    }
    const std::vector<f64> took = cycles(device, chains);
    fmt::print(heading_style(), "{}", line.text());
    fmt::print("\non {}, cycles of a wave alone{}\n", device.info().label,
               device.info().simulated ? "; modelled (sim), not measured on a card" : "");
    if ((all || o.latency) && chain)
        row("latency", took[1], fmt::format("from result to result: {}", *chain));
    else if (all || o.latency)
        fmt::print("{:<11} {:>8}  no operand has the result's size\n", "latency", "-");
    if (all || o.throughput)
        row("throughput", took[0],
            fmt::format("from issue to issue: {} independent copies", line.copies()));
    for (size_t n = 0; n < others.size(); ++n) {
        row("with", took[2 * n + 2], others[n].text() + ", alone");
        row("pair", took[2 * n + 3], verdict(took[0], took[2 * n + 2], took[2 * n + 3]));
    }
}

} // namespace nw::cli
