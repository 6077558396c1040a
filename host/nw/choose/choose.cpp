// SPDX-License-Identifier: MIT
// nw choose: the kernel chosen for a product, and the reason.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/terminal.h"
#include "formats/packed/row_stride.h"
#include "measure/cold_product.h"
#include "measure/draws.h"
#include "measure/on_cores.h"
#include "measure/shapes.h"
#include "nw/choose/attention.h"
#include "nw/choose/experts.h"
#include "nw/choose/op.h"
#include "nw/choose/quantized.h"
#include "nw/choose/row.h"
#include "nw/commands.h"
#include "nw/product.h"
#include "runtime/plan.h"
#include "sim/timing/constants/part.h"

namespace nw::cli {

namespace {

using Why = Choice::Why;

struct Options {
    std::string gfx = "gfx1151", dtype = "bf16", group = "128", zeros = "eight";
    std::string gguf; // a type of GGUF weights, in place of the last three
    u32 m = 1, n = 0, k = 0;
    bool json = false, verbose = false, uncertainty = false, int8 = false, fp8 = false,
         act_order = false;
};

struct Explained {
    std::string kind;
    Plan plan;
    Choice choice;
    const Kernel *standard; // the cheapest, which is the default
};

// With --uncertainty: the tuned shape, timed again on the model.
struct Retimed {
    DrawnTime chosen, next, standard; // next: of the other kernels the fastest when it was tuned
};

// Refused here: an op can't hold a text that no contract has.
void need_type(const std::string &type) {
    const std::set<std::string_view> known(gguf_types.begin(), gguf_types.end());
    if (!known.contains(type))
        throw Error(fmt::format("type = {}: must be one of {}", type, fmt::join(known, ", ")));
}

Op op_of(const Options &o) {
    if (!o.gguf.empty())
        need_type(o.gguf);
    return o.gguf.empty() ? linear_w4a16(parse_dtype(o.dtype), parse_group(o.group),
                                         parse_zeros(o.zeros), o.m, o.n, o.k)
                          : linear_gguf(o.gguf, o.m, o.n, o.k);
}

Explained explain(const Options &o) {
    Op op = op_of(o);
    if (o.act_order)
        op.kind = OpKind::act_order_w4a16;
    check_shape(op);
    const Plan made = plan(op, usual_machine(o.gfx));
    const Choice choice = nw::explain(o.gfx, made.op);
    const std::string kind = kind_label(*choice.kernel->contract, made.op),
                      rows = fmt::format("m{}", o.m);
    return {kind.ends_with(rows) ? kind : kind + " " + rows, made, choice,
            &cheapest(o.gfx, made.op)};
}

// All launches of a product with cold weights, on a device as new.
DrawnTime time_of(const Options &o, const Kernel &kernel, const Op &op) {
    const hip::Device device = model_device("sim:" + o.gfx, 1, "stats=on");
    DrawnTime out;
    const auto keep = [&] { out = drawn_time(device.take_stats()); };
    ColdProduct(device, {&op, 1}, 1).us(kernel, op, keep);
    return out;
}

// A product of n x k weights, with the strides that these have.
ProductShape shape_of(const Options &o, u32 n, u32 k) {
    return {parse_dtype(o.dtype), parse_zeros(o.zeros),       o.m, n, k,
            parse_group(o.group), weight_row_stride(o.gfx, k)};
}

// The product that was tuned.
Op tuned_op(const Options &o, const Tuned &t) {
    return o.gguf.empty() ? shape_of(o, t.n, t.k).op() : GgufShape{o.gguf, o.m, t.n, t.k}.op();
}

Retimed retime(const Options &o, const Explained &e) {
    const Tuned *t = e.choice.tuned;
    if (!t)
        throw Error(fmt::format("--uncertainty: no tuned shape is near {} x {}: give one of "
                                "gen/tuning/{}.toml",
                                o.n, o.k, o.gfx));
    draw_constants();
    const Op op = tuned_op(o, *t);
    const Kernel *next = find_kernel(o.gfx, t->next);
    if (!next)
        throw Error(fmt::format("{} is not in this build: build {}", t->next, o.gfx));
    return {time_of(o, *e.choice.kernel, op), time_of(o, *next, op), time_of(o, *e.standard, op)};
}

std::string_view why_word(Why why) {
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
        return fmt::format("nearest tuned shape: {} x {} ({}), {:.2f} octaves away", t->n, t->k,
                           t->by, e.choice.distance);
    case Why::untuned:
        break;
    }
    return fmt::format("the default: no shape of this kind was tuned within {:g} octaves",
                       farthest);
}

bool is_simulated(const Tuned &t) { return t.by.ends_with("(sim)"); }

// ", 214.1 GB/s, 91.6 % of what DRAM sustains" of a product at the speed of memory; of others
// ", 51.2 TFLOP/s".
std::string rate(const Options &o, const Tuned &t) {
    constexpr u32 most_at_memory_speed = 64; // rows
    if (o.m > most_at_memory_speed)
        return fmt::format(", {:.2f} TFLOP/s", 2e-6 * o.m * t.n * t.k / t.us);
    const u64 bytes = o.gguf.empty() ? ProductShape{parse_dtype(o.dtype),
                                                    parse_zeros(o.zeros),
                                                    o.m,
                                                    t.n,
                                                    t.k,
                                                    parse_group(o.group),
                                                    0}
                                           .bytes_moved()
                                     : GgufShape{o.gguf, o.m, t.n, t.k}.weight_bytes();
    const f64 gb_per_s = static_cast<f64>(bytes) / t.us / 1e3;
    std::string out = fmt::format(", {:.1f} GB/s", gb_per_s);
    const sim::timing::Part *part = sim::timing::default_part(o.gfx);
    if (is_simulated(t) && part)
        out += fmt::format(", {:.1f} % of what DRAM sustains",
                           100 * gb_per_s / (part->dram_gb_per_s * part->dram_efficiency));
    return out;
}

void print_times(const Options &o, const Explained &e, const Tuned &t) {
    const char *sim = is_simulated(t) ? " (sim)" : "";
    const bool standard = e.choice.kernel == e.standard;
    row("time", fmt::format("{:.2f} us{}{}", t.us, sim, rate(o, t)));
    row("others", fmt::format("{:.2f} us{}  {}, the fastest of them", t.next_us, sim, t.next));
    if (standard && t.next_us < t.us)
        row("", fmt::format("{:.2f} % less: too little to replace the default",
                            100 * (1 - t.next_us / t.us)));
    if (t.next != e.standard->symbol && !standard)
        row("", fmt::format("{:.2f} us{}  {}, the default", t.default_us, sim, e.standard->symbol));
}

void print_draws(const Explained &e, const Retimed &r) {
    const auto print = [](std::string_view name, const DrawnTime &t, const std::string &more) {
        row(name, fmt::format("{:.2f} us (sim), {:.2f} to {:.2f} in {} draws{}", t.us, t.low(),
                              t.high(), t.draws.size(), more));
    };
    const auto against = [&](const DrawnTime &other, std::string_view what) {
        return fmt::format("  {}, {} than the chosen one in {} of them", what,
                           other.us < r.chosen.us ? "faster" : "not faster",
                           draws_that_agree(other, r.chosen));
    };
    print("timed now", r.chosen, "");
    print("", r.next, against(r.next, e.choice.tuned->next));
    if (e.choice.kernel != e.standard && e.standard->symbol != e.choice.tuned->next)
        print("", r.standard, against(r.standard, e.standard->symbol));
}

nlohmann::json to_json(const DrawnTime &time, const DrawnTime &chosen) {
    return {{"time_us", time.us},
            {"time_low_us", time.low()},
            {"time_high_us", time.high()},
            {"draws_us", time.draws},
            {"draws_with_sign", draws_that_agree(time, chosen)}};
}

// "quantize_q8_f32, then this kernel, for 8 rows at a time; gguf_decode_q4_K_m1 for the last 1"
std::string launches(const Explained &e) {
    const Plan &p = e.plan;
    std::string out;
    p.each_kernel([&](const Kernel &k) {
        if (&k != p.kernel && &k != p.last)
            out += fmt::format("{}, then ", k.symbol);
    });
    out += "this kernel";
    if (p.rows < p.op.m)
        out += fmt::format(", for {} rows at a time", p.rows);
    if (p.last != p.kernel)
        out += fmt::format("; {} for the last {}", p.last->symbol, p.op.m % p.rows);
    return out;
}

void print_head(const Options &o, const Explained &e, const Kernel &kernel) {
    fmt::print(heading_style(), "{}", kernel.symbol);
    fmt::print("\n");
    row("for", fmt::format("{} x {}, {}, on {}", o.n, o.k, e.kind, o.gfx));
}

void print_resources(const Kernel &kernel) {
    row("registers", fmt::format("{} VGPRs, {} SGPRs, {} bytes of LDS", kernel.vgprs, kernel.sgprs,
                                 kernel.lds_bytes));
    row("occupancy",
        fmt::format("{} waves per SIMD, {} waves and {} rows per workgroup", kernel.waves_per_simd,
                    kernel.block / 32, kernel.rows_per_workgroup));
}

void print(const Options &o, const Explained &e) {
    print_head(o, e, *e.choice.kernel);
    if (!e.plan.is_one_step())
        row("launches", launches(e));
    row("because", reason(e));
    if (const Tuned *t = e.choice.tuned)
        print_times(o, e, *t);
    if (o.verbose)
        print_resources(*e.choice.kernel);
}

nlohmann::json to_json(const Options &o, const Explained &e, const Kernel &kernel,
                       std::string_view why) {
    return {{"kernel", kernel.symbol},
            {"gfx", o.gfx},
            {"why", why},
            {"default", e.standard->symbol},
            {"vgprs", kernel.vgprs},
            {"sgprs", kernel.sgprs},
            {"lds_bytes", kernel.lds_bytes},
            {"waves_per_simd", kernel.waves_per_simd},
            {"block", kernel.block}};
}

nlohmann::json to_json(const Options &o, const Explained &e) {
    nlohmann::json out = to_json(o, e, *e.choice.kernel, why_word(e.choice.why));
    if (e.plan.first) {
        e.plan.each_kernel([&](const Kernel &k) { out.emplace("first", k.symbol); });
    } else if (!e.plan.is_one_step()) {
        out["route"] = {{"rows", e.plan.rows}, {"last", e.plan.last->symbol}};
        e.plan.each_kernel([&](const Kernel &k) {
            if (&k != e.plan.kernel && &k != e.plan.last)
                out["route"]["convert"] = k.symbol;
        });
    }
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

QuantizedChoice choose_quantized(const Options &o, const Explained &e) {
    const Kernel &other = *e.choice.kernel;
    if (o.fp8) {
        const GgufShape shape{o.gguf, o.m, o.n, o.k};
        return choose_quantized(o.gfx, fp8_activations, fp8_product(shape), shape.op(), other);
    }
    const ProductShape shape = shape_of(o, o.n, o.k);
    return choose_quantized(o.gfx, int8_activations, int8_product(shape), shape.op(), other);
}

void run_quantized(const Options &o, const Explained &e) {
    const QuantizedChoice choice = choose_quantized(o, e);
    const Kernel *product = choice.is_faster() ? choice.kernels.product : nullptr;
    if (o.json) {
        nlohmann::json out = product ? to_json(o, e, *product, choice.to.name) : to_json(o, e);
        out[std::string(choice.to.name)] = to_json(choice);
        fmt::print("{}\n", out.dump(1));
        return;
    }
    if (!product) {
        print(o, e);
        return print(choice);
    }
    print_head(o, e, *product);
    print(choice);
    if (o.verbose)
        print_resources(*product);
}

void run(const Options &o) {
    const Explained e = explain(o);
    if (o.int8 || o.fp8)
        return run_quantized(o, e);
    std::optional<Retimed> retimed;
    if (o.uncertainty)
        retimed = retime(o, e);
    if (!o.json) {
        print(o, e);
        if (retimed)
            print_draws(e, *retimed);
        return;
    }
    nlohmann::json out = to_json(o, e);
    if (retimed)
        out["timed"] = {{"chosen", to_json(retimed->chosen, retimed->chosen)},
                        {"next", to_json(retimed->next, retimed->chosen)},
                        {"default", to_json(retimed->standard, retimed->chosen)}};
    fmt::print("{}\n", out.dump(1));
}

} // namespace

void add_choose(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "choose", "Show which kernel the library chooses for a product, and why");
    command.add("--gfx", &o->gfx, "The target", {.show_default = true});
    command.add("--dtype", &o->dtype, "Type of the activations",
                {.one_of = dtype_words, .show_default = true});
    command.add("--group", &o->group, "Weights per scale",
                {.one_of = group_words, .show_default = true});
    command.add("--zeros", &o->zeros, "Zero points", {.one_of = zeros_words, .show_default = true});
    command.add("--gguf", &o->gguf,
                "Type of GGUF weights: one of " + fmt::format("{}", fmt::join(gguf_types, ", ")),
                {.excludes = {"--dtype", "--group", "--zeros"}});
    command.add("--act-order", &o->act_order,
                "Act-order weights: activations are permuted, by this kernel or a launch before it",
                {.excludes = {"--gguf"}});
    command.add("--m", &o->m, "Rows of activations", {.show_default = true});
    command.add("--n", &o->n, "Rows of weights; must be given", {.required = true});
    command.add("--k", &o->k, "Weights per row; must be given", {.required = true});
    command.add("--int8-activations", &o->int8,
                "Also time the product with int8 activations, one scale per row, on the timing "
                "model, and choose the faster one (minutes for thousands of rows); accuracy: "
                "asm/prefill_w4a8/notes.md",
                {.excludes = {"--gguf", "--act-order"}});
    command.add("--fp8-activations", &o->fp8,
                "With --gguf: the same with fp8 e4m3 activations, whose rounding error is up to "
                "1/16 of a value",
                {.needs = {"--gguf"}});
    command.add("--uncertainty", &o->uncertainty,
                fmt::format("Also time the tuned shape again, with low and high, and compare "
                            "the kernels draw by draw: {}",
                            draws_help),
                {.excludes = {"--int8-activations", "--fp8-activations", "--act-order"}});
    command.add("--json", &o->json, "Print JSON");
    command.add("-v,--verbose", &o->verbose, "Also print registers, LDS and occupancy");
    command.footer = "\ntime: one launch with cold weights, for the tuned shape; (sim): modelled. "
                     "GB/s: all bytes moved; with --gguf, bytes of the weights.\n"
                     "others: the fastest of the other kernels that were timed.\n\n"
                     "  nw choose --n 4096 --k 4096 --m 1\n"
                     "  nw choose --gfx gfx1201 --gguf q4_K --n 4096 --k 4096 --m 16";
    add_choose_attention(command);
    add_choose_experts(command);
    add_choose_op(command);
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
