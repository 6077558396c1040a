// SPDX-License-Identifier: MIT
// Types of arguments and of buffers' elements, by the names that command lines use: u8 to f64,
// bf16.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw::cli {

struct ElementType {
    std::string_view name;
    u32 bytes;
    bool is_signed, real;
    std::string_view npy; // NumPy's code; bf16 has none and is stored as its bits
};

std::span<const ElementType> element_types();
const ElementType *find_element_type(std::string_view name); // null: unknown
// "u8, i8, ..": all, or those of a size, for messages.
std::string element_type_names(u32 bytes = 0);

f64 element_value(const ElementType &, const std::byte *);
// Shortest text that reads back as the same element.
std::string element_text(const ElementType &, const std::byte *);

} // namespace nw::cli
