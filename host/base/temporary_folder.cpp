// SPDX-License-Identifier: MIT
#include "base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>

#include "base/error.h"

namespace nw {

TemporaryFolder::TemporaryFolder(std::string_view purpose)
    : path_((std::filesystem::temp_directory_path() / "nw_XXXXXX").string()) {
    if (!mkdtemp(path_.data()))
        throw Error(fmt::format("{}: {}: needed for {}; set TMPDIR to a writable directory", path_,
                                std::strerror(errno), purpose));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(std::string_view name) const {
    return fmt::format("{}/{}", path_, name);
}

} // namespace nw
