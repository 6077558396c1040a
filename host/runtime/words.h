// SPDX-License-Identifier: MIT
// Texts that parameters of kernels can be ("bf16", "zp", "q4_K"), each with a number, so that a
// launch compares numbers.
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw {

inline constexpr std::string_view words[] = {
#include "words.inc"
};
inline constexpr u64 no_word = ~u64{0};

// Its number; no_word where no contract has it.
constexpr u64 find_word(std::string_view text) {
    for (u64 i = 0; i < std::size(words); ++i)
        if (words[i] == text)
            return i;
    return no_word;
}

// The same of a constant, which must be one.
consteval u64 word(std::string_view text) {
    const u64 found = find_word(text);
    if (found == no_word)
        throw "no contract has this word";
    return found;
}

} // namespace nw
