// SPDX-License-Identifier: MIT
// GGUF 2 and 3: "GGUF", the version, the counts of tensors and metadata, the metadata, the tensors'
// descriptions, then their bytes, each aligned. Names and values point into the file.
#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/files/mapped_file.h"
#include "formats/gguf/gguf_types.h"
#include "formats/gguf/gguf_values.h"

namespace nw {

struct GgufEntry {
    std::string_view key;
    GgufValue value;
};

struct GgufTensor {
    std::string_view name;
    GgmlType type;                     // may be an id that is not in ggml_types()
    u32 dimensions;                    // 0 to 4
    std::array<u64, 4> ne{1, 1, 1, 1}; // ne[0] is a row's elements, K of a matrix; ne[1] its N
    u64 offset;                        // of its bytes in the file
    u64 row_bytes = 0;                 // of an unknown type: 0
    std::span<const std::byte> data;   // of an unknown type: empty

    bool known() const { return find_ggml_type(type) != nullptr; }
    u64 rows() const { return ne[1] * ne[2] * ne[3]; }
    std::span<const u64> shape() const { return std::span(ne).first(dimensions); }
    // Its bytes, at least aligned as the file is. Throws Error if its type is unknown.
    std::span<const std::byte> bytes() const;
};

std::string type_name(GgmlType); // "q4_K", "type 43"

struct Gguf {
    u32 version = 0;
    u64 alignment = 0;
    std::vector<GgufEntry> metadata;
    std::vector<GgufTensor> tensors; // in the order of the file's list

    const GgufValue *find(std::string_view key) const;
};

// `file` is the whole file. Throws Error, naming `path`, if it is inconsistent or malformed.
Gguf read_gguf(std::span<const std::byte> file, const std::string &path);

// True if the file starts with the GGUF magic.
bool is_gguf(std::span<const std::byte> file);

// A mapped file and its parsed contents.
class GgufFile {
public:
    explicit GgufFile(const std::filesystem::path &path)
        : path_(path), map_(path), contents_(read_gguf(map_.bytes(), path.string())) {}

    const std::filesystem::path &path() const { return path_; }
    u64 size() const { return map_.bytes().size(); }
    const Gguf &contents() const { return contents_; }

private:
    std::filesystem::path path_;
    MappedFile map_;
    Gguf contents_;
};

} // namespace nw
