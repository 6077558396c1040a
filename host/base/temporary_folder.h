// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

namespace nw {

// A private directory in TMPDIR, removed with its files by the destructor.
class TemporaryFolder {
public:
    // Throws Error, which says that the folder is needed for `purpose`.
    explicit TemporaryFolder(std::string_view purpose);
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    ~TemporaryFolder();

    const std::string &path() const { return path_; }
    std::string file(std::string_view name) const;

private:
    std::string path_;
};

} // namespace nw
