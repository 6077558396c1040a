// SPDX-License-Identifier: MIT
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <string>

#include "base/error.h"

namespace nw::bench {

// A folder of our own, gone when this is.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "nw_bench_XXXXXX").string();
        if (!mkdtemp(name.data()))
            throw Error(fmt::format("{}: can't be created", name));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace nw::bench
