// SPDX-License-Identifier: MIT
// nw run prints, saves and compares the buffers of a launch that has ended.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nw/arguments.h"
#include "nw/elements.h"
#include "nw/npy.h"

namespace nw::cli {

extern const char *const print_help, *const save_help, *const compare_help;

// The buffer that "1" or "y" names. Throws Error with `option` and `text`, the whole request.
const BufferArgument &buffer_of(const char *option, const std::string &text,
                                const std::string &argument, std::span<const BufferArgument>);

// Requests, complete before the launch: what they name is there, and their files fit.
struct Print {
    const BufferArgument *buffer;
    const ElementType *type;
    u64 count;
};
struct Save {
    const BufferArgument *buffer;
    const ElementType *type;
    std::string file;
};
struct Compare {
    const BufferArgument *buffer;
    Array want;
    std::string file;
    f64 tolerance;
};
Print read_print(const std::string &text, std::span<const BufferArgument>); // y[:TYPE[:COUNT]]
Save read_save(const std::string &text, std::span<const BufferArgument>);   // y:FILE[:TYPE]
Compare read_compare(const std::string &text,
                     std::span<const BufferArgument>); // y:FILE[:TOLERANCE]

std::string title(const BufferArgument &); // "y", or "argument 1"

void print(const Print &, std::span<const std::byte>);
void save(const Save &, std::span<const std::byte>);
bool agrees(const Compare &, std::span<const std::byte>); // prints the verdict

} // namespace nw::cli
