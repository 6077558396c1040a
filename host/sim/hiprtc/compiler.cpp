// SPDX-License-Identifier: MIT
#include "sim/hiprtc/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

extern char **environ;

namespace nw::hiprtc {

namespace fs = std::filesystem;

const char *const no_tools = "hiprtc needs clang and ld.lld of LLVM 20 or newer, and found none: "
                             "install them (Debian: clang-22, "
                             "lld-22), or name a clang by HIPSIM_CLANG\n";

static fs::path made_folder() {
    std::error_code error;
    fs::path parent = fs::temp_directory_path(error);
    if (error)
        parent = "/tmp";
    std::string name = (parent / "hiprtc-XXXXXX").string();
    if (!mkdtemp(name.data()))
        throw std::runtime_error(name + ": " + std::strerror(errno));
    return name;
}

Folder::Folder() : path(made_folder()) {}

Folder::~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
}

bool Folder::write(const std::string &name, const std::string &contents) const {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.empty() || relative.is_absolute() || *relative.begin() == "..")
        return false;
    std::error_code error;
    fs::create_directories((path / relative).parent_path(), error);
    std::ofstream file(path / relative, std::ios::binary);
    file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
    return file.good();
}

std::string Folder::read(const std::string &name) const {
    std::ifstream file(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string Folder::without_path(std::string text) const {
    const std::string own = path.string() + "/";
    for (size_t at = 0; (at = text.find(own, at)) != std::string::npos;)
        text.erase(at, own.size());
    return text;
}

namespace {

constexpr int oldest = 20, newest = 29; // LLVM's versions, as in gen/tools.cmake

bool executable(const fs::path &path) { return access(path.c_str(), X_OK) == 0; }

fs::path environment(const char *name) {
    const char *const value = std::getenv(name);
    return value ? value : "";
}

// "clang version 22.1.8", "AMD clang version 17.0.0"; 0: it isn't clang.
int version_of(const std::string &clang) {
    const Folder folder;
    const std::string said = run({clang, "--version"}, folder).said;
    constexpr std::string_view words = "clang version ";
    const size_t at = said.find(words);
    int version = 0;
    if (at != std::string::npos)
        std::from_chars(said.data() + at + words.size(), said.data() + said.size(), version);
    return version;
}

std::optional<Tools> tools_beside(const fs::path &clang) {
    if (!executable(clang))
        return std::nullopt;
    std::error_code error;
    const fs::path real = fs::canonical(clang, error);
    for (const fs::path &folder : {clang.parent_path(), real.parent_path()})
        if (const fs::path lld = folder / "ld.lld"; executable(lld) && version_of(clang) >= oldest)
            return Tools{clang, lld};
    return std::nullopt;
}

std::vector<fs::path> candidates() {
    std::vector<fs::path> all = {NW_CLANG};
    const std::string path = environment("PATH");
    const auto in_path = [&](const std::string &name) {
        for (size_t at = 0; at <= path.size();) {
            const size_t end = std::min(path.find(':', at), path.size());
            all.push_back(fs::path(path.substr(at, end - at)) / name);
            at = end + 1;
        }
    };
    for (int version = newest; version >= oldest; --version) {
        in_path("clang-" + std::to_string(version));
        all.push_back("/usr/lib/llvm-" + std::to_string(version) + "/bin/clang");
    }
    all.push_back(environment("ROCM_PATH") / "llvm/bin/clang");
    all.push_back("/opt/rocm/llvm/bin/clang");
    in_path("clang");
    return all;
}

} // namespace

std::optional<Tools> find_tools() {
    if (const char *const wanted = std::getenv("HIPSIM_CLANG"))
        return tools_beside(wanted);
    for (const fs::path &clang : candidates())
        if (auto tools = tools_beside(clang))
            return tools;
    return std::nullopt;
}

std::optional<fs::path> find_bitcode() {
    const fs::path folders[] = {
        environment("HIP_DEVICE_LIB_PATH"), environment("ROCM_PATH") / "amdgcn/bitcode",
        "/opt/rocm/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"};
    for (const fs::path &folder : folders)
        if (folder.is_absolute() && access((folder / "ocml.bc").c_str(), R_OK) == 0 &&
            access((folder / "ockl.bc").c_str(), R_OK) == 0)
            return folder;
    return std::nullopt;
}

Outcome run(const std::vector<std::string> &command, const Folder &folder) {
    const std::string log = folder.path / "said";
    std::vector<char *> words;
    for (const std::string &word : command)
        words.push_back(const_cast<char *>(word.c_str()));
    words.push_back(nullptr);

    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t child = 0;
    const int error = posix_spawn(&child, words[0], &files, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error)
        return {false, command[0] + ": " + std::strerror(error) + "\n"};
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) { // ECHILD: the host ignores its children's ends
            status = 0;
            break;
        }
    Outcome outcome{WIFEXITED(status) && WEXITSTATUS(status) == 0,
                    folder.without_path(folder.read("said"))};
    if (WIFSIGNALED(status))
        outcome.said += command[0] + ": " + strsignal(WTERMSIG(status)) + "\n";
    return outcome;
}

} // namespace nw::hiprtc
