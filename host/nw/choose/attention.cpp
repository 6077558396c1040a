// SPDX-License-Identifier: MIT
#include "nw/choose/attention.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

#include "base/terminal.h"
#include "nw/choose/launches.h"
#include "nw/choose/row.h"
#include "nw/product.h"
#include "runtime/plan.h"

namespace nw::cli {

namespace {

struct Options {
    std::string gfx = "gfx1151", dtype = "bf16", select, rule = "peak", kv = "same";
    u32 b = 1, sq = 0, sk = 0, h = 0, hk = 0, d = 128, page = 0; // sk = 0: the number of queries
    bool all_keys = false, json = false, verbose = false;

    u32 keys() const { return sk ? sk : sq; }
};

Op op_of(const Options &o) {
    constexpr u32 one = 0x3f800000; // bits of 1.0f; a choice does not depend on the scale
    Op op{.kind = o.select.empty() ? OpKind::attention : OpKind::attention_select};
    op.dtype = find_word(o.dtype);
    op.b = o.b, op.sq = o.sq, op.sk = o.keys(), op.h = o.h, op.hk = o.hk, op.d = o.d;
    op.causal = !o.all_keys;
    op.scale = one;
    op.kv = find_word(o.kv), op.page = o.page, op.pages = 1;
    if (!o.select.empty())
        op.mode = find_word(o.select), op.rule = find_word(o.rule), op.share = 0;
    return op;
}

struct Explained {
    Plan plan;
    bool forced;
    u64 workspace; // bytes
    std::vector<const Kernel *> launches;
};

Explained explain(const Options &o) {
    const Op op = op_of(o);
    check_shape(op);
    const Choice choice = nw::explain(o.gfx, op);
    const Machine machine = usual_machine(o.gfx);
    Explained out{plan(op, *choice.kernel, machine),
                  choice.why == Choice::Why::forced,
                  workspace_for_any(op, machine),
                  {}};
    out.plan.each_kernel([&](const Kernel &k) { out.launches.push_back(&k); });
    return out;
}

std::string shape_text(const Options &o) {
    const std::string what = o.select.empty()
                                 ? o.all_keys ? "attention to all keys" : "causal attention"
                                 : fmt::format("blocks by {} scores, {}", o.select, o.rule);
    const std::string cache = o.kv == "same" ? "" : fmt::format(", cache in {}", o.kv);
    const std::string pages = o.page ? fmt::format(", pages of {}", o.page) : "";
    return fmt::format("{}, {} queries, {} keys, heads {}/{} of {}, {}{}{}, batch {}, on {}", what,
                       o.sq, o.keys(), o.h, o.hk, o.d, o.dtype, cache, pages, o.b, o.gfx);
}

void print(const Options &o, const Explained &e) {
    const Kernel &kernel = *e.plan.kernel;
    fmt::print(heading_style(), "{}", kernel.symbol);
    fmt::print("\n");
    row("for", shape_text(o));
    if (e.launches.size() > 1) {
        std::string before;
        for (const Kernel *k : e.launches)
            before += k == &kernel ? "this kernel" : fmt::format("{}, then ", k->symbol);
        row("launches", before);
    }
    row("because", e.forced ? "NIBBLEWAVE_FORCE names it"
                            : "the default for its type, head and number of queries");
    row("workspace", fmt::format("{} bytes", e.workspace));
    if (o.verbose)
        print_resources(e.launches);
}

nlohmann::json to_json(const Options &o, const Explained &e) {
    return {{"kernel", e.plan.kernel->symbol},
            {"gfx", o.gfx},
            {"why", e.forced ? "forced" : "untuned"},
            {"workspace_bytes", e.workspace},
            {"launches", launches_json(e.launches)}};
}

void run(const Options &o) {
    const Explained e = explain(o);
    if (o.json)
        fmt::print("{}\n", to_json(o, e).dump(1));
    else
        print(o, e);
}

} // namespace

void add_choose_attention(Command &choose) {
    auto o = std::make_shared<Options>();
    Command &command = choose.add_subcommand(
        "attention", "Show the kernels for attention, or with --select for its lists of blocks");
    command.add("--gfx", &o->gfx, "The target", {.show_default = true});
    command.add("--dtype", &o->dtype, "Type of queries, keys and values",
                {.one_of = dtype_words, .show_default = true});
    command.add("--sq", &o->sq, "Queries", {.required = true});
    command.add("--sk", &o->sk, "Keys; default: the number of queries");
    command.add("--h", &o->h, "Query heads", {.required = true});
    command.add("--hk", &o->hk, "Key heads", {.required = true});
    command.add("--d", &o->d, "Elements of a head", {.show_default = true});
    command.add("--b", &o->b, "Batches", {.show_default = true});
    command.add("--kv", &o->kv, "Type of keys and values; same: that of the queries",
                {.one_of = {"same", "q8_0", "fp8"}, .show_default = true});
    command.add("--page", &o->page, "Keys per page of the cache; 0: not paged",
                {.show_default = true});
    command.add("--all-keys", &o->all_keys, "Every query sees all keys: not causal");
    command.add("--select", &o->select, "How the selection of blocks scores them",
                {.one_of = {"canonical", "raw", "pooled"}, .excludes = {"--all-keys"}});
    command.add("--rule", &o->rule, "Rule that selects blocks by their scores",
                {.one_of = {"peak", "mass"}, .show_default = true, .needs = {"--select"}});
    command.add("--json", &o->json, "Print JSON");
    command.add("-v,--verbose", &o->verbose, "Also print registers, LDS and occupancy");
    command.footer = ""; // not that of products
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
