// SPDX-License-Identifier: MIT
#include "formats/safetensors/tensor_writer.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nw {

TensorWriter::TensorWriter(const std::filesystem::path &path, std::span<const std::byte> header,
                           std::vector<FileRange> places, u64 size)
    : places_(std::move(places)), size_(size), file_(std::make_unique<OutputFile>(path, size)) {
    file_->write(0, header);
}

void TensorWriter::write(size_t tensor, u64 at, std::span<const std::byte> bytes) {
    file_->write(place(tensor, at, bytes.size()), bytes);
}

void TensorWriter::read(size_t tensor, u64 at, std::span<std::byte> bytes) const {
    file_->read(place(tensor, at, bytes.size()), bytes);
}

u64 TensorWriter::place(size_t tensor, u64 at, u64 bytes) const {
    const FileRange &range = places_.at(tensor);
    if (range.begin + at + bytes > range.end)
        throw Error(fmt::format("tensor {} of the output file: bytes {} to {} are out of range",
                                tensor, at, at + bytes));
    return range.begin + at;
}

} // namespace nw
