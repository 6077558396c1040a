// SPDX-License-Identifier: MIT
// Kernels that clang compiled, at -O0 and -O2 and at what other levels are built, have no bugs of
// this kind: whatever is found in them is a mistake of the lint, but for two rules of pairs that
// LLVM learned later than 22.1.8 (H-026, H-030).
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "lint/lint.h"
#include "sim/isa/code.h"
#include "sim/isa/image/elf.h"

using namespace nw;

namespace {

struct Corpus {
    size_t kernels = 0;
    std::map<std::string, size_t> gfx;   // kernels of each
    std::map<std::string, size_t> pairs; // H-026, H-030
    std::vector<std::string> findings;   // all others
};

// LLVM 22.1.8 forms these pairs in wave32: PR 220348 and PR 178772 came after it.
bool made_by_old_rules(const lint::Finding &f, const std::string &gfx) {
    const std::string_view id = info(f.rule).id;
    return (id == "H-026" && gfx.starts_with("gfx11")) || id == "H-030";
}

void lint_file(const std::filesystem::path &path, Corpus &all, std::mutex &mutex) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> file(std::istreambuf_iterator<char>(in), {});
    const auto bytes = std::as_bytes(std::span(file));
    const std::string gfx = sim::Elf(bytes).gfx();
    const auto program = sim::Program::load(bytes, gfx);
    for (const sim::KernelInfo &kernel : program->kernels()) {
        std::vector<std::string> found;
        std::map<std::string, size_t> pairs;
        for (const lint::Finding &f : lint::lint(*program, kernel, false)) {
            if (made_by_old_rules(f, gfx)) {
                ++pairs[std::string(info(f.rule).id)];
                continue;
            }
            const auto &code = program->code(kernel.wave_size).instructions;
            found.push_back(
                fmt::format("{} {}: {} {}: {}", path.stem().string(), kernel.name, info(f.rule).id,
                            f.instruction < code.size() ? code[f.instruction].text : "", f.text));
        }
        const std::lock_guard lock(mutex);
        ++all.kernels, ++all.gfx[gfx];
        for (const auto &[rule, n] : pairs)
            all.pairs[rule] += n;
        std::ranges::move(found, std::back_inserter(all.findings));
    }
}

} // namespace

TEST_CASE("nothing is found in what clang compiled") {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::directory_iterator(NW_BUILD_DIR "/diff"))
        if (entry.path().extension() == ".hsaco")
            files.push_back(entry.path());
    Corpus all;
    std::mutex mutex;
    parallel_each(files.size(), [&] { return [&](u64 n) { lint_file(files[n], all, mutex); }; });
    for (const std::string gfx : {"gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"}) {
        MESSAGE(gfx << ": " << all.gfx[gfx] << " kernels");
        CHECK(all.gfx[gfx] > 1000);
    }
    for (const auto &[rule, n] : all.pairs)
        MESSAGE(rule << ": " << n << " pairs that later compilers don't form");
    std::ranges::sort(all.findings);
    for (const std::string &finding : all.findings)
        FAIL_CHECK(finding);
}
