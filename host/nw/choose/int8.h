// SPDX-License-Identifier: MIT
// nw choose --int8-activations: the product of activations in int8 beside that in 16 bits.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "measure/int8_product.h"

namespace nw::cli {

struct Int8Choice {
    const Kernel *other = nullptr; // for activations in 16 bits
    Int8Kernels kernels{};
    Int8Time time{};
    f64 other_us = 0;
    std::string refused; // why there is no such product; the others but `other` are then empty

    bool is_faster() const { return refused.empty() && time.us() < other_us; }
};

// Both timed now on the model, weights cold and kernels as new.
Int8Choice choose_int8(std::string_view gfx, const ProductShape &, const Kernel &other);

// Rows after "for", where int8 is the faster one; after all others, where it is not.
void print(const Int8Choice &);
nlohmann::json to_json(const Int8Choice &);

} // namespace nw::cli
