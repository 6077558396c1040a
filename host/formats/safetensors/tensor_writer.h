// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <vector>

#include "formats/files/output_file.h"

namespace nw {

struct FileRange {
    u64 begin, end;
};

// A file of a header and tensors, which are written in any order, in parts, by any thread.
class TensorWriter {
public:
    // `places` has the bytes of each tensor in the file of `size` bytes. Throws Error, as do all
    // below.
    TensorWriter(const std::filesystem::path &, std::span<const std::byte> header,
                 std::vector<FileRange> places, u64 size);

    void write(size_t tensor, u64 at, std::span<const std::byte>);
    void read(size_t tensor, u64 at, std::span<std::byte>) const;
    void commit() { file_->commit(); }
    u64 size() const { return size_; } // of the file

private:
    u64 place(size_t tensor, u64 at, u64 bytes) const;

    std::vector<FileRange> places_;
    u64 size_;
    std::unique_ptr<OutputFile> file_;
};

} // namespace nw
