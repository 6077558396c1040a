// SPDX-License-Identifier: MIT
#include "runtime/catalogue.h"

#include <map>
#include <vector>

namespace nw {

namespace {

// build/kernels.inc (gen/render.py): targets, numbers of parameters, kernels.
struct Row {
    const char *symbol;
    u8 target, family;
    u32 parameters; // the first of them among the numbers
    u32 block, rows_per_workgroup, lds_bytes, vgprs, sgprs, waves_per_simd;
    bool reference, candidate;
};
#define TARGET(name)
#define NUMBERS(...)
#define ROW(...) {__VA_ARGS__},
constexpr Row rows[] = {
#include "kernels.inc"
};
#undef TARGET
#undef ROW
#define TARGET(name) name,
#define ROW(...)
constexpr const char *targets_of_rows[] = {
#include "kernels.inc"
};
#undef TARGET
#undef NUMBERS
#define TARGET(name)
#define NUMBERS(...) __VA_ARGS__,
constexpr u32 numbers[] = {
#include "kernels.inc"
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
               .lds_bytes = row.lds_bytes,
               .vgprs = row.vgprs,
               .sgprs = row.sgprs,
               .waves_per_simd = row.waves_per_simd,
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

} // namespace

std::span<const Kernel> kernels() {
    static const std::vector<Kernel> all = [] {
        std::vector<Kernel> out;
        out.reserve(std::size(rows));
        for (const Row &row : rows)
            out.push_back(kernel_of(row));
        return out;
    }();
    return all;
}

const Kernel *find_kernel(std::string_view gfx, std::string_view symbol) {
    static const auto by_name = [] {
        std::map<std::pair<std::string_view, std::string_view>, const Kernel *> out;
        for (const Kernel &k : kernels())
            out.emplace(std::pair{k.gfx, k.symbol}, &k);
        return out;
    }();
    const auto found = by_name.find({gfx, symbol});
    return found == by_name.end() ? nullptr : found->second;
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
