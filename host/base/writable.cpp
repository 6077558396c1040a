// SPDX-License-Identifier: MIT
#include "base/writable.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace nw {

std::string unwritable(const std::string &path) {
    const auto refused = [&](const char *why) {
        return fmt::format("{}: can't be written: {}; name a file in a writable directory",
                           path.empty() ? "\"\"" : path, why);
    };
    struct stat is {};
    if (stat(path.c_str(), &is) == 0) {
        if (S_ISDIR(is.st_mode))
            return refused("is a directory");
        return access(path.c_str(), W_OK) == 0 ? "" : refused(std::strerror(errno));
    }
    if (errno != ENOENT || path.empty() || path.back() == '/')
        return refused(std::strerror(errno));
    const std::string parent = std::filesystem::path(path).parent_path().string();
    const char *const folder = parent.empty() ? "." : parent.c_str();
    return access(folder, W_OK | X_OK) == 0 ? "" : refused(std::strerror(errno));
}

void need_writable(const std::string &path) {
    if (const std::string why = unwritable(path); !why.empty())
        throw Error(why);
}

} // namespace nw
