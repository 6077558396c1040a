// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "formats/output_file.h"

namespace nw {

struct TensorSpec {
    std::string name, dtype;
    std::vector<u64> shape;
};

// A safetensors file whose tensors are written in any order, in parts. Their order in the file is
// the given one, from an offset that is a multiple of 64. The format has no padding: list tensors
// with larger elements first, so that each is aligned.
class SafetensorsWriter {
public:
    // Throws Error, as do all below: duplicate names, shapes that read_safetensors refuses.
    SafetensorsWriter(const std::filesystem::path &, const std::vector<TensorSpec> &,
                      const std::map<std::string, std::string> &metadata);

    void write(size_t tensor, u64 at, std::span<const std::byte>);
    void read(size_t tensor, u64 at, std::span<std::byte>) const;
    void commit() { file_->commit(); }
    u64 size() const { return begins_.back(); } // of the file

private:
    u64 place(size_t tensor, u64 at, u64 bytes) const;

    std::vector<u64> begins_; // of each tensor in the file, and where the last one ends
    std::unique_ptr<OutputFile> file_;
};

} // namespace nw
