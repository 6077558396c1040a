// SPDX-License-Identifier: MIT
#include "measure/draws.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace nw {

namespace {

constexpr const char *variable = "HIPSIM_UNCERTAINTY", *usual = "5";

void add(std::vector<f64> &sum, const std::vector<f64> &more) {
    if (sum.size() != more.size())
        throw std::logic_error("launches with different numbers of draws");
    for (u64 i = 0; i < sum.size(); ++i)
        sum[i] += more[i];
}

} // namespace

f64 DrawnTime::low() const { return draws.empty() ? us : std::min(us, std::ranges::min(draws)); }
f64 DrawnTime::high() const { return draws.empty() ? us : std::max(us, std::ranges::max(draws)); }

DrawnTime drawn_time(std::span<const std::string> stats) {
    DrawnTime out;
    bool drawn = !stats.empty();
    for (const std::string &text : stats) {
        const auto line = nlohmann::json::parse(text);
        out.us += line.value("time_us", 0.0);
        drawn &= line.contains("draws_us");
        if (!drawn)
            continue;
        const std::vector<f64> draws = line["draws_us"];
        if (out.draws.empty())
            out.draws.resize(draws.size());
        add(out.draws, draws);
    }
    if (!drawn)
        out.draws.clear();
    return out;
}

u32 draws_that_agree(const DrawnTime &a, const DrawnTime &b) {
    if (a.draws.size() != b.draws.size())
        throw std::logic_error("times with different numbers of draws");
    u32 out = 0;
    for (u64 i = 0; i < a.draws.size(); ++i)
        out += (a.draws[i] < b.draws[i]) == (a.us < b.us);
    return out;
}

u32 draws_that_agree(const DrawnTime &a, f64 us) {
    return draws_that_agree(a, {us, std::vector(a.draws.size(), us)});
}

std::string agreement(const DrawnTime &a, const DrawnTime &b) {
    return a.draws.empty() ? "" : fmt::format("{}/{}", draws_that_agree(a, b), a.draws.size());
}

void draw_constants() {
    if (!std::getenv(variable)) // whose number counts
        setenv(variable, usual, 1);
}

} // namespace nw
