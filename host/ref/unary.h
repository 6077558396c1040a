// SPDX-License-Identifier: MIT
// Functions of an element, in f64.
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw::ref {

struct UnaryParameters {
    f32 alpha = 0, alpha_p = 0, beta = 0, eps = 0; // of leaky_relu and xielu
    f32 low = 0, high = 0;                         // of clamp
};

// f(x) of a contract's function (asm/unary). Throws Error where it is none.
f64 unary(std::string_view function, f64 x, const UnaryParameters &);

} // namespace nw::ref
