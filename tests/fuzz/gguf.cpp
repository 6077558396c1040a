// SPDX-License-Identifier: MIT
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "formats/gguf/gguf.h"
#include "fuzz/targets.h"
#include "ref/gguf.h"

using namespace nw;

namespace {

constexpr u64 most_elements = 1 << 12; // of a row or an array: more would be slow, not new

void check_inside(fuzz::Input file, std::span<const std::byte> part) {
    if (!part.empty() &&
        (part.data() < file.data() || part.data() + part.size() > file.data() + file.size()))
        throw std::logic_error("a part lies outside its file");
}

void check_value(fuzz::Input file, const GgufValue &value) {
    check_inside(file, value.bytes);
    if (value.type == GgufType::array)
        for (const GgufValue &element : elements(value, most_elements))
            check_value(file, element);
}

u64 check_tensor(fuzz::Input file, const GgufTensor &t) {
    check_inside(file, t.bytes());
    if (t.bytes().size() != t.row_bytes * t.rows())
        throw std::logic_error("a tensor's bytes are not its rows");
    if (find_ggml_type(t.type)->decoded && t.ne[0] <= most_elements && t.rows()) {
        std::vector<f32> row(t.ne[0]);
        ref::dequantize_row(t.type, t.bytes().data() + (t.rows() - 1) * t.row_bytes, t.ne[0],
                            row.data());
    }
    return t.bytes().size();
}

} // namespace

void nw::fuzz::gguf(Input file) {
    try {
        const Gguf read = read_gguf(file, "input");
        for (const GgufEntry &e : read.metadata)
            check_value(file, e.value);
        u64 bytes = 0;
        for (const GgufTensor &t : read.tensors)
            if (t.known())
                bytes += check_tensor(file, t);
        if (bytes > file.size())
            throw std::logic_error("tensors are larger than their file");
    } catch (const Error &) {
    }
}
