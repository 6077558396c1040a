// SPDX-License-Identifier: MIT
#include "nw/sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "nw/code_object.h"
#include "nw/compile.h"

namespace nw::cli {

namespace fs = std::filesystem;

Sources::Sources(const std::string &file, const std::string &given, const std::string &gfx)
    : given_(given) {
    std::error_code ignored;
    if (!given_.empty() && !fs::is_regular_file(given_, ignored))
        throw Error(fmt::format("--source {}: is not a file", given));
    if (is_source(file))
        files_.emplace_back(file);
    const fs::path folder = fs::path(file).parent_path();
    folders_ = {folder, folder / "../../asm" / gfx}; // of build/hsaco/<gfx>
}

std::optional<std::string> Sources::path(const std::string &name) {
    named_.insert(name);
    std::vector<fs::path> candidates = files_;
    if (!given_.empty())
        candidates.insert(candidates.begin(), given_);
    for (const fs::path &folder : folders_)
        candidates.push_back(folder / name);
    std::error_code ignored;
    for (const fs::path &path : candidates)
        if (path.filename() == name && fs::is_regular_file(path, ignored))
            return path.string();
    return {};
}

std::optional<std::string> Sources::find(const std::string &name) {
    const auto file = path(name);
    return file ? std::optional(read_text(*file)) : std::nullopt;
}

void Sources::check_used() const {
    if (!given_.empty() && !named_.contains(given_.filename().string()))
        throw Error(
            fmt::format("--source {}: the line table of the code names {}", given_.string(),
                        named_.empty() ? "no file" : fmt::format("{}", fmt::join(named_, ", "))));
}

} // namespace nw::cli
