// SPDX-License-Identifier: MIT
// A model in one GGUF file, or split into NAME-00001-of-00003.gguf and so on.
#pragma once
#include <deque>

#include "formats/gguf/gguf.h"

namespace nw {

class GgufModel {
public:
    // Takes any file of a split model; the others must be in the same directory. Throws Error if
    // one is missing, if they don't belong together, or if a name doesn't match its split number.
    explicit GgufModel(const std::filesystem::path &);

    const std::filesystem::path &path() const { return path_; }
    const std::deque<GgufFile> &files() const { return files_; } // in their order
    // Contents of the first file; the others have no metadata of the model.
    const Gguf &first() const { return files_.front().contents(); }
    std::string_view architecture() const;           // empty where the model does not say
    std::vector<const GgufTensor *> tensors() const; // file by file
    const GgufTensor *find(std::string_view name) const;

private:
    void open_split(GgufFile &&named, u64 count);
    void check_tensors() const;

    std::filesystem::path path_;
    std::deque<GgufFile> files_;
};

} // namespace nw
