// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nw::cli {

// Finds the source files that a code object's line table names without directories: next to the
// file and, for build/hsaco/<gfx>, in build/asm/<gfx>.
class Sources {
public:
    // Of `file`, a code object or a source; `given`: that of --source, or "". Throws Error where
    // that is no file.
    Sources(const std::string &file, const std::string &given, const std::string &gfx);

    std::optional<std::string> path(const std::string &name); // of a name in the line table
    std::optional<std::string> find(const std::string &name); // its text
    void check_used() const; // throws Error if --source isn't in the line table

private:
    std::filesystem::path given_;
    std::vector<std::filesystem::path> files_, folders_;
    std::set<std::string> named_; // by the line table
};

} // namespace nw::cli
