// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace nw::bench {

// An invalid value on the command line.
class Usage : public Error {
public:
    using Error::Error;
};

struct Options {
    std::string suite = "layer", model = "Qwen3-4B", device, clock, power, json, html;
    std::vector<std::string> layers; // empty: all
    std::vector<std::string> gfx;    // whose kernels bench/run builds; empty: what the suite needs
    std::vector<std::string> tables; // of suite decode; empty: all, with --only the published one
    std::vector<u32> m;              // empty: the suite's own
    std::vector<Dtype> dtypes = {Dtype::bf16, Dtype::f16};
    u32 group = 128;
    u32 before_rows = 0; // rows of a layer that the reference kernels run; 0: all
    u64 seed = 1;
    // decode, moe, stride, sim, validate, sensitivity, micro, pack: a regular expression for names;
    // empty: all
    std::string only;
    std::string constants;    // sensitivity: the same for constants
    bool uncertainty = false; // rows have error bars
    bool verbose = false, full = false, update_golden = false, needs = false;
};

// True if --table names the table; without --table, `usual`.
bool wanted(const Options &, std::string_view table, bool usual);

} // namespace nw::bench
