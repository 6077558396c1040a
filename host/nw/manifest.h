// SPDX-License-Identifier: MIT
// Kernels that this program was not built with: a directory of code objects and its manifest.json.
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
    // Throws Error naming the file and what is wrong with it.
    explicit Manifest(const std::filesystem::path &directory);
    Manifest(const Manifest &) = delete;
    std::span<const Kernel> kernels() const { return kernels_; }

private:
    std::deque<std::string> texts_; // what the kernels' names point at
    std::vector<Kernel> kernels_;
};

} // namespace nw::cli
