// SPDX-License-Identifier: MIT
// safetensors: 8 bytes of header length, a JSON header with name, dtype, shape and offsets of each
// tensor, then the tensors' bytes without gaps.
#pragma once
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "formats/files/mapped_file.h"

namespace nw {

inline constexpr u64 safetensors_header_limit = 100'000'000; // bytes, as the format has it

struct Tensor {
    std::string name;
    std::string dtype; // as the header spells it: "I32", "F16"; it may be one that is not known
    std::vector<u64> shape;
    std::span<const std::byte> bytes; // at any alignment
};

// Bits of one element, if the dtype is known.
std::optional<u32> dtype_bits(std::string_view dtype);

// Bytes of a tensor. Throws Error: `what` has an unknown dtype, more than 2^64 bytes, part of one.
u64 tensor_bytes(const std::string &what, std::string_view dtype, std::span<const u64> shape);

std::string shape_text(std::span<const u64> shape); // [4096, 32]

struct Safetensors {
    std::vector<Tensor> tensors; // in the order of their bytes
    std::map<std::string, std::string> metadata;
};

// `file` is the whole file; the tensors point into it. Throws Error, naming `path`, if the header
// is inconsistent with itself or the file.
Safetensors read_safetensors(std::span<const std::byte> file, const std::string &path);

// A file on disk with its header.
class SafetensorsFile {
public:
    explicit SafetensorsFile(const std::filesystem::path &path)
        : path_(path), map_(path), contents_(read_safetensors(map_.bytes(), path.string())) {}

    const std::filesystem::path &path() const { return path_; }
    u64 size() const { return map_.bytes().size(); }
    const std::vector<Tensor> &tensors() const { return contents_.tensors; }
    const std::map<std::string, std::string> &metadata() const { return contents_.metadata; }

private:
    std::filesystem::path path_;
    MappedFile map_;
    Safetensors contents_;
};

} // namespace nw
