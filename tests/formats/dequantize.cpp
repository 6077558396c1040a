// SPDX-License-Identifier: MIT
// dequantize TYPE: blocks of a ggml type on standard input, their weights as f32 on standard
// output.
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "ref/gguf.h"

using namespace nw;

namespace {

std::vector<std::byte> standard_input() {
    std::vector<std::byte> out;
    std::byte part[65536];
    while (const std::size_t got = std::fread(part, 1, sizeof part, stdin))
        out.insert(out.end(), part, part + got);
    return out;
}

void run(const char *name) {
    const GgmlTypeInfo *type = find_ggml_type(name);
    if (!type)
        throw Error(fmt::format("type = {}: ggml has none of that name", name));
    const std::vector<std::byte> blocks = standard_input();
    if (blocks.empty() || blocks.size() % type->bytes)
        throw Error(
            fmt::format("{} bytes: must be whole blocks of {}", blocks.size(), type->bytes));
    std::vector<f32> out(blocks.size() / type->bytes * type->elements);
    ref::dequantize_row(type->id, blocks.data(), out.size(), out.data());
    if (std::fwrite(out.data(), sizeof out[0], out.size(), stdout) != out.size())
        throw Error("standard output can't be written");
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fputs("usage: dequantize TYPE < blocks > f32\n", stderr);
        return 2;
    }
    try {
        run(argv[1]);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "dequantize: %s\n", error.what());
        return 2;
    }
}
