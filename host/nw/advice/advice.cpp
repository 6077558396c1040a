// SPDX-License-Identifier: MIT
#include "nw/advice/advice.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <nlohmann/json.hpp>

#include "nw/advice/candidates.h"
#include "nw/inspect/text.h"
#include "sim/timing/limiter.h"

namespace nw::cli {

namespace {

using sim::timing::Result;

// The candidate with its gain. Launches that are sampled gain more than their sampling error.
void add_gain(std::vector<Advice> &to, Candidate c, const Result &base, const Result &with) {
    Advice &a = c.advice;
    a.time_us = c.whole ? c.whole(with.time_us) : with.time_us;
    a.gain = 1 - a.time_us / base.time_us;
    if (a.gain >= std::max({least_gain, base.sampling_error, with.sampling_error}))
        to.push_back(std::move(a));
}

// Replays use the host's cores; what changes the record is last.
void replay_all(std::vector<Advice> &to, std::vector<Candidate> all, const Launch &launch,
                const Result &base) {
    const auto last =
        std::ranges::stable_partition(all, [](const Candidate &c) { return !c.change.coalesced; });
    std::vector<std::future<Result>> results;
    for (auto c = all.begin(); c != last.begin(); ++c)
        results.push_back(std::async(
            std::launch::async, [&launch, change = &c->change] { return launch.replay(*change); }));
    for (size_t n = 0; n < results.size(); ++n)
        add_gain(to, all[n], base, results[n].get());
    for (Candidate &c : last)
        add_gain(to, c, base, launch.replay(c.change));
}

std::string percent(f64 share) { return fmt::format("{:.0f} %", 100 * share); }

// The unit that is busy most of the time, else what waves wait for.
std::string bound_of(const Launch &launch, const Result &r) {
    const sim::timing::Part &part = launch.part();
    if (const f64 overhead = part.launch_overhead / r.time_us; overhead > 0.5)
        return fmt::format("{} of the time is the launch: only fewer or larger launches help "
                           "[T-019]",
                           percent(overhead));
    const auto u = r.use;
    struct {
        f64 busy;
        const char *text;
    } const units[] = {
        {u.dram / part.dram_efficiency, "DRAM moves {} of what it sustains: only fewer bytes help "
                                        "[T-017]"},
        {u.wmma, "WMMA is busy for {}: only fewer of them help [T-054]"},
        {u.valu, "the VALU is busy for {}: only fewer instructions help [T-050]"},
        {u.lds, "LDS is busy for {}: only fewer or wider accesses help [T-052]"},
    };
    const auto &most = *std::ranges::max_element(units, {}, [](const auto &x) { return x.busy; });
    constexpr f64 busy_enough = 0.6;
    const std::string nothing = fmt::format("no change gains {}: ", percent(least_gain));
    if (most.busy >= busy_enough)
        return nothing + fmt::format(fmt::runtime(most.text), percent(most.busy));
    return nothing + fmt::format("the limiter is {}, and no unit is busy for {}", r.limiter,
                                 percent(busy_enough));
}

} // namespace

std::string Advice::text() const {
    std::string out = fmt::format("{} less: {}; {}", percent(gain), what, why);
    if (!where.empty())
        out += fmt::format("{} {}", where.front().place, where.front().text);
    return out + fmt::format(" [{}]", note);
}

std::vector<std::string> Advised::lines(u64 columns) const {
    if (list.empty())
        return wrapped(otherwise, columns);
    std::vector<std::string> out;
    for (const Advice &a : list)
        for (std::string &line : wrapped(a.text(), columns))
            out.push_back(std::move(line));
    return out;
}

Advised advise(const Launch &launch, const Result &r) {
    Advised out;
    if (!launch.timing().kept()) {
        out.otherwise = "not known: the launch is too long to be replayed without --advice, or "
                        "reads a clock";
        return out;
    }
    out.list = spread_advice(launch, r);
    replay_all(out.list, candidates(launch, r), launch, r);
    std::ranges::stable_sort(out.list, std::ranges::greater(), &Advice::gain);
    out.list.resize(std::min(out.list.size(), most_advice));
    if (out.list.empty())
        out.otherwise = bound_of(launch, r);
    return out;
}

void add_advice_option(Command &command, bool &always) {
    command.add("--advice", &always,
                "Say what to change next after long launches, too: replays take several times as "
                "long as the launch");
}

void keep_for_advice(LaunchOptions &o, bool always) {
    o.timing.kept_insts = always ? ~u64{0} : advised_insts;
}

nlohmann::ordered_json to_json(const Advised &advised) {
    auto list = nlohmann::ordered_json::array();
    for (const Advice &a : advised.list) {
        auto where = nlohmann::ordered_json::array();
        for (const Evidence &e : a.where)
            where.push_back({{"place", e.place}, {"instruction", e.text}, {"share", e.share}});
        list.push_back({{"kind", a.kind},
                        {"gain", a.gain},
                        {"time_us", a.time_us},
                        {"text", a.text()},
                        {"note", a.note},
                        {"where", std::move(where)}});
    }
    return list;
}

} // namespace nw::cli
