// SPDX-License-Identifier: MIT
// Kernels that clang compiled, -O0 to -O3, have no bugs of this kind: whatever is found in them is
// a mistake of the lint.
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
#include "sim/isa/elf.h"

using namespace nw;

namespace {

struct Corpus {
    size_t kernels = 0;
    std::map<std::string, size_t> gfx, warnings; // kernels of each; warnings by rule
    std::vector<std::string> findings;           // errors
};

void lint_file(const std::filesystem::path &path, Corpus &all, std::mutex &mutex) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> file(std::istreambuf_iterator<char>(in), {});
    const auto bytes = std::as_bytes(std::span(file));
    const std::string gfx = sim::Elf(bytes).gfx();
    const auto program = sim::Program::load(bytes, gfx);
    for (const sim::KernelInfo &kernel : program->kernels()) {
        std::vector<std::string> found;
        for (const lint::Finding &f : lint::lint(*program, kernel, false)) {
            if (info(f.rule).severity != lint::Severity::error) {
                const std::lock_guard lock(mutex);
                ++all.warnings[std::string(info(f.rule).id)];
                continue;
            }
            const auto &code = program->code(kernel.wave_size).instructions;
            found.push_back(
                fmt::format("{} {}: {} {}: {}", path.stem().string(), kernel.name, info(f.rule).id,
                            f.instruction < code.size() ? code[f.instruction].text : "", f.text));
        }
        const std::lock_guard lock(mutex);
        ++all.kernels, ++all.gfx[gfx];
        std::ranges::move(found, std::back_inserter(all.findings));
    }
}

} // namespace

TEST_CASE("no error is found in what clang compiled") {
    std::vector<std::filesystem::path> files;
    for (const auto &entry : std::filesystem::directory_iterator(NW_BUILD_DIR "/diff"))
        if (entry.path().extension() == ".hsaco")
            files.push_back(entry.path());
    Corpus all;
    std::mutex mutex;
    parallel_each(files.size(), [&] { return [&](u64 n) { lint_file(files[n], all, mutex); }; });
    MESSAGE(all.kernels << " kernels");
    for (const auto &[rule, count] : all.warnings)
        MESSAGE(count << " warnings " << rule);
    CHECK(all.kernels > 6000);
    for (const char *gfx : {"gfx1100", "gfx1151", "gfx1201"})
        CHECK(all.gfx[gfx] > 2000);
    std::ranges::sort(all.findings);
    for (const std::string &finding : all.findings)
        FAIL_CHECK(finding);
}
