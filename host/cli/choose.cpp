// SPDX-License-Identifier: MIT
// nw choose: which kernel a product gets, and why.
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "cli/commands.h"
#include "cli/product.h"
#include "hip/hip.h"
#include "kernels/linear.h"
#include "kernels/tile.h"

namespace nw::cli {

namespace {

using Why = Choice::Why;

struct Options {
    std::string gfx = "gfx1151", dtype = "bf16", group = "128", zeros = "eight";
    u32 m = 1, n = 0, k = 0;
    bool json = false;
};

struct Explained {
    W4A16 product;
    Choice choice;
    const Kernel *standard; // the default
};

Explained explain(const Options &o) {
    W4A16 p{};
    p.dtype = parse_dtype(o.dtype);
    p.group = parse_group(o.group);
    p.zeros = parse_zeros(o.zeros);
    p.m = o.m, p.n = o.n, p.k = o.k;
    validate_linear_shape(p);
    if (is_prefill(p))
        return {p, explain_prefill(o.gfx, p.dtype, p.group, p.zeros, p.m, p.n, p.k),
                &default_tile(o.gfx, p.dtype, p.group, p.zeros, p.m, p.n)};
    return {p, nw::explain(o.gfx, p.dtype, p.group, p.m, p.zeros, p.n, p.k),
            &choose(o.gfx, p.dtype, p.group, p.m, p.zeros)};
}

std::string_view word(Why why) {
    switch (why) {
    case Why::forced:
        return "forced";
    case Why::tuned:
        return "tuned";
    case Why::near:
        return "near";
    case Why::untuned:
        break;
    }
    return "untuned";
}

std::string reason(const Explained &e) {
    const Tuned *t = e.choice.tuned;
    switch (e.choice.why) {
    case Why::forced:
        return "NIBBLEWAVE_FORCE names it";
    case Why::tuned:
        return fmt::format("this shape was tuned ({})", t->by);
    case Why::near:
        return fmt::format("{} x {} is the nearest shape that was tuned ({}), {:.2f} octaves away",
                           t->n, t->k, t->by, e.choice.distance);
    case Why::untuned:
        break;
    }
    return fmt::format("the default: no shape of this kind within {:g} octave was tuned", farthest);
}

void row(std::string_view name, const std::string &text) { fmt::print("{:<11} {}\n", name, text); }

void print(const Options &o, const Explained &e) {
    const Kernel &kernel = *e.choice.kernel;
    const W4A16 &p = e.product;
    fmt::print("{}\n", kernel.symbol);
    row("for", fmt::format("{} x {}, {}, on {}", p.n, p.k,
                           kind_label(p.dtype, p.group, p.m, p.zeros), o.gfx));
    row("because", reason(e));
    if (const Tuned *t = e.choice.tuned) {
        row("there", fmt::format("{:.2f} us", t->us));
        row("", fmt::format("{:.2f} us  {}, the best of the others", t->next_us, t->next));
        if (t->next != e.standard->symbol && &kernel != e.standard)
            row("", fmt::format("{:.2f} us  {}, the default", t->default_us, e.standard->symbol));
    }
    row("registers", fmt::format("{} VGPRs, {} SGPRs, {} bytes of LDS", kernel.vgprs, kernel.sgprs,
                                 kernel.lds_bytes));
    row("occupancy",
        fmt::format("{} waves per SIMD, {} waves and {} rows a workgroup", kernel.waves_per_simd,
                    kernel.block / 32, kernel.rows_per_workgroup));
}

nlohmann::json to_json(const Options &o, const Explained &e) {
    const Kernel &kernel = *e.choice.kernel;
    nlohmann::json out = {
        {"kernel", kernel.symbol},       {"gfx", o.gfx},
        {"why", word(e.choice.why)},     {"default", e.standard->symbol},
        {"vgprs", kernel.vgprs},         {"sgprs", kernel.sgprs},
        {"lds_bytes", kernel.lds_bytes}, {"waves_per_simd", kernel.waves_per_simd},
        {"block", kernel.block}};
    if (const Tuned *t = e.choice.tuned)
        out["tuned"] = {{"n", t->n},
                        {"k", t->k},
                        {"distance", e.choice.distance},
                        {"us", t->us},
                        {"next", t->next},
                        {"next_us", t->next_us},
                        {"default_us", t->default_us},
                        {"by", t->by}};
    return out;
}

void run(const Options &o) {
    const Explained e = explain(o);
    if (o.json)
        fmt::print("{}\n", to_json(o, e).dump(1));
    else
        print(o, e);
}

} // namespace

void add_choose(CLI::App &app) {
    auto o = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand("choose", "Say which kernel a product gets, and why");
    command->add_option("--gfx", o->gfx, "The target")->capture_default_str();
    command->add_option("--dtype", o->dtype, "Of activations")
        ->check(CLI::IsMember(dtype_words))
        ->capture_default_str();
    command->add_option("--group", o->group, "Weights to a scale")
        ->check(CLI::IsMember(group_words))
        ->capture_default_str();
    command->add_option("--zeros", o->zeros, "Zero points")
        ->check(CLI::IsMember(zeros_words))
        ->capture_default_str();
    command->add_option("--m", o->m, "Rows of activations")->capture_default_str();
    command->add_option("--n", o->n, "Rows of weights")->required();
    command->add_option("--k", o->k, "Weights of a row")->required();
    command->add_flag("--json", o->json, "Print JSON");
    command->callback([o] { run(*o); });
}

} // namespace nw::cli
