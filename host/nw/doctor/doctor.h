// SPDX-License-Identifier: MIT
// The checks of nw doctor: each adds a verdict or more.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hip/hip.h"
#include "runtime/launch.h"

namespace nw::cli {

enum class State { ok, warn, fail };

struct Verdict {
    std::string check; // "copies"
    State state;
    std::string text;
};

struct Examination {
    const hip::Device &device;
    Modules &modules;
    u64 copies;                        // of few bytes
    u32 rounds;                        // of coherence and graphs
    std::vector<std::string> families; // of kernels; {"all"}: all
    std::vector<Verdict> verdicts = {};
    nlohmann::ordered_json versions = {};
    hip::Buffer order = {}; // 0, 1, 2, ... of a row of copy_by_kernel

    // Prints it, too.
    void add(std::string check, State, std::string text);
    // As State::ok or State::fail.
    void judge(std::string check, bool good, std::string text) {
        add(std::move(check), good ? State::ok : State::fail, std::move(text));
    }
    // y = x, of `words` of 16 bits, by a kernel on the null stream or another.
    void copy_by_kernel(const void *x, void *y, u64 words, const hip::Stream & = {});
};

inline constexpr u32 row_words = 1024; // copy_by_kernel takes a multiple of it

void look_at_versions(Examination &);
void try_copies(Examination &);
void try_host_memory(Examination &);
void try_mappings(Examination &);
void try_graphs(Examination &);
void try_kernels(Examination &);

} // namespace nw::cli
