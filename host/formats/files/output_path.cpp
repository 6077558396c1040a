// SPDX-License-Identifier: MIT
#include "formats/files/output_path.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"

namespace nw {

namespace fs = std::filesystem;

namespace {

bool inside(const fs::path &path, const fs::path &folder) {
    const auto [end, rest] = std::ranges::mismatch(folder, path);
    return end == folder.end();
}

} // namespace

void check_output(const fs::path &in, const fs::path &out, bool replace) {
    if (!fs::exists(in))
        throw Error(fmt::format("{}: no such file or directory", in.string()));
    const fs::path folder = out.has_parent_path() ? out.parent_path() : ".";
    if (!fs::is_directory(folder))
        throw Error(
            fmt::format("{}: the directory {} does not exist", out.string(), folder.string()));
    const fs::path input = fs::canonical(in), output = fs::canonical(folder);
    if (fs::is_directory(input) && inside(output, input))
        throw Error(fmt::format("{}: is inside the input {}, which would then contain its own "
                                "output: choose another directory",
                                out.string(), in.string()));
    if (!fs::exists(out))
        return;
    if (fs::equivalent(out, input))
        throw Error(out.string() + ": is the input itself; choose another name");
    if (!replace)
        throw Error(out.string() + ": exists; --force replaces it");
}

} // namespace nw
