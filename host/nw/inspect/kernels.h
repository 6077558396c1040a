// SPDX-License-Identifier: MIT
// Which of a GGUF model's matrices have kernels.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_model.h"

namespace nw::cli {

struct ModelKernels {
    static constexpr std::array<u32, 4> tokens = {1, 8, 16, 512};

    // Tensors of one type that the same families take.
    struct With {
        std::string type;
        bool experts;
        std::array<std::string_view, tokens.size()>
            families; // for these numbers of tokens at once; empty: not built
        u32 count = 0;
    };
    // Tensors that differ in their layer's number alone.
    struct Without {
        std::string type, name, why;
        u32 count = 0;
    };

    std::string gfx;
    std::vector<With> with;
    std::vector<Without> without;

    std::string line() const; // empty where the model has no matrix
};

ModelKernels kernels_of(const GgufModel &, const std::string &gfx);

} // namespace nw::cli
