// SPDX-License-Identifier: MIT
#include "cli/code_object.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <regex>
#include <span>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "sim/isa/elf.h"

extern char **environ;

namespace nw::cli {

namespace {

// A folder of its own, gone with it.
class Folder {
public:
    Folder() : path_((std::filesystem::temp_directory_path() / "nw_XXXXXX").string()) {
        if (!mkdtemp(path_.data()))
            throw Error(fmt::format("{}: {}: the assembler's output goes there", path_,
                                    std::strerror(errno)));
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string file(const char *name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

// Runs it with stderr in a file; its exit code, or a negative errno.
int run(std::vector<std::string> command, const std::string &log) {
    std::vector<char *> words;
    for (std::string &word : command)
        words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    pid_t child = 0;
    const int error = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -error;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// As the collection's own files are made, with a line table.
std::string assemble(const std::string &path, const std::string &gfx) {
    const Folder folder;
    const std::string object = folder.file("code.hsaco"), log = folder.file("log");
    const std::string source = read_text(path);
    const bool wave64 = std::regex_search(source, std::regex(R"(\.amdhsa_wavefront_size32\s+0\b)"));
    // LLVM takes the working folder off the front of file names, even in the middle of a name: we
    // name one that no path begins with.
    std::vector<std::string> command = {NW_CLANG,
                                        "-target",
                                        "amdgcn-amd-amdhsa",
                                        "-mcpu=" + gfx,
                                        "-mcode-object-version=5",
                                        "-g",
                                        "-fdebug-compilation-dir=//",
                                        "-x",
                                        "assembler",
                                        path,
                                        "-o",
                                        object};
    if (wave64)
        command.insert(command.begin() + 4, "-mwavefrontsize64");
    const int code = run(command, log);
    if (code < 0)
        throw Error(fmt::format("{}: {}: it assembles .s files; give a .hsaco instead", NW_CLANG,
                                std::strerror(-code)));
    if (code)
        throw Error(
            fmt::format("{}: it can't be assembled for {}:\n{}", path, gfx, read_text(log)));
    return read_text(object);
}

std::span<const std::byte> bytes_of(const std::string &text) {
    return std::as_bytes(std::span(text));
}

} // namespace

bool is_assembly(const std::string &path) {
    return std::filesystem::path(path).extension() == ".s";
}

std::string read_text(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    if (!in || std::filesystem::is_directory(path))
        throw Error(fmt::format("{}: {}", path, in ? "it is a folder" : std::strerror(errno)));
    all << in.rdbuf();
    return all.str();
}

std::string gfx_of_file(const std::string &path) {
    const std::string text = read_text(path);
    if (!is_assembly(path))
        try {
            return sim::Elf(bytes_of(text)).gfx();
        } catch (const Error &error) {
            throw Error(fmt::format("{}: {}", path, error.what()));
        }
    std::smatch target;
    const std::regex directive(R"(\.amdgcn_target\s+"[^"]*--(gfx[\w-]+))");
    return std::regex_search(text, target, directive) ? target[1].str() : "";
}

std::shared_ptr<const sim::Program> load_code(const std::string &path, const std::string &gfx) {
    const std::string object = is_assembly(path) ? assemble(path, gfx) : read_text(path);
    try {
        return sim::Program::load(bytes_of(object), gfx);
    } catch (const sim::BadImage &error) {
        throw Error(fmt::format("{}: {}", path, error.what()));
    }
}

} // namespace nw::cli
