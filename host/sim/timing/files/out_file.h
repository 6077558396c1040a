// SPDX-License-Identifier: MIT
// An output file written incrementally while launches are timed.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw::sim::timing {

// Reports a failure: once per file.
using Complain = std::function<void(const std::string &)>;

class OutFile {
public:
    // Truncates the file. Throws nw::Error, which names it, if it can't be written.
    OutFile(std::string path, Complain complain);
    ~OutFile();
    OutFile(const OutFile &) = delete;

    void append(std::string_view text);
    // Closing syntax, rewritten after every append so that the file is always complete.
    void close_with(std::string_view tail);
    const std::string &path() const { return path_; }

private:
    void write(std::string_view text, u64 at);

    std::string path_;
    Complain complain_;
    int file_ = -1;
    u64 end_ = 0; // without the tail
    bool failed_ = false;
};

} // namespace nw::sim::timing
