// SPDX-License-Identifier: MIT
// nw micro --all: latency and throughput of every instruction of a target.
#pragma once
#include <string>

namespace nw::cli {

struct AllOptions {
    std::string device, only; // only: a regular expression for mnemonics
    std::string json, html;   // files; else the table is printed
};
void measure_all(const AllOptions &);

} // namespace nw::cli
