// SPDX-License-Identifier: MIT
// What the linear layers of a token take: a projection, of these layers and nothing else.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/half.h"
#include "bench/decode/shapes.h"

namespace nw::bench {

namespace {

struct Token {
    f64 us = 0;
    u64 launches = 0, bytes = 0;
};

// The dense linear layers of a model at the types of `like`; none where one was not run.
std::optional<Token> token_of(const std::vector<LinearShape> &model, const ProductShape &like,
                              const std::map<std::string, f64> &us) {
    Token out;
    for (const LinearShape &s : model) {
        if (s.moe || !s.count)
            continue;
        ProductShape p = like;
        p.n = s.n, p.k = s.k;
        const auto found = us.find(name(p));
        if (found == us.end())
            return std::nullopt;
        out.us += s.count * found->second;
        out.launches += s.count;
        out.bytes += s.count * p.bytes_moved();
    }
    return out.launches ? std::optional(out) : std::nullopt;
}

} // namespace

nlohmann::json model_view(const std::vector<Sized> &rows, const std::vector<LinearShape> &shapes) {
    std::map<std::string, std::vector<LinearShape>> models;
    for (const LinearShape &s : shapes)
        models[s.model].push_back(s);
    std::map<std::string, f64> us;
    for (const Sized &r : rows)
        us[name(r.job.shape)] = r.time.us;

    nlohmann::json json = nlohmann::json::array();
    for (const auto &[model, layers] : models) {
        const bool moe = std::ranges::any_of(layers, &LinearShape::moe);
        std::map<std::string, bool> seen; // types
        for (const Sized &r : rows) {
            const ProductShape &p = r.job.shape;
            if (!std::exchange(seen[type_name(p)], true))
                if (const std::optional<Token> token = token_of(layers, p, us))
                    json.push_back({{"table", "model"},
                                    {"model", model},
                                    {"gfx", r.job.kernel->gfx},
                                    {"dtype", nw::name(p.dtype)},
                                    {"zp", p.zeros == Zeros::eight ? "sym" : "zp"},
                                    {"group", p.group},
                                    {"m", p.m},
                                    {"launches", token->launches},
                                    {"time_us", token->us},
                                    {"gb_per_s", static_cast<f64>(token->bytes) / token->us / 1e3},
                                    {"linears_tok_per_s", p.m * 1e6 / token->us},
                                    {"without_experts", moe}});
        }
    }
    if (json.empty())
        return json;
    fmt::print("\nProjected from the rows above: tokens a second if a token were its linear layers "
               "alone (sim): no attention,\nno norms, no head, nothing between launches\n\n"
               "{:<16} {:<12} {:>9} {:>12} {:>8} {:>10}\n",
               "model", "type", "launches", "us", "GB/s", "tok/s");
    for (const nlohmann::json &row : json)
        fmt::print("{:<16} {:<12} {:>9} {:>12.1f} {:>8.1f} {:>10.1f}{}\n",
                   row["model"].get<std::string>(),
                   fmt::format("{} {} m{}", row["dtype"].get<std::string>(),
                               row["zp"].get<std::string>(), row["m"].get<u32>()),
                   row["launches"].get<u64>(), row["time_us"].get<f64>(),
                   row["gb_per_s"].get<f64>(), row["linears_tok_per_s"].get<f64>(),
                   row["without_experts"].get<bool>() ? "  without its experts" : "");
    return json;
}

} // namespace nw::bench
