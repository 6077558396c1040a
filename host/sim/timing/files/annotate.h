// SPDX-License-Identifier: MIT
// A timed launch per source line: cycles lost, and reasons.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/func/machine.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

struct AnnotatedLine {
    std::string text;              // of the source, or LLVM's of one instruction
    std::string place;             // "41" of the source, "0x1c" of an instruction
    std::string file;              // only where it changes from the previous line
    std::vector<u32> instructions; // of the kernel, by index; none: nothing to execute
    u64 issued = 0, lost = 0;      // executions; wave cycles lost before issue
    Stalls stalls{};

    u64 cycles() const { return issued + lost; }
    // Stall reasons, largest first.
    std::vector<std::pair<Stall, u64>> reasons() const;
};

// A loop: first and last line, from a backward branch's target to the branch.
struct Loop {
    size_t first, last;
    u32 depth; // loops around it
};

struct Annotation {
    std::vector<AnnotatedLine> lines; // as in the source, or in the order of addresses
    std::vector<Loop> loops;          // outer ones first
    AnnotatedLine total;

    // Wave cycles of the line.
    f64 share(const AnnotatedLine &line) const {
        return total.cycles() ? static_cast<f64>(line.cycles()) / static_cast<f64>(total.cycles())
                              : 0;
    }
    std::vector<size_t> worst(size_t most) const; // lines with the most wave cycles, descending
};

// Returns the text of a source file of the line table ("saxpy.s"), if available.
using FindSource = std::function<std::optional<std::string>(const std::string &file)>;

// Instructions without a line or source become lines of their own. Counts are of the timed
// workgroups.
Annotation annotate(const Dispatch &, const Result &, const FindSource &);

} // namespace nw::sim::timing
