// SPDX-License-Identifier: MIT
// nw micro 'v_add_f32 v0, v1, v2': latency, throughput and company of a given instruction.
#pragma once
#include <string>
#include <vector>

namespace nw::cli {

struct OwnOptions {
    std::string line;
    std::vector<std::string> with; // each measured beside it
    bool latency = false, throughput = false;
};

// Prints what a wave alone measures with the shader clock on the device.
void measure_own(const OwnOptions &, const std::string &device);

} // namespace nw::cli
