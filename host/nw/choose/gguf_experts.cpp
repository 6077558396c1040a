// SPDX-License-Identifier: MIT
#include "nw/choose/gguf_experts.h"

#include <fmt/format.h>
#include <optional>

#include "base/error.h"
#include "base/terminal.h"
#include "measure/routes.h"
#include "nw/choose/launches.h"
#include "nw/choose/quantized.h"
#include "nw/choose/row.h"
#include "runtime/plan.h"

namespace nw::cli {

namespace {

constexpr u64 routes_seed = 1; // of tokens at random experts, which times are of

struct Explained {
    std::vector<const Kernel *> launches; // the product's is the last
    bool forced;
    std::optional<QuantizedChoice> fp8;

    const Kernel &product() const { return *launches.back(); }
    bool takes_fp8() const { return fp8 && fp8->is_faster(); }
};

Explained explain(const GgufExpertsOptions &o) {
    const GgufMoeShape shape{o.type, o.tokens, o.n, o.k, o.experts, o.top_k, o.own_rows};
    const Op op = shape.op();
    check_shape(op);
    if (o.top_k > o.experts)
        throw Error(fmt::format("top_k = {}: must be at most experts = {}: a token has no expert "
                                "twice",
                                o.top_k, o.experts));
    const Choice choice = nw::explain(o.gfx, op);
    Explained out{{}, choice.why == Choice::Why::forced, {}};
    plan(op, *choice.kernel, usual_machine(o.gfx)).each_kernel([&](const Kernel &k) {
        out.launches.push_back(&k);
    });
    if (o.fp8)
        out.fp8 =
            choose_quantized(o.gfx, fp8_experts_activations, fp8_experts(shape), op, *choice.kernel,
                             random_routes(o.tokens, o.experts, o.top_k, Rng(routes_seed)));
    return out;
}

void print(const GgufExpertsOptions &o, const Explained &e) {
    const Kernel &kernel = e.takes_fp8() ? *e.fp8->kernels.product : e.product();
    fmt::print(heading_style(), "{}", kernel.symbol);
    fmt::print("\n");
    row("for", fmt::format("experts of {} x {}, {}, {} tokens at {} of {}{}, on {}", o.n, o.k,
                           o.type, o.tokens, o.top_k, o.experts,
                           o.own_rows ? ", a row of activations for each slot" : "", o.gfx));
    if (!e.takes_fp8()) {
        std::string before;
        for (const Kernel *k : e.launches)
            before += k == &kernel ? "this kernel" : fmt::format("{}, then ", k->symbol);
        row("launches", before);
        row("because",
            e.forced ? "NIBBLEWAVE_FORCE names it" : "the default for so many slots of an expert");
    }
    if (e.fp8)
        print(*e.fp8);
    if (o.verbose)
        print_resources(e.takes_fp8() ? std::vector{&kernel} : e.launches);
}

nlohmann::json to_json(const GgufExpertsOptions &o, const Explained &e) {
    const bool fp8 = e.takes_fp8();
    const std::vector launches =
        fp8 ? std::vector{e.fp8->kernels.rows, e.fp8->kernels.product} : e.launches;
    nlohmann::json out = {{"kernel", launches.back()->symbol},
                          {"gfx", o.gfx},
                          {"why", fp8        ? "fp8"
                                  : e.forced ? "forced"
                                             : "untuned"},
                          {"launches", launches_json(launches)}};
    if (e.fp8)
        out["fp8"] = to_json(*e.fp8);
    return out;
}

} // namespace

void choose_gguf_experts(const GgufExpertsOptions &o) {
    const Explained e = explain(o);
    if (o.json)
        fmt::print("{}\n", to_json(o, e).dump(1));
    else
        print(o, e);
}

} // namespace nw::cli
