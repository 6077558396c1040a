// SPDX-License-Identifier: MIT
// Kernels from outside this build: a directory of code objects with its manifest.json.
#pragma once
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "runtime/catalogue.h"

namespace nw::cli {

class Manifest {
public:
    // Throws Error naming the file and the defect.
    explicit Manifest(const std::filesystem::path &directory);
    Manifest(const Manifest &) = delete;
    std::span<const Kernel> kernels() const { return kernels_; }

private:
    std::deque<std::string> texts_; // storage of the kernels' names
    std::vector<Kernel> kernels_;
};

} // namespace nw::cli
