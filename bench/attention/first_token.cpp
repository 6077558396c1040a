// SPDX-License-Identifier: MIT
// The suite attention: an estimate of the time to a first token of a model in q4_K.
#include <fmt/format.h>
#include <map>

#include "bench/attention/tables.h"
#include "bench/timing.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

constexpr std::string_view model = "Qwen3.6-27B";

// Seconds per token of the linear layers, each at the rate of this product.
f64 linear_us_of_token(const Shapes &shapes, const std::string &gfx, f64 &tflops) {
    const GgufShape shape{"q4_K", 512, 5120, 6144};
    const Kernel &kernel = choose(gfx, shape.op());
    const Timed timed = time_gguf_prefill({{shape, &kernel}}, {}).front();
    tflops = 2e-6 * shape.m * shape.n * shape.k / (timed.us + timed.before_us);
    f64 weights = 0;
    for (const LinearShape &layer : shapes)
        if (layer.model == model)
            weights += 1.0 * layer.n * layer.k * layer.count;
    return 2 * weights / tflops / 1e6;
}

} // namespace

Json attention_first_token(const Json &stages, const Shapes &shapes, const std::string &gfx) {
    // Milliseconds by (S, type), then by lists: a forward's row includes the launches before it.
    std::map<std::pair<u32, std::string>, std::map<std::string, f64>> ms;
    for (const Json &row : stages)
        if (row.at("model") == model && row.at("stage") == "forward")
            ms[{row.at("s").get<u32>(), row.at("dtype").get<std::string>()}]
              [row.at("lists").get<std::string>()] =
                  row.at("layers_ms").get<f64>() * (1 + row.value("pct_before", 0.0) / 100);
    Json rows = Json::array();
    f64 tflops = 0, us = 0;
    for (const auto &[of, lists] : ms) {
        if (!lists.contains("100%") || !lists.contains("selected"))
            continue;
        if (us == 0)
            us = linear_us_of_token(shapes, gfx, tflops);
        const f64 linear = us * of.first / 1e6, dense = lists.at("100%") / 1e3,
                  sparse = lists.at("selected") / 1e3;
        rows.push_back({{"table", "first_token"},
                        {"model", model},
                        {"s", of.first},
                        {"dtype", of.second},
                        {"linear_tflops", tflops},
                        {"linear_s", linear},
                        {"attention_dense_s", dense},
                        {"attention_sparse_s", sparse},
                        {"dense_s", linear + dense},
                        {"sparse_s", linear + sparse},
                        {"speedup", (linear + dense) / (linear + sparse)}});
    }
    if (rows.empty())
        return rows;
    fmt::print("\nAn estimate of the time to a first token, {} in q4_K, on sim {}: the sum over "
               "linear layers of\n2 N K S / {:.1f} TFLOP/s, which a product of 512 tokens by "
               "5120 x 6144 has, plus the launches of\nattention above. Without norms, the scans "
               "of linear attention, the head, and a host's time.\n\n",
               model, gfx, tflops);
    print_table("S {s:>6}; type {dtype:<5}; linear s {linear_s:>8.2f}; dense attention s "
                "{attention_dense_s:>8.2f}; sparse s {attention_sparse_s:>8.2f}; first token s "
                "{dense_s:>8.2f}; sparse s {sparse_s:>8.2f}; gain {speedup:>5.2f}",
                rows);
    return rows;
}

} // namespace nw::bench
