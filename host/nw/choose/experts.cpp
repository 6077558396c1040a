// SPDX-License-Identifier: MIT
#include "nw/choose/experts.h"

#include <fmt/format.h>
#include <memory>

#include "base/terminal.h"
#include "nw/choose/gguf_experts.h"
#include "nw/choose/launches.h"
#include "nw/choose/row.h"
#include "nw/product.h"
#include "runtime/plan.h"

namespace nw::cli {

namespace {

struct Options {
    std::string gfx = "gfx1151", dtype = "bf16", group = "128", zeros = "eight";
    u32 block_size = 1, n = 0, k = 0;
    bool act_order = false, json = false, verbose = false;
    GgufExpertsOptions gguf; // where it has a type, in place of the types above
};

struct Explained {
    std::vector<const Kernel *> launches; // the product's is the last
    bool forced;
};

// With the smallest lists: no choice depends on them.
Op op_of(const Options &o) {
    Op op =
        linear_w4a16(parse_dtype(o.dtype), parse_group(o.group), parse_zeros(o.zeros), 1, o.n, o.k);
    op.kind = OpKind::moe_w4a16;
    op.block_size = o.block_size;
    op.experts = op.top_k = op.slots = op.blocks = 1;
    return op;
}

Explained explain(const Options &o) {
    Op op = op_of(o);
    if (o.act_order)
        op.kind = OpKind::act_order_moe_w4a16;
    check_shape(op);
    const Plan made = plan(op, usual_machine(o.gfx));
    Explained out{.launches = {}, .forced = nw::explain(o.gfx, made.op).why == Choice::Why::forced};
    made.each_kernel([&](const Kernel &k) { out.launches.push_back(&k); });
    return out;
}

void print(const Options &o, const Explained &e) {
    const Kernel &kernel = *e.launches.back();
    fmt::print(heading_style(), "{}", kernel.symbol);
    fmt::print("\n");
    row("for", fmt::format("experts of {} x {}, {}, groups of {}, zeros {}, blocks of {}{}, on {}",
                           o.n, o.k, o.dtype, o.group, o.zeros, o.block_size,
                           o.act_order ? ", act-order" : "", o.gfx));
    if (e.launches.size() > 1)
        row("launches", fmt::format("{}, then this kernel", e.launches.front()->symbol));
    row("because", e.forced ? "NIBBLEWAVE_FORCE names it"
                            : "the default for its type, zero points and slots of a block");
    if (o.verbose)
        print_resources(e.launches);
}

nlohmann::json to_json(const Options &o, const Explained &e) {
    return {{"kernel", e.launches.back()->symbol},
            {"gfx", o.gfx},
            {"why", e.forced ? "forced" : "untuned"},
            {"launches", launches_json(e.launches)}};
}

void run(const Options &o) {
    if (!o.gguf.type.empty()) {
        GgufExpertsOptions of = o.gguf;
        of.gfx = o.gfx, of.n = o.n, of.k = o.k, of.json = o.json, of.verbose = o.verbose;
        return choose_gguf_experts(of);
    }
    const Explained e = explain(o);
    if (o.json)
        fmt::print("{}\n", to_json(o, e).dump(1));
    else
        print(o, e);
}

} // namespace

void add_choose_experts(Command &choose) {
    auto o = std::make_shared<Options>();
    Command &command =
        choose.add_subcommand("experts", "Show the kernels for a mixture of experts");
    command.add("--gfx", &o->gfx, "The target", {.show_default = true});
    command.add("--dtype", &o->dtype, "Type of the activations",
                {.one_of = dtype_words, .show_default = true});
    command.add("--group", &o->group, "Weights per scale",
                {.one_of = {"32", "64", "128"}, .show_default = true});
    command.add("--zeros", &o->zeros, "Zero points",
                {.one_of = {"eight", "packed"}, .show_default = true});
    command.add("--block-size", &o->block_size, "Slots per block", {.show_default = true});
    command.add("--gguf", &o->gguf.type, "Type of GGUF weights; takes --m instead of --block-size",
                {.one_of = gguf_words,
                 .needs = {"--experts"},
                 .excludes = {"--dtype", "--group", "--zeros", "--block-size", "--act-order"}});
    command.add("--m", &o->gguf.tokens, "Tokens", {.show_default = true, .needs = {"--gguf"}});
    command.add("--experts", &o->gguf.experts, "Number of experts", {.needs = {"--gguf"}});
    command.add("--top-k", &o->gguf.top_k, "Experts per token",
                {.show_default = true, .needs = {"--gguf"}});
    command.add("--own-rows", &o->gguf.own_rows, "Each slot has its own row of activations",
                {.needs = {"--gguf"}});
    command.add("--fp8-activations", &o->gguf.fp8,
                "Also time the product with fp8 e4m3 activations, one scale per row, on the timing "
                "model, and choose the faster one (minutes for thousands of tokens); the rounding "
                "error is up to 1/16 of a value",
                {.needs = {"--gguf"}});
    command.add("--n", &o->n, "Rows of an expert's weights", {.required = true});
    command.add("--k", &o->k, "Weights per row", {.required = true});
    command.add("--act-order", &o->act_order,
                "Act-order weights: activations are permuted, by this kernel or a launch before "
                "it");
    command.add("--json", &o->json, "Print JSON");
    command.add("-v,--verbose", &o->verbose, "Also print registers, LDS and occupancy");
    command.footer = ""; // not that of products
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
