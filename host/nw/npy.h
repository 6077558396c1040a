// SPDX-License-Identifier: MIT
// Arrays in NumPy's files (.npy, format versions 1 to 3).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "nw/elements.h"

namespace nw::cli {

struct Array {
    const ElementType *type;
    std::vector<u64> shape;
    std::string file; // with the elements at `start`, in C order
    size_t start = 0;

    std::span<const std::byte> bytes() const {
        return std::as_bytes(std::span(file)).subspan(start);
    }
    u64 count() const { return bytes().size() / type->bytes; }
};

// Throws Error, beginning with the path, for a file that is not there, not whole, or holds what has
// no ElementType.
Array read_npy(const std::string &path);
// bf16 is written as u16. `option` is named by the Error of a file that can't be written.
void write_npy(const char *option, const std::string &path, const ElementType &,
               std::span<const u64> shape, std::span<const std::byte>);

std::string shape_text(std::span<const u64> shape); // "(4, 16)", "(4,)"

} // namespace nw::cli
