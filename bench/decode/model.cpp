// SPDX-License-Identifier: MIT
// Time of a token's linear layers: a projection that counts these layers alone.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "base/half.h"
#include "bench/decode/tables.h"

namespace nw::bench {

namespace {

struct Token {
    f64 us = 0;
    u64 launches = 0, bytes = 0;
};

// The dense linear layers of a model at the types of `like`; none where one was not run.
std::optional<Token> token_of(const Shapes &model, const ProductShape &like,
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

Json model_view(const std::vector<DenseJob> &jobs, const Json &rows, const Shapes &shapes) {
    std::map<std::string, Shapes> models;
    for (const LinearShape &s : shapes)
        models[s.model].push_back(s);
    std::map<std::string, f64> us;
    for (u64 i = 0; i < jobs.size(); ++i)
        us[name(jobs[i].shape)] = rows[i].at("time_us");

    Json json = Json::array();
    for (const auto &[model, layers] : models) {
        const bool moe = std::ranges::any_of(layers, &LinearShape::moe);
        std::set<std::string> seen; // types
        for (const DenseJob &job : jobs) {
            const ProductShape &p = job.shape;
            if (!seen.insert(type_name(p)).second)
                continue;
            if (const std::optional<Token> token = token_of(layers, p, us))
                json.push_back({{"table", "model"},
                                {"model", model},
                                {"gfx", job.kernel->gfx},
                                {"dtype", nw::name(p.dtype)},
                                {"zp", zeros_label(p.zeros)},
                                {"group", p.group},
                                {"m", p.m},
                                {"launches", token->launches},
                                {"time_us", token->us},
                                {"gb_per_s", static_cast<f64>(token->bytes) / token->us / 1e3},
                                {"linears_tok_per_s", p.m * 1e6 / token->us},
                                {"without_experts", moe},
                                {"_type", type_name(p)},
                                {"_note", moe ? " without its experts" : ""}});
        }
    }
    if (json.empty())
        return json;
    fmt::print("\nProjected from the rows above (sim): tokens a second if a token were its linear "
               "layers alone:\nno attention, no norms, no head, nothing between launches\n\n");
    print_table(
        "model {model:<16}; type {_type:<12}; launches {launches:>9}; "
        "time us {time_us:>12.1f}; GB/s {gb_per_s:>8.1f}; tok/s {linears_tok_per_s:>10.1f}; "
        "{_note}",
        json);
    return json;
}

} // namespace nw::bench
