// SPDX-License-Identifier: MIT
#include "nw/code_object.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <vector>

#include "nw/compile.h"
#include "sim/isa/image/bundle.h"
#include "sim/isa/image/compressed.h"
#include "sim/isa/image/elf.h"

namespace nw::cli {

namespace {

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
        return sim::Elf(bytes_of(file)).is_linked() ? file : link_object(path, gfx);
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

// f(), whose errors of an image begin with the path.
template <class F> auto with_path(const std::string &path, F f) {
    try {
        return f();
    } catch (const sim::BadImage &error) {
        throw Error(fmt::format("{}: {}", path, error.what()));
    }
}

} // namespace

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
    return with_path(path, [&] {
        return is_amdgpu_elf(file) ? std::set{sim::Elf(bytes_of(file)).gfx()}
                                   : targets_of_bundles(file);
    });
}

std::string gfx_of_file(const std::string &path) {
    const std::string text = read_text(path);
    if (!is_source(path))
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

std::string names_no_target(const std::string &path) {
    return path + (is_assembly(path) ? ": has no .amdgcn_target" : ": names no target");
}

std::string code_object(const std::string &path, const std::string &gfx) {
    if (is_source(path))
        return compile(path, gfx);
    return with_path(path, [&] { return code_in(path, gfx); });
}

std::shared_ptr<const sim::Program> load_object(const std::string &path, const std::string &object,
                                                const std::string &gfx) {
    return with_path(path, [&] { return sim::Program::load(bytes_of(object), gfx); });
}

std::shared_ptr<const sim::Program> load_code(const std::string &path, const std::string &gfx) {
    return load_object(path, code_object(path, gfx), gfx);
}

} // namespace nw::cli
