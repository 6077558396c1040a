// SPDX-License-Identifier: MIT
#include "runtime/catalogue.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "runtime/files.h"
#include "runtime/per_target.h"

namespace nw {

namespace fs = std::filesystem;

namespace {

// build/kernels.inc (gen/emit.py): targets, numbers of parameters, kernels by target. The C library
// has those of build/library_kernels.inc: no baselines, ablations and probes.
#ifndef NW_KERNELS
#define NW_KERNELS "kernels.inc"
#endif
struct Row {
    const char *symbol;
    u8 target, family;
    u32 parameters; // the first of them among the numbers
    u32 block, rows_per_workgroup;
    bool reference, candidate;
};
#define TARGET(name)
#define NUMBERS(...)
#define ROW(...) {__VA_ARGS__},
constexpr Row rows[] = {
#include NW_KERNELS
};
#undef TARGET
#undef ROW
#define TARGET(name) name,
#define ROW(...)
constexpr std::string_view targets_of_rows[] = {
#include NW_KERNELS
};
#undef TARGET
#undef NUMBERS
#define TARGET(name)
#define NUMBERS(...) __VA_ARGS__,
constexpr u32 numbers[] = {
#include NW_KERNELS
};
#undef TARGET
#undef NUMBERS
#undef ROW

Kernel kernel_of(const Row &row) {
    const Family &f = families()[row.family];
    Kernel out{.symbol = row.symbol,
               .gfx = targets_of_rows[row.target],
               .family = f.name,
               .contract = &f,
               .p = {},
               .block = row.block,
               .rows_per_workgroup = row.rows_per_workgroup,
               .reference = row.reference,
               .candidate = row.candidate};
    const u32 *value = numbers + row.parameters;
    for (const ParameterName &name : f.parameters)
        out.p.*name.at = *value++;
    return out;
}

// build/tuning.inc (gen/tuning.py)
struct TunedNumbers {
    const char *gfx, *family, *kernel;
    u32 m, n, k;
    f64 us;
    const char *next;
    f64 next_us, default_us;
    const char *by;
};
#define NW_TUNED(gfx, family, m, n, k, kernel, us, next, next_us, default_us, by)                  \
    {#gfx, #family, #kernel, m, n, k, us, #next, next_us, default_us, by},
constexpr TunedNumbers tuned[] = {
    {}, // an array has something
#include "tuning.inc"
};
#undef NW_TUNED

struct Listed {
    std::vector<Kernel> kernels;
    std::map<std::string_view, Kernel *> by_symbol;
    fs::path directory; // with <gfx>/; empty where nothing is built
};

fs::path resources_file(const fs::path &directory, const Kernel &kernel) {
    return directory / kernel.gfx /
           fmt::format("{}{}.resources", kernel.family, kernel.reference ? ".references" : "");
}

// A line is a kernel: symbol, VGPRs, SGPRs, LDS bytes, waves that fit on a SIMD (gen/render.py).
void read_resources(const fs::path &file, const std::map<std::string_view, Kernel *> &by_symbol) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string symbol;
        std::array<u32, 4> n{};
        words >> symbol >> n[0] >> n[1] >> n[2] >> n[3];
        if (!words)
            throw Error(fmt::format("{}: `{}`: not a symbol and four numbers: build the kernels "
                                    "again",
                                    file.string(), line));
        if (const auto found = by_symbol.find(symbol); found != by_symbol.end()) {
            Kernel &k = *found->second;
            k.built = true;
            k.vgprs = n[0], k.sgprs = n[1], k.lds_bytes = n[2], k.waves_per_simd = n[3];
        }
    }
}

std::unique_ptr<const Listed> list(std::string_view gfx, fs::path directory) {
    auto out = std::make_unique<Listed>();
    out->directory = std::move(directory);
    for (const Row &row : rows)
        if (targets_of_rows[row.target] == gfx)
            out->kernels.push_back(kernel_of(row));
    for (Kernel &k : out->kernels)
        out->by_symbol.emplace(k.symbol, &k);
    if (!out->directory.empty()) {
        std::set<fs::path> read;
        for (const Kernel &k : out->kernels)
            if (fs::path file = resources_file(out->directory, k); read.insert(file).second)
                read_resources(file, out->by_symbol);
    }
    return out;
}

// Directories passed to read_kernels().
std::mutex told_lock;
std::map<std::string, fs::path, std::less<>> told_directories;

std::unique_ptr<const Listed> list_first(std::string_view gfx) {
    {
        const std::lock_guard lock(told_lock);
        if (const auto told = told_directories.find(gfx); told != told_directories.end())
            return list(gfx, told->second);
    }
    return list(gfx, find_directory_if_any(gfx));
}

const Listed &catalogue(std::string_view gfx) {
    static PerTarget<Listed> all(list_first);
    return all.of(gfx);
}

} // namespace

std::span<const Kernel> kernels(std::string_view gfx) { return catalogue(gfx).kernels; }

const Kernel *find_kernel(std::string_view gfx, std::string_view symbol) {
    const auto &all = catalogue(gfx).by_symbol;
    const auto found = all.find(symbol);
    return found == all.end() ? nullptr : found->second;
}

std::vector<std::string_view> targets_with(std::string_view symbol) {
    std::vector<std::string_view> out;
    for (const Row &row : rows)
        if (row.symbol == symbol)
            out.push_back(targets_of_rows[row.target]);
    return out;
}

void read_kernels(std::string_view gfx, const fs::path &directory) {
    {
        const std::lock_guard lock(told_lock);
        told_directories.emplace(gfx, directory);
    }
    const Listed &used = catalogue(gfx);
    if (used.directory == directory)
        return;
    const auto here = list(gfx, directory);
    for (u64 i = 0; i < here->kernels.size(); ++i) {
        const Kernel &own = here->kernels[i], &other = used.kernels[i];
        const auto resources = [](const Kernel &k) {
            return std::array{k.vgprs, k.sgprs, k.lds_bytes, k.waves_per_simd};
        };
        if (own.built && resources(own) != resources(other))
            throw Error(fmt::format("{}: its {} has other registers or LDS than that in {}, which "
                                    "this process uses: one process takes kernels of one build",
                                    (directory / gfx).string(), own.symbol,
                                    used.directory.empty() ? "the catalogue"
                                                           : (used.directory / gfx).string()));
    }
}

void refuse_unbuilt(const Kernel &kernel) {
    const fs::path &directory = catalogue(kernel.gfx).directory;
    throw Error(fmt::format(
        "{} is not built for {}: {}; run `cmake --build build --target "
        "kernels_{}_{}`, or set NIBBLEWAVE_HSACO to a directory that has it",
        kernel.family, kernel.gfx,
        directory.empty() ? fmt::format("no directory of code objects has {}/", kernel.gfx)
                          : fmt::format("{} does not have {}",
                                        resources_file(directory, kernel).string(), kernel.symbol),
        kernel.gfx, kernel.family));
}

std::span<const TunedRow> tuned_rows() {
    static const std::vector<TunedRow> all = [] {
        std::vector<TunedRow> out;
        for (const TunedNumbers &row : std::span(tuned).subspan(1))
            out.push_back(
                {row.gfx,
                 row.family,
                 row.kernel,
                 row.m,
                 {row.n, row.k, nullptr, row.us, row.next, row.next_us, row.default_us, row.by}});
        return out;
    }();
    return all;
}

} // namespace nw
