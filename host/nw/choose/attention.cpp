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
    u32 b = 1, sq = 0, sk = 0, h = 0, hk = 0, d = 128, page = 0; // sk = 0: as many as queries
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

CLI::App *add_choose_attention(CLI::App &choose) {
    auto o = std::make_shared<Options>();
    CLI::App *command = choose.add_subcommand(
        "attention", "Show which kernels attention gets, or with --select its lists of blocks");
    command->add_option("--gfx", o->gfx, "The target")->capture_default_str();
    command->add_option("--dtype", o->dtype, "Of queries, keys and values")
        ->check(CLI::IsMember(dtype_words))
        ->capture_default_str();
    command->add_option("--sq", o->sq, "Queries")->required();
    command->add_option("--sk", o->sk, "Keys; default: as many as queries");
    command->add_option("--h", o->h, "Query heads")->required();
    command->add_option("--hk", o->hk, "Key heads")->required();
    command->add_option("--d", o->d, "Elements of a head")->capture_default_str();
    command->add_option("--b", o->b, "Batches")->capture_default_str();
    command->add_option("--kv", o->kv, "Of keys and values, where not that of queries")
        ->check(CLI::IsMember({"same", "q8_0", "fp8"}))
        ->capture_default_str();
    command->add_option("--page", o->page, "Keys of a page of the cache; 0: no pages")
        ->capture_default_str();
    CLI::Option *all_keys =
        command->add_flag("--all-keys", o->all_keys, "Every query sees all keys: not causal");
    CLI::Option *select = command->add_option("--select", o->select, "Lists of blocks, by scores")
                              ->check(CLI::IsMember({"canonical", "raw", "pooled"}))
                              ->excludes(all_keys);
    command->add_option("--rule", o->rule, "Which blocks are listed")
        ->check(CLI::IsMember({"peak", "mass"}))
        ->capture_default_str()
        ->needs(select);
    command->add_flag("--json", o->json, "Print JSON");
    command->add_flag("-v,--verbose", o->verbose, "Also print registers, LDS and occupancy");
    command->footer(""); // not that of products
    command->callback([o] { run(*o); });
    return command;
}

} // namespace nw::cli
