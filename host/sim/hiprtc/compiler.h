// SPDX-License-Identifier: MIT
// The compiler that hiprtc runs: clang and ld.lld of an LLVM >= 20, and ROCm's bitcode libraries.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace nw::hiprtc {

// A temporary folder with what the compiler reads and writes.
class Folder {
public:
    Folder(); // std::runtime_error
    ~Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    const std::filesystem::path path;
    // False: the name leads out of the folder, or the file can't be written.
    bool write(const std::string &name, const std::string &contents) const;
    std::string read(const std::string &name) const; // "": it is absent or empty
    // A text without this folder's own name: of messages of the compiler.
    std::string without_path(std::string text) const;
};

struct Outcome {
    bool ok = false;
    std::string said;
};

struct Tools {
    std::string clang, lld;
};

// As the build does, and in this order: HIPSIM_CLANG, the build's own, LLVM 29 to 20, ROCm's.
// Nothing: there is none.
std::optional<Tools> find_tools();
extern const char *const no_tools; // says so, and what to do

// The folder that has ocml.bc and ockl.bc of ROCm; nothing where it isn't installed.
std::optional<std::filesystem::path> find_bitcode();

// Runs it in the folder, without input, and waits for its end.
Outcome run(const std::vector<std::string> &command, const Folder &folder);

} // namespace nw::hiprtc
