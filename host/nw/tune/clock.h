// SPDX-License-Identifier: MIT
// Source of the times of nw tune: the model of a target, or a card.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nw/tune/job.h"

namespace nw::cli {

class Clock {
public:
    virtual ~Clock() = default;
    virtual std::string name() = 0; // who measured
    // Differences below are no evidence that a kernel is faster: 0.035 for 3.5 %.
    virtual f64 least_gain() const = 0;
    // Microseconds with cold weights: [job][kernel], concatenated.
    virtual std::vector<f64> times(std::span<const TuneJob>) = 0;
};

// `device`: as in hip:0, which must be of this gfx; empty or a simulated one: the model. `kernels`:
// directory of their code objects, empty for the build's. `repeats`: runs on a card, whose median
// is used.
std::unique_ptr<Clock> make_clock(const std::string &gfx, const std::string &device,
                                  const std::filesystem::path &kernels, u32 repeats);

} // namespace nw::cli
