// SPDX-License-Identifier: MIT
#include "formats/safetensors_writer.h"

#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "formats/json.h"
#include "formats/safetensors.h"

namespace nw {

namespace {

constexpr u64 data_alignment = 64;

} // namespace

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path &path,
                                     const std::vector<TensorSpec> &tensors,
                                     const std::map<std::string, std::string> &metadata) {
    nlohmann::json header = nlohmann::json::object();
    if (!metadata.empty())
        header["__metadata__"] = metadata;
    u64 at = 0;
    for (const TensorSpec &t : tensors) {
        const std::string what = fmt::format("{}: tensor {}", path.string(), in_quotes(t.name));
        if (header.contains(t.name))
            throw Error(what + ": the name exists already");
        begins_.push_back(at);
        at += tensor_bytes(what, t.dtype, t.shape);
        header[t.name] = {
            {"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {begins_.back(), at}}};
    }
    begins_.push_back(at);

    std::string text = header.dump();
    text.resize(round_up<u64>(8 + text.size(), data_alignment) - 8, ' ');
    if (text.size() > safetensors_header_limit)
        throw Error(fmt::format("{}: {} tensors need a header of {} bytes, the format allows {}",
                                path.string(), tensors.size(), text.size(),
                                safetensors_header_limit));
    const u64 length = text.size();
    for (u64 &begin : begins_)
        begin += 8 + length;
    file_ = std::make_unique<OutputFile>(path, size());
    file_->write(0, std::as_bytes(std::span(&length, 1)));
    file_->write(8, std::as_bytes(std::span(text)));
}

void SafetensorsWriter::write(size_t tensor, u64 at, std::span<const std::byte> bytes) {
    file_->write(place(tensor, at, bytes.size()), bytes);
}

void SafetensorsWriter::read(size_t tensor, u64 at, std::span<std::byte> bytes) const {
    file_->read(place(tensor, at, bytes.size()), bytes);
}

u64 SafetensorsWriter::place(size_t tensor, u64 at, u64 bytes) const {
    if (begins_.at(tensor) + at + bytes > begins_.at(tensor + 1))
        throw Error(fmt::format("tensor {} of the output file: bytes {} to {} are out of range",
                                tensor, at, at + bytes));
    return begins_[tensor] + at;
}

} // namespace nw
