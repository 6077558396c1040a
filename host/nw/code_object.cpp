// SPDX-License-Identifier: MIT
#include "nw/code_object.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <regex>
#include <set>
#include <span>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/targets.h"
#include "sim/isa/bundle.h"
#include "sim/isa/compressed.h"
#include "sim/isa/elf.h"

extern char **environ;

namespace nw::cli {

namespace {

// A temporary directory, removed by the destructor.
class Folder {
public:
    Folder() : path_((std::filesystem::temp_directory_path() / "nw_XXXXXX").string()) {
        if (!mkdtemp(path_.data()))
            throw Error(fmt::format("{}: {}: needed for the assembler's output", path_,
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

// Runs it with stderr redirected to a file; returns its exit code, or a negative errno.
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

// Runs clang on a file; `options` precede the file.
std::string clang(const std::string &path, const std::string &gfx,
                  std::vector<std::string> options) {
    const Folder folder;
    const std::string object = folder.file("code.hsaco"), log = folder.file("log");
    // LLVM removes the working directory from file names, even inside a name: so use one that no
    // path begins with.
    std::vector<std::string> command = {NW_CLANG,       "-target", "amdgcn-amd-amdhsa",
                                        "-mcpu=" + gfx, "-g",      "-fdebug-compilation-dir=//"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {path, "-o", object});
    const int code = run(command, log);
    if (code < 0)
        throw Error(
            fmt::format("{}: {}: needed to assemble .s and link .o files; give a .hsaco instead",
                        NW_CLANG, std::strerror(-code)));
    if (code)
        throw Error(fmt::format("{}: it can't be {} for {}:\n{}", path,
                                is_assembly(path) ? "assembled" : "linked", gfx, read_text(log)));
    return read_text(object);
}

// The same options as for the collection's files, with a line table.
std::string assemble(const std::string &path, const std::string &gfx) {
    const std::string source = read_text(path);
    const bool wave64 = std::regex_search(source, std::regex(R"(\.amdhsa_wavefront_size32\s+0\b)"));
    std::vector<std::string> options = {
        is_generic(gfx) ? "-mcode-object-version=6" : "-mcode-object-version=5", "-x", "assembler"};
    if (wave64)
        options.insert(options.begin(), "-mwavefrontsize64");
    return clang(path, gfx, options);
}

std::span<const std::byte> bytes_of(const std::string &text) {
    return std::as_bytes(std::span(text));
}

std::string text_of(const std::vector<std::byte> &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// The uncompressed offload bundles of a file: the file itself, or the consecutive bundles in the
// .hip_fatbin section of a host program or object.
std::vector<std::string> bundles_of(const std::string &file) {
    std::vector<std::string> bundles;
    for (const std::string_view magic : {sim::bundle_magic, sim::compressed_magic})
        for (size_t at = 0; (at = file.find(magic, at)) != file.npos; at += magic.size()) {
            std::string bundle = file.substr(at);
            if (at != 0 && at % 8 != 0) // the magic inside other data
                continue;
            if (magic == sim::compressed_magic) {
                const sim::SpanSource source(bytes_of(bundle));
                bundle = text_of(sim::decompress_bundle(source));
            }
            bundles.push_back(std::move(bundle));
        }
    return bundles;
}

constexpr std::string_view elf_magic = "\x7f"
                                       "ELF";

bool is_amdgpu_elf(const std::string &file) {
    return file.starts_with(elf_magic) && file.size() > 20 && static_cast<u8>(file[18]) == 224 &&
           file[19] == 0;
}

// The code for `gfx` in any kind of file except .s.
std::string code_in(const std::string &path, const std::string &gfx) {
    std::string file = read_text(path);
    if (is_amdgpu_elf(file))
        return sim::Elf(bytes_of(file)).is_linked() ? file : clang(path, gfx, {});
    std::string there;
    for (const std::string &bundle : bundles_of(file)) {
        const sim::SpanSource source(bytes_of(bundle));
        const auto entries = sim::bundle_entries(source);
        if (const sim::BundleEntry *entry = sim::find_entry(entries, gfx))
            return text_of(source.copy(entry->offset, entry->size, "offload bundle"));
        there += (there.empty() ? "" : ", ") + sim::targets_of(entries);
    }
    if (!there.empty())
        throw Error(fmt::format("--gfx {}: the bundle has code for {} only", gfx, there));
    return file; // the loader reports the error
}

std::set<std::string> targets_of_bundles(const std::string &file) {
    std::set<std::string> targets;
    for (const std::string &bundle : bundles_of(file))
        for (const sim::BundleEntry &e : sim::bundle_entries(sim::SpanSource(bytes_of(bundle))))
            if (!e.target.empty())
                targets.insert(e.target);
    return targets;
}

// The target of all bundles in a file; throws if there are several.
std::string gfx_of_bundles(const std::string &file) {
    const std::set<std::string> targets = targets_of_bundles(file);
    if (targets.size() > 1)
        throw Error(
            fmt::format("has code for {}: choose one with --gfx", fmt::join(targets, ", ")));
    return targets.empty() ? "" : *targets.begin();
}

} // namespace

bool is_assembly(const std::string &path) {
    return std::filesystem::path(path).extension() == ".s";
}

std::string read_text(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    if (!in || std::filesystem::is_directory(path))
        throw Error(fmt::format("{}: {}", path, in ? "is a directory" : std::strerror(errno)));
    all << in.rdbuf();
    return all.str();
}

void write_text(const char *option, const std::string &path, const std::string &text) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out)
        throw Error(fmt::format("{} {}: {}", option, path, std::strerror(errno)));
}

std::set<std::string> targets_of_file(const std::string &path) {
    const std::string file = read_text(path);
    try {
        return is_amdgpu_elf(file) ? std::set{sim::Elf(bytes_of(file)).gfx()}
                                   : targets_of_bundles(file);
    } catch (const sim::BadImage &error) {
        throw Error(fmt::format("{}: {}", path, error.what()));
    }
}

std::string gfx_of_file(const std::string &path) {
    const std::string text = read_text(path);
    if (!is_assembly(path))
        try {
            if (!is_amdgpu_elf(text))
                if (const std::string gfx = gfx_of_bundles(text); !gfx.empty())
                    return gfx;
            return sim::Elf(bytes_of(text)).gfx();
        } catch (const Error &error) {
            throw Error(fmt::format("{}: {}", path, error.what()));
        }
    std::smatch target;
    const std::regex directive(R"(\.amdgcn_target\s+"[^"]*--(gfx[\w-]+))");
    return std::regex_search(text, target, directive) ? target[1].str() : "";
}

std::shared_ptr<const sim::Program> load_code(const std::string &path, const std::string &gfx) {
    try {
        const std::string object = is_assembly(path) ? assemble(path, gfx) : code_in(path, gfx);
        return sim::Program::load(bytes_of(object), gfx);
    } catch (const sim::BadImage &error) {
        throw Error(fmt::format("{}: {}", path, error.what()));
    }
}

} // namespace nw::cli
