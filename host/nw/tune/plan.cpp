// SPDX-License-Identifier: MIT
#include "nw/tune/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/half.h"
#include "base/pattern.h"
#include "formats/packed/linear_shapes.h"
#include "formats/packed/row_stride.h"
#include "measure/shapes.h"
#include "nw/manifest.h"
#include "nw/product.h"
#include "runtime/choose.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

constexpr u32 few_rows = 8; // the most of decode_w4a16

using Shapes = std::set<std::pair<u32, u32>>; // n, k

Shapes dense_shapes(const std::string &file) {
    Shapes out;
    for (const LinearShape &shape : read_shapes(file))
        if (!shape.moe)
            out.insert({shape.n, shape.k});
    if (out.empty())
        throw Error(fmt::format("--shapes {}: has no dense layer", file));
    return out;
}

// A kind of W4A16 product; its shapes come later.
struct Kind {
    std::string family;
    Dtype dtype;
    u32 group;
    Zeros zeros;
    u32 m;

    // Choice rules need little more than m.
    Op any() const { return linear_w4a16(dtype, group, zeros, m, 4096, 4096); }
    std::string label() const {
        return fmt::format("{} g{}{}{} m{}", name(dtype), group_name(group),
                           zeros == Zeros::eight ? "" : " ", zeros_name(zeros), m);
    }
    bool has(const Kernel &k) const {
        return k.contract->tuning == family && !k.reference && takes(k, any()) &&
               k.contract->worth(any(), k, usual_machine(k.gfx));
    }
};

std::vector<const Kernel *> kernels_for(const Manifest &manifest, const TuneOptions &o,
                                        const Kind &kind) {
    const Pattern only("--only", o.only);
    std::vector<const Kernel *> out;
    for (const Kernel &k : manifest.kernels())
        if (k.gfx == o.gfx && kind.has(k) && (!k.candidate || only.found_in(k.symbol)))
            out.push_back(&k);
    std::ranges::stable_partition(out, [](const Kernel *k) { return !k->candidate; });
    if (const Kernel *standard = cheapest(out, kind.any()))
        std::ranges::stable_partition(out, [&](const Kernel *k) { return k == standard; });
    return out;
}

TuneKind w4a16_kind(const Manifest &manifest, const TuneOptions &o, const Kind &kind,
                    const Shapes &shapes) {
    const std::vector<const Kernel *> kernels = kernels_for(manifest, o, kind);
    if (kernels.size() < 2 || kernels.front()->candidate)
        return {};
    const Kernel &standard = *kernels.front();
    TuneKind out{{kind.family, std::string(standard.param("dtype")),
                  std::string(standard.param("group")), std::string(standard.param("zeros")), "",
                  kind.m},
                 kind.label(),
                 {}};
    for (const auto &[n, k] : shapes)
        if (kind.group == per_row || k % kind.group == 0) {
            const ProductShape shape{
                kind.dtype, kind.zeros, kind.m, n, k, kind.group, weight_row_stride(o.gfx, k)};
            out.jobs.push_back({n, k, shape.op(), kernels});
        }
    return out;
}

TuneKind gguf_kind(const TuneOptions &o, const std::string &type, u32 m, const Shapes &shapes) {
    TuneKind out{
        {std::string(gguf_table), "", "", "", type, m}, fmt::format("{} m{}", type, m), {}};
    const GgmlTypeInfo &info = *find_ggml_type(type); // its name outlasts the options'
    for (const auto &[n, k] : shapes) {
        if (k % info.elements)
            continue;
        const Op op = GgufShape{info.name, m, n, k}.op();
        TuneJob job{n, k, op, {&cheapest(o.gfx, op)}};
        for (const Kernel *kernel : kernels_for(o.gfx, op))
            if (kernel != job.kernels.front() &&
                kernel->contract->worth(op, *kernel, usual_machine(o.gfx)))
                job.kernels.push_back(kernel);
        if (job.kernels.size() > 1)
            out.jobs.push_back(std::move(job));
    }
    return out;
}

// The directory of --candidates, or the build's: all tiles are part of it.
fs::path kernels_of(const TuneOptions &o) {
    const bool many = o.family == many_rows_table;
    const fs::path built(NW_CANDIDATES);
    const fs::path out = !o.candidates.empty() ? fs::path(o.candidates)
                         : many                ? built.parent_path() / "hsaco"
                                               : built / o.gfx / "hsaco";
    if (!fs::exists(out / "manifest.json"))
        throw Error(
            fmt::format("{}: no manifest.json there: build the candidates first, `cmake --build "
                        "build --target {}`",
                        out.string(), many ? "all" : "candidates_" + o.gfx));
    return out;
}

// With what isn't given: the family's usual values, or with `again` all.
TuneOptions filled(TuneOptions o, const TuningTable &table) {
    TuneOptions usual;
    if (o.again)
        usual.dtypes = dtype_words, usual.groups = group_words, usual.zeros = zeros_words,
        usual.types = gguf_words, usual.m = table.rows(o.family);
    else
        usual.dtypes = dtype_words, usual.groups = {"128", "32"}, usual.zeros = {"eight", "packed"},
        usual.types = {"q4_K"},
        usual.m = o.family == many_rows_table ? std::vector<u32>{16, 32, 64, 128, 256, 512}
                  : o.family == gguf_table
                      ? std::vector<u32>{1, 2, 4, 8, 9, 12, 16, 17, 23, 24, 32, 33, 48, 64}
                      : std::vector<u32>{1, 2, 4, 8};
    for (auto list :
         {&TuneOptions::dtypes, &TuneOptions::groups, &TuneOptions::zeros, &TuneOptions::types})
        if ((o.*list).empty())
            o.*list = usual.*list;
    if (o.m.empty())
        o.m = usual.m;
    return o;
}

Shapes shapes_of(const TuneOptions &o, const TuningTable &table) {
    return o.again ? table.shapes(o.family) : dense_shapes(o.shapes);
}

TunePlan plan_gguf(const TuneOptions &o, const TuningTable &table) {
    if (!o.only.empty() || !o.candidates.empty())
        throw Error("--only, --candidates: not for family gguf, which times all strategies of "
                    "the build; leave them out");
    const Shapes shapes = shapes_of(o, table);
    TunePlan out;
    for (const std::string &type : o.types)
        for (u32 m : o.m)
            out.kinds.push_back(gguf_kind(o, type, m, shapes));
    return out;
}

TunePlan plan_w4a16(const TuneOptions &o, const TuningTable &table) {
    const bool many = o.family == many_rows_table;
    for (u32 m : o.m)
        if (many == (m <= few_rows))
            throw Error(fmt::format("--m {}: {} has kernels for {} rows", m, o.family,
                                    many ? "9 and more" : "1..8"));
    TunePlan out{.kernels = kernels_of(o)};
    out.manifest = std::make_shared<Manifest>(out.kernels);
    const Pattern only("--only", o.only);
    const auto is_wanted = [&](const Kernel &k) {
        return k.gfx == o.gfx && k.candidate && only.found_in(k.symbol);
    };
    if (!o.only.empty() && std::ranges::none_of(out.manifest->kernels(), is_wanted))
        throw Error(fmt::format("--only {}: matches no candidate of {}{}", o.only, o.gfx,
                                Pattern::names("--only")));
    const Shapes shapes = shapes_of(o, table);
    for (const std::string &dtype : o.dtypes)
        for (const std::string &group : o.groups)
            for (const std::string &zeros : o.zeros)
                for (u32 m : o.m)
                    out.kinds.push_back(w4a16_kind(
                        *out.manifest, o,
                        {o.family, parse_dtype(dtype), parse_group(group), parse_zeros(zeros), m},
                        shapes));
    return out;
}

} // namespace

TunePlan plan(const TuneOptions &given, const TuningTable &table) {
    const TuneOptions o = filled(given, table);
    TunePlan out = o.family == gguf_table ? plan_gguf(o, table) : plan_w4a16(o, table);
    std::erase_if(out.kinds, [](const TuneKind &kind) { return kind.jobs.empty(); });
    if (o.again)
        keep_named(out.kinds, table);
    if (!out.kinds.empty())
        return out;
    if (o.again)
        throw Error(fmt::format("{}: no row of {} for these options: leave out --again to add some",
                                o.out, o.family));
    throw Error(fmt::format(
        "{}: no candidates of {} on {} for --dtype {} --group {} --zeros {} --m {}: "
        "asm/*/family.toml lists them, `cmake --build build --target candidates_{}` builds them",
        out.kernels.string(), o.family, o.gfx, fmt::join(o.dtypes, ","), fmt::join(o.groups, ","),
        fmt::join(o.zeros, ","), fmt::join(o.m, ","), o.gfx));
}

} // namespace nw::cli
