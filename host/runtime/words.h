// SPDX-License-Identifier: MIT
// Text values of kernel parameters ("bf16", "zp", "q4_K") as numbers, so that launches compare
// numbers.
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw {

inline constexpr std::string_view words[] = {
#include "words.inc"
};
inline constexpr u64 no_word = ~u64{0};

// Its number; no_word if no contract has it.
constexpr u64 find_word(std::string_view text) {
    for (u64 i = 0; i < std::size(words); ++i)
        if (words[i] == text)
            return i;
    return no_word;
}

// The same at compile time; the text must be a word.
consteval u64 word(std::string_view text) {
    const u64 found = find_word(text);
    if (found == no_word)
        throw "no contract has this word";
    return found;
}

} // namespace nw
