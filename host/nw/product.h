// SPDX-License-Identifier: MIT
// Command line words for kinds of products.
#pragma once
#include <string>
#include <vector>

#include "runtime/w4a16.h"

namespace nw::cli {

inline const std::vector<std::string> dtype_words = {"bf16", "f16"},
                                      group_words = {"32", "64", "128", "row"},
                                      zeros_words = {"eight", "packed", "typed", "carrier"},
                                      gguf_words{gguf_types.begin(), gguf_types.end()};

// Conversions of these words.
inline Dtype parse_dtype(const std::string &word) {
    return word == "bf16" ? Dtype::bf16 : Dtype::f16;
}
inline u32 parse_group(const std::string &word) {
    return static_cast<u32>(word == "row" ? per_row : std::stoul(word));
}
inline Zeros parse_zeros(const std::string &word) {
    return word == "eight"    ? Zeros::eight
           : word == "packed" ? Zeros::packed
           : word == "typed"  ? Zeros::typed
                              : Zeros::carrier;
}

} // namespace nw::cli
